"""GA, the greedy algorithm for the minimum knapsack (000, 6.2.1), and how it counts gains."""

import math

import numpy as np

from askwise.core.compiling import kernel, step
from askwise.kernels.knapsack.inputs import SUM_BITS, Array
from askwise.kernels.knapsack.ordering import ascending, marked, pop_first, precedes, sift

# A demand is between 2**49 and 2**50 units, less if the sum of all gains would overflow.
_DEMAND_BITS = 50
_FORGIVEN_BITS = 40
_LARGEST_SHIFT = 1000

_CLOSE = (1.25, 2.0)
"""By how much the ratios of the first small items exceed the lowest, as a rule."""

_SCANS = 8
"""How often the next small item is looked for among all before the rest is put in order."""


@step
def scale_of(size: int, demand: float) -> tuple[int, int, float, float]:
    """How gains of this many items are counted in whole units.

    Returns the units of the whole demand, those that are enough, and what to multiply a gain by:
    two powers of two, as that for a demand next to nothing is beyond a float. Such a product is
    exact, and far quicker than ``ldexp`` for each gain.
    """
    bits = _DEMAND_BITS
    while (size >> (SUM_BITS - bits)) > 0:
        bits -= 1
    shift = bits - math.frexp(demand)[1]
    whole = math.floor(math.ldexp(demand, shift) + 0.5)
    first = math.ldexp(1.0, min(shift, _LARGEST_SHIFT))
    second = math.ldexp(1.0, max(0, shift - _LARGEST_SHIFT))
    return whole, whole - (1 << (bits - _FORGIVEN_BITS)), first, second


@step
def in_units(gain: float, demand: float, whole: int, first: float, second: float) -> int:
    """A gain in whole units, at most those of the demand; 0 if it is useless."""
    if gain >= demand:
        return whole
    return math.floor(gain * first * second + 0.5) if gain > 0.0 else 0


@kernel
def count_units(gains: Array, demand: float, units: Array) -> int:
    """Turn gains into whole units, useless ones into 0; return the units that are enough."""
    whole, enough, first, second = scale_of(gains.shape[0], demand)
    for i in range(gains.shape[0]):
        units[i] = in_units(gains[i], demand, whole, first, second)
    return enough


@kernel
def by_ratio(costs: Array, gains: Array, units: Array) -> Array:
    """The items that have units, in order of cost / gain, ties by the lowest index."""
    useful = marked(units)
    return useful[ascending(costs[useful] / gains[useful])]


@step
def _heap_up(heap: Array, size: int, ratios: Array) -> None:
    """Make a heap of the first ``size`` items."""
    for place in range(size // 2 - 1, -1, -1):
        sift(heap, size, ratios, place)


@step
def _limit(ratios: Array, units: Array, lowest: float, enough: int) -> float:
    """A ratio up to which there are enough units: not far above the lowest, if that will do."""
    for close in _CLOSE:
        limit = close * lowest
        within = 0
        for j in range(ratios.shape[0]):
            within += units[j] if ratios[j] <= limit else 0
        if within >= enough:
            return limit
    return math.inf


@step
def _scan(ratios: Array, units: Array, costs: Array, last: int, missing: int) -> tuple[int, int]:
    """Find the next small item after ``last`` and the cheapest big one that comes before it.

    Big ones have all the units that are missing. -1 stands for none.
    """
    small = big = -1
    for j in range(ratios.shape[0]):
        if units[j] >= missing:
            if (big < 0 or costs[j] < costs[big]) and precedes(ratios, last, j):
                big = j
        elif small >= 0 and precedes(ratios, small, j):
            continue
        elif units[j] > 0 and precedes(ratios, last, j):
            small = j
    if small < 0 or big < 0 or precedes(ratios, big, small):
        return small, big
    big = -1
    for j in range(ratios.shape[0]):
        if units[j] < missing or (big >= 0 and costs[j] >= costs[big]):
            continue
        if precedes(ratios, last, j) and precedes(ratios, j, small):
            big = j
    return small, big


@kernel
def cover_greedy_into(costs: Array, gains: Array, demand: float, chosen: Array) -> bool:
    """Mark the greedy set in ``chosen``; return whether it reaches the demand.

    For use inside other kernels: nothing is checked. Costs are int64 or float64 and not
    negative, gains float64 and finite, chosen an array of bool of the same length.
    """
    return cover_greedy_among(costs, gains, gains.shape[0], demand, chosen)


@kernel
def cover_greedy_among(costs: Array, gains: Array, size: int, demand: float, chosen: Array) -> bool:
    """As ``cover_greedy_into``, where ``size`` of the items count and the others have no gain.

    What is found is what would be found among those alone.

    Few items of many are in the set as a rule, so they are not sorted: a heap of those with low
    ratios yields them in order as long as they are small, and the cheapest of those that complete
    the set is looked for.
    """
    n = costs.shape[0]
    chosen[:] = demand > 0.0
    if demand <= 0.0:
        return True
    units, ratios = np.empty(n, np.int64), np.empty(n, np.float64)
    whole, enough, first, second = scale_of(size, demand)
    total = 0
    lowest = math.inf
    for j in range(n):
        units[j] = in_units(gains[j], demand, whole, first, second)
        ratios[j] = costs[j] / gains[j] if units[j] > 0 else math.inf
        lowest = min(lowest, ratios[j])
        total += units[j]
    if total < enough:
        return False

    # The small items up to the first big one, which there is, because there are enough units.
    heap, small = np.empty(n, np.int64), np.empty(n, np.int64)
    limit = _limit(ratios, units, lowest, enough)
    left = 0
    for j in range(n):
        if ratios[j] <= limit and units[j] > 0:
            heap[left] = j
            left += 1
    _heap_up(heap, left, ratios)
    taken = small_units = 0
    small_cost = costs[0] - costs[0]
    best = pop_first(heap, left, ratios)
    left -= 1
    while small_units + units[best] < enough:
        small_units += units[best]
        small_cost += costs[best]
        small[taken] = best
        taken += 1
        best = pop_first(heap, left, ratios)
        left -= 1
    best_taken, best_cost = taken, small_cost + costs[best]

    # On to the next small one again and again, until those alone cost more than the best set.
    last, going = best, True
    for _ in range(_SCANS):
        following, big = _scan(ratios, units, costs, last, enough - small_units)
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
    if going:
        # Rarely there are many: then all that are left in order, which costs n log n at most.
        left = 0
        for j in range(n):
            if units[j] > 0 and precedes(ratios, last, j):
                heap[left] = j
                left += 1
        _heap_up(heap, left, ratios)
    while going and left > 0:
        j = pop_first(heap, left, ratios)
        left -= 1
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
