"""What every store does: run these checks on yours.

Each check takes a factory that makes a fresh, empty store, calls it once and closes the store.
With pytest::

    @pytest.mark.parametrize("check", stores.CHECKS, ids=lambda check: check.__name__)
    def test_my_store_keeps_the_contract(check, tmp_path):
        check(lambda: MyStore(tmp_path / "campaigns"))
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from askwise.core.errors import Conflict, StoreError, UnknownName
from askwise.core.events import Event, Kind, PlanRow
from askwise.store.base import Reply, Snapshot, Store
from askwise.testing import copies, expecting, records
from askwise.testing.expecting import SOON, opened, refused, same

MakeStore = expecting.MakeStore
Check = expecting.Check

_checks: list[Check] = []


def check_store(make_store: MakeStore) -> None:
    """Run all checks; the first that fails raises AssertionError.

    Parameters
    ----------
    make_store : callable
        Makes a fresh, empty store at every call.

    Examples
    --------
    >>> from askwise.store import MemoryStore
    >>> check_store(MemoryStore)
    """
    for check in CHECKS:
        check(make_store)


def sample_events(first: int = 1) -> list[Event]:
    """Make one event of every kind, numbered from ``first`` on, with every field in use."""
    contents: dict[Kind, dict[str, Any]] = {
        Kind.DECIDED: {
            "decision": 1,
            "rows": (PlanRow("w1", "t1", 2, 0.25), PlanRow("w2")),
            "available": ("w1", "w2"),
        },
        Kind.ASKED: {"decision": 1, "price": 50_000, "propensity": 0.1, "expires": 1e9 + 0.1},
        Kind.ANSWER: {"assignment": 2, "value": 0.1 + 0.2, "note": "in doubt"},
        Kind.TRUTH: {"value": "naïve 猫 \U0001f600"},
        Kind.CLOSED: {"value": "cat", "outcome": "confident", "confidence": 0.99},
        Kind.ADDED: {"tasks": ({"id": "t3", "context": [0.5, -1e-300], "more": {"a": None}},)},
        Kind.JOINED: {"workers": ({"id": "w3", "price": "0.05", "limit": 3},)},
        Kind.TOPPED_UP: {"price": 10**15},
        Kind.PAID: {"price": 1},
    }
    return [
        Event(kind, seq=seq, time=seq / 3, key=f"key {seq}" if seq % 2 else None, task="t1")
        if kind not in contents
        else Event(kind, seq=seq, time=seq / 3, worker="w1", **contents[kind])
        for seq, kind in enumerate(Kind, first)
    ]


def _listed(check: Check) -> Check:
    _checks.append(check)
    return check


@_listed
def names_are_sorted_and_specs_come_back(make_store: MakeStore) -> None:
    """An empty store has no names; a created campaign has its spec and an empty log."""
    with opened(make_store) as store:
        same(store.names(), [], "names of an empty store")
        for name in ("b", "a", "ä 猫", "B"):
            store.create(name, spec=f'{{"of": "{name}"}}', time=1.5)
        same(store.names(), sorted(["b", "a", "ä 猫", "B"]), "names")
        same(store.spec("ä 猫"), '{"of": "ä 猫"}', "spec")
        same(store.read("a"), [], "a new log")


@_listed
def a_name_is_created_once(make_store: MakeStore) -> None:
    """Creating it again is a conflict that names it, and leaves the first as it is."""
    with opened(make_store) as store:
        store.create("cats", spec="first", time=0.0)
        error = refused(Conflict, store.create, "cats", "second", 1.0)
        assert "cats" in str(error), f"the message should name the campaign: {error}"
        same(store.spec("cats"), "first", "spec")


@_listed
def an_unknown_name_is_answered_with_the_nearest(make_store: MakeStore) -> None:
    """Every method that takes a name says which one may be meant."""
    with opened(make_store) as store:
        store.create("cats", spec="{}", time=0.0)
        for error in (
            refused(UnknownName, store.spec, "cast"),
            refused(UnknownName, store.read, "cast"),
            refused(UnknownName, store.position, "cast"),
            refused(UnknownName, store.save, "cast", Snapshot(0, "v", b"")),
            refused(UnknownName, store.snapshot, "cast", "v"),
            refused(UnknownName, store.write("cast").__enter__),
        ):
            assert "'cats'" in str(error), f"the message should offer 'cats': {error}"


@_listed
def events_come_back_as_they_were(make_store: MakeStore) -> None:
    """Every kind and field, by ``read`` and by ``tail``."""
    events = sample_events()
    with _campaign(make_store) as store:
        _append(store, "c", events[:5])
        _append(store, "c", events[5:])
        same(store.read("c"), events, "events read")
        with store.write("c") as transaction:
            same(transaction.tail(0), events, "tail")
            same(transaction.tail(7), events[7:], "tail after 7")


@_listed
def any_range_can_be_read(make_store: MakeStore) -> None:
    """``after`` is left out and ``upto`` taken in, also beyond both ends."""
    events = sample_events()[:4]
    with _campaign(make_store) as store:
        _append(store, "c", events)
        for after in range(-2, 7):
            for upto in (None, *range(-2, 7)):
                due = [e for e in events if e.seq > after and (upto is None or e.seq <= upto)]
                same(store.read("c", after, upto), due, f"read({after}, {upto})")


@_listed
def events_can_be_picked(make_store: MakeStore) -> None:
    """By number, in the order of the log whatever the order asked in; others are left out."""
    events = sample_events()
    many = [Event(Kind.PAUSED, seq=seq) for seq in range(len(events) + 1, 1201)]
    with _campaign(make_store, "c", "d") as store:
        _append(store, "c", events)
        same(store.pick("c", []), [], "none picked")
        same(store.pick("c", [4, 2, 2]), [events[1], events[3]], "two picked")
        same(store.pick("c", iter([-1, 0, 3, 2**40])), [events[2]], "picked beyond both ends")
        same(store.pick("d", [1]), [], "picked of another campaign")
        _append(store, "c", many)
        same(store.pick("c", range(1, 1201)), [*events, *many], "all picked")
        refused(UnknownName, store.pick, "e", [1])


@_listed
def a_wrong_expected_seq_is_a_conflict(make_store: MakeStore) -> None:
    """Nothing is written then, and the transaction can go on."""
    first, second, third = sample_events()[:3]
    with _campaign(make_store) as store:
        with store.write("c") as transaction:
            transaction.append([first], 0)
            refused(Conflict, transaction.append, [first], 0)
            refused(Conflict, transaction.append, [third], 2)
            refused(Conflict, transaction.append, [], 2)
            transaction.append([], 1)
            transaction.append([second], 1)
        same(store.read("c"), [first, second], "the log")


@_listed
def sequence_numbers_have_no_gap(make_store: MakeStore) -> None:
    """Events whose numbers do not follow on are refused as a whole."""
    first, second, third = sample_events()[:3]
    with _campaign(make_store) as store:
        with store.write("c") as transaction:
            for wrong in ([second], [first, third], [first, first], [second, first]):
                refused(StoreError, transaction.append, wrong, 0)
        same(store.read("c"), [], "the log")


@_listed
def what_is_not_json_is_refused_as_a_whole(make_store: MakeStore) -> None:
    """Neither NaN nor a stray object gets into the log, nor what was to go in with it."""
    good = Event(Kind.PAUSED, seq=1)
    with _campaign(make_store) as store:
        for bad in (
            Event(Kind.ANSWER, seq=2, value=float("nan")),
            Event(Kind.ANSWER, seq=2, confidence=float("inf")),
            Event(Kind.ANSWER, seq=2, time=float("nan")),
            Event(Kind.ANSWER, seq=2, key="\ud800"),
            Event(Kind.ADDED, seq=2, tasks=({"id": object()},)),
        ):
            with store.write("c") as transaction:
                refused(StoreError, transaction.append, [good, bad], 0)
        same(store.read("c"), [], "the log")


@_listed
def an_exception_rolls_back_wholly(make_store: MakeStore) -> None:
    """Events and replies go together, whatever the exception; and it comes out as it is."""
    events = sample_events()
    with _campaign(make_store) as store:
        _append(store, "c", events[:2])
        for exception in (ValueError("no"), Conflict("no"), KeyboardInterrupt()):
            try:
                with store.write("c") as transaction:
                    transaction.append(events[2:4], 2)
                    transaction.keep(Reply("k", "request", "body"))
                    raise exception
            except BaseException as caught:
                if caught is not exception:
                    raise
            else:
                raise AssertionError(f"{exception!r} was swallowed")
            same(store.read("c"), events[:2], "the log")
        with store.write("c") as transaction:
            same(transaction.reply("k"), None, "the reply")
            transaction.append(events[2:4], 2)
        same(store.read("c"), events[:4], "the log after another write")


@_listed
def a_write_sees_itself_and_others_see_it_afterwards(make_store: MakeStore) -> None:
    """Its own thread reads its appends at once, other threads when the block has ended."""
    events = sample_events()
    with _campaign(make_store) as store, ThreadPoolExecutor(1) as elsewhere:
        _append(store, "c", events[:2])
        with store.write("c") as transaction:
            transaction.append(events[2:3], 2)
            transaction.append(events[3:5], 3)
            transaction.keep(Reply("k", "request", "body"))
            same(transaction.tail(1), events[1:5], "tail")
            same(transaction.reply("k"), Reply("k", "request", "body"), "its own reply")
            same(store.read("c", 1, 4), events[1:4], "read by the writer")
            same(store.read("c", 3), events[3:5], "read of new events by the writer")
            seen = elsewhere.submit(store.read, "c").result(SOON)
            same(seen, events[:2], "read by another thread")
        seen = elsewhere.submit(store.read, "c").result(SOON)
        same(seen, events[:5], "read by another thread afterwards")


@_listed
def a_reply_is_kept_once(make_store: MakeStore) -> None:
    """It comes back under its key; a second under the same key is a conflict."""
    first = Reply("k", '{"verb": "ask"}', "naïve 猫")
    with _campaign(make_store, "c", "d") as store:
        with store.write("c") as transaction:
            transaction.keep(first)
            refused(Conflict, transaction.keep, Reply("k", "other", "other"))
            transaction.keep(Reply("K", "", ""))
        with store.write("c") as transaction:
            refused(Conflict, transaction.keep, Reply("k", "other", "other"))
            same(transaction.reply("k"), first, "reply")
            same(transaction.reply("K"), Reply("K", "", ""), "another reply")
            same(transaction.reply("unheard of"), None, "no reply")
        with store.write("d") as transaction:
            same(transaction.reply("k"), None, "reply of another campaign")


@_listed
def replies_are_found_together(make_store: MakeStore) -> None:
    """Of many keys those that have one; what is kept afterwards is found as well."""
    kept = [Reply(f"k{number}", "request", str(number)) for number in range(1200)]
    with _campaign(make_store, "c", "d") as store:
        with store.write("c") as transaction:
            for reply in kept[:-1]:
                transaction.keep(reply)
        with store.write("c") as transaction:
            same(transaction.replies([]), {}, "no keys")
            keys = ["unheard of", "k1", *(reply.key for reply in kept), "k1"]
            due = {reply.key: reply for reply in kept[:-1]}
            same(transaction.replies(keys), due, "replies")
            refused(Conflict, transaction.keep, Reply("k1", "other", "other"))
            transaction.keep(kept[-1])
            same(transaction.reply("unheard of"), None, "no reply")
            same(transaction.replies(keys), {**due, kept[-1].key: kept[-1]}, "one more")
        with store.write("d") as transaction:
            same(transaction.replies(["k1"]), {}, "replies of another campaign")
        same(store.replies("c", keys), {reply.key: reply for reply in kept}, "outside a write")
        same(store.replies("c", []), {}, "no keys outside a write")
        same(store.replies("d", ["k1"]), {}, "replies of another campaign outside a write")


@_listed
def the_position_is_that_of_the_last_event(make_store: MakeStore) -> None:
    """The writer's own appends count for him at once, for others when the block has ended."""
    with _campaign(make_store, "c", "d") as store, ThreadPoolExecutor(1) as elsewhere:
        same(store.position("c"), 0, "position of an empty log")
        with store.write("c") as transaction:
            transaction.append(sample_events()[:3], 0)
            same(store.position("c"), 3, "position for the writer")
            same(store.position("d"), 0, "position of another campaign")
            seen = elsewhere.submit(store.position, "c").result(SOON)
            same(seen, 0, "position for another thread")
        same(store.position("c"), 3, "position")


@_listed
def a_transaction_ends_with_its_block(make_store: MakeStore) -> None:
    """Afterwards it refuses everything."""
    with _campaign(make_store) as store:
        with store.write("c") as transaction:
            pass
        refused(StoreError, transaction.tail, 0)
        refused(StoreError, transaction.reply, "k")
        refused(StoreError, transaction.replies, ["k"])
        refused(StoreError, transaction.append, [], 0)
        refused(StoreError, transaction.keep, Reply("k", "", ""))


@_listed
def a_write_block_can_not_be_nested(make_store: MakeStore) -> None:
    """Neither another write nor creating, saving or closing; and it goes on unharmed."""
    events = sample_events()[:2]
    with _campaign(make_store, "c", "d") as store:
        with store.write("c") as transaction:
            transaction.append(events[:1], 0)
            refused(StoreError, store.write("c").__enter__)
            refused(StoreError, store.write("d").__enter__)
            refused(StoreError, store.create, "e", "{}", 0.0)
            if _keeps_snapshots(store):
                refused(StoreError, store.save, "d", Snapshot(0, "v", b""))
            refused(StoreError, store.close)
            transaction.append(events[1:], 1)
        same(store.read("c"), events, "the log")
        same(store.names(), ["c", "d"], "names")
        same(store.snapshot("d", "v"), None, "snapshot")


@_listed
def the_newest_fitting_snapshot_is_found(make_store: MakeStore) -> None:
    """By version and position; the same position and version is replaced."""
    with _campaign(make_store, "c", "d") as store:
        _append(store, "c", sample_events())
        for seq, version, blob in (
            (8, "v1", b"8"),
            (2, "v1", bytes(range(256)) * 1000),
            (4, "v1", b"old"),
            (4, "v1", b""),
            (16, "v2", b"16"),
            (0, "v1", b"0"),
        ):
            store.save("c", Snapshot(seq, version, blob))
        if not _keeps_snapshots(store):
            same(store.snapshot("c", "v1"), None, "a snapshot where none are kept")
            return
        same(store.snapshot("c", "v1"), Snapshot(8, "v1", b"8"), "newest of v1")
        same(store.snapshot("c", "v1", 8), Snapshot(8, "v1", b"8"), "v1 up to 8")
        same(store.snapshot("c", "v1", 7), Snapshot(4, "v1", b""), "v1 up to 7")
        same(
            store.snapshot("c", "v1", 3),
            Snapshot(2, "v1", bytes(range(256)) * 1000),
            "v1 up to 3",
        )
        same(store.snapshot("c", "v1", 1), Snapshot(0, "v1", b"0"), "v1 up to 1")
        same(store.snapshot("c", "v2", 99), Snapshot(16, "v2", b"16"), "v2")
        same(store.snapshot("c", "v2", 15), None, "v2 up to 15")
        same(store.snapshot("c", "v3"), None, "an unheard-of version")
        same(store.snapshot("d", "v1"), None, "another campaign")


@_listed
def a_snapshot_is_not_ahead_of_the_log(make_store: MakeStore) -> None:
    """A state with events in it that were never committed is refused."""
    with _campaign(make_store) as store:
        _append(store, "c", sample_events()[:3])
        refused(Conflict, store.save, "c", Snapshot(4, "v", b""))
        same(store.snapshot("c", "v"), None, "snapshot")
        store.save("c", Snapshot(3, "v", b""))


@_listed
def campaigns_do_not_mix(make_store: MakeStore) -> None:
    """Each has a log of its own, numbered from 1."""
    events = sample_events()
    with _campaign(make_store, "c", "d") as store:
        _append(store, "c", events[:2])
        _append(store, "d", events[:1])
        _append(store, "c", events[2:3])
        same(store.read("c"), events[:3], "log of c")
        same(store.read("d"), events[:1], "log of d")


@_listed
def what_was_written_can_not_be_changed(make_store: MakeStore) -> None:
    """Changing a dict that was appended or read changes no log."""
    task: dict[str, Any] = {"id": "t", "context": [1.0]}
    with _campaign(make_store) as store:
        _append(store, "c", [Event(Kind.ADDED, seq=1, tasks=(task,))])
        task["id"] = "changed"
        (read,) = store.read("c")
        assert read.tasks is not None
        read.tasks[0]["context"].append(2.0)
        due = Event(Kind.ADDED, seq=1, tasks=({"id": "t", "context": [1.0]},))
        same(store.read("c"), [due], "the log")


@_listed
def writers_take_turns(make_store: MakeStore) -> None:
    """While one thread is in its block, another one's does not begin."""
    with _campaign(make_store) as store, ThreadPoolExecutor(1) as elsewhere:
        inside = threading.Event()

        def follow() -> list[Event]:
            with store.write("c") as transaction:
                inside.set()
                return transaction.tail(0)

        event = Event(Kind.PAUSED, seq=1)
        with store.write("c") as transaction:
            following = elsewhere.submit(follow)
            assert not inside.wait(0.1), "two threads were in a write block"
            transaction.append([event], 0)
        same(following.result(SOON), [event], "what the second writer found")


@_listed
def threads_lose_nothing(make_store: MakeStore) -> None:
    """Several threads append to two campaigns; every event is there once, in a row."""
    threads, writes = 4, 10

    def run(store: Store, worker: int) -> None:
        for count in range(writes):
            with store.write("cd"[count % 2]) as transaction:
                seq = len(transaction.tail(0))
                events = [
                    Event(Kind.ANSWER, seq=seq + 1, worker=f"{worker}", value=float(count)),
                    Event(Kind.CLOSED, seq=seq + 2, worker=f"{worker}", value=float(count)),
                ]
                transaction.append(events, seq)

    with _campaign(make_store, "c", "d") as store:
        with ThreadPoolExecutor(threads) as pool:
            for done in [pool.submit(run, store, worker) for worker in range(threads)]:
                done.result()
        found = []
        for name in ("c", "d"):
            log = store.read(name)
            same([event.seq for event in log], list(range(1, len(log) + 1)), f"log of {name}")
            same([event.kind for event in log[::2]], [Kind.ANSWER] * (len(log) // 2), "pairs")
            found += [(event.worker, event.value) for event in log[1::2]]
        due = [(f"{worker}", float(count)) for worker in range(threads) for count in range(writes)]
        same(sorted(found), sorted(due), "all appends")


@_listed
def a_closed_store_refuses(make_store: MakeStore) -> None:
    """Closing twice is fine; any use afterwards is an error, in every thread."""
    with _campaign(make_store) as store, ThreadPoolExecutor(1) as elsewhere:
        elsewhere.submit(store.names).result(SOON)
        store.close()
        store.close()
        refused(StoreError, store.names)
        refused(StoreError, store.create, "d", "{}", 0.0)
        refused(StoreError, store.spec, "c")
        refused(StoreError, store.read, "c")
        refused(StoreError, store.write("c").__enter__)
        refused(StoreError, elsewhere.submit(store.names).result, SOON)


CHECKS = (*_checks, *records.CHECKS, *copies.CHECKS)
"""All checks, in the order in which to read a failing run."""


def _keeps_snapshots(store: Store) -> bool:
    return type(store).save is not Store.save


@contextmanager
def _campaign(make_store: MakeStore, *names: str) -> Iterator[Store]:
    with opened(make_store) as store:
        for name in names or ("c",):
            store.create(name, spec="{}", time=0.0)
        yield store


def _append(store: Store, name: str, events: list[Event]) -> None:
    with store.write(name) as transaction:
        transaction.append(events, events[0].seq - 1)
