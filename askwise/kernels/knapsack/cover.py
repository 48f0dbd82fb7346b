"""The minimum knapsack: the cheapest set of workers whose gains reach a demand.

How gains are added up and compared is the same everywhere here, and in ``ga``: each gain is
counted in whole units of about 10**-15 of the demand (coarser from a thousand items on), and a
shortfall of about 10**-12 of the demand is forgiven. So whether a set reaches the demand
depends neither on the order of summation nor on the last bit of a gain.
"""

import math

import numpy as np

from askwise.core.compiling import kernel
from askwise.core.errors import TooLarge
from askwise.kernels.knapsack import inputs, states
from askwise.kernels.knapsack.ga import count_units, cover_greedy_into
from askwise.kernels.knapsack.inputs import Array, Numbers
from askwise.kernels.knapsack.ordering import ascending, common_unit, marked
from askwise.kernels.knapsack.states import IMPROVED, TOO_LARGE, best_subset

_FREE = 0
_IN = 1
_OUT = 2


@kernel
def _fix(weights: Array, values: Array, spare: int, saved: float, fate: Array) -> None:
    """Mark the items that the linear bound puts in, or leaves out of, every optimal set.

    Items are in the order in which they are left out; ``saved`` is slightly less than what
    an optimal set saves.
    """
    n = weights.shape[0]
    k = 0
    bound = 0.0
    while weights[k] <= spare:
        spare -= weights[k]
        bound += values[k]
        k += 1
    density = values[k] / weights[k]
    bound += spare * density
    for i in range(n):
        fate[i] = _FREE
        if bound - abs(values[i] - density * weights[i]) < saved:
            fate[i] = _OUT if i < k else _IN


@kernel
def _exact_in_units(
    costs: Array, units: Array, enough: int, known_cost: int, max_states: int, chosen: Array
) -> int:
    """Mark in ``chosen`` the first of the cheapest sets; return TOO_LARGE or another status.

    Solved from the other side: which items are to be left out, so as to save most, while
    their units do not exceed what is to spare.
    """
    n = costs.shape[0]
    total_cost = costs.sum()
    order = ascending(-(costs / units))
    weights, values = units[order], costs[order]
    flags = np.empty(n, np.bool_)
    # One whole unit of cost, less the rounding that a bound may have suffered.
    slack = 0.99 - total_cost * 2.0**-48
    spare = units.sum() - enough
    saved = total_cost - known_cost
    status = best_subset(weights, values, spare, saved, total_cost, slack, max_states, flags)
    if status == TOO_LARGE:
        return status
    if status == IMPROVED:
        saved = values[flags].sum()

    # Of the cheapest sets the first: item by item, in if the rest can complete the set.
    by_place = np.empty(n, np.int64)
    _fix(weights, values, spare, saved - (1.0 - slack), by_place)
    fate = np.empty(n, np.int64)
    money = total_cost - saved
    last_in = -1
    later = np.empty(n, np.int64)
    for k in range(n):
        i = order[k]
        fate[i] = by_place[k]
        if fate[i] == _IN:
            money -= costs[i]
            enough -= units[i]
            last_in = max(last_in, i)
    for i in range(n):
        chosen[i] = fate[i] == _IN
        # A list that is complete comes before its continuations, but an item that costs
        # nothing moves a list forward if it comes before one that is needed.
        if fate[i] != _FREE or (enough <= 0 and i > last_in):
            continue
        count = 0
        for k in range(n):
            if order[k] > i and by_place[k] == _FREE:
                later[count] = order[k]
                count += 1
        weights, values = units[later[:count]], costs[later[:count]]
        still = enough - units[i]
        spare = weights.sum() - still
        saved = values.sum() - (money - costs[i])
        possible = costs[i] <= money and spare >= 0
        if possible and still > 0:
            status = best_subset(weights, values, spare, saved - 1, saved, slack, max_states, flags)
            if status == TOO_LARGE:
                return status
            possible = status == IMPROVED
        if possible:
            chosen[i] = True
            enough -= units[i]
            money -= costs[i]
    return IMPROVED


@kernel
def cover_exact_into(
    costs: Array, gains: Array, demand: float, max_states: int, chosen: Array
) -> int:
    """Turn the greedy set in ``chosen`` into the first of the cheapest; return a status.

    For use inside other kernels: nothing is checked. As ``cover_greedy_into``, with whole costs
    and a demand above 0 that the greedy set reaches. TOO_LARGE leaves the set as it is.
    """
    units = np.empty(costs.shape[0], np.int64)
    enough = count_units(gains, demand, units)
    known_cost = costs[chosen].sum()
    useful = marked((units > 0) & (costs <= known_cost))
    unit = common_unit(costs[useful])
    whole, units = costs[useful] // unit, units[useful]
    flags = np.zeros(whole.shape[0], np.bool_)
    status = _exact_in_units(whole, units, enough, known_cost // unit, max_states, flags)
    if status != TOO_LARGE:
        chosen[:] = False
        chosen[useful] = flags
    return status


def _answer(costs: Array, chosen: Array, feasible: bool) -> tuple[list[int], float, bool]:
    return np.flatnonzero(chosen).tolist(), inputs.total(costs[chosen]), feasible


def cover_greedy(costs: Numbers, gains: Numbers, demand: float) -> tuple[list[int], float, bool]:
    """Reach a demand cheaply: the greedy algorithm GA for the minimum knapsack.

    Items in order of increasing ``cost / gain`` (as 64-bit floats), ties by the lowest index.
    An item that leaves the sum of gains below the demand is small, and stays; one that would
    reach it is big, and makes a candidate of itself and the small items before it. The
    cheapest candidate wins, of equally cheap ones that with the big item of lowest index. It
    costs at most twice the optimum.

    Parameters
    ----------
    costs : array of int or float
        Not negative. Whole numbers are added up exactly.
    gains : array of float
        What an item adds towards the demand; items with a gain of 0 or less are never used.
    demand : float
        Sum of gains to be reached. Gains are counted in whole units of about 10**-15 of the
        demand and a shortfall of about 10**-12 of it is forgiven, so that the order of
        summation never decides.

    Returns
    -------
    indices : list of int
        The set, ascending; all items if even these do not reach the demand.
    cost : int or float
        Its cost: an int if the costs are.
    feasible : bool
        Whether it reaches the demand.

    References
    ----------
    Jain, Gujar, Bhat, Zoeter, Narahari (2015), "An incentive compatible multi-armed-bandit
    crowdsourcing mechanism with quality assurance", section 6.2.1.
    Csirik, Frenk, Labbe, Zhang (1990), "Heuristics for the 0-1 min-knapsack problem".

    Examples
    --------
    >>> from askwise.kernels.knapsack import cover_greedy
    >>> cover_greedy([1, 10, 4], [1.0, 5.0, 1.5], 5.0)
    ([0, 1], 11, True)
    """
    price, gain, target = inputs.cover(costs, gains, demand)
    chosen = np.zeros(len(price), np.bool_)
    feasible = bool(cover_greedy_into(price, gain, target, chosen))
    return _answer(price, chosen, feasible)


def cover_exact(costs: Numbers, gains: Numbers, demand: float) -> tuple[list[int], float, bool]:
    """Reach a demand at the least cost.

    Parameters, comparison with the demand and return values as in :func:`cover_greedy`. Of
    several cheapest sets the one whose ascending list of indices comes first. Whole costs are
    compared exactly; floats are counted in whole units of 2**-60 of the sum of the costs that
    do not exceed the greedy set's.

    Raises
    ------
    TooLarge
        One of the knapsacks to be solved takes more than ``states.MAX_STATES`` states.

    Examples
    --------
    >>> from askwise.kernels.knapsack import cover_exact
    >>> cover_exact([1, 10, 4], [1.0, 5.0, 1.5], 5.0)
    ([1], 10, True)
    """
    price, gain, target = inputs.cover(costs, gains, demand)
    chosen = np.zeros(len(price), np.bool_)
    feasible = bool(cover_greedy_into(price, gain, target, chosen))
    if not feasible or target <= 0.0:
        return _answer(price, chosen, feasible)
    whole = price
    if price.dtype.kind == "f":
        # Without those that are more expensive than the greedy set, the units of money are finer.
        within = price <= math.fsum(price[chosen])
        gain, whole = np.where(within, gain, 0.0), inputs.in_units(np.where(within, price, 0.0))
    for max_states in states.allowances():
        if cover_exact_into(whole, gain, target, max_states, chosen) != TOO_LARGE:
            return _answer(price, chosen, True)
    raise TooLarge(
        f"costs: the cheapest set among {len(price)} takes more than "
        f"{states.MAX_STATES} states; cover_greedy has no such limit",
        field="costs",
    )
