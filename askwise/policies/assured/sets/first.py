"""Of all cheapest sets the one whose list of indices comes first.

Worker by worker: he is in if the rest can complete the set at the same cost. A list that is
complete comes before its continuations, but a worker who costs nothing moves a list forward if
he comes before one that is needed; so where somebody costs nothing, even sets and workers of no
use have to be looked at too.
"""

from __future__ import annotations

import math

import numpy as np

from askwise.core.compiling import heavy_kernel
from askwise.kernels.knapsack.inputs import Array
from askwise.kernels.knapsack.ordering import ascending
from askwise.policies.assured.sets.needs import gains_of, need_of
from askwise.policies.assured.sets.pools import (
    Staff,
    floats_at,
    ints_at,
    is_useful,
    least,
    negated,
    pool_of,
    preferable,
    range_of,
    staff_at,
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
from askwise.policies.assured.sets.relaxation import bound_of_size
from askwise.policies.assured.sets.search import ROUNDING, complete


@heavy_kernel
def _most_members(c: Array, usable: Array, cost: int) -> int:
    """How many workers a set of this cost can have."""
    count = 0
    for i in range(c.shape[0]):
        if usable[i]:
            count += 1
    cheap = np.empty(count, np.int64)
    k = 0
    for i in range(c.shape[0]):
        if usable[i]:
            cheap[k] = c[i]
            k += 1
    cheap = ints_at(cheap, ascending(cheap))
    most = 0
    while most < count and cheap[most] <= cost:
        cost -= cheap[most]
        most += 1
    return most


@heavy_kernel
def _keep_candidates(
    code: int,
    limit: float,
    c: Array,
    worth: Array,
    g: Array,
    usable: Array,
    odd_only: bool,
    cost: int,
    alive: Array,
    needs: Array,
    prices: Array,
) -> None:
    """Mark for each size who can be in a set of this cost that may come first."""
    n = c.shape[0]
    at = np.empty(n, np.int64)
    count = 0
    order = ascending(c)
    # In order of cost, then of index: replacing a worker by one before him who is worth as much
    # makes a set cheaper or moves its list forward.
    for k in range(n):
        if usable[order[k]]:
            at[count] = order[k]
            count += 1
    at = at[:count]
    better = preferable(floats_at(worth, at))
    pool = np.empty(count, np.int64)
    for size in range(1, alive.shape[0]):
        if odd_only and size % 2 == 0:
            continue
        m = pool_of(size, better, pool)
        if m < size:
            continue
        here = ints_at(at, pool[:m])
        price_here = ints_at(c, here)
        gains_here = floats_at(g, here)
        low, high = range_of(gains_here)
        need = need_of(code, limit, size, low, high)
        if need == math.inf:
            continue
        bound, price = bound_of_size(price_here, gains_here, size, need)
        slack = ROUNDING * (abs(price * need) + size * (cost + 1.0))
        if bound - slack > cost:
            continue
        needs[size] = need
        prices[size] = price
        keys = np.empty(m, np.float64)
        for k in range(m):
            keys[k] = c[here[k]] - price * g[here[k]]
        last = least(keys, size - 1)
        for k in range(m):
            if bound + max(0.0, keys[k] - last) - slack <= cost and c[here[k]] <= cost:
                alive[size, here[k]] = True


@heavy_kernel
def _complete_for_nothing(goal: Goal, q: Array, start: int, count: int) -> int:
    """How many of ``q[start:count]``, the most able first, complete a set; -1 if no number does.

    The first ``start`` are in it. For the same number the most able are the best.
    """
    code, ties, limit = goal
    if code == WEIGHTED:
        return count - start if error_by_code(code, 1.0, ties, q[:count]) <= limit else -1
    if code != MAJORITY:
        for size in range(start, count + 1):
            if error_by_code(code, 1.0, ties, q[:size]) <= limit:
                return size - start
        return -1
    pmf = np.zeros(count + 1, np.float64)
    pmf[0] = 1.0
    for size in range(1, count + 1):
        add_voter(pmf, size, q[size - 1])
        if size >= start and wrong_majority(pmf, size, ties) <= limit:
            return size - start
    return -1


@heavy_kernel
def _can_begin_with(
    goal: Goal,
    staff: Staff,
    by_worth: Array,
    alive: Array,
    needs: Array,
    prices: Array,
    begun: Array,
    money: int,
    work: int,
    witness: Array,
) -> tuple[bool, int]:
    """Whether some set of the cost begins with this list; ``witness`` receives the rest of it.

    ``money`` is what is left for the rest. Also returns what is left of the work.
    """
    code = goal.code
    c, q, _, g = staff
    n = c.shape[0]
    start = begun.shape[0]
    last = begun[start - 1]
    values = np.empty(n, np.float64)
    for k in range(start):
        values[k] = q[begun[k]]
    if money == 0:
        free = np.empty(n, np.int64)
        count = start
        for k in range(n):
            i = by_worth[k]
            if i > last and c[i] == 0:
                free[count - start] = i
                values[count] = q[i]
                count += 1
        work -= 8 + count * count
        more = _complete_for_nothing(goal, values, start, count)
        for k in range(more):
            witness[free[k]] = True
        return more >= 0, work
    members = np.empty(n, np.int64)
    for size in range(start + 1, alive.shape[0]):
        fits = True
        gained = 0.0
        for k in range(start):
            fits = fits and alive[size, begun[k]]
            gained += g[begun[k]]
        if not fits:
            continue
        if code == WEIGHTED and size > MAX_OUTCOMES:
            return False, -1
        price = prices[size]
        here = np.empty(n, np.int64)
        m = 0
        for i in range(last + 1, n):
            if alive[size, i] and c[i] <= money:
                here[m] = i
                m += 1
        here = here[:m]
        keys = np.empty(m, np.float64)
        for k in range(m):
            keys[k] = c[here[k]] - price * g[here[k]]
        here = ints_at(here, ascending(keys))
        work -= 8 * m
        added, need = staff_at(staff, here), needs[size]
        found, work = complete(
            goal, size, values[:start], added, need, price, gained, money, work, members
        )
        if found >= 0:
            for k in range(size - start):
                witness[here[members[k]]] = True
            return True, work
        if work < 0:
            return False, work
    return False, work


@heavy_kernel
def first_of_cheapest(
    goal: Goal, c: Array, q: Array, worth: Array, cost: int, work: int, chosen: Array
) -> bool:
    """Turn a cheapest set, of this cost, into the first of all such; False if work ran out."""
    code, ties, limit = goal
    n = c.shape[0]
    free = False
    for i in range(n):
        free = free or c[i] == 0
    usable = np.empty(n, np.bool_)
    for i in range(n):
        usable[i] = c[i] == 0 or is_useful(code, limit, worth[i])
    odd_only = not free and code in (MAJORITY, MOST_LIKELY)
    g = gains_of(code, limit, q)
    staff = Staff(c, q, worth, g)
    most = _most_members(c, usable, cost)
    alive = np.zeros((most + 1, n), np.bool_)
    needs = np.zeros(most + 1, np.float64)
    prices = np.zeros(most + 1, np.float64)
    _keep_candidates(code, limit, c, worth, g, usable, odd_only, cost, alive, needs, prices)
    ever = np.zeros(n, np.bool_)
    for size in range(1, most + 1):
        for i in range(n):
            ever[i] = ever[i] or alive[size, i]

    by_worth = ascending(negated(worth))
    witness = np.zeros(n, np.bool_)
    begun = np.empty(n, np.int64)
    values = np.empty(n, np.float64)
    size = 0
    money = cost
    i = 0
    while i < n:
        if not chosen[i]:
            if not ever[i] or c[i] > money:
                i += 1
                continue
            begun[size] = i
            for k in range(n):
                witness[k] = False
            list_so_far, left = begun[: size + 1], money - c[i]
            possible, work = _can_begin_with(
                goal, staff, by_worth, alive, needs, prices, list_so_far, left, work, witness
            )
            if work < 0:
                return False
            if not possible:
                i += 1
                continue
            for k in range(n):
                chosen[k] = witness[k]
            for k in range(size + 1):
                chosen[begun[k]] = True
        begun[size] = i
        values[size] = q[i]
        size += 1
        money -= c[i]
        if money == 0 and error_by_code(code, 1.0, ties, values[:size]) <= limit:
            for k in range(i + 1, n):
                chosen[k] = False
            break
        i += 1
    return True
