"""Accuracy at a price instead of at any price."""

import math

import numpy as np

from askwise.core.checks import real
from askwise.core.compiling import heavy_kernel
from askwise.kernels.knapsack.inputs import Array, Numbers
from askwise.kernels.knapsack.ordering import marked
from askwise.ledger import columns as c
from askwise.policies.assured.sets.base import ErrorFunction, Spec, Target, function_of
from askwise.policies.assured.sets.checking import ensure_error_function
from askwise.policies.assured.sets.codes import FORGIVEN, OTHER
from askwise.policies.assured.sets.enumeration import MOST_WORKERS, refuse_many, sets_by_cost
from askwise.policies.assured.sets.inputs import Workers, workers_of
from askwise.policies.assured.sets.kernels import INFEASIBLE, cheapest_into, error_of, with_alpha
from askwise.policies.assured.sets.solve import lowest_error, solve_target

COIN = 0.5
"""Error of asking nobody, whatever the function says of the empty set: a coin decides."""

RUNGS = 32


def softest_set(
    costs: Numbers, qualities: Numbers, alpha: float, price: float, error: Spec = "majority"
) -> tuple[list[int], float]:
    """Find the set with the least cost plus penalty: price * max(0, error - alpha).

    Paper 000's constraint, made soft (its section 7 asks for that). Asking nobody leaves a
    coin: the empty set counts with the error 1/2.

    Parameters
    ----------
    costs, qualities, alpha, error
        As for :func:`cheapest_set`.
    price : float
        What an error of 1 beyond alpha would cost, in the currency of the costs; 0 or more.

    Returns
    -------
    indices : list of int
        Up to 20 workers the optimum, of equal values the cheapest set, then the first list.
        Above that the best of the cheapest sets (``solve_cheapest``, solver "auto") for 32
        targets from alpha to 1/2, evenly spaced, and the empty set: if those are exact its
        value exceeds the optimum by at most price * (1/2 - alpha) / 32.
    value : float
        Cost plus penalty.

    Raises
    ------
    TooLarge
        More than 20 workers with a user's function.

    Examples
    --------
    >>> from askwise.core.accuracy import softest_set
    >>> softest_set([1.0, 2.0], [0.7, 0.8], 0.1, price=20.0)
    ([1], 3.99...)
    """
    function = function_of(error)
    workers = workers_of(costs, qualities)
    threshold = function.target(alpha).alpha
    rate = real(price, "price", "a finite number, 0 or more", least=0.0)
    if function.code == OTHER:
        ensure_error_function(function)
        refuse_many(len(workers.costs), "use the error function 'majority'")
    if len(workers.costs) <= MOST_WORKERS:
        return _by_enumeration(function, workers, threshold, rate)
    return _by_ladder(function, workers, threshold, rate)


def _value(
    function: ErrorFunction, workers: Workers, alpha: float, rate: float, indices: list[int]
) -> float:
    error = COIN if not indices else float(function.probability(workers.qualities[indices]))
    return float(workers.cost(indices)) + rate * max(0.0, error - alpha)


def _by_enumeration(
    function: ErrorFunction, workers: Workers, alpha: float, rate: float
) -> tuple[list[int], float]:
    # The optimum costs no more than this, and no penalty is below that.
    most, least = rate * (COIN - alpha), 0.0
    if function.code != OTHER:
        target = function.target(alpha)
        cheapest = list(solve_target(function, workers, target).indices)
        most = min(most, _value(function, workers, alpha, rate, cheapest))
        error = lowest_error(function, target, workers)
        least = rate * max(0.0, min(COIN, error) - alpha)
    best: list[int] = []
    value = math.inf
    for _, indices in sets_by_cost(workers.whole):
        if workers.cost(indices) + least > most * (1.0 + FORGIVEN):
            break
        found = _value(function, workers, alpha, rate, indices)
        if found < value:
            best, value = indices, found
            most = min(most, value)
    return best, value


def _by_ladder(
    function: ErrorFunction, workers: Workers, alpha: float, rate: float
) -> tuple[list[int], float]:
    best: list[int] = []
    value = rate * (COIN - alpha)
    for rung in range(RUNGS):
        target = function.target(alpha + (COIN - alpha) * rung / RUNGS)
        found = solve_target(function, workers, target)
        indices = list(found.indices)
        worth = _value(function, workers, alpha, rate, indices)
        if worth < value:
            best, value = indices, worth
    return best, value


@heavy_kernel
def softest_into(
    target: Target, price: float, costs: Array, qualities: Array, allowed: Array, chosen: Array
) -> float:
    """Mark the allowed set with the least cost + price * max(0, error - alpha), or one near it.

    The best of the cheapest sets for targets from alpha to 1/2 and of the empty one, as
    ``softest_set`` has it for many workers: if those are exact, its value exceeds the
    least by at most price * (1/2 - alpha) / 32. Returns the value; TOO_LARGE (negative) if the
    solver is exact and its limit was hit.
    """
    trial = np.zeros(costs.shape[0], np.bool_)
    chosen[:] = False
    best = price * (COIN - target.alpha)
    error = 1.0
    for rung in range(RUNGS - 1, -1, -1):
        alpha = target.alpha + (COIN - target.alpha) * rung / RUNGS
        if error <= alpha:
            # The last set found meets this target too, so it is the cheapest here as well.
            continue
        status = cheapest_into(with_alpha(target, alpha), costs, qualities, allowed, trial)
        if status == c.TOO_LARGE:
            return float(c.TOO_LARGE)
        if status == INFEASIBLE:
            break
        error = error_of(target, qualities, trial)
        value = price * max(0.0, error - target.alpha)
        for worker in marked(trial):
            value += costs[worker]
        if value < best:
            best = value
            chosen[:] = trial
    return best
