"""What a store is: campaigns by name, each with an append-only log of events.

A store keeps three things a campaign: its log, the first replies of keyed writes and snapshots.
The log is the truth. Replies make retries safe. Snapshots only save time and may be lost. Beside
the campaigns it keeps records, by kind and id.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from askwise.core.errors import Conflict, StoreError, UnknownName, nearest
from askwise.core.events import Event
from askwise.store.records import Change, Record

if TYPE_CHECKING:
    from askwise.store.copying import Filling, View
    from askwise.store.memory import MemoryStore
    from askwise.store.postgres import PostgresStore
    from askwise.store.sqlite import SqliteStore


@dataclass(frozen=True, slots=True)
class Reply:
    """The first result of a keyed write, kept so that a retry gets the same.

    Attributes
    ----------
    key : str
        The caller's name for this write.
    request : str
        Canonical JSON of verb and arguments. The campaign compares it: the same key with
        another request is a conflict.
    body : str
        JSON of the answer.
    """

    key: str
    request: str
    body: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a campaign after the event ``seq``, as bytes.

    Attributes
    ----------
    seq : int
        The last event that is folded in; 0 for none.
    version : str
        What the bytes depend on (policy, parameters, kernels). Another version can't read them.
    blob : bytes
        The state itself.
    """

    seq: int
    version: str
    blob: bytes


class Transaction(ABC):
    """One exclusive write to one campaign, from ``Store.write``.

    It sees its own appends. After the ``with`` block it is over, and every method raises
    StoreError.
    """

    @abstractmethod
    def tail(self, after: int) -> list[Event]:
        """Read the events with a sequence number above ``after``, in order."""

    @abstractmethod
    def reply(self, key: str) -> Reply | None:
        """Look up the reply kept under ``key``."""

    def replies(self, keys: Sequence[str]) -> dict[str, Reply]:
        """Look up the replies kept under ``keys``; those that have none are left out.

        Where it costs a round trip, it is one for all, and ``reply`` then knows these keys.
        """
        found = ((key, self.reply(key)) for key in keys)
        return {key: reply for key, reply in found if reply is not None}

    @abstractmethod
    def append(self, events: Sequence[Event], expected_seq: int) -> None:
        """Append events, all or none.

        Parameters
        ----------
        events : sequence of Event
            They carry their sequence numbers: ``expected_seq + 1``, ``expected_seq + 2``, ...
        expected_seq : int
            The sequence number of the last event of the log; 0 for an empty log.

        Raises
        ------
        Conflict
            The log is not at ``expected_seq``. The transaction stays usable.
        StoreError
            The numbers do not follow on, or an event can't be written as JSON.
        """

    @abstractmethod
    def keep(self, reply: Reply) -> None:
        """Keep the reply to a keyed write.

        Raises
        ------
        Conflict
            A reply is kept under this key already. The transaction stays usable.
        """


class Store(ABC):
    """Durable logs of campaigns, by name, and records beside them.

    A store may be used from several threads. Inside a ``write`` block its thread may read, and
    then sees its own appends; other threads see them once the block has ended. Creating, saving,
    changing records, closing or writing a second time inside the block raises StoreError.

    Every method that takes the name of a campaign raises UnknownName if there is none, and every
    method raises StoreError if the store can't be read or written or was closed.
    """

    @abstractmethod
    def create(self, name: str, spec: str, time: float) -> None:
        """Create a campaign with an empty log.

        Parameters
        ----------
        name : str
            Its name, which no other campaign of this store has.
        spec : str
            What the campaign is (problem, policy, seed, ...), as JSON. It never changes.
        time : float
            When it was created, in seconds since 1970.

        Raises
        ------
        Conflict
            The name exists.
        """

    @abstractmethod
    def spec(self, name: str) -> str:
        """Read what the campaign was created with."""

    @abstractmethod
    def names(self) -> list[str]:
        """List the names of all campaigns, sorted."""

    @abstractmethod
    def write(self, name: str) -> AbstractContextManager[Transaction]:
        """Open an exclusive transaction.

        It commits at the end of the ``with`` block and rolls back wholly on any exception. When
        the block has ended without an exception, everything in it is durable.

        Raises
        ------
        StoreError
            The lock could not be had in time, or the commit failed.
        """

    @abstractmethod
    def read(self, name: str, after: int = 0, upto: int | None = None) -> list[Event]:
        """Read the events with ``after < seq <= upto``, in order (None: to the end)."""

    def pick(self, name: str, seqs: Iterable[int]) -> list[Event]:
        """Read the events with these sequence numbers, in order; what is not there is left out.

        Where it costs a round trip, it is one for hundreds of them.
        """
        return [event for seq in sorted(set(seqs)) for event in self.read(name, seq - 1, seq)]

    @abstractmethod
    def position(self, name: str) -> int:
        """Tell the sequence number of the last event of the log; 0 for an empty log."""

    def replies(self, name: str, keys: Sequence[str]) -> dict[str, Reply]:
        """Look up the replies kept under ``keys``; those that have none are left out.

        Here in a transaction, for stores that know no other way: a store that can reads them
        without its write lock.
        """
        with self.write(name) as transaction:
            return transaction.replies(keys)

    @abstractmethod
    def save(self, name: str, snapshot: Snapshot) -> None:
        """Save a snapshot beside the earlier ones; one of the same ``seq`` and version goes.

        Raises
        ------
        Conflict
            The snapshot is ahead of the log.
        """

    @abstractmethod
    def snapshot(self, name: str, version: str, upto: int | None = None) -> Snapshot | None:
        """Find the newest snapshot of this version with ``seq <= upto`` (None: of any seq)."""

    @abstractmethod
    def record(self, kind: str, id: str) -> Record | None:
        """Look up a record."""

    @abstractmethod
    def records(
        self, kind: str, prefix: str = "", after: str = "", limit: int | None = None
    ) -> list[Record]:
        """List the records of a kind by id, in the order of code points.

        Parameters
        ----------
        kind : str
            Their kind.
        prefix : str
            What their ids begin with.
        after : str
            Only ids above this one: to read on where the last page ended.
        limit : int or None
            How many at the most; None for all.
        """

    @abstractmethod
    def change(self, changes: Sequence[Change]) -> bool:
        """Make, change and remove records, all or none; durable when it returns.

        Returns
        -------
        bool
            False if a record was not what its ``before`` says; then nothing is changed.

        Raises
        ------
        StoreError
            Also if an id is empty, a record is named twice, or it is done in a write block.
        """

    @abstractmethod
    def view(self) -> AbstractContextManager[View]:
        """Open a view of the whole store as it is now; writers go on beside it.

        Each log in it has exactly the replies that were committed with its events.
        """

    @abstractmethod
    def fill(self) -> AbstractContextManager[Filling]:
        """Open the transaction that fills an empty store: it commits or rolls back as a whole.

        Raises
        ------
        Conflict
            There is a campaign or a record.
        """

    def ping(self) -> None:
        """Complain (StoreError) if the store does not answer; waits for no other use of it."""
        self.record("ping", "ping")

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections. Closing twice is allowed, using it afterwards is not."""


def open_store(url: str | Store) -> Store:
    """Open the store that ``url`` names.

    Parameters
    ----------
    url : str or Store
        ``memory`` for a fresh store that lasts as long as the process; ``sqlite:///FILE`` for a
        file relative to the working directory, ``sqlite:////FILE`` (four slashes) for an absolute
        path; ``postgresql://USER:PASSWORD@HOST:PORT/DATABASE`` for a database. File and tables
        are created with the first campaign or record, the database has to exist. A Store is
        returned as it is.

    Raises
    ------
    StoreError
        The url names no store, or the file or database is not one that this askwise can use.

    Examples
    --------
    >>> store = open_store("memory")
    >>> store.create("cats", spec="{}", time=0.0)
    >>> store.names()
    ['cats']
    """
    if isinstance(url, Store):
        return url
    store = _named(url)
    store.names()  # so that what we can't use is found now and not at the first write
    return store


def pending_steps(url: str) -> list[str]:
    """Name the steps that :func:`open_store` would apply to an older schema, or to none.

    Nothing is changed or created. An empty list means that the store is up to date.

    Raises
    ------
    StoreError
        As of :func:`open_store`.

    Examples
    --------
    >>> pending_steps("memory")
    []
    """
    from askwise.store.memory import MemoryStore

    store = _named(url)
    return [] if isinstance(store, MemoryStore) else store.pending()


def _named(url: str) -> MemoryStore | SqliteStore | PostgresStore:
    # Imported here, as all are built on this module, and psycopg only where it is needed.
    from askwise.store.memory import MemoryStore
    from askwise.store.sqlite import SqliteStore

    accepted = (
        "give 'memory', 'sqlite:///FILE' or, for an absolute path, 'sqlite:////PATH/FILE', or "
        "'postgresql://USER:PASSWORD@HOST:PORT/DATABASE'"
    )
    if not isinstance(url, str):
        raise StoreError(f"store is {url!r}: {accepted}", field="store", reason="store_unusable")
    if url == "memory":
        return MemoryStore()
    file = url.removeprefix("sqlite:///")
    if file != url and file not in ("", ":memory:"):
        return SqliteStore(file)
    if url.startswith(("postgresql://", "postgres://")):
        try:
            from askwise.store.postgres import PostgresStore
        except ImportError as error:
            raise StoreError(
                "PostgreSQL needs psycopg: pip install 'askwise[postgres]'",
                field="store",
                reason="store_unusable",
            ) from error
        return PostgresStore(url)
    raise StoreError(
        f"store is {_without_password(url)!r}: {accepted}", field="store", reason="store_unusable"
    )


def _without_password(url: str) -> str:
    return re.sub(r"//([^/:@]*):.*@", r"//\1:***@", url)


def unknown_campaign(name: str, names: Iterable[str]) -> UnknownName:
    """Build the error for a campaign that does not exist."""
    return UnknownName(
        f"campaign {name!r} is not known: {nearest(name, names)}",
        field="name",
        reason="unknown_campaign",
    )


def campaign_exists(name: str) -> Conflict:
    """Build the error for creating a campaign twice."""
    return Conflict(
        f"campaign {name!r} exists already: choose another name, or open the one there is",
        field="name",
        reason="campaign_exists",
    )


def log_moved(name: str, last: int, expected: int) -> Conflict:
    """Build the error for appending to a log that is not where it was thought to be."""
    return Conflict(
        f"expected_seq is {expected}, but the log of campaign {name!r} is at {last}: "
        "read what is new, decide again and retry",
        field="expected_seq",
        reason="log_moved",
    )


def reply_exists(name: str, key: str) -> Conflict:
    """Build the error for keeping two replies under one key."""
    return Conflict(
        f"campaign {name!r} already keeps a reply under the key {key!r}: a new write needs a new "
        "key",
        field="key",
        reason="key_reused",
    )


def snapshot_ahead(name: str, last: int, snapshot: Snapshot) -> Conflict:
    """Build the error for a snapshot of events that the log does not hold."""
    return Conflict(
        f"the snapshot is of event {snapshot.seq}, but the log of campaign {name!r} ends at "
        f"{last}: save a snapshot only of what was committed",
        field="seq",
        reason="log_moved",
    )


def inside_write(verb: str) -> StoreError:
    """Build the error for what can't be done inside a write block."""
    return StoreError(
        f"can't {verb} inside a write block: end the block first", reason="store_misused"
    )


def write_is_over() -> StoreError:
    """Build the error for using a transaction after its block."""
    return StoreError(
        "this transaction is over: open another with store.write(name)", reason="store_misused"
    )


def nothing_kept(failure: StoreError) -> StoreError:
    """Build the error for going on with a write after ``failure``, for the same reason."""
    return StoreError(f"nothing of this write is kept: {failure}", reason=failure.reason)


def store_closed() -> StoreError:
    """Build the error for using a store after ``close``."""
    return StoreError("this store was closed: open it again", reason="store_misused")
