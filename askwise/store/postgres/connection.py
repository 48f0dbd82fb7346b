"""One connection to a PostgreSQL database: its conversation, and its errors in our words."""

import math
import select
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from askwise.core.errors import StoreError
from askwise.store import errors
from askwise.store.connections import Connection
from askwise.store.event_rows import encode
from askwise.store.migrations import on_postgres
from askwise.store.postgres.address import Address

Statement = tuple[str, Sequence[Any]]
"""SQL with ``%s`` where values go, and the values."""

# A client whose machine has vanished in a transaction lets go of its campaign before others have
# waited too long for it (PATIENCE), and its session ends after a minute. A server that is set to
# acknowledge what it has not yet on the disk is overruled, and so is one whose statements
# give up where ours wait and look again. Numbers come back to the last bit, as text too.
_SETTINGS = """
    SELECT current_setting('server_encoding'),
           set_config('lock_timeout', %s, false),
           set_config('default_transaction_isolation', 'read committed', false),
           set_config('extra_float_digits', '1', false),
           set_config('tcp_keepalives_idle', '30', false),
           set_config('tcp_keepalives_interval', '10', false),
           set_config('tcp_keepalives_count', '3', false),
           CASE WHEN current_setting('idle_in_transaction_session_timeout') = '0'
                THEN set_config('idle_in_transaction_session_timeout', '20s', false) END,
           CASE WHEN current_setting('synchronous_commit') = 'off'
                THEN set_config('synchronous_commit', 'on', false) END
"""


class RawConnection(psycopg.Connection[Any]):
    """A connection that knows whether there is a store in its database."""

    has_schema = False


class PostgresConnection(Connection):
    """One connection, open, and lent to one thread for one use."""

    def __init__(self, address: Address, patience: float, connection: RawConnection) -> None:
        super().__init__(address, patience)
        self.address = address
        self._waiting: dict[tuple[str, int], list[dict[str, Any]]] = {}
        self._connection = connection

    @property
    def is_connected(self) -> bool:
        """Whether the connection is there and was not lost."""
        return not self._connection.closed

    def has_schema(self) -> bool:
        """Tell whether there is a store in the database."""
        with self._explained() as connection:
            if not connection.has_schema:
                bring_up_to_date(connection, self.address)
            return connection.has_schema

    def make_schema(self) -> None:
        """Make the database a store if it is none yet."""
        if not self.has_schema():
            with self._explained() as connection:
                on_postgres.migrate(connection, str(self.address))
                connection.has_schema = True

    def run(self, statement: str, *values: Any) -> list[Any]:
        # What waits comes first.
        if self._waiting:
            self.run_together([])
        return self.run_ahead(statement, *values)

    def run_ahead(self, statement: str, *values: Any) -> list[Any]:
        """Execute a statement ahead of what waits, and fetch its rows."""
        with self._explained() as connection:
            # Binary, so that numbers come back to the last bit whatever the server's settings.
            return _rows(connection.execute(statement.encode(), values, binary=True))

    def insert_later(self, statement: str, campaign: int, rows: list[dict[str, Any]]) -> None:
        """Let rows wait for the next round trip; all that wait for a statement become one.

        The statement's values are the campaign and the rows as JSON.
        """
        self._waiting.setdefault((statement, campaign), []).extend(rows)

    def run_together(self, statements: Sequence[Statement]) -> list[list[Any]]:
        """Execute what waits and then these in one round trip, up to the first that fails.

        Returns the rows of ``statements``.
        """
        found, _ = self._send(statements)
        return found[len(found) - len(statements) :]

    def commit(self) -> None:
        """Execute what waits and commit, in one round trip.

        Raises
        ------
        StoreError
            If the connection is lost as well, the commit may or may not have been done.
        """
        _, status = self._send([("COMMIT", ())])
        if status != "COMMIT":  # the answer to a commit after a failed statement
            raise StoreError(f"{self.address}: the server rolled the write back")

    def _send(self, statements: Sequence[Statement]) -> tuple[list[list[Any]], str | None]:
        together: list[Statement] = [
            (statement, (campaign, encode(rows)))
            for (statement, campaign), rows in self._waiting.items()
        ]
        together += statements
        self._waiting.clear()
        script = ";".join(text for text, _ in together)
        values = [value for _, each in together for value in each]
        with self._explained() as connection:
            # The simple protocol, the only one that takes several statements at once; libpq
            # quotes the values.
            cursor = psycopg.ClientCursor(connection)
            cursor.execute(script.encode(), values)
            found = [_rows(cursor)]
            while cursor.nextset():
                found.append(_rows(cursor))
            return found, cursor.statusmessage

    def end(self) -> None:
        """Make ready for the next use: roll back what a write block has left open."""
        self.writing = False
        self.failure = None
        self._waiting.clear()
        self._settle()

    def close(self) -> None:
        """Disconnect."""
        if not self.is_foreign:
            self._connection.close()

    def _settle(self) -> None:
        if self.is_foreign or self._connection.closed:
            return
        try:
            if self._connection.info.transaction_status != TransactionStatus.IDLE:
                self._connection.execute("ROLLBACK", prepare=False)
        except BaseException as error:
            # Disconnecting rolls back too, and whatever led here is raised already.
            self.close()
            if not isinstance(error, psycopg.Error):
                raise

    @contextmanager
    def _explained(self) -> Iterator[RawConnection]:
        """Lend the connection and turn its errors into ours."""
        self.check()
        try:
            yield self._connection
        except StoreError as error:
            self.failure = error
            raise
        except psycopg.Error as error:
            self.failure = _explain(error, self.address, self.patience, self._connection.closed)
            raise self.failure from error
        except BaseException as error:
            # Interrupted in the middle of a conversation: what comes next is unknown.
            self.close()
            self.failure = StoreError(f"{self.address}: interrupted ({type(error).__name__})")
            raise


def open_connection(address: Address, patience: float) -> RawConnection:
    """Connect, and bring the schema up to date where there is one."""
    connection = connect(address, patience)
    try:
        bring_up_to_date(connection, address)
    except BaseException as error:
        lost = connection.closed
        connection.close()
        if isinstance(error, psycopg.Error):
            raise _explain(error, address, patience, lost) from error
        raise
    return connection


def bring_up_to_date(connection: RawConnection, address: Address) -> None:
    """Apply the steps that an older schema lacks; a database without one is left alone."""
    if on_postgres.version(connection, str(address)):
        on_postgres.migrate(connection, str(address))
        connection.has_schema = True


def connect(address: Address, patience: float) -> RawConnection:
    """Connect, commit by itself, and wait no longer for a lock than ``patience`` seconds."""
    try:
        connection = RawConnection.connect(**address.parameters, autocommit=True)
        try:
            _set_up(connection, address, patience)
        except BaseException:
            connection.close()
            raise
    except (psycopg.Error, OSError, UnicodeError) as error:
        raise StoreError(
            f"{address} can't be reached: {_one_line(error)}; check that the server runs, and the "
            "url",
            field="store",
            reason="store_unreachable",
        ) from error
    return connection


def _set_up(connection: psycopg.Connection[Any], address: Address, patience: float) -> None:
    connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
    wait = str(max(1, math.ceil(patience * 1000)))
    encoding, *_ = connection.execute(_SETTINGS, (wait,)).fetchone() or ("unknown",)
    if encoding != "UTF8":
        raise errors.unusable(
            f"{address} has the encoding {encoding}: give a database that was created with "
            "ENCODING 'UTF8'",
        )


def clash(error: StoreError) -> str | None:
    """Name the constraint that refused a row as there is one like it; None for other failures."""
    cause = error.__cause__
    return cause.diag.constraint_name if isinstance(cause, psycopg.errors.UniqueViolation) else None


def _explain(error: Exception, address: Address, patience: float, lost: bool) -> StoreError:
    if lost:
        return StoreError(
            f"{address}: the connection was lost ({_one_line(error)}); the next use connects again",
            reason="store_unreachable",
        )
    if isinstance(error, psycopg.errors.LockNotAvailable):
        return errors.busy(address, patience)
    return StoreError(f"{address}: {_one_line(error)}")


def _rows(cursor: psycopg.Cursor[Any]) -> list[Any]:
    return cursor.fetchall() if cursor.description else []


def has_news(connection: psycopg.Connection[Any]) -> bool:
    """Tell whether an idle connection has something to read: its end, as a rule."""
    if connection.closed:
        return True
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([connection.fileno()], [], [], 0)[0])


def _one_line(error: Exception) -> str:
    text = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return " ".join((text or str(error)).split())
