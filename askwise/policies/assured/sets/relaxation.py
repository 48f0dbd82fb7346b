"""Sets of one size by a price on gains: lower bounds on the cost, and good sets to begin with.

For a price on gains the cheapest set of a size is found by sorting. Between two such sets the
price at which both cost the same leads to a third, or shows that there is none: so the price
at which the bound is best takes a handful of steps.
"""

import math

import numpy as np

from askwise.core.compiling import heavy_kernel
from askwise.kernels.knapsack.inputs import Array
from askwise.kernels.knapsack.ordering import ascending, ratios_of
from askwise.policies.assured.sets import codes
from askwise.policies.assured.sets.partial import first_rows, last_quality, push
from askwise.policies.assured.sets.pools import Staff, at_price, least
from askwise.policies.assured.sets.probability import Goal, error_by_code, shortest_prefix

_STEPS = 60
# A set of more workers takes too long to be improved by ``weighted-majority``.
_MOST_WEIGHED = 12


@heavy_kernel
def _take_at(price: float, staff: Staff, size: int, taken: Array) -> tuple[int, float]:
    """Mark the set that is best at a price on gains; return its cost and its gains.

    At an infinite price the best is the set with the highest gains. Positions are in order of
    cost, so of equal gains the cheapest are taken.
    """
    keys = at_price(staff, price)
    pivot = least(keys, size - 1)
    below = 0
    for i in range(keys.shape[0]):
        taken[i] = keys[i] < pivot
        below += taken[i]
    cost = 0
    gained = 0.0
    for i in range(keys.shape[0]):
        if below < size and keys[i] == pivot:
            taken[i] = True
            below += 1
        if taken[i]:
            cost += staff.c[i]
            gained += staff.g[i]
    return cost, gained


@heavy_kernel
def bound_of_size(staff: Staff, size: int, need: float) -> tuple[float, float]:
    """Return a lower bound on the cost of ``size`` workers with the gains needed, and the price.

    Positions in order of cost; at least ``size`` of them. math.inf if the gains do not suffice.
    """
    taken = np.empty(staff.c.shape[0], np.bool_)
    cost_low, gained_low = _take_at(0.0, staff, size, taken)
    if gained_low >= need:
        return float(cost_low), 0.0
    cost_high, gained_high = _take_at(math.inf, staff, size, taken)
    if gained_high < need:
        return math.inf, 0.0
    price = 0.0
    bound = float(cost_low)
    for _ in range(_STEPS):
        price = (cost_high - cost_low) / (gained_high - gained_low)
        cost, gained = _take_at(price, staff, size, taken)
        bound = cost + price * (need - gained)
        line = cost_low + price * (need - gained_low)
        if bound >= line - 1e-12 * abs(line):
            break
        if gained >= need:
            cost_high, gained_high = cost, gained
        else:
            cost_low, gained_low = cost, gained
    return bound, price


@heavy_kernel
def _meets(goal: Goal, q: Array) -> bool:
    return error_by_code(goal.code, 1.0, goal.ties, q) <= goal.limit


@heavy_kernel
def set_of_size(goal: Goal, staff: Staff, size: int, taken: Array) -> int:
    """Mark a cheap set of a size that meets the limit; return its cost, or -1 if none was found.

    The cheapest of the sets that are best at some price on gains.
    """
    tried = np.empty(taken.shape[0], np.bool_)
    cost_high, gained_high = _take_at(math.inf, staff, size, taken)
    if not _meets(goal, staff.q[taken]):
        return -1
    cost_low, gained_low = _take_at(0.0, staff, size, tried)
    if _meets(goal, staff.q[tried]):
        taken[:] = tried
        return cost_low
    for _ in range(_STEPS):
        if gained_high <= gained_low or cost_high <= cost_low:
            break
        price = (cost_high - cost_low) / (gained_high - gained_low)
        cost, gained = _take_at(price, staff, size, tried)
        line = cost_low - price * gained_low
        if cost - price * gained >= line - 1e-12 * abs(line):
            break
        if _meets(goal, staff.q[tried]):
            cost_high, gained_high = cost, gained
            taken[:] = tried
        else:
            cost_low, gained_low = cost, gained
    return cost_high


@heavy_kernel
def set_by_ratio(limit: float, staff: Staff, taken: Array) -> int:
    """Mark workers in order of cost / gain until a weighted vote keeps the limit.

    For votes too large to be judged often. Returns the cost, or -1 if all do not keep it.
    """
    order = ascending(ratios_of(staff.c, staff.g))
    none = int(np.int64(0))
    size = shortest_prefix(limit, staff.q[order], none)
    taken[:] = False
    if size < 0:
        return -1
    taken[order[:size]] = True
    return staff.c[taken].sum()


@heavy_kernel
def improve_by_swaps(goal: Goal, staff: Staff, size: int, taken: Array) -> int:
    """Replace one worker by a cheaper one while the set keeps the limit; return what is saved.

    Positions in order of cost. Each round makes the replacement that saves most.
    """
    c, q, worth, _ = staff
    n, code = c.shape[0], goal.code
    saved = 0
    if code == codes.WEIGHTED and size > _MOST_WEIGHED:
        return saved
    rows = first_rows(code, size)
    for _ in range(2 * size):
        best = 0
        best_out = best_in = -1
        for out in range(n):
            if not taken[out] or c[out] <= best:
                continue
            depth = int(np.int64(0))
            for i in range(n):
                if taken[i] and i != out:
                    push(code, size, rows, depth, q[i])
                    depth += 1
            threshold = last_quality(goal, size, rows)
            for i in range(out):
                if c[out] - c[i] <= best:
                    break
                if not taken[i] and worth[i] >= threshold:
                    best = c[out] - c[i]
                    best_out = out
                    best_in = i
                    break
        if best_out < 0:
            break
        taken[best_out] = False
        taken[best_in] = True
        saved += best
    return saved
