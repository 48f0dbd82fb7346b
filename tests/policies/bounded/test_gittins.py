"""The Gittins index by density: its bonus, its two priors, its posterior, whom it tries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise import Campaign, Worker
from askwise.core.choices import Batch
from askwise.core.draws import Draw
from askwise.core.events import Fact, Kind
from askwise.core.problem import make_problem
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.ledger.proposals import new_proposal
from askwise.policies.bounded.gittins import (
    GittinsKnapsack,
    believed,
    gittins_bonus,
    index_of,
    margin_of,
    posterior,
    prior_of,
    priors_of,
)

DRAW = Draw(1, 2, 3)


def believing(
    workers: list[Worker],
    answers: list[tuple[int, float]],
    budget: int = 100,
    outcome: Any = "utility",
) -> tuple[GittinsKnapsack, Ledger, Any]:
    policy = GittinsKnapsack()
    problem = make_problem(workers=workers, outcome=outcome, budget=budget)
    ledger = Ledger(problem)
    state = policy.start(problem, ledger)
    for worker, value in answers:
        ledger.book.workers[worker, c.ASKED] += 1
        ledger.book.workers[worker, c.ANSWERED] += 1
        policy.absorb(problem, state, ledger, Fact(int(Kind.ANSWER), 0, worker, value, 0, 0), DRAW)
    return policy, ledger, state


THREE = [Worker("a", 1), Worker("b", 1), Worker("c", 1)]


def test_the_bonus_is_that_of_the_paper() -> None:
    # Brezzi and Lai's approximation at points in each of its stretches.
    assert gittins_bonus(0.0) == 0.0
    assert gittins_bonus(0.08) == pytest.approx(0.2)
    assert gittins_bonus(0.25) == pytest.approx(0.49 - 0.22)
    assert gittins_bonus(4.0) == pytest.approx(0.63 - 0.13)
    assert gittins_bonus(9.0) == pytest.approx(0.77 - 0.58 / 3)
    assert gittins_bonus(100.0) == pytest.approx(
        math.sqrt(2 * math.log(100) - math.log(math.log(100)) - math.log(16 * math.pi))
    )


def test_before_any_answer_a_utility_is_uniform() -> None:
    # Mean 1/2; noise a third of its square, spread .12 of it, both by assumption.
    _, ledger, state = believing(THREE, [])
    prior = prior_of(ledger.book, state.beliefs, 1_000_000, 0)
    assert prior[:2] == pytest.approx((0.5, 0.03))
    assert prior.noise == pytest.approx(1 / 12)
    assert priors_of(ledger.book, state.beliefs).chance == 0.5


def test_a_prior_of_two_workers_by_hand() -> None:
    # Answers .2 and .6: mean .4. Noise a third of .16. Squared relative differences
    # .08 / .16 = .5; sampling takes 1/3 * 2 * (1/2) = 1/3 of them; spread
    # (.5 - .3333 + .24) / (1 + 2) = .13556 of .16. The mean's doubt: (.13556 + .33333) / 2.
    _, ledger, state = believing(THREE, [(0, 0.2), (1, 0.6)])
    prior = prior_of(ledger.book, state.beliefs, 1_000_000, 0)
    spread, doubt = (0.5 - 1 / 3 + 0.24) / 3, ((0.5 - 1 / 3 + 0.24) / 3 + 1 / 3) / 2
    assert prior[:4] == pytest.approx((0.4, spread * 0.16, doubt * 0.16, 0.16 / 3))
    assert prior.unexplained == pytest.approx((0.5 + 0.5) / 2)
    # a: precision 1 / spread + 1 / noise, level shrunk to .4, doubt by the prior's part in it.
    precision = 1 / (spread * 0.16) + 3 / 0.16
    level, variance, noise = posterior(ledger.book, state.beliefs, prior, 0, 1.0)
    assert level == pytest.approx((0.4 / (spread * 0.16) + 0.2 * 3 / 0.16) / precision)
    share = 1 / (spread * 0.16) / precision
    assert variance == pytest.approx(1 / precision + share**2 * doubt * 0.16)
    assert noise == pytest.approx(0.16 / 3)


def test_the_prior_that_explains_more_counts_more() -> None:
    # The same utility per price at prices 1, 4 and 9, then the same utility.
    workers = [Worker("a", 1), Worker("b", 4), Worker("c", 9)]
    _, ledger, state = believing(workers, [(0, 0.1), (1, 0.4), (2, 0.9)] * 4)
    assert priors_of(ledger.book, state.beliefs).chance > 0.6
    _, ledger, state = believing(workers, [(0, 0.4), (1, 0.4), (2, 0.4)] * 4)
    assert priors_of(ledger.book, state.beliefs).chance < 0.4


def test_where_prices_are_equal_neither_prior_counts_more() -> None:
    _, ledger, state = believing(THREE, [(0, 0.3), (1, 0.9), (2, 0.2)])
    priors = priors_of(ledger.book, state.beliefs)
    assert priors.chance == 0.5
    assert priors.flat == priors.by_price


def test_answers_that_are_out_lessen_the_bonus_and_not_the_mean() -> None:
    _, ledger, state = believing(THREE, [(0, 0.2), (1, 0.6)])
    before = believed(ledger.book, state.beliefs, priors_of(ledger.book, state.beliefs), 2)
    ledger.book.workers[2, c.ASKED] += 1
    after = believed(ledger.book, state.beliefs, priors_of(ledger.book, state.beliefs), 2)
    assert after[0] == before[0]
    assert after[1] < before[1]


def test_the_index_is_above_the_mean_and_within_the_range() -> None:
    _, ledger, state = believing(THREE, [(0, 0.9), (0, 1.0), (1, 0.6)])
    priors = priors_of(ledger.book, state.beliefs)
    for worker in range(3):
        level, _, _ = believed(ledger.book, state.beliefs, priors, worker)
        few, many = (index_of(ledger.book, state.beliefs, priors, worker, n) for n in (1, 10_000))
        assert min(level, 1.0) <= few <= many <= 1.0


def test_the_margin_is_the_last_of_the_plan_who_is_paid() -> None:
    # Of 100, a (limit 30, believed the best) takes 30, b the rest: the margin is b's density. With
    # limits of 30 for both, money is left, and anybody may have a place.
    for limit, left in ((None, False), (30, True)):
        workers = [Worker("a", 1, limit=30), Worker("b", 1, limit=limit), Worker("c", 1)]
        _, ledger, state = believing(workers, [(0, 0.9), (1, 0.2)] * 5)
        priors = priors_of(ledger.book, state.beliefs)
        found = margin_of(ledger.book, state.beliefs, priors, new_proposal(3))
        level, _, _ = believed(ledger.book, state.beliefs, priors, 1)
        assert found == pytest.approx(0.0 if left else level)


def asked(worth: dict[str, tuple[int, float]], budget: int, **parameters: Any) -> list[str]:
    campaign = Campaign.create(
        workers=[Worker(name, price) for name, (price, _) in worth.items()],
        outcome="utility",
        budget=budget,
        policy={"name": "gittins-knapsack", **parameters},
    )
    order = []
    while isinstance(batch := campaign.ask(), Batch):
        order.append(batch[0].worker)
        campaign.tell(batch[0].id, worth[batch[0].worker][1])
    return order


def test_everybody_who_may_be_a_bargain_is_tried_once() -> None:
    # d at 20 could at best be worth .05 a dollar, c at 4 more than all: only d is left out.
    worth = {"a": (1, 0.10), "b": (2, 0.20), "c": (4, 0.90), "d": (20, 1.0)}
    order = asked(worth, 1000)
    assert order[:3] == ["a", "b", "c"]
    assert "d" not in order
    assert order.count("c") > 200


def test_without_a_share_nobody_is_tried_for_the_sake_of_it() -> None:
    # c's best would be .25 a dollar, less than half of what a is worth.
    assert "c" not in asked({"a": (1, 0.60), "c": (4, 0.90)}, 1000, screen=0.0)


@given(st.integers(0, 10**6))
def test_the_unit_of_money_changes_no_decision(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 8))
    prices = rng.integers(1, 40, size=size)
    answers = [(int(at), float(rng.random())) for at in rng.integers(0, size, size=3 * size)]
    found = []
    for factor in (1, 10):
        workers = [Worker(f"w{at}", int(price) * factor) for at, price in enumerate(prices)]
        policy, ledger, state = believing(workers, answers, budget=1000 * factor)
        choice: Any = policy.choose(ledger.problem, state, ledger, DRAW, np.ones(size, np.int8))
        found.append(choice.rows[: choice.head[0]].tolist())
    assert found[0] == found[1]
