"""The mechanisms with the policies that they are proved for."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise import Batch, Campaign, Done, Wait, Worker
from askwise.core.errors import InvalidProblem
from askwise.core.events import Kind
from askwise.core.money import MICRO, from_micro
from tests.mechanisms.readings import Right
from tests.mechanisms.test_truthful_in_expectation import setting

LINEAR = "hoeffding-linear(epsilon=0.5)"


def auction(policy: Any, mechanism: Any, bids: Sequence[int], tasks: int, **more: Any) -> Campaign:
    return Campaign.create(
        workers=[Worker(f"w{at}", from_micro(bid)) for at, bid in enumerate(bids)],
        tasks=[f"t{at}" for at in range(tasks)],
        options=["no", "yes"],
        policy=policy,
        mechanism=mechanism,
        **{"seed": 1, **more},
    )


def run(campaign: Campaign, right: Right) -> Done:
    """Answer as a success realisation says, and reveal each truth (always yes)."""
    waiting: list[str] = []
    while True:
        choice = campaign.ask(limit=100)
        if isinstance(choice, Batch):
            for each in choice:
                task, worker = int((each.task or "")[1:]), int(each.worker[1:])
                campaign.tell(each.id, "yes" if right[task][worker] else "no")
                if each.task not in waiting:
                    waiting.append(each.task or "")
        elif choice == Wait("truth"):
            for name in waiting:
                campaign.truth(name, "yes")
            waiting.clear()
        else:
            assert isinstance(choice, Done)
            return choice


def asked_sets(campaign: Campaign) -> list[tuple[int, ...]]:
    """Who was asked about each task."""
    found: dict[str, list[int]] = {}
    for event in campaign.log():
        if event.kind == Kind.ASKED:
            found.setdefault(event.task or "", []).append(int((event.worker or "")[1:]))
    return [tuple(sorted(found[f"t{at}"])) for at in range(len(found))]


def quoted(campaign: Campaign) -> list[dict[str, str]]:
    """The first quote."""
    first = next(event for event in campaign.log() if event.kind == Kind.QUOTED)
    return list(first.workers or ())


# CCB-S with self-resampling.


@pytest.mark.parametrize(
    ("kind", "seed", "error", "alpha", "xi"),
    [
        ("majority", 0, "majority", 0.35, 0.25),
        ("majority", 3, "majority", 0.35, 0.25),
        ("majority", 7, "majority", 0.35, 0.25),
        ("linear", 1, LINEAR, 0.45, 0.2),
    ],
)
def test_the_policy_asks_whom_the_reading_asks_at_the_resampled_bids(
    kind: str, seed: int, error: str, alpha: float, xi: float
) -> None:
    reading, costs = setting(kind, seed)
    policy = {
        "name": "ccb-s", "alpha": alpha, "mu": 0.9, "xi": xi, "bounds": "paper",
        "error": error, "solver": "exact",
    }  # fmt: skip
    mechanism = {"name": "self-resampling", "c_max": 20, "gamma": 0.5}
    campaign = auction(policy, mechanism, costs, len(reading.right), seed=seed)
    assert run(campaign, reading.right) == Done("target")
    quotes = quoted(campaign)
    ranks = [round(float(each["ranked_at"]) * MICRO) for each in quotes]
    assert ranks != costs
    assert asked_sets(campaign) == reading.sets(ranks)
    for worker, (quote, payment) in enumerate(zip(quotes, campaign.payments(), strict=True)):
        assert payment.answers == reading.work(ranks, worker)
        assert str(payment.paid / payment.answers) == quote["price"]
        assert payment.why.startswith(f"bid {quote['bid']} ")


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        (
            {"name": "ccb-s", "error": "hoeffding-linear", "solver": "greedy"},
            "unless it solves exactly a lower bid may bring less work",
        ),
        ({"name": "ccb-s", "error": "hoeffding-linear"}, "unless it solves exactly"),
        ({"name": "ccb-se", "error": "hoeffding-linear"}, "a lower bid may bring a worker less"),
        (
            {"name": "ccb-se", "error": "majority", "solver": "exact"},
            "a lower bid may bring a worker less",
        ),
        ({"name": "ccb-ns"}, "nothing is proved"),
        ({"name": "cucb"}, "nothing is proved"),
        ({"name": "epsilon-t-greedy"}, "nothing is proved"),
        ({"name": "hem"}, "nothing is proved"),
    ],
    ids=str,
)
def test_what_is_not_monotone_is_refused(policy: Any, why: str) -> None:
    mechanism = {"name": "self-resampling", "c_max": 20}
    with pytest.raises(InvalidProblem) as caught:
        auction(policy, mechanism, [MICRO] * 4, 3, budget=100)
    assert why in str(caught.value)
    assert "use 'ccb-s' or 'ccb-fixed' with solver 'exact'" in str(caught.value)
    assert caught.value.field == "mechanism"


# Payments without a lottery: no other bid is better, whatever it is.

KNOWN = (0.85, 0.8, 0.8, 0.75, 0.7)


def known(error: str, solver: str, alpha: float) -> dict[str, Any]:
    return {
        "name": "ccb-fixed", "qualities": KNOWN, "rounds": 0, "alpha": alpha, "error": error,
        "solver": solver,
    }  # fmt: skip


def learning(error: str, solver: str, alpha: float, rounds: int) -> dict[str, Any]:
    return {
        "name": "ccb-fixed", "rounds": rounds, "alpha": alpha, "mu": 0.99, "bounds": "paper",
        "error": error, "solver": solver,
    }  # fmt: skip


AUCTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "clarke, majority": (known("majority", "exact", 0.14), "clarke"),
    "clarke, linear": (known(LINEAR, "exact", 0.48), "clarke"),
    "critical bid": (known(LINEAR, "greedy", 0.48), "critical-bid"),
    "learning, majority": (learning("majority", "exact", 0.3, 12), "fixed-exploration"),
    "learning, greedy": (learning(LINEAR, "greedy", 0.49, 20), "fixed-exploration"),
    "learning, linear": (learning(LINEAR, "exact", 0.49, 20), "fixed-exploration"),
}
LATER = 3
"""Tasks that are given out by bids."""


@cache
def answers_of(seed: int) -> Right:
    dice = random.Random(seed)
    return tuple(tuple(dice.random() < 0.97 for _ in KNOWN) for _ in range(20 + LATER))


def outcome(name: str, bids: tuple[int, ...], seed: int) -> list[tuple[int, int]]:
    """Answers and payment (micro-units) of each worker."""
    policy, mechanism = AUCTIONS[name]
    campaign = auction(
        policy, {"name": mechanism, "c_max": 12}, bids, int(policy["rounds"]) + LATER
    )
    assert run(campaign, answers_of(seed)) == Done("target")
    return [(each.answers, int(each.paid * MICRO)) for each in campaign.payments()]


def case(name: str, seed: int) -> tuple[list[int], int]:
    """Costs, and whom to look at."""
    dice = random.Random(f"{name} {seed}")
    costs = [dice.choice([1, 2, 3, 4, 6, 8]) * MICRO for _ in KNOWN]
    return costs, dice.randrange(len(KNOWN))


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", AUCTIONS)
def test_no_bid_is_ever_better_than_the_cost(name: str, seed: int) -> None:
    costs, worker = case(name, seed)
    grid = sorted({*range(0, 13 * MICRO, MICRO), *(cost + 1 for cost in costs)})

    @cache
    def result(bid: int) -> tuple[int, int]:
        bids = (*costs[:worker], bid, *costs[worker + 1 :])
        return outcome(name, bids, seed)[worker]

    worked = [result(bid)[0] for bid in grid]
    assert worked == sorted(worked, reverse=True)
    # What is paid for the same work does not depend on the bid.
    assert len({result(bid) for bid in grid}) == len(set(worked))
    for cost in grid:
        gained = [paid - cost * answers for answers, paid in map(result, grid)]
        answers, paid = result(cost)
        assert max(gained) == paid - cost * answers >= 0


@pytest.mark.parametrize("name", AUCTIONS)
def test_bids_decide_who_works(name: str) -> None:
    """The test above is about something."""
    costs, worker = case(name, 0)
    low = outcome(name, (*costs[:worker], 0, *costs[worker + 1 :]), 0)
    high = outcome(name, (*costs[:worker], 12 * MICRO, *costs[worker + 1 :]), 0)
    assert low[worker][0] == high[worker][0] + LATER


# Live campaigns.

LIVE = {
    "self-resampling": (
        {"name": "ccb-s", "alpha": 0.3, "mu": 0.9, "bounds": "paper", "solver": "exact"},
        {"name": "self-resampling", "c_max": 12, "gamma": 0.4},
    ),
    "clarke": (known("majority", "exact", 0.14), {"name": "clarke", "c_max": 12}),
    "critical-bid": (known(LINEAR, "greedy", 0.48), {"name": "critical-bid", "c_max": 12}),
    "fixed-exploration": (
        learning("majority", "exact", 0.3, 12),
        {"name": "fixed-exploration", "c_max": 12},
    ),
}


@settings(max_examples=25)
@given(
    st.sampled_from(sorted(LIVE)),
    st.lists(st.integers(0, 12 * MICRO), min_size=5, max_size=5),
    st.one_of(st.none(), st.integers(12 * MICRO, 900 * MICRO)),
    st.integers(0, 99),
)
def test_nobody_is_paid_below_their_bid_and_every_decision_can_be_reproduced(
    name: str, bids: list[int], budget: int | None, seed: int
) -> None:
    policy, mechanism = LIVE[name]
    money = None if budget is None else from_micro(budget)
    campaign = auction(policy, mechanism, bids, 15, budget=money, seed=seed, name="live")
    assert run(campaign, answers_of(seed)) in (Done("target"), Done("budget"))
    status, payments = campaign.status(), campaign.payments()
    assert status.reserved == 0
    assert status.spent == sum(each.paid for each in payments)
    if money is not None:
        assert status.spent <= money
    for bid, payment in zip(bids, payments, strict=True):
        assert payment.paid >= payment.answers * from_micro(bid)
    asked = [event for event in campaign.log() if event.kind == Kind.ASKED]
    for event in asked[:: max(1, len(asked) // 4)]:
        assert campaign.explain(f"live:{event.seq}").reproduced
