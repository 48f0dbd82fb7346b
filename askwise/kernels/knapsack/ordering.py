"""Sorting and picking: the same compiled and not."""

import math

import numpy as np

from askwise.core.compiling import kernel, step
from askwise.kernels.knapsack.inputs import Array


@kernel
def ascending(keys: Array) -> Array:
    """Return the indices that sort ``keys`` (no NaN) upward, ties by the lowest index."""
    return np.argsort(keys, kind="mergesort")


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
