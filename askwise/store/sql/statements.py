"""The statements by which stores in SQL databases are read.

``{s}`` is what names of tables begin with, ``{v}`` stands for a value.
"""

from typing import Any

DELETED = "deleted"
"""Stands in place of an archive's note where a campaign was deleted: its row keeps the name."""

RENAMED_SINCE = "SELECT 1 FROM {s}events WHERE campaign = {v} AND seq > {v} AND kind = 'RENAMED'"
"""Whether a state up to a number is of before the log was rewritten."""

LAST = "SELECT seq FROM {s}events WHERE campaign = {v} ORDER BY seq DESC LIMIT 1"
LASTS = """
    SELECT name, coalesce(
        (SELECT seq FROM {s}events AS e WHERE e.campaign = c.id ORDER BY seq DESC LIMIT 1), 0
    )
    FROM {s}campaigns AS c WHERE archived IS NULL AND name {among}
"""
ID = "SELECT id, archived FROM {s}campaigns WHERE name = {v}"
IDS = "SELECT name, id FROM {s}campaigns WHERE archived IS NULL"
HEAD = "SELECT created, spec, archived FROM {s}campaigns WHERE id = {v}"
PUT_AWAY = """
    SELECT name FROM {s}campaigns AS c WHERE archived IS NULL AND (
        SELECT kind FROM {s}events AS e WHERE e.campaign = c.id ORDER BY seq DESC LIMIT 1
    ) = 'ARCHIVED'
"""
EVENTS = """
    SELECT seq, kind, time, key, body FROM {s}events
    WHERE campaign = {v} AND seq > {v} AND seq <= {v} ORDER BY seq LIMIT {chunk}
"""
JOINED_EVENTS = """
    SELECT count(*), coalesce(sum(CASE WHEN length(body) > {longest} THEN 1 ELSE 0 END), 0),
        {seqs}, {kinds}, {bodies}
    FROM (
        SELECT seq, kind, body FROM {s}events
        WHERE campaign = {v} AND seq > {v} AND seq <= {v} ORDER BY seq LIMIT {chunk}
    ) AS log
"""
PICK = """
    SELECT seq, kind, time, key, body FROM {s}events WHERE campaign = {v} AND seq {among}
    ORDER BY seq
"""
REPLIES = "SELECT key, request, body FROM {s}replies WHERE campaign = {v} AND key {among}"
FIRST_REPLIES = REPLIES.replace("AND key {among}", "ORDER BY key LIMIT {chunk}")
NEXT_REPLIES = REPLIES.replace("{among}", "> {v} ORDER BY key LIMIT {chunk}")
SNAPSHOT = """
    SELECT seq, blob FROM {s}snapshots
    WHERE campaign = {v} AND version = {v} AND seq <= {v} ORDER BY seq DESC LIMIT 1
"""
RECORD = "SELECT body FROM {s}records WHERE kind = {v} AND id = {v}"
RECORDS = """
    SELECT id, body FROM {s}records WHERE kind = {v} AND id >= {v} AND id <> {v}
    ORDER BY id LIMIT {v}
"""
RECORDS_BELOW = RECORDS.replace("ORDER BY", "AND id < {v} ORDER BY")
ALL_RECORDS = """
    SELECT kind, id, body FROM {s}records
    WHERE (kind, id) > ({v}, {v}) ORDER BY kind, id LIMIT {chunk}
"""


def last_of(rows: list[Any]) -> int:
    """The position of a log: what ``LAST`` found of it."""
    return int(rows[0][0]) if rows else 0
