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
    codes = coded_as(cells, index)
    names = ordered(index)
    place = np.empty(len(names), np.int32)
    for at, name in enumerate(names):
        place[index[name]] = at
    return place[codes], names


def coded_as(cells: Sequence[str], index: dict[str, int]) -> Array:
    """Codes of cells in the order in which names are met; new ones are added to the index."""
    met = (index.setdefault(cell, len(index)) for cell in cells)
    return np.fromiter(met, np.int32, count=len(cells))


def ordered(names: Iterable[str]) -> tuple[str, ...]:
    """Sort names: as numbers if all are numbers, else as text."""
    every = list(names)
    numbers = all_finite(every)
    if numbers is None:
        return tuple(sorted(every))
    return tuple(name for _, name in sorted(zip(numbers, every, strict=True)))


def all_finite(names: Iterable[str]) -> list[float] | None:
    """The numbers that names are; None if any is none, or is not finite."""
    found = []
    for name in names:
        try:
            number = float(name)
        except ValueError:
            return None
        if not math.isfinite(number):
            return None
        found.append(number)
    return found
