"""Exploring without those whom no cheapest set needs, by any error function."""

from __future__ import annotations

import numpy as np
import pytest

from askwise.policies.assured.eliminating import drop_surpassed
from askwise.policies.assured.sets import error_probability
from tests.policies.assured.campaigns import campaign_of
from tests.policies.assured.readings import (
    Learner,
    World,
    ccb_s,
    cheapest,
    elimination_by_exchange,
    majority,
    run_campaign,
)

FUNCTIONS = (
    "majority", "likeliest(prior=0.6)", "majority-first(prior=0.8)", "plurality(options=4)",
    "weighted-majority", "hoeffding", "hoeffding-linear(epsilon=0.5)", "most-likely-error",
)  # fmt: skip
ALPHAS = {"hoeffding": 0.4, "hoeffding-linear(epsilon=0.5)": 0.2, "most-likely-error": 0.05}
"""Where six workers are too few for .1, or a few are enough."""


def random_pool(rng):
    """Six workers, what is known of them, and qualities within that."""
    costs = rng.integers(2, 5, 6)
    lower = rng.uniform(0.6, 0.95, 6)
    upper = lower + rng.choice([0.0, 0.1]) * rng.random(6) * (1 - lower)
    return costs, lower, upper, rng.uniform(lower, upper)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("error", FUNCTIONS)
def test_some_cheapest_set_is_kept_at_any_qualities_within_the_bounds(error):
    rng, dropped, everybody = np.random.default_rng(8), 0, list(range(6))
    alpha = ALPHAS.get(error, 0.1)

    def least(q, among):
        def function(some):
            return error_probability(error, np.array(some))

        some = cheapest(costs, q, alpha, function, among)
        return some, None if some is None else costs[some].sum()

    for _ in range(40):
        costs, lower, upper, q = random_pool(rng)
        enough, _ = least(lower, everybody)
        if enough is None:
            continue
        chosen, kept = np.zeros(6, np.bool_), np.ones(6, np.bool_)
        chosen[enough] = True
        drop_surpassed(costs, lower, upper, chosen, kept)
        dropped += 6 - kept.sum()
        assert least(q, np.flatnonzero(kept).tolist())[1] == least(q, everybody)[1]
    assert dropped > 0


def test_ccb_se_eliminates_by_the_majoritys_error():
    world = World(3, [0.97, 0.97, 0.97, 0.6, 0.6], 33)
    world.costs[3:] = [2_900_000, 2_950_000]
    alpha, xi = 0.2, 0.05
    policy = {
        "name": "ccb-se", "alpha": alpha, "xi": xi, "mu": 0.9, "bounds": "paper",
        "error": "majority", "solver": "exact",
    }  # fmt: skip
    decided, _ = run_campaign(world, policy)
    assert decided == ccb_s(
        world,
        lambda q, among: cheapest(world.costs, q, alpha - xi, majority, among),
        lambda q: majority(q) <= alpha * (1 + 1e-12),
        Learner(world, 0.9, "paper"),
        elimination_by_exchange(world.costs, alpha - xi, majority),
    )
    sizes = [len(some) for some, note in decided if note == "explore"]
    assert (sizes[0], decided[-1][1]) == (5, "exploit")
    assert sizes[-1] < 5


@pytest.mark.parametrize("error", ["plurality(options=2)", "likeliest(prior=0.6)"])
def test_ccb_se_takes_error_functions_in_plain_python(error):
    campaign = campaign_of({"name": "ccb-se", "error": error, "alpha": 0.3})
    assert len(campaign.ask(limit=4)) == 4
