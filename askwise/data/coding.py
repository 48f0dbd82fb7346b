"""Names as codes, a chunk at a time: what a long column takes is four bytes a cell, and the names.

As :func:`askwise.core.names.coded` does it for a whole column.
"""

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from askwise.core.arrays import Array
from askwise.core.names import all_finite, coded_as, ordered
from askwise.data.columns import arrow_modules

FEW = 100_000
"""Names up to which they are kept as a tuple of text."""

MERGED = 2**20
"""The fewest names of chunks that are looked up together."""

_TAKEN = 2**16
"""Names that are turned into text together."""


class StoredNames(Sequence[str]):
    """Names in one block of memory, each made into text when it is asked for.

    Examples
    --------
    >>> import pyarrow
    >>> names = StoredNames(pyarrow.array(["a", "b", "c"]))
    >>> len(names), names[1], names[1:], list(names)
    (3, 'b', ('b', 'c'), ['a', 'b', 'c'])
    """

    def __init__(self, names: Any) -> None:
        self._names = names

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: int | slice) -> str | tuple[str, ...]:
        """A name, or a tuple of some."""
        if isinstance(at, slice):
            return tuple(self._names[at].to_pylist())
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        return self._names[at % len(self)].as_py()

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _TAKEN):
            yield from self._names[first : first + _TAKEN].to_pylist()


class TextCoder:
    """Codes of a column whose chunks are lists of text."""

    def __init__(self) -> None:
        self._index: dict[str, int] = {}
        self._codes: list[Array] = []

    def add(self, cells: Sequence[str]) -> None:
        """Take the next chunk."""
        self._codes.append(coded_as(cells, self._index))

    def finish(self) -> tuple[Array, tuple[str, ...]]:
        """The codes of all cells, and the sorted names behind them."""
        names = ordered(self._index)
        place = np.empty(len(names), np.int32)
        for at, name in enumerate(names):
            place[self._index[name]] = at
        return _placed(self._codes, place), names


class ArrowCoder:
    """Codes of a column whose chunks are dictionary-encoded arrays of Arrow, or lists of text.

    The names of chunks are looked up among those that are known already when they are as many as
    these: so each is looked up a few times, however many chunks there are.
    """

    def __init__(self) -> None:
        self._arrow, _ = arrow_modules()
        self._known = self._arrow.array([], self._arrow.large_string())
        self._waiting: list[Any] = []
        self._names_waiting = 0
        self._codes: list[Array] = []

    def add(self, cells: Any) -> None:
        """Take the next chunk."""
        arrow = self._arrow
        if not isinstance(cells, arrow.DictionaryArray):
            cells = arrow.array(cells, arrow.string()).dictionary_encode()
        names = cells.dictionary.cast(arrow.large_string())
        self._waiting.append(arrow.DictionaryArray.from_arrays(cells.indices, names))
        self._names_waiting += len(names)
        if self._names_waiting >= max(MERGED, len(self._known)):
            self._merge()

    def _merge(self) -> None:
        arrow = self._arrow
        # First, so that names which are known keep their codes.
        none = arrow.DictionaryArray.from_arrays(arrow.array([], arrow.int32()), self._known)
        merged = arrow.chunked_array([none, *self._waiting]).unify_dictionaries()
        self._waiting, self._names_waiting = [], 0
        self._known = merged.chunk(0).dictionary
        self._codes += [each.indices.to_numpy() for each in merged.chunks[1:]]

    def finish(self) -> tuple[Array, Sequence[str]]:
        """The codes of all cells, and the sorted names behind them."""
        self._merge()
        order = self._order()
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        names = self._known.take(self._arrow.array(order))
        self._known = None
        few = len(order) <= FEW
        return _placed(self._codes, place), tuple(names.to_pylist()) if few else StoredNames(names)

    def _order(self) -> Array:
        """Which name comes first, second, ...: by number if all are numbers, else as text."""
        numbers = self._numbers()
        if numbers is not None:
            order = np.argsort(numbers, kind="stable")
            if (np.diff(numbers[order]) > 0.0).all():
                return order
        from pyarrow import compute

        # UTF-8 sorts as the characters that it stands for.
        by_text: Array = compute.sort_indices(self._known).to_numpy()
        if numbers is None:
            return by_text
        return by_text[np.argsort(numbers[by_text], kind="stable")]

    def _numbers(self) -> Array | None:
        """The names as finite numbers; None if any is none."""
        try:
            # The first one before all: a failure is told only after the whole column.
            self._known[:1].cast(self._arrow.float64())
            found: Array = self._known.cast(self._arrow.float64()).to_numpy()
        except self._arrow.ArrowInvalid:
            # Python reads more than Arrow does: +1 and 1_000 are numbers too.
            told = all_finite(StoredNames(self._known))
            return None if told is None else np.array(told)
        return found if np.isfinite(found).all() else None


def _placed(chunks: list[Array], place: Array) -> Array:
    """The codes of all chunks in one column, each replaced by its place; empties the list."""
    codes = np.empty(sum(map(len, chunks)), np.int32)
    first = 0
    chunks.reverse()
    while chunks:
        chunk = chunks.pop()
        codes[first : first + len(chunk)] = place[chunk]
        first += len(chunk)
    return codes
