"""Kernels that are called over and over with the same records, as a live campaign calls them.

At each call Numba looks at the type of every array in every argument, which takes longer than most
kernels run. A record never changes which arrays it holds, so one look at each record is enough.
"""

from typing import Any, NamedTuple

from askwise.core.compiling import entry_for


class _Known(NamedTuple):
    """The records of the last call, and what is called with them."""

    book: Any
    state: Any
    entry: Any


class RepeatedCalls:
    """Calls kernels, and remembers for each which code is right for its records.

    Records are compared by identity. All else that a kernel takes has to be of the same types at
    every call: numbers, tuples of numbers, arrays that are made in one place.
    """

    def __init__(self) -> None:
        self._known: dict[Any, _Known] = {}

    def with_book(self, kernel: Any, book: Any, *rest: Any) -> Any:
        """Call a kernel that takes one record."""
        known = self._known.get(kernel)
        if known is not None and known.book is book:
            return known.entry(book, *rest)
        found = kernel(book, *rest)
        self._look(kernel, book, None, (book, *rest))
        return found

    def with_state(self, kernel: Any, book: Any, state: Any, *rest: Any) -> Any:
        """Call a kernel that takes two records."""
        known = self._known.get(kernel)
        if known is not None and known.book is book and known.state is state:
            return known.entry(book, state, *rest)
        found = kernel(book, state, *rest)
        self._look(kernel, book, state, (book, state, *rest))
        return found

    def _look(self, kernel: Any, book: Any, state: Any, arguments: tuple[Any, ...]) -> None:
        entry = entry_for(kernel, arguments)
        if entry is not None:
            self._known[kernel] = _Known(book, state, entry)
