"""The knowledge gradient's parts, by hand: pool, posterior, linear loss, plan, looks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from askwise import Campaign, Worker
from askwise.core.choices import Batch
from askwise.core.draws import Draw
from askwise.core.events import Fact, Kind
from askwise.core.money import MICRO
from askwise.core.problem import make_problem
from askwise.lab.simulate import simulate
from askwise.lab.worlds.base import Market, rated_world
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.policies.bounded.knowledge_gradient import (
    KnowledgeGradient,
    Spending,
    best_look,
    linear_loss,
    plan_money,
    value_of_change,
)
from askwise.policies.bounded.pooling import evidence, pool_of, posterior

DRAW = Draw(1, 2, 3)


def believing(
    workers: list[Worker], answers: list[tuple[int, float]], budget: int = 100, **parameters: Any
) -> tuple[KnowledgeGradient, Ledger, Any]:
    policy = KnowledgeGradient(**parameters)
    problem = make_problem(workers=workers, outcome="utility", budget=budget)
    ledger = Ledger(problem)
    state = policy.start(problem, ledger)
    for worker, value in answers:
        policy.absorb(problem, state, ledger, Fact(int(Kind.ANSWER), 0, worker, value, 0, 0), DRAW)
    return policy, ledger, state


THREE = [Worker("a", 1), Worker("b", 1), Worker("c", 1)]


def test_before_any_answer_the_pool_is_a_uniform_utility() -> None:
    # Mean 1/2, noise 1/12, and the least spread that is believed of a crowd: .12 squared means.
    _, ledger, state = believing(THREE, [])
    assert pool_of(ledger.book, state.beliefs)[:4] == pytest.approx((0.5, 0.03, 1 / 12, 0))


def test_pool_and_posterior_of_single_answers() -> None:
    # Answers .2 and .6, mean .4: no noise seen within a worker, so it is a third of the squared
    # mean, .05333. The means' spread is (.08 - 2 * .05333) / 2, negative: .12 * .16 = .0192.
    # Posterior of a: precision 1/.0192 + 1/.05333 = 70.833, mean
    # (.4 / .0192 + .2 / .05333) / 70.833 = .34706.
    _, ledger, state = believing(THREE, [(0, 0.2), (1, 0.6)])
    pool = pool_of(ledger.book, state.beliefs)
    assert pool[:4] == pytest.approx((0.4, 0.0192, 0.16 / 3, 0))
    level, variance, noise = posterior(ledger.book, state.beliefs, pool, 0)
    assert (level, variance, noise) == pytest.approx((0.347059, 0.0141176, 0.16 / 3), rel=1e-5)
    # c was never asked: the pool's mean and spread.
    assert posterior(ledger.book, state.beliefs, pool, 2) == pytest.approx((0.4, 0.0192, 0.16 / 3))


def test_noise_is_pooled_and_each_workers_own_is_mixed_in() -> None:
    # a: .2 and .6, squares about the mean .08 with one degree of freedom; b: .5; mean .45.
    # Pooled noise (.08 + 2 * .2025 / 3) / (1 + 2) = .071667, a's own
    # (.08 + 4 * .071667) / (2 + 3) = .073333, b's the pool's.
    _, ledger, state = believing(THREE, [(0, 0.2), (0, 0.6), (1, 0.5)])
    pool = pool_of(ledger.book, state.beliefs)
    assert pool.noise == pytest.approx(0.0716667, rel=1e-5)
    assert posterior(ledger.book, state.beliefs, pool, 0)[2] == pytest.approx(0.0733333, rel=1e-5)
    assert posterior(ledger.book, state.beliefs, pool, 1)[2] == pool.noise


def test_a_wide_spread_of_means_is_seen() -> None:
    # Sixteen answers each: 0 of a, 1 of b. No noise within: weights are capped at ten answers a
    # worker, (0 + 2 * .25 / 3) / (20 + 2) = 1/132. Between: .25 + .25; less noise * (2/16), by
    # two.
    _, ledger, state = believing(THREE, [(0, 0.0), (1, 1.0)] * 16)
    pool = pool_of(ledger.book, state.beliefs)
    assert pool.noise == pytest.approx(1 / 132)
    assert pool.spread == pytest.approx((0.5 - 1 / 132 / 8) / 2)


def test_workers_are_pooled_by_utility_per_price_where_answers_clearly_follow_prices() -> None:
    # .2 per unit of price at prices 1 to 4, sixteen times each: utilities have mean .5 and relative
    # squares (.09 + .01 + .01 + .09) / .25 = .8, per price there are none. The evidence is
    # 3 / 2 * log((.8 + .5) / .5) = 1.43, more than log 3 = 1.10. A worker at price 2 who was never
    # asked is believed to be worth .2 * 2.
    workers = [Worker(name, price) for name, price in zip("abcde", (1, 2, 3, 4, 2), strict=True)]
    answers = [(at, 0.2 * (at + 1)) for at in range(4)] * 16
    _, ledger, state = believing(workers, answers)
    pool = pool_of(ledger.book, state.beliefs)
    assert pool.by_price == 1
    assert (pool.mean, pool.spread) == pytest.approx((0.2, 0.12 * 0.04))
    assert posterior(ledger.book, state.beliefs, pool, 4)[0] == pytest.approx(0.4)


def test_two_workers_are_too_few_to_say_that_utilities_follow_prices() -> None:
    # .2 at price 1 and .8 at price 4: relative squares .18 / .25 = .72 of utilities, none per
    # price. The evidence is 1 / 2 * log((.72 + .5) / .5) = .45, less than log 3.
    workers = [Worker("a", 1), Worker("b", 4)]
    _, ledger, state = believing(workers, [(0, 0.2), (1, 0.8)] * 16)
    pool = pool_of(ledger.book, state.beliefs)
    assert pool.by_price == 0
    assert evidence(2.0, 0.72 + 0.5, 0.5) == pytest.approx(0.446, abs=1e-3)


def test_a_rating_counts_as_answers_of_that_value() -> None:
    # .9 worth 4 answers and no answer: count 4. Alone, the pool is its mean: noise .81 / 3,
    # spread .12 * .81.
    _, ledger, state = believing([Worker("a", 1, rating=0.9, rating_weight=4)], [])
    pool = pool_of(ledger.book, state.beliefs)
    assert pool[:4] == pytest.approx((0.9, 0.0972, 0.27, 0))
    level, variance, _ = posterior(ledger.book, state.beliefs, pool, 0)
    assert level == pytest.approx(0.9)
    assert variance == pytest.approx(1 / (1 / 0.0972 + 4 / 0.27))


def test_a_discount_fades_squares_too() -> None:
    _, _, state = believing(THREE, [(0, 0.5), (1, 1.0)], discount=0.5)
    np.testing.assert_array_equal(state.beliefs[0], [0.5, 0.25, 0.125, 0.0])


@given(st.floats(0, 5), st.floats(0.01, 3))
def test_the_linear_loss_is_the_integral_it_stands_for(gap: float, deviation: float) -> None:
    normal = stats.norm(0, deviation)
    top = gap + 12 * deviation
    due, _ = integrate.quad(lambda z: (z - gap) * normal.pdf(z), gap, top)
    assert linear_loss(gap, deviation) == pytest.approx(due, abs=1e-9)


def test_the_linear_loss_at_points_one_knows() -> None:
    # At no gap sigma / sqrt(2 pi); at one deviation sigma (phi(1) - Q(1)) = .083315 sigma.
    assert linear_loss(0.0, 2.0) == pytest.approx(2 / math.sqrt(2 * math.pi))
    assert linear_loss(0.5, 0.5) == pytest.approx(0.5 * 0.0833155, rel=1e-5)
    assert linear_loss(0.3, 0.0) == 0.0
    assert linear_loss(-0.3, 0.0) == 0.3


def test_money_is_planned_for_the_densest_first() -> None:
    # b and c are paid, c in part: they are the last, at place 1 of the order.
    capital, shares = np.array([10, 10, 10]), np.zeros(3, np.int64)
    densities = np.array([0.1, 0.3, 0.2])
    assert plan_money(np.array([1, 2, 0]), densities, capital, 15, shares) == 1
    assert shares.tolist() == [0, 10, 5]


def test_a_change_of_mind_is_worth_the_money_that_would_move() -> None:
    # b has all the money at density .3, a none at .1; the same gap of .2 either way. With a
    # deviation of .2, ten units of money times .2 * .0833155.
    densities, capital = np.array([0.1, 0.3]), np.array([10, 10])
    shares, order = np.array([0, 10]), np.array([1, 0])
    due = pytest.approx(10 * 0.2 * 0.0833155, rel=1e-5)
    plan = Spending(order, densities, capital, shares, 0, 10)
    assert value_of_change(plan, 0, 0.2) == value_of_change(plan, 1, 0.2) == due


def test_a_winner_takes_from_the_least_dense_first() -> None:
    # c (.1) could take 15: first the 5 of b (.2), then 10 of a (.4).
    densities, capital = np.array([0.4, 0.2, 0.1]), np.array([10, 5, 15])
    shares, order = np.array([10, 5, 0]), np.array([0, 1, 2])
    due = 5 * linear_loss(0.1, 0.3) + 10 * linear_loss(0.3, 0.3)
    plan = Spending(order, densities, capital, shares, 1, 15)
    assert value_of_change(plan, 2, 0.3) == pytest.approx(due)


def test_beyond_six_deviations_and_without_doubt_nothing_is_gained() -> None:
    densities, capital = np.array([0.1, 0.9]), np.array([10, 10])
    shares, order = np.array([0, 10]), np.array([1, 0])
    plan = Spending(order, densities, capital, shares, 0, 10)
    assert value_of_change(plan, 0, 0.13) == value_of_change(plan, 0, 0.0) == 0.0


def test_the_best_look_gains_most_per_price() -> None:
    # One rival who holds all 100 at density .5; a believes .3 with variance .04, noise .08,
    # price 1. A look of k units: variance falls to 1 / (25 + 12.5 k).
    densities, capital = np.array([0.3, 0.5]), np.array([100, 100])
    shares, order = np.array([0, 100]), np.array([1, 0])
    rates = {}
    for units in (1, 2, 4, 8, 16):
        deviation = math.sqrt(0.04 - 1 / (25 + 12.5 * units))
        gap = 0.2 / deviation
        moved = 100 * deviation * (stats.norm.pdf(gap) - gap * stats.norm.sf(gap))
        rates[units] = (moved * (1 - units / 100) - units * (0.5 - 0.3)) / units
    best = max(rates, key=lambda units: rates[units])
    # most = 16: longer looks than a can work are not considered.
    plan = Spending(order, densities, capital, shares, 0, 100)
    found = best_look(plan, 0, 1, 0.04, 0.08, 16)
    assert found == (best, pytest.approx(rates[best]))


def screened(workers: list[Worker], value: float, budget: int) -> list[str]:
    """Whom a campaign screens, each answering with the same utility."""
    campaign = Campaign.create(
        workers=workers, outcome="utility", budget=budget, policy="knowledge-gradient"
    )
    while isinstance(batch := campaign.ask(), Batch):
        campaign.tell(batch[0].id, value)
    decided = [event for event in campaign.log() if event.kind == Kind.DECIDED]
    return [event.rows[0].worker for event in decided if event.note == "screen" and event.rows]


def test_screening_goes_from_the_cheapest_up_within_its_share() -> None:
    # A tenth of 60 buys b (1), c (2) and a (3); a tenth of 50 leaves 2 after b and c. Limits of
    # ten leave money over, so that nobody is too expensive.
    workers = [Worker("a", 3, limit=10), Worker("b", 1, limit=10), Worker("c", 2, limit=10)]
    assert screened(workers, 0.5, 60) == ["b", "c", "a"]
    assert screened(workers, 0.5, 50) == ["b", "c"]


def test_those_who_could_not_earn_a_place_in_the_plan_are_not_screened() -> None:
    # b alone can use up the budget. After an answer of .9 nobody at 3 could be worth more per
    # price, whatever they answer; after .2 they could.
    workers = [Worker("a", 3), Worker("b", 1)]
    assert screened(workers, 0.9, 100) == ["b"]
    assert screened(workers, 0.2, 100) == ["b", "a"]


@pytest.mark.parametrize(("budget", "seeds"), [(100, 20), (10_000, 5)])
def test_a_better_worker_at_four_times_the_price_is_found(budget: int, seeds: int) -> None:
    # $1 worth .10 against $4 worth .90, .225 a dollar: .444 of the optimum was reached when
    # screening ended at twice the price at which the money would end.
    shares = []
    for seed in range(seeds):
        world = rated_world([np.array([0.5 / 9, 0.5 / 9]), np.array([8.5 / 9, 8.5 / 9])])
        prices, limits = np.array([1, 4]) * MICRO, np.full(2, 10**6)
        market = Market(prices, limits, world.means, world)
        policy, problem = KnowledgeGradient(), market.problem(budget * MICRO)
        outcome = simulate(policy, problem, market.answering(seed, 0), seed=seed)
        asked = outcome.ledger.book.workers[:2, c.ANSWERED]
        assert asked[1] > 0, seed
        shares.append(asked @ market.means / market.optimum(budget * MICRO)[0])
    # With a hundred times the money next to nothing goes to the other.
    assert np.mean(shares) > (0.9 if budget == 100 else 0.99)


def test_the_unit_of_money_does_not_choose_the_prior() -> None:
    # 300 crowds, each once more with all money times ten: the same pool to the last bit.
    for seed in range(300):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(2, 12))
        prices = rng.integers(1, 40, size=size)
        answers = [(int(at), float(rng.random())) for at in rng.integers(0, size, size=2 * size)]
        pools = []
        for factor in (1, 10):
            workers = [Worker(f"w{at}", int(p) * factor) for at, p in enumerate(prices)]
            _, ledger, state = believing(workers, answers, budget=1000 * factor)
            pools.append(pool_of(ledger.book, state.beliefs))
        assert pools[0][:4] == pools[1][:4], seed


def test_at_equal_prices_the_prior_is_of_utility() -> None:
    workers = [Worker("a", "0.07"), Worker("b", "0.07"), Worker("c", "0.07")]
    _, ledger, state = believing(workers, [(0, 0.31), (1, 0.77), (2, 0.13)])
    assert pool_of(ledger.book, state.beliefs).by_price == 0


def test_a_rated_worker_is_not_screened() -> None:
    workers = [Worker("a", 1, rating=0.5, rating_weight=3), Worker("b", 1)]
    policy, ledger, state = believing(workers, [])
    choice = policy.choose(ledger.problem, state, ledger, DRAW, np.ones(2, np.int8))
    assert choice.rows[: int(choice.head[0]), 1].tolist() == [1]


def test_with_nobody_to_compare_the_plan_goes_on() -> None:
    # One worker: no look changes the plan. After 16 answers, 16 // 8 = 2 units at a time.
    campaign = Campaign.create(
        workers=[Worker("a", 1)], outcome="utility", budget=30, policy="knowledge-gradient"
    )
    notes = []
    while isinstance(batch := campaign.ask(), Batch):
        campaign.tell(batch[0].id, 0.5)
    for event in campaign.log():
        if event.kind == Kind.DECIDED:
            assert event.rows is not None
            notes.append((event.note, event.rows[0].count))
    assert notes[0] == ("screen", 1)
    assert notes[1:16] == [("plan", 1)] * 15
    assert notes[16:19] == [("plan", 2)] * 3
    assert campaign.status().spent == 30
