"""A store in memory: for trying things out and for tests. It ends with the process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from askwise.core.events import Event, Kind
from askwise.store import errors
from askwise.store.amending.base import Amending, Rewriting
from askwise.store.backup.portable import Item, Portable, lent
from askwise.store.base import Reply, Snapshot, Transaction
from askwise.store.event_rows import pack
from askwise.store.memory import contents as held
from askwise.store.memory.contents import Log, RecordsOfKind, StoredCampaign, cut
from askwise.store.news import News, TellsNews, Told
from askwise.store.records import Change, Record, check_limit, in_order, whole

_PATIENCE = 30.0
"""Seconds to wait for another thread's write: as long as for a file."""


class _MemoryTransaction(Transaction):
    """Collects what is new beside what is committed."""

    def __init__(self, name: str, campaign: StoredCampaign) -> None:
        self.name = name
        self.campaign = campaign
        self.log: Log = []
        self.kept: dict[str, Reply] = {}
        self.over = False

    def tail(self, after: int) -> list[Event]:
        self._check()
        return self.events(after, None)

    def events(self, after: int, upto: int | None) -> list[Event]:
        """Read as the writing thread sees it."""
        committed = self.campaign.log
        before = len(committed)
        new = cut(self.log, after - before, None if upto is None else upto - before)
        return cut(committed, after, upto) + new

    def reply(self, key: str) -> Reply | None:
        self._check()
        return self.kept.get(key) or self.campaign.replies.get(key)

    def append(self, events: Sequence[Event], expected_seq: int) -> None:
        self._check()
        last = len(self.campaign.log) + len(self.log)
        if last != expected_seq:
            raise errors.log_moved(self.name, last, expected_seq)
        # All are packed, only to be as strict as a store that writes them down.
        self.log += held.entries(events, pack(events, expected_seq))

    def keep(self, reply: Reply) -> None:
        self._check()
        if reply.key in self.kept or reply.key in self.campaign.replies:
            raise errors.reply_exists(self.name, reply.key)
        self.kept[reply.key] = reply

    def commit(self) -> None:
        """Make what is new part of the campaign."""
        # Replies first: who sees an event of a keyed write also finds its reply.
        self.campaign.replies.update(self.kept)
        self.campaign.log.extend(self.log)

    def _check(self) -> None:
        if self.over:
            raise errors.write_is_over()


class MemoryStore(Portable, Amending, TellsNews):
    """Campaigns that last as long as the process.

    It accepts and refuses exactly what the SQLite store does, so what runs on it runs there.

    Examples
    --------
    >>> from askwise.core.events import Kind
    >>> store = MemoryStore()
    >>> store.create("cats", spec="{}", time=0.0)
    >>> with store.write("cats") as transaction:
    ...     transaction.append([Event(Kind.PAUSED, seq=1)], expected_seq=0)
    >>> [event.kind.name for event in store.read("cats")]
    ['PAUSED']
    """

    def __init__(self) -> None:
        self._campaigns: dict[str, StoredCampaign] = {}
        self._deleted: set[str] = set()
        self._kinds: dict[str, RecordsOfKind] = {}
        self._records_lock = threading.Lock()
        self._lock = threading.Lock()
        self._writer: int | None = None
        self._transaction: _MemoryTransaction | None = None
        self._news = News()
        self._closed = False

    @classmethod
    def from_url(cls, url: str) -> MemoryStore:
        """Make a fresh store for the url ``memory``."""
        if url != "memory":
            raise errors.refused_url(url, "'memory'")
        return cls()

    def create(self, name: str, spec: str, time: float) -> None:
        self._check("create a campaign")
        if name in self._deleted:
            raise errors.campaign_exists(name, deleted=True)
        if self._campaigns.setdefault(name, campaign := StoredCampaign(spec, time)) is not campaign:
            raise errors.campaign_exists(name)

    def spec(self, name: str) -> str:
        return self._find(name).spec

    def names(self) -> list[str]:
        self._check()
        return sorted(self._campaigns)

    @contextmanager
    def write(self, name: str) -> Iterator[Transaction]:
        self._find(name, "write")
        with self._turn():
            campaign = self._find(name)
            self._transaction = transaction = _MemoryTransaction(name, campaign)
            try:
                yield transaction
                transaction.commit()
            finally:
                transaction.over = True
                self._transaction = None
        if transaction.log:
            self._news.post(name)

    def subscribe(self, told: Told) -> Callable[[], None]:
        return self._news.subscribe(told)

    def read(self, name: str, after: int = 0, upto: int | None = None) -> list[Event]:
        campaign = self._find(name)
        if (transaction := self._own(campaign)) is not None:
            return transaction.events(after, upto)
        return cut(campaign.log, after, upto)

    def position(self, name: str) -> int:
        campaign = self._find(name)
        if (transaction := self._own(campaign)) is not None:
            return len(campaign.log) + len(transaction.log)
        return len(campaign.log)

    def replies(self, name: str, keys: Sequence[str]) -> dict[str, Reply]:
        campaign = self._find(name)
        if (transaction := self._own(campaign)) is not None:
            return transaction.replies(keys)
        return {key: campaign.replies[key] for key in keys if key in campaign.replies}

    def save(self, name: str, snapshot: Snapshot) -> None:
        campaign = self._find(name, "save a snapshot")
        with self._turn():
            if snapshot.seq > len(campaign.log):
                raise errors.snapshot_ahead(name, len(campaign.log), snapshot.seq)
            since = cut(campaign.log, snapshot.seq, None)
            if not any(event.kind == Kind.RENAMED for event in since):
                campaign.snapshots[snapshot.seq, snapshot.version] = snapshot

    def snapshot(self, name: str, version: str, upto: int | None = None) -> Snapshot | None:
        snapshots = self._find(name).snapshots.copy()
        fitting = [seq for seq, of in snapshots if of == version and (upto is None or seq <= upto)]
        return snapshots[max(fitting), version] if fitting else None

    def record(self, kind: str, id: str) -> Record | None:
        self._check()
        with self._records_lock:
            body = self._of_kind(whole(kind, "kind")).bodies.get(whole(id, "id"))
        return None if body is None else Record(kind, id, body)

    def records(
        self, kind: str, prefix: str = "", after: str = "", limit: int | None = None
    ) -> list[Record]:
        self._check()
        check_limit(limit)
        whole(prefix, "prefix")
        whole(after, "after")
        with self._records_lock:
            found = self._of_kind(whole(kind, "kind"))
            return [
                Record(kind, each, found.bodies[each]) for each in found.some(prefix, after, limit)
            ]

    def change(self, changes: Sequence[Change]) -> bool:
        ordered = in_order(changes)
        self._check("change records")
        return self._change(ordered)

    def _change(self, ordered: Sequence[Change]) -> bool:
        with self._records_lock:
            for kind, record, before, _ in ordered:
                if self._of_kind(kind).bodies.get(record) != before:
                    return False
            for kind, record, _, after in ordered:
                self._kinds.setdefault(kind, RecordsOfKind()).put(record, after)
        return True

    def delete(self, name: str, expected_seq: int, changes: Sequence[Change] = ()) -> bool:
        ordered = in_order(changes)
        self._find(name, "delete a campaign")
        with self._turn():
            self._check_at(name, expected_seq)
            if not self._change(ordered):
                return False
            del self._campaigns[name]
            self._deleted.add(name)
        return True

    def rewrite(
        self,
        name: str,
        expected_seq: int,
        rewriting: Rewriting,
        events: Sequence[Event],
        changes: Sequence[Change] = (),
    ) -> bool:
        ordered, new = in_order(changes), pack(events, expected_seq)
        campaign = self._find(name, "rewrite a campaign")
        with self._turn():
            self._check_at(name, expected_seq)
            old = pack(cut(campaign.log, 0, None), 0)
            made = held.rewritten(campaign, [*map(rewriting.row, old), *new], rewriting)
            if not self._change(ordered):
                return False
            self._campaigns[name] = made
        self._news.post(name)
        return True

    def _check_at(self, name: str, expected_seq: int) -> None:
        last = len(self._find(name).log)
        if last != expected_seq:
            raise errors.log_moved(name, last, expected_seq)

    @contextmanager
    def contents(self) -> Iterator[Iterator[Item]]:
        self._check("read out the store")
        with self._turn(), self._records_lock:
            view = held.read_out(self._campaigns, self._kinds)
        with lent(view) as items:
            yield items

    def fill(self, items: Iterable[Item]) -> None:
        self._check("fill the store")
        with self._turn():
            self._check_empty()
            filling = held.MemoryFiller()
            filling.take(items)
            with self._records_lock:
                self._check_empty()
                self._kinds.update(filling.kinds)
                self._campaigns.update(filling.campaigns)

    def close(self) -> None:
        if not self._closed:
            self._check("close the store")
        self._closed = True

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for the other writers."""
        if not self._lock.acquire(timeout=_PATIENCE):
            raise errors.busy("the store", _PATIENCE)
        self._writer = threading.get_ident()
        try:
            self._check()
            yield
        finally:
            self._writer = None
            self._lock.release()

    def _check_empty(self) -> None:
        if self._campaigns or any(found.ids for found in self._kinds.values()):
            raise errors.not_empty()

    def _find(self, name: str, verb: str = "") -> StoredCampaign:
        self._check(verb)
        campaign = self._campaigns.get(name)
        if name in self._deleted:
            raise errors.campaign_deleted(name)
        if campaign is None:
            raise errors.unknown_campaign(name, self._campaigns)
        return campaign

    def _of_kind(self, kind: str) -> RecordsOfKind:
        return self._kinds.get(kind) or RecordsOfKind()

    def _check(self, verb: str = "") -> None:
        """Complain if the store is closed, or about what can't be done inside a write block."""
        if self._closed:
            raise errors.store_closed()
        if verb and self._writes():
            raise errors.inside_write(verb)

    def _own(self, campaign: StoredCampaign) -> _MemoryTransaction | None:
        """The write to a campaign that this thread is in."""
        transaction = self._transaction if self._writes() else None
        return transaction if transaction and transaction.campaign is campaign else None

    def _writes(self) -> bool:
        return self._writer == threading.get_ident()
