"""Records in a PostgreSQL database: read and changed, one row at a time and in one order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from askwise.store.postgres.connection import PostgresConnection, Statement
from askwise.store.postgres.text import given, given_in_order, kept, kept_in_order
from askwise.store.records import Change, Record, end_of

_ONE = "SELECT body FROM askwise.records WHERE kind = %s AND id = %s"

_SOME = """
    SELECT id, body FROM askwise.records WHERE kind = %s AND id >= %s AND id <> %s
    ORDER BY id LIMIT %s
"""

_SOME_BELOW = _SOME.replace("ORDER BY", "AND id < %s ORDER BY")

# Each waits for whoever has the row, and then sees what they left.
_INSERT = """
    INSERT INTO askwise.records (kind, id, body) VALUES (%s, %s, %s)
    ON CONFLICT (kind, id) DO NOTHING RETURNING 1
"""
_UPDATE = """
    UPDATE askwise.records SET body = %s WHERE kind = %s AND id = %s AND body = %s RETURNING 1
"""
_DELETE = "DELETE FROM askwise.records WHERE kind = %s AND id = %s AND body = %s RETURNING 1"

_END = 2**62
"""Above every number of records."""


def find(link: PostgresConnection, kind: str, record: str) -> Record | None:
    """Look up a record."""
    place = kept_in_order(kind, "kind"), kept_in_order(record, "id")
    found = link.run(_ONE, *place) if link.has_schema() else []
    return Record(kind, record, given(found[0][0])) if found else None


def some(
    link: PostgresConnection, kind: str, prefix: str, after: str, limit: int | None
) -> list[Record]:
    """List records by id."""
    begin, above = kept_in_order(prefix, "prefix"), kept_in_order(after, "after")
    end = end_of(begin)
    values: list[Any] = [kept_in_order(kind, "kind"), max(begin, above), above]
    if end is not None:
        values.append(end)
    most = _END if limit is None else limit
    if not link.has_schema():
        return []
    found = link.run(_SOME if end is None else _SOME_BELOW, *values, most)
    return [Record(kind, given_in_order(id), given(body)) for id, body in found]


def statements(changes: Sequence[Change]) -> list[Statement]:
    """Say in SQL what is to be done; a statement that returns no row says that all is off."""
    made: list[Statement] = []
    for kind, record, before, after in changes:
        place = kept_in_order(kind, "kind"), kept_in_order(record, "id")
        old = kept(before or "", "body")
        new = kept(after or "", "body")
        if before is None:
            made.append((_INSERT, (*place, new)))
            if after is None:  # only to hold the place, lest another makes the record meanwhile
                made.append((_DELETE, (*place, new)))
        elif after is None:
            made.append((_DELETE, (*place, old)))
        else:
            made.append((_UPDATE, (new, *place, old)))
    return made
