"""Brings a PostgreSQL database to the newest schema, one transaction a step."""

from typing import Any

import psycopg

from askwise.core.errors import StoreError
from askwise.store import errors
from askwise.store.migrations import loader

_LOCK = int.from_bytes(b"askwise")
"""The number of the advisory lock under which the schema changes."""

_LOOK = """
    SELECT coalesce(bool_or(c.relname = 'migrations'), false), count(c.oid) > 0, count(n.oid) > 0
    FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid
    WHERE n.nspname = 'askwise'
"""
"""Whether there is a store, anything in its schema, the schema: all at the same moment."""

_BOOK = """
    CREATE TABLE askwise.migrations (
        number integer PRIMARY KEY,
        name text NOT NULL,
        applied timestamptz NOT NULL DEFAULT now()
    )
"""


def migrate(connection: psycopg.Connection[Any], where: str) -> None:
    """Apply the steps that the database has not seen; ``where`` is its name for messages.

    ``connection`` commits by itself and has no transaction open. Several processes may do this
    at once: they take turns.

    Raises
    ------
    StoreError
        The schema is newer than this askwise, or is another program's. Nothing is written then.
    """
    while version(connection, where) < loader.latest("postgres"):
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            # Asked again under the lock: another process may have been quicker.
            done = version(connection, where)
            if done < loader.latest("postgres"):
                _apply(connection, done)


def pending(connection: psycopg.Connection[Any], where: str) -> list[str]:
    """Name the steps that the database lacks."""
    try:
        return loader.pending("postgres", version(connection, where))
    except psycopg.Error as error:
        raise StoreError(f"{where}: {error.diag.message_primary or error}") from error


def version(connection: psycopg.Connection[Any], where: str) -> int:
    """Tell the schema that is there; 0 for none."""
    ours, used, _ = _look(connection)
    if not ours:
        if used:
            raise errors.unusable(
                f"{where} has a schema 'askwise' of another program: give another database "
                "(this one is unchanged)",
            )
        return 0
    found = connection.execute("SELECT max(number) FROM askwise.migrations").fetchone()
    number = int(found[0] or 0) if found else 0
    loader.check_known("postgres", number, where)
    return number


def _apply(connection: psycopg.Connection[Any], done: int) -> None:
    if done == 0:
        ours, _, exists = _look(connection)
        if not exists:  # an administrator may have made it, for a role that may not
            connection.execute("CREATE SCHEMA askwise")
        if not ours:
            connection.execute(_BOOK)
    step = loader.steps("postgres")[done]
    connection.execute(step.script.encode())
    connection.execute(
        "INSERT INTO askwise.migrations (number, name) VALUES (%s, %s)", (done + 1, step.name)
    )


def _look(connection: psycopg.Connection[Any]) -> tuple[bool, bool, bool]:
    found = connection.execute(_LOOK).fetchone()
    assert found is not None
    ours, used, exists = found
    return bool(ours), bool(used), bool(exists)
