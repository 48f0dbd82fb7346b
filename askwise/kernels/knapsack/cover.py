"""The minimum knapsack: the cheapest set of workers whose gains reach a demand.

How gains are added up and compared is the same everywhere here: each gain is counted in
whole units of about 10**-15 of the demand (coarser from a thousand items on), and a
shortfall of about 10**-12 of the demand is forgiven. So whether a set reaches the demand
depends neither on the order of summation nor on the last bit of a gain.
"""

import math

import numpy as np

from askwise.core.compiling import kernel, step
from askwise.core.errors import TooLarge
from askwise.kernels.knapsack import inputs, states
from askwise.kernels.knapsack.inputs import SUM_BITS, Array, Numbers
from askwise.kernels.knapsack.ordering import (
    ascending,
    common_unit,
    marked,
    pop_first,
    precedes,
    sift,
)
from askwise.kernels.knapsack.states import IMPROVED, TOO_LARGE, best_subset

# A demand is between 2**49 and 2**50 units, less if the sum of all gains would overflow.
_DEMAND_BITS = 50
_FORGIVEN_BITS = 40
_LARGEST_SHIFT = 1000

# Looking for the next small item among all is cheaper than sorting them, so many times at most.
_SCANS = 8

_FREE = 0
_IN = 1
_OUT = 2


@kernel
def count_units(gains: Array, demand: float, units: Array) -> int:
    """Turn gains into whole units, useless ones into 0; return the units that are enough."""
    bits = _DEMAND_BITS
    size = gains.shape[0]
    while (size >> (SUM_BITS - bits)) > 0:
        bits -= 1
    shift = bits - math.frexp(demand)[1]
    whole = math.floor(math.ldexp(demand, shift) + 0.5)
    # Multiplying by a power of two is exact, and far quicker than `ldexp` for each gain. Where the
    # factor itself is beyond a float (shifts of a demand next to nothing), it takes two.
    first = math.ldexp(1.0, min(shift, _LARGEST_SHIFT))
    second = math.ldexp(1.0, max(0, shift - _LARGEST_SHIFT))
    for i in range(size):
        units[i] = 0
        if gains[i] >= demand:
            units[i] = whole
        elif gains[i] > 0.0:
            units[i] = math.floor(gains[i] * first * second + 0.5)
    return whole - (1 << (bits - _FORGIVEN_BITS))


@kernel
def by_ratio(costs: Array, gains: Array, units: Array) -> Array:
    """The items that have units, in order of cost / gain, ties by the lowest index."""
    useful = marked(units)
    return useful[ascending(costs[useful] / gains[useful])]


@step
def _scan(
    heap: Array, size: int, ratios: Array, units: Array, costs: Array, last: int, missing: int
) -> tuple[int, int]:
    """Find the next small item after ``last`` and the cheapest big one that comes before it.

    Big ones have all the units that are missing. -1 stands for none.
    """
    small = big = -1
    for place in range(size):
        j = heap[place]
        is_next = small < 0 or precedes(ratios, j, small)
        if units[j] < missing and is_next and precedes(ratios, last, j):
            small = j
    for place in range(size):
        j = heap[place]
        is_best = big < 0 or costs[j] < costs[big] or (costs[j] == costs[big] and j < big)
        if units[j] < missing or not is_best or not precedes(ratios, last, j):
            continue
        if small < 0 or precedes(ratios, j, small):
            big = j
    return small, big


@kernel
def cover_greedy_into(costs: Array, gains: Array, demand: float, chosen: Array) -> bool:
    """Mark the greedy set in ``chosen``; return whether it reaches the demand.

    For use inside other kernels: nothing is checked. Costs are int64 or float64 and not
    negative, gains float64 and finite, chosen an array of bool of the same length.

    Few items of many are in the set as a rule, so they are not sorted: a heap yields them in order
    as long as they are small, and the cheapest of those that complete the set is looked for.
    """
    n = costs.shape[0]
    chosen[:] = demand > 0.0
    if demand <= 0.0:
        return True
    units, ratios = np.empty(n, np.int64), np.empty(n, np.float64)
    heap, small = np.empty(n, np.int64), np.empty(n, np.int64)
    enough = count_units(gains, demand, units)
    size = total = 0
    for j in range(n):
        if units[j] > 0:
            ratios[j] = costs[j] / gains[j]
            heap[size] = j
            size += 1
            total += units[j]
    if total < enough:
        return False
    for place in range(size // 2 - 1, -1, -1):
        sift(heap, size, ratios, place)

    # The small items up to the first big one, which there is, as all together are enough.
    taken = small_units = 0
    small_cost = costs[0] - costs[0]
    best = pop_first(heap, size, ratios)
    size -= 1
    while small_units + units[best] < enough:
        small_units += units[best]
        small_cost += costs[best]
        small[taken] = best
        taken += 1
        best = pop_first(heap, size, ratios)
        size -= 1
    best_taken, best_cost = taken, small_cost + costs[best]

    # On to the next small one again and again, until those alone cost more than the best set.
    last, going = best, True
    for _ in range(_SCANS):
        following, big = _scan(heap, size, ratios, units, costs, last, enough - small_units)
        if big >= 0:
            cost = small_cost + costs[big]
            if cost < best_cost or (cost == best_cost and big < best):
                best, best_taken, best_cost = big, taken, cost
        going = following >= 0
        if not going:
            break
        last = following
        small_units += units[last]
        small_cost += costs[last]
        small[taken] = last
        taken += 1
        going = small_cost <= best_cost
        if not going:
            break
    # Rarely there are many: then one after the other, which keeps the worst case at n log n.
    while going and size > 0:
        j = pop_first(heap, size, ratios)
        size -= 1
        if not precedes(ratios, last, j):
            continue
        cost = small_cost + costs[j]
        if small_units + units[j] < enough:
            small_units += units[j]
            small_cost = cost
            small[taken] = j
            taken += 1
            going = small_cost <= best_cost
        elif cost < best_cost or (cost == best_cost and j < best):
            best, best_taken, best_cost = j, taken, cost

    chosen[:] = False
    for place in range(best_taken):
        chosen[small[place]] = True
    chosen[best] = True
    return True


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
        # Without those that are dearer than the greedy set, the units of money are finer.
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
