"""A whole PostgreSQL store at one moment, and an empty one filled in one transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from askwise.store import errors
from askwise.store.backup.portable import Filler, Head
from askwise.store.base import Reply
from askwise.store.event_rows import EventRow
from askwise.store.postgres.connection import PostgresConnection
from askwise.store.postgres.inserts import APPEND, CREATE, KEEP, event_row, reply_row
from askwise.store.postgres.text import given, given_in_order, kept, kept_in_order
from askwise.store.records import Record
from askwise.store.sql import SqlContents

_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode

_MOMENT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

# Nobody makes a campaign or a record until the transaction ends.
_ALONE = "LOCK TABLE askwise.campaigns, askwise.records IN SHARE ROW EXCLUSIVE MODE"

_ANY = "SELECT EXISTS (SELECT FROM askwise.campaigns) OR EXISTS (SELECT FROM askwise.records)"

_RECORD = """
    INSERT INTO askwise.records (kind, id, body)
    SELECT kind, id, body FROM json_to_recordset(%s) AS t (kind text, id text, body text)
"""


def postgres_contents(link: PostgresConnection) -> SqlContents:
    """Look at a whole store at this moment, on a connection of its own."""
    is_there = link.has_schema()
    link.run(_MOMENT)

    def run(statement: str, *values: Any) -> list[Any]:
        return link.run(statement, *values) if is_there else []

    return SqlContents(run, "askwise.", "%s", given, given_in_order)


class PostgresFiller(Filler):
    """Writes on the connection of its thread, on which a transaction is open."""

    def __init__(self, link: PostgresConnection) -> None:
        self._link = link
        self._campaign = 0
        link.run(_ALONE)
        if link.run(_ANY) != [(False,)]:
            raise errors.not_empty()

    def campaign(self, head: Head) -> None:
        values = kept(head.name, "name"), kept(head.spec, "spec"), head.created
        made = self._link.run(CREATE, *values)
        if not made:
            raise errors.campaign_exists(head.name)
        ((self._campaign,),) = made

    def rows(self, rows: Sequence[EventRow]) -> None:
        self._link.run(APPEND, self._campaign, _encode([event_row(row) for row in rows]))

    def replies(self, replies: Sequence[Reply]) -> None:
        self._link.run(KEEP, self._campaign, _encode([reply_row(reply) for reply in replies]))

    def records(self, records: Sequence[Record]) -> None:
        rows = [
            {
                "kind": kept_in_order(each.kind, "kind"),
                "id": kept_in_order(each.id, "id"),
                "body": kept(each.body, "body"),
            }
            for each in records
        ]
        self._link.run(_RECORD, _encode(rows))
