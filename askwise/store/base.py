"""What a store is: campaigns by name, each with an append-only log of events.

A store keeps three things a campaign: its log, the first replies of keyed writes and snapshots.
The log is the truth. Replies make retries safe. Snapshots only save time and may be lost. Beside
the campaigns it keeps records, by kind and id.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass

from askwise.core.errors import Conflict, UnknownName
from askwise.core.event_columns import EventColumns
from askwise.core.events import Event, Kind
from askwise.store import errors
from askwise.store.records import Change, Record


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

    Text that comes to it has neither NUL nor half characters: campaigns refuse them at their door
    (``askwise.core.text``), and ``in_order`` does it for records.

    What is not abstract is built on the rest; a store overrides it where it can do it in less
    time. One that can be backed up is an ``askwise.store.Portable``. All of this is checked by
    ``askwise.testing.check_store``.
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

    def put_away(self) -> set[str]:
        """The names of the campaigns whose log ends with ARCHIVED: they are in no list of work.

        Here by a look at the end of each log.
        """
        ends = ((name, self.pick(name, [self.position(name)])) for name in self.names())
        return {name for name, end in ends if end and end[0].kind == Kind.ARCHIVED}

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

    def append(
        self, name: str, events: Sequence[Event], expected_seq: int, replies: Sequence[Reply] = ()
    ) -> None:
        """Append events and keep replies in a transaction of its own, all or none.

        For a write that has nothing to read in between: where it costs a round trip, it is one for
        all. It is durable when it returns.

        Raises
        ------
        Conflict
            The log is not at ``expected_seq``, which also holds if there are no events, or a reply
            is kept under one of the keys already. Nothing is written.
        StoreError
            As of ``write``, and as of ``append`` and ``keep`` of its transaction.
        """
        with self.write(name) as transaction:
            transaction.replies([reply.key for reply in replies])
            for reply in replies:
                transaction.keep(reply)
            transaction.append(events, expected_seq)

    @abstractmethod
    def read(self, name: str, after: int = 0, upto: int | None = None) -> list[Event]:
        """Read the events with ``after < seq <= upto``, in order (None: to the end)."""

    def columns(
        self, name: str, after: int = 0, upto: int | None = None, *, timed: bool = False
    ) -> EventColumns:
        """Read the same events as ``read`` does, as columns and without their keys.

        A long log is folded from these: a store that keeps text need not make objects of it. It
        may leave out times unless they are to be ``timed``.
        """
        return EventColumns.of(self.read(name, after, upto))

    def pick(self, name: str, seqs: Iterable[int]) -> list[Event]:
        """Read the events with these sequence numbers, in order; what is not there is left out.

        Where it costs a round trip, it is one for hundreds of them.
        """
        return [event for seq in sorted(set(seqs)) for event in self.read(name, seq - 1, seq)]

    def position(self, name: str) -> int:
        """Tell the sequence number of the last event of the log; 0 for an empty log.

        By default the log is read for it.
        """
        log = self.read(name)
        return log[-1].seq if log else 0

    def positions(self, names: Iterable[str]) -> dict[str, int]:
        """Tell the positions of several logs; campaigns that are not there are left out.

        Here one after the other. Where it costs a round trip, it is one for hundreds of them.
        """
        found = {}
        for name in names:
            with suppress(UnknownName, Conflict):
                found[name] = self.position(name)
        return found

    def replies(self, name: str, keys: Sequence[str]) -> dict[str, Reply]:
        """Look up the replies kept under ``keys``; those that have none are left out.

        Here in a transaction, for stores that know no other way: a store that can reads them
        without its write lock.
        """
        with self.write(name) as transaction:
            return transaction.replies(keys)

    def save(self, name: str, snapshot: Snapshot) -> None:
        """Save a snapshot beside the earlier ones; one of the same ``seq`` and version goes.

        By default none is kept, and campaigns are folded from their first event.

        Raises
        ------
        Conflict
            The snapshot is ahead of the log.

        One of before a RENAMED, which still has the old name, is left out without a word.
        """
        last = self.position(name)
        if snapshot.seq > last:
            raise errors.snapshot_ahead(name, last, snapshot.seq)

    def snapshot(self, name: str, version: str, upto: int | None = None) -> Snapshot | None:
        """Find the newest snapshot of this version with ``seq <= upto`` (None: of any seq)."""
        self.spec(name)  # complains if there is no such campaign
        return None

    def record(self, kind: str, id: str) -> Record | None:
        """Look up a record."""
        found = self.records(kind, prefix=id, limit=1)
        return found[0] if found and found[0].id == id else None

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
            The most to return; None for all.
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

    def pending(self) -> list[str]:
        """Name the steps that the next use would apply to the schema; nothing is changed."""
        return []

    def ping(self) -> None:
        """Complain (StoreError) if the store does not answer; waits for no other use of it."""
        self.record("ping", "ping")

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections. Closing twice is allowed, using it afterwards is not."""
