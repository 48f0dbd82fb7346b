"""A store in a PostgreSQL database: for many campaigns, or several machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from typing import Any

from askwise.core.errors import StoreError
from askwise.core.events import Event
from askwise.store import errors
from askwise.store.backup.portable import Item, Portable, lent
from askwise.store.base import Reply, Snapshot, Transaction
from askwise.store.event_rows import pack, unpack
from askwise.store.migrations.on_postgres import pending
from askwise.store.postgres import records as postgres_records
from askwise.store.postgres.address import read_address
from askwise.store.postgres.connection import PostgresConnection, connect
from askwise.store.postgres.connections import PostgresConnections
from askwise.store.postgres.copying import PostgresFiller, postgres_contents
from askwise.store.postgres.inserts import APPEND, CREATE, KEEP, event_row, reply_row
from askwise.store.postgres.text import given, kept
from askwise.store.records import Change, Record, check_limit, in_order
from askwise.store.sql import SqlTransaction

_PATIENCE = 30.0
_CONNECTIONS = 10
_END = 2**62
"""Above every sequence number."""

_CHUNK = 10_000
"""Events read in one round trip: libpq holds all rows of an answer at once."""

_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

# Not FOR UPDATE: that would also hold up snapshots, which refer to the row.
_LOCK = "SELECT name FROM askwise.campaigns WHERE id = %s FOR NO KEY UPDATE"

_LAST = "SELECT seq FROM askwise.events WHERE campaign = %s ORDER BY seq DESC LIMIT 1"

_EVENTS = f"""
    SELECT seq, kind, time, key, body FROM askwise.events
    WHERE campaign = %s AND seq > %s AND seq <= %s ORDER BY seq LIMIT {_CHUNK}
"""

_PICK = """
    SELECT seq, kind, time, key, body FROM askwise.events
    WHERE campaign = %s AND seq = ANY(%s::bigint[]) ORDER BY seq
"""

_REPLIES = """
    SELECT key, request, body FROM askwise.replies WHERE campaign = %s AND key = ANY(%s)
"""

_SAVE = """
    INSERT INTO askwise.snapshots (campaign, version, seq, blob) VALUES (%s, %s, %s, %b)
    ON CONFLICT (campaign, version, seq) DO UPDATE SET blob = excluded.blob
"""

_SNAPSHOT = """
    SELECT seq, version, blob FROM askwise.snapshots
    WHERE campaign = %s AND version = %s AND seq <= %s ORDER BY seq DESC LIMIT 1
"""


class _PostgresTransaction(SqlTransaction):
    """Works on the connection of its thread, on which a transaction holds the campaign's row.

    While it does, nobody else appends: where the log ends is asked once. What is new waits and
    goes out with the commit, unless events are read before.
    """

    def __init__(self, link: PostgresConnection, name: str, campaign: int, last: int) -> None:
        super().__init__(name, campaign)
        self.link = link
        self.last = last
        self.changed = False

    def tail(self, after: int) -> list[Event]:
        self.check()
        if after >= self.last:
            return []
        return _read(self.link, self.campaign, after, None)

    def append(self, events: Sequence[Event], expected_seq: int) -> None:
        self.check()
        if self.last != expected_seq:
            raise errors.log_moved(self.name, self.last, expected_seq)
        rows = [event_row(row) for row in pack(events, expected_seq)]
        if rows:
            self.link.insert_later(APPEND, self.campaign, rows)
            self.last += len(rows)
            self.changed = True

    def check(self) -> None:
        super().check()
        self.link.check()

    def _look_up(self, keys: list[str]) -> dict[str, Reply]:
        wanted = [kept(key, "key") for key in keys]
        return _as_replies(self.link.run_ahead(_REPLIES, self.campaign, wanted))

    def _insert(self, reply: Reply) -> None:
        self.link.insert_later(KEEP, self.campaign, [reply_row(reply)])
        self.changed = True


class PostgresStore(Portable):
    """Campaigns in a PostgreSQL database, which any number of processes may use at a time.

    The tables are in a schema of their own, ``askwise``; nothing else of the database is touched.
    It is made with the first campaign or record and brought up to date by whoever comes first.

    A write locks its campaign's row, so that writers of one campaign take turns and those of
    others do not wait (isolation level ``READ COMMITTED``). A commit is on the server's disk when
    it returns: ``synchronous_commit`` is left as the server has it, but never ``off``. How safe
    that disk is, is for the server to say (``fsync``, replicas).

    Connections are made as needed and shared by the threads. One that is lost gives an error, and
    the next use makes another; what the server has closed while it was idle is not even noticed.

    Parameters
    ----------
    url : str
        ``postgresql://USER:PASSWORD@HOST:PORT/DATABASE?OPTIONS``, as libpq takes it. What is left
        out comes from libpq's environment variables and password file. The database has to exist,
        in the encoding UTF8.
    patience : float
        Seconds to wait for another writer before StoreError is raised.
    connections : int
        How many this process may have at a time.

    Examples
    --------
    >>> store = PostgresStore("postgresql://ann@db.example/labels")
    >>> store
    <PostgresStore postgresql://ann@db.example/labels>
    >>> store.create("cats", spec="{}", time=0.0)  # doctest: +SKIP
    """

    def __init__(
        self, url: str, patience: float = _PATIENCE, connections: int = _CONNECTIONS
    ) -> None:
        if connections < 1:
            raise StoreError(
                f"connections is {connections}: give at least 1",
                field="connections",
                reason="invalid_parameter",
            )
        self._address = read_address(url, patience)
        self._patience = patience
        self._connections = PostgresConnections(self._address, patience, connections)
        self._ids: dict[str, int] = {}

    def __repr__(self) -> str:
        return f"<PostgresStore {self._address}>"

    def create(self, name: str, spec: str, time: float) -> None:
        with self._connections.use_outside("create a campaign") as link:
            link.make_schema()
            values = kept(name, "name"), kept(spec, "spec"), float(time)
            with _doubtful(link, "created"):
                made = link.run(CREATE, *values)
        if not made:
            raise errors.campaign_exists(name)

    def spec(self, name: str) -> str:
        with self._connections.use() as link:
            campaign = self._id(link, name)
            ((spec,),) = link.run("SELECT spec FROM askwise.campaigns WHERE id = %s", campaign)
        return given(spec)

    def names(self) -> list[str]:
        with self._connections.use() as link:
            return _names(link)

    @contextmanager
    def write(self, name: str) -> Iterator[Transaction]:
        with self._connections.use_outside("write") as link:
            campaign = self._id(link, name)
        with self._connections.turn(campaign), self._connections.use() as link:
            transaction = self._begin(link, name, campaign)
            try:
                yield transaction
                transaction.check()
                if transaction.changed:
                    _commit(link, "look up the key, or read the log,")
                # Else it is rolled back: to commit a lock alone would wait for the disk as well.
            finally:
                transaction.over = True

    def read(self, name: str, after: int = 0, upto: int | None = None) -> list[Event]:
        with self._connections.use() as link:
            return _read(link, self._id(link, name), after, upto)

    def pick(self, name: str, seqs: Iterable[int]) -> list[Event]:
        wanted = sorted(set(seqs))
        with self._connections.use() as link:
            campaign = self._id(link, name)
            chunks = (wanted[at : at + _CHUNK] for at in range(0, len(wanted), _CHUNK))
            return unpack(
                chain.from_iterable(_as_given(link.run(_PICK, campaign, each)) for each in chunks)
            )

    def position(self, name: str) -> int:
        with self._connections.use() as link:
            return _position(link.run(_LAST, self._id(link, name)))

    def replies(self, name: str, keys: Sequence[str]) -> dict[str, Reply]:
        wanted = [kept(key, "key") for key in keys]
        with self._connections.use() as link:
            campaign = self._id(link, name)
            rows = link.run(_REPLIES, campaign, wanted) if wanted else []
        return _as_replies(rows)

    def save(self, name: str, snapshot: Snapshot) -> None:
        with self._connections.use_outside("save a snapshot") as link:
            campaign = self._id(link, name)
            last = _position(link.run(_LAST, campaign))
            if snapshot.seq > last:
                raise errors.snapshot_ahead(name, last, snapshot.seq)
            version = kept(snapshot.version, "version")
            with _doubtful(link, "saved"):
                link.run(_SAVE, campaign, version, snapshot.seq, snapshot.blob)

    def snapshot(self, name: str, version: str, upto: int | None = None) -> Snapshot | None:
        with self._connections.use() as link:
            values = self._id(link, name), kept(version, "version")
            found = link.run(_SNAPSHOT, *values, _END if upto is None else upto)
        return Snapshot(found[0][0], given(found[0][1]), found[0][2]) if found else None

    def record(self, kind: str, id: str) -> Record | None:
        with self._connections.use() as link:
            return postgres_records.find(link, kind, id)

    def records(
        self, kind: str, prefix: str = "", after: str = "", limit: int | None = None
    ) -> list[Record]:
        check_limit(limit)
        with self._connections.use() as link:
            return postgres_records.some(link, kind, prefix, after, limit)

    def change(self, changes: Sequence[Change]) -> bool:
        statements = postgres_records.statements(in_order(changes))
        with self._connections.use_outside("change records") as link:
            link.make_schema()
            if len(statements) == 1:
                ((statement, values),) = statements
                with _doubtful(link, "changed"):
                    return bool(link.run(statement, *values))
            _, *found = link.run_together([(_BEGIN, ()), *statements])
            if all(found):
                _commit(link, "look at the records")
            # Else it is rolled back.
            return all(found)

    @contextmanager
    def contents(self) -> Iterator[Iterator[Item]]:
        with (
            self._connections.use_apart("read out the store") as link,
            lent(postgres_contents(link).items()) as items,
        ):
            yield items

    def fill(self, items: Iterable[Item]) -> None:
        with self._connections.use_outside("fill the store") as link:
            link.make_schema()
            link.writing = True
            link.run(_BEGIN)
            PostgresFiller(link).take(items)
            _commit(link, "look whether the store is still empty")

    def pending(self) -> list[str]:
        """Name the steps that the next use would apply to the schema; nothing is changed."""
        with closing(connect(self._address, self._patience)) as connection:
            return pending(connection, str(self._address))

    def ping(self) -> None:
        with self._connections.use_to_probe() as link:
            link.run("SELECT 1")

    def close(self) -> None:
        self._connections.close()

    def _id(self, link: PostgresConnection, name: str) -> int:
        """Look up the number of a campaign; campaigns are never removed, so once is enough."""
        known = self._ids.get(name)
        if known is not None:
            return known
        found = (
            link.run("SELECT id FROM askwise.campaigns WHERE name = %s", kept(name, "name"))
            if link.has_schema()
            else []
        )
        if not found:
            raise errors.unknown_campaign(name, _names(link))
        self._ids[name] = int(found[0][0])
        return self._ids[name]

    def _begin(self, link: PostgresConnection, name: str, campaign: int) -> _PostgresTransaction:
        link.writing = True
        # The log's end is a statement of its own, so that it is looked up once the row is had.
        _, found, last = link.run_together(
            [(_BEGIN, ()), (_LOCK, (campaign,)), (_LAST, (campaign,))]
        )
        if found != [(kept(name, "name"),)]:
            self._ids.pop(name, None)
            raise StoreError(
                f"{self._address}: campaign {name!r} is not where it was, as if the database had "
                "been restored meanwhile: try again"
            )
        return _PostgresTransaction(link, name, campaign, _position(last))


def _names(link: PostgresConnection) -> list[str]:
    if not link.has_schema():
        return []
    return sorted(given(name) for (name,) in link.run("SELECT name FROM askwise.campaigns"))


def _read(link: PostgresConnection, campaign: int, after: int, upto: int | None) -> list[Event]:
    return unpack(chain.from_iterable(_chunks(link, campaign, after, upto)))


def _chunks(
    link: PostgresConnection, campaign: int, after: int, upto: int | None
) -> Iterator[list[Any]]:
    """Read a log piece by piece: what is there stays there, so together they are one log."""
    while True:
        rows = link.run(_EVENTS, campaign, after, _END if upto is None else upto)
        yield _as_given(rows)
        if len(rows) < _CHUNK:
            return
        after = rows[-1][0]


def _as_given(rows: list[Any]) -> list[Any]:
    """Rows of events with their keys as they were before they were kept."""
    return [row if row[3] is None else (*row[:3], given(row[3]), row[4]) for row in rows]


def _as_replies(rows: list[Any]) -> dict[str, Reply]:
    return {given(row[0]): Reply(*map(given, row)) for row in rows}


def _position(rows: list[Any]) -> int:
    return int(rows[0][0]) if rows else 0


def _commit(link: PostgresConnection, remedy: str) -> None:
    try:
        link.commit()
    except StoreError as error:
        if link.is_connected:  # so the server has said no
            raise errors.nothing_kept(error) from error
        message = f"the commit failed ({error}): {remedy} before you retry"
        raise errors.in_doubt(message) from error


@contextmanager
def _doubtful(link: PostgresConnection, done: str) -> Iterator[None]:
    """Say of a statement that commits by itself if nobody knows whether it did."""
    try:
        yield
    except StoreError as error:
        if link.is_connected:
            raise
        message = f"{error}: it may have been {done}, look before you retry"
        raise errors.in_doubt(message) from error
