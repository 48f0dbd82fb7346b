"""Sums that a set must reach: gains g and, for each size, the least sum of g that can do.

What is needed is necessary, not sufficient, so it gives lower bounds on the cost.
"""

from __future__ import annotations

import math

import numpy as np

from askwise.core.compiling import heavy_kernel
from askwise.kernels.knapsack.inputs import Array
from askwise.kernels.special import log_gamma
from askwise.policies.assured.sets.partial import row_start
from askwise.policies.assured.sets.probability import HOEFFDING, MAJORITY, MOST_LIKELY, Goal

# Needs are computed for a threshold that is larger by this share: rounding must not raise them.
_EASED = 1e-9
# More evidence than this is as good as certainty (and a worker who is sure has it).
_MOST_EVIDENCE = 700.0


@heavy_kernel
def gains_of(code: int, limit: float, q: Array) -> Array:
    """What each worker adds to the sum that is needed."""
    g = np.empty(q.shape[0], np.float64)
    for i in range(q.shape[0]):
        if code == MAJORITY:
            # Where a coin would do, those who are worse are told apart too.
            g[i] = max(q[i], 0.5) if limit < 0.5 else q[i]
        elif code == HOEFFDING:
            g[i] = 2.0 * q[i] - 1.0
        elif code == MOST_LIKELY:
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


@heavy_kernel
def _error_of_two_kinds(
    size: int, good: int, low: float, high: float, some: Array, others: Array
) -> float:
    """Majority's error in an odd set with so many of a high and the rest of a low quality."""
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
def _majority_need(size: int, low: float, high: float, limit: float) -> float:
    """The least sum of qualities, from ``low`` >= 1/2 to ``high``, of an odd set that can do.

    For a fixed sum the error is least where all but one quality are at the ends: moving two
    qualities apart changes it by -(P(Z = h) - P(Z = h-1)) <= 0, Z counting the right ones of
    the other 2h - 1, whose odds are all at least 1 (Hoeffding 1956).
    """
    some = np.empty(size + 1, np.float64)
    others = np.empty(size + 1, np.float64)
    error_better = _error_of_two_kinds(size, size, low, high, some, others)
    if error_better > limit:
        return math.inf
    worse = -1
    better = size
    error_worse = 1.0
    while better - worse > 1:
        good = (worse + better) // 2
        error = _error_of_two_kinds(size, good, low, high, some, others)
        if error <= limit:
            better = good
            error_better = error
        else:
            worse = good
            error_worse = error
    return _between(size, worse, error_worse, error_better, limit, low, high)


@heavy_kernel
def _between(
    size: int,
    worse: int,
    error_worse: float,
    error_better: float,
    limit: float,
    low: float,
    high: float,
) -> float:
    """The sum at which the error is just the limit: one more is partly good.

    With ``worse`` good ones it is above, with one more it is not (-1: none are needed). The
    error is linear in one quality.
    """
    if worse < 0:
        return size * low
    part = 1.0
    if error_worse > error_better:
        part = max(0.0, min(1.0, (error_worse - limit) / (error_worse - error_better)))
    return worse * high + (size - worse) * low + part * (high - low)


@heavy_kernel
def need_of(code: int, limit: float, size: int, low: float, high: float) -> float:
    """The sum of gains that a set of a size needs; gains are between ``low`` and ``high``."""
    eased = min(1.0, limit * (1.0 + _EASED))
    if code == MAJORITY:
        if limit >= 0.5:
            return size * low
        if size % 2 == 1:
            return _majority_need(size, low, high, eased)
        # Without its least able worker an even set is an odd one that is no worse.
        return _majority_need(size - 1, low, high, eased) + low
    if code == HOEFFDING:
        return math.sqrt(-2.0 * size * math.log(eased))
    if code == MOST_LIKELY:
        # The less able half needs this much; the others have as much each, or more.
        return -math.log(eased) * size / ((size + 1) // 2) * (1.0 - _EASED)
    # Error >= (1 - sqrt(1 - rho^2)) / 2, rho being the product of 2 sqrt(q (1 - q)).
    return -0.5 * math.log(min(1.0, 4.0 * eased * (1.0 - min(0.5, eased))))


@heavy_kernel
def rest_needed(
    goal: Goal,
    size: int,
    rows: Array,
    depth: int,
    gained: float,
    need: float,
    low: float,
    high: float,
    extremes: bool,
    scratch: Array,
) -> float:
    """The sum of gains that the rest of a set needs, given the row of those chosen.

    ``gained`` is the sum of those, ``need`` the whole size's, ``low`` and ``high`` the range of
    the rest's gains. ``extremes`` says that by majority the argument of ``_majority_need``
    holds: the size is odd and no quality is below 1/2. math.inf if even the best would not do.
    """
    code, ties, limit = goal
    left = size - depth
    if code != MAJORITY:
        rest = need - gained
        return rest if rest <= left * high + _EASED else math.inf
    eased = min(1.0, limit * (1.0 + _EASED))
    at = row_start(code, size, depth)
    error_better = _rest_error(ties, size, rows, at, depth, left, low, high, scratch)
    if error_better > eased:
        return math.inf
    if not extremes:
        return need - gained
    worse = -1
    better = left
    error_worse = 1.0
    while better - worse > 1:
        good = (worse + better) // 2
        error = _rest_error(ties, size, rows, at, depth, good, low, high, scratch)
        if error <= eased:
            better = good
            error_better = error
        else:
            worse = good
            error_worse = error
    return _between(left, worse, error_worse, error_better, eased, low, high)


@heavy_kernel
def _rest_error(
    ties: float,
    size: int,
    rows: Array,
    at: int,
    depth: int,
    good: int,
    low: float,
    high: float,
    scratch: Array,
) -> float:
    """Majority's error if the rest are so many of a high and the others of a low quality."""
    half = size // 2
    # scratch[x]: the error if x of those chosen are right, first without the rest.
    for x in range(half + 1):
        scratch[x] = 1.0 if 2 * x < size else ties
    scratch[half + 1] = 0.0
    for k in range(size - depth):
        p = high if k < good else low
        for x in range(half + 1):
            scratch[x] = (1.0 - p) * scratch[x] + p * scratch[x + 1]
    error = 0.0
    for x in range(min(depth, half) + 1):
        error += rows[at + x] * scratch[x]
    return error
