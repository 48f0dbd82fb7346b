"""The bounded knapsack to optimality, fast enough to be solved at every step of a campaign.

The linear optimum takes all of the densest types and a part of one, the break type. Every
plan differs from it by units removed of denser types, units added of less dense ones, units
of the break type (which cost nothing by the linear bound) and capacity left unused; each
difference costs a loss of zero or more. So the loss of any known plan bounds the differences
worth looking at.

1. Greedy, and then the best plan with at most two single units removed or added.
2. Residues. Ignoring limits, what differences cost depends only on the weight they free
   modulo the break type's weight: a shortest path over this many residues, each type taken
   around its cycles (as in Boecker and Liptak's round robin). If the cheapest plan keeps
   within the limits it is optimal; if it is no better than the known plan, that one is.
3. States. Otherwise the units that may differ are cut into pieces of 1, 2, 4, ... units and
   the 0-1 knapsack is solved by :mod:`askwise.kernels.knapsack.states`.
"""

import math

import numpy as np

from askwise.core.compiling import kernel
from askwise.core.errors import TooLarge
from askwise.kernels.knapsack import inputs, states
from askwise.kernels.knapsack.inputs import Array, Limits, Numbers
from askwise.kernels.knapsack.ordering import ascending, common_unit
from askwise.kernels.knapsack.residues import MAX_CELLS, LinearOptimum, best_without_limits
from askwise.kernels.knapsack.states import IMPROVED, TOO_LARGE, best_subset

# Differences below this share of the plan's value are rounding, and not pursued.
_ROUNDING = 1e-12
# Types on either side of the break type that are tried in pairs.
_NEAR = 12


@kernel
def _freed(w: Array, b: int, i: int) -> int:
    """Weight that one unit of difference in type ``i`` leaves to the break type."""
    if i == b:
        return 0
    return int(w[i] if i < b else -w[i])


@kernel
def _by_pairs(linear: LinearOptimum, known_loss: float, plan: Array) -> float:
    """Try all plans that differ in at most two units; return the lowest loss and its plan."""
    _, w, limits, loss, b, density, left_over = linear
    n = w.shape[0]
    end = min(n, b + _NEAR + 1)
    one = two = -1
    for i in range(max(0, b - _NEAR), end):
        for k in range(i, end):
            total = loss[i] + loss[k]
            room = left_over + _freed(w, b, i) + _freed(w, b, k)
            if total >= known_loss or room < 0 or (i == k and i != b and limits[i] < 2):
                continue
            total += density * (room - min(limits[b], room // w[b]) * w[b])
            if total < known_loss:
                known_loss = total
                one = i
                two = k
    if one >= 0:
        for i in range(n):
            plan[i] = limits[i] if i < b else 0
        for i in (one, two):
            plan[i] += 1 if i > b else -1
        room = left_over + _freed(w, b, one) + _freed(w, b, two)
        plan[b] = min(limits[b], room // w[b])
    return known_loss


@kernel
def _free_units(linear: LinearOptimum, known_loss: float) -> tuple[Array, int]:
    """Count the units by which a better plan can differ, per type.

    Of types before the break type these are units to be removed, after it units to be added;
    of the break type they come on top of a number that every better plan has, returned too.
    """
    _, w, limits, loss, b, density, left_over = linear
    n = w.shape[0]
    free = np.empty(n, np.int64)
    capacity = left_over
    for i in range(b):
        capacity += limits[i] * w[i]
    # Weight that can be freed before the break type and taken up after it: at most the sum
    # over the types, at most the loss allowed times the best rate of weight per loss.
    sums = np.zeros(2, np.int64)
    rates = np.zeros(2, np.float64)
    for i in range(n):
        free[i] = limits[i]
        if loss[i] * limits[i] > known_loss:
            free[i] = min(limits[i], int(known_loss / loss[i]))
        if i != b and free[i] > 0:
            side = 0 if i < b else 1
            sums[side] = min(capacity, sums[side] + free[i] * w[i])
            rates[side] = max(rates[side], w[i] / loss[i] if loss[i] > 0.0 else math.inf)
    for side in range(2):
        if rates[side] * known_loss < sums[side]:
            sums[side] = min(sums[side], int(rates[side] * known_loss) + 1)
    unused = left_over
    if density * left_over > known_loss:
        unused = min(left_over, int(known_loss / density) + 1)
    lowest = max(0, left_over - unused - sums[1]) // w[b]
    free[b] = min(limits[b], (left_over + sums[0]) // w[b]) - lowest
    return free, lowest


@kernel
def _by_states(
    linear: LinearOptimum,
    known_loss: float,
    known_value: float,
    loss_bound: float,
    max_states: int,
    plan: Array,
) -> int:
    """Look for a plan better than the known one by pieces of units; ``plan`` receives it."""
    v, w, limits, _, b, density, left_over = linear
    n = w.shape[0]
    free, lowest = _free_units(linear, known_loss)
    count = 0
    for i in range(n):
        units = free[i]
        while units > 0:
            count += 1
            units //= 2
    weights = np.empty(count, np.int64)
    values = np.empty(count, np.float64)
    types = np.empty(count, np.int64)
    sizes = np.empty(count, np.int64)
    chosen = np.empty(count, np.bool_)
    room = left_over
    fixed_value = 0.0
    linear_value = left_over * density
    piece = 0
    for i in range(n):
        plan[i] = 0
        if i < b:
            plan[i] = limits[i] - free[i]
            room += free[i] * w[i]
            linear_value += limits[i] * v[i]
        elif i == b:
            plan[i] = lowest
            room -= lowest * w[i]
        fixed_value += plan[i] * v[i]
        units = free[i]
        size = 1
        while units > 0:
            size = min(size, units)
            weights[piece] = size * w[i]
            values[piece] = size * v[i]
            types[piece] = i
            sizes[piece] = size
            piece += 1
            units -= size
            size *= 2
    slack = _ROUNDING * known_value
    best, enough = known_value - fixed_value, linear_value - loss_bound - fixed_value - slack
    status = best_subset(weights, values, room, best, enough, slack, max_states, chosen)
    if status == IMPROVED:
        for piece in range(count):
            if chosen[piece]:
                plan[types[piece]] += sizes[piece]
    return status


@kernel
def _exact(
    values: Array, weights: Array, limits: Array, capacity: int, max_states: int, counts: Array
) -> int:
    useful = np.empty(values.shape[0], np.int64)
    n = 0
    top = 0.0
    for i in range(values.shape[0]):
        counts[i] = 0
        if values[i] > 0.0 and limits[i] > 0 and weights[i] <= capacity:
            useful[n] = i
            n += 1
            top = max(top, values[i])
    if n == 0:
        return 0
    # Values near the ends of the range of floats are moved to its middle, without rounding.
    scale = 1.0
    if top < 1e-100 or top > 1e100:
        scale = math.ldexp(1.0, max(-1000, min(1000, -math.frexp(top)[1])))
    densities = np.empty(n, np.float64)
    for k in range(n):
        densities[k] = -(scale * values[useful[k]] / weights[useful[k]])
    # From here on types are in order of density, and weights are without their divisor.
    types = useful[ascending(densities)]
    divisor = common_unit(weights[types])
    v = np.empty(n, np.float64)
    w = np.empty(n, np.int64)
    most = np.empty(n, np.int64)
    room = capacity // divisor
    left_over = room
    none = values.shape[0]
    b = none
    for k in range(n):
        i = types[k]
        v[k] = scale * values[i]
        w[k] = weights[i] // divisor
        most[k] = min(limits[i], room // w[k])
        if b == none and most[k] * w[k] > left_over:
            b = k
        if b == none:
            left_over -= most[k] * w[k]
            counts[i] = most[k]
    if b == none:
        return 0

    # The greedy plan, and what each type's units lose against the linear optimum.
    density = float(v[b] / w[b])
    loss = np.zeros(n, np.float64)
    known_loss = known_value = 0.0
    unused = room
    for k in range(n):
        units = min(most[k], unused // w[k])
        unused -= units * w[k]
        counts[types[k]] = units
        known_value += units * v[k]
        if k != b:
            # Rounding may turn a loss of zero into less than zero.
            excess = v[k] - density * w[k]
            loss[k] = max(0.0, excess if k < b else -excess)
            if k > b:
                known_loss += units * loss[k]
    known_loss += density * unused
    if known_loss <= _ROUNDING * known_value:
        return 0

    plan = np.empty(n, np.int64)
    linear = LinearOptimum(v, w, most, loss, b, density, left_over)
    pair_loss = _by_pairs(linear, known_loss, plan)
    if pair_loss < known_loss:
        known_value += known_loss - pair_loss
        known_loss = pair_loss
        for k in range(n):
            counts[types[k]] = plan[k]
        if known_loss <= _ROUNDING * known_value:
            return 0

    core = 1
    for k in range(n):
        if loss[k] < known_loss:
            core += 1
    loss_bound = 0.0
    legal = False
    if w[b] <= MAX_CELLS // core:
        loss_bound, legal = best_without_limits(linear, known_loss, plan)
        if known_loss - loss_bound <= _ROUNDING * known_value:
            return 0
    if not legal:
        status = _by_states(linear, known_loss, known_value, loss_bound, max_states, plan)
        if status == TOO_LARGE:
            return 1
        legal = status == IMPROVED
    if legal:
        for k in range(n):
            counts[types[k]] = plan[k]
    return 0


@kernel
def exact_into(
    values: Array, weights: Array, limits: Array, capacity: int, max_states: int, counts: Array
) -> int:
    """Write an optimal plan into ``counts``; return 0, or 1 if that takes more than ``max_states``.

    For use inside other kernels: nothing is checked. Values are float64 and not negative,
    weights int64 from 1, limits int64 from 0, counts an int64 array of the same length, the
    capacity is from 0 to 2**61. After a return of 1 ``counts`` holds a plan that fits and is
    no worse than the greedy one.
    """
    return _exact(values, weights, limits, capacity, max_states, counts)


def bounded_exact(values: Numbers, weights: Numbers, limits: Limits, capacity: int) -> Array:
    """Fill a knapsack optimally.

    Parameters as in :func:`bounded_greedy`. Of several optimal plans the same one is returned
    every time; worthless types are left out.

    Values are added up as floats: the plan's value is short of the optimum by less than one
    part in 10**9, and differences of up to one part in 10**12 are not pursued.

    Returns
    -------
    array of int64
        Units of each type.

    Raises
    ------
    TooLarge
        More than ``states.MAX_STATES`` states would have to be looked at. Prices in whole
        cents or dollars stay far below; hard are many types of nearly the same density with
        large weights that have no common divisor.

    Examples
    --------
    >>> from askwise.kernels.knapsack import bounded_exact
    >>> bounded_exact([10.0, 7.0], [6, 5], None, 10).tolist()
    [0, 2]
    """
    worth, weight, limit, room = inputs.bounded(values, weights, limits, capacity)
    counts = np.zeros(len(worth), np.int64)
    for max_states in states.allowances():
        if _exact(worth, weight, limit, room, max_states, counts) == 0:
            return counts
    raise TooLarge(
        f"capacity: an exact plan for {len(worth)} types takes more than "
        f"{states.MAX_STATES} states; bounded_greedy has no such limit",
        field="capacity",
    )
