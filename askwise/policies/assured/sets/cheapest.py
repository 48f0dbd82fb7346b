"""The cheapest set whose error keeps a limit, for functions that only fall as a quality rises.

Replacing a worker by one who is no dearer and no less able keeps the limit. So in a set of s
nobody is needed to whom s others are preferable, and for each size few workers remain.

1. For each size a lower bound on the cost, and a set to begin with (:mod:`relaxation`).
2. Sizes in order of their bounds, depth first (:mod:`search`), while they can be cheaper.
3. Of the cheapest sets the first (:mod:`first`).
"""

from __future__ import annotations

import math

import numpy as np

from askwise.core.compiling import heavy_kernel
from askwise.kernels.knapsack.inputs import Array
from askwise.kernels.knapsack.ordering import ascending
from askwise.policies.assured.sets.first import first_of_cheapest
from askwise.policies.assured.sets.inputs import GREEDY
from askwise.policies.assured.sets.needs import gains_of, need_of
from askwise.policies.assured.sets.pools import (
    Staff,
    common_unit,
    floats_at,
    ints_at,
    is_useful,
    negated,
    pool_of,
    preferable,
    range_of,
    staff_at,
    worth_of,
)
from askwise.policies.assured.sets.probability import (
    MAJORITY,
    MAX_OUTCOMES,
    MOST_LIKELY,
    WEIGHTED,
    Goal,
    add_voter,
    error_by_code,
    wrong_majority,
)
from askwise.policies.assured.sets.relaxation import (
    bound_of_size,
    improve_by_swaps,
    set_by_ratio,
    set_of_size,
)
from askwise.policies.assured.sets.search import CHEAPEST, FIRST, FOUND, NONE, ROUNDING, complete


@heavy_kernel
def _top_error(code: int, ties: float, size: int, top: Array, pmf: Array) -> float:
    """Error of the ``size`` best workers.

    ``pmf`` is carried from size to size, which are to come in turn.
    """
    if code != MAJORITY:
        return error_by_code(code, 1.0, ties, top[:size])
    add_voter(pmf, size, top[size - 1])
    return wrong_majority(pmf, size, ties)


@heavy_kernel
def least_error(code: int, ties: float, q: Array) -> float:
    """The least error that any set has: for each size it is that of the best workers."""
    n = q.shape[0]
    worth = worth_of(code, q)
    if code == WEIGHTED:
        return error_by_code(code, 1.0, ties, q)
    top = floats_at(q, ascending(negated(worth)))
    least = error_by_code(code, 1.0, ties, q[:0])
    pmf = np.zeros(n + 1, np.float64)
    pmf[0] = 1.0
    for size in range(1, n + 1):
        least = min(least, _top_error(code, ties, size, top, pmf))
    return least


@heavy_kernel
def _next_size(bounds: Array) -> int:
    """Return the size with the least bound, 0 if there is none."""
    size = 0
    for s in range(1, bounds.shape[0]):
        if bounds[s] < math.inf and (size == 0 or bounds[s] < bounds[size]):
            size = s
    return size


@heavy_kernel
def _search_size(
    goal: Goal,
    size: int,
    pool: Array,
    staff: Staff,
    need: float,
    price: float,
    most: int,
    work: int,
    members: Array,
) -> tuple[int, int]:
    """Search the sets of one size for one that costs at most ``most``; the best into members."""
    c, g, m = staff.c, staff.g, pool.shape[0]
    keys = np.empty(m, np.float64)
    for k in range(m):
        keys[k] = c[pool[k]] - price * g[pool[k]]
    order = ascending(keys)
    # Whoever raises the bound too far by himself stays out, and all after him.
    bound = price * need
    scale = abs(bound)
    for k in range(size):
        bound += keys[order[k]]
        scale += c[pool[order[k]]]
    kept = size
    while kept < m:
        raised = bound + keys[order[kept]] - keys[order[size - 1]]
        if raised - ROUNDING * (scale + c[pool[order[kept]]]) > most:
            break
        kept += 1
    here = ints_at(pool, order[:kept])
    forced, gained = staff.q[:0], 0.0
    cost, work = complete(
        goal, size, forced, staff_at(staff, here), need, price, gained, most, work, members
    )
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
    n = costs.shape[0]
    for i in range(n):
        chosen[i] = False
    if error_by_code(code, 1.0, ties, q[:0]) <= limit:
        return FIRST, 0.0
    unit = common_unit(costs)
    # In order of cost, of equal cost the most able first; without those who are of no use.
    worth = worth_of(code, q)
    useful = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        if is_useful(code, limit, worth[i]):
            useful[count] = i
            count += 1
    by_worth = ints_at(useful, ascending(negated(floats_at(worth, useful[:count]))))
    order = ints_at(by_worth, ascending(ints_at(costs, by_worth)))
    c = np.empty(count, np.int64)
    p = np.empty(count, np.float64)
    w = np.empty(count, np.float64)
    top = np.empty(count, np.float64)
    for k in range(count):
        top[k] = worth[by_worth[k]]
        c[k] = costs[order[k]] // unit
        p[k] = q[order[k]]
        w[k] = worth[order[k]]
    g = gains_of(code, limit, p)
    staff = Staff(c, p, w, g)
    better = preferable(w)

    bounds = np.full(count + 1, math.inf)
    prices = np.zeros(count + 1, np.float64)
    needs = np.zeros(count + 1, np.float64)
    pool = np.empty(count, np.int64)
    members = np.empty(count, np.int64)
    added = np.empty(count, np.int64)
    size_found = 0
    # By way of NumPy: a literal would make the compiler do what it is handed to twice.
    best = int(np.int64(-1))
    taken = np.empty(count, np.bool_)
    if code == WEIGHTED and count > MAX_OUTCOMES:
        best = set_by_ratio(limit, c, p, g, taken)
        if best < 0:
            return NONE, 0.0
        for k in range(count):
            if taken[k]:
                members[size_found] = k
                size_found += 1
    cheapest = 0
    pmf = np.zeros(count + 1, np.float64)
    pmf[0] = 1.0
    # By these an even set is never cheaper than the best odd one within it.
    odd_only = code in (MAJORITY, MOST_LIKELY)
    for size in range(1, count + 1):
        cheapest += c[size - 1]
        if best >= 0 and cheapest >= best:
            break
        # If the best workers don't keep the limit, no set of the size does. Where that takes
        # long to compute, it is left to the gains that are needed.
        if code != WEIGHTED and _top_error(code, ties, size, top, pmf) > limit:
            continue
        if odd_only and size % 2 == 0:
            continue
        m = pool_of(size, better, pool)
        here = pool[:m]
        c_here = ints_at(c, here)
        g_here = floats_at(g, here)
        low, high = range_of(g_here)
        needs[size] = need_of(code, limit, size, low, high)
        bounds[size], prices[size] = bound_of_size(c_here, g_here, size, needs[size])
        if bounds[size] == math.inf or (best >= 0 and bounds[size] > best - 1):
            continue
        if code == WEIGHTED and size > MAX_OUTCOMES:
            continue
        p_here = floats_at(p, here)
        cost = set_of_size(goal, c_here, p_here, g_here, size, taken[:m])
        if cost >= 0 and (best < 0 or cost < best):
            w_here = floats_at(w, here)
            cost -= improve_by_swaps(goal, c_here, p_here, w_here, size, taken[:m])
            best = cost
            size_found = 0
            for k in range(m):
                if taken[k]:
                    members[size_found] = here[k]
                    size_found += 1
    if best < 0:
        return NONE, 0.0

    # Sizes in order of their bounds, while they can be cheaper.
    lower = 0.0
    proved = False
    while True:
        size = _next_size(bounds)
        slack = 0.0 if size == 0 else ROUNDING * bounds[size]
        if size == 0 or bounds[size] - slack > best - 1:
            proved = True
            break
        lower = bounds[size]
        if solver == GREEDY or work < 0 or (code == WEIGHTED and size > MAX_OUTCOMES):
            break
        m = pool_of(size, better, pool)
        need, price = needs[size], prices[size]
        cost, work = _search_size(goal, size, pool[:m], staff, need, price, best - 1, work, added)
        if cost >= 0:
            best = cost
            size_found = size
            for k in range(size):
                members[k] = added[k]
        if work >= 0:
            bounds[size] = math.inf
    for k in range(size_found):
        chosen[order[members[k]]] = True
    if not proved:
        return FOUND, max(0.0, math.ceil(lower * (1.0 - ROUNDING))) * unit
    if solver == GREEDY:
        return CHEAPEST, float(best * unit)
    whole = np.empty(n, np.int64)
    for i in range(n):
        whole[i] = costs[i] // unit
    if first_of_cheapest(goal, whole, q, worth, best, work, chosen):
        return FIRST, float(best * unit)
    return CHEAPEST, float(best * unit)
