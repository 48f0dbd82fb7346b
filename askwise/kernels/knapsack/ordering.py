"""Sorting and picking: the same compiled and not."""

import math

import numpy as np

from askwise.core.compiling import PLAIN, kernel, step
from askwise.kernels.knapsack.inputs import Array

_SHORT = 16
"""Runs of this many are sorted by insertion."""


def _in_order(keys: Array) -> Array:
    return np.argsort(keys, kind="stable")


@step
def _comes_before(one: float, other: float) -> bool:
    """Whether a key is smaller; a NaN comes after all numbers."""
    return bool(one < other or (one == one and other != other))


def _merged(keys: Array) -> Array:
    """Find what ``np.argsort`` finds; Numba's own takes several times as long to compile."""
    count = keys.shape[0]
    order, other = np.empty(count, np.int64), np.empty(count, np.int64)
    for first in range(0, count, _SHORT):
        for at in range(first, min(first + _SHORT, count)):
            to = at
            while to > first and _comes_before(keys[at], keys[order[to - 1]]):
                order[to] = order[to - 1]
                to -= 1
            order[to] = at
    width = _SHORT
    while width < count:
        for first in range(0, count, 2 * width):
            left, middle = first, min(first + width, count)
            right, end = middle, min(first + 2 * width, count)
            for to in range(first, end):
                if right == end or (
                    left < middle and not _comes_before(keys[order[right]], keys[order[left]])
                ):
                    other[to] = order[left]
                    left += 1
                else:
                    other[to] = order[right]
                    right += 1
        order, other = other, order
        width *= 2
    return order


if not PLAIN:
    from numba.extending import overload

    @overload(_in_order)  # type: ignore[untyped-decorator]
    def _compiled_order(keys: Array) -> object:
        return _merged


@kernel
def ascending(keys: Array) -> Array:
    """Return the indices that sort ``keys`` upward, ties by the lowest index."""
    return _in_order(keys)


@step
def precedes(ratios: Array, one: int, other: int) -> bool:
    """Whether an item comes before another: by ratio, ties by the lowest index."""
    return bool(ratios[one] < ratios[other] or (ratios[one] == ratios[other] and one < other))


@step
def sift(heap: Array, size: int, ratios: Array, place: int) -> None:
    """Move the item at a place of a heap down to where it belongs."""
    item = heap[place]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and precedes(ratios, heap[child + 1], heap[child]):
            child += 1
        if precedes(ratios, item, heap[child]):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = item


@step
def pop_first(heap: Array, size: int, ratios: Array) -> int:
    """Take the first item off a heap of ``size``."""
    first = heap[0]
    heap[0] = heap[size - 1]
    sift(heap, size - 1, ratios, 0)
    return first


@kernel
def marked(flags: Array) -> Array:
    """The places where ``flags`` is not 0."""
    return np.flatnonzero(flags)


@kernel
def ratios_of(costs: Array, gains: Array) -> Array:
    """Cost by gain, infinite where there is no gain."""
    ratios = np.empty(costs.shape[0], np.float64)
    for i in range(costs.shape[0]):
        ratios[i] = costs[i] / gains[i] if gains[i] > 0.0 else math.inf
    return ratios


@kernel
def common_unit(costs: Array) -> int:
    """Return the greatest common divisor of all costs; 1 if they are all 0.

    Coarser money makes for sharper bounds: a set cheaper at all is cheaper by the divisor.
    """
    unit = 0
    for i in range(costs.shape[0]):
        a = costs[i]
        while a != 0:
            unit, a = a, unit % a
    return max(1, unit)
