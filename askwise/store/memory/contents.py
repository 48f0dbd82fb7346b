"""What the store in memory holds: read, read out whole, and filled at once."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from askwise.core.errors import StoreError
from askwise.core.events import Event
from askwise.store import errors
from askwise.store.amending.base import Rewriting
from askwise.store.backup.portable import CHUNK, Filler, Head, Item
from askwise.store.base import Reply, Snapshot
from askwise.store.event_rows import EventRow, pack, unpack
from askwise.store.records import Record, end_of

Log = list[Event | EventRow]
"""Events as they are, except that those with dicts in them are kept as rows: what was written
can't be changed through an event that somebody holds."""


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


def entries(events: Iterable[Event], rows: Iterable[EventRow]) -> Log:
    """What a log keeps of events, which are also given as rows."""
    return [
        event if event.tasks is None and event.workers is None else row
        for event, row in zip(events, rows, strict=True)
    ]


def read_out(
    campaigns: Mapping[str, StoredCampaign], kinds: Mapping[str, RecordsOfKind]
) -> Iterator[Item]:
    """All that is there now, read as it is asked for.

    Logs only grow, so how long they are is enough to know; the rest is copied at once.
    """
    held = [
        (Head(name, each.created, each.spec), each.log, len(each.log), list(each.replies.values()))
        for name, each in sorted(campaigns.items())
    ]
    records = [
        Record(kind, record, found.bodies[record])
        for kind, found in sorted(kinds.items())
        for record in found.ids
    ]

    def items() -> Iterator[Item]:
        for head, log, length, replies in held:
            yield head
            for after in range(0, length, CHUNK):
                yield from pack(cut(log, after, min(after + CHUNK, length)), after)
            yield from sorted(replies, key=lambda reply: reply.key)
        yield from records

    return items()


def rewritten(
    campaign: StoredCampaign, rows: Sequence[EventRow], rewriting: Rewriting
) -> StoredCampaign:
    """A campaign with these rows as its log, its other texts rewritten, and no snapshots."""
    made = StoredCampaign(rewriting.spec(campaign.spec), campaign.created)
    made.log = entries(unpack(rows), rows)
    replies = map(rewriting.reply, campaign.replies.values())
    made.replies = {reply.key: reply for reply in replies}
    return made


class MemoryFiller(Filler):
    """Collects what the store will hold."""

    def __init__(self) -> None:
        self.campaigns: dict[str, StoredCampaign] = {}
        self.kinds: dict[str, RecordsOfKind] = {}
        self._name = ""

    def campaign(self, head: Head) -> None:
        if head.name in self.campaigns:
            raise errors.campaign_exists(head.name)
        self.campaigns[head.name] = StoredCampaign(head.spec, head.created)
        self._name = head.name

    def rows(self, rows: Sequence[EventRow]) -> None:
        self.campaigns[self._name].log.extend(entries(unpack(rows), rows))

    def replies(self, replies: Sequence[Reply]) -> None:
        kept = self.campaigns[self._name].replies
        for reply in replies:
            if kept.setdefault(reply.key, reply) is not reply:
                raise errors.reply_exists(self._name, reply.key)

    def records(self, records: Sequence[Record]) -> None:
        for record in records:
            found = self.kinds.setdefault(record.kind, RecordsOfKind())
            if record.id in found.bodies:
                raise StoreError(f"the {record.kind!r} {record.id!r} appears twice")
            found.put(record.id, record.body)
