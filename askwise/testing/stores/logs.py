"""What every store does with names, logs and snapshots."""

from dataclasses import replace
from typing import Any

from askwise.core.errors import Conflict, UnknownName
from askwise.core.events import Event, Kind
from askwise.store.base import Snapshot, Store
from askwise.testing.stores.base import (
    StoreSuite,
    append,
    elsewhere,
    keeps_snapshots,
    sample_events,
)
from askwise.testing.suite import refused, same

CHECKS = StoreSuite()


@CHECKS.on()
def names_are_sorted_and_specs_come_back(store: Store) -> None:
    """An empty store has no names; a created campaign has its spec and an empty log."""
    same(store.names(), [], "names of an empty store")
    for name in ("b", "a", "ä 猫", "B"):
        store.create(name, spec=f'{{"of": "{name}"}}', time=1.5)
    same(store.names(), sorted(["b", "a", "ä 猫", "B"]), "names")
    same(store.spec("ä 猫"), '{"of": "ä 猫"}', "spec")
    same(store.read("a"), [], "a new log")


@CHECKS.on()
def a_name_is_created_once(store: Store) -> None:
    """Creating it again is a conflict that names it, and leaves the first as it is."""
    store.create("cats", spec="first", time=0.0)
    error = refused(Conflict, store.create, "cats", "second", 1.0)
    assert "cats" in str(error), f"the message should name the campaign: {error}"
    same(store.spec("cats"), "first", "spec")


@CHECKS.on("cats")
def an_unknown_name_is_answered_with_the_nearest(store: Store) -> None:
    """Every method that takes a name says which one may be meant."""
    for error in (
        refused(UnknownName, store.spec, "cast"),
        refused(UnknownName, store.read, "cast"),
        refused(UnknownName, store.position, "cast"),
        refused(UnknownName, store.save, "cast", Snapshot(0, "v", b"")),
        refused(UnknownName, store.snapshot, "cast", "v"),
        refused(UnknownName, store.write("cast").__enter__),
    ):
        assert "'cats'" in str(error), f"the message should offer 'cats': {error}"


@CHECKS.on("c")
def events_come_back_as_they_were(store: Store) -> None:
    """Every kind and field, by ``read`` and by ``tail``."""
    events = sample_events()
    append(store, "c", events[:5])
    append(store, "c", events[5:])
    same(store.read("c"), events, "events read")
    with store.write("c") as transaction:
        same(transaction.tail(0), events, "tail")
        same(transaction.tail(7), events[7:], "tail after 7")


@CHECKS.on("c")
def any_range_can_be_read(store: Store) -> None:
    """``after`` is left out and ``upto`` taken in, also beyond both ends."""
    events = sample_events()[:4]
    append(store, "c", events)
    for after in range(-2, 7):
        for upto in (None, *range(-2, 7)):
            due = [e for e in events if e.seq > after and (upto is None or e.seq <= upto)]
            same(store.read("c", after, upto), due, f"read({after}, {upto})")
            columns = store.columns("c", after, upto, timed=True)
            bare = [replace(event, key=None) for event in due]
            found = [replace(event, key=None) for event in columns.events()]
            same(found, bare, f"columns({after}, {upto})")


@CHECKS.on("c")
def columns_are_the_events_without_their_keys(store: Store) -> None:
    """Every kind and field, long bodies among short ones; times only where they are asked for."""
    events = sample_events()
    long = Event(Kind.DECIDED, seq=len(events) + 1, note="x" * 150_000)
    events = [*events, long, Event(Kind.PAUSED, seq=len(events) + 2)]
    append(store, "c", events)
    due = [replace(event, key=None, time=0.0) for event in events]
    columns = store.columns("c")
    found = [replace(event, key=None, time=0.0) for event in columns.events()]
    same(found, due, "columns")
    same((columns.first, columns.last, len(columns)), (1, len(events), len(events)), "their ends")
    times = store.columns("c", timed=True).times
    same(list(times or ()), [event.time for event in events], "their times")
    refused(UnknownName, store.columns, "d")


@CHECKS.on("c", "d")
def events_can_be_picked(store: Store) -> None:
    """By number, in the order of the log whatever the order asked in; others are left out."""
    events = sample_events()
    many = [Event(Kind.PAUSED, seq=seq) for seq in range(len(events) + 1, 1201)]
    append(store, "c", events)
    same(store.pick("c", []), [], "none picked")
    same(store.pick("c", [4, 2, 2]), [events[1], events[3]], "two picked")
    same(store.pick("c", iter([-1, 0, 3, 2**40])), [events[2]], "picked beyond both ends")
    same(store.pick("d", [1]), [], "picked of another campaign")
    append(store, "c", many)
    same(store.pick("c", range(1, 1201)), [*events, *many], "all picked")
    refused(UnknownName, store.pick, "e", [1])


@CHECKS.on("c", "d")
def the_position_is_that_of_the_last_event(store: Store) -> None:
    """The writer's own appends count for them at once, for others when the block has ended."""
    same(store.position("c"), 0, "position of an empty log")
    with store.write("c") as transaction:
        transaction.append(sample_events()[:3], 0)
        same(store.position("c"), 3, "position for the writer")
        same(store.position("d"), 0, "position of another campaign")
        same(elsewhere(store.position, "c"), 0, "position for another thread")
    same(store.position("c"), 3, "position")
    same(store.positions(iter(["d", "none", "c"])), {"c": 3, "d": 0}, "positions of several")
    same(store.positions([]), {}, "positions of none")


@CHECKS.on("c", "d")
def campaigns_do_not_mix(store: Store) -> None:
    """Each has a log of its own, numbered from 1."""
    events = sample_events()
    append(store, "c", events[:2])
    append(store, "d", events[:1])
    append(store, "c", events[2:3])
    same(store.read("c"), events[:3], "log of c")
    same(store.read("d"), events[:1], "log of d")


@CHECKS.on("c")
def what_was_written_can_not_be_changed(store: Store) -> None:
    """Changing a dict that was appended or read changes no log."""
    task: dict[str, Any] = {"id": "t", "context": [1.0]}
    append(store, "c", [Event(Kind.ADDED, seq=1, tasks=(task,))])
    task["id"] = "changed"
    (read,) = store.read("c")
    assert read.tasks is not None
    read.tasks[0]["context"].append(2.0)
    due = Event(Kind.ADDED, seq=1, tasks=({"id": "t", "context": [1.0]},))
    same(store.read("c"), [due], "the log")


@CHECKS.on("c", "d")
def the_newest_fitting_snapshot_is_found(store: Store) -> None:
    """By version and position; the same position and version is replaced."""
    append(store, "c", sample_events()[:20])
    long = bytes(range(256)) * 1000
    kept = ((8, "v1", b"8"), (2, "v1", long), (4, "v1", b"old"), (4, "v1", b""), (16, "v2", b"16"))
    for each in (*kept, (0, "v1", b"0")):
        store.save("c", Snapshot(*each))
    if not keeps_snapshots(store):
        same(store.snapshot("c", "v1"), None, "a snapshot where none are kept")
        return
    for version, upto, due in (
        ("v1", None, Snapshot(8, "v1", b"8")),
        ("v1", 8, Snapshot(8, "v1", b"8")),
        ("v1", 7, Snapshot(4, "v1", b"")),
        ("v1", 3, Snapshot(2, "v1", long)),
        ("v1", 1, Snapshot(0, "v1", b"0")),
        ("v2", 99, Snapshot(16, "v2", b"16")),
        ("v2", 15, None),
        ("v3", None, None),
    ):
        same(store.snapshot("c", version, upto), due, f"{version} up to {upto}")
    same(store.snapshot("d", "v1"), None, "another campaign")


@CHECKS.on("c")
def a_snapshot_is_not_ahead_of_the_log(store: Store) -> None:
    """A state with events in it that were never committed is refused."""
    append(store, "c", sample_events()[:3])
    refused(Conflict, store.save, "c", Snapshot(4, "v", b""))
    same(store.snapshot("c", "v"), None, "snapshot")
    store.save("c", Snapshot(3, "v", b""))
