"""What stores do that can be copied.

A store that is no ``Portable`` passes them without a look.
"""

from collections.abc import Callable, Iterator
from functools import wraps

from askwise.core.errors import Conflict, StoreError
from askwise.core.events import Event, Kind
from askwise.store import Change, Portable, Record, Reply, Store
from askwise.store.backup.portable import Head, Item
from askwise.store.event_rows import EventRow, pack
from askwise.testing.stores.base import Check, StoreSuite, elsewhere
from askwise.testing.suite import refused, same

CHECKS = StoreSuite()

_LONG = 5_000
"""More than a store reads or writes in one piece."""


def _listed(check: Callable[[Portable], None]) -> Check:
    @wraps(check)
    def if_portable(store: Store) -> None:
        if isinstance(store, Portable):
            check(store)

    return CHECKS.on()(if_portable)


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


def _copied(store: Portable) -> list[Item]:
    with store.contents() as items:
        return list(items)


def _campaign(name: str, length: int) -> list[Item]:
    """A campaign with all that :func:`_write` puts into it."""
    events = _events(length)
    keyed = sorted((event.key, str(event.seq)) for event in events if event.key is not None)
    replies = [Reply(key, "request", seq) for key, seq in keyed]
    return [Head(name, 1 / 3, f"of {name}"), *pack(events, 0), *replies]


@_listed
def contents_are_everything(store: Portable) -> None:
    """Campaigns, logs, replies and records, in order; of a store that is not there yet nothing."""
    same(_copied(store), [], "contents of an empty store")
    store.create("b", spec="of b", time=1 / 3)
    store.create("a", spec="of a", time=1 / 3)
    _write(store, "b", _LONG)
    changes = [Change(f"kind {n % 2}", f"{n:05}", None, f"{n}") for n in range(_LONG)]
    store.change(changes)
    records = [Record(kind, each, body) for kind, each, _, body in sorted(changes) if body]
    due = [*_campaign("a", 0), *_campaign("b", _LONG), *records]
    assert _copied(store) == due, "what was written is not what is read out"


@_listed
def contents_are_of_one_moment(store: Portable) -> None:
    """Whatever this thread and others write meanwhile; and nobody waits for it."""
    store.create("c", spec="of c", time=1 / 3)
    _write(store, "c", 3)
    store.change([Change("key", "a", None, "1")])
    before = _copied(store)
    with store.contents() as items:
        head = next(items)
        elsewhere(_write, store, "c", _LONG)
        _write(store, "c", 2)
        store.create("d", spec="{}", time=0.0)
        elsewhere(store.change, [Change("key", "a", "1", "2")])
        store.change([Change("key", "b", None, "2")])
        same([head, *items], before, "the contents after others wrote")
        same(store.position("c"), _LONG + 5, "position beside it")
    rows = [item for item in _copied(store) if isinstance(item, EventRow)]
    same(len(rows), _LONG + 5, "rows now")


@_listed
def contents_end_with_their_block(store: Portable) -> None:
    """What was not read in it is refused, not left out; and none are had inside a write."""
    store.create("c", spec="of c", time=1 / 3)
    _write(store, "c", 3)
    with store.contents() as items:
        next(items)
    refused(StoreError, next, items)
    with store.write("c"):
        refused(StoreError, store.contents().__enter__)
    same(_copied(store), _campaign("c", 3), "the contents")


def _filling() -> list[Item]:
    return [*_campaign("a", 3), *_campaign("b", 1), Record("key", "k", "1")]


@_listed
def an_empty_store_is_filled(store: Portable) -> None:
    """And then is as any other: read, written, changed."""

    def items() -> Iterator[Item]:
        yield from _filling()
        refused(StoreError, store.create, "c", "{}", 0.0)
        refused(StoreError, store.change, [])
        refused(StoreError, store.fill, [])

    store.fill(items())
    same(_copied(store), _filling(), "the contents")
    same(store.names(), ["a", "b"], "names")
    same(store.spec("a"), "of a", "spec")
    same(store.read("a"), _events(3), "log of a")
    same(store.record("key", "k"), Record("key", "k", "1"), "a record")
    with store.write("a") as transaction:
        same(transaction.reply("key 1"), Reply("key 1", "request", "1"), "a reply")
        transaction.append(_events(1, 4), 3)
    same(store.position("a"), 4, "position after another write")


@_listed
def a_filling_that_fails_leaves_the_store_empty(store: Portable) -> None:
    """Whatever it had before the exception; nothing of it is seen before it ends."""

    def failing() -> Iterator[Item]:
        yield from _filling()
        same(elsewhere(store.names), [], "names for another thread")
        raise KeyError

    for _ in range(2):
        refused(KeyError, store.fill, failing())
        same(store.names(), [], "names")
        same(store.records("key"), [], "records")
    refused(Conflict, store.fill, [*_campaign("a", 0), *_campaign("a", 0)])
    same(store.names(), [], "names after a name came twice")
    store.fill(_filling())
    same(store.names(), ["a", "b"], "names after it went well")


@_listed
def only_an_empty_store_is_filled(store: Portable) -> None:
    """A campaign or a record is enough to refuse, and stays as it is."""
    store.change([Change("key", "k", None, "old")])
    refused(Conflict, store.fill, _filling())
    same(store.record("key", "k"), Record("key", "k", "old"), "the record")
    store.change([Change("key", "k", "old", None)])
    store.create("a", spec="old", time=0.0)
    refused(Conflict, store.fill, _filling())
    same(store.spec("a"), "old", "the campaign")
