"""The cheapest set where missing the target has a price, for kernels."""

from __future__ import annotations

import math

import numpy as np

from askwise.core.arrays import Array
from askwise.core.compiling import heavy_kernel
from askwise.ledger import columns as c
from askwise.policies.assured.sets import Target
from askwise.policies.assured.sets.kernels import INFEASIBLE, cheapest_into, error_of
from askwise.policies.assured.sets.soft import COIN, RUNGS


@heavy_kernel
def softest_into(
    target: Target, price: float, costs: Array, qualities: Array, allowed: Array, chosen: Array
) -> float:
    """Mark the allowed set with the least cost + price * max(0, error - alpha), or one near it.

    The best of the cheapest sets for targets from alpha to 1/2 and of the empty one, as
    ``accuracy.softest_set`` has it for many workers: if those are exact, its value exceeds the
    least by at most price * (1/2 - alpha) / 32. Returns the value; TOO_LARGE (negative) if the
    solver is exact and its limit was hit.
    """
    size = costs.shape[0]
    trial = np.zeros(size, np.bool_)
    for worker in range(size):
        chosen[worker] = False
    best = price * (COIN - target.alpha)
    error = 1.0
    for rung in range(RUNGS - 1, -1, -1):
        alpha = target.alpha + (COIN - target.alpha) * rung / RUNGS
        if error <= alpha:
            # The last set found meets this target too, so it is the cheapest here as well.
            continue
        demand = math.log(1.0 / alpha) / target.epsilon
        goal = Target(
            target.code, alpha, target.epsilon, target.ties, target.solver, demand, target.work
        )
        status = cheapest_into(goal, costs, qualities, allowed, trial)
        if status == c.TOO_LARGE:
            return float(c.TOO_LARGE)
        if status == INFEASIBLE:
            break
        error = error_of(target, qualities, trial)
        value = price * max(0.0, error - target.alpha)
        for worker in range(size):
            if trial[worker]:
                value += costs[worker]
        if value < best:
            best = value
            for worker in range(size):
                chosen[worker] = trial[worker]
    return best
