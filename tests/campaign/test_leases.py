"""Leases, expiry, refusals and late answers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.core.choices import Assignment, Batch, Done, Wait
from askwise.core.errors import Conflict, InvalidAnswer, OverBudget
from askwise.core.events import Kind
from askwise.store import MemoryStore
from tests.clock import Clock


def make(clock: Clock | None = None, **changes: Any) -> Campaign:
    raw: dict[str, Any] = {
        "workers": [Worker("a", 2), Worker("b", 3)],
        "outcome": "utility",
        "budget": 10,
        "policy": "uniform",
        "seed": 1,
        "name": "cats",
        "lease": 60,
        "clock": clock or Clock(100.0),
    }
    return Campaign.create(**{**raw, **changes})


def one(campaign: Campaign, workers: list[str] | None = None) -> Assignment:
    choice = campaign.ask(workers=workers)
    assert isinstance(choice, Batch), choice
    return choice[0]


def kinds(campaign: Campaign) -> list[str]:
    return [event.kind.name for event in campaign.log()]


def test_an_assignment_says_when_it_expires() -> None:
    assert one(make()).expires == 160.0
    assert one(make(lease=timedelta(minutes=2))).expires == 220.0
    assert one(make(lease=None)).expires is None


def test_what_is_past_its_lease_is_released_by_the_next_write() -> None:
    clock = Clock(100.0)
    campaign = make(clock)
    first = one(campaign)
    clock.now = 159.9
    one(campaign)
    assert "EXPIRED" not in kinds(campaign)
    clock.now = 160.0
    campaign.pause()
    assert kinds(campaign)[-2:] == ["EXPIRED", "PAUSED"]
    assert campaign.log()[-2].assignment == int(first.id.split(":")[1])
    # The other one was asked at 159.9.
    assert campaign.status().pending == 1


def test_a_lease_survives_reopening() -> None:
    clock, store = Clock(100.0), MemoryStore()
    one(make(clock, store=store))
    clock.now = 161.0
    again = Campaign.open(store, "cats", clock=clock)
    again.pause()
    assert "EXPIRED" in kinds(again)


def test_an_expired_one_may_be_asked_again() -> None:
    clock = Clock(100.0)
    campaign = make(clock, workers=[Worker("a", 2, limit=1)])
    first = one(campaign)
    clock.now = 161.0
    second = one(campaign)
    assert (second.worker, second.id != first.id) == ("a", True)


def test_a_late_answer_is_taken_while_money_and_limit_allow() -> None:
    clock = Clock(100.0)
    campaign = make(clock)
    first = one(campaign)
    clock.now = 161.0
    campaign.tell(first.id, 0.5)
    assert kinds(campaign)[-2:] == ["EXPIRED", "ANSWER"]
    status = campaign.status()
    assert (status.spent, status.pending, status.answers) == (2, 0, 1)


def test_a_late_answer_beyond_the_budget_is_refused_with_the_reason() -> None:
    campaign = make(workers=[Worker("a", 4)], budget=7)
    first = one(campaign)
    campaign.expire(first.id)
    second = one(campaign)
    before = campaign.log()
    with pytest.raises(OverBudget, match="has expired and the budget has 3 left") as caught:
        campaign.tell(first.id, 0.5)
    assert caught.value.field == "assignment"
    assert campaign.log() == before
    campaign.tell(second.id, 0.5)
    campaign.top_up(1)
    campaign.tell(first.id, 0.5)
    assert campaign.status().spent == 8


def test_a_late_answer_beyond_the_limit_is_refused() -> None:
    campaign = make(workers=[Worker("a", 1, limit=1)])
    first = one(campaign)
    campaign.expire(first.id)
    one(campaign)
    with pytest.raises(InvalidAnswer, match="their limit"):
        campaign.tell(first.id, 0.5)


def test_a_late_answer_does_not_take_what_is_planned() -> None:
    # All to one: four units of a for 8. Two expire and are decided anew; of those one is handed
    # out and one planned. Three are out (6), one is planned (2), nothing is left.
    campaign = make(workers=[Worker("a", 2)], budget=8, policy="random")
    late = [one(campaign), one(campaign)]
    for each in late:
        campaign.expire(each.id)
    for _ in range(3):
        one(campaign)
    assert (campaign.status().reserved, campaign.status().pending) == (8, 3)
    with pytest.raises(OverBudget, match="the budget has 0 left"):
        campaign.tell(late[0].id, 0.5)
    campaign.top_up(2)
    campaign.tell(late[0].id, 0.5)
    assert (campaign.status().spent, campaign.status().reserved) == (2, 8)


TASKS: dict[str, Any] = {"tasks": ["t"], "options": ["no", "yes"], "outcome": None}


def test_a_late_answer_to_a_closed_task_is_refused() -> None:
    campaign = make(**TASKS)
    first = one(campaign)
    campaign.expire(first.id)
    campaign.close("t")
    with pytest.raises(InvalidAnswer, match="its task is closed"):
        campaign.tell(first.id, "yes")


def test_a_late_answer_to_a_pair_that_was_asked_again_is_refused() -> None:
    campaign = make(**TASKS, workers=[Worker("a", 1)])
    first = one(campaign)
    campaign.expire(first.id)
    second = one(campaign)
    assert (second.task, second.worker) == (first.task, first.worker)
    with pytest.raises(InvalidAnswer, match="asked again"):
        campaign.tell(first.id, "yes")
    campaign.tell(second.id, "no")
    with pytest.raises(InvalidAnswer, match="asked again"):
        campaign.tell(first.id, "yes")


def test_a_late_answer_after_the_end_is_refused_and_one_in_time_is_taken() -> None:
    campaign = make()
    first, second = one(campaign), one(campaign)
    campaign.expire(first.id)
    campaign.stop()
    with pytest.raises(InvalidAnswer, match="the campaign was stopped"):
        campaign.tell(first.id, 0.5)
    campaign.tell(second.id, 0.5)
    assert campaign.status().answers == 1


def test_an_answer_in_its_lease_to_a_closed_task_is_paid() -> None:
    campaign = make(**TASKS)
    first = one(campaign)
    campaign.close("t")
    campaign.tell(first.id, "yes")
    assert campaign.status().spent == first.price
    assert campaign.ask() == Done("tasks")


def test_a_mean_is_left_alone_by_answers_after_the_closing() -> None:
    campaign = make(tasks=["t"])
    batch = campaign.ask(limit=2)
    assert isinstance(batch, Batch)
    campaign.tell(batch[0].id, 0.2)
    campaign.close("t")
    closed = campaign.answers()[0]
    assert (closed.value, closed.outcome) == (0.2, "closed")
    campaign.tell(batch[1].id, 0.9)
    assert campaign.answers()[0].value == 0.2
    assert campaign.status().spent == 5


def test_a_declined_pair_is_not_offered_again() -> None:
    campaign = make(**TASKS)
    first = one(campaign, ["a"])
    campaign.decline(first.id)
    assert campaign.status().reserved == 3  # b's part of the round
    assert one(campaign).worker == "b"
    campaign.tell(campaign.assignments()[0].id, "yes")
    assert campaign.ask() == Done("tasks")
    with pytest.raises(InvalidAnswer, match="was declined"):
        campaign.tell(first.id, "yes")


def test_when_all_have_declined_it_is_over_whatever_the_policy() -> None:
    for policy in ("uniform", "random"):
        campaign = make(**TASKS, policy=policy, workers=[Worker("a", 2)])
        campaign.decline(one(campaign).id)
        assert campaign.ask() == Done("tasks"), policy
    for policy in ("bounded-kube", "simplified-bounded-kube", "thompson-knapsack"):
        campaign = make(tasks=["t"], policy=policy, workers=[Worker("a", 2)])
        campaign.decline(one(campaign).id)
        assert campaign.ask() == Done("tasks"), policy


def test_whoever_declines_a_unit_of_work_is_passed_over_until_somebody_has_answered() -> None:
    campaign = make(policy="thompson-knapsack", workers=[Worker("a", 1), Worker("b", 1)])
    campaign.decline(one(campaign, ["a"]).id)
    out = [one(campaign) for _ in range(3)]
    assert {each.worker for each in out} == {"b"}
    campaign.tell(out[0].id, 0.5)
    one(campaign)
    decided = [event.available for event in campaign.log() if event.kind == Kind.DECIDED]
    assert decided == [("a",), ("b",), ("b",), ("b",), None]


@pytest.mark.parametrize("policy", ["thompson-knapsack", "knowledge-gradient", "bounded-kube"])
def test_the_budget_goes_to_the_others_where_somebody_always_declines(
    policy: str,
) -> None:
    campaign = make(policy=policy, workers=[Worker("a", 1), Worker("b", 1)])
    declined = 0
    while isinstance(batch := campaign.ask(), Batch):
        if batch[0].worker == "a":
            declined += 1
            campaign.decline(batch[0].id)
            # By name they may be asked again; among all they are not.
            again = campaign.ask()
            assert not isinstance(again, Batch) or again[0].worker == "b"
            if isinstance(again, Batch):
                campaign.tell(again[0].id, 0.5)
        else:
            campaign.tell(batch[0].id, 0.5)
        assert declined < 20
    assert isinstance(batch, Wait | Done)
    assert campaign.status().spent == 10
    assert campaign.payments()[0].answers == 0


def test_whoever_has_declined_is_asked_when_they_are_named() -> None:
    for policy in ("uniform", "random", "thompson-knapsack", "bounded-kube"):
        campaign = make(policy=policy, workers=[Worker("a", 2, limit=1)])
        campaign.decline(one(campaign).id)
        assert campaign.ask() == Wait("workers"), policy
        assert one(campaign, ["a"]).worker == "a", policy


def test_being_passed_over_survives_reopening() -> None:
    store = MemoryStore()
    campaign = make(store=store, workers=[Worker("a", 2, limit=1)])
    campaign.decline(one(campaign).id)
    assert Campaign.open(store, "cats", clock=Clock(100.0)).ask() == Wait("workers")


@pytest.mark.parametrize("verb", ["expire", "decline"])
def test_what_is_not_out_can_not_be_released(verb: str) -> None:
    campaign = make()
    answered, expired, declined = one(campaign), one(campaign), one(campaign)
    campaign.tell(answered.id, 0.5)
    campaign.expire(expired.id)
    campaign.decline(declined.id)
    before = campaign.log()
    for each, word in ((answered, "answered"), (expired, "expired"), (declined, "declined")):
        with pytest.raises(Conflict, match=f"is {word} already") as caught:
            getattr(campaign, verb)(each.id)
        assert caught.value.field == "assignment"
    assert campaign.log() == before


def test_a_refused_request_lets_what_is_overdue_expire_all_the_same() -> None:
    clock = Clock(100.0)
    campaign = make(clock)
    first = one(campaign)
    clock.now = 170.0
    with pytest.raises(InvalidAnswer):
        campaign.tell(first.id, 99)
    assert kinds(campaign)[-1] == "EXPIRED"
    assert campaign.status().pending == 0
    assert isinstance(campaign.ask(), Batch)
    assert kinds(campaign).count("EXPIRED") == 1


def test_expired_leases_end_a_wait() -> None:
    clock = Clock(100.0)
    campaign = make(clock, workers=[Worker("a", 2, limit=1)])
    one(campaign)
    assert campaign.ask() == Wait("answers")
    clock.now = 161.0
    assert isinstance(campaign.ask(), Batch)


def test_the_time_of_events_is_the_clocks() -> None:
    clock = Clock(100.0)
    campaign = make(clock)
    one(campaign)
    clock.now = 170.0
    one(campaign)
    times = {event.kind: event.time for event in campaign.log()}
    assert times[Kind.EXPIRED] == 170.0


def test_a_lease_that_is_renewed_begins_anew() -> None:
    clock = Clock(100.0)
    campaign = make(clock)
    first, second = one(campaign), one(campaign)
    clock.now = 150.0
    campaign.renew(first.id)
    assert [each.expires for each in campaign.assignments()] == [210.0, 160.0]
    clock.now = 160.0
    assert campaign.sweep() == 1
    assert [each.id for each in campaign.assignments()] == [first.id]
    clock.now = 209.9
    assert campaign.sweep() == 0
    with pytest.raises(Conflict, match="is expired already"):
        campaign.renew(second.id)
    clock.now = 210.0
    assert campaign.sweep() == 1
    assert campaign.status().reserved == 0
    reopened = Campaign.open(campaign.store, "cats", clock=clock)
    assert reopened.assignments() == []


def test_what_was_renewed_is_due_then_also_for_those_who_open_the_campaign() -> None:
    clock = Clock(100.0)
    campaign = make(clock)
    first = one(campaign)
    clock.now = 150.0
    campaign.renew(first.id, key="r")
    campaign.renew(first.id, key="r")
    assert kinds(campaign).count("RENEWED") == 1
    clock.now = 205.0
    assert Campaign.open(campaign.store, "cats", clock=clock).sweep() == 0
    campaign.tell(first.id, 0.5)
    with pytest.raises(Conflict, match="is answered already"):
        campaign.renew(first.id)


def test_without_a_lease_there_is_nothing_to_renew() -> None:
    campaign = make(lease=None)
    campaign.renew(one(campaign).id)
    assert "RENEWED" not in kinds(campaign)
