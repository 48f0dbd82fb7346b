"""A store in one SQLite file: the default for campaigns that have to last."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from askwise.core.errors import StoreError, UnknownName
from askwise.core.events import Event
from askwise.store import errors
from askwise.store.backup.portable import Item, Portable, lent
from askwise.store.base import Reply, Snapshot, Transaction
from askwise.store.event_rows import pack, unpack
from askwise.store.migrations.on_sqlite import pending
from askwise.store.records import Change, Record, check_limit, end_of, in_order, whole
from askwise.store.sql import SqlContents, SqlTransaction
from askwise.store.sqlite.connections import SqliteConnection, SqliteConnections
from askwise.store.sqlite.filling import APPEND, KEEP, SqliteFiller

_PATIENCE = 30.0
_END = 2**62
"""Above every sequence number."""

_EVENTS = """
    SELECT seq, kind, time, key, body FROM events
    WHERE campaign = ? AND seq > ? AND seq <= ? ORDER BY seq
"""

_PICK = """
    SELECT seq, kind, time, key, body FROM events WHERE campaign = ? AND seq IN ({}) ORDER BY seq
"""
_REPLIES = "SELECT key, request, body FROM replies WHERE campaign = ? AND key IN ({})"
_SAVE = "INSERT OR REPLACE INTO snapshots (campaign, version, seq, blob) VALUES (?, ?, ?, ?)"
_SNAPSHOT = """
    SELECT seq, version, blob FROM snapshots
    WHERE campaign = ? AND version = ? AND seq <= ? ORDER BY seq DESC LIMIT 1
"""

_TOGETHER = 500
"""Keys or events looked up in one statement: older SQLites take 999 values."""


class _SqliteTransaction(SqlTransaction):
    """Works on the connection of its thread, on which a transaction is open."""

    def __init__(self, link: SqliteConnection, name: str, campaign: int) -> None:
        super().__init__(name, campaign)
        self.link = link
        self.failure: StoreError | None = None

    def tail(self, after: int) -> list[Event]:
        with self._guard():
            return unpack(self.link.run(_EVENTS, self.campaign, after, _END))

    def append(self, events: Sequence[Event], expected_seq: int) -> None:
        with self._guard():
            last = _last(self.link, self.campaign)
        if last != expected_seq:
            raise errors.log_moved(self.name, last, expected_seq)
        rows = [(self.campaign, *row) for row in pack(events, expected_seq)]
        with self._guard():
            self.link.run_many(APPEND, rows)

    def _look_up(self, keys: list[str]) -> dict[str, Reply]:
        with self._guard():
            return _replies(self.link, self.campaign, keys)

    def _insert(self, reply: Reply) -> None:
        with self._guard():
            self.link.run(KEEP, self.campaign, reply.key, reply.request, reply.body)

    def check(self) -> None:
        super().check()
        _check_home(self.link)
        if self.failure is not None:
            raise errors.nothing_kept(self.failure) from self.failure

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Let nothing follow a failed statement: SQLite may have rolled back by itself."""
        self.check()
        try:
            yield
        except StoreError as error:
            self.failure = error
            raise


class SqliteStore(Portable):
    """Campaigns in one SQLite file, which several threads and processes may use at a time.

    A commit is on the disk when it returns (write-ahead log, ``synchronous=FULL``). All campaigns
    of a file share one write lock. The file is created with its first campaign or record. Use a
    local disk: SQLite's locks do not hold on network file systems.

    Parameters
    ----------
    file : str or path
        The database file. Its directory has to exist.
    patience : float
        Seconds to wait for another writer before StoreError is raised.

    Examples
    --------
    >>> import tempfile
    >>> directory = tempfile.TemporaryDirectory()
    >>> store = SqliteStore(directory.name + "/campaigns.sqlite")
    >>> store.create("cats", spec="{}", time=0.0)
    >>> store.names()
    ['cats']
    >>> store.close()
    >>> directory.cleanup()
    """

    def __init__(self, file: str | os.PathLike[str], patience: float = _PATIENCE) -> None:
        # Absolute from the start, as the working directory may change.
        self.file = Path(file).absolute()
        self._connections = SqliteConnections(self.file, patience)
        self._ids: dict[str, int] = {}

    @classmethod
    def from_url(cls, url: str) -> SqliteStore:
        """Open the file of a url ``sqlite:///FILE``."""
        file = url.removeprefix("sqlite:///")
        if file in (url, "", ":memory:"):
            raise errors.refused_url(
                url, "'sqlite:///FILE' or, for an absolute path, 'sqlite:////FILE'"
            )
        return cls(file)

    def create(self, name: str, spec: str, time: float) -> None:
        with self._exclusive("create a campaign") as link:
            if link.run("SELECT 1 FROM campaigns WHERE name = ?", name):
                raise errors.campaign_exists(name)
            insert = "INSERT INTO campaigns (name, spec, created) VALUES (?, ?, ?)"
            link.run(insert, name, spec, time)

    def spec(self, name: str) -> str:
        campaign = self._id(name)
        with self._connections.use() as link:
            ((spec,),) = link.run("SELECT spec FROM campaigns WHERE id = ?", campaign)
        return str(spec)

    def names(self) -> list[str]:
        if self._connections.missing():
            return []
        with self._connections.use() as link:
            return sorted(name for (name,) in link.run("SELECT name FROM campaigns"))

    @contextmanager
    def write(self, name: str) -> Iterator[Transaction]:
        campaign = self._id(name)
        with self._connections.use_outside("write") as link:
            transaction = _SqliteTransaction(link, name, campaign)
            with _exclusive(link):
                try:
                    yield transaction
                    transaction.check()
                finally:
                    transaction.over = True

    def read(self, name: str, after: int = 0, upto: int | None = None) -> list[Event]:
        campaign = self._id(name)
        with self._connections.use() as link:
            rows = link.run(_EVENTS, campaign, after, _END if upto is None else upto)
        return unpack(rows)

    def pick(self, name: str, seqs: Iterable[int]) -> list[Event]:
        campaign = self._id(name)
        with self._connections.use() as link:
            return unpack(_some(link, _PICK, campaign, sorted(set(seqs))))

    def position(self, name: str) -> int:
        campaign = self._id(name)
        with self._connections.use() as link:
            return _last(link, campaign)

    def replies(self, name: str, keys: Sequence[str]) -> dict[str, Reply]:
        campaign = self._id(name)
        with self._connections.use() as link:
            return _replies(link, campaign, keys)

    def save(self, name: str, snapshot: Snapshot) -> None:
        campaign = self._id(name)
        with self._connections.use_outside("save a snapshot") as link:
            last = _last(link, campaign)
            if snapshot.seq > last:
                raise errors.snapshot_ahead(name, last, snapshot.seq)
            link.run(_SAVE, campaign, snapshot.version, snapshot.seq, snapshot.blob)

    def snapshot(self, name: str, version: str, upto: int | None = None) -> Snapshot | None:
        campaign = self._id(name)
        with self._connections.use() as link:
            found = link.run(_SNAPSHOT, campaign, version, _END if upto is None else upto)
        return Snapshot(*found[0]) if found else None

    def record(self, kind: str, id: str) -> Record | None:
        values = whole(kind, "kind"), whole(id, "id")
        if self._connections.missing():
            return None
        with self._connections.use() as link:
            body = _body(link, *values)
        return None if body is None else Record(kind, id, body)

    def records(
        self, kind: str, prefix: str = "", after: str = "", limit: int | None = None
    ) -> list[Record]:
        check_limit(limit)
        end = end_of(whole(prefix, "prefix"))
        first = max(prefix, whole(after, "after"))
        values = [whole(kind, "kind"), first, after, *([] if end is None else [end])]
        if self._connections.missing():
            return []
        with self._connections.use() as link:
            found = link.run(
                "SELECT kind, id, body FROM records WHERE kind = ? AND id >= ? AND id <> ? "
                f"{'' if end is None else 'AND id < ? '}ORDER BY id LIMIT ?",
                *values,
                -1 if limit is None else limit,
            )
        return [Record(*row) for row in found]

    def change(self, changes: Sequence[Change]) -> bool:
        ordered = in_order(changes)
        with self._exclusive("change records") as link:
            for kind, record, before, _ in ordered:
                if _body(link, kind, record) != before:
                    return False
            for kind, record, _, after in ordered:
                if after is None:
                    link.run("DELETE FROM records WHERE kind = ? AND id = ?", kind, record)
                else:
                    link.run("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", kind, record, after)
        return True

    @contextmanager
    def contents(self) -> Iterator[Iterator[Item]]:
        if self._connections.missing():
            yield iter(())
            return
        with self._connections.use_apart("read out the store") as link:
            link.run("BEGIN")
            with lent(SqlContents(link.run).items()) as items:
                yield items

    def fill(self, items: Iterable[Item]) -> None:
        with self._exclusive("fill the store") as link:
            SqliteFiller(link).take(items)

    def pending(self) -> list[str]:
        """Name the steps that the next use would apply to the schema; nothing is changed."""
        self._connections.missing()
        return pending(self.file)

    def close(self) -> None:
        self._connections.close()

    @contextmanager
    def _exclusive(self, verb: str) -> Iterator[SqliteConnection]:
        """Hold the write lock for what can't be done inside a write block."""
        self._connections.missing()
        with self._connections.use_outside(verb) as link, _exclusive(link):
            yield link

    def _id(self, name: str) -> int:
        """Look up the number of a campaign; campaigns are never removed, so once is enough."""
        known = self._ids.get(name)
        if known is not None:
            return known
        if self._connections.missing():
            message = f"campaign {name!r} is not known: there is no store {self.file} yet"
            raise UnknownName(message, field="name", reason="unknown_campaign")
        with self._connections.use() as link:
            found = link.run("SELECT id FROM campaigns WHERE name = ?", name)
        if not found:
            raise errors.unknown_campaign(name, self.names())
        self._ids[name] = int(found[0][0])
        return self._ids[name]


def _last(link: SqliteConnection, campaign: int) -> int:
    found = link.run(
        "SELECT seq FROM events WHERE campaign = ? ORDER BY seq DESC LIMIT 1", campaign
    )
    return int(found[0][0]) if found else 0


def _some(
    link: SqliteConnection, statement: str, campaign: int, wanted: Sequence[Any]
) -> list[Any]:
    """Look up rows by a list of values, some at a time."""
    rows: list[Any] = []
    for at in range(0, len(wanted), _TOGETHER):
        chunk = wanted[at : at + _TOGETHER]
        rows += link.run(statement.format(",".join("?" * len(chunk))), campaign, *chunk)
    return rows


def _replies(link: SqliteConnection, campaign: int, keys: Sequence[str]) -> dict[str, Reply]:
    return {row[0]: Reply(*row) for row in _some(link, _REPLIES, campaign, keys)}


def _body(link: SqliteConnection, kind: str, record: str) -> str | None:
    found = link.run("SELECT body FROM records WHERE kind = ? AND id = ?", kind, record)
    return str(found[0][0]) if found else None


@contextmanager
def _exclusive(link: SqliteConnection) -> Iterator[None]:
    """Hold the write lock: commit at the end of the block, roll back on an exception."""
    link.take_turn()
    try:
        link.writing = True
        link.run("BEGIN IMMEDIATE")
        yield
        _check_home(link)
        _commit(link)
    except BaseException:
        if not link.is_foreign:
            _rollback(link)
        raise
    finally:
        link.writing = False
        link.queue.release()


def _commit(link: SqliteConnection) -> None:
    try:
        link.run("COMMIT")
    except StoreError as error:
        message = f"the commit failed ({error}): look at what is there before you retry"
        raise errors.in_doubt(message) from error


def _rollback(link: SqliteConnection) -> None:
    try:
        if link.in_transaction:
            link.run("ROLLBACK")
    except StoreError:
        # The exception that led here is under way. Disconnecting rolls back too.
        link.close()


def _check_home(link: SqliteConnection) -> None:
    if link.is_foreign:
        raise errors.forked(link.file)
