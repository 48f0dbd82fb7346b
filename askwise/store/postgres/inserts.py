"""How campaigns, events and replies go into the tables of a PostgreSQL store."""

from __future__ import annotations

from typing import Any

from askwise.store.base import Reply
from askwise.store.event_rows import EventRow
from askwise.store.postgres.text import kept

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


def event_row(row: EventRow) -> dict[str, Any]:
    """One of the rows that ``APPEND`` takes."""
    made = row._asdict()
    if row.key is not None:
        made["key"] = kept(row.key, "key")
    return made


def reply_row(reply: Reply) -> dict[str, str]:
    """One of the rows that ``KEEP`` takes."""
    return {
        "key": kept(reply.key, "key"),
        "request": kept(reply.request, "request"),
        "body": kept(reply.body, "body"),
    }
