"""A store in memory: for trying things out and for tests. It ends with the process."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from askwise.core.errors import StoreError
from askwise.core.events import Event
from askwise.store.base import (
    Reply,
    Snapshot,
    Store,
    Transaction,
    campaign_exists,
    inside_write,
    log_moved,
    reply_exists,
    snapshot_ahead,
    store_closed,
    unknown_campaign,
    write_is_over,
)
from askwise.store.rows import Row, pack, unpack

_PATIENCE = 30.0
"""Seconds to wait for another thread's write: as long as for a file."""


_Log = list[Event | Row]
"""Events as they are, except that those with dicts in them are kept as rows: what was written
can't be changed by whoever holds the event."""


@dataclass(slots=True)
class _Campaign:
    """What is committed."""

    spec: str
    log: _Log = field(default_factory=list)
    replies: dict[str, Reply] = field(default_factory=dict)
    snapshots: dict[tuple[int, str], Snapshot] = field(default_factory=dict)


class _MemoryTransaction(Transaction):
    """Collects what is new beside what is committed."""

    def __init__(self, name: str, campaign: _Campaign) -> None:
        self.name = name
        self.campaign = campaign
        self.log: _Log = []
        self.replies: dict[str, Reply] = {}
        self.over = False

    def tail(self, after: int) -> list[Event]:
        self._check()
        return self.events(after, None)

    def events(self, after: int, upto: int | None) -> list[Event]:
        """Read as the writing thread sees it."""
        committed = self.campaign.log
        before = len(committed)
        new = _cut(self.log, after - before, None if upto is None else upto - before)
        return _cut(committed, after, upto) + new

    def reply(self, key: str) -> Reply | None:
        self._check()
        return self.replies.get(key) or self.campaign.replies.get(key)

    def append(self, events: Sequence[Event], expected_seq: int) -> None:
        self._check()
        last = len(self.campaign.log) + len(self.log)
        if last != expected_seq:
            raise log_moved(self.name, last, expected_seq)
        # All are packed, only to be as strict as a store that writes them down.
        for event, row in zip(events, pack(events, expected_seq), strict=True):
            self.log.append(event if event.tasks is None and event.workers is None else row)

    def keep(self, reply: Reply) -> None:
        self._check()
        if reply.key in self.replies or reply.key in self.campaign.replies:
            raise reply_exists(self.name, reply.key)
        self.replies[reply.key] = reply

    def commit(self) -> None:
        """Make what is new part of the campaign."""
        # Replies first: who sees an event of a keyed write also finds its reply.
        self.campaign.replies.update(self.replies)
        self.campaign.log.extend(self.log)

    def _check(self) -> None:
        if self.over:
            raise write_is_over()


def _cut(log: _Log, after: int, upto: int | None) -> list[Event]:
    stop = None if upto is None else max(upto, 0)
    return [
        unpack([entry])[0] if isinstance(entry, Row) else entry
        for entry in log[max(after, 0) : stop]
    ]


class MemoryStore(Store):
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
        self._campaigns: dict[str, _Campaign] = {}
        self._lock = threading.Lock()
        self._writer: int | None = None
        self._transaction: _MemoryTransaction | None = None
        self._closed = False

    def create(self, name: str, spec: str, time: float) -> None:
        self._check()
        self._check_outside("create a campaign")
        if self._campaigns.setdefault(name, campaign := _Campaign(spec)) is not campaign:
            raise campaign_exists(name)

    def spec(self, name: str) -> str:
        return self._find(name).spec

    def names(self) -> list[str]:
        self._check()
        return sorted(self._campaigns)

    @contextmanager
    def write(self, name: str) -> Iterator[Transaction]:
        campaign = self._find(name)
        self._check_outside("write")
        if not self._lock.acquire(timeout=_PATIENCE):
            raise StoreError(
                f"the store is busy: another thread kept it locked for more than {_PATIENCE:g} s; "
                "nothing was written, try again"
            )
        transaction = _MemoryTransaction(name, campaign)
        self._writer, self._transaction = threading.get_ident(), transaction
        try:
            self._check()
            yield transaction
            transaction.commit()
        finally:
            transaction.over = True
            self._writer = self._transaction = None
            self._lock.release()

    def read(self, name: str, after: int = 0, upto: int | None = None) -> list[Event]:
        campaign = self._find(name)
        transaction = self._transaction
        if self._writes() and transaction is not None and transaction.campaign is campaign:
            return transaction.events(after, upto)
        return _cut(campaign.log, after, upto)

    def save(self, name: str, snapshot: Snapshot) -> None:
        campaign = self._find(name)
        self._check_outside("save a snapshot")
        if snapshot.seq > len(campaign.log):
            raise snapshot_ahead(name, len(campaign.log), snapshot)
        campaign.snapshots[snapshot.seq, snapshot.version] = snapshot

    def snapshot(self, name: str, version: str, upto: int | None = None) -> Snapshot | None:
        snapshots = self._find(name).snapshots.copy()
        fitting = [seq for seq, of in snapshots if of == version and (upto is None or seq <= upto)]
        return snapshots[max(fitting), version] if fitting else None

    def close(self) -> None:
        self._check_outside("close the store")
        self._closed = True

    def _find(self, name: str) -> _Campaign:
        self._check()
        campaign = self._campaigns.get(name)
        if campaign is None:
            raise unknown_campaign(name, self._campaigns)
        return campaign

    def _check(self) -> None:
        if self._closed:
            raise store_closed()

    def _check_outside(self, verb: str) -> None:
        if self._writes():
            raise inside_write(verb)

    def _writes(self) -> bool:
        return self._writer == threading.get_ident()
