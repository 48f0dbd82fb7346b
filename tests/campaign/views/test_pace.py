"""How long workers take for an answer, and what an hour of that pays."""

from __future__ import annotations

from decimal import Decimal

import pytest

from askwise import Campaign, Worker
from askwise.campaign.views import Paces
from tests.clock import Clock

ANN = Worker("ann", "0.10", kind="person")


def made(clock: Clock, **changes: object) -> Campaign:
    raw = {
        "workers": [ANN], "tasks": [f"t{at}" for at in range(40)], "options": ["no", "yes"],
        "policy": "random-pairs", "seed": 1, "name": "cats", "clock": clock,
    }  # fmt: skip
    return Campaign.create(**{**raw, **changes})  # type: ignore[arg-type]


def answer(campaign: Campaign, clock: Clock, *seconds: float) -> None:
    for each in seconds:
        (asked,) = campaign.ask()
        clock.now += each
        campaign.tell(asked.id, "yes")


def test_the_pace_is_the_median_of_five_answers_or_more_and_pay_needs_three_minutes() -> None:
    clock = Clock()
    campaign = made(clock)
    answer(campaign, clock, 10, 30, 20, 10_000)
    (ann,) = campaign.workers()
    assert (ann.seconds_an_answer, ann.pay_an_hour) == (None, None)
    answer(campaign, clock, 18)
    (ann,) = campaign.workers()
    # Of 10, 18, 20, 30 and a long break the middle one: five of them are 100 seconds of work.
    assert (ann.seconds_an_answer, ann.pay_an_hour) == (20.0, None)
    answer(campaign, clock, 20, 20, 20)
    assert campaign.workers()[0].pay_an_hour is None
    answer(campaign, clock, 20)
    # Nine are 180 seconds; 180 answers an hour at 0.10.
    assert campaign.workers()[0].pay_an_hour == Decimal("18.00")


def test_who_holds_several_questions_works_on_one_at_a_time() -> None:
    clock = Clock()
    campaign = made(clock)
    batch = campaign.ask(limit=6)
    for each in batch:
        clock.now += 12
        campaign.tell(each.id, "yes")
    assert campaign.workers()[0].seconds_an_answer == pytest.approx(12)


def test_questions_that_were_given_back_take_no_time() -> None:
    clock = Clock()
    campaign = made(clock, lease=60.0)
    answer(campaign, clock, 10, 10, 10, 10, 10)
    campaign.decline(campaign.ask()[0].id)
    (asked,) = campaign.ask()
    clock.now += 5000
    campaign.sweep()
    # Late, and taken; nobody knows how long they worked on it.
    campaign.tell(asked.id, "yes")
    assert campaign.workers()[0].seconds_an_answer == 10.0
    paces = campaign.paces()
    assert paces.seconds("nobody") is None


def test_models_and_unpaid_time_have_no_pay_an_hour() -> None:
    clock = Clock()
    campaign = made(clock, workers=[Worker("gpt", "0.10", kind="model")])
    answer(campaign, clock, *[2.0] * 6)
    (gpt,) = campaign.workers()
    assert (gpt.seconds_an_answer, gpt.pay_an_hour) == (2.0, None)
    clock = Clock()
    campaign = made(clock)
    answer(campaign, clock, *[0.0] * 6)
    assert campaign.workers()[0].pay_an_hour is None


def test_read_at_once_and_bit_by_bit_the_pace_is_the_same(tmp_path: object) -> None:
    clock = Clock()
    campaign = made(clock, store=f"sqlite:///{tmp_path}/s.sqlite")
    paces = Paces()
    for seconds in (4, 9, 2, 7, 8, 3, 1):
        answer(campaign, clock, seconds)
        paces.catch_up(campaign.store, "cats", campaign.status().seq)
    later = Paces()
    later.catch_up(campaign.store, "cats", campaign.status().seq)
    assert paces.seconds("ann") == later.seconds("ann") == 4.0
