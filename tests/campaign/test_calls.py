"""Calls that cost more or less than their price, and calls that bring no answer."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.core.calls import FAILURES, LONGEST_RATIONALE, LONGEST_REFERENCE
from askwise.core.choices import Assignment, Batch, Done, Wait
from askwise.core.errors import AskwiseError, Conflict, InvalidAnswer, InvalidProblem, OverBudget
from askwise.core.events import Event, Kind
from askwise.store import MemoryStore

TWO: dict[str, Any] = {
    "workers": [Worker("ann", 2, kind="model"), Worker("bob", 3, kind="model")],
    "tasks": ["t1", "t2", "t3"],
    "options": ["no", "yes"],
    "budget": 10,
    "policy": "random-pairs",
    "seed": 1,
}


def make(**changes: Any) -> Campaign:
    return Campaign.create(**{**TWO, **changes})


def ask(campaign: Campaign, worker: str) -> Assignment:
    batch = campaign.ask(workers=[worker])
    assert isinstance(batch, Batch)
    return batch[0]


def last(campaign: Campaign) -> Event:
    return campaign.log()[-1]


def money(campaign: Campaign) -> tuple[Decimal, Decimal, Decimal | None]:
    found = campaign.status()
    return found.spent, found.reserved, found.left


def test_an_answer_is_paid_its_price_unless_its_cost_is_said() -> None:
    campaign = make()
    campaign.tell(ask(campaign, "ann").id, "yes")
    assert money(campaign) == (2, 0, 8)
    assert (last(campaign).price, last(campaign).cost) == (2_000_000, None)
    assert campaign.assignment(f"{campaign.name}:2").cost == 2


def test_a_cost_below_the_ceiling_frees_the_rest() -> None:
    campaign = make()
    out = ask(campaign, "bob")
    assert money(campaign) == (0, 3, 7)
    campaign.tell(out.id, "yes", cost="0.000001")
    assert money(campaign) == (Decimal("0.000001"), 0, Decimal("9.999999"))
    assert campaign.assignment(out.id).cost == Decimal("0.000001")
    assert campaign.explain(out.id).price == 3
    assert last(campaign).over_ceiling is None


def test_a_cost_above_the_ceiling_is_booked_from_money_that_is_free_and_marked() -> None:
    campaign = make()
    campaign.tell(ask(campaign, "ann").id, "yes", cost=7)
    assert money(campaign) == (7, 0, 3)
    event = last(campaign)
    assert (event.price, event.cost, event.over_ceiling) == (7_000_000, 7_000_000, True)
    assert campaign.status().unbooked == 0


def test_a_cost_above_the_ceiling_never_takes_what_is_reserved_for_others() -> None:
    campaign = make()
    first, second = ask(campaign, "ann"), ask(campaign, "bob")
    campaign.tell(first.id, "yes", cost=50)
    # Two of its own, and five that were free: three are reserved for bob.
    assert money(campaign) == (7, 3, 0)
    event = last(campaign)
    assert (event.price, event.cost, event.over_ceiling) == (7_000_000, 50_000_000, True)
    assert campaign.status().unbooked == 43
    campaign.tell(second.id, "yes")
    assert money(campaign) == (10, 0, 0)


def test_without_a_budget_any_cost_is_booked() -> None:
    campaign = make(budget=None)
    campaign.tell(ask(campaign, "ann").id, "yes", cost=50)
    assert campaign.status().spent == 50
    assert last(campaign).over_ceiling


def test_what_a_call_brings_beside_its_answer_is_in_the_log_and_not_in_the_vote() -> None:
    plain, told = make(), make()
    plain.tell(ask(plain, "ann").id, "yes")
    sure = {"no": 0.9, "yes": 0.1}
    out = ask(told, "ann").id
    told.tell(out, "yes", probabilities=sure, rationale="Because.", reference="r-1")
    event = last(told)
    assert (event.probabilities, event.rationale, event.reference) == (sure, "Because.", "r-1")
    assert told.answers() == plain.answers()


def test_a_failure_is_paid_has_no_vote_and_closes_the_pair() -> None:
    campaign = make(tasks=["t1"])
    out = ask(campaign, "ann")
    campaign.fail(out.id, "refused", "0.5", "r-1")
    assert money(campaign) == (Decimal("0.5"), 0, Decimal("9.5"))
    event = last(campaign)
    assert (event.kind, event.why, event.reference) == (Kind.FAILED, "refused", "r-1")
    assert (event.price, event.cost, event.over_ceiling) == (500_000, 500_000, None)
    assert campaign.answers()[0].count == 0
    assert campaign.ask(workers=["ann"]) == Wait("workers")
    handed = campaign.assignment(out.id)
    assert (handed.state, handed.value, handed.cost) == ("failed", None, Decimal("0.5"))
    found = campaign.status()
    assert (found.failures, found.answers, found.pending) == (1, 0, 0)
    ann, bob = campaign.payments()
    assert (ann.paid, ann.answers, ann.failures) == (Decimal("0.5"), 0, 1)
    assert (bob.paid, bob.failures) == (0, 0)


@pytest.mark.parametrize("why", FAILURES)
def test_a_failure_may_cost_nothing(why: Any) -> None:
    campaign = make()
    campaign.fail(ask(campaign, "ann").id, why)
    assert money(campaign) == (0, 0, 10)
    assert (last(campaign).why, last(campaign).cost) == (why, 0)


def test_a_failure_above_the_ceiling_is_booked_as_an_answer_is() -> None:
    campaign = make()
    first, _ = ask(campaign, "ann"), ask(campaign, "bob")
    campaign.fail(first.id, "error", 50)
    assert money(campaign) == (7, 3, 0)
    assert last(campaign).over_ceiling
    assert campaign.status().unbooked == 43


def test_when_all_have_failed_it_is_over() -> None:
    campaign = make()
    failed = 0
    while isinstance(batch := campaign.ask(), Batch):
        campaign.fail(batch[0].id, "unreadable")
        failed += 1
    assert (failed, batch) == (6, Done("tasks"))


def test_a_failure_uses_up_a_place_under_the_limit() -> None:
    campaign = make(workers=[Worker("ann", 1, limit=2), Worker("bob", 1)])
    campaign.fail(ask(campaign, "ann").id, "refused")
    campaign.tell(ask(campaign, "ann").id, "yes")
    assert campaign.ask(workers=["ann"]) == Wait("workers")
    with campaign.reading() as state:
        assert state.ledger.workers[0].limit == 2


def test_somebody_who_comes_back_keeps_their_failures() -> None:
    campaign = make(workers=[Worker("ann", 1, limit=2), Worker("bob", 1)])
    campaign.fail(ask(campaign, "ann").id, "refused")
    campaign.leave("ann")
    campaign.add(workers=[Worker("ann", 1, limit=2)])
    campaign.tell(ask(campaign, "ann").id, "yes")
    assert campaign.ask(workers=["ann"]) == Wait("workers")


def test_what_was_planned_beyond_a_limit_that_a_failure_used_up_is_given_up() -> None:
    # One worker, units of work: the plan holds all three that the limit allows.
    campaign = Campaign.create(
        workers=[Worker("ann", 1, limit=3)], outcome="utility", budget=10, policy="uniform"
    )
    out = ask(campaign, "ann")
    campaign.fail(out.id, "error")
    for _ in range(2):
        campaign.tell(ask(campaign, "ann").id, 0.5)
    assert campaign.ask() == Done("limits")
    assert campaign.over() == Done("limits")
    assert money(campaign) == (2, 0, 8)


def test_a_crowd_that_failed_is_passed_over_until_somebody_has_answered() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1), Worker("b", 1)], outcome="utility", budget=10, policy="uniform"
    )
    campaign.fail(ask(campaign, "a").id, "timed_out")
    for _ in range(2):
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        assert batch[0].worker == "b"
        campaign.expire(batch[0].id)
    assert ask(campaign, "a").worker == "a"


def test_failures_may_use_up_what_a_task_may_cost() -> None:
    campaign = make(
        workers=[Worker(each, 1) for each in "abcd"],
        tasks=["t1"],
        policy="random-pairs",
        stopping={"name": "fixed", "n": 4, "cap": "2.5"},
    )
    campaign.fail(ask(campaign, "a").id, "refused", 1)
    assert campaign.status().open_tasks == 1
    campaign.fail(ask(campaign, "b").id, "refused", 1)
    # Another answer might cost one more, which is above the cap.
    closed = last(campaign)
    assert (closed.kind, closed.outcome, closed.value) == (Kind.CLOSED, "over_budget", None)


@pytest.mark.parametrize(
    ("cost", "booked", "over"),
    [(None, 3, None), ("1", 1, None), ("3", 3, None), ("4", 4, True), ("99", 8, True)],
)
def test_a_late_answer_may_say_its_cost(cost: str | None, booked: int, over: bool | None) -> None:
    campaign = make(tasks=["t1"])
    late = ask(campaign, "bob")
    campaign.expire(late.id)
    ask(campaign, "ann")
    # Two of the ten are reserved for ann.
    campaign.tell(late.id, "yes", cost=cost)
    event = last(campaign)
    assert (event.price, event.over_ceiling) == (booked * 10**6, over)


@pytest.mark.parametrize(
    ("cost", "taken"), [(None, False), ("2", False), ("99", False), ("1", True)]
)
def test_a_late_call_needs_what_its_expiry_gave_back(cost: str | None, taken: bool) -> None:
    campaign = make(tasks=["t1"], budget=3)
    late = ask(campaign, "bob")
    campaign.expire(late.id)
    ask(campaign, "ann")
    # One is left. Up to the ceiling a late call is paid in full or not at all.
    for settle in (
        lambda: campaign.fail(late.id, "refused", "3" if cost is None else cost),
        lambda: campaign.tell(late.id, "yes", cost=cost),
    ):
        if taken:
            settle()
            assert campaign.status().left == 0
            return
        with pytest.raises(OverBudget, match=r"has expired and the budget has 1 left, it costs \d"):
            settle()
        assert campaign.status().spent == 0


def test_a_late_failure_is_booked_and_closes_the_pair() -> None:
    campaign = make(tasks=["t1"])
    late = ask(campaign, "ann")
    campaign.expire(late.id)
    campaign.fail(late.id, "timed_out", "1.5")
    assert money(campaign) == (Decimal("1.5"), 0, Decimal("8.5"))
    assert campaign.ask(workers=["ann"]) == Wait("workers")
    assert campaign.assignment(late.id).state == "failed"


def test_a_retry_with_a_key_is_the_first_one_and_another_cost_is_another_request() -> None:
    campaign = make()
    first, second = ask(campaign, "ann").id, ask(campaign, "bob").id
    for _ in range(2):
        campaign.tell(first, "yes", "k1", cost="1.50")
        campaign.fail(second, "refused", "0.5", key="k2")
    assert [event.kind for event in campaign.log()[-2:]] == [Kind.ANSWER, Kind.FAILED]
    campaign.tell(first, "yes", "k1", cost=1.5)
    with pytest.raises(Conflict) as refused:
        campaign.tell(first, "yes", "k1", cost=2)
    assert refused.value.reason == "key_reused"
    with pytest.raises(Conflict):
        campaign.tell(first, "yes", "k1")


def test_a_retry_of_an_answer_from_before_there_were_costs_is_the_same_request() -> None:
    store = MemoryStore()
    campaign = make(store=store, name="cats")
    out = ask(campaign, "ann").id
    campaign.tell(out, "yes", "k")
    kept = store.replies("cats", ["k"])["k"]
    assert kept.request == '["tell", {"assignment": 2, "value": "yes"}]'


BAD: dict[str, tuple[Callable[[Campaign, str], object], type[AskwiseError], str]] = {
    "negative cost": (lambda c, id: c.tell(id, "yes", cost="-1"), InvalidProblem, "cost"),
    "fine cost": (lambda c, id: c.tell(id, "yes", cost="0.0000001"), InvalidProblem, "cost"),
    "no cost": (lambda c, id: c.fail(id, "refused", "much"), InvalidProblem, "cost"),
    "another option": (
        lambda c, id: c.tell(id, "yes", probabilities={"maybe": 1.0}),
        InvalidAnswer,
        "probabilities",
    ),
    "too sure": (
        lambda c, id: c.tell(id, "yes", probabilities={"yes": 1.5, "no": -0.5}),
        InvalidAnswer,
        "probabilities",
    ),
    "not a number": (
        lambda c, id: c.tell(id, "yes", probabilities={"yes": float("nan"), "no": 1.0}),
        InvalidAnswer,
        "probabilities",
    ),
    "sum": (
        lambda c, id: c.tell(id, "yes", probabilities={"yes": 0.5, "no": 0.4}),
        InvalidAnswer,
        "probabilities",
    ),
    "no mapping": (
        lambda c, id: c.tell(id, "yes", probabilities=[0.5, 0.5]),  # type: ignore[arg-type]
        InvalidAnswer,
        "probabilities",
    ),
    "mixed names": (
        lambda c, id: c.tell(id, "yes", probabilities={1: 0.5, "yes": 0.5}),  # type: ignore[dict-item]
        InvalidAnswer,
        "probabilities",
    ),
    "long rationale": (
        lambda c, id: c.tell(id, "yes", rationale="x" * (LONGEST_RATIONALE + 1)),
        InvalidAnswer,
        "rationale",
    ),
    "long reference": (
        lambda c, id: c.fail(id, "refused", reference="x" * (LONGEST_REFERENCE + 1)),
        InvalidAnswer,
        "reference",
    ),
    "no text": (
        lambda c, id: c.tell(id, "yes", reference=7),  # type: ignore[arg-type]
        InvalidAnswer,
        "reference",
    ),
    "NUL": (lambda c, id: c.tell(id, "yes", rationale="a\0b"), InvalidAnswer, "rationale"),
    "no such failure": (
        lambda c, id: c.fail(id, "tired"),  # type: ignore[arg-type]
        InvalidAnswer,
        "why",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named_and_changes_nothing(case: str) -> None:
    act, error, field = BAD[case]
    campaign = make()
    out = ask(campaign, "ann").id
    before = campaign.log()
    with pytest.raises(error) as refused:
        act(campaign, out)
    assert type(refused.value) is error
    assert refused.value.field == field
    assert campaign.log() == before


def test_texts_and_probabilities_at_their_limits_are_taken() -> None:
    campaign = make()
    campaign.tell(
        ask(campaign, "ann").id,
        "yes",
        probabilities={"yes": 1 - 9e-7},
        rationale="x" * LONGEST_RATIONALE,
        reference="y" * LONGEST_REFERENCE,
    )
    assert last(campaign).probabilities == {"yes": 1 - 9e-7}


def test_a_campaign_of_numbers_takes_no_probabilities() -> None:
    campaign = Campaign.create(workers=[Worker("a", 1)], outcome="utility", policy="uniform")
    out = campaign.ask()[0].id
    with pytest.raises(InvalidAnswer, match="the answers of this campaign are numbers"):
        campaign.tell(out, 0.5, probabilities={"yes": 1.0})


def auction() -> Campaign:
    return make(
        budget=None,
        policy={"name": "ccb-fixed", "qualities": [0.8, 0.8], "alpha": 0.3, "solver": "exact"},
        mechanism={"name": "clarke", "c_max": 5},
    )


def test_where_workers_bid_only_the_price_is_taken_and_nothing_for_a_failure() -> None:
    campaign = auction()
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    out = batch[0]
    for act in (
        lambda: campaign.tell(out.id, "yes", cost=out.price - 1),
        lambda: campaign.tell(out.id, "yes", cost=out.price + 1),
        lambda: campaign.fail(out.id, "refused", 1),
    ):
        with pytest.raises(InvalidAnswer, match="mechanism 'clarke' pays the price") as refused:
            act()
        assert (refused.value.field, refused.value.reason) == ("cost", "invalid_amount")
    campaign.tell(out.id, "yes", cost=out.price)
    assert campaign.status().spent == out.price
    other = auction()
    other.fail(other.ask()[0].id, "refused")
    assert other.status().spent == 0


def test_a_failed_assignment_is_explained_like_any_other() -> None:
    campaign = make()
    for why in ("refused", "error"):
        campaign.fail(ask(campaign, "ann").id, why, 1)  # type: ignore[arg-type]
    out = ask(campaign, "bob")
    found = campaign.explain(out.id)
    assert found.reproduced
    assert found.price == 3


def test_payments_say_what_they_are_made_of() -> None:
    campaign = make()
    campaign.tell(ask(campaign, "ann").id, "yes", cost=1)
    campaign.tell(ask(campaign, "bob").id, "yes")
    assert [each.why for each in campaign.payments()] == ["cost of each call", "price per answer"]
