"""A whole PostgreSQL store at one moment, and an empty one filled in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from askwise.store.backup.portable import CHUNK, Filling, Head, Item, not_empty
from askwise.store.base import Reply, campaign_exists
from askwise.store.postgres.link import Link
from askwise.store.postgres.rows import APPEND, CREATE, KEEP, event_row, reply_row
from askwise.store.postgres.text import given, given_in_order, kept, kept_in_order
from askwise.store.records import Record
from askwise.store.rows import Row

_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode

_MOMENT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

# Nobody makes a campaign or a record until the transaction ends.
_ALONE = "LOCK TABLE askwise.campaigns, askwise.records IN SHARE ROW EXCLUSIVE MODE"

_ANY = "SELECT EXISTS (SELECT FROM askwise.campaigns) OR EXISTS (SELECT FROM askwise.records)"

_HEAD = "SELECT created, spec FROM askwise.campaigns WHERE id = %s"

_ROWS = f"""
    SELECT seq, kind, time, key, body FROM askwise.events
    WHERE campaign = %s AND seq > %s ORDER BY seq LIMIT {CHUNK}
"""
_FIRST_REPLIES = f"""
    SELECT key, request, body FROM askwise.replies WHERE campaign = %s ORDER BY key LIMIT {CHUNK}
"""
_REPLIES = _FIRST_REPLIES.replace("ORDER BY", "AND key > %s ORDER BY")
_RECORDS = f"""
    SELECT kind, id, body FROM askwise.records
    WHERE (kind, id) > (%s, %s) ORDER BY kind, id LIMIT {CHUNK}
"""
_RECORD = """
    INSERT INTO askwise.records (kind, id, body)
    SELECT kind, id, body FROM json_to_recordset(%s) AS t (kind text, id text, body text)
"""


class PostgresView:
    """Reads on a connection of its own, in one transaction."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._is_there = link.has_schema()
        link.run(_MOMENT)
        found = self._run("SELECT name, id FROM askwise.campaigns")
        self._ids = {given(name): int(number) for name, number in found}

    def items(self) -> Iterator[Item]:
        """Read it out."""
        for name, campaign in sorted(self._ids.items()):
            ((created, spec),) = self._run(_HEAD, campaign)
            yield Head(name, created, given(spec))
            last = 0
            while rows := self._run(_ROWS, campaign, last):
                for seq, kind, time, key, body in rows:
                    yield Row(seq, kind, time, None if key is None else given(key), body)
                last = rows[-1][0]
            rows = self._run(_FIRST_REPLIES, campaign)
            while rows:
                yield from (Reply(*map(given, row)) for row in rows)
                rows = self._run(_REPLIES, campaign, rows[-1][0])
        # No id is empty, so this is below all of them.
        place = ("", "")
        while rows := self._run(_RECORDS, *place):
            for kind, record, body in rows:
                yield Record(given_in_order(kind), given_in_order(record), given(body))
            place = rows[-1][:2]

    def _run(self, statement: str, *values: Any) -> list[Any]:
        return self._link.run(statement, *values) if self._is_there else []


class PostgresFilling(Filling):
    """Writes on the connection of its thread, on which a transaction is open."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._campaign = 0
        link.run(_ALONE)
        if link.run(_ANY) != [(False,)]:
            raise not_empty()

    def campaign(self, head: Head) -> None:
        values = kept(head.name, "name"), kept(head.spec, "spec"), head.created
        made = self._link.run(CREATE, *values)
        if not made:
            raise campaign_exists(head.name)
        ((self._campaign,),) = made

    def rows(self, rows: Sequence[Row]) -> None:
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
