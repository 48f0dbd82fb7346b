"""Whatever a campaign refuses, it refuses for a reason that a program can tell apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from askwise import Batch, Campaign
from askwise.core.errors import (
    AskwiseError,
    Conflict,
    InvalidAnswer,
    InvalidProblem,
    OverBudget,
    UnknownName,
)
from askwise.store import open_store

CATS: dict[str, Any] = {
    "name": "cats",
    "workers": [{"id": "ann", "price": "0.10", "limit": 2}, {"id": "bob", "price": "0.25"}],
    "tasks": ["t1", "t2"],
    "options": ["yes", "no"],
    "budget": "10",
    "policy": "random-pairs",
    "seed": 3,
}
UNITS: dict[str, Any] = {
    "name": "units",
    "workers": [{"id": "ann", "price": "0.10"}],
    "outcome": "utility",
    "policy": "uniform",
    "budget": "10",
}
BIDS: dict[str, Any] = {
    **CATS,
    "budget": None,
    "policy": {"name": "ccb-fixed", "qualities": [0.8, 0.8], "alpha": 0.3, "solver": "exact"},
    "mechanism": {"name": "clarke", "c_max": 2},
}


def handed(campaign: Campaign, worker: str = "ann") -> str:
    batch = campaign.ask(1, [worker])
    assert isinstance(batch, Batch)
    return batch[0].id


def answered(campaign: Campaign) -> str:
    id = handed(campaign)
    campaign.tell(id, "yes")
    return id


def failed(campaign: Campaign) -> str:
    id = handed(campaign)
    campaign.fail(id, "refused")
    return id


def declined(campaign: Campaign) -> str:
    id = handed(campaign)
    campaign.decline(id)
    return id


def expired(campaign: Campaign) -> str:
    id = handed(campaign)
    campaign.expire(id)
    return id


def late_after(*verbs: Callable[[Campaign], object]) -> Callable[[Campaign], object]:
    """Answer what has expired, after something else has happened."""

    def act(campaign: Campaign) -> None:
        id = expired(campaign)
        for verb in verbs:
            verb(campaign)
        campaign.tell(id, "yes")

    return act


def twice(verb: Callable[[Campaign], object]) -> Callable[[Campaign], object]:
    def act(campaign: Campaign) -> None:
        verb(campaign)
        verb(campaign)

    return act


def then(first: Callable[[Campaign], object], second: Callable[[Campaign], object]) -> Any:
    def act(campaign: Campaign) -> None:
        first(campaign)
        second(campaign)

    return act


ONE = {**CATS, "tasks": ["t1"]}
SOLE = {**CATS, "tasks": ["t1", "t2", "t3"], "workers": [{"id": "ann", "price": "1", "limit": 1}]}
POOR = {**ONE, "workers": [{"id": "ann", "price": "1"}, {"id": "bob", "price": "1"}], "budget": "1"}

CASES: dict[str, tuple[dict[str, Any], Callable[[Campaign], object], type[AskwiseError], str]] = {
    "answered": (
        CATS, lambda c: c.tell(answered(c), "no"), InvalidAnswer, "assignment_answered",
    ),
    "declined": (
        CATS, lambda c: c.tell(declined(c), "no"), InvalidAnswer, "assignment_declined",
    ),
    "failed": (
        CATS, lambda c: c.tell(failed(c), "no"), InvalidAnswer, "assignment_failed",
    ),
    "failed twice": (
        CATS, lambda c: c.fail(failed(c), "refused"), InvalidAnswer, "assignment_failed",
    ),
    "release failed": (CATS, lambda c: c.decline(failed(c)), Conflict, "assignment_failed"),
    "no failure": (
        CATS, lambda c: c.fail(handed(c), "tired"), InvalidAnswer, "invalid_value",  # type: ignore[arg-type]
    ),
    "release answered": (
        CATS, lambda c: c.expire(answered(c)), Conflict, "assignment_answered",
    ),
    "release declined": (
        CATS, lambda c: c.decline(declined(c)), Conflict, "assignment_declined",
    ),
    "release expired": (CATS, lambda c: c.expire(expired(c)), Conflict, "assignment_expired"),
    "no option": (CATS, lambda c: c.tell(handed(c), "maybe"), InvalidAnswer, "invalid_value"),
    "no truth": (CATS, lambda c: c.truth("t1", "maybe"), InvalidAnswer, "invalid_value"),
    "late, closed": (
        ONE, late_after(lambda c: c.close("t1")), InvalidAnswer, "task_closed",
    ),
    "late, stopped": (CATS, late_after(Campaign.stop), InvalidAnswer, "campaign_stopped"),
    "late, at the limit": (SOLE, late_after(handed), InvalidAnswer, "worker_limit_reached"),
    "late, asked again": (ONE, late_after(handed), InvalidAnswer, "pair_asked_again"),
    "late, no money": (POOR, late_after(lambda c: handed(c, "bob")), OverBudget, "over_budget"),
    "another truth": (
        CATS,
        then(lambda c: c.truth("t1", "yes"), lambda c: c.truth("t1", "no")),
        Conflict,
        "truth_known",
    ),
    "unknown task": (CATS, lambda c: c.truth("t9", "yes"), UnknownName, "unknown_task"),
    "unknown worker": (CATS, lambda c: c.leave("eve"), UnknownName, "unknown_worker"),
    "unknown assignment": (
        CATS, lambda c: c.tell("cats:99", "yes"), UnknownName, "unknown_assignment",
    ),
    "another campaign's": (
        CATS, lambda c: c.tell("dogs:1", "yes"), UnknownName, "unknown_assignment",
    ),
    "task again": (CATS, lambda c: c.add(tasks=["t1"]), Conflict, "task_exists"),
    "worker again": (
        CATS,
        lambda c: c.add(workers=[{"id": "ann", "price": 1}]),
        Conflict,
        "worker_exists",
    ),
    "left twice": (CATS, twice(lambda c: c.leave("ann")), Conflict, "worker_left"),
    "paused twice": (CATS, twice(Campaign.pause), Conflict, "campaign_paused"),
    "not paused": (CATS, Campaign.resume, Conflict, "campaign_not_paused"),
    "stopped twice": (CATS, twice(Campaign.stop), Conflict, "campaign_stopped"),
    "closed twice": (CATS, twice(lambda c: c.close("t1")), Conflict, "task_closed"),
    "no such amount": (CATS, lambda c: c.top_up("much"), InvalidProblem, "invalid_amount"),
    "no money added": (CATS, lambda c: c.top_up(0), InvalidProblem, "invalid_amount"),
    "no tasks": (UNITS, lambda c: c.add(tasks=["t1"]), Conflict, "no_tasks"),
    "no budget": (BIDS, lambda c: c.top_up(1), Conflict, "no_budget"),
    "no bids": (CATS, lambda c: c.bid("ann", 1), Conflict, "no_bids"),
    "bid too high": (BIDS, lambda c: c.bid("ann", 3), InvalidProblem, "invalid_amount"),
    "bidding closed": (
        BIDS, then(lambda c: c.ask(), lambda c: c.bid("ann", 1)), Conflict, "bidding_closed",
    ),
    "nothing owed": (CATS, lambda c: c.pay("ann", by="bo"), Conflict, "not_owed"),
    "nobody owed": (CATS, lambda c: c.pay_all(by="bo"), Conflict, "not_owed"),
    "more than owed": (
        CATS, then(answered, lambda c: c.pay("ann", "0.2", by="bo")), Conflict, "not_owed",
    ),
    "a bonus beyond the budget": (
        CATS, lambda c: c.bonus("ann", 11, "Thanks.", by="bo"), OverBudget, "over_budget",
    ),
    "no newcomers": (
        BIDS,
        lambda c: c.add(workers=[{"id": "eve", "price": 1}]),
        Conflict,
        "no_newcomers",
    ),
    "key reused": (
        CATS,
        then(lambda c: c.pause(key="k"), lambda c: c.resume(key="k")),
        Conflict,
        "key_reused",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_has_its_reason(case: str) -> None:
    fields, act, kind, reason = CASES[case]
    with pytest.raises(kind) as caught:
        act(Campaign.create(**fields))
    assert (type(caught.value), caught.value.reason) == (kind, reason)


def test_a_name_that_is_taken_or_unknown_has_its_reason() -> None:
    store = open_store("memory")
    Campaign.create(store=store, **CATS)
    with pytest.raises(Conflict) as taken:
        Campaign.create(store=store, **CATS)
    assert taken.value.reason == "campaign_exists"
    with pytest.raises(UnknownName) as unknown:
        Campaign.open(store, "dogs")
    assert unknown.value.reason == "unknown_campaign"
