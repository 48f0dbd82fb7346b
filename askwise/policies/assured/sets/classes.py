"""A cheap set by classes of qualities: always found, and truthful where it is paid for by Clarke.

Workers are put into a few classes by their qualities, and each counts with the lowest quality of
their class. A set's error then depends only on how many of each class are in it, and the cheapest
set with such numbers consists of the cheapest of each class: so all numbers can be tried. Besides
them the smallest set of the most able that keeps the limit is looked at, so that a set is found
wherever there is one.

Which classes there are, and which numbers are tried, is settled by the qualities alone, never by
costs. The set is therefore the cheapest of a range of sets that no bid has a bearing on, and what
:func:`askwise.policies.assured.sets.bids.critical_bids_by_classes` pays makes it a dominant
strategy to ask for one's cost (N. Nisan, A. Ronen, "Computationally feasible VCG mechanisms",
2007: maximal in range).
"""

import math
from typing import NamedTuple

import numpy as np

from askwise.core.compiling import heavy_kernel
from askwise.kernels.knapsack.inputs import Array
from askwise.kernels.knapsack.ordering import ascending, marked
from askwise.policies.assured.sets import codes
from askwise.policies.assured.sets.base import Target
from askwise.policies.assured.sets.pools import are_useful
from askwise.policies.assured.sets.probability import Goal, error_by_code, prefix_error
from askwise.policies.assured.sets.search import FOUND, NONE

NOBODY = -1
"""In place of a worker who is left out."""

MOST_CLASSES = 16
MOST_WORK = 1 << 23
"""Elementary operations that trying all numbers may take: some 10 ms, a second or two plain."""


class Classes(NamedTuple):
    """Workers of use, the most able first, with the quality that each counts with.

    ``first`` says for each class where it begins among them, and where the last ends; sets of
    ``least`` to ``most`` workers are tried.
    """

    order: Array
    counted: Array
    first: Array
    least: int
    most: int


@heavy_kernel
def step_of(code: int) -> int:
    """By these an even set is never cheaper than the best odd one within it."""
    return 2 if code in (codes.MAJORITY, codes.MOST_LIKELY) else 1


@heavy_kernel
def shortest(target: Target, q: Array) -> int:
    """How many of ``q``, the most able first, keep the limit; -1 if no number does."""
    limit = target.alpha * (1.0 + codes.FORGIVEN)
    pmf = np.empty(q.shape[0] + 1, np.float64)
    for size in range(1, q.shape[0] + 1):
        if target.code == codes.MAJORITY:
            error = prefix_error(target.code, target.ties, q, size, pmf)
        else:
            error = error_by_code(target.code, target.epsilon, target.ties, q[:size])
        if error <= limit:
            return size
    return -1


@heavy_kernel
def work_of(least: int, most: int, step: int, classes: int) -> float:
    """About how much it takes to try all numbers of this many classes."""
    total = 0.0
    for size in range(least, most + 1, step):
        ways = 1.0
        for k in range(1, classes):
            ways *= (size + k) / k
        total += ways * (8.0 + 0.25 * size * size)
    return total


@heavy_kernel
def _cut(number: Array, different: int, wanted: int) -> Array:
    """Where up to this many classes begin, and where the last ends.

    Narrow for the most able, ever wider for the others: a cheap set has more of the first.
    """
    count = number.shape[0]
    first = np.zeros(wanted + 1, np.int64)
    found = 0
    for i in range(1, count):
        if wanted == different:
            new = number[i] != number[i - 1]
        else:
            scale = wanted / math.log(different + 1.0)
            before = math.floor(scale * math.log(number[i - 1] + 1.0))
            new = math.floor(scale * math.log(number[i] + 1.0)) != before
        if new:
            found += 1
            first[found] = i
    first[found + 1] = count
    return first[: found + 2]


@heavy_kernel
def classes_of(target: Target, q: Array) -> Classes:
    """The finest classes whose numbers can all be tried; none if no set of them keeps the limit."""
    goal = Goal(target.code, target.ties, target.alpha)
    order = marked(are_useful(goal, q))
    order = order[ascending(-q[order])]
    top = q[order]
    count = top.shape[0]
    # The number of each worker's quality among the different ones.
    number = np.zeros(count, np.int64)
    for i in range(1, count):
        number[i] = number[i - 1] + int(top[i] != top[i - 1])
    different = number[count - 1] + 1 if count > 0 else 0
    step = step_of(target.code)
    counted = top.copy()
    for wanted in range(min(different, MOST_CLASSES), 0, -1):
        first = _cut(number, different, wanted)
        found = first.shape[0] - 1
        for k in range(found):
            counted[first[k] : first[k + 1]] = top[first[k + 1] - 1]
        least = shortest(target, counted)
        if least < 0:
            break
        # Cheap workers may be worth a larger set than the most able make up.
        most = min(count, least + least // 2 + 2)
        if found == 1 or work_of(least, most, step, found) <= MOST_WORK:
            return Classes(order, counted, first, least, most)
    return Classes(order, counted, np.zeros(1, np.int64), 0, -1)


@heavy_kernel
def find_by_classes(target: Target, costs: Array, q: Array, out: int, chosen: Array) -> int:
    """Mark the cheapest set of the range that is without ``out``; return FOUND, or NONE.

    Costs are int64 and not negative. Of sets that cost the same it is the smallest, and the one
    with more of the first classes.
    """
    chosen[:] = False
    limit = target.alpha * (1.0 + codes.FORGIVEN)
    if error_by_code(target.code, target.epsilon, target.ties, q[:0]) <= limit:
        return FOUND
    classes = classes_of(target, q)
    order, first = classes.order, classes.first
    count = first.shape[0] - 1
    best = int(np.int64(-1))
    # The most able, whatever they cost.
    enough = shortest(target, q[order])
    if enough > 0 and not (order[:enough] == out).any():
        chosen[order[:enough]] = True
        best = costs[order[:enough]].sum()
    # Of each class the cheapest first, and what each number of them costs.
    ranked = order.copy()
    sums = np.zeros(order.shape[0] + 1, np.int64)
    room = np.zeros(max(1, count), np.int64)
    for k in range(count):
        members = order[first[k] : first[k + 1]]
        members = members[members != out]
        members = np.sort(members)
        members = members[ascending(costs[members])]
        room[k] = members.shape[0]
        total = 0
        for i in range(members.shape[0]):
            ranked[first[k] + i] = members[i]
            total += costs[members[i]]
            sums[first[k] + i] = total
    taken = np.zeros(max(1, count), np.int64)
    winner = taken.copy()
    found = False
    profile = np.empty(max(1, classes.most), np.float64)
    for size in range(classes.least, classes.most + 1, step_of(target.code)):
        # As many as there are of the first classes, then ever fewer of them.
        left = size
        for k in range(count):
            taken[k] = min(room[k], left)
            left -= taken[k]
        while left == 0:
            cost = 0
            for k in range(count):
                if taken[k] > 0:
                    cost += sums[first[k] + taken[k] - 1]
            if best < 0 or cost < best:
                at = 0
                for k in range(count):
                    for _ in range(taken[k]):
                        profile[at] = classes.counted[first[k]]
                        at += 1
                error = error_by_code(target.code, target.epsilon, target.ties, profile[:size])
                if error <= limit:
                    best = cost
                    winner[:] = taken
                    found = True
            left = _take_next(taken, room)
    if found:
        chosen[:] = False
        for k in range(count):
            chosen[ranked[first[k] : first[k] + winner[k]]] = True
    return FOUND if best >= 0 else NONE


@heavy_kernel
def _take_next(taken: Array, room: Array) -> int:
    """Turn numbers into the next with the same sum; returns 1 if these were the last.

    One fewer of the last class of which some are taken and that has room behind it; what is then
    taken of later classes is as much as possible of the earlier ones.
    """
    free = 0
    moved = 0
    for k in range(taken.shape[0] - 1, -1, -1):
        if taken[k] > 0 and free > 0:
            taken[k] -= 1
            moved += 1
            for later in range(k + 1, taken.shape[0]):
                taken[later] = min(room[later], moved)
                moved -= taken[later]
            return 0
        moved += taken[k]
        free += room[k] - taken[k]
    return 1
