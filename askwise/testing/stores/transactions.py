"""What every store does in a write block: events and replies, all or none, one writer at a time."""

import threading
from concurrent.futures import ThreadPoolExecutor

from askwise.core.errors import Conflict, StoreError, UnknownName
from askwise.core.events import Event, Kind
from askwise.store.base import Reply, Snapshot, Store
from askwise.testing.stores.base import (
    SOON,
    StoreSuite,
    append,
    elsewhere,
    keeps_snapshots,
    sample_events,
)
from askwise.testing.suite import refused, same

CHECKS = StoreSuite()


@CHECKS.on("c")
def a_wrong_expected_seq_is_a_conflict(store: Store) -> None:
    """Nothing is written then, and the transaction can go on."""
    first, second, third = sample_events()[:3]
    with store.write("c") as transaction:
        transaction.append([first], 0)
        refused(Conflict, transaction.append, [first], 0)
        refused(Conflict, transaction.append, [third], 2)
        refused(Conflict, transaction.append, [], 2)
        transaction.append([], 1)
        transaction.append([second], 1)
    same(store.read("c"), [first, second], "the log")


@CHECKS.on("c")
def events_and_replies_are_appended_in_one_step(store: Store) -> None:
    """``append`` writes all of it or nothing, and only at the end of the log that it expects."""
    first, second, third, fourth = sample_events()[:4]
    reply, other = Reply("k", "request", "body"), Reply("l", "request", "body")
    store.append("c", [first, second], 0, [reply])
    refused(Conflict, store.append, "c", [second], 1)
    refused(Conflict, store.append, "c", [fourth], 3)
    refused(Conflict, store.append, "c", [], 1, [other])
    refused(Conflict, store.append, "c", [third], 2, [other, reply])
    refused(Conflict, store.append, "c", [third], 2, [other, other])
    refused(StoreError, store.append, "c", [second], 2, [other])
    same(store.read("c"), [first, second], "the log after refusals")
    same(store.replies("c", ["k", "l"]), {"k": reply}, "the replies after refusals")
    store.append("c", [], 2, [other])
    store.append("c", [third], 2)
    same(store.read("c"), [first, second, third], "the log")
    same(store.replies("c", ["k", "l"]), {"k": reply, "l": other}, "the replies")
    with store.write("c"):
        refused(StoreError, store.append, "c", [], 3)
    refused(UnknownName, store.append, "d", [], 0)


@CHECKS.on("c")
def sequence_numbers_have_no_gap(store: Store) -> None:
    """Events whose numbers do not follow on are refused as a whole."""
    first, second, third = sample_events()[:3]
    with store.write("c") as transaction:
        for wrong in ([second], [first, third], [first, first], [second, first]):
            refused(StoreError, transaction.append, wrong, 0)
    same(store.read("c"), [], "the log")


@CHECKS.on("c")
def what_is_not_json_is_refused_as_a_whole(store: Store) -> None:
    """Neither NaN nor a stray object gets into the log, nor what was to go in with it."""
    good = Event(Kind.PAUSED, seq=1)
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


@CHECKS.on("c")
def an_exception_rolls_back_wholly(store: Store) -> None:
    """Events and replies go together, whatever the exception; and it comes out as it is."""
    events = sample_events()
    append(store, "c", events[:2])
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


@CHECKS.on("c")
def a_write_sees_itself_and_others_see_it_afterwards(store: Store) -> None:
    """Its own thread reads its appends at once, other threads when the block has ended."""
    events = sample_events()
    append(store, "c", events[:2])
    with store.write("c") as transaction:
        transaction.append(events[2:3], 2)
        transaction.append(events[3:5], 3)
        transaction.keep(Reply("k", "request", "body"))
        same(transaction.tail(1), events[1:5], "tail")
        same(transaction.reply("k"), Reply("k", "request", "body"), "its own reply")
        same(store.read("c", 1, 4), events[1:4], "read by the writer")
        same(store.read("c", 3), events[3:5], "read of new events by the writer")
        same(elsewhere(store.read, "c"), events[:2], "read by another thread")
    same(elsewhere(store.read, "c"), events[:5], "read by another thread afterwards")


@CHECKS.on("c", "d")
def a_reply_is_kept_once(store: Store) -> None:
    """It comes back under its key; a second under the same key is a conflict."""
    first = Reply("k", '{"verb": "ask"}', "naïve 猫")
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


@CHECKS.on("c", "d")
def replies_are_found_together(store: Store) -> None:
    """Of many keys those that have one; what is kept afterwards is found as well."""
    kept = [Reply(f"k{number}", "request", str(number)) for number in range(1200)]
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


@CHECKS.on("c")
def a_transaction_ends_with_its_block(store: Store) -> None:
    """Afterwards it refuses everything."""
    with store.write("c") as transaction:
        pass
    refused(StoreError, transaction.tail, 0)
    refused(StoreError, transaction.reply, "k")
    refused(StoreError, transaction.replies, ["k"])
    refused(StoreError, transaction.append, [], 0)
    refused(StoreError, transaction.keep, Reply("k", "", ""))


@CHECKS.on("c", "d")
def a_write_block_can_not_be_nested(store: Store) -> None:
    """Neither another write nor creating, saving or closing; and it goes on unharmed."""
    events = sample_events()[:2]
    with store.write("c") as transaction:
        transaction.append(events[:1], 0)
        refused(StoreError, store.write("c").__enter__)
        refused(StoreError, store.write("d").__enter__)
        refused(StoreError, store.create, "e", "{}", 0.0)
        if keeps_snapshots(store):
            refused(StoreError, store.save, "d", Snapshot(0, "v", b""))
        refused(StoreError, store.close)
        transaction.append(events[1:], 1)
    same(store.read("c"), events, "the log")
    same(store.names(), ["c", "d"], "names")
    same(store.snapshot("d", "v"), None, "snapshot")


@CHECKS.on("c")
def writers_take_turns(store: Store) -> None:
    """While one thread is in its block, another one's does not begin."""
    with ThreadPoolExecutor(1) as another:
        inside = threading.Event()

        def follow() -> list[Event]:
            with store.write("c") as transaction:
                inside.set()
                return transaction.tail(0)

        event = Event(Kind.PAUSED, seq=1)
        with store.write("c") as transaction:
            following = another.submit(follow)
            assert not inside.wait(0.1), "two threads were in a write block"
            transaction.append([event], 0)
        same(following.result(SOON), [event], "what the second writer found")


@CHECKS.on("c", "d")
def threads_lose_nothing(store: Store) -> None:
    """Several threads append to two campaigns; every event is there once, in a row."""
    threads, writes = 4, 10

    def run(worker: int) -> None:
        for count in range(writes):
            with store.write("cd"[count % 2]) as transaction:
                seq = len(transaction.tail(0))
                events = [
                    Event(Kind.ANSWER, seq=seq + 1, worker=f"{worker}", value=float(count)),
                    Event(Kind.CLOSED, seq=seq + 2, worker=f"{worker}", value=float(count)),
                ]
                transaction.append(events, seq)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, range(threads)))
    found = []
    for name in ("c", "d"):
        log = store.read(name)
        same([event.seq for event in log], list(range(1, len(log) + 1)), f"log of {name}")
        same([event.kind for event in log[::2]], [Kind.ANSWER] * (len(log) // 2), "pairs")
        found += [(event.worker, event.value) for event in log[1::2]]
    due = [(f"{worker}", float(count)) for worker in range(threads) for count in range(writes)]
    same(sorted(found), sorted(due), "all appends")


@CHECKS.on("c")
def a_closed_store_refuses(store: Store) -> None:
    """Closing twice is fine; any use afterwards is an error, in every thread."""
    with ThreadPoolExecutor(1) as another:
        another.submit(store.names).result(SOON)
        store.close()
        store.close()
        refused(StoreError, store.names)
        refused(StoreError, store.create, "d", "{}", 0.0)
        refused(StoreError, store.spec, "c")
        refused(StoreError, store.read, "c")
        refused(StoreError, store.write("c").__enter__)
        refused(StoreError, another.submit(store.names).result, SOON)
