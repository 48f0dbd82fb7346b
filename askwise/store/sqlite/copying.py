"""A whole SQLite store at one moment, and an empty one filled in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from askwise.store.backup.portable import CHUNK, Filling, Head, Item, not_empty
from askwise.store.base import Reply, campaign_exists
from askwise.store.records import Record
from askwise.store.rows import Row
from askwise.store.sqlite.connections import Link

T = TypeVar("T")

_HEAD = "SELECT created, spec FROM campaigns WHERE id = ?"

_ROWS = f"""
    SELECT seq, kind, time, key, body FROM events
    WHERE campaign = ? AND seq > ? ORDER BY seq LIMIT {CHUNK}
"""
_FIRST_REPLIES = f"""
    SELECT key, request, body FROM replies WHERE campaign = ? ORDER BY key LIMIT {CHUNK}
"""
_REPLIES = _FIRST_REPLIES.replace("ORDER BY", "AND key > ? ORDER BY")
_RECORDS = f"""
    SELECT kind, id, body FROM records WHERE (kind, id) > (?, ?) ORDER BY kind, id LIMIT {CHUNK}
"""


class SqliteView:
    """Reads on a connection of its own, in one transaction."""

    def __init__(self, link: Link) -> None:
        self._run = link.run
        self._run("BEGIN")
        self._ids = dict(self._run("SELECT name, id FROM campaigns"))

    def items(self) -> Iterator[Item]:
        """Read it out."""
        for name, campaign in sorted(self._ids.items()):
            ((created, spec),) = self._run(_HEAD, campaign)
            yield Head(name, created, spec)
            last = 0
            while rows := self._run(_ROWS, campaign, last):
                yield from (Row(*row) for row in rows)
                last = rows[-1][0]
            rows = self._run(_FIRST_REPLIES, campaign)
            while rows:
                yield from (Reply(*row) for row in rows)
                rows = self._run(_REPLIES, campaign, rows[-1][0])
        # No id is empty, so this is below all of them.
        place = ("", "")
        while rows := self._run(_RECORDS, *place):
            yield from (Record(*row) for row in rows)
            place = rows[-1][:2]


class SqliteFilling(Filling):
    """Writes on the connection of its thread, on which a transaction is open."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._campaign = 0
        for table in ("campaigns", "records"):
            if link.run(f"SELECT 1 FROM {table} LIMIT 1"):
                raise not_empty()

    def campaign(self, head: Head) -> None:
        if self._link.run("SELECT 1 FROM campaigns WHERE name = ?", head.name):
            raise campaign_exists(head.name)
        self._link.run("INSERT INTO campaigns (name, created, spec) VALUES (?, ?, ?)", *head)
        ((self._campaign,),) = self._link.run("SELECT last_insert_rowid()")

    def rows(self, rows: Sequence[Row]) -> None:
        self._many("events", 6, rows, lambda row: (self._campaign, *row))

    def replies(self, replies: Sequence[Reply]) -> None:
        self._many(
            "replies", 4, replies, lambda each: (self._campaign, each.key, each.request, each.body)
        )

    def records(self, records: Sequence[Record]) -> None:
        self._many("records", 3, records, lambda each: (each.kind, each.id, each.body))

    def _many(
        self, table: str, columns: int, rows: Sequence[T], values: Callable[[T], tuple[Any, ...]]
    ) -> None:
        marks = ", ".join("?" * columns)
        self._link.run_many(f"INSERT INTO {table} VALUES ({marks})", [values(row) for row in rows])
