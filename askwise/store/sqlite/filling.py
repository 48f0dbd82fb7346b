"""An empty SQLite store, filled in one transaction."""

from __future__ import annotations

from collections.abc import Sequence

from askwise.store import errors
from askwise.store.backup.portable import Filler, Head
from askwise.store.base import Reply
from askwise.store.event_rows import EventRow
from askwise.store.records import Record
from askwise.store.sqlite.connections import SqliteConnection

APPEND = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)"
KEEP = "INSERT INTO replies VALUES (?, ?, ?, ?)"


class SqliteFiller(Filler):
    """Writes on the connection of its thread, on which a transaction is open."""

    def __init__(self, link: SqliteConnection) -> None:
        self._link = link
        self._campaign = 0
        for table in ("campaigns", "records"):
            if link.run(f"SELECT 1 FROM {table} LIMIT 1"):
                raise errors.not_empty()

    def campaign(self, head: Head) -> None:
        if self._link.run("SELECT 1 FROM campaigns WHERE name = ?", head.name):
            raise errors.campaign_exists(head.name)
        self._link.run("INSERT INTO campaigns (name, created, spec) VALUES (?, ?, ?)", *head)
        ((self._campaign,),) = self._link.run("SELECT last_insert_rowid()")

    def rows(self, rows: Sequence[EventRow]) -> None:
        self._link.run_many(APPEND, [(self._campaign, *row) for row in rows])

    def replies(self, replies: Sequence[Reply]) -> None:
        values = [(self._campaign, each.key, each.request, each.body) for each in replies]
        self._link.run_many(KEEP, values)

    def records(self, records: Sequence[Record]) -> None:
        values = [(each.kind, each.id, each.body) for each in records]
        self._link.run_many("INSERT INTO records VALUES (?, ?, ?)", values)
