"""Who may be in a cheapest set of a size: those to whom few enough others are preferable."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from askwise.core.compiling import heavy_kernel
from askwise.kernels.knapsack.inputs import Array
from askwise.kernels.knapsack.ordering import ascending
from askwise.policies.assured.sets.probability import MOST_LIKELY, WEIGHTED


@heavy_kernel
def worth_of(code: int, q: Array) -> Array:
    """What makes a worker preferable: a vote by log-odds makes use of who is mostly wrong too."""
    worth = np.empty(q.shape[0], np.float64)
    for i in range(q.shape[0]):
        worth[i] = max(q[i], 1.0 - q[i]) if code == WEIGHTED else q[i]
    return worth


@heavy_kernel
def is_useful(code: int, limit: float, worth: float) -> bool:
    """Whether a worker can make a set cheaper.

    By majority a coin beside an even number of others is no better than without it and the
    least able of them; only where even a coin would do it may be what is needed.
    """
    return worth > 0.5 or limit >= 0.5 or code == MOST_LIKELY


@heavy_kernel
def preferable(worth: Array) -> Array:
    """Count for each worker those before him who are worth at least as much."""
    n = worth.shape[0]
    ranks = np.empty(n, np.int64)
    by_worth = ascending(negated(worth))
    rank = 0
    for k in range(n):
        if k == 0 or worth[by_worth[k]] != worth[by_worth[k - 1]]:
            rank = k + 1
        ranks[by_worth[k]] = rank
    # Sums over ranks in a binary indexed tree; workers of equal worth have the same rank.
    tree = np.zeros(n + 1, np.int64)
    counts = np.empty(n, np.int64)
    for i in range(n):
        count = 0
        at = ranks[i]
        while at > 0:
            count += tree[at]
            at -= at & -at
        counts[i] = count
        at = ranks[i]
        while at <= n:
            tree[at] += 1
            at += at & -at
    return counts


@heavy_kernel
def ints_at(values: Array, places: Array) -> Array:
    """``values[places]`` for whole numbers; spelled out, it compiles in a fraction of the time."""
    found = np.empty(places.shape[0], np.int64)
    for k in range(places.shape[0]):
        found[k] = values[places[k]]
    return found


@heavy_kernel
def floats_at(values: Array, places: Array) -> Array:
    """``values[places]`` for floats."""
    found = np.empty(places.shape[0], np.float64)
    for k in range(places.shape[0]):
        found[k] = values[places[k]]
    return found


class Staff(NamedTuple):
    """Workers to choose from: their costs, qualities, worths (`worth_of`) and gains."""

    c: Array
    q: Array
    worth: Array
    g: Array


@heavy_kernel
def staff_at(staff: Staff, places: Array) -> Staff:
    """Those at some places, in the order of these."""
    c, q, worth, g = staff
    worths, gains = floats_at(worth, places), floats_at(g, places)
    return Staff(ints_at(c, places), floats_at(q, places), worths, gains)


@heavy_kernel
def negated(values: Array) -> Array:
    """To sort downward."""
    found = np.empty(values.shape[0], np.float64)
    for k in range(values.shape[0]):
        found[k] = -values[k]
    return found


@heavy_kernel
def least(values: Array, rank: int) -> float:
    """Return the value that ``rank`` others come before, by quickselect."""
    rest = values.copy()
    left = 0
    right = rest.shape[0] - 1
    while left < right:
        a, b, c = rest[left], rest[(left + right) // 2], rest[right]
        pivot = max(min(a, b), min(max(a, b), c))
        i = left
        j = right
        while i <= j:
            while rest[i] < pivot:
                i += 1
            while rest[j] > pivot:
                j -= 1
            if i <= j:
                rest[i], rest[j] = rest[j], rest[i]
                i += 1
                j -= 1
        if rank <= j:
            right = j
        elif rank >= i:
            left = i
        else:
            return rest[rank]
    return rest[left]


@heavy_kernel
def pool_of(size: int, better: Array, pool: Array) -> int:
    """Write those to whom fewer than ``size`` are preferable into ``pool``; return how many."""
    m = 0
    for k in range(better.shape[0]):
        if better[k] < size:
            pool[m] = k
            m += 1
    return m


@heavy_kernel
def range_of(g: Array) -> tuple[float, float]:
    """Return the least and the largest."""
    low = math.inf
    high = -math.inf
    for k in range(g.shape[0]):
        low = min(low, g[k])
        high = max(high, g[k])
    return low, high


@heavy_kernel
def common_unit(costs: Array) -> int:
    """Return the greatest common divisor of all costs; 1 if they are all 0.

    Coarser money makes for sharper bounds: a set cheaper at all is cheaper by the divisor.
    """
    unit = 0
    for i in range(costs.shape[0]):
        a = costs[i]
        while a != 0:
            unit, a = a, unit % a
    return max(1, unit)
