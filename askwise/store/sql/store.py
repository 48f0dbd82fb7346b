"""Reading a store in an SQL database; what is written is each database's own."""

import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import Any, ClassVar

from askwise.core.errors import Conflict, UnknownName
from askwise.core.event_columns import EventColumns
from askwise.core.events import Event
from askwise.store import errors
from askwise.store.backup.portable import CHUNK, Head, Item, Portable, lent
from askwise.store.base import Reply, Snapshot
from askwise.store.connections import Connection, Connections
from askwise.store.event_rows import EventRow, JoinedRows, columns_of, put_together, unpack
from askwise.store.records import Record, check_limit, end_of, whole
from askwise.store.sql import statements

PATIENCE = 30.0
"""Seconds to wait for another writer."""

TOGETHER = 10_000
"""Events read in one round trip: a driver may hold all rows of an answer at once."""

JOINED = 5_000
"""The most events that the database joins into one text,"""

_LONGEST = 100_000
"""none of which is longer than this: databases have limits, and so does memory."""

LOOK = "read out the store"
"""What can't be done inside a write block, for messages."""

_END = 2**62
"""Above every sequence number, and every number of records."""

Execute = Callable[..., list[Any]]
"""Executes a statement with values and returns its rows."""


class SqlStore(Portable):
    """Reads campaigns and records; how they are written is each database's own.

    Attributes
    ----------
    schema, mark : str
        What names of tables begin with, and what stands for a value.
    moment : tuple of str
        Statements that begin a transaction that reads.
    most : int
        Values that are looked up at a time.
    """

    schema: ClassVar[str] = ""
    mark: ClassVar[str] = "?"
    moment: ClassVar[tuple[str, ...]] = ("BEGIN",)
    most: ClassVar[int]
    _connections: Connections[Any]

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def spec(self, name: str) -> str:
        campaign = self._id(name)
        with self._connections.use() as link:
            ((_, spec, note),) = self._run(link, statements.HEAD, campaign)
        if note is not None:
            raise self._gone(name, note)
        return self._given(spec)

    def names(self) -> list[str]:
        with self._look() as link:
            return [] if link is None else sorted(self._all_ids(link))

    def put_away(self) -> set[str]:
        with self._look() as link:
            found = [] if link is None else self._run(link, statements.PUT_AWAY)
        return {self._given(name) for (name,) in found}

    def read(self, name: str, after: int = 0, upto: int | None = None) -> list[Event]:
        campaign = self._id(name)
        with self._connections.use() as link:
            found = self.read_on(link, campaign, after, upto)
            if after <= 0 and not found:
                self.check_here(name)
            return found

    def columns(
        self, name: str, after: int = 0, upto: int | None = None, *, timed: bool = False
    ) -> EventColumns:
        campaign, end = self._id(name), _END if upto is None else upto
        with self._connections.use() as link:
            if timed:
                rows = self._rows(link, campaign, after, end, TOGETHER)
                return columns_of([EventRow(row[0], row[1], row[2], None, row[4]) for row in rows])
            found = put_together([*self._joined(link, campaign, after, end)])
            if after <= 0 and not len(found):
                self.check_here(name)
            return found

    def pick(self, name: str, seqs: Iterable[int]) -> list[Event]:
        campaign = self._id(name)
        with self._connections.use() as link:
            found = self._look_up(link.run, statements.PICK, campaign, sorted(set(seqs)))
            return unpack(map(self._as_written, found))

    def position(self, name: str) -> int:
        campaign = self._id(name)
        with self._connections.use() as link:
            last = statements.last_of(link.run(self._last, campaign))
            if last == 0:
                self.check_here(name)
            return last

    def positions(self, names: Iterable[str]) -> dict[str, int]:
        kept, found = [self._kept(name, "name") for name in names], {}
        with self._look() as link:
            if link is None:
                return {}
            for at in range(0, len(kept), self.most):
                among, values = self._among(kept[at : at + self.most])
                for name, last in self._run(link, statements.LASTS, *values, among=among):
                    found[self._given(name)] = int(last)
        return found

    def replies(self, name: str, keys: Sequence[str]) -> dict[str, Reply]:
        campaign = self._id(name)
        with self._connections.use() as link:
            return self.replies_on(link.run, campaign, keys)

    def save(self, name: str, snapshot: Snapshot) -> None:
        campaign = self._id(name)
        with self._connections.use_outside("save a snapshot") as link:
            last = statements.last_of(self._run(link, statements.LAST, campaign))
            if snapshot.seq > last:
                raise errors.snapshot_ahead(name, last, snapshot.seq)
            self._save(link, campaign, snapshot)

    def snapshot(self, name: str, version: str, upto: int | None = None) -> Snapshot | None:
        values = self._id(name), self._kept(version, "version"), _END if upto is None else upto
        with self._connections.use() as link:
            found = self._run(link, statements.SNAPSHOT, *values)
        return Snapshot(found[0][0], version, found[0][1]) if found else None

    def record(self, kind: str, id: str) -> Record | None:
        place = self._kept_in_order(kind, "kind"), self._kept_in_order(id, "id")
        with self._look() as link:
            found = [] if link is None else self._run(link, statements.RECORD, *place)
        return Record(kind, id, self._given(found[0][0])) if found else None

    def records(
        self, kind: str, prefix: str = "", after: str = "", limit: int | None = None
    ) -> list[Record]:
        check_limit(limit)
        begin = self._kept_in_order(prefix, "prefix")
        above, end = self._kept_in_order(after, "after"), end_of(begin)
        values: list[Any] = [self._kept_in_order(kind, "kind"), max(begin, above), above]
        values += [*([] if end is None else [end]), _END if limit is None else limit]
        with self._look() as link:
            if link is None:
                return []
            found = self._run(
                link, statements.RECORDS if end is None else statements.RECORDS_BELOW, *values
            )
        return [Record(kind, self._given_in_order(id), self._given(body)) for id, body in found]

    @contextmanager
    def contents(self) -> Iterator[Iterator[Item]]:
        with self._look(apart=True) as link:
            items: Iterator[Item] = iter(())
            if link is not None:
                for statement in self.moment:
                    link.run(statement)
                items = self._items(link, self._all_ids(link))
            with lent(items) as borrowed:
                yield borrowed

    def close(self) -> None:
        self._connections.close()

    # For transactions.

    def read_on(self, link: Connection, campaign: int, after: int, upto: int | None) -> list[Event]:
        """Read a log, or a piece of it."""
        end = _END if upto is None else upto
        return unpack(self._rows(link, campaign, after, end, TOGETHER))

    def replies_on(self, run: Execute, campaign: int, keys: Sequence[str]) -> dict[str, Reply]:
        """Find replies by their keys."""
        wanted = [self._kept(key, "key") for key in keys]
        found = self._look_up(run, statements.REPLIES, campaign, wanted)
        replies = (Reply(*map(self._given, row)) for row in found)
        return {reply.key: reply for reply in replies}

    # What databases do differently.

    @abstractmethod
    def _look(self, *, apart: bool = False) -> AbstractContextManager[Connection | None]:
        """Lend a connection to read on, or one beside it; None while nothing was ever written."""

    @abstractmethod
    def _save(self, link: Any, campaign: int, snapshot: Snapshot) -> None:
        """Write a snapshot."""

    @abstractmethod
    def _among(self, values: list[Any]) -> tuple[str, list[Any]]:
        """What follows a column that has one of these values, and what stands for them there."""

    def _unknown(self, name: str) -> UnknownName:
        return errors.unknown_campaign(name, self.names())

    @staticmethod
    def _kept(text: str, field: str) -> str:
        """Turn text into what is kept; StoreError if it can't be."""
        return text

    @staticmethod
    def _given(text: str) -> str:
        """Turn what is kept back into the text."""
        return text

    _kept_in_order = staticmethod(whole)
    """As ``_kept``, for what is sorted by."""

    _given_in_order = _given

    # Reading.

    def _say(self, statement: str, **words: object) -> str:
        return statement.format(s=self.schema, v=self.mark, **words)

    def _run(self, link: Connection, statement: str, *values: Any, **words: object) -> list[Any]:
        return link.run(self._say(statement, **words), *values)

    def _look_up(
        self, run: Execute, statement: str, campaign: int, wanted: list[Any]
    ) -> Iterator[Any]:
        """Find rows by a list of values, some at a time."""
        for at in range(0, len(wanted), self.most):
            among, values = self._among(wanted[at : at + self.most])
            yield from run(self._say(statement, among=among), campaign, *values)

    def _id(self, name: str) -> int:
        """Look up the number of a campaign; its row is never removed, so once is enough."""
        if name not in self._ids:
            kept = self._kept(name, "name")
            with self._look() as link:
                found = [] if link is None else self._run(link, statements.ID, kept)
            if not found:
                raise self._unknown(name)
            number, note = found[0]
            if note is not None:
                raise self._gone(name, note)
            self._ids[name] = int(number)
        return self._ids[name]

    def check_here(self, name: str) -> None:
        """Complain about a campaign whose log is empty if that was archived or deleted."""
        self._ids.pop(name, None)
        self._id(name)

    def _gone(self, name: str, note: str) -> Conflict | UnknownName:
        self._ids.pop(name, None)
        if note == statements.DELETED:
            return errors.campaign_deleted(name)
        return errors.campaign_archived(name, json.loads(self._given(note))["file"])

    def _all_ids(self, link: Connection) -> dict[str, int]:
        return {self._given(name): int(number) for name, number in self._run(link, statements.IDS)}

    def _joined(
        self, link: Connection, campaign: int, after: int, upto: int
    ) -> Iterator[EventColumns]:
        """Read a log piece by piece, each as a row of texts that the database has joined."""
        while True:
            joined = JoinedRows(*link.run(self._joining, campaign, after, upto)[0])
            if joined.size:
                part = joined.columns(after)
                if part is None:
                    last = min(upto, after + joined.size)
                    part = columns_of([*self._rows(link, campaign, after, last, JOINED)])
                yield part
                after = part.last
            if joined.size < JOINED:
                return

    @cached_property
    def _last(self) -> str:
        """``LAST`` in this database: every write asks."""
        return self._say(statements.LAST)

    @cached_property
    def _joining(self) -> str:
        short = f"CASE WHEN length(body) > {_LONGEST} THEN '' ELSE body END"
        return self._say(
            statements.JOINED_EVENTS,
            seqs=self._join("seq"),
            kinds=self._join("kind"),
            bodies=self._join(short, lines=True),
            longest=_LONGEST,
            chunk=JOINED,
        )

    @abstractmethod
    def _join(self, what: str, *, lines: bool = False) -> str:
        """An aggregate: all of a column in the order of the log as text, commas between them.

        With ``lines`` it is newlines, and the text may come as bytes.
        """

    def _rows(
        self, link: Connection, campaign: int, after: int, upto: int, chunk: int
    ) -> Iterator[Any]:
        """Read a log piece by piece: what is there stays there, so together they are one log."""
        while True:
            rows = self._run(link, statements.EVENTS, campaign, after, upto, chunk=chunk)
            yield from map(self._as_written, rows)
            if len(rows) < chunk:
                return
            after = rows[-1][0]

    def _as_written(self, row: Any) -> Any:
        """The row of an event with its key as it was before it was kept."""
        return row if row[3] is None else (*row[:3], self._given(row[3]), row[4])

    def _campaign_items(self, link: Connection, name: str, campaign: int) -> Iterator[Item]:
        ((created, spec, _),) = self._run(link, statements.HEAD, campaign)
        yield Head(name, created, self._given(spec))
        yield from map(EventRow._make, self._rows(link, campaign, 0, _END, CHUNK))
        yield from self._all_replies(link, campaign)

    def _all_replies(self, link: Connection, campaign: int) -> Iterator[Reply]:
        rows = self._run(link, statements.FIRST_REPLIES, campaign, chunk=CHUNK)
        while rows:
            yield from (Reply(*map(self._given, row)) for row in rows)
            rows = self._run(link, statements.NEXT_REPLIES, campaign, rows[-1][0], chunk=CHUNK)

    def _items(self, link: Connection, campaigns: dict[str, int]) -> Iterator[Item]:
        given, in_order = self._given, self._given_in_order
        for name, campaign in sorted(campaigns.items()):
            yield from self._campaign_items(link, name, campaign)
        # No id is empty, so this is below all of them.
        place = ("", "")
        while rows := self._run(link, statements.ALL_RECORDS, *place, chunk=CHUNK):
            for kind, record, body in rows:
                yield Record(in_order(kind), in_order(record), given(body))
            place = rows[-1][:2]
