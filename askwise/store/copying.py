"""A whole store at one moment, and an empty one filled at once: what backups are made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from askwise.core.errors import Conflict, StoreError
from askwise.store.base import Reply
from askwise.store.records import Record
from askwise.store.rows import Row

CHUNK = 2_000
"""Rows in memory at a time."""


class Head(NamedTuple):
    """What a campaign was created with."""

    name: str
    created: float
    spec: str


class View(ABC):
    """A store as it was when the view was opened, whatever is written meanwhile."""

    @abstractmethod
    def names(self) -> list[str]:
        """List the names of all campaigns, sorted."""

    @abstractmethod
    def head(self, name: str) -> Head:
        """Read what a campaign was created with."""

    @abstractmethod
    def length(self, name: str) -> int:
        """Tell how many events its log has."""

    @abstractmethod
    def rows(self, name: str) -> Iterator[list[Row]]:
        """Read its log, in pieces."""

    @abstractmethod
    def replies(self, name: str) -> Iterator[list[Reply]]:
        """Read the replies it keeps, in pieces."""

    @abstractmethod
    def records(self) -> Iterator[list[Record]]:
        """Read the records of all kinds, in pieces."""


class Filling(ABC):
    """A transaction that fills an empty store; nothing of it is seen before it ends."""

    @abstractmethod
    def campaign(self, head: Head) -> None:
        """Begin a campaign; what follows is its own.

        Raises
        ------
        Conflict
            The name exists.
        """

    @abstractmethod
    def rows(self, rows: Sequence[Row]) -> None:
        """Go on with its log; the rows follow on without a gap."""

    @abstractmethod
    def replies(self, replies: Sequence[Reply]) -> None:
        """Keep replies."""

    @abstractmethod
    def records(self, records: Sequence[Record]) -> None:
        """Keep records."""


def not_empty() -> Conflict:
    """Build the error for filling a store that has something in it."""
    return Conflict(
        "the store is not empty: restore into a new one, so that nothing is mixed or overwritten",
        field="store",
        reason="store_not_empty",
    )


def view_is_over() -> StoreError:
    """Build the error for reading on after the block, or after the store was closed."""
    return StoreError("this view is over: open another with store.view()", reason="store_misused")
