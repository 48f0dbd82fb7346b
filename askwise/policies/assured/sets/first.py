"""Of all cheapest sets the one whose list of indices comes first.

Worker by worker: they are in if the rest can complete the set at the same cost. A list that is
complete comes before its continuations, but a worker who costs nothing moves a list forward if
they come before one that is needed; so where somebody costs nothing, even sets and workers of no
use have to be looked at too.
"""

import math
from typing import NamedTuple

import numpy as np

from askwise.core.compiling import heavy_kernel
from askwise.kernels.knapsack.inputs import Array
from askwise.kernels.knapsack.ordering import ascending, marked
from askwise.policies.assured.sets import codes, pools
from askwise.policies.assured.sets.needs import gains_of, need_of
from askwise.policies.assured.sets.probability import Goal, error_by_code, prefix_error
from askwise.policies.assured.sets.relaxation import bound_of_size
from askwise.policies.assured.sets.search import ROUNDING, Size, complete


class Eligible(NamedTuple):
    """For each size: who can be in a set that may come first, the gains needed, a price on them."""

    alive: Array
    needs: Array
    prices: Array


@heavy_kernel
def _most_members(c: Array, cost: int) -> int:
    """How many workers with these costs a set of this cost can have."""
    cheap = c[ascending(c)]
    most = 0
    while most < cheap.shape[0] and cheap[most] <= cost:
        cost -= cheap[most]
        most += 1
    return most


@heavy_kernel
def _keep_candidates(
    goal: Goal, staff: pools.Staff, usable: Array, odd_only: bool, cost: int
) -> Eligible:
    """See who can be in a set of this cost that may come first."""
    c = staff.c
    most = _most_members(c[usable], cost)
    alive = np.zeros((most + 1, c.shape[0]), np.bool_)
    needs = np.zeros(most + 1, np.float64)
    prices = np.zeros(most + 1, np.float64)
    # In order of cost, then of index: replacing a worker by one before them who is worth as much
    # makes a set cheaper or moves its list forward.
    order = ascending(c)
    order = order[usable[order]]
    worth = staff.worth[order]
    better = pools.preferable(worth, worth)
    for size in range(1, most + 1):
        pool = order[better < size]
        if pool.shape[0] < size or (odd_only and size % 2 == 0):
            continue
        here = pools.staff_at(staff, pool)
        need = need_of(goal, size, here.g)
        if need == math.inf:
            continue
        bound, price = bound_of_size(here, size, need)
        slack = ROUNDING * (abs(price * need) + size * (cost + 1.0))
        if bound - slack > cost:
            continue
        needs[size] = need
        prices[size] = price
        keys = pools.at_price(here, price)
        last = pools.least(keys, size - 1)
        for k in range(pool.shape[0]):
            if bound + max(0.0, keys[k] - last) - slack <= cost and here.c[k] <= cost:
                alive[size, pool[k]] = True
    return Eligible(alive, needs, prices)


@heavy_kernel
def _complete_for_nothing(goal: Goal, q: Array, start: int) -> int:
    """How many of ``q[start:]``, the most able first, complete a set; -1 if no number does.

    The first ``start`` are in it. For the same number the most able are the best.
    """
    code, ties, limit = goal
    count = q.shape[0]
    if code == codes.WEIGHTED:
        return count - start if error_by_code(code, 1.0, ties, q) <= limit else -1
    pmf = np.empty(count + 1, np.float64)
    for size in range(1, count + 1):
        if prefix_error(code, ties, q, size, pmf) <= limit and size >= start:
            return size - start
    return -1


@heavy_kernel
def _can_begin_with(
    goal: Goal,
    staff: pools.Staff,
    able: Eligible,
    begun: Array,
    money: int,
    work: int,
    witness: Array,
) -> tuple[bool, int]:
    """Whether some set of the cost begins with this list; ``witness`` receives the rest of it.

    ``money`` is what is left for the rest. Also returns what is left of the work.
    """
    c, q, worth, _ = staff
    n = c.shape[0]
    start = begun.shape[0]
    later = np.zeros(n, np.bool_)
    later[begun[start - 1] + 1 :] = True
    if money == 0:
        free = marked(later & (c == 0))
        free = free[ascending(-worth[free])]
        work -= 8 + (start + free.shape[0]) ** 2
        more = _complete_for_nothing(goal, np.concatenate((q[begun], q[free])), start)
        if more > 0:
            witness[free[:more]] = True
        return more >= 0, work
    forced = pools.staff_at(staff, begun)
    members = np.empty(n, np.int64)
    for size in range(start + 1, able.alive.shape[0]):
        alive = able.alive[size]
        if not alive[begun].all():
            continue
        if goal.code == codes.WEIGHTED and size > codes.MAX_OUTCOMES:
            return False, -1
        wanted = Size(size, able.needs[size], able.prices[size])
        here = marked(later & alive & (c <= money))
        here = here[ascending(pools.at_price(pools.staff_at(staff, here), wanted.price))]
        work -= 8 * here.shape[0]
        added = pools.staff_at(staff, here)
        found, work = complete(goal, wanted, forced, added, money, work, members)
        if found >= 0:
            witness[here[members[: size - start]]] = True
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
    usable = pools.are_useful(goal, worth) | (c == 0)
    odd_only = c.min() > 0 and code in (codes.MAJORITY, codes.MOST_LIKELY)
    staff = pools.Staff(c, q, worth, gains_of(code, limit, q))
    able = _keep_candidates(goal, staff, usable, odd_only, cost)
    ever = np.zeros(n, np.bool_)
    for size in range(1, able.alive.shape[0]):
        ever |= able.alive[size]

    begun = np.empty(n, np.int64)
    size = 0
    money = cost
    i = 0
    while i < n:
        if not chosen[i]:
            if not ever[i] or c[i] > money:
                i += 1
                continue
            begun[size] = i
            witness = np.zeros(n, np.bool_)
            list_so_far, left = begun[: size + 1], money - c[i]
            possible, work = _can_begin_with(goal, staff, able, list_so_far, left, work, witness)
            if work < 0:
                return False
            if not possible:
                i += 1
                continue
            witness[list_so_far] = True
            chosen[:] = witness
        begun[size] = i
        size += 1
        money -= c[i]
        if money == 0 and error_by_code(code, 1.0, ties, q[begun[:size]]) <= limit:
            chosen[i + 1 :] = False
            break
        i += 1
    return True
