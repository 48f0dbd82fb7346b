"""What a bid brings on average over the worker's own draw, integrated and not sampled."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.lab.experiment import experiments
from askwise.lab.papers.assured.studies import truthfulness
from askwise.lab.papers.assured.studies.bids import auction, work_by_rank
from askwise.lab.worlds.assured import WorkerPool
from askwise.ledger.ledger import Ledger
from askwise.mechanisms import mechanisms

HIGHEST = 20_000_000
GAMMAS = (0.05, 0.2, 0.7)


def resampling(gamma):
    return mechanisms.make({"name": "self-resampling", "c_max": 20, "gamma": gamma})


def sampled(mechanism, bid, cost, work, draws):
    """By the mechanism's own rule for one worker, draw by draw."""
    rng = np.random.default_rng(11)
    raised = rng.random(draws) < mechanism.gamma
    share = rng.random(draws) ** (1.0 / (1.0 - mechanism.gamma))
    ranks = np.where(raised, HIGHEST - np.ceil((HIGHEST - bid) * share), bid)
    prices = np.where(raised, bid + mechanism.bonus(bid), bid)
    starts, counts = np.array(work).T
    return counts[np.searchsorted(starts, ranks, side="right") - 1] * (prices - cost)


@pytest.mark.slow
@pytest.mark.parametrize("gamma", GAMMAS)
def test_the_integral_is_the_mean_of_many_draws(gamma):
    mechanism = resampling(gamma)
    work = [(0, 400), (5_000_000, 260), (9_000_000, 260), (12_345_678, 40)]
    for bid in (1_000_000, 5_000_000, 8_000_000, 15_000_000):
        gains = sampled(mechanism, bid, 6_000_000, work, 200_000)
        error = gains.std() / np.sqrt(len(gains))
        assert abs(gains.mean() - mechanism.expected_gain(bid, 6_000_000, work)) < 4.5 * error


def test_a_kept_bid_and_a_raised_one_by_hand():
    # One step at 10: of bids raised from 5, those below are 1 - (10/15)**(1 - gamma).
    mechanism = resampling(0.2)
    below = 1.0 - (10.0 / 15.0) ** 0.8
    expected = 0.8 * 7 * (5 - 4) + 0.2 * 7 * below * (5 + 15 / 0.2 - 4)
    found = mechanism.expected_gain(5_000_000, 4_000_000, [(0, 7), (10_000_000, 0)])
    assert found / 1e6 == pytest.approx(expected, rel=1e-12)
    assert mechanism.expected_gain(HIGHEST, 4_000_000, [(0, 7)]) == pytest.approx(7 * 16e6)


@settings(max_examples=60, deadline=None)
@given(
    starts=st.lists(st.integers(1, HIGHEST - 1), max_size=4, unique=True).map(sorted),
    drops=st.lists(st.integers(0, 50), min_size=5, max_size=5),
    cost=st.integers(0, HIGHEST),
    bid=st.integers(0, HIGHEST),
    gamma=st.sampled_from(GAMMAS),
)
def test_where_work_falls_no_bid_gains_over_the_cost(starts, drops, cost, bid, gamma):
    left = np.cumsum(drops)[::-1].tolist()
    work = list(zip([0, *starts], left, strict=False))
    mechanism = resampling(gamma)
    honest = mechanism.expected_gain(cost, cost, work)
    # The bonus is rounded up: less than gamma micro-units an answer; the rest is rounding.
    allowed = gamma * left[0] + 1e-9 * HIGHEST * left[0] / gamma
    assert mechanism.expected_gain(bid, cost, work) <= honest + allowed


def test_all_steps_of_work_that_falls_are_found():
    mechanism, policy = auction(truthfulness.EXACT_S, truthfulness.Terms(0.25, 0.15, 0.1), 20)
    pool = WorkerPool(np.array([5, 4, 6, 3]) * 1_000_000, np.array([0.95, 0.9, 0.88, 0.85]))
    fresh = Ledger(pool.problem(12))
    world = pool.answering(3, 0, 12)
    given = (mechanism, policy, fresh, 3, world, 3, 0, 0)
    steps = work_by_rank(*given, [0, 7_000_000, HIGHEST])
    assert steps[0][0] == 0
    counts = [count for _, count in steps]
    assert counts == sorted(counts, reverse=True)
    for rank in (1_500_000, 3_999_999, 6_123_456, 11_000_000):
        (_, found), *_ = work_by_rank(*given, [rank])
        assert found == next(count for start, count in reversed(steps) if start <= rank)


@pytest.mark.parametrize("panel", ["marginal"])
def test_ten_replications_do_not_accuse_a_truthful_mechanism(panel):
    study = experiments.make(
        {
            "name": "assured-truthfulness",
            "auctions": (truthfulness.EXACT_S,),
            "panels": (panel,),
            "bids": (0.5, 1.5, 2.5),
            "tasks": 12,
        }
    )
    cell = study.cells()[0]
    samples = np.array([study.sample(cell, 0, at) for at in range(10)])
    rows = study.rows(cell, samples, 0)
    gains = samples[:, 1:] - samples[:, :1]
    assert (gains <= 1e-3).all()
    assert study.differences(rows)[0].endswith("no bid gains beyond its interval.")
