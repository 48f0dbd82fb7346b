"""A whole store in memory at one moment, and an empty one filled at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from askwise.core.errors import StoreError
from askwise.store.base import Reply, campaign_exists, reply_exists
from askwise.store.copying import CHUNK, Filling, Head, View, view_is_over
from askwise.store.memory_parts import Campaign, Shelf, cut
from askwise.store.records import Record
from askwise.store.rows import Row, pack, unpack


class MemoryView(View):
    """What was there: logs only grow, so how long they were is enough; the rest is copied."""

    def __init__(self, campaigns: Mapping[str, Campaign], shelves: Mapping[str, Shelf]) -> None:
        self.over = False
        self._campaigns = dict(campaigns)
        self._lengths = {name: len(each.log) for name, each in campaigns.items()}
        self._replies = {name: list(each.replies.values()) for name, each in campaigns.items()}
        self._records = [
            Record(kind, record, shelf.bodies[record])
            for kind, shelf in sorted(shelves.items())
            for record in shelf.ids
        ]

    def names(self) -> list[str]:
        self._check()
        return sorted(self._campaigns)

    def head(self, name: str) -> Head:
        self._check()
        return Head(name, self._campaigns[name].created, self._campaigns[name].spec)

    def length(self, name: str) -> int:
        self._check()
        return self._lengths[name]

    def rows(self, name: str) -> Iterator[list[Row]]:
        for after in range(0, self._lengths[name], CHUNK):
            self._check()
            upto = min(after + CHUNK, self._lengths[name])
            yield pack(cut(self._campaigns[name].log, after, upto), after)

    def replies(self, name: str) -> Iterator[list[Reply]]:
        kept = sorted(self._replies[name], key=lambda reply: reply.key)
        for at in range(0, len(kept), CHUNK):
            self._check()
            yield kept[at : at + CHUNK]

    def records(self) -> Iterator[list[Record]]:
        for at in range(0, len(self._records), CHUNK):
            self._check()
            yield self._records[at : at + CHUNK]

    def _check(self) -> None:
        if self.over:
            raise view_is_over()


class MemoryFilling(Filling):
    """Collects what the store will hold."""

    def __init__(self) -> None:
        self.campaigns: dict[str, Campaign] = {}
        self.shelves: dict[str, Shelf] = {}
        self._name = ""

    def campaign(self, head: Head) -> None:
        if head.name in self.campaigns:
            raise campaign_exists(head.name)
        self.campaigns[head.name] = Campaign(head.spec, head.created)
        self._name = head.name

    def rows(self, rows: Sequence[Row]) -> None:
        for event, row in zip(unpack(rows), rows, strict=True):
            plain = event.tasks is None and event.workers is None
            self.campaigns[self._name].log.append(event if plain else row)

    def replies(self, replies: Sequence[Reply]) -> None:
        kept = self.campaigns[self._name].replies
        for reply in replies:
            if kept.setdefault(reply.key, reply) is not reply:
                raise reply_exists(self._name, reply.key)

    def records(self, records: Sequence[Record]) -> None:
        for record in records:
            shelf = self.shelves.setdefault(record.kind, Shelf())
            if record.id in shelf.bodies:
                raise StoreError(f"the {record.kind!r} {record.id!r} is there twice")
            shelf.put(record.id, record.body)
