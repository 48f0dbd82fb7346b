"""How campaigns, events, replies and records go into the tables of a PostgreSQL store."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from askwise.store import errors
from askwise.store.backup.portable import Filler, Head
from askwise.store.base import Reply
from askwise.store.event_rows import EventRow, encode
from askwise.store.postgres.connection import PostgresConnection, Statement
from askwise.store.postgres.text import kept, kept_in_order
from askwise.store.records import Change, Record

CREATE = """
    INSERT INTO askwise.campaigns (name, spec, created) VALUES (%s, %s, %s)
    ON CONFLICT (name) DO NOTHING RETURNING id
"""

# All rows as one value: a fifth of the client's work for a row each, and one plan for any number.
APPEND = """
    INSERT INTO askwise.events (campaign, seq, kind, time, key, body)
    SELECT %s, seq, kind, time, key, body FROM json_to_recordset(%s)
    AS t (seq bigint, kind text, time double precision, key text, body text)
"""

KEEP = """
    INSERT INTO askwise.replies (campaign, key, request, body)
    SELECT %s, key, request, body FROM json_to_recordset(%s)
    AS t (key text, request text, body text)
"""

# A whole transaction as one statement, which is planned once a connection and takes one round trip.
# The campaign's row is locked before anything is written. A statement sees what was there when it
# began: if another writer has the row meanwhile, their events are not seen, and the primary keys
# refuse ours.
WRITE = """
    WITH held AS MATERIALIZED (
        SELECT id FROM askwise.campaigns
        WHERE id = %s AND name = %s AND archived IS NULL FOR NO KEY UPDATE
    ), log AS MATERIALIZED (
        SELECT coalesce(max(seq), 0) AS ended FROM askwise.events WHERE campaign = %s
    ), grown AS (
        INSERT INTO askwise.events (campaign, seq, kind, time, key, body)
        SELECT id, seq, kind, time, key, body FROM held, log, json_to_recordset(%s)
        AS t (seq bigint, kind text, time double precision, key text, body text)
        WHERE ended = %s
    ), kept AS (
        INSERT INTO askwise.replies (campaign, key, request, body)
        SELECT id, key, request, body FROM held, log, json_to_recordset(%s)
        AS t (key text, request text, body text)
        WHERE ended = %s
    )
    SELECT (SELECT count(*) FROM held), ended FROM log
"""

# Nobody makes a campaign or a record until the transaction ends.
_ALONE = "LOCK TABLE askwise.campaigns, askwise.records IN SHARE ROW EXCLUSIVE MODE"

_ANY = "SELECT EXISTS (SELECT FROM askwise.campaigns) OR EXISTS (SELECT FROM askwise.records)"

_RECORD = """
    INSERT INTO askwise.records (kind, id, body)
    SELECT kind, id, body FROM json_to_recordset(%s) AS t (kind text, id text, body text)
"""

# Each waits for the holder of the row, and then sees what they left.
_INSERT = """
    INSERT INTO askwise.records (kind, id, body) VALUES (%s, %s, %s)
    ON CONFLICT (kind, id) DO NOTHING RETURNING 1
"""
_UPDATE = """
    UPDATE askwise.records SET body = %s WHERE kind = %s AND id = %s AND body = %s RETURNING 1
"""
_DELETE = "DELETE FROM askwise.records WHERE kind = %s AND id = %s AND body = %s RETURNING 1"


def event_rows(rows: Sequence[EventRow]) -> list[dict[str, Any]]:
    """The rows that ``APPEND`` takes."""
    keys = (None if row.key is None else kept(row.key, "key") for row in rows)
    return [row._asdict() | {"key": key} for row, key in zip(rows, keys, strict=True)]


def reply_rows(replies: Sequence[Reply]) -> list[dict[str, str]]:
    """The rows that ``KEEP`` takes."""
    return [{name: kept(text, name) for name, text in asdict(reply).items()} for reply in replies]


def changes_of(changes: Sequence[Change]) -> list[Statement]:
    """Say in SQL what is to be done; a statement that returns no row says that all is off."""
    made: list[Statement] = []
    for kind, record, before, after in changes:
        place = kept_in_order(kind, "kind"), kept_in_order(record, "id")
        old = kept(before or "", "body")
        new = kept(after or "", "body")
        if before is None:
            made.append((_INSERT, (*place, new)))
            if after is None:  # only to hold the place, so that nobody makes the record meanwhile
                made.append((_DELETE, (*place, new)))
        elif after is None:
            made.append((_DELETE, (*place, old)))
        else:
            made.append((_UPDATE, (new, *place, old)))
    return made


class PostgresFiller(Filler):
    """Writes on the connection of its thread, on which a transaction is open."""

    def __init__(self, link: PostgresConnection, campaign: int = 0, *, alone: bool = True) -> None:
        self._link = link
        self._campaign = campaign
        if not alone:
            return
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
        self._link.run(APPEND, self._campaign, encode(event_rows(rows)))

    def replies(self, replies: Sequence[Reply]) -> None:
        self._link.run(KEEP, self._campaign, encode(reply_rows(replies)))

    def records(self, records: Sequence[Record]) -> None:
        rows = [
            {
                "kind": kept_in_order(each.kind, "kind"),
                "id": kept_in_order(each.id, "id"),
                "body": kept(each.body, "body"),
            }
            for each in records
        ]
        self._link.run(_RECORD, encode(rows))
