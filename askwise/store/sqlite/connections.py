"""Connections to one SQLite file: one a thread, and none carried across a fork."""

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes

from askwise.core.errors import StoreError
from askwise.store import errors
from askwise.store.connections import Connection, Connections
from askwise.store.migrations.on_sqlite import APPLICATION_ID, migrate

_FORK_PATIENCE = 1.0
"""Seconds that a fork waits for other threads' statements and transactions to end."""

_PAUSE = 0.01
"""Seconds between attempts where SQLite itself does not wait for a lock."""

_TOGETHER = (64, 16, 4, 1)
"""Rows that are inserted by one statement: a few numbers, as each makes a statement of its own."""

_PRIVATE = 0o600
"""The mode of a new file: it holds hashes of keys, secrets of webhooks, and answers."""


class SqliteConnection(Connection):
    """One thread's connection.

    Parameters
    ----------
    file : Path
        The database.
    patience : float
        Seconds to wait for a lock.
    queue : Lock
        Where the threads of this process wait for their turn to write: woken at once, while
        SQLite would look again only from time to time.

    Attributes
    ----------
    lock : RLock
        Held while the connection is in use.
    uses : int
        How many uses are nested; one of them may be a write block.
    """

    def __init__(self, file: Path, patience: float, queue: threading.Lock) -> None:
        super().__init__(file, patience)
        self.file = file
        self.queue = queue
        self.lock = threading.RLock()
        self.uses = 0
        self._connection: sqlite3.Connection | None = None

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._connection is not None and self._connection.in_transaction

    def run(self, statement: str, *values: Any) -> list[Any]:
        try:
            return self._open().execute(statement, values).fetchall()
        except (sqlite3.Error, UnicodeEncodeError) as error:
            raise self._failed(error) from error

    def insert(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert rows of all columns of a table.

        Several with one statement: after each one a thread waits for its turn to run Python again,
        behind all that have something to do.
        """
        connection, at = self._open(), 0
        try:
            for count in _TOGETHER:
                while len(rows) - at >= count:
                    row = f"({', '.join('?' * len(rows[at]))})"
                    statement = f"INSERT INTO {table} VALUES {', '.join([row] * count)}"
                    connection.execute(statement, list(chain.from_iterable(rows[at : at + count])))
                    at += count
        except (sqlite3.Error, UnicodeEncodeError) as error:
            raise self._failed(error) from error

    def take_turn(self) -> None:
        """Wait in the queue of writers; release ``queue`` when the transaction has ended."""
        if not self.queue.acquire(timeout=self.patience):
            raise errors.busy(self.file, self.patience)

    def close(self) -> None:
        """Disconnect; the next use connects again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def __del__(self) -> None:
        self.close()  # its thread has ended

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = _connect(self.file, self.patience)
        return self._connection

    def _failed(self, error: Exception) -> StoreError:
        """Turn an error of SQLite's into ours, and remember it."""
        self.failure = self._explain(error)
        return self.failure

    def _explain(self, error: Exception) -> StoreError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest is detail
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return errors.busy(self.file, self.patience)
        if code == sqlite3.SQLITE_NOTADB:
            return errors.unusable(f"{self.file} is not a database: give another file (unchanged)")
        return StoreError(f"{self.file}: {error}")


class SqliteConnections(Connections[SqliteConnection]):
    """The connections of one store: one a thread. The file is created by the first use."""

    def __init__(self, file: Path, patience: float) -> None:
        self.file = file
        self._lock = threading.RLock()
        self._queue = threading.Lock()
        self._links: weakref.WeakSet[SqliteConnection] = weakref.WeakSet()
        self._parked: list[SqliteConnection] = []
        self._left_open: list[SqliteConnection] = []
        super().__init__(file, patience)

    def missing(self) -> bool:
        """Tell whether there is no file yet, or an empty one; complain if there can't be one."""
        if self._closed:
            raise errors.store_closed()
        try:
            if self.file.is_dir():
                raise errors.unusable(f"{self.file} is a directory: give a file")
            if not self.file.parent.is_dir():
                raise errors.unusable(
                    f"{self.file} can't be opened: there is no directory {self.file.parent}; "
                    "create it first"
                )
            return not self.file.exists() or self.file.stat().st_size == 0
        except OSError as error:
            raise errors.unusable(f"{self.file} can't be opened: {error}") from error

    def use(self) -> AbstractContextManager[SqliteConnection]:
        return _Loan(self, self._own())

    @contextmanager
    def _lend_another(self) -> Iterator[SqliteConnection]:
        with _Loan(self, self._make()) as link:
            try:
                yield link
            finally:
                if not link.is_foreign:
                    link.close()

    def lend(self, link: SqliteConnection) -> None:
        """Let a thread use a connection, unless all are closed."""
        link.lock.acquire()
        if self._closed:
            link.lock.release()
            raise errors.store_closed()
        link.uses += 1

    def _make(self) -> SqliteConnection:
        link = SqliteConnection(self.file, self.patience, self._queue)
        with self._lock:
            self._links.add(link)
        return link

    def close(self) -> None:
        own = super()._own()
        if own is not None and own.writing:
            raise errors.inside_write("close the store")
        self._closed = True
        with self._lock:
            links = list(self._links)
        for link in links:
            with link.lock:
                link.close()

    def _own(self) -> SqliteConnection:
        link = super()._own()
        if link is not None and link.is_foreign:  # by a fork that Python did not see
            _abandoned.append(link)
            _torn.add(self.file)
            del self._local.link
        if self.file in _torn:
            raise errors.misused(
                f"{self.file} can't be used in this process, which was forked in the middle of a "
                "write to it: fork between writes, or start processes by spawning"
            )
        if link is None:
            link = self._local.link = self._make()
        return link

    def park(self) -> None:
        # What is idle is closed, and no other thread opens anything.
        self._lock.acquire()
        deadline = time.monotonic() + _FORK_PATIENCE
        for link in list(self._links):
            if not link.lock.acquire(timeout=max(deadline - time.monotonic(), 0.0)):
                self._left_open.append(link)
                continue
            self._parked.append(link)
            if link.uses:
                self._left_open.append(link)
            else:
                link.close()

    def resume(self) -> None:
        self._left_open.clear()
        while self._parked:
            self._parked.pop().lock.release()
        self._lock.release()

    def restart(self) -> None:
        if self._left_open:
            _abandoned.extend(self._left_open)
            _torn.add(self.file)
        self._queue = threading.Lock()
        self._links = weakref.WeakSet()
        self._local = threading.local()
        self.resume()


class _Loan(AbstractContextManager[SqliteConnection]):
    """A connection while it is in use: a class, as a commit takes a few of them."""

    __slots__ = ("_link", "_whose")

    def __init__(self, whose: SqliteConnections, link: SqliteConnection) -> None:
        self._whose = whose
        self._link = link

    def __enter__(self) -> SqliteConnection:
        self._whose.lend(self._link)
        return self._link

    def __exit__(self, *_: object) -> None:
        self._link.uses -= 1
        self._link.lock.release()


# SQLite's locks belong to the process, but a fork copies its record of them: a child takes the
# locks of its parent for its own, even on a connection that it opens itself, and then others
# remove the log under its feet. So nothing is open while we fork. Where that can't be had,
# because a write is under way, the child must neither use nor close what it inherited.
_abandoned: list[SqliteConnection] = []
_torn: set[Path] = set()


def _connect(file: Path, patience: float) -> sqlite3.Connection:
    address = f"file:{quote_from_bytes(os.fsencode(file))}"
    _check_ours(address, file)
    _create_private(file)
    connection = sqlite3.connect(
        f"{address}?mode=rwc",
        uri=True,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,  # so that one thread may close the connections of all
    )
    try:
        # The application id is written before the log is separated from the file (WAL), so
        # the file's first page always carries it.
        migrate(connection, str(file))
        _separate_log(connection, file, patience)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _create_private(file: Path) -> None:
    """Create the file for its owner alone, whatever the umask; leave one that is there as it is.

    SQLite gives the files beside it (log, shared memory) the mode of the database.
    """
    target = os.path.realpath(file)  # a link that points to nothing: SQLite creates what it names
    # To close a file drops all locks of this process on it. Nothing else of the process has it
    # open yet, as every connection comes through here first.
    with _creating:
        try:
            made = os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, _PRIVATE)
        except FileExistsError:
            return
        except OSError as error:
            raise errors.unusable(f"{file} can't be opened: {error}") from error
        try:
            if os.name == "posix":
                os.fchmod(made, _PRIVATE)
        finally:
            os.close(made)


_creating = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_creating.acquire,
        after_in_parent=_creating.release,
        after_in_child=_creating.release,
    )


def _check_ours(address: str, file: Path) -> None:
    """Refuse another program's file before SQLite may tidy it up (journals, log files)."""
    if not file.exists() or file.stat().st_size == 0:
        return
    connection = sqlite3.connect(f"{address}?mode=ro&immutable=1", uri=True)
    try:
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
    except sqlite3.DatabaseError as error:
        # Looked at without its log, a file of ours may seem damaged while a log is moved into it.
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CORRUPT:
            return
        raise
    finally:
        connection.close()
    if owner != APPLICATION_ID:
        raise errors.unusable(
            f"{file} is not an askwise store but a file of another program: give another file "
            "(this one is unchanged)"
        )


def _separate_log(connection: sqlite3.Connection, file: Path, patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            break
        except sqlite3.OperationalError as error:
            # Here SQLite gives up at once while another process opens the same new file.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)
    if mode != "wal":
        raise errors.unusable(
            f"{file} is on a file system where SQLite can't keep a write-ahead log (mode is "
            f"{mode!r}): put it on a local disk"
        )
