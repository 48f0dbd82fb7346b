"""A store in one SQLite file: the default for campaigns that have to last."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from askwise.core.errors import StoreError, UnknownName
from askwise.core.events import Event
from askwise.store.backup.portable import Item, Portable, lent
from askwise.store.base import (
    Reply,
    Snapshot,
    Transaction,
    campaign_exists,
    inside_write,
    log_moved,
    nothing_kept,
    refused_url,
    reply_exists,
    snapshot_ahead,
    unknown_campaign,
    write_is_over,
)
from askwise.store.migrations.on_sqlite import pending
from askwise.store.records import Change, Record, check_limit, end_of, in_order, whole
from askwise.store.rows import pack, unpack
from askwise.store.sqlite.connections import Connections, Link
from askwise.store.sqlite.copying import SqliteFilling, SqliteView

_PATIENCE = 30.0
_END = 2**62
"""Above every sequence number."""

_EVENTS = """
    SELECT seq, kind, time, key, body FROM events
    WHERE campaign = ? AND seq > ? AND seq <= ? ORDER BY seq
"""

_TOGETHER = 500
"""Keys or events looked up in one statement: older SQLites take 999 values."""


class _SqliteTransaction(Transaction):
    """Works on the connection of its thread, on which a transaction is open."""

    def __init__(self, link: Link, name: str, campaign: int) -> None:
        self.link = link
        self.name = name
        self.campaign = campaign
        self.over = False
        self.failure: StoreError | None = None
        self._replies: dict[str, Reply | None] = {}

    def tail(self, after: int) -> list[Event]:
        with self._guard():
            return unpack(self.link.run(_EVENTS, self.campaign, after, _END))

    def reply(self, key: str) -> Reply | None:
        return self.replies([key]).get(key)

    def replies(self, keys: Sequence[str]) -> dict[str, Reply]:
        # The lock is ours: what was looked up once stays so.
        new = [key for key in dict.fromkeys(keys) if key not in self._replies]
        with self._guard():
            found = _replies(self.link, self.campaign, new)
        self._replies.update({key: found.get(key) for key in new})
        known = ((key, self._replies[key]) for key in keys)
        return {key: reply for key, reply in known if reply is not None}

    def append(self, events: Sequence[Event], expected_seq: int) -> None:
        with self._guard():
            last = _last(self.link, self.campaign)
        if last != expected_seq:
            raise log_moved(self.name, last, expected_seq)
        rows = [(self.campaign, *row) for row in pack(events, expected_seq)]
        with self._guard():
            self.link.run_many("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", rows)

    def keep(self, reply: Reply) -> None:
        if self.reply(reply.key) is not None:
            raise reply_exists(self.name, reply.key)
        with self._guard():
            self.link.run(
                "INSERT INTO replies VALUES (?, ?, ?, ?)",
                self.campaign,
                reply.key,
                reply.request,
                reply.body,
            )
        self._replies[reply.key] = reply

    def check(self) -> None:
        """Complain if the transaction can't go on."""
        if self.over:
            raise write_is_over()
        _check_home(self.link)
        if self.failure is not None:
            raise nothing_kept(self.failure) from self.failure

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
        self._connections = Connections(self.file, patience)
        self._ids: dict[str, int] = {}

    @classmethod
    def from_url(cls, url: str) -> SqliteStore:
        """Open the file of a url ``sqlite:///FILE``."""
        file = url.removeprefix("sqlite:///")
        if file in (url, "", ":memory:"):
            raise refused_url(url, "'sqlite:///FILE' or, for an absolute path, 'sqlite:////FILE'")
        return cls(file)

    def create(self, name: str, spec: str, time: float) -> None:
        self._connections.missing()
        with self._connections.use() as link:
            if link.writing:
                raise inside_write("create a campaign")
            with _exclusive(link):
                if link.run("SELECT 1 FROM campaigns WHERE name = ?", name):
                    raise campaign_exists(name)
                link.run(
                    "INSERT INTO campaigns (name, spec, created) VALUES (?, ?, ?)",
                    name,
                    spec,
                    time,
                )

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
        with self._connections.use() as link:
            if link.writing:
                raise inside_write("write")
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
        campaign, wanted = self._id(name), sorted(set(seqs))
        rows: list[Any] = []
        with self._connections.use() as link:
            for at in range(0, len(wanted), _TOGETHER):
                chunk = wanted[at : at + _TOGETHER]
                rows += link.run(
                    "SELECT seq, kind, time, key, body FROM events WHERE campaign = ? AND seq IN "
                    f"({','.join('?' * len(chunk))}) ORDER BY seq",
                    campaign,
                    *chunk,
                )
        return unpack(rows)

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
        with self._connections.use() as link:
            if link.writing:
                raise inside_write("save a snapshot")
            last = _last(link, campaign)
            if snapshot.seq > last:
                raise snapshot_ahead(name, last, snapshot)
            link.run(
                "INSERT OR REPLACE INTO snapshots (campaign, version, seq, blob) "
                "VALUES (?, ?, ?, ?)",
                campaign,
                snapshot.version,
                snapshot.seq,
                snapshot.blob,
            )

    def snapshot(self, name: str, version: str, upto: int | None = None) -> Snapshot | None:
        campaign = self._id(name)
        with self._connections.use() as link:
            found = link.run(
                "SELECT seq, version, blob FROM snapshots "
                "WHERE campaign = ? AND version = ? AND seq <= ? ORDER BY seq DESC LIMIT 1",
                campaign,
                version,
                _END if upto is None else upto,
            )
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
        self._connections.missing()
        with self._connections.use() as link:
            if link.writing:
                raise inside_write("change records")
            with _exclusive(link):
                for kind, record, before, _ in ordered:
                    if _body(link, kind, record) != before:
                        return False
                for kind, record, _, after in ordered:
                    if after is None:
                        link.run("DELETE FROM records WHERE kind = ? AND id = ?", kind, record)
                    else:
                        link.run(
                            "INSERT OR REPLACE INTO records VALUES (?, ?, ?)", kind, record, after
                        )
        return True

    @contextmanager
    def contents(self) -> Iterator[Iterator[Item]]:
        if self._connections.missing():
            yield iter(())
            return
        with (
            self._connections.use_apart("read out the store") as link,
            lent(SqliteView(link).items()) as items,
        ):
            yield items

    def fill(self, items: Iterable[Item]) -> None:
        self._connections.missing()
        with self._connections.use() as link:
            if link.writing:
                raise inside_write("fill the store")
            with _exclusive(link):
                SqliteFilling(link).take(items)

    def pending(self) -> list[str]:
        """Name the steps that the next use would apply to the schema; nothing is changed."""
        self._connections.missing()
        return pending(self.file)

    def close(self) -> None:
        self._connections.close()

    def _id(self, name: str) -> int:
        """Look up the number of a campaign; campaigns are never removed, so once is enough."""
        known = self._ids.get(name)
        if known is not None:
            return known
        if self._connections.missing():
            raise UnknownName(
                f"campaign {name!r} is not known: there is no store {self.file} yet",
                field="name",
                reason="unknown_campaign",
            )
        with self._connections.use() as link:
            found = link.run("SELECT id FROM campaigns WHERE name = ?", name)
        if not found:
            raise unknown_campaign(name, self.names())
        self._ids[name] = int(found[0][0])
        return self._ids[name]


def _last(link: Link, campaign: int) -> int:
    found = link.run(
        "SELECT seq FROM events WHERE campaign = ? ORDER BY seq DESC LIMIT 1", campaign
    )
    return int(found[0][0]) if found else 0


def _replies(link: Link, campaign: int, keys: Sequence[str]) -> dict[str, Reply]:
    found: dict[str, Reply] = {}
    for at in range(0, len(keys), _TOGETHER):
        chunk = keys[at : at + _TOGETHER]
        rows = link.run(
            "SELECT key, request, body FROM replies WHERE campaign = ? AND key IN "
            f"({','.join('?' * len(chunk))})",
            campaign,
            *chunk,
        )
        found.update({row[0]: Reply(*row) for row in rows})
    return found


def _body(link: Link, kind: str, record: str) -> str | None:
    found = link.run("SELECT body FROM records WHERE kind = ? AND id = ?", kind, record)
    return str(found[0][0]) if found else None


@contextmanager
def _exclusive(link: Link) -> Iterator[None]:
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


def _commit(link: Link) -> None:
    try:
        link.run("COMMIT")
    except StoreError as error:
        raise StoreError(
            f"the commit failed ({error}): look at what is there before you retry",
            reason="write_in_doubt",
        ) from error


def _rollback(link: Link) -> None:
    try:
        if link.in_transaction:
            link.run("ROLLBACK")
    except StoreError:
        # The exception that led here is under way. Disconnecting rolls back too.
        link.close()


def _check_home(link: Link) -> None:
    if link.is_foreign:
        raise StoreError(
            f"{link.file}: a write can't be continued in a forked process; its parent has it",
            reason="store_misused",
        )
