"""A campaign and a real Label Studio stay in step, whoever is killed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from askwise import Campaign
from askwise.core.events import Kind
from scripts.installing import Unavailable
from scripts.label_studio import free_port
from tests.running.label_studio.real import (
    NAME,
    Command,
    RealServer,
    doubtful,
    make_campaign,
    project_of,
    said,
    tally,
    truth,
    wait_for,
)

WORKERS = {"ann@example.org": "ann", "ben@example.org": "ben", "cem@example.org": "cem"}
TASKS = 60
KILLS = {8: "askwise", 20: "server", 33: "askwise", 46: "server", 58: "askwise"}
"""After how many annotations who is killed."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    try:
        made = RealServer(tmp_path_factory.mktemp("label-studio") / "data")
    except (Unavailable, OSError) as reason:
        pytest.skip(f"no Label Studio: {reason}")
    yield made
    made.kill()


def settings_in(folder: Path, server: RealServer) -> Path:
    lines = [
        f'url = "{server.url}"',
        'price = "0.05"',
        "poll = 15.0",
        "slots = 5",
        "grace = 0",
        "only_workers = true",
        "[workers]",
        *(f'"{mail}" = "{id}"' for mail, id in WORKERS.items()),
        "[webhook]",
        f'url = "http://127.0.0.1:{free_port()}"',
    ]
    file = folder / "label_studio.toml"
    file.write_text("\n".join(lines))
    return file


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_doubtful_tasks_get_more_answers_and_kills_lose_none(
    server: RealServer, tmp_path: Path
) -> None:
    people = [server.person(mail) for mail in WORKERS]
    campaign = make_campaign(tmp_path / "store.sqlite", TASKS, list(WORKERS.values()))
    settings = settings_in(tmp_path, server)
    bridge = Command(tmp_path, settings)
    mine: dict[str, tuple[int, int]] = {}
    given: Counter[str] = Counter()
    kills: Counter[str] = Counter()
    try:
        project = wait_for(lambda: project_of(server))
        while bridge.ended() is None:
            for at, person in enumerate(people):
                try:
                    place = person.next(project)
                    if place is None:
                        continue
                    task = place["data"]["askwise_task"]
                    annotation = person.annotate(place["id"], said(task, given[task]))
                except (httpx.TransportError, httpx.HTTPStatusError):
                    continue
                given[task] += 1
                mine[task] = (at, annotation)
                who = KILLS.get(given.total(), "")
                kills[who] += 1
                if who == "askwise":
                    bridge.kill()
                    bridge.start()
                elif who == "server":
                    server.kill()
                    server.start()
    finally:
        bridge.kill()
    assert bridge.ended() == 0, bridge.said()
    found = tally(server, Campaign.open(f"sqlite:///{tmp_path / 'store.sqlite'}", NAME))
    wanted = {f"t{at}": doubtful(f"t{at}") for at in range(TASKS)}
    print(
        json.dumps(
            {
                "overlaps": Counter(found.overlaps.values()),
                "annotations": len(found.annotations),
                "answers": len(found.answers),
                "paid": found.paid,
                "kills": {who: count for who, count in kills.items() if who},
                "events": found.events,
            }
        )
    )
    assert kills["askwise"] == 3
    assert kills["server"] == 2
    assert found.overlaps == wanted
    # Every annotation is an answer, once, and nothing else is.
    assert Counter(task for task, _ in found.annotations) == Counter(wanted)
    assert sorted((task, value) for (task, _), value in found.annotations.items()) == sorted(
        (task, value) for (task, _), value in found.answers.items()
    )
    assert len(found.answers) == sum(wanted.values())
    assert found.paid == f"{len(found.answers) * 5 / 100:g}"
    assert all(answer.value == truth(answer.task or "") for answer in campaign.answers())

    # An edit replaces the vote, and moves no money.
    at, annotation = mine["t1"]
    people[at].edit(annotation, "music")
    once = Command(tmp_path, settings, "--once")
    assert once.wait() == 0, once.said()
    log = campaign.log()
    assert [event.value for event in log if event.kind == Kind.REVISED] == ["music"]
    assert str(campaign.status().spent) == found.paid
    labels = {
        raw["data"]["askwise_task"]: [each["model_version"] for each in raw["predictions"]]
        for raw in server.api.tasks(project)
    }
    assert all(sorted(each) == ["askwise/agreement", "judge"] for each in labels.values())
