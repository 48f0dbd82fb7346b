"""Brings a database to the newest schema, one transaction a step."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import cache
from importlib import resources

from askwise.core.errors import StoreError

APPLICATION_ID = int.from_bytes(b"askw")
"""Stands in the header of every file of ours, so that another program's is told apart."""


@cache
def steps() -> dict[int, str]:
    """Read the scripts, by number."""
    found: dict[int, str] = {}
    for file in resources.files(__package__).iterdir():
        number, _, _ = file.name.partition("_")
        if file.name.endswith(".sql"):
            found[int(number)] = file.read_text(encoding="utf-8")
    return {number: found[number] for number in range(1, len(found) + 1)}


def latest() -> int:
    """Tell the newest schema that this askwise knows."""
    return len(steps())


def migrate(connection: sqlite3.Connection, file: str) -> None:
    """Apply the steps that ``connection`` has not seen; ``file`` is its name for messages.

    Raises
    ------
    StoreError
        The schema is newer than this askwise, or the database is another program's. Nothing is
        written then.
    """
    while _version(connection, file) < latest():
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Asked again under the lock: another process may have been quicker.
            version = _version(connection, file)
            if version < latest():
                for statement in _statements(steps()[version + 1]):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {version + 1}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _version(connection: sqlite3.Connection, file: str) -> int:
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if owner != APPLICATION_ID and (owner or version or tables):
        raise StoreError(f"{file} is the SQLite database of another program: give another file")
    if version > latest():
        raise StoreError(
            f"{file} has schema version {version} and this askwise knows up to {latest()}: "
            "upgrade askwise (the file was not changed)"
        )
    return int(version)


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
