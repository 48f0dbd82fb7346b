"""A campaign, a fake Label Studio, and people who annotate in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx

from askwise import Campaign, Worker
from askwise.core.content import Content
from askwise.core.events import Kind
from askwise.running.label_studio import Synchroniser
from askwise.sources.label_studio import TASK, LabelStudio, LabelStudioApi, LabelStudioForm
from askwise.store import MemoryStore
from tests.running.label_studio.fake import ADMIN, FakeLabelStudio

CONTENT = Content("Spam?", options=["no", "yes"], fields=["text"])
FORM = LabelStudioForm(CONTENT)
MAILS = ("ann@example.org", "ben@example.org", "cem@example.org")
WORKERS = dict(zip(MAILS, ("ann", "ben", "cem"), strict=True))
TERMS = ("lease", "clock", "repeat", "screening")


class Scene:
    """Both sides, and what may happen to them."""

    def __init__(self, tasks: int = 4, **given: Any) -> None:
        self.server = FakeLabelStudio(MAILS)
        self.store = MemoryStore()
        self.time = 0.0
        made: dict[str, Any] = {
            "workers": [Worker(each, "0.05", kind="person") for each in WORKERS.values()],
            "tasks": [{"id": f"t{at}", "payload": {"text": f"mail {at}"}} for at in range(tasks)],
            "content": CONTENT,
            "budget": "10",
            "policy": "random-pairs",
            "stopping": "quorum(quorum=2, of=3)",
            "seed": 3,
            "name": "mails",
        }
        terms = {key: given.pop(key) for key in list(given) if key in (*made, *TERMS)}
        Campaign.create(store=self.store, **(made | terms))
        names = given.pop("names", WORKERS)
        self.given = {"price": "0.05", "workers": names, "only_workers": True, "grace": 0.0}
        self.given |= given
        self.restart()

    def restart(self, hold: Callable[[], None] = lambda: None) -> Synchroniser:
        """Begin anew, as after a kill: nothing is kept but the store and the server."""
        self.campaign = Campaign.open(self.store, "mails")
        settings = LabelStudio("http://fake", **self.given)
        api = LabelStudioApi("http://fake", ADMIN, transport=self.server)
        self.sync = Synchroniser(self.campaign, settings, api, hold=hold, clock=lambda: self.time)
        return self.sync

    def look(self) -> Synchroniser:
        self.sync.whole()
        return self.sync

    def http(self, who: str) -> httpx.Client:
        token = f"token-{list(WORKERS.values()).index(who) + 2}" if who != "admin" else ADMIN
        headers = {"Authorization": f"Token {token}"}
        return httpx.Client(base_url="http://fake", headers=headers, transport=self.server)

    @property
    def project(self) -> int:
        return min(self.server.projects)

    def place(self, task: str, project: int | None = None) -> int:
        return min(
            id
            for id, each in self.server.tasks.items()
            if each["data"][TASK] == task and project in (None, each["project"])
        )

    def next(self, who: str, project: int | None = None) -> str | None:
        found = self.http(who).get(f"/api/projects/{project or self.project}/next")
        return None if found.status_code == 404 else found.json()["data"][TASK]

    def annotate(self, who: str, task: str, value: str, project: int | None = None) -> int:
        return self.post(who, task, {"result": FORM.result(value)}, project)

    def skip(self, who: str, task: str) -> int:
        return self.post(who, task, {"result": [], "was_cancelled": True})

    def post(self, who: str, task: str, body: Any, project: int | None = None) -> int:
        path = f"/api/tasks/{self.place(task, project)}/annotations/"
        return self.http(who).post(path, json=body).json()["id"]

    def edit(self, annotation: int, value: str) -> None:
        body = {"result": FORM.result(value)}
        self.http("admin").patch(f"/api/annotations/{annotation}/", json=body)

    def delete(self, annotation: int) -> None:
        self.http("admin").delete(f"/api/annotations/{annotation}/")

    def overlaps(self) -> dict[str, int]:
        return {each["data"][TASK]: each["overlap"] for each in self.server.tasks.values()}

    def kinds(self, *kinds: Kind) -> list[tuple[Any, ...]]:
        """What the log has of some kinds: task, worker and value."""
        return [
            (event.task, event.worker, event.value)
            for event in self.campaign.log()
            if event.kind in kinds
        ]

    def answers(self) -> list[tuple[Any, ...]]:
        return self.kinds(Kind.ANSWER)

    def untaken(self) -> dict[int, str]:
        return {id: each.why for id, each in self.sync.counts.untaken.items()}
