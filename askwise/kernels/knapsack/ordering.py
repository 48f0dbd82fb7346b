"""Sorting and picking: the same compiled and not, quick for a handful of items."""

import math

import numpy as np

from askwise.core.compiling import kernel
from askwise.kernels.knapsack.inputs import Array

_RUN = 32


@kernel
def ascending(keys: Array) -> Array:
    """Return the indices that sort ``keys`` (no NaN) upward, ties by the lowest index."""
    n = keys.shape[0]
    order = np.empty(n, np.int64)
    for start in range(0, n, _RUN):
        for i in range(start, min(n, start + _RUN)):
            hole = i
            while hole > start and keys[order[hole - 1]] > keys[i]:
                order[hole] = order[hole - 1]
                hole -= 1
            order[hole] = i
    merged = np.empty(n if n > _RUN else 0, np.int64)
    width = _RUN
    while width < n:
        for start in range(0, n, 2 * width):
            left = start
            middle = min(n, start + width)
            right = middle
            end = min(n, start + 2 * width)
            for k in range(start, end):
                if right >= end or (left < middle and keys[order[left]] <= keys[order[right]]):
                    merged[k] = order[left]
                    left += 1
                else:
                    merged[k] = order[right]
                    right += 1
        order, merged = merged, order
        width *= 2
    return order


@kernel
def marked(flags: Array) -> Array:
    """The places where ``flags`` is not 0."""
    places = np.empty(flags.shape[0], np.int64)
    count = 0
    for i in range(flags.shape[0]):
        if flags[i]:
            places[count] = i
            count += 1
    return places[:count]


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
