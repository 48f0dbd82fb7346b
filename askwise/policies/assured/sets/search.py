"""Depth first through the sets of one size, bounded by cost, by error and by a price on gains."""

import math
from typing import NamedTuple

import numpy as np

from askwise.core.compiling import heavy_kernel
from askwise.kernels.knapsack.inputs import Array
from askwise.policies.assured.sets import codes
from askwise.policies.assured.sets.needs import EASED, Rest, rest_needed
from askwise.policies.assured.sets.partial import first_rows, last_quality, push, row_start
from askwise.policies.assured.sets.pools import Staff
from askwise.policies.assured.sets.probability import Goal

# How far a solver's answer goes.
NONE, FOUND, CHEAPEST, FIRST = range(4)

# Bounds are sums of floats: this share of the costs is left to rounding.
ROUNDING = 1e-12


class Size(NamedTuple):
    """Of sets: how many are in one, the gains that it needs, and a price on them."""

    size: int
    need: float
    price: float


@heavy_kernel
def complete(
    goal: Goal, wanted: Size, forced: Staff, staff: Staff, most: int, work: int, members: Array
) -> tuple[int, int]:
    """Find the cheapest set of a size that costs at most ``most``.

    If somebody is in it already, any way to complete it will do, and the first one found ends
    the search.

    Parameters
    ----------
    goal : Goal
        The error function, and the largest error.
    wanted : Size
        Of the whole set.
    forced : Staff
        Those who are in it already: fewer than the size.
    staff : Staff
        Those who may be added, in order of increasing c - price * g.
    most : int
        What those added may cost.
    work : int
        Elementary operations after which to give up.
    members : array of int64
        Receives the positions of those added.

    Returns
    -------
    cost : int
        Of those added in the best set found; -1 if there is none.
    work : int
        What is left of it; negative if it gave up.
    """
    code = goal.code
    size, need, price = wanted
    c, q, worth, g = staff
    n = c.shape[0]
    start = forced.c.shape[0]
    found = int(np.int64(-1))
    if n < size - start:
        return found, work
    rows = first_rows(code, size)
    extremes = code == codes.MAJORITY and size % 2 == 1
    gains = np.zeros(size + 1, np.float64)
    for k in range(start):
        work -= push(code, size, rows, k, forced.q[k])
        extremes = extremes and forced.q[k] >= 0.5
        gains[start] += forced.g[k]
    # Sums of c - price * g from the front, and the range of gains from each position on.
    sums = np.zeros(n + 1, np.float64)
    lows = np.full(n + 1, math.inf)
    highs = np.full(n + 1, -math.inf)
    scale = abs(price * need)
    for i in range(n):
        sums[i + 1] = sums[i] + (c[i] - price * g[i])
        scale += c[i]
        extremes = extremes and q[i] >= 0.5
    for i in range(n - 1, -1, -1):
        lows[i] = min(lows[i + 1], g[i])
        highs[i] = max(highs[i + 1], g[i])
    slack = ROUNDING * scale
    scratch = np.empty(size // 2 + 2, np.float64)

    chosen = np.empty(size + 1, np.int64)
    costs = np.zeros(size + 1, np.int64)
    following = np.zeros(size + 1, np.int64)
    depth = start
    while depth >= start:
        left = size - depth
        i = int(following[depth])
        spent = costs[depth] + price * (need - gains[depth])
        if left == 1:
            least = last_quality(goal, size, rows)
            work -= 8 + (size if code != codes.WEIGHTED else 4 << (size - 1))
            while i < n and spent + (sums[i + 1] - sums[i]) - slack <= most:
                work -= 1
                if worth[i] >= least and costs[depth] + c[i] <= most:
                    found = costs[depth] + c[i]
                    most = found - 1
                    chosen[depth] = i
                    for k in range(start, size):
                        members[k - start] = chosen[k]
                    if start > 0:
                        return found, work
                i += 1
            depth -= 1
            continue
        if i + left > n or spent + (sums[i + left] - sums[i]) - slack > most:
            depth -= 1
            continue
        following[depth] = i + 1
        if work < 0:
            return found, -1
        work -= push(code, size, rows, depth, q[i])
        costs[depth + 1] = costs[depth] + c[i]
        gains[depth + 1] = gains[depth] + g[i]
        low, high = lows[i + 1], highs[i + 1]
        needed = need - gains[depth + 1]
        if code == codes.MAJORITY:
            at = row_start(code, size, depth + 1)
            rest = Rest(size, depth + 1, goal.ties, rows, at, low, high, scratch)
            needed = rest_needed(rest, goal.limit, needed, extremes)
        elif needed > (left - 1) * high + EASED:
            needed = math.inf
        work -= 8 + (left - 1) * (size // 2 + 1)
        if needed == math.inf:
            continue
        rest_cost = price * needed + (sums[i + left] - sums[i + 1])
        if costs[depth + 1] + rest_cost - slack > most:
            continue
        chosen[depth] = i
        depth += 1
        following[depth] = i + 1
    return found, work
