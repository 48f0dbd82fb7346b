"""Changing answers over HTTP: who may, for how long, and what is replied."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from askwise.service.app import make_app
from askwise.service.settings import Settings
from askwise.store import open_store
from tests.service.work.visiting import Bench, Clock


class Callers:
    """A campaign with an answer of ann's, and those who call the service about it."""

    def __init__(self, bench: Bench, client: TestClient) -> None:
        self.bench, self.client = bench, client
        self.campaign = bench.campaign()
        identities = bench.service.identities
        self.keys = {
            "requester": identities.issue("requester", "the board")[0],
            "viewer": identities.issue("viewer", "a viewer")[0],
            "ann": bench.token("ann"),
            "bob": bench.token("bob"),
        }
        self.first, self.second = (self.answer("ann") for _ in range(2))

    def answer(self, worker: str) -> str:
        id = self.campaign.ask(1, [worker])[0].id
        self.campaign.tell(id, "yes")
        return id

    def post(self, who: str, id: str, verb: str, **body: Any) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self.keys[who]}"}
        if "key" in body:
            headers["Idempotency-Key"] = body.pop("key")
        reply = self.client.post(f"/assignments/{id}/{verb}", json=body, headers=headers)
        return reply.status_code, reply.json()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "time", made.now)
    return made


@pytest.fixture
def callers(clock: Clock) -> Iterator[Callers]:
    app = make_app(Settings(store="memory"), open_store("memory"))
    with TestClient(app) as client:
        yield Callers(Bench(app), client)


def reason(found: tuple[int, Any]) -> tuple[int, str]:
    return found[0], found[1]["error"]["reason"]


def test_a_requester_changes_any_answer_at_any_time(callers: Callers, clock: Clock) -> None:
    clock.ahead = 3600.0
    found = callers.post("requester", callers.first, "revise", value="no")
    assert found == (200, {"assignment": callers.first, "state": "answered"})
    event = callers.campaign.log()[-1]
    assert (event.kind.name, event.value, event.by) == ("REVISED", "no", "the board")
    found = callers.post("requester", callers.second, "withdraw", why="Deleted.", by="eve")
    assert found == (200, {"assignment": callers.second, "state": "withdrawn"})
    assert callers.campaign.log()[-1].by == "eve"
    headers = {"Authorization": f"Bearer {callers.keys['viewer']}"}
    shown = callers.client.get(f"/assignments/{callers.second}", headers=headers).json()
    assert (shown["state"], shown["value"], shown["revised"]) == ("withdrawn", None, 1)


def test_a_worker_changes_their_last_answer_for_a_minute(callers: Callers, clock: Clock) -> None:
    clock.ahead = 59.0
    late = (409, "too_late")
    assert reason(callers.post("ann", callers.first, "revise", value="no")) == late
    assert callers.post("ann", callers.second, "revise", value="no", key="k")[0] == 200
    assert callers.campaign.log()[-1].by is None
    assert reason(callers.post("bob", callers.second, "revise", value="no")) == (403, "not_yours")
    clock.ahead = 61.0
    assert reason(callers.post("ann", callers.second, "revise", value="yes")) == late
    # A retry is answered as the first time, however late it comes.
    assert callers.post("ann", callers.second, "revise", value="no", key="k")[0] == 200


def test_a_worker_does_not_withdraw_nor_say_who_changes(callers: Callers) -> None:
    forbidden = (403, "forbidden")
    for who in ("ann", "viewer"):
        assert reason(callers.post(who, callers.second, "withdraw", why="x")) == forbidden
    found = callers.post("ann", callers.second, "revise", value="no", by="bob")
    assert reason(found) == forbidden
    callers.post("requester", callers.second, "withdraw", why="Spam.")
    found = callers.post("ann", callers.second, "revise", value="no")
    assert reason(found) == (409, "assignment_withdrawn")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"value": "perhaps"}, "value"),
        ({}, "value"),
        ({"value": "no", "probabilities": {"no": 0.5}}, "probabilities"),
        ({"value": "no", "price": 1}, "price"),
    ],
)
def test_a_bad_revision_names_the_field(callers: Callers, body: dict[str, Any], field: str) -> None:
    status, said = callers.post("requester", callers.first, "revise", **body)
    assert (status, said["error"]["field"]) == (422, field)
