"""Long columns, a group or a slice at a time: no copy of a whole column is made on the way."""

from collections.abc import Callable, Iterator

import numpy as np

from askwise.core.arrays import Array
from askwise.core.compiling import hurry, kernel, ready

Columns = tuple[Array, ...]

SLICE = 2**18
"""Rows that are looked at together: so few that what is made of them stays in the cache."""

MANY = 2**22
"""Rows from which on they are grouped before they are sorted, some groups at a time."""


def slices(count: int, most: int | None = None) -> Iterator[slice]:
    """Slices of a column, one after the other; of ``SLICE`` rows each, but for the last.

    Examples
    --------
    >>> list(slices(5, most=2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    each = SLICE if most is None else most
    return (slice(first, min(first + each, count)) for first in range(0, count, each))


def group_ranges(starts: Array, most: int | None = None) -> Iterator[tuple[int, int]]:
    """Ranges of groups of this many rows at most (or of one group), one after the other.

    ``starts`` says where the rows of each group begin; its last entry is where the last one ends.

    Examples
    --------
    >>> import numpy as np
    >>> list(group_ranges(np.array([0, 2, 4, 9, 10]), most=4))
    [(0, 2), (2, 3), (3, 4)]
    """
    each = SLICE if most is None else most
    first, groups = 0, len(starts) - 1
    while first < groups:
        last = int(np.searchsorted(starts, starts[first] + each, side="right")) - 1
        last = min(max(last, first + 1), groups)
        yield first, last
        first = last


def counted(codes: Array, size: int, weights: Array | None = None) -> Array:
    """How often each code occurs, or the sum of its weights."""
    found = np.zeros(size, np.int64 if weights is None else np.float64)
    # No shorter than what is counted: a slice takes as much time as it has codes, or there are.
    for here in slices(len(codes), max(SLICE, size)):
        found += np.bincount(codes[here], None if weights is None else weights[here], size)
    return found


def numbered(cells_in: Callable[[slice], Array], count: int, cells: int) -> tuple[Array, Array]:
    """Number the cells of a table in which rows fall: the number of each row, and the cells.

    ``cells_in`` says in which of the ``cells`` the rows of a slice fall, ``count`` how many rows
    there are.

    Examples
    --------
    >>> import numpy as np
    >>> fall = np.array([7, 2, 7])
    >>> numbers, used = numbered(lambda here: fall[here], 3, 10)
    >>> numbers.tolist(), used.tolist()
    ([1, 0, 1], [2, 7])
    """
    if cells > 4 * count:
        used, inverse = np.unique(cells_in(slice(None)), return_inverse=True)
        return inverse.astype(np.int32), used
    # The whole table is small then, and looking up is faster than sorting.
    fallen = np.zeros(cells, bool)
    for here in slices(count):
        fallen[cells_in(here)] = True
    places = np.cumsum(fallen, dtype=np.int32) - np.int32(1)
    numbers = np.empty(count, np.int32)
    for here in slices(count):
        numbers[here] = places[cells_in(here)]
    return numbers, np.flatnonzero(fallen)


@kernel
def place_rows(groups: Array, ends: Array, order: Array) -> None:
    """Counting sort: write the rows of each group, in order, to where the group begins.

    ``ends`` is where each group begins, and where it ends afterwards.
    """
    for row in range(len(groups)):
        group = groups[row]
        order[ends[group]] = row
        ends[group] += 1


def rows_by_group(groups: Array, size: int) -> tuple[Array, Array]:
    """Where each group begins, and the rows of one group after the other, in their order.

    Of many rows the kernel does it in less time and memory than NumPy, if there is code of it;
    work in bulk (``askwise.core.compiling.allowed``) compiles it, a live campaign does not.

    Examples
    --------
    >>> import numpy as np
    >>> starts, order = rows_by_group(np.array([1, 0, 1], np.int32), 2)
    >>> starts.tolist(), order.tolist()
    ([0, 1, 3], [1, 0, 2])
    """
    starts = np.zeros(size + 1, np.int64)
    np.cumsum(counted(groups, size), out=starts[1:])
    order = np.empty(len(groups), np.int32 if len(groups) < 2**31 else np.int64)
    ends = starts[:-1].copy()
    if len(groups) > MANY and ready(hurry(place_rows), groups, ends, order):
        place_rows(groups, ends, order)
    else:
        order[:] = np.argsort(groups, kind="stable")
    return starts, order


@kernel
def deal_rows(
    groups: Array, one: Array, other: Array, shift: int, ends: Array, out: Columns
) -> None:
    """Copy rows of three columns to where their bucket is, in their order.

    A bucket has all groups that are the same number but for their last ``shift`` bits. ``ends`` is
    where each bucket begins, and where it ends afterwards.
    """
    first, second, third = out
    for row in range(len(groups)):
        bucket = groups[row] >> shift
        to = ends[bucket]
        first[to] = groups[row]
        second[to] = one[row]
        third[to] = other[row]
        ends[bucket] = to + 1


def dealt(
    groups: Array, one: Array, other: Array, size: int
) -> tuple[int, Array, tuple[Array, ...]]:
    """Sort three columns roughly by the first: into buckets of about ``SLICE`` rows.

    Rows are written to a few hundred places at a time, one after the other at each: a million
    places, one for each group, would be as many misses of the cache as there are rows. Compiled as
    ``rows_by_group`` is.

    Returns
    -------
    How many groups are in a bucket, where each bucket begins, and the columns.

    Examples
    --------
    >>> import numpy as np
    >>> columns = np.array([[1, 0, 1], [5, 6, 7], [2, 3, 4]], np.int32)
    >>> dealt(*columns, 2)[1].tolist()
    [0, 3]
    """
    buckets = max(1, len(groups) // SLICE)
    shift = max(0, -(-size // buckets) - 1).bit_length()
    count = ((size - 1) >> shift) + 1
    starts = np.zeros(count + 1, np.int64)
    for here in slices(len(groups)):
        starts[1:] += np.bincount(groups[here] >> shift, minlength=count)
    np.cumsum(starts, out=starts)
    out = tuple(np.empty(len(groups), np.int32) for _ in range(3))
    given = (groups, one, other, shift, starts[:-1].copy(), out)
    if len(groups) > MANY and ready(hurry(deal_rows), *given):
        deal_rows(*given)
    else:
        order = np.argsort(groups >> shift, kind="stable")
        for column, dealt_column in zip((groups, one, other), out, strict=True):
            dealt_column[:] = column[order]
    return 1 << shift, starts, out


def rows_in_groups(groups: Array, size: int) -> Iterator[Array | slice]:
    """All rows of some groups, then of others; of few rows all at once."""
    if len(groups) <= MANY:
        yield slice(None)
        return
    starts, order = rows_by_group(groups, size)
    for first, last in group_ranges(starts):
        yield order[starts[first] : starts[last]]
