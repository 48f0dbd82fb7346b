"""Stores that can give away the log of a finished campaign and take it back."""

import hashlib
import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, astuple, dataclass
from typing import Any, Self

from askwise.core.jsonable import Jsonable
from askwise.store import errors
from askwise.store.backup.portable import Head, Item
from askwise.store.base import Reply, Store
from askwise.store.event_rows import EventRow, encode


@dataclass(frozen=True, slots=True)
class ArchiveNote(Jsonable):
    """What a store keeps of a campaign whose log was moved out.

    Attributes
    ----------
    file : str
        Where it is, as an absolute path of the machine that moved it.
    sha256 : str
        The digest of its content (:class:`Digest`).
    events, replies : int
        How many there are.
    time : float
        When it was moved, in seconds since 1970.
    status : dict
        The campaign at a glance, as it was then.
    """

    file: str
    sha256: str
    events: int
    replies: int
    time: float
    status: dict[str, Any]

    def to_text(self) -> str:
        """Write it as JSON."""
        return encode(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read it back."""
        return cls(**json.loads(text))


class Digest:
    """The SHA-256 of a campaign's content, whatever kind of file or store that is in."""

    def __init__(self) -> None:
        self.events = 0
        self.replies = 0
        self._sum = hashlib.sha256()

    def add(self, item: Item) -> None:
        """Go on with an item; items come in the order of ``Archiving.content``."""
        self.events += isinstance(item, EventRow)
        self.replies += isinstance(item, Reply)
        values = astuple(item) if isinstance(item, Reply) else tuple(item)  # type: ignore[arg-type]
        self._sum.update(encode([type(item).__name__, *values]).encode() + b"\n")

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """Pass items on, and add each."""
        for item in items:
            self.add(item)
            yield item

    @property
    def sha256(self) -> str:
        """The digest of what was added so far."""
        return self._sum.hexdigest()


class Archiving(Store):
    """A store whose campaigns can be archived.

    It is a capability: a store may do without, and then is no ``Archiving``. An archived campaign
    keeps its name. It is not among ``names``, and every other use of it raises Conflict with the
    reason ``campaign_archived``.
    """

    @abstractmethod
    def archived(self) -> dict[str, ArchiveNote]:
        """The notes of all archived campaigns, by name."""

    @abstractmethod
    def content(self, name: str) -> AbstractContextManager[Iterator[Item]]:
        """Read out one campaign as it is now: its head, its log, its replies by key."""

    @abstractmethod
    def take_out(self, name: str, note: ArchiveNote) -> None:
        """Remove the log, the replies and the snapshots of a campaign and leave a note, or nothing.

        Raises
        ------
        Conflict
            The campaign does not have as many events and replies as the note says.
        """

    @abstractmethod
    def bring_back(self, items: Iterable[Item]) -> None:
        """Keep a campaign that ``content`` gave again, in place of its note, wholly or not at all.

        Raises
        ------
        Conflict
            There is a campaign of this name that is not archived, or that was created otherwise.
        """


def archiving(store: Store) -> Archiving:
    """Take a store whose campaigns can be archived.

    Raises
    ------
    StoreError
        They can't.
    """
    if not isinstance(store, Archiving):
        raise errors.unusable(
            f"campaigns of a {type(store).__name__} can't be archived: use SQLite or PostgreSQL"
        )
    return store


def head_of(items: Iterator[Item]) -> Head:
    """Take the head, which comes first."""
    head = next(items, None)
    assert isinstance(head, Head), "a campaign begins with its head"
    return head
