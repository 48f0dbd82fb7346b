"""What a chosen worker could have asked for: critical bids with GA, Clarke's with the optimum."""

import math

import numpy as np

from askwise.core.compiling import heavy_kernel
from askwise.core.errors import InvalidParameter
from askwise.kernels.knapsack import cover_greedy, inputs
from askwise.kernels.knapsack.ga import by_ratio, count_units
from askwise.kernels.knapsack.inputs import Array, Numbers, WrongInput
from askwise.kernels.knapsack.ordering import marked
from askwise.policies.assured.sets.base import Spec, function_of
from askwise.policies.assured.sets.classes import NOBODY
from askwise.policies.assured.sets.inputs import workers_of
from askwise.policies.assured.sets.plainly import finder_by_classes
from askwise.policies.assured.sets.search import NONE
from askwise.policies.assured.sets.solve import solve_cheapest


@heavy_kernel
def _best_after(
    costs: Array, units: Array, others: Array, place: int, start: int, enough: int
) -> tuple[bool, float]:
    """The cheapest candidate of GA from a place on, with ``start`` units of small ones before.

    Returns whether there is one, and what it costs beyond those before.
    """
    found = False
    best = costs[0] - costs[0]
    small = costs[0] - costs[0]
    for k in range(place, others.shape[0]):
        j = others[k]
        if start + units[j] < enough:
            start += units[j]
            small += costs[j]
        elif not found or small + costs[j] < best:
            best = small + costs[j]
            found = True
    return found, best


@heavy_kernel
def _critical_bid(
    i: int, costs: Array, gains: Array, units: Array, enough: int, others: Array
) -> float:
    """The supremum of the prices at which GA chooses worker ``i``; at their own they are chosen.

    Their place in the order changes where their ratio passes another's. Between two such prices
    they are either small, and in every candidate after their place, or big, and in one of their
    own; so they are chosen up to the price at which the best candidate without them costs the same.
    """
    m = others.shape[0]
    origin = int(np.int64(0))
    rival, rival_cost = _best_after(costs, units, others, origin, origin, enough)
    bid = float(costs[i])
    low = 0.0
    small_units = origin
    small_cost = costs[i] - costs[i]
    # The best candidate among those who come before them.
    before = False
    before_cost = costs[i] - costs[i]
    for place in range(m + 1):
        high = math.inf
        if place < m:
            high = costs[others[place]] / gains[others[place]] * gains[i]
        if high > bid and high > low:
            if small_units + units[i] < enough:
                found, cost = _best_after(
                    costs, units, others, place, small_units + units[i], enough
                )
                most = -math.inf
                if found:
                    most = float(before_cost - cost - small_cost) if before else math.inf
            else:
                most = float(rival_cost - small_cost) if rival else math.inf
            if most > low:
                bid = max(bid, min(high, most))
        if place == m:
            break
        low = high
        j = others[place]
        if small_units + units[j] < enough:
            small_units += units[j]
            small_cost += costs[j]
        elif not before or small_cost + costs[j] < before_cost:
            before_cost = small_cost + costs[j]
            before = True
    return bid


@heavy_kernel
def critical_bids_into(
    costs: Array, gains: Array, demand: float, chosen: Array, bids: Array
) -> None:
    """Write the critical bid of everyone in GA's set ``chosen``, which reaches the demand."""
    units = np.empty(costs.shape[0], np.int64)
    enough = count_units(gains, demand, units)
    order = by_ratio(costs, gains, units)
    bids[:] = 0.0
    for i in marked(chosen):
        bids[i] = _critical_bid(i, costs, gains, units, enough, order[order != i])


def critical_bids(costs: Numbers, gains: Numbers, demand: float) -> list[float]:
    """Return the highest price at which each worker of ``cover_greedy``'s set would still be in.

    The greedy algorithm GA is monotone: a worker who lowers their price stays in. So paying
    everyone their critical bid makes it a dominant strategy to ask for one's true cost.

    Parameters
    ----------
    costs, gains, demand
        As for :func:`askwise.kernels.knapsack.cover_greedy`.

    Returns
    -------
    list of float
        For each worker of its set, in ascending order of their indices, the supremum of the
        prices at which the set contains them, the others' fixed; math.inf for one without whom
        the demand can't be reached (and for everybody if it can't be reached at all).

    References
    ----------
    Jain, Gujar, Bhat, Zoeter, Narahari (2015), section 6.2.1 and Lemma 6.2.
    Myerson (1981), "Optimal auction design".

    Examples
    --------
    >>> from askwise.core.accuracy import critical_bids
    >>> critical_bids([3, 4, 9], [1.0, 1.0, 1.0], 2.0)
    [9.0, 9.0]
    """
    try:
        indices, _, feasible = cover_greedy(costs, gains, demand)
        price, gain, target = inputs.cover(costs, gains, demand)
    except WrongInput as error:
        raise InvalidParameter(str(error), field=error.field) from None
    if not feasible:
        return [math.inf] * len(indices)
    if not indices:
        return []
    chosen = np.zeros(len(price), np.bool_)
    chosen[indices] = True
    bids = np.zeros(len(price), np.float64)
    critical_bids_into(price, gain, target, chosen, bids)
    return bids[indices].tolist()


def critical_bids_exact(
    costs: Numbers, qualities: Numbers, alpha: float, error: Spec = "majority"
) -> list[float]:
    """Return what Clarke's rule pays each worker of the cheapest set.

    The cost of the cheapest set without them, less what the others of the cheapest set cost:
    the highest price at which they would still be in. math.inf where no set without them meets
    the target.

    Parameters
    ----------
    costs, qualities, alpha, error
        As for :func:`cheapest_set`, solved exactly.

    Returns
    -------
    list of float
        For each worker of the cheapest set, in ascending order of their indices.

    Raises
    ------
    TooLarge
        As ``cheapest_set`` with the solver "exact": payments for a set that is only nearly the
        cheapest would not be truthful.

    Examples
    --------
    >>> from askwise.core.accuracy import critical_bids_exact
    >>> critical_bids_exact([3, 4, 9], [0.95, 0.95, 0.95], 0.1)
    [4.0]
    """
    workers = workers_of(costs, qualities)
    best = solve_cheapest(workers.costs, workers.qualities, alpha, error, "exact")
    bids = []
    for i in best.indices:
        rest = np.arange(len(workers.costs)) != i
        without = solve_cheapest(
            workers.costs[rest], workers.qualities[rest], alpha, error, "exact"
        )
        others = workers.cost([j for j in best.indices if j != i])
        bids.append(float(without.cost - others) if without.feasible else math.inf)
    return bids


def critical_bids_by_classes(
    costs: Numbers, qualities: Numbers, alpha: float, error: Spec = "majority"
) -> list[float]:
    """Return what Clarke's rule pays each worker of the set by classes.

    As :func:`critical_bids_exact`, but the cheapest set is that of the solver "classes", with a
    worker and without: the cheapest of a range of sets that no cost has a bearing on. So paying
    this makes it a dominant strategy to ask for one's true cost, though the set may not be the
    cheapest of all.

    Parameters
    ----------
    costs, qualities, alpha, error
        As for :func:`cheapest_set`.

    Returns
    -------
    list of float
        For each worker of the set, in ascending order of their indices; math.inf where no set of
        the range is without them (and for everybody if the target can't be reached).

    Examples
    --------
    >>> from askwise.core.accuracy import critical_bids_by_classes
    >>> critical_bids_by_classes([3, 4, 9], [0.95, 0.95, 0.95], 0.1)
    [4.0]
    """
    workers = workers_of(costs, qualities)
    function = function_of(error)
    target, find = function.target(alpha, "classes"), finder_by_classes(function)
    chosen, rest = np.zeros(len(workers.whole), np.bool_), np.zeros(len(workers.whole), np.bool_)
    if find(target, workers.whole, workers.qualities, NOBODY, chosen) == NONE:
        best = solve_cheapest(workers.costs, workers.qualities, alpha, error, "classes")
        return [math.inf] * len(best.indices)
    members = np.flatnonzero(chosen).tolist()
    bids = []
    for i in members:
        if find(target, workers.whole, workers.qualities, i, rest) == NONE:
            bids.append(math.inf)
            continue
        without = workers.cost(np.flatnonzero(rest).tolist())
        bids.append(float(without - workers.cost([j for j in members if j != i])))
    return bids
