"""Stores that can be copied: read out whole as of one moment, or filled at once while empty."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import groupby, islice
from typing import Any, NamedTuple

from askwise.store import errors
from askwise.store.base import Reply, Store
from askwise.store.event_rows import EventRow
from askwise.store.records import Record

CHUNK = 2_000
"""Rows in memory at a time."""


class Head(NamedTuple):
    """What a campaign was created with."""

    name: str
    created: float
    spec: str


Item = Head | EventRow | Reply | Record
"""What a store is made of. A head begins a campaign: the rows and replies up to the next head are
its own. Rows follow on from 1 without a gap."""


class Portable(Store):
    """A store that can be backed up and restored.

    It is a capability: a store may do without, and then is no ``Portable``.
    """

    @abstractmethod
    def contents(self) -> AbstractContextManager[Iterator[Item]]:
        """Read out the whole store as it is now; writers go on beside it.

        Campaigns come by name, each with its log and then exactly the replies that were committed
        with its events, by key. Records come last, by kind and id. After the ``with`` block the
        iterator raises StoreError.
        """

    @abstractmethod
    def fill(self, items: Iterable[Item]) -> None:
        """Fill an empty store in one transaction: nothing is kept if anything raises.

        ``items`` come as ``contents`` gives them; nothing of them is seen before the last.

        Raises
        ------
        Conflict
            There is a campaign or a record already, or two campaigns have one name.
        """


class Filler(ABC):
    """How our stores are filled: in pieces of one kind each."""

    def take(self, items: Iterable[Item]) -> None:
        """Take all items."""
        take: dict[type, Callable[[Any], None]] = {
            EventRow: self.rows,
            Reply: self.replies,
            Record: self.records,
        }
        for kind, group in groupby(items, key=type):
            if kind is Head:
                for head in group:
                    self.campaign(head)  # type: ignore[arg-type]
            while piece := list(islice(group, CHUNK)):
                take[kind](piece)

    @abstractmethod
    def campaign(self, head: Head) -> None:
        """Begin a campaign; what follows is its own."""

    @abstractmethod
    def rows(self, rows: Sequence[EventRow]) -> None:
        """Go on with its log."""

    @abstractmethod
    def replies(self, replies: Sequence[Reply]) -> None:
        """Keep replies."""

    @abstractmethod
    def records(self, records: Sequence[Record]) -> None:
        """Keep records."""


@contextmanager
def lent(items: Iterator[Item]) -> Iterator[Iterator[Item]]:
    """Lend an iterator for the block; afterwards it raises StoreError."""
    borrowed = _Borrowed(items)
    try:
        yield borrowed
    finally:
        borrowed.over = True


class _Borrowed(Iterator[Item]):
    def __init__(self, items: Iterator[Item]) -> None:
        self.over = False
        self._items = items

    def __next__(self) -> Item:
        if self.over:
            raise errors.misused(
                "this look at the store is over: open another with store.contents()"
            )
        return next(self._items)


def portable(store: Store, verb: str) -> Portable:
    """Take a store that can be copied.

    Raises
    ------
    StoreError
        It can't.
    """
    if not isinstance(store, Portable):
        raise errors.unusable(
            f"a {type(store).__name__} can't be {verb}: copy it with the tools of what it is "
            "kept in",
        )
    return store
