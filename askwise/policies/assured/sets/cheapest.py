"""The cheapest set whose error keeps a limit, for functions that only fall as a quality rises.

Replacing a worker by one who costs no more and is no less able keeps the limit. So in a set of s
nobody is needed to whom s others are preferable, and for each size few workers remain.

1. For each size a lower bound on the cost, and a set to begin with (:mod:`relaxation`).
2. Sizes in order of their bounds, depth first (:mod:`search`), while they can be cheaper.
3. Of the cheapest sets the first (:mod:`first`).
"""

import math

import numpy as np

from askwise.core.compiling import heavy_kernel
from askwise.kernels.knapsack.inputs import Array
from askwise.kernels.knapsack.ordering import ascending, common_unit, marked
from askwise.policies.assured.sets import codes, pools, relaxation
from askwise.policies.assured.sets.first import first_of_cheapest
from askwise.policies.assured.sets.inputs import GREEDY
from askwise.policies.assured.sets.needs import gains_of, need_of
from askwise.policies.assured.sets.probability import Goal, error_by_code, prefix_error
from askwise.policies.assured.sets.search import (
    CHEAPEST,
    FIRST,
    FOUND,
    NONE,
    ROUNDING,
    Size,
    complete,
)


@heavy_kernel
def least_error(code: int, ties: float, q: Array) -> float:
    """The least error that any set has: for each size it is that of the best workers."""
    if code == codes.WEIGHTED:
        return error_by_code(code, 1.0, ties, q)
    top = q[ascending(-q)]
    least = error_by_code(code, 1.0, ties, q[:0])
    pmf = np.empty(q.shape[0] + 1, np.float64)
    for size in range(1, q.shape[0] + 1):
        least = min(least, prefix_error(code, ties, top, size, pmf))
    return least


@heavy_kernel
def _search_size(
    goal: Goal, wanted: Size, pool: Array, staff: pools.Staff, most: int, work: int, members: Array
) -> tuple[int, int]:
    """Search the sets of one size for one that costs at most ``most``; the best into members."""
    size, need, price = wanted
    here = pool[ascending(staff.c[pool] - price * staff.g[pool])]
    ranked = pools.staff_at(staff, here)
    keys = pools.at_price(ranked, price)
    # Who alone raises the bound too far stays out, and so do all after them.
    bound = price * need
    scale = abs(bound)
    for k in range(size):
        bound += keys[k]
        scale += ranked.c[k]
    kept = size
    while kept < here.shape[0]:
        raised = bound + keys[kept] - keys[size - 1]
        if raised - ROUNDING * (scale + ranked.c[kept]) > most:
            break
        kept += 1
    nobody, kept_ones = pools.staff_at(staff, pool[:0]), pools.staff_at(staff, here[:kept])
    cost, work = complete(goal, wanted, nobody, kept_ones, most, work, members)
    if cost >= 0:
        for k in range(size):
            members[k] = here[members[k]]
    return cost, work


@heavy_kernel
def find_cheapest(
    goal: Goal, costs: Array, q: Array, solver: int, work: int, chosen: Array
) -> tuple[int, float]:
    """Mark the cheapest set that keeps the goal.

    Costs are int64 and not negative. Returns how far the answer goes and a lower bound on the
    cost: NONE (nothing marked, no set keeps the limit), FOUND (a set, maybe not the cheapest),
    CHEAPEST (maybe not the first of these), FIRST.
    """
    code, ties, limit = goal
    chosen[:] = False
    if error_by_code(code, 1.0, ties, q[:0]) <= limit:
        return FIRST, 0.0
    unit = common_unit(costs)
    whole = costs // unit
    # In order of cost, of equal cost the most able first; without those who are of no use.
    worth = pools.worth_of(code, q)
    by_worth = marked(pools.are_useful(goal, worth))
    by_worth = by_worth[ascending(-worth[by_worth])]
    top = worth[by_worth]
    order = by_worth[ascending(whole[by_worth])]
    staff = pools.Staff(whole[order], q[order], worth[order], gains_of(code, limit, q[order]))
    better = pools.preferable(staff.worth, staff.worth)

    count = order.shape[0]
    bounds = np.full(count + 1, math.inf)
    prices = np.zeros(count + 1, np.float64)
    needs = np.zeros(count + 1, np.float64)
    # By way of NumPy: a literal would make the compiler do what it is handed to twice.
    best = int(np.int64(-1))
    members = order[:0]
    taken = np.empty(count, np.bool_)
    if code == codes.WEIGHTED and count > codes.MAX_OUTCOMES:
        best = relaxation.set_by_ratio(limit, staff, taken)
        if best < 0:
            return NONE, 0.0
        members = marked(taken)
    cheapest = 0
    pmf = np.empty(count + 1, np.float64)
    # By these an even set is never cheaper than the best odd one within it.
    odd_only = code in (codes.MAJORITY, codes.MOST_LIKELY)
    for size in range(1, count + 1):
        cheapest += staff.c[size - 1]
        if best >= 0 and cheapest >= best:
            break
        # If the best workers don't keep the limit, no set of the size does. Where that takes
        # long to compute, it is left to the gains that are needed.
        if code != codes.WEIGHTED and prefix_error(code, ties, top, size, pmf) > limit:
            continue
        if odd_only and size % 2 == 0:
            continue
        pool = marked(better < size)
        here = pools.staff_at(staff, pool)
        needs[size] = need_of(goal, size, here.g)
        bounds[size], prices[size] = relaxation.bound_of_size(here, size, needs[size])
        if bounds[size] == math.inf or (best >= 0 and bounds[size] > best - 1):
            continue
        if code == codes.WEIGHTED and size > codes.MAX_OUTCOMES:
            continue
        taken = np.empty(pool.shape[0], np.bool_)
        cost = relaxation.set_of_size(goal, here, size, taken)
        if cost >= 0 and (best < 0 or cost < best):
            best = cost - relaxation.improve_by_swaps(goal, here, size, taken)
            members = pool[taken]
    if best < 0:
        return NONE, 0.0

    # Sizes in order of their bounds, while they can be cheaper.
    lower = 0.0
    proved = False
    added = np.empty(count, np.int64)
    while True:
        # 0 if none is left: nothing is bounded there.
        size = int(np.argmin(bounds))
        slack = 0.0 if size == 0 else ROUNDING * bounds[size]
        if size == 0 or bounds[size] - slack > best - 1:
            proved = True
            break
        lower = bounds[size]
        if solver == GREEDY or work < 0 or (code == codes.WEIGHTED and size > codes.MAX_OUTCOMES):
            break
        pool, wanted = marked(better < size), Size(size, needs[size], prices[size])
        cost, work = _search_size(goal, wanted, pool, staff, best - 1, work, added)
        if cost >= 0:
            best = cost
            members = added[:size].copy()
        if work >= 0:
            bounds[size] = math.inf
    chosen[order[members]] = True
    if not proved:
        return FOUND, max(0.0, math.ceil(lower * (1.0 - ROUNDING))) * unit
    first = solver != GREEDY and first_of_cheapest(goal, whole, q, worth, best, work, chosen)
    return FIRST if first else CHEAPEST, float(best * unit)
