"""How likely a set of workers is to get a task wrong: one kernel a function, and their codes."""

import math
from typing import NamedTuple

import numpy as np

from askwise.core.compiling import heavy_kernel
from askwise.kernels.knapsack.inputs import Array
from askwise.kernels.knapsack.ordering import ascending
from askwise.policies.assured.sets import codes


class Goal(NamedTuple):
    """The largest error that a set may have, by which function, and what a tie counts."""

    code: int
    ties: float
    limit: float


# With more than MAX_OUTCOMES workers the rounded vote errs at most this share more often than the
# best one would, unless it would take more operations than there may be (some 30 ms).
_SLACK = 0.01
_MOST_STEPS = 1 << 24


@heavy_kernel
def wrong_majority(pmf: Array, size: int, ties: float) -> float:
    """Probability of a wrong majority, if ``pmf[x]`` is that x of ``size`` are right."""
    error = 0.0
    for x in range(size // 2 + 1):
        error += pmf[x] * (ties if 2 * x == size else 1.0)
    return error


@heavy_kernel
def add_voter(pmf: Array, size: int, q: float) -> None:
    """Turn the probabilities for ``size - 1`` voters into those for ``size``, 1 to begin with."""
    if size == 1:
        pmf[0] = 1.0
    pmf[size] = pmf[size - 1] * q
    for x in range(size - 1, 0, -1):
        pmf[x] = pmf[x] * (1.0 - q) + pmf[x - 1] * q
    pmf[0] *= 1.0 - q


@heavy_kernel
def majority_error(q: Array, ties: float) -> float:
    """Probability that at most half are right; exactly half counts ``ties``."""
    s = q.shape[0]
    half = s // 2
    # pmf[x]: x are right. More than half need not be told apart.
    pmf = np.zeros(half + 1, np.float64)
    pmf[0] = 1.0
    for i in range(s):
        for x in range(min(half, i + 1), 0, -1):
            pmf[x] = pmf[x] * (1.0 - q[i]) + pmf[x - 1] * q[i]
        pmf[0] *= 1.0 - q[i]
    return wrong_majority(pmf, s, ties)


@heavy_kernel
def _margin(q: Array) -> float:
    """The sum of 2q - 1."""
    margin = 0.0
    for i in range(q.shape[0]):
        margin += 2.0 * q[i] - 1.0
    return margin


@heavy_kernel
def hoeffding_error(q: Array) -> float:
    """Hoeffding's bound on the majority's error (000, Example 3.2)."""
    margin = _margin(q)
    # The inequality speaks of a positive margin; without one nothing better than 1 is known.
    if margin <= 0.0:
        return 1.0
    return math.exp(-margin * margin / (2.0 * q.shape[0]))


@heavy_kernel
def linear_error(q: Array, epsilon: float) -> float:
    """The linear form of Hoeffding's bound, at most 1 (000, Example 3.2, last line)."""
    return math.exp(-epsilon * max(0.0, _margin(q)))


@heavy_kernel
def most_likely_error(q: Array) -> float:
    """Multiply 1 - q over the less able half, rounded up (000, Eq. 2)."""
    order = ascending(q)
    product = 1.0
    for k in range((q.shape[0] + 1) // 2):
        product *= 1.0 - q[order[k]]
    return product


@heavy_kernel
def _best_vote_error(p: Array) -> float:
    """Error of the likelihood's vote by all answers; ``p`` from 1/2 to below 1, not empty.

    For and against are told apart by the first worker's answer: the other half of the outcomes
    is its mirror image.
    """
    size = 1
    likely = np.empty(1 << (p.shape[0] - 1), np.float64)
    unlikely = np.empty(1 << (p.shape[0] - 1), np.float64)
    likely[0] = p[0]
    unlikely[0] = 1.0 - p[0]
    for i in range(1, p.shape[0]):
        for x in range(size):
            likely[size + x] = likely[x] * (1.0 - p[i])
            unlikely[size + x] = unlikely[x] * p[i]
            likely[x] *= p[i]
            unlikely[x] *= 1.0 - p[i]
        size *= 2
    error = 0.0
    for x in range(size):
        error += min(likely[x], unlikely[x])
    return error


@heavy_kernel
def _rounded_vote_error(p: Array) -> float:
    """Error of a vote with whole weights, ties at random; ``p`` above 1/2 and below 1.

    No weights vote better than the log-odds, so this is an upper bound. The two votes differ
    only where the evidence is at most half a unit per worker, by at most its exponential.
    """
    n = p.shape[0]
    weights = np.empty(n, np.float64)
    total = 0.0
    for i in range(n):
        weights[i] = math.log(p[i] / (1.0 - p[i]))
        total += weights[i]
    unit = max(2.0 * _SLACK / n, n * total / _MOST_STEPS)
    whole = np.empty(n, np.int64)
    cells = 1
    for i in range(n):
        whole[i] = math.floor(weights[i] / unit + 0.5)
        cells += whole[i]
    # pmf[x]: the workers who are right have the weight x together.
    pmf = np.zeros(cells, np.float64)
    pmf[0] = 1.0
    reach = 1
    for i in range(n):
        step = whole[i]
        # Whole arrays at once: in a plain run this is most of the time.
        if_right = pmf[:reach] * p[i]
        if_wrong = pmf[:reach]
        np.multiply(if_wrong, 1.0 - p[i], if_wrong)
        moved = pmf[step : reach + step]
        np.add(moved, if_right, moved)
        reach += step
    error = 0.0
    for x in range(cells):
        if 2 * x < cells - 1:
            error += pmf[x]
        elif 2 * x == cells - 1:
            error += 0.5 * pmf[x]
    return error


@heavy_kernel
def weighted_error(q: Array) -> float:
    """Error of the vote with weights log(q / (1 - q)), ties at random."""
    p = np.empty(q.shape[0], np.float64)
    n = 0
    for i in range(q.shape[0]):
        strength = max(q[i], 1.0 - q[i])
        if strength >= 1.0:
            return 0.0
        # Who guesses has no weight.
        if strength > 0.5:
            p[n] = strength
            n += 1
    if n == 0:
        return 0.5
    if n <= codes.MAX_OUTCOMES:
        return _best_vote_error(p[:n])
    return _rounded_vote_error(p[:n])


@heavy_kernel
def error_by_code(code: int, epsilon: float, ties: float, q: Array) -> float:
    """Error of a set, given by its qualities; NaN for a function that kernels don't know."""
    if code == codes.LINEAR:
        return linear_error(q, epsilon)
    if code == codes.MAJORITY:
        return majority_error(q, ties)
    if code == codes.HOEFFDING:
        return hoeffding_error(q)
    if code == codes.MOST_LIKELY:
        return most_likely_error(q)
    if code == codes.WEIGHTED:
        return weighted_error(q)
    return math.nan


@heavy_kernel
def prefix_error(code: int, ties: float, q: Array, size: int, pmf: Array) -> float:
    """Error of the first ``size`` of ``q``.

    ``pmf`` is carried from size to size, which are to come in turn from 1 on.
    """
    if code != codes.MAJORITY:
        return error_by_code(code, 1.0, ties, q[:size])
    add_voter(pmf, size, q[size - 1])
    return wrong_majority(pmf, size, ties)


@heavy_kernel
def shortest_prefix(limit: float, q: Array, start: int) -> int:
    """How many of ``q``, at least ``start``, keep a limit; -1 if not even all of them do.

    By a weighted vote, whose error falls with every worker: larger and larger numbers, then by
    bisection.
    """
    # By the Bhattacharyya coefficient no vote does better than this.
    rho = 1.0
    for i in range(q.shape[0]):
        rho *= 2.0 * math.sqrt(q[i] * (1.0 - q[i]))
    if 0.5 * (1.0 - math.sqrt(max(0.0, 1.0 - rho * rho))) > limit * (1.0 + 1e-9):
        return -1
    fails = start - 1
    keeps = start
    step = 1
    while weighted_error(q[:keeps]) > limit:
        if keeps == q.shape[0]:
            return -1
        fails = keeps
        step *= 2
        keeps = min(q.shape[0], keeps + step)
    while keeps - fails > 1:
        middle = (fails + keeps) // 2
        if weighted_error(q[:middle]) <= limit:
            keeps = middle
        else:
            fails = middle
    return keeps
