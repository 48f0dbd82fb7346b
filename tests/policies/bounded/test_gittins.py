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
from askwise.core.errors import InvalidParameter
from askwise.core.events import Fact, Kind
from askwise.core.problem import make_problem
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.ledger.proposals import new_proposal
from askwise.policies.bounded.gittins import GittinsKnapsack, index_of, margin_of, repays
from askwise.policies.bounded.normal_index import normal_bonus
from askwise.policies.bounded.priors import (
    IGNORED,
    LEARNED,
    LEAST_SPREAD,
    TAKEN,
    believed,
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


def bonus_by_induction(ratio: float, answers: int) -> float:
    """The known worth at which playing on is as good as stopping, in deviations of the mean.

    Backward induction on the posterior mean z less that worth, noise 1: playing earns z and what
    the better of playing and stopping is then expected to earn; stopping earns nothing.
    """
    u = np.linspace(-6, 6, 481)
    steps = np.linspace(-5, 5, 61)
    weights = np.exp(-(steps**2) / 2) / np.exp(-(steps**2) / 2).sum()
    worth = np.zeros_like(u)
    for played in reversed(range(answers)):
        now, then = 1 / (1 / ratio + played), 1 / (1 / ratio + played + 1)
        z = u[:, None] * math.sqrt(now) + steps * math.sqrt(now - then)
        on = z / math.sqrt(then)
        # Far up, nobody ever stops.
        later = np.where(on > 6, z * (answers - played - 1), np.interp(on, u, worth))
        play = u * math.sqrt(now) + later @ weights
        worth = np.maximum(0, play)
    return -float(np.interp(0, play, u))


@pytest.mark.parametrize(("ratio", "answers"), [(0.015625, 30), (0.12, 12), (1, 8), (3, 45)])
def test_the_bonus_is_that_of_backward_induction(ratio: float, answers: int) -> None:
    # Between the table's points it is interpolated, which is off by a hundredth at most.
    assert normal_bonus(ratio, answers) == pytest.approx(
        bonus_by_induction(ratio, answers), abs=0.012
    )


def test_the_bonus_at_its_ends_by_hand() -> None:
    # With one answer left nothing can be learned. If two are left and one tells all, the index v is
    # where playing once, at a loss of v, is as good as the linear loss L(v) that is then gained:
    # v = L(v), .2760.
    assert normal_bonus(3.0, 1) == 0.0
    assert normal_bonus(1e9, 2) == pytest.approx(0.276, abs=0.005)
    # Where learning is slow it grows as the root of the variance.
    assert normal_bonus(1e-6, 64) == pytest.approx(normal_bonus(4e-6, 64) / 2)
    assert normal_bonus(0.0, 64) == 0.0
    assert normal_bonus(1.0, 10**9) == normal_bonus(1.0, 4096)


def test_before_any_answer_a_utility_is_uniform() -> None:
    # Mean 1/2; noise a third of its square, spread .03 of it, both by assumption.
    _, ledger, state = believing(THREE, [])
    prior = prior_of(ledger.book, state.beliefs, 1_000_000, 0, LEARNED)
    assert prior[:2] == pytest.approx((0.5, LEAST_SPREAD / 4))
    assert prior.noise == pytest.approx(1 / 12)
    assert priors_of(ledger.book, state.beliefs, LEARNED).chance == 0.5


def test_a_prior_of_two_workers_by_hand() -> None:
    # Answers .2 and .6: mean .4. Noise a third of .16. Squared relative differences
    # .08 / .16 = .5; sampling takes 1/3 * 2 * (1/2) = 1/3 of them; the estimated spread is
    # (.5 - .3333 + .06) / (1 + 2) = .07556 of .16, its relative error sqrt(2 / 2) with an answer
    # each, and it is believed two of them above it. The mean's doubt: (spread + .33333) / 2.
    _, ledger, state = believing(THREE, [(0, 0.2), (1, 0.6)])
    prior = prior_of(ledger.book, state.beliefs, 1_000_000, 0, LEARNED)
    estimate = (0.5 - 1 / 3 + 0.06) / 3
    spread = estimate + 2 * (estimate + 1 / 3)
    doubt = (spread + 1 / 3) / 2
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
    assert priors_of(ledger.book, state.beliefs, LEARNED).chance > 0.6
    _, ledger, state = believing(workers, [(0, 0.4), (1, 0.4), (2, 0.4)] * 4)
    assert priors_of(ledger.book, state.beliefs, LEARNED).chance < 0.4


def test_where_prices_are_equal_neither_prior_counts_more() -> None:
    _, ledger, state = believing(THREE, [(0, 0.3), (1, 0.9), (2, 0.2)])
    priors = priors_of(ledger.book, state.beliefs, LEARNED)
    assert priors.chance == 0.5
    assert priors.flat == priors.by_price


def test_answers_that_are_out_lessen_the_bonus_and_not_the_mean() -> None:
    _, ledger, state = believing(THREE, [(0, 0.2), (1, 0.6)])
    before = believed(ledger.book, state.beliefs, priors_of(ledger.book, state.beliefs, LEARNED), 2)
    ledger.book.workers[2, c.ASKED] += 1
    after = believed(ledger.book, state.beliefs, priors_of(ledger.book, state.beliefs, LEARNED), 2)
    assert after[0] == before[0]
    assert after[1] < before[1]


def test_the_index_is_above_the_mean_and_within_the_range() -> None:
    _, ledger, state = believing(THREE, [(0, 0.9), (0, 1.0), (1, 0.6)])
    priors = priors_of(ledger.book, state.beliefs, LEARNED)
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
        priors = priors_of(ledger.book, state.beliefs, LEARNED)
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


def test_a_try_has_to_be_repaid_by_one_unlike_all_before() -> None:
    # a is believed to be worth m a dollar for all of the money left, 96. The best of the range is
    # 1 / price a dollar: at 4 with a chance of 1/2 of being unlike a, and then uniform. The try is
    # believed to earn what the prior says, less 4 m.
    workers = [Worker("a", 1), Worker("b", 4), Worker("c", 4)]
    for value, wanted in ((0.05, True), (0.24, False), (0.60, False)):
        _, ledger, state = believing(workers, [(0, value)] * 40)
        book = ledger.book
        book.totals[c.SPENT] = 4_000_000
        priors = priors_of(book, state.beliefs, LEARNED)
        margin = margin_of(book, state.beliefs, priors, new_proposal(3))
        level, _, _ = believed(book, state.beliefs, priors, 1)
        above = max(0.0, 1 / 4 - margin)
        # 23 more units at 4: in money of 1, 92, and E max(0, U / 4 - m) = above**2 * 4 / 2.
        gain = 92 * above**2 * 4 / 2 / 2
        assert (gain >= 4 * margin - level and above > 0) == wanted, (gain, level, margin)
        assert repays(book, state.beliefs, priors, 1, margin, 1) == wanted


def test_newcomers_are_tried_out_of_the_share_too() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1)], outcome="utility", budget=100, policy="gittins-knapsack"
    )
    for _ in range(30):
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        campaign.tell(batch[0].id, 0.2)
    campaign.add(workers=[Worker("b", 2)])
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    assert batch[0].worker == "b"


RATED = [Worker(f"w{at}", 1, rating=at / 10, rating_weight=20) for at in range(1, 9)]


def trust_after(answers: list[tuple[int, float]], ratings: int = LEARNED) -> float:
    _, ledger, state = believing(RATED, answers)
    trust: float = prior_of(ledger.book, state.beliefs, 1_000_000, 0, ratings).trust
    return trust


def test_ratings_are_believed_as_far_as_answers_bear_them_out() -> None:
    right = [(at, (at + 1) / 10) for at in range(8)] * 3
    wrong = [(at, (8 - at) / 10) for at in range(8)] * 3
    # Before any answer: .85 + .05 / 4 + .05 / 16.
    assert trust_after([]) == pytest.approx(0.865625)
    assert trust_after(right) > 0.95
    assert trust_after(wrong) < 0.02
    assert trust_after(wrong, TAKEN) == 1.0
    assert trust_after(right, IGNORED) == 0.0


def test_a_rating_that_is_not_believed_says_nothing_of_a_worker() -> None:
    # All but the best rated answer against their ratings; that one is then as good as the others.
    wrong = [(at, (8 - at) / 10) for at in range(7)] * 6
    _, ledger, state = believing(RATED, wrong)
    priors = priors_of(ledger.book, state.beliefs, LEARNED)
    untried, _, _ = believed(ledger.book, state.beliefs, priors, 7)
    assert untried == pytest.approx(np.mean([(8 - at) / 10 for at in range(7)]), abs=0.02)
    taken = priors_of(ledger.book, state.beliefs, TAKEN)
    assert believed(ledger.book, state.beliefs, taken, 7)[0] > 0.7


def test_wrong_words_about_ratings_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="ratings is 'none': give one of learned, taken"):
        GittinsKnapsack(ratings="none")
