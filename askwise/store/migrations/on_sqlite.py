"""Brings an SQLite file to the newest schema, one transaction a step."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote_from_bytes

from askwise.core.errors import StoreError
from askwise.store import errors
from askwise.store.migrations import loader

APPLICATION_ID = int.from_bytes(b"askw")
"""Stands in the header of every file of ours, so that another program's is told apart."""


def migrate(connection: sqlite3.Connection, file: str) -> None:
    """Apply the steps that ``connection`` has not seen; ``file`` is its name for messages.

    Raises
    ------
    StoreError
        The schema is newer than this askwise, or the database is another program's. Nothing is
        written then.
    """
    while version(connection, file) < loader.latest("sqlite"):
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Asked again under the lock: another process may have been quicker.
            done = version(connection, file)
            if done < loader.latest("sqlite"):
                for statement in _statements(loader.steps("sqlite")[done].script):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {done + 1}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def pending(file: Path) -> list[str]:
    """Name the steps that a file lacks, all of them if there is none; nothing is changed."""
    if not file.exists() or file.stat().st_size == 0:
        return loader.pending("sqlite", 0)
    address = f"file:{quote_from_bytes(os.fsencode(file))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            return loader.pending("sqlite", version(connection, str(file)))
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"{file}: {error}", field="store") from error


def version(connection: sqlite3.Connection, file: str) -> int:
    """Tell the schema that is there; 0 for none."""
    owner, number, tables = _look(connection)
    if owner != APPLICATION_ID and (owner or number or tables):
        raise errors.unusable(
            f"{file} is the SQLite database of another program: give another file"
        )
    loader.check_known("sqlite", number, file)
    return number


def _look(connection: sqlite3.Connection) -> tuple[int, int, int]:
    # In one transaction, so that no other process makes the file a store between two queries.
    begun = not connection.in_transaction
    if begun:
        connection.execute("BEGIN")
    try:
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        (number,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    finally:
        if begun:
            connection.execute("COMMIT")
    return int(owner), int(number), int(tables)


def _statements(script: str) -> Iterator[str]:
    # Not executescript, which would commit the transaction it runs in.
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        raise StoreError(f"a migration ends in the middle of a statement: {statement!r}")
