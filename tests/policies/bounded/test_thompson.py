"""Thompson sampling by density: posteriors and units, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from askwise import Campaign, Worker
from askwise.core.choices import Batch
from askwise.core.draws import Draw, beta
from askwise.core.events import Fact, Kind
from askwise.core.problem import make_problem
from askwise.ledger.ledger import Ledger
from askwise.policies.bounded.common import COUNT, SUM
from askwise.policies.bounded.thompson import ThompsonKnapsack, sampled_density

DRAW = Draw(12, 34, 5)


def believing(
    workers: list[Worker], answers: list[tuple[int, float]], policy: Any = None, **more: Any
) -> tuple[Ledger, Any]:
    """A ledger and the beliefs after some answers (worker's index, value)."""
    policy = policy or ThompsonKnapsack()
    outcome = more.get("outcome", "utility")
    problem = make_problem(workers=workers, outcome=outcome, budget=100)
    ledger = Ledger(problem)
    state = policy.start(problem, ledger)
    for worker, value in answers:
        fact = Fact(int(Kind.ANSWER), 0, worker, value, 0, 0)
        policy.absorb(problem, state, ledger, fact, DRAW)
    return ledger, state


def test_answers_update_the_posterior_by_fractions() -> None:
    # .25 and .75 and 1: two of three answers' worth. Beta(1 + 2, 1 + 1).
    ledger, state = believing([Worker("a", 4)], [(0, 0.25), (0, 0.75), (0, 1.0)])
    found = sampled_density(ledger.book, state, DRAW, 0)
    assert found == beta(DRAW, 0, 3.0, 2.0) / 4_000_000


def test_a_rating_counts_like_answers() -> None:
    # .75 worth 8 answers, then one answer of 0: Beta(1 + 6 + 0, 1 + 2 + 1).
    workers = [Worker("a", 1, rating=0.75, rating_weight=8), Worker("b", 1)]
    ledger, state = believing(workers, [(0, 0.0)])
    assert sampled_density(ledger.book, state, DRAW, 0) == beta(DRAW, 0, 7.0, 4.0) / 1_000_000
    assert sampled_density(ledger.book, state, DRAW, 1) == beta(DRAW, 1, 1.0, 1.0) / 1_000_000


def test_ratings_and_answers_are_scaled_from_the_range() -> None:
    # In a range of -10 to 10 a rating of 5 is .75 and an answer of 0 is .5, where worth begins.
    workers = [Worker("a", 1, rating=5, rating_weight=4)]
    outcome = {"kind": "utility", "low": -10, "high": 10}
    ledger, state = believing(workers, [(0, 0.0)], outcome=outcome)
    due = (beta(DRAW, 0, 4.5, 2.5) - 0.5) / 1_000_000
    assert sampled_density(ledger.book, state, DRAW, 0) == due


def test_a_discount_fades_all_earlier_answers() -> None:
    # .5 of a, 1 of a, then 1 of b, with a factor of one half at each new answer:
    # a: count ((1) / 2 + 1) / 2 = .75, sum ((.5) / 2 + 1) / 2 = .625; b: 1 and 1.
    workers = [Worker("a", 1), Worker("b", 1)]
    policy = ThompsonKnapsack(discount=0.5)
    _, state = believing(workers, [(0, 0.5), (0, 1.0), (1, 1.0)], policy)
    np.testing.assert_array_equal(state.beliefs[:2, COUNT], [0.75, 1.0])
    np.testing.assert_array_equal(state.beliefs[:2, SUM], [0.625, 1.0])


def test_a_rating_does_not_fade() -> None:
    policy = ThompsonKnapsack(discount=0.5)
    workers = [Worker("a", 1, rating=0.5, rating_weight=2)]
    ledger, state = believing(workers, [(0, 1.0), (0, 1.0)], policy)
    # Beta(1 + 1.5 + 1, 1 + 0 + 1)
    assert sampled_density(ledger.book, state, DRAW, 0) == beta(DRAW, 0, 3.5, 2.0) / 1_000_000


@pytest.mark.parametrize(("patience", "units"), [(8, 2), (5, 3), (16, 1), (100, 1), (0, 1)])
def test_whoever_has_answered_often_gets_several_units(patience: int, units: int) -> None:
    # 16 answers: 16 // 8 = 2, 16 // 5 = 3, 16 // 16 = 1, at least 1, and 0 asks for one always.
    policy = ThompsonKnapsack(patience=patience)
    ledger, state = believing([Worker("a", 1)], [(0, 0.5)] * 16, policy)
    choice = policy.choose(ledger.problem, state, ledger, DRAW, np.ones(1, np.int8))
    assert choice.rows[0].tolist() == [-1, 0, units]


def test_units_stay_within_limit_and_money() -> None:
    policy = ThompsonKnapsack(patience=1)
    workers = [Worker("a", 30, limit=2)]
    ledger, state = believing(workers, [(0, 0.5)] * 16, policy)
    choice = policy.choose(ledger.problem, state, ledger, DRAW, np.ones(1, np.int8))
    assert choice.rows[0, 2] == 2


def test_the_best_sampled_density_who_fits_is_asked() -> None:
    workers = [Worker("a", 3), Worker("b", 2), Worker("c", 200)]
    ledger, state = believing(workers, [(0, 1.0), (1, 0.5), (2, 1.0)])
    policy = ThompsonKnapsack()
    for decision in range(30):
        draw = Draw(1, 2, decision)
        by_hand = {
            0: beta(draw, 0, 2.0, 1.0) / 3,
            1: beta(draw, 1, 1.5, 1.5) / 2,
        }
        choice = policy.choose(ledger.problem, state, ledger, draw, np.ones(3, np.int8))
        assert choice.rows[0, 1] == max(by_hand, key=lambda at: by_hand[at])
        assert np.isnan(choice.odds[0])


def test_draws_follow_the_posterior() -> None:
    # Beta(3, 2) over 4000 decisions: Kolmogorov-Smirnov at the level .001 (1.95 / sqrt(n)).
    ledger, state = believing([Worker("a", 1)], [(0, 0.25), (0, 0.75), (0, 1.0)])
    sample = [
        sampled_density(ledger.book, state, Draw(7, 8, at), 0) * 1_000_000 for at in range(4000)
    ]
    assert stats.kstest(sample, stats.beta(3, 2).cdf).statistic < 1.95 / 4000**0.5


def test_a_thompson_decision_states_no_propensity_and_shows_its_samples() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1), Worker("b", 2)],
        outcome="utility",
        budget=9,
        policy="thompson-knapsack",
        seed=5,
    )
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    assert batch[0].propensity is None
    explanation = campaign.explain(batch[0].id)
    best = max(explanation.candidates, key=lambda each: each.index or 0.0)
    assert best.worker == batch[0].worker
    assert best.details["sample"] == pytest.approx((best.index or 0) * float(batch[0].price))
