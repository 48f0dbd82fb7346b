"""What every store does when it is copied; part of the checks in ``askwise.testing.stores``."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from askwise.core.errors import Conflict, StoreError
from askwise.core.events import Event, Kind
from askwise.store import Change, Record, Reply, Store
from askwise.store.copying import Filling, Head, View
from askwise.store.rows import pack
from askwise.testing.expecting import SOON, Check, MakeStore, opened, refused, same

_checks: list[Check] = []

_LONG = 5_000
"""More than a store reads or writes in one piece."""


def _listed(check: Check) -> Check:
    _checks.append(check)
    return check


def _events(length: int, first: int = 1) -> list[Event]:
    return [
        Event(Kind.ANSWER, seq=seq, time=seq / 3, key=f"key {seq}" if seq % 3 else None, task="t")
        for seq in range(first, first + length)
    ]


def _write(store: Store, name: str, length: int) -> None:
    """Append events and keep the replies to those with a key."""
    with store.write(name) as transaction:
        events = _events(length, store.position(name) + 1)
        transaction.append(events, events[0].seq - 1)
        transaction.replies([event.key for event in events if event.key is not None])
        for event in events:
            if event.key is not None:
                transaction.keep(Reply(event.key, "request", str(event.seq)))


def _all(view: View) -> dict[str, object]:
    found: dict[str, object] = {
        name: (
            view.head(name),
            view.length(name),
            [row for rows in view.rows(name) for row in rows],
            sorted((reply.key, reply.body) for replies in view.replies(name) for reply in replies),
        )
        for name in view.names()
    }
    return {**found, "": [record for records in view.records() for record in records]}


@_listed
def a_view_has_everything(make_store: MakeStore) -> None:
    """Campaigns, logs, replies and records; of a store that is not there yet nothing."""
    with opened(make_store) as store:
        with store.view() as view:
            same(_all(view), {"": []}, "a view of an empty store")
        store.create("b", spec="of b", time=0.1 + 0.2)
        store.create("a", spec="of a", time=1.0)
        _write(store, "b", _LONG)
        changes = [Change(f"kind {n % 2}", f"{n:05}", None, f"{n}") for n in range(_LONG)]
        store.change(changes)
        with store.view() as view:
            found = _all(view)
            same(view.names(), ["a", "b"], "names")
        same(found["a"], (Head("a", 1.0, "of a"), 0, [], []), "an empty log")
        events = _events(_LONG)
        replies = sorted((event.key, str(event.seq)) for event in events if event.key)
        due = (Head("b", 0.1 + 0.2, "of b"), _LONG, pack(events, 0), replies)
        assert found["b"] == due, "a long log does not come back as it was"
        records = [Record(kind, each, body) for kind, each, _, body in sorted(changes) if body]
        assert found[""] == records, "many records do not come back as they were"


@_listed
def a_view_stays_as_it_was(make_store: MakeStore) -> None:
    """Whatever this thread and others write meanwhile; and nobody waits for it."""
    with opened(make_store) as store, ThreadPoolExecutor(1) as elsewhere:
        store.create("c", spec="{}", time=0.0)
        _write(store, "c", 3)
        store.change([Change("key", "a", None, "1")])
        with store.view() as view:
            before = _all(view)
            elsewhere.submit(_write, store, "c", _LONG).result(SOON)
            _write(store, "c", 2)
            store.create("d", spec="{}", time=0.0)
            elsewhere.submit(store.change, [Change("key", "a", "1", "2")]).result(SOON)
            store.change([Change("key", "b", None, "2")])
            same(_all(view), before, "the view after others wrote")
            same(store.position("c"), _LONG + 5, "position beside the view")
        refused(StoreError, view.head, "c")
        refused(StoreError, lambda: list(view.rows("c")))
        with store.write("c"):
            refused(StoreError, store.view().__enter__)
        with store.view() as view:
            same(view.length("c"), _LONG + 5, "length in a new view")


@_listed
def an_empty_store_is_filled(make_store: MakeStore) -> None:
    """And then is as any other: read, written, changed."""
    with opened(make_store) as store:
        events = _events(3)
        with store.fill() as filling:
            _fill(filling)
            refused(Conflict, filling.campaign, Head("a", 0.0, "{}"))
            refused(StoreError, store.create, "c", "{}", 0.0)
            refused(StoreError, store.change, [])
            refused(StoreError, store.fill().__enter__)
        same(store.names(), ["a", "b"], "names")
        same(store.spec("a"), "of a", "spec")
        same(store.read("a"), events, "log of a")
        same(store.read("b"), events[:1], "log of b")
        same(store.record("key", "k"), Record("key", "k", "1"), "a record")
        with store.write("a") as transaction:
            same(transaction.reply("key 1"), Reply("key 1", "request", "1"), "a reply")
            transaction.append(_events(1, 4), 3)
        with store.view() as view:
            same(view.head("a"), Head("a", 1 / 3, "of a"), "head")


def _fill(filling: Filling) -> None:
    rows = pack(_events(3), 0)
    filling.campaign(Head("a", 1 / 3, "of a"))
    filling.rows(rows[:2])
    filling.rows(rows[2:])
    filling.replies([Reply("key 1", "request", "1")])
    filling.campaign(Head("b", 1.0, "of b"))
    filling.rows(rows[:1])
    filling.records([Record("key", "k", "1")])


@_listed
def a_filling_that_fails_leaves_the_store_empty(make_store: MakeStore) -> None:
    """Whatever it had before the exception; nothing of it is seen before it ends."""

    def fail(store: Store) -> None:
        with store.fill() as filling:
            _fill(filling)
            seen = elsewhere.submit(store.names).result(SOON)
            same(seen, [], "names for another thread")
            raise KeyError

    with opened(make_store) as store, ThreadPoolExecutor(1) as elsewhere:
        for _ in range(2):
            with suppress(KeyError):
                fail(store)
            same(store.names(), [], "names")
            same(store.records("key"), [], "records")
        with store.fill() as filling:
            _fill(filling)
        same(store.names(), ["a", "b"], "names after it went well")


@_listed
def only_an_empty_store_is_filled(make_store: MakeStore) -> None:
    """A campaign or a record is enough to refuse, and stays as it is."""
    with opened(make_store) as store:
        store.change([Change("key", "k", None, "old")])
        refused(Conflict, store.fill().__enter__)
        same(store.record("key", "k"), Record("key", "k", "old"), "the record")
        store.change([Change("key", "k", "old", None)])
        store.create("a", spec="old", time=0.0)
        refused(Conflict, store.fill().__enter__)
        same(store.spec("a"), "old", "the campaign")


CHECKS = tuple(_checks)
"""All checks, in the order in which to read a failing run."""
