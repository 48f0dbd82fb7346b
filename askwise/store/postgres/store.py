"""A store in a PostgreSQL database: for many campaigns, or several machines."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, Literal

from askwise.core.errors import Conflict, StoreError
from askwise.core.events import Event
from askwise.store import errors
from askwise.store.amending.sql import SqlAmending
from askwise.store.backup.portable import Filler, Item
from askwise.store.base import Reply, Snapshot, Transaction
from askwise.store.event_rows import EventRow, encode, pack, unpack
from askwise.store.migrations.on_postgres import pending
from askwise.store.news import TellsNews, Told
from askwise.store.postgres import inserts, text
from askwise.store.postgres.address import read_address
from askwise.store.postgres.connection import PostgresConnection, clash, connect
from askwise.store.postgres.connections import PostgresConnections
from askwise.store.postgres.news import PostgresNews
from askwise.store.records import Change, in_order
from askwise.store.sql import (
    DELETED,
    EVENTS,
    LAST,
    LOOK,
    PATIENCE,
    RENAMED_SINCE,
    SqlTransaction,
    last_of,
)

_CONNECTIONS = 10

_TAIL = 256
"""The most events of others that come with the lock; more take another round trip."""

_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

# What is read out or filled in may come and go slowly, with pauses in the transaction.
_TAKE_TIME = "SET LOCAL idle_in_transaction_session_timeout = 0"

_KNOWN = "SELECT archived FROM askwise.campaigns WHERE name = %s"

# Not FOR UPDATE: that would also hold up snapshots, which refer to the row.
_LOCKING = " FOR NO KEY UPDATE"
_LOCK = f"SELECT name FROM askwise.campaigns WHERE id = %s AND archived IS NULL{_LOCKING}"

# A statement sees what was there when it began: the row comes first, so that a log that is being
# rewritten is waited for and then seen.
_SHARE = "SELECT FROM askwise.campaigns WHERE id = %s FOR KEY SHARE"
_SAVE = f"""
    INSERT INTO askwise.snapshots (campaign, version, seq, blob)
    SELECT %s, %s, %s, %b WHERE NOT EXISTS ({RENAMED_SINCE.format(s="askwise.", v="%s")})
    ON CONFLICT (campaign, version, seq) DO UPDATE SET blob = excluded.blob
"""


class _PostgresTransaction(SqlTransaction):
    """What is new waits and goes out with the commit, unless events are read before."""

    link: PostgresConnection
    changed = False
    fetched: tuple[int, list[Any]] | None = None
    """The rows of all events above a number, if they came with the lock."""

    def tail(self, after: int) -> list[Event]:
        self.check()
        if self.fetched is None or self.grown or after < self.fetched[0]:
            return super().tail(after)
        return unpack(row for row in self.fetched[1] if row[0] > after)

    def _append(self, rows: list[EventRow]) -> None:
        self.link.insert_later(inserts.APPEND, self.campaign, inserts.event_rows(rows))
        self.changed = True

    def _keep(self, reply: Reply) -> None:
        self.link.insert_later(inserts.KEEP, self.campaign, inserts.reply_rows([reply]))
        self.changed = True


class PostgresStore(SqlAmending, TellsNews):
    """Campaigns in a PostgreSQL database, which any number of processes may use at a time.

    The tables are in a schema of their own, ``askwise``; nothing else of the database is touched.
    It is made with the first campaign or record and brought up to date when first opened.

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

    schema, mark, most = "askwise.", "%s", 10_000
    locking = _LOCKING
    reach: Literal["process", "store"] = "store"
    moment = ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", _TAKE_TIME)
    _connections: PostgresConnections
    _kept, _given = staticmethod(text.kept), staticmethod(text.given)
    _kept_in_order = staticmethod(text.kept_in_order)
    _given_in_order = staticmethod(text.given_in_order)

    def __init__(
        self, url: str, patience: float = PATIENCE, connections: int = _CONNECTIONS
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
        self._news = PostgresNews(self._address, patience)
        self._ends: dict[str, int] = {}
        """Where logs ended that were written here: what is above is another process's."""
        super().__init__()

    def __repr__(self) -> str:
        return f"<PostgresStore {self._address}>"

    def create(self, name: str, spec: str, time: float) -> None:
        with self._connections.use_outside("create a campaign") as link:
            link.make_schema()
            values = text.kept(name, "name"), text.kept(spec, "spec"), float(time)
            with _doubtful(link, "created"):
                made = link.run(inserts.CREATE, *values)
            if not made:
                ((note,),) = link.run(_KNOWN, values[0])
                raise errors.campaign_exists(name, deleted=note == DELETED)

    @contextmanager
    def write(self, name: str) -> Iterator[Transaction]:
        self._connections.check_outside("write")
        campaign = self._id(name)
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
        self._ends[name] = transaction.last
        if transaction.grown:
            self._news.post(name)

    def append(
        self, name: str, events: Sequence[Event], expected_seq: int, replies: Sequence[Reply] = ()
    ) -> None:
        self._connections.check_outside("append")
        campaign = self._id(name)
        grown = encode(inserts.event_rows(pack(events, expected_seq)))
        kept = encode(inserts.reply_rows(replies))
        values = campaign, text.kept(name, "name"), campaign, grown, expected_seq, kept
        try:
            with self._connections.turn(campaign), self._connections.use() as link:
                found = _committed(link, inserts.WRITE, *values, expected_seq)
        except StoreError as error:
            raise self._overtaken(name, expected_seq, replies, error) or error from error.__cause__
        ((held, ended),) = found
        if not held:
            raise self._moved(name)
        if ended != expected_seq:
            raise errors.log_moved(name, ended, expected_seq)
        self._ends[name] = expected_seq + len(events)
        if events:
            self._news.post(name)

    def subscribe(self, told: Told) -> Callable[[], None]:
        return self._news.subscribe(told)

    def close(self) -> None:
        super().close()
        self._news.close()

    def change(self, changes: Sequence[Change]) -> bool:
        statements = inserts.changes_of(in_order(changes))
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

    def _change_on(self, link: PostgresConnection, changes: Sequence[Change]) -> bool:
        return all(link.run_together(inserts.changes_of(changes))) if changes else True

    def _hold(self, link: PostgresConnection, name: str, expected_seq: int) -> tuple[int, str]:
        held = super()._hold(link, name, expected_seq)
        # Those who save a snapshot wait as well: it is of before what is done now.
        link.run("SELECT FROM askwise.campaigns WHERE id = %s FOR UPDATE", held[0])
        return held

    def _told(self, name: str, last: int) -> None:
        self._ends[name] = last
        self._news.post(name)

    def scrub(self) -> None:
        """Do nothing: the server removes old versions of rows by itself (``VACUUM``)."""

    def fill(self, items: Iterable[Item]) -> None:
        with self._alone("fill the store", "look whether the store is still empty") as link:
            inserts.PostgresFiller(link).take(items)

    @contextmanager
    def _alone(self, verb: str, remedy: str = "look") -> Iterator[PostgresConnection]:
        with self._connections.use_outside(verb) as link:
            link.make_schema()
            link.writing = True
            link.run(_BEGIN)
            link.run(_TAKE_TIME)
            yield link
            _commit(link, remedy)

    def _filler(self, link: PostgresConnection, campaign: int | None) -> Filler:
        return inserts.PostgresFiller(link, campaign or 0, alone=False)

    def pending(self) -> list[str]:
        """Name the steps that the next use would apply to the schema; nothing is changed."""
        with closing(connect(self._address, self._patience)) as connection:
            return pending(connection, str(self._address))

    def ping(self) -> None:
        with self._connections.use_to_probe() as link:
            link.run("SELECT 1")

    @contextmanager
    def _look(self, *, apart: bool = False) -> Iterator[PostgresConnection | None]:
        pool = self._connections
        with pool.use_apart(LOOK) if apart else pool.use() as link:
            yield link if link.has_schema() else None

    def _save(self, link: PostgresConnection, campaign: int, snapshot: Snapshot) -> None:
        version, seq = text.kept(snapshot.version, "version"), snapshot.seq
        values = campaign, version, seq, snapshot.blob, campaign, seq
        with _doubtful(link, "saved"):
            link.run_together([(_BEGIN, ()), (_SHARE, (campaign,)), (_SAVE, values)])
            link.commit()

    def _among(self, values: list[Any]) -> tuple[str, list[Any]]:
        return "= ANY(%s)", [values]

    def _join(self, what: str, *, lines: bool = False) -> str:
        between = "chr(10)" if lines else "','"
        return f"string_agg(CAST({what} AS text), {between} ORDER BY seq)"

    def _begin(self, link: PostgresConnection, name: str, campaign: int) -> _PostgresTransaction:
        link.writing = True
        # The log's end is a statement of its own, so that it is looked up once the row is had.
        statements = [(_BEGIN, ()), (_LOCK, (campaign,)), (self._say(LAST), (campaign,))]
        seen = self._ends.get(name)
        if seen is not None:
            events = self._say(EVENTS, chunk=_TAIL)
            statements.append((events, (campaign, seen, seen + _TAIL)))
        _, found, last, *more = link.run_together(statements)
        tail = more[0] if more else []
        if found != [(text.kept(name, "name"),)]:
            raise self._moved(name)
        transaction = _PostgresTransaction(self, link, name, campaign, last_of(last))
        if seen is not None and len(tail) < _TAIL:
            transaction.fetched = seen, [*map(self._as_written, tail)]
        return transaction

    def _moved(self, name: str) -> StoreError:
        self._ends.pop(name, None)
        self.check_here(name)
        self._ids.pop(name, None)
        return StoreError(
            f"{self._address}: campaign {name!r} is not where it was, as if the database had "
            "been restored meanwhile: try again"
        )

    def _overtaken(
        self, name: str, expected: int, replies: Sequence[Reply], error: StoreError
    ) -> Conflict | None:
        """What a refused row says: another process has written while ours waited for the lock."""
        refused = clash(error)
        if refused == "events_pkey":
            return errors.log_moved(name, self.position(name), expected)
        if refused == "replies_pkey":
            keys = [reply.key for reply in replies]
            # One key twice among ours is refused too, and then none of them may be kept.
            return errors.reply_exists(name, next(iter(self.replies(name, keys)), keys[0]))
        return None


def _commit(link: PostgresConnection, remedy: str) -> None:
    try:
        link.commit()
    except StoreError as error:
        if link.is_connected:  # so the server has said no
            raise errors.nothing_kept(error) from error
        message = f"the commit failed ({error}): {remedy} before you retry"
        raise errors.in_doubt(message) from error


def _committed(link: PostgresConnection, statement: str, *values: Any) -> list[Any]:
    """Execute a statement that is a transaction of its own."""
    try:
        return link.run(statement, *values)
    except StoreError as error:
        if not link.is_connected:
            message = f"the commit failed ({error}): look up the key, or read the log,"
            raise errors.in_doubt(f"{message} before you retry") from error
        if clash(error) or error.reason == "store_busy":
            raise
        raise errors.nothing_kept(error) from error


@contextmanager
def _doubtful(link: PostgresConnection, done: str) -> Iterator[None]:
    """Say of a statement that commits by itself if it may or may not have committed."""
    try:
        yield
    except StoreError as error:
        if link.is_connected:
            raise
        message = f"{error}: it may have been {done}, look before you retry"
        raise errors.in_doubt(message) from error
