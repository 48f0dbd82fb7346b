"""Who may be in a cheapest set of a size: those to whom few enough others are preferable."""

import math
from typing import NamedTuple

import numpy as np

from askwise.core.compiling import heavy_kernel
from askwise.kernels.knapsack.inputs import Array
from askwise.kernels.knapsack.ordering import ascending
from askwise.policies.assured.sets import codes
from askwise.policies.assured.sets.probability import Goal


@heavy_kernel
def worth_of(code: int, q: Array) -> Array:
    """What makes a worker preferable: a vote by log-odds makes use of who is mostly wrong too."""
    return np.maximum(q, 1.0 - q) if code == codes.WEIGHTED else q.copy()


@heavy_kernel
def are_useful(goal: Goal, worth: Array) -> Array:
    """Whether each worker can make a set cheaper.

    By majority a coin beside an even number of others is no better than without it and the
    least able of them; only where even a coin would do it may be what is needed.
    """
    always = goal.limit >= 0.5 or goal.code == codes.MOST_LIKELY
    return np.ones(worth.shape[0], np.bool_) if always else worth > 0.5


@heavy_kernel
def preferable(worth: Array) -> Array:
    """Count for each worker those before them who are worth at least as much."""
    n = worth.shape[0]
    ranks = np.empty(n, np.int64)
    by_worth = ascending(-worth)
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
    return Staff(c[places], q[places], worth[places], g[places])


@heavy_kernel
def least(values: Array, rank: int) -> float:
    """Return the value that ``rank`` others come before."""
    return np.partition(values, rank)[rank]


@heavy_kernel
def at_price(staff: Staff, price: float) -> Array:
    """What each costs, less what their gains are worth; at an infinite price the gains decide."""
    return -staff.g if price == math.inf else staff.c - price * staff.g
