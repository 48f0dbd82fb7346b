"""Sums that a set must reach: gains g and, for each size, the least sum of g that can do.

What is needed is necessary, not sufficient, so it gives lower bounds on the cost.
"""

import math
from typing import NamedTuple

import numpy as np

from askwise.core.compiling import heavy_kernel
from askwise.kernels.knapsack.inputs import Array
from askwise.kernels.special import log_gamma
from askwise.policies.assured.sets import codes
from askwise.policies.assured.sets.probability import Goal

# Needs are computed for a threshold that is larger by this share: rounding must not raise them.
EASED = 1e-9
# And sums that are needed are smaller by this share: where all gains are equal, only rounding
# tells their sum from what is needed.
_SUMS_EASED = 1e-12
# More evidence than this is as good as certainty (and a worker who is sure has it).
_MOST_EVIDENCE = 700.0


@heavy_kernel
def gains_of(code: int, limit: float, q: Array) -> Array:
    """What each worker adds to the sum that is needed."""
    g = np.empty(q.shape[0], np.float64)
    for i in range(q.shape[0]):
        if code == codes.MAJORITY:
            # Where a coin would do, those who are worse are told apart too.
            g[i] = max(q[i], 0.5) if limit < 0.5 else q[i]
        elif code == codes.HOEFFDING:
            g[i] = 2.0 * q[i] - 1.0
        elif code == codes.MOST_LIKELY:
            # More than what the whole set needs is of no use.
            most = -math.log(limit)
            g[i] = min(most, -math.log(1.0 - q[i])) if q[i] < 1.0 else most
        else:
            spread = 4.0 * q[i] * (1.0 - q[i])
            g[i] = min(_MOST_EVIDENCE, -0.5 * math.log(spread)) if spread > 0.0 else _MOST_EVIDENCE
    return g


@heavy_kernel
def _binomial(n: int, p: float, pmf: Array) -> None:
    """Write the probabilities of 0 to n successes."""
    if p >= 1.0:
        for x in range(n):
            pmf[x] = 0.0
        pmf[n] = 1.0
        return
    log_odds = math.log(p / (1.0 - p))
    log_term = n * math.log(1.0 - p) + log_gamma(n + 1.0)
    for x in range(n + 1):
        pmf[x] = math.exp(log_term + x * log_odds - log_gamma(x + 1.0) - log_gamma(n - x + 1.0))


class Rest(NamedTuple):
    """What of a set is open by majority: those chosen, and the range of the qualities to come.

    Row ``at`` of ``rows`` says how likely x of those ``depth`` chosen are right; ``scratch`` has
    room for ``size`` // 2 + 2.
    """

    size: int
    depth: int
    ties: float
    rows: Array
    at: int
    low: float
    high: float
    scratch: Array


@heavy_kernel
def _error_of_two_kinds(size: int, good: int, low: float, high: float) -> float:
    """Majority's error in an odd set with this many of a high and the rest of a low quality."""
    some, others = np.empty(good + 1, np.float64), np.empty(size - good + 1, np.float64)
    _binomial(good, high, some)
    _binomial(size - good, low, others)
    half = size // 2
    error = cumulated = 0.0
    x = 0
    for y in range(min(good, half), -1, -1):
        while x <= half - y and x <= size - good:
            cumulated += others[x]
            x += 1
        error += some[y] * cumulated
    return error


@heavy_kernel
def _rest_error(rest: Rest, good: int) -> float:
    """Majority's error if the rest are this many of a high and the others of a low quality."""
    if rest.depth == 0:
        return _error_of_two_kinds(rest.size, good, rest.low, rest.high)
    scratch = rest.scratch
    half = rest.size // 2
    # scratch[x]: the error if x of those chosen are right, first without the rest.
    for x in range(half + 1):
        scratch[x] = 1.0 if 2 * x < rest.size else rest.ties
    scratch[half + 1] = 0.0
    for k in range(rest.size - rest.depth):
        p = rest.high if k < good else rest.low
        for x in range(half + 1):
            scratch[x] = (1.0 - p) * scratch[x] + p * scratch[x + 1]
    error = 0.0
    for x in range(min(rest.depth, half) + 1):
        error += rest.rows[rest.at + x] * scratch[x]
    return error


@heavy_kernel
def _least_sum(rest: Rest, limit: float) -> float:
    """The least sum of qualities of the rest that can do, in an odd set, none below 1/2.

    For a fixed sum the error is least where all but one quality are at the ends: moving two
    qualities apart changes it by -(P(Z = h) - P(Z = h-1)) <= 0, Z counting the right ones of
    the other 2h - 1, whose odds are all at least 1 (Hoeffding 1956). As the error is linear in
    one quality, it is just the limit where one more is partly good.
    """
    left = rest.size - rest.depth
    worse, better = -1, left
    error_worse, error_better = 1.0, _rest_error(rest, left)
    if error_better > limit:
        return math.inf
    while better - worse > 1:
        good = (worse + better) // 2
        error = _rest_error(rest, good)
        if error <= limit:
            better, error_better = good, error
        else:
            worse, error_worse = good, error
    part = 0.0 if worse < 0 else 1.0
    if worse >= 0 and error_worse > error_better:
        part = max(0.0, min(1.0, (error_worse - limit) / (error_worse - error_better)))
    least = left * rest.low + (max(0, worse) + part) * (rest.high - rest.low)
    return least * (1.0 - _SUMS_EASED)


@heavy_kernel
def need_of(goal: Goal, size: int, g: Array) -> float:
    """The sum of gains that a set of a size needs, if it is chosen from those with the gains g."""
    code, ties, limit = goal
    eased = min(1.0, limit * (1.0 + EASED))
    if code == codes.MAJORITY:
        low, high = g.min(), g.max()
        if limit >= 0.5:
            return size * low
        # Without its least able worker an even set is an odd one that is no worse.
        odd = size if size % 2 == 1 else size - 1
        # By way of NumPy: a literal would make the compiler do what it is handed to twice.
        nobody = int(np.int64(0))
        rest = Rest(odd, nobody, ties, g[:0], nobody, low, high, g[:0])
        return _least_sum(rest, eased) + (size - odd) * low
    if code == codes.HOEFFDING:
        return math.sqrt(-2.0 * size * math.log(eased))
    if code == codes.MOST_LIKELY:
        # The less able half needs this much; the others have as much each, or more.
        return -math.log(eased) * size / ((size + 1) // 2) * (1.0 - EASED)
    # Error >= (1 - sqrt(1 - rho^2)) / 2, rho being the product of 2 sqrt(q (1 - q)).
    return -0.5 * math.log(min(1.0, 4.0 * eased * (1.0 - min(0.5, eased))))


@heavy_kernel
def rest_needed(rest: Rest, limit: float, needed: float, extremes: bool) -> float:
    """The sum of gains that the rest of a set needs by majority, given the row of those chosen.

    ``needed`` is what the size needs beyond the gains of those. ``extremes`` says that the
    argument of ``_least_sum`` holds: the size is odd and no quality is below 1/2. math.inf if
    even the best would not do.
    """
    eased = min(1.0, limit * (1.0 + EASED))
    if extremes:
        return _least_sum(rest, eased)
    return needed if _rest_error(rest, rest.size - rest.depth) <= eased else math.inf
