"""Sets in the making: what a search keeps of the workers chosen so far, one row a depth.

A row holds, for ``majority``, how likely x are right (x up to half of the final size); for
``hoeffding`` the sum of 2q - 1; for ``most-likely-error`` the qualities, sorted; for
``weighted-majority`` the probabilities of all answers given either truth, in pairs (the larger
first), the mirror images left out.
"""

import math

import numpy as np

from askwise.core.compiling import heavy_kernel
from askwise.kernels.knapsack.inputs import Array
from askwise.policies.assured.sets import codes
from askwise.policies.assured.sets.probability import Goal

IMPOSSIBLE = 2.0
"""A quality that nobody has."""


@heavy_kernel
def row_start(code: int, size: int, depth: int) -> int:
    """Where the row of a depth begins."""
    if code == codes.MAJORITY:
        return depth * (size // 2 + 1)
    if code == codes.HOEFFDING:
        return depth
    if code == codes.MOST_LIKELY:
        return depth * size
    return 0 if depth == 0 else 1 << depth


@heavy_kernel
def first_rows(code: int, size: int) -> Array:
    """Room for all depths of a search for sets of a size, and the empty set's row in it."""
    rows = np.zeros(row_start(code, size, size) + size // 2 + 2, np.float64)
    if code == codes.MAJORITY:
        rows[0] = 1.0
    elif code != codes.HOEFFDING and code != codes.MOST_LIKELY:
        rows[0] = 0.5
        rows[1] = 0.5
    return rows


@heavy_kernel
def push(code: int, size: int, rows: Array, depth: int, q: float) -> int:
    """Write the row of ``depth + 1``: one more worker. Returns what that took."""
    old = row_start(code, size, depth)
    new = row_start(code, size, depth + 1)
    if code == codes.MAJORITY:
        half = min(size // 2, depth + 1)
        rows[new] = rows[old] * (1.0 - q)
        for x in range(1, half + 1):
            rows[new + x] = rows[old + x] * (1.0 - q) + rows[old + x - 1] * q
        return half + 8
    if code == codes.HOEFFDING:
        rows[new] = rows[old] + (2.0 * q - 1.0)
        return 4
    if code == codes.MOST_LIKELY:
        hole = depth
        while hole > 0 and rows[old + hole - 1] > q:
            rows[new + hole] = rows[old + hole - 1]
            hole -= 1
        rows[new + hole] = q
        for x in range(hole):
            rows[new + x] = rows[old + x]
        return depth + 8
    pairs = 1 if depth == 0 else 1 << (depth - 1)
    p = max(q, 1.0 - q)
    if depth == 0:
        rows[new] = p
        rows[new + 1] = 1.0 - p
        return 8
    for x in range(pairs):
        likely = rows[old + 2 * x]
        unlikely = rows[old + 2 * x + 1]
        rows[new + 4 * x] = likely * p
        rows[new + 4 * x + 1] = unlikely * (1.0 - p)
        one = likely * (1.0 - p)
        other = unlikely * p
        rows[new + 4 * x + 2] = max(one, other)
        rows[new + 4 * x + 3] = min(one, other)
    return 4 * pairs + 8


@heavy_kernel
def last_quality(goal: Goal, size: int, rows: Array) -> float:
    """How able the last worker of a set must be, given the row before them.

    Between 0 and 1 (for ``weighted-majority`` max(q, 1 - q), from 1/2), or IMPOSSIBLE.
    """
    code, ties, limit = goal
    at = row_start(code, size, size - 1)
    if code == codes.MAJORITY:
        half = size // 2
        sure = 0.0
        # What is wrong even if they are right, and what is wrong only if they are wrong.
        if size % 2 == 1:
            open_ = rows[at + half]
            for x in range(half):
                sure += rows[at + x]
        else:
            open_ = (1.0 - ties) * rows[at + half - 1] + ties * rows[at + half]
            for x in range(half - 1):
                sure += rows[at + x]
            sure += ties * rows[at + half - 1]
        if sure > limit:
            return IMPOSSIBLE
        return max(0.0, 1.0 - (limit - sure) / open_) if open_ > 0.0 else 0.0
    if code == codes.HOEFFDING:
        margin = math.sqrt(max(0.0, -2.0 * size * math.log(limit)))
        return max(0.0, 0.5 * (1.0 + margin - rows[at]))
    if code == codes.MOST_LIKELY:
        half = (size + 1) // 2
        product = 1.0
        for x in range(half - 1):
            product *= 1.0 - rows[at + x]
        if half < size and product * (1.0 - rows[at + half - 1]) > limit:
            return IMPOSSIBLE
        return 1.0 - limit / product if product > limit else 0.0
    return _last_strength(limit, size, rows, at)


@heavy_kernel
def _last_strength(limit: float, size: int, rows: Array, at: int) -> float:
    """As above for ``weighted-majority``.

    If they are wrong with probability u the error is the sum of min(m, u (M + m)) over the pairs:
    concave in u, so tangents lead to the largest u from below.
    """
    pairs = 1 if size == 1 else 1 << (size - 2)
    u = 0.0
    while True:
        error = slope = 0.0
        for x in range(pairs):
            both = rows[at + 2 * x] + rows[at + 2 * x + 1]
            if both * u < rows[at + 2 * x + 1]:
                error += both * u
                slope += both
            else:
                error += rows[at + 2 * x + 1]
        if slope <= 0.0 or u >= 0.5:
            return 0.5
        step = (limit - error) / slope
        if step <= 1e-15:
            return 1.0 - u
        u += step
