"""Whether a log is sound, read twice: by the campaign, and by a few lines that do not know it."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from typing import Any

import numpy as np

from askwise.campaign import Campaign, views
from askwise.campaign.spec import Spec
from askwise.campaign.state import CampaignState
from askwise.core.events import Event, Kind
from askwise.core.money import to_micro
from askwise.ledger import columns as c
from askwise.store import open_store
from tests.service.load import Told
from tests.service.served import Served


def audit(service: Served, name: str, told: Told | None = None) -> list[Event]:
    """Check everything about one campaign of a service that nobody is writing to."""
    with closing(open_store(service.store)) as store:
        log, spec = store.read(name), Spec.from_json(store.spec(name))
        assert [event.seq for event in log] == list(range(1, len(log) + 1))
        spent = read_by_hand(log, spec.problem.budget)
        state = read_by_state(log, spec)
        assert spent == payments_of(service, name)
        if told is not None:
            check_told(name, log, told)
        compare_live(service, name, state, log)
        with Campaign.open(store, name).reading() as another:
            assert same_arrays(state, another)
    return log


def read_by_hand(log: list[Event], budget: int | None) -> dict[str, int]:
    """Follow the money of a log by hand; what each worker was paid, in micro-units."""
    limit = budget
    prices: dict[int, int] = {}
    state: dict[int, str] = {}
    paid: Counter[str] = Counter()
    out = 0
    for event in log:
        about = event.assignment
        if event.kind == Kind.TOPPED_UP and limit is not None:
            limit += int(event.price or 0)
        elif event.kind == Kind.ASKED:
            prices[event.seq] = int(event.price or 0)
            state[event.seq] = "out"
            out += prices[event.seq]
        elif event.kind in (Kind.EXPIRED, Kind.DECLINED):
            assert about is not None
            assert state[about] == "out", event
            state[about] = event.kind.name
            out -= prices[about]
        elif event.kind == Kind.ANSWER:
            assert about is not None
            assert state[about] in ("out", "EXPIRED"), event
            out -= prices[about] if state[about] == "out" else 0
            state[about] = "answered"
            assert event.price == prices[about]
            paid[str(event.worker)] += prices[about]
        if limit is not None:
            assert out + sum(paid.values()) <= limit, event
    return dict(paid)


def read_by_state(log: list[Event], spec: Spec) -> CampaignState:
    """Fold a log event by event; the budget holds at each."""
    state = CampaignState(spec)
    for event in log:
        state.fold(event)
        held = state.ledger.reserved + state.ledger.total(c.SPENT)
        assert held <= state.ledger.total(c.BUDGET), event
    return state


def payments_of(service: Served, name: str) -> dict[str, int]:
    """What the service says that each worker was paid, in micro-units; nothing left out."""
    shown = everything(service, f"/campaigns/{name}/payments")
    return {each["worker"]: to_micro(each["paid"], "paid") for each in shown if each["answers"]}


def everything(service: Served, path: str) -> list[Any]:
    """All pages of a list."""
    found: list[Any] = []
    after = ""
    while True:
        status, page = service.call("GET", f"{path}?limit=1000&after={after}")
        assert status == 200, page
        found.extend(page["items"])
        if page["next"] is None:
            return found
        after = page["next"]


def check_told(name: str, log: list[Event], told: Told) -> None:
    """What clients were told is in the log, once, and what they were refused is not."""
    asked = {event.seq: event for event in log if event.kind == Kind.ASKED}
    answers: dict[int, list[Event]] = {}
    for event in log:
        if event.kind == Kind.ANSWER:
            assert event.assignment is not None
            answers.setdefault(event.assignment, []).append(event)
    assert all(len(each) == 1 for each in answers.values())
    prefix = f"{name}:"

    def ours(ids: Any) -> list[int]:
        return [int(each.removeprefix(prefix)) for each in ids if each.startswith(prefix)]

    for assignment, value in told.answered.items():
        if assignment.startswith(prefix):
            [event] = answers[int(assignment.removeprefix(prefix))]
            assert event.value == value
    declined = {event.assignment for event in log if event.kind == Kind.DECLINED}
    assert set(ours(told.declined)) <= declined
    assert not set(ours(told.refused)) & set(answers)
    # An assignment is of one ask, and an ask has the assignments that it was told.
    by_key: dict[str, list[int]] = {}
    for seq, event in asked.items():
        if event.key is not None:
            by_key.setdefault(event.key.partition(":")[2], []).append(seq)
    for key, assignments in told.asked.items():
        if assignments[0]["id"].startswith(prefix):
            assert ours(each["id"] for each in assignments) == by_key[key]
            for each in assignments:
                event = asked[int(each["id"].removeprefix(prefix))]
                assert (event.worker, event.task) == (each["worker"], each["task"])
                assert event.price == to_micro(each["price"], "price")
    # What nobody was told was lost on the way, and given up.
    assert set(by_key) - set(told.asked) <= told.unknown


def compare_live(service: Served, name: str, state: CampaignState, log: list[Event]) -> None:
    """The state of the running service is that of a fresh fold of the log."""
    status = service.call("GET", f"/campaigns/{name}")[1]
    content = state.spec.content
    assert status.pop("content") == (None if content is None else content.to_json())
    assert status == as_json(views.status(name, state))
    answers = everything(service, f"/campaigns/{name}/answers")
    assert answers == [as_json(each) for each in views.answers(state)]
    payments = everything(service, f"/campaigns/{name}/payments")
    assert payments == [as_json(each) for each in views.payments(state)]
    out = everything(service, f"/campaigns/{name}/assignments")
    for each in out:
        each.pop("payload", None)
    assert out == [as_json(each) for each in views.outstanding(name, state)]
    events = everything(service, f"/campaigns/{name}/log")
    assert events == [as_json(event) for event in log]


def as_json(view: Any) -> Any:
    return json.loads(json.dumps(view.to_json()))


def same_arrays(first: CampaignState, second: CampaignState) -> bool:
    """Whether two states hold the same facts and beliefs, to the last bit."""
    facts, beliefs = (
        [each.ledger.arrays() for each in (first, second)],
        [each.spec.policy.used(each.beliefs, each.ledger) for each in (first, second)],
    )
    return all(
        one.keys() == other.keys()
        and all(np.array_equal(one[name], other[name], _floats(one[name])) for name in one)
        for one, other in (facts, beliefs)
    )


def _floats(array: Any) -> bool:
    return bool(np.issubdtype(np.asarray(array).dtype, np.floating))
