"""A real Label Studio, people who annotate in it, and a campaign that is kept in step with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from askwise import Campaign, Worker
from askwise.core.content import Content
from askwise.core.events import Kind
from askwise.sources.label_studio import TASK, LabelStudioApi, LabelStudioForm
from scripts import label_studio

CONTENT = Content("What is it about?", options=["food", "sport", "music"], fields=["text"])
FORM = LabelStudioForm(CONTENT)
NAME = "topics"


@dataclass
class RealServer:
    """A Label Studio with data of its own, which can be killed and started again."""

    directory: Path
    port: int = field(default_factory=label_studio.free_port)

    def __post_init__(self) -> None:
        shutil.copytree(label_studio.fresh(), self.directory)
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()
        self.api = LabelStudioApi(self.url, label_studio.TOKEN)

    def start(self) -> None:
        self._process = label_studio.start(self.directory, self.port)

    def kill(self) -> None:
        label_studio.stop(self._process)

    def person(self, mail: str) -> Person:
        """Make an account by invitation, as people get one."""
        with httpx.Client(base_url=self.url, timeout=120, trust_env=False) as admin:
            token = {"Authorization": f"Token {label_studio.TOKEN}"}
            link = admin.get("/api/invite", headers=token).json()["invite_url"]
        with httpx.Client(
            base_url=self.url, timeout=120, trust_env=False, follow_redirects=True
        ) as browser:
            browser.get(link)
            fields = {"email": mail, "password": label_studio.PASSWORD}
            fields |= {"allow_newsletters": "false", "how_find_us": "other"}
            csrf = {"csrfmiddlewaretoken": browser.cookies["csrftoken"]}
            browser.post(link, data=fields | csrf, headers={"Referer": self.url})
            return Person(mail, self.url, browser.get("/api/current-user/token").json()["token"])


@dataclass
class Person:
    """Somebody who annotates over the interface that the page uses."""

    mail: str
    url: str
    token: str

    def __post_init__(self) -> None:
        headers = {"Authorization": f"Token {self.token}"}
        self.http = httpx.Client(base_url=self.url, headers=headers, timeout=120, trust_env=False)

    def next(self, project: int) -> dict[str, Any] | None:
        """The task that Label Studio hands out; None if there is none."""
        found = self.http.get(f"/api/projects/{project}/next")
        return None if found.status_code == 404 else found.raise_for_status().json()

    def annotate(self, place: int, value: str) -> int:
        body = {"result": FORM.result(value), "lead_time": 1.0}
        made = self.http.post(f"/api/tasks/{place}/annotations/", json=body)
        return int(made.raise_for_status().json()["id"])

    def edit(self, annotation: int, value: str) -> None:
        body = {"result": FORM.result(value)}
        self.http.patch(f"/api/annotations/{annotation}/", json=body).raise_for_status()

    def skip(self, place: int) -> None:
        body = {"result": [], "was_cancelled": True}
        self.http.post(f"/api/tasks/{place}/annotations/", json=body).raise_for_status()

    def delete(self, annotation: int) -> None:
        self.http.delete(f"/api/annotations/{annotation}/").raise_for_status()


def doubtful(task: str) -> int:
    """How many answers a task takes beside the judge's: 1 if it is clear."""
    number = int(task[1:])
    return {0: 3, 4: 2, 8: 2}.get(number % 12, 1)


def truth(task: str) -> str:
    return CONTENT.names()[int(task[1:]) % 3]


def said(task: str, before: int) -> str:
    """What the next person says of a task about which so many have said something.

    With a quorum of two, a judge who is wrong leaves it to people; where the first of them is wrong
    in another way, a third is needed.
    """
    names, right = CONTENT.names(), int(task[1:]) % 3
    if doubtful(task) == 3 and before == 0:
        return names[(right + 2) % 3]
    return names[right]


def verdict(task: str) -> str:
    """What the judge says: wrong where a task is doubtful."""
    return CONTENT.names()[(int(task[1:]) + (doubtful(task) > 1)) % 3]


def make_campaign(file: Path, tasks: int, people: list[str]) -> Campaign:
    """A campaign whose judge has been asked about everything."""
    campaign = Campaign.create(
        workers=[
            Worker("judge", "0", kind="model"),
            *(Worker(each, "0.05", kind="person") for each in people),
        ],
        tasks=[{"id": f"t{at}", "payload": {"text": f"message {at}"}} for at in range(tasks)],
        content=CONTENT,
        budget="20",
        policy="random-pairs",
        stopping="quorum(quorum=2, of=5)",
        store=f"sqlite:///{file}",
        seed=7,
        name=NAME,
    )
    while batch := campaign.ask(50, ["judge"]):
        for each in batch:
            campaign.tell(each.id, verdict(each.task or ""))
    return campaign


class Command:
    """The command, in a process of its own, which can be killed and started again."""

    def __init__(self, folder: Path, settings: Path, *words: str) -> None:
        self._folder, self._words = folder, [str(settings), *words]
        self.start()

    def start(self) -> None:
        program = "import sys; from askwise.cli.main import run; sys.argv[0] = 'askwise'; run()"
        store = f"sqlite:///{self._folder / 'store.sqlite'}"
        given = ["label-studio", NAME, *self._words, "--store", store]
        environment = {
            **os.environ,
            "LABEL_STUDIO_TOKEN": label_studio.TOKEN,
            "ASKWISE_WEBHOOK_SECRET": "a-secret-of-this-test",
            "ASKWISE_JIT": "0",
        }
        with (self._folder / "askwise.log").open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", program, *given], env=environment, stdout=log, stderr=log
            )

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(60)

    def ended(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._process.poll()

    def wait(self) -> int:
        return self._process.wait(600)

    def said(self) -> str:
        return (self._folder / "askwise.log").read_text()[-3000:]


@dataclass
class Tally:
    """What both sides say in the end."""

    overlaps: dict[str, int]
    annotations: dict[tuple[str, int], str]
    answers: dict[tuple[str, str], str]
    paid: str
    events: Counter[str]


def project_of(server: RealServer) -> int:
    """The project of the campaign; 0 if there is none yet."""
    marks = {int(each["id"]): str(each["description"]) for each in server.api.projects()}
    return next((id for id, mark in marks.items() if mark.startswith(f"askwise {NAME} ")), 0)


def tally(server: RealServer, campaign: Campaign) -> Tally:
    """Read both sides."""
    project = project_of(server)
    overlaps, annotations = {}, {}
    for raw in server.api.tasks(project):
        overlaps[raw["data"][TASK]] = raw["overlap"]
        for each in raw["annotations"]:
            if not each["was_cancelled"]:
                by = each["completed_by"]
                user = by["id"] if isinstance(by, dict) else by
                key = (raw["data"][TASK], user)
                assert key not in annotations
                annotations[key] = FORM.value(each["result"])
    log = campaign.log()
    asked = {event.seq: event for event in log if event.kind == Kind.ASKED}
    answers = {}
    for event in log:
        if event.kind == Kind.ANSWER and event.worker != "judge":
            pair = (event.task, asked[event.assignment].worker)
            assert pair not in answers, "an answer was paid twice"
            answers[pair] = event.value
        elif event.kind == Kind.REVISED:
            answers[event.task, event.worker] = event.value
    return Tally(
        overlaps,
        annotations,
        answers,
        str(campaign.status().spent),
        Counter(event.kind.name for event in log),
    )


def wait_for(what: Any, seconds: float = 300.0) -> Any:
    """Wait until something is there."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := what():
            return found
        time.sleep(0.2)
    raise AssertionError("it took too long")
