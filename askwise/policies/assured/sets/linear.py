"""The linear form: a minimum knapsack with the gains 2q - 1, compared as ``cover`` compares."""

from __future__ import annotations

import math

import numpy as np

from askwise.core.compiling import heavy_kernel
from askwise.kernels.knapsack.cover import count_units, cover_exact_in_units, cover_greedy_into
from askwise.kernels.knapsack.inputs import Array
from askwise.kernels.knapsack.ordering import ascending
from askwise.kernels.knapsack.states import TOO_LARGE
from askwise.policies.assured.sets.inputs import GREEDY
from askwise.policies.assured.sets.pools import common_unit, ints_at
from askwise.policies.assured.sets.search import CHEAPEST, FIRST, FOUND, NONE


@heavy_kernel
def reaches_demand(qualities: Array, members: Array, demand: float) -> bool:
    """Whether the members' gains reach the demand; those worse than a coin take away."""
    n = qualities.shape[0]
    sizes = np.empty(n, np.float64)
    for i in range(n):
        sizes[i] = abs(2.0 * qualities[i] - 1.0)
    units = np.empty(n, np.int64)
    enough = count_units(sizes, demand, units)
    total = 0
    for i in range(n):
        if members[i]:
            total += units[i] if qualities[i] >= 0.5 else -units[i]
    return total >= enough


@heavy_kernel
def _lower_bound(costs: Array, gains: Array, demand: float) -> float:
    """The cost of reaching the demand if one could take parts of workers."""
    n = costs.shape[0]
    ratios = np.empty(n, np.float64)
    for i in range(n):
        ratios[i] = costs[i] / gains[i] if gains[i] > 0.0 else math.inf
    order = ascending(ratios)
    bound = 0.0
    left = demand * (1.0 - 1e-11)
    for k in range(n):
        i = order[k]
        if gains[i] >= left:
            return bound + ratios[i] * left
        bound += costs[i]
        left -= gains[i]
    return bound


@heavy_kernel
def cheapest_linear(
    costs: Array, qualities: Array, demand: float, solver: int, work: int, chosen: Array
) -> tuple[int, float]:
    """Mark a set whose gains reach the demand; statuses and bound as ``find_cheapest``.

    Greedy is the paper's GA; what else is given up after ``work`` states leaves GA's set.
    """
    n = costs.shape[0]
    gains = np.empty(n, np.float64)
    for i in range(n):
        gains[i] = 2.0 * qualities[i] - 1.0
    if not cover_greedy_into(costs, gains, demand, chosen):
        for i in range(n):
            chosen[i] = False
        return NONE, 0.0
    units = np.empty(n, np.int64)
    enough = count_units(gains, demand, units)
    known = 0
    for i in range(n):
        if chosen[i]:
            known += costs[i]
    if solver != GREEDY:
        useful = np.empty(n, np.int64)
        count = 0
        for i in range(n):
            if units[i] > 0 and costs[i] <= known:
                useful[count] = i
                count += 1
        useful = useful[:count]
        whole = ints_at(costs, useful)
        unit = common_unit(whole)
        for k in range(count):
            whole[k] //= unit
        flags = np.zeros(count, np.bool_)
        weights = ints_at(units, useful)
        if cover_exact_in_units(whole, weights, enough, known // unit, work, flags) != TOO_LARGE:
            cost = 0
            for i in range(n):
                chosen[i] = False
            for k in range(count):
                chosen[useful[k]] = flags[k]
                cost += costs[useful[k]] if flags[k] else 0
            return FIRST, float(cost)
    bound = min(float(known), _lower_bound(costs, gains, demand))
    return (CHEAPEST if bound >= known else FOUND), bound
