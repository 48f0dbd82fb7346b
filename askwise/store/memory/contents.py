"""What the store in memory holds."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field

from askwise.core.events import Event
from askwise.store.base import Reply, Snapshot
from askwise.store.event_rows import EventRow, unpack
from askwise.store.records import end_of

Log = list[Event | EventRow]
"""Events as they are, except that those with dicts in them are kept as rows: what was written
can't be changed by whoever holds the event."""


@dataclass(slots=True)
class StoredCampaign:
    """What is committed."""

    spec: str
    created: float
    log: Log = field(default_factory=list)
    replies: dict[str, Reply] = field(default_factory=dict)
    snapshots: dict[tuple[int, str], Snapshot] = field(default_factory=dict)


@dataclass(slots=True)
class RecordsOfKind:
    """The records of one kind: bodies by id, and the ids in order."""

    bodies: dict[str, str] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)

    def put(self, record: str, body: str | None) -> None:
        """Keep a body, or remove it."""
        if body is None:
            if self.bodies.pop(record, None) is not None:
                del self.ids[bisect_left(self.ids, record)]
            return
        if record not in self.bodies:
            insort(self.ids, record)
        self.bodies[record] = body

    def some(self, prefix: str, after: str, limit: int | None) -> list[str]:
        """List ids that begin with ``prefix``, from above ``after`` on."""
        end = end_of(prefix)
        first = max(bisect_left(self.ids, prefix), bisect_right(self.ids, after))
        stop = len(self.ids) if end is None else bisect_left(self.ids, end)
        if limit is not None:
            stop = min(stop, first + limit)
        return self.ids[first:stop]


def cut(log: Log, after: int, upto: int | None) -> list[Event]:
    """Read a piece of a log."""
    stop = None if upto is None else max(upto, 0)
    return [
        unpack([entry])[0] if isinstance(entry, EventRow) else entry
        for entry in log[max(after, 0) : stop]
    ]
