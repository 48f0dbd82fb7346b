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
def preferable(worth: Array, than: Array) -> Array:
    """Count for each worker those before them whose ``worth`` is no less than their ``than``."""
    n = worth.shape[0]
    ranks = np.empty(n, np.int64)
    by_worth = ascending(-worth)
    for k in range(n):
        ranks[by_worth[k]] = k + 1
    # How many there are whose worth is no less, before them or not.
    ranks_than = np.empty(n, np.int64)
    by_than = ascending(-than)
    above = 0
    for k in range(n):
        while above < n and worth[by_worth[above]] >= than[by_than[k]]:
            above += 1
        ranks_than[by_than[k]] = above
    # Sums over ranks in a binary indexed tree.
    tree = np.zeros(n + 1, np.int64)
    counts = np.empty(n, np.int64)
    for i in range(n):
        count = 0
        at = ranks_than[i]
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
