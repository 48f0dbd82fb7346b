"""The bounded knapsack by density: the greedy plan and the fractional optimum."""

import numpy as np

from askwise.core.compiling import kernel, step
from askwise.kernels.knapsack import inputs
from askwise.kernels.knapsack.inputs import Array, Limits, Numbers
from askwise.kernels.knapsack.ordering import ascending, marked

# A few items fill a knapsack as a rule, and finding the best of all so often is cheaper than
# sorting them; the rest is sorted after that, which keeps the worst case at n log n.
_SCANS = 8
# So few items are never worth sorting.
_FEW = 32


@kernel
def _greedy_in_order(
    densities: Array, weights: Array, limits: Array, left: int, counts: Array
) -> int:
    """Go on with the items that have not been dealt with (density not negative)."""
    rest = marked((densities >= 0.0) & (weights <= left))
    for i in rest[ascending(-densities[rest])]:
        if weights[i] <= left:
            take = min(limits[i], left // weights[i])
            counts[i] = take
            left -= take * weights[i]
    return left


@step
def fill_by_density(
    values: Array, weights: Array, limits: Array, capacity: int, counts: Array, densities: Array
) -> int:
    """Do as ``greedy_into`` does, without allocating: ``densities`` is scratch space."""
    n = counts.shape[0]
    # Without branches, so that processors divide for several at once.
    for i in range(n):
        density = values[i] / weights[i]
        densities[i] = density if limits[i] > 0 else -1.0
        counts[i] = 0
    left = capacity
    for _ in range(n if n <= _FEW else _SCANS):
        best = -1
        highest = -1.0
        for i in range(n):
            if densities[i] > highest and weights[i] <= left:
                best = i
                highest = densities[i]
        if best < 0:
            return left
        take = min(limits[best], left // weights[best])
        counts[best] = take
        left -= take * weights[best]
        densities[best] = -1.0
    if n <= _FEW:
        return left
    return _greedy_in_order(densities, weights, limits, left, counts)


@kernel
def greedy_into(values: Array, weights: Array, limits: Array, capacity: int, counts: Array) -> int:
    """Write the greedy plan into ``counts`` and return the capacity left over.

    For use inside other kernels: nothing is checked. Values are float64 and not negative,
    weights int64 from 1, limits int64 from 0, counts an int64 array of the same length.
    """
    densities = np.empty(values.shape[0], np.float64)
    return fill_by_density(values, weights, limits, capacity, counts, densities)


@kernel
def _fractional_into(
    values: Array, weights: Array, limits: Array, capacity: int, counts: Array
) -> None:
    left = capacity
    for i in ascending(-(values / weights)):
        if left == 0 or values[i] == 0.0:
            break
        take = min(limits[i], left // weights[i])
        left -= take * weights[i]
        counts[i] = float(take)
        if take < limits[i]:
            counts[i] += left / weights[i]
            break


def bounded_greedy(values: Numbers, weights: Numbers, limits: Limits, capacity: int) -> Array:
    """Fill a knapsack by density: the bounded greedy algorithm.

    Item types in order of decreasing density ``value / weight`` (as 64-bit floats), ties by
    the lowest index; of each as many units as its limit and the capacity left allow. Types
    that no longer fit are passed over. Nothing can be added to the plan, and it is short of the
    optimum by less than one unit of the first type that does not fit in full.

    Parameters
    ----------
    values : array of float
        Worth of one unit, not negative.
    weights : array of int
        Weight (price) of one unit, at least 1.
    limits : array of int, None entries allowed, or None
        Most units of a type; None for no limit.
    capacity : int
        Total weight that may be used, from 0 to 2**61.

    Returns
    -------
    array of int64
        Units of each type.

    References
    ----------
    Tran-Thanh, Stein, Rogers, Jennings (2014), "Efficient crowdsourcing of unknown experts
    using bounded multi-armed bandits", Artificial Intelligence 214, section 4.2.

    Examples
    --------
    >>> from askwise.kernels.knapsack import bounded_greedy
    >>> bounded_greedy([3.0, 4.0, 1.0], [2, 3, 1], [2, None, 5], 9).tolist()
    [2, 1, 2]
    """
    worth, weight, limit, room = inputs.bounded(values, weights, limits, capacity)
    counts = np.zeros(len(worth), np.int64)
    greedy_into(worth, weight, limit, room, counts)
    return counts


def bounded_fractional(values: Numbers, weights: Numbers, limits: Limits, capacity: int) -> Array:
    """Fill a knapsack when units may be cut: the optimum of the linear relaxation.

    Parameters as in :func:`bounded_greedy`. Types in the same order, all of each until one
    does not fit entirely, of which the fraction that fits. Worthless types are left out.
    The worth of this plan is an upper bound on that of any plan of whole units.

    Returns
    -------
    array of float64
        Units of each type.

    Examples
    --------
    >>> from askwise.kernels.knapsack import bounded_fractional
    >>> bounded_fractional([3.0, 4.0, 1.0], [2, 3, 1], [2, None, 5], 10).tolist()
    [2.0, 2.0, 0.0]
    >>> bounded_fractional([3.0, 4.0, 1.0], [2, 4, 1], [2, None, 5], 10).tolist()
    [2.0, 1.5, 0.0]
    """
    worth, weight, limit, room = inputs.bounded(values, weights, limits, capacity)
    counts = np.zeros(len(worth), np.float64)
    _fractional_into(worth, weight, limit, room, counts)
    return counts
