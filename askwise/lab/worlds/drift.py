"""The freelancer market with workers whose quality changes (the paper's future work)."""

from __future__ import annotations

import numpy as np

from askwise.lab.worlds.base import Market, rated_world
from askwise.lab.worlds.freelancers import draw_ratings, freelancer_market


def drifting_market(rng: np.random.Generator, *, cap: int, changes: int) -> Market:
    """Draw a market in which each worker's ratings are drawn anew ``changes`` times.

    The changes come at independent uniform points of the budget: what passes is the
    employer's project, not the worker's own count of answers.
    """
    market = freelancer_market(rng, cap=cap)
    count = len(market.prices)
    when = np.sort(rng.random((count, changes)), axis=1)
    world = rated_world([draw_ratings(rng) for _ in range(count * (changes + 1))], when)
    return Market(market.prices, market.limits, world.means[:: changes + 1], world)
