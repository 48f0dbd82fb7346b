"""A whole store in memory at one moment, and an empty one filled at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from askwise.core.errors import StoreError
from askwise.store import errors
from askwise.store.backup.portable import CHUNK, Filler, Head, Item
from askwise.store.base import Reply
from askwise.store.event_rows import EventRow, pack, unpack
from askwise.store.memory.contents import RecordsOfKind, StoredCampaign, cut
from askwise.store.records import Record


class MemoryContents:
    """What was there: logs only grow, so how long they were is enough; the rest is copied."""

    def __init__(
        self, campaigns: Mapping[str, StoredCampaign], kinds: Mapping[str, RecordsOfKind]
    ) -> None:
        self._campaigns = dict(campaigns)
        self._lengths = {name: len(each.log) for name, each in campaigns.items()}
        self._replies = {name: list(each.replies.values()) for name, each in campaigns.items()}
        self._records = [
            Record(kind, record, found.bodies[record])
            for kind, found in sorted(kinds.items())
            for record in found.ids
        ]

    def items(self) -> Iterator[Item]:
        """Read it out."""
        for name, campaign in sorted(self._campaigns.items()):
            yield Head(name, campaign.created, campaign.spec)
            for after in range(0, self._lengths[name], CHUNK):
                upto = min(after + CHUNK, self._lengths[name])
                yield from pack(cut(campaign.log, after, upto), after)
            yield from sorted(self._replies[name], key=lambda reply: reply.key)
        yield from self._records


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
        for event, row in zip(unpack(rows), rows, strict=True):
            plain = event.tasks is None and event.workers is None
            self.campaigns[self._name].log.append(event if plain else row)

    def replies(self, replies: Sequence[Reply]) -> None:
        kept = self.campaigns[self._name].replies
        for reply in replies:
            if kept.setdefault(reply.key, reply) is not reply:
                raise errors.reply_exists(self._name, reply.key)

    def records(self, records: Sequence[Record]) -> None:
        for record in records:
            found = self.kinds.setdefault(record.kind, RecordsOfKind())
            if record.id in found.bodies:
                raise StoreError(f"the {record.kind!r} {record.id!r} is there twice")
            found.put(record.id, record.body)
