"""Names as codes: cells of a table become whole numbers, and the names behind them are sorted."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from askwise.core.arrays import Array


def coded(cells: Sequence[str]) -> tuple[Array, tuple[str, ...]]:
    """Codes of cells, and the sorted names behind them.

    Examples
    --------
    >>> codes, names = coded(["10", "9", "10"])
    >>> codes.tolist(), names
    ([1, 0, 1], ('9', '10'))
    """
    index: dict[str, int] = {}
    codes = np.fromiter(
        (index.setdefault(cell, len(index)) for cell in cells), np.int32, count=len(cells)
    )
    names = ordered(index)
    place = np.empty(len(names), np.int32)
    for at, name in enumerate(names):
        place[index[name]] = at
    return place[codes], names


def ordered(names: Iterable[str]) -> tuple[str, ...]:
    """Sort names: as numbers if all are numbers, else as text."""
    every = list(names)
    try:
        numbers = {name: float(name) for name in every}
    except ValueError:
        return tuple(sorted(every))
    if not all(math.isfinite(number) for number in numbers.values()):
        return tuple(sorted(every))
    return tuple(sorted(every, key=lambda name: (numbers[name], name)))
