"""A store in one SQLite file: the default for campaigns that have to last."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import astuple
from pathlib import Path
from typing import Any

from askwise.core.errors import Conflict, StoreError, UnknownName
from askwise.core.events import Event
from askwise.store import errors
from askwise.store.amending.sql import SqlAmending
from askwise.store.backup.portable import Filler, Head, Item
from askwise.store.base import Reply, Snapshot, Transaction
from askwise.store.event_rows import EventRow, pack
from askwise.store.migrations.on_sqlite import pending
from askwise.store.news import News, TellsNews, Told
from askwise.store.records import Change, Record, in_order
from askwise.store.sql import DELETED, LOOK, PATIENCE, RENAMED_SINCE, SqlTransaction, last_of
from askwise.store.sqlite.connections import SqliteConnection, SqliteConnections

_CREATE = "INSERT INTO campaigns (name, created, spec) VALUES (?, ?, ?)"
_KNOWN = "SELECT archived FROM campaigns WHERE name = ?"
_KEEP = "INSERT INTO replies VALUES (?, ?, ?, ?)"
_BODY = "SELECT body FROM records WHERE kind = ? AND id = ?"
_SAVE = f"""
    INSERT OR REPLACE INTO snapshots (campaign, version, seq, blob)
    SELECT ?, ?, ?, ? WHERE NOT EXISTS ({RENAMED_SINCE.format(s="", v="?")})
"""


class _SqliteTransaction(SqlTransaction):
    link: SqliteConnection

    def _append(self, rows: list[EventRow]) -> None:
        self.link.insert("events", [(self.campaign, *row) for row in rows])

    def _keep(self, reply: Reply) -> None:
        self.link.run(_KEEP, self.campaign, *astuple(reply))


class SqliteStore(SqlAmending, TellsNews):
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

    most = 500  # older SQLites take 999 values
    _connections: SqliteConnections

    def __init__(self, file: str | os.PathLike[str], patience: float = PATIENCE) -> None:
        super().__init__()
        self._news = News()
        # Absolute from the start, as the working directory may change.
        self.file = Path(file).absolute()
        self._connections = SqliteConnections(self.file, patience)

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
            if known := link.run(_KNOWN, name):
                raise _taken(name, known)
            link.run(_CREATE, name, time, spec)

    @contextmanager
    def write(self, name: str) -> Iterator[Transaction]:
        campaign = self._id(name)
        with self._connections.use_outside("write") as link, _Exclusive(link):
            last = last_of(link.run(self._last, campaign))
            if last == 0:
                self.check_here(name)
            transaction = _SqliteTransaction(self, link, name, campaign, last)
            try:
                yield transaction
                transaction.check()
            finally:
                transaction.over = True
        if transaction.grown:
            self._news.post(name)

    def append(
        self, name: str, events: Sequence[Event], expected_seq: int, replies: Sequence[Reply] = ()
    ) -> None:
        # As ``write`` would, without a transaction to hand out: all that is written is known.
        campaign, rows = self._id(name), pack(events, expected_seq)
        with self._connections.use_outside("append") as link, _Exclusive(link):
            last = last_of(link.run(self._last, campaign))
            if last == 0:
                self.check_here(name)
            if last != expected_seq:
                raise errors.log_moved(name, last, expected_seq)
            keys = [reply.key for reply in replies]
            if keys:
                for taken in self.replies_on(link.run, campaign, keys):
                    raise errors.reply_exists(name, taken)
                if len(set(keys)) < len(keys):
                    raise errors.reply_exists(name, max(keys, key=keys.count))
                link.insert("replies", [(campaign, *astuple(reply)) for reply in replies])
            if rows:
                link.insert("events", [(campaign, *row) for row in rows])
        if rows:
            self._news.post(name)

    def subscribe(self, told: Told) -> Callable[[], None]:
        return self._news.subscribe(told)

    def change(self, changes: Sequence[Change]) -> bool:
        ordered = in_order(changes)
        with self._exclusive("change records") as link:
            return self._change_on(link, ordered)

    def _change_on(self, link: SqliteConnection, changes: Sequence[Change]) -> bool:
        for kind, record, before, _ in changes:
            found = link.run(_BODY, kind, record)
            if (found[0][0] if found else None) != before:
                return False
        for kind, record, _, after in changes:
            if after is None:
                link.run("DELETE FROM records WHERE kind = ? AND id = ?", kind, record)
            else:
                link.run("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", kind, record, after)
        return True

    def _told(self, name: str, last: int) -> None:
        self._news.post(name)

    def scrub(self) -> None:
        """Rewrite the file: freed pages and the write-ahead log still have what was replaced.

        Raises
        ------
        StoreError
            Others use the file all the time; what was replaced is replaced, and may be in it still.
        """
        with self._connections.use_outside("clean the file") as link:
            link.take_turn()
            try:
                link.run("VACUUM")
                ((busy, _, _),) = link.run("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                link.queue.release()
        if busy:
            raise errors.busy(self.file, self._connections.patience)

    def fill(self, items: Iterable[Item]) -> None:
        with self._exclusive("fill the store") as link:
            SqliteFiller(link).take(items)

    def pending(self) -> list[str]:
        """Name the steps that the next use would apply to the schema; nothing is changed."""
        self._connections.missing()
        return pending(self.file)

    def _look(self, *, apart: bool = False) -> AbstractContextManager[SqliteConnection | None]:
        if self._connections.missing():  # to connect would create the file
            return nullcontext()
        return self._connections.use_apart(LOOK) if apart else self._connections.use()

    def _save(self, link: SqliteConnection, campaign: int, snapshot: Snapshot) -> None:
        seq = snapshot.seq
        link.run(_SAVE, campaign, snapshot.version, seq, snapshot.blob, campaign, seq)

    def _among(self, values: list[Any]) -> tuple[str, list[Any]]:
        return f"IN ({','.join('?' * len(values))})", values

    def _join(self, what: str, *, lines: bool = False) -> str:
        # Rows come to it in the order of the query inside; who reads the text looks whether.
        return f"CAST(group_concat({what}, char(10)) AS BLOB)" if lines else f"group_concat({what})"

    def _unknown(self, name: str) -> UnknownName:
        if not self._connections.missing():
            return super()._unknown(name)
        message = f"campaign {name!r} is not known: there is no store {self.file} yet"
        return UnknownName(message, field="name", reason="unknown_campaign")

    def _alone(self, verb: str) -> AbstractContextManager[SqliteConnection]:
        return self._exclusive(verb)

    def _filler(self, link: SqliteConnection, campaign: int | None) -> Filler:
        return SqliteFiller(link, campaign or 0, alone=False)

    @contextmanager
    def _exclusive(self, verb: str) -> Iterator[SqliteConnection]:
        """Hold the write lock for what can't be done inside a write block."""
        self._connections.missing()
        with self._connections.use_outside(verb) as link, _Exclusive(link):
            yield link


class SqliteFiller(Filler):
    """Writes on the connection of its thread, on which a transaction is open."""

    def __init__(self, link: SqliteConnection, campaign: int = 0, *, alone: bool = True) -> None:
        self._link = link
        self._campaign = campaign
        for table in ("campaigns", "records") if alone else ():
            if link.run(f"SELECT 1 FROM {table} LIMIT 1"):
                raise errors.not_empty()

    def campaign(self, head: Head) -> None:
        if known := self._link.run(_KNOWN, head.name):
            raise _taken(head.name, known)
        self._link.run(_CREATE, *head)
        ((self._campaign,),) = self._link.run("SELECT last_insert_rowid()")

    def rows(self, rows: Sequence[EventRow]) -> None:
        self._link.insert("events", [(self._campaign, *row) for row in rows])

    def replies(self, replies: Sequence[Reply]) -> None:
        self._link.insert("replies", [(self._campaign, *astuple(reply)) for reply in replies])

    def records(self, records: Sequence[Record]) -> None:
        self._link.insert("records", list(map(astuple, records)))


def _taken(name: str, known: list[Any]) -> Conflict:
    return errors.campaign_exists(name, deleted=known[0][0] == DELETED)


class _Exclusive(AbstractContextManager[None]):
    """Holds the write lock: commits at the end of the block, rolls back on an exception."""

    __slots__ = ("_link",)

    def __init__(self, link: SqliteConnection) -> None:
        self._link = link

    def __enter__(self) -> None:
        link = self._link
        link.take_turn()
        try:
            link.writing, link.failure = True, None
            link.run("BEGIN IMMEDIATE")
        except BaseException:
            self._give_up()
            raise

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        link = self._link
        try:
            if kind is None:
                if link.is_foreign:
                    raise errors.forked(link.where)
                _commit(link)
        except BaseException:
            self._give_up()
            raise
        if kind is not None:
            self._give_up()
        else:
            link.writing = False
            link.queue.release()

    def _give_up(self) -> None:
        link = self._link
        try:
            if not link.is_foreign:
                _rollback(link)
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
