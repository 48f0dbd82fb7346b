"""What every store does with records."""

from concurrent.futures import ThreadPoolExecutor

from askwise.core.errors import StoreError
from askwise.store import Change, Record, Store
from askwise.testing.stores.base import SOON, StoreSuite
from askwise.testing.suite import refused, same

CHECKS = StoreSuite()


@CHECKS.on()
def a_store_that_is_not_there_yet_has_no_records(store: Store) -> None:
    """Looking creates nothing; the first change makes the store, as a campaign does."""
    same(store.record("key", "a"), None, "a record")
    same(store.records("key"), [], "records")
    same(store.change([Change("key", "a", "old", "new")]), False, "a change of nothing")
    same(store.change([]), True, "no change")
    same(store.records("key"), [], "records after a change that failed")
    same(store.change([Change("key", "a", None, "{}")]), True, "the first change")
    same(store.records("key"), [Record("key", "a", "{}")], "records")
    same(store.names(), [], "names of campaigns")


@CHECKS.on()
def a_record_changes_only_from_what_it_was(store: Store) -> None:
    """Made where there is none, changed and removed where it is what the caller thinks."""
    for before, after, done, due in (
        ("1", "2", False, None),
        ("1", None, False, None),
        (None, None, True, None),
        (None, "1", True, "1"),
        (None, "2", False, "1"),
        (None, None, False, "1"),
        ("2", "3", False, "1"),
        ("1", "1", True, "1"),
        ("1", "2", True, "2"),
        ("1", None, False, "2"),
        ("", None, False, "2"),
        ("2", "", True, ""),
        (None, "1", False, ""),
        ("", None, True, None),
        ("", None, False, None),
    ):
        what = f"from {before!r} to {after!r}"
        same(store.change([Change("key", "a", before, after)]), done, what)
        found = store.record("key", "a")
        same(None if found is None else found.body, due, f"the record after {what}")


@CHECKS.on()
def changes_are_made_all_or_none(store: Store) -> None:
    """If one does not fit, nothing is changed, wherever it stands; kinds do not mix."""
    good = [Change("key", "b", None, "1"), Change("hook", "b", None, "2")]
    same(store.change(good), True, "two records")
    bad = Change("key", "c", "not there", "3")
    others = [
        Change("key", "b", "1", "changed"),
        Change("hook", "b", "2", None),
        Change("key", "a", None, "new"),
        Change("key", "d", None, None),
    ]
    for at in range(len(others) + 1):
        same(store.change([*others[:at], bad, *others[at:]]), False, "a change that fails")
        same(store.records("key"), [Record("key", "b", "1")], "records of a kind")
        same(store.records("hook"), [Record("hook", "b", "2")], "records of another")
    same(store.change(others), True, "changes that fit")
    due = [Record("key", "a", "new"), Record("key", "b", "changed")]
    same(store.records("key"), due, "records of a kind")
    same(store.records("hook"), [], "records of another")


@CHECKS.on()
def records_are_listed_by_code_points(store: Store) -> None:
    """By prefix, in pages, the same on every store whatever its language."""
    ids = ["\1", "\1\1", "\1\2", "\2", " ", "%", "A", "B", "_", "a"]
    ids += ["a\1", "a/1", "a/10", "a/2", "aB", "ab", "b", "ä", "\ud7ff", "\ud7ff!", "\ue000"]
    ids += ["\ufdd0", "\ufdd00", "\uffff", "\U0001f600", "\U0010ffff", "\U0010ffff\U0010ffffz"]
    assert ids == sorted(ids)
    store.change([Change("key", each, None, f"of {each}") for each in reversed(ids)])
    store.change([Change("key\1", "a", None, ""), Change("", "a", None, "")])
    same(store.records("key"), [Record("key", i, f"of {i}") for i in ids], "all")
    for prefix in ("", "a", "a/", "a/1", "a\1", "A", "%", "x", "\1", *ids[-9:]):
        for after in ("", "\1", "a", "a/1", "b", "\U0010ffff"):
            due = [each for each in ids if each.startswith(prefix) and each > after]
            for limit in (None, 0, 1, 2, 99):
                found = [each.id for each in store.records("key", prefix, after, limit)]
                same(found, due[:limit], f"records('key', {prefix!r}, {after!r}, {limit})")
    same(store.records("ke"), [], "records of another kind")
    same([each.id for each in store.records("key\1")], ["a"], "a kind that ends oddly")


@CHECKS.on()
def odd_text_in_records_comes_back(store: Store) -> None:
    """In kind, id and body."""
    odd = "a \1 \ufdd0 \ufdd00 '\\\" %s {} \u2028 naïve 猫 \U0001f600"
    for kind, record, body in ((odd, "a", "1"), ("key", odd, "1"), ("key", "a", odd)):
        same(store.change([Change(kind, record, None, body)]), True, "an odd record")
        same(store.change([Change(kind, record, body + "\1", "")]), False, "one that differs")
        same(store.record(kind, record), Record(kind, record, body), "an odd record")
        same(store.change([Change(kind, record, body, body + "!")]), True, "its change")
        same(store.change([Change(kind, record, body + "!", None)]), True, "its removal")


@CHECKS.on()
def records_that_can_not_be_kept_are_refused(store: Store) -> None:
    """Halves of characters, NUL, an empty id, a record named twice; nothing is changed."""
    good = Change("key", "good", None, "{}")
    for bad in (
        Change("\ud800", "a", None, "{}"),
        Change("key\0", "a", None, "{}"),
        Change("key", "a\0b", None, "{}"),
        Change("key", "a", None, "\0"),
        Change("key", "\ud800", None, "{}"),
        Change("key", "a", None, "\ud800"),
        Change("key", "a", "\ud800", None),
        Change("key", "", None, "{}"),
        Change("key", "good", None, None),
    ):
        refused(StoreError, store.change, [good, bad])
    same(store.records("key"), [], "records")
    refused(StoreError, store.record, "key", "\ud800")
    refused(StoreError, store.record, "key", "\0")
    refused(StoreError, store.records, "\ud800")
    refused(StoreError, store.records, "key", "\ud800")
    refused(StoreError, store.records, "key", "", "\ud800")
    refused(StoreError, store.records, "key", "", "", -1)


@CHECKS.on("c")
def records_are_read_but_not_changed_inside_a_write_block(store: Store) -> None:
    """The block goes on unharmed, and other threads change records meanwhile or afterwards."""
    store.change([Change("key", "a", None, "1")])
    with store.write("c"):
        same(store.record("key", "a"), Record("key", "a", "1"), "a record in the block")
        same(store.records("key"), [Record("key", "a", "1")], "records in the block")
        refused(StoreError, store.change, [Change("key", "a", "1", "2")])
    same(store.change([Change("key", "a", "1", "2")]), True, "a change after the block")


@CHECKS.on()
def of_changes_that_race_exactly_one_wins(store: Store) -> None:
    """Making, changing and removing the same record: one thread does it, the others are told."""
    threads, rounds = 4, 8
    with ThreadPoolExecutor(threads) as pool:
        for number in range(rounds):
            for change in (
                Change("key", str(number), None, "1"),
                Change("key", str(number), "1", "2"),
                Change("key", str(number), "2", None),
            ):
                racing = [pool.submit(store.change, [change]) for _ in range(threads)]
                won = [each.result(SOON) for each in racing]
                same(sum(won), 1, f"winners of {change}")


@CHECKS.on()
def changes_in_opposite_orders_do_not_wait_in_a_circle(store: Store) -> None:
    """Threads that count two records up, each in its own order; nothing is lost or half done."""
    threads, times = 4, 8

    def count(turn: int) -> None:
        names = ["a", "b", "c"] if turn % 2 else ["c", "b", "a"]
        done = 0
        while done < times:
            now = {name: store.record("count", name) for name in names}
            bodies = {name: each.body if each else None for name, each in now.items()}
            changes = [
                Change("count", name, body, str(int(body or 0) + 1))
                for name, body in bodies.items()
            ]
            done += store.change(changes)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(count, range(threads), timeout=SOON))
    due = [Record("count", name, str(threads * times)) for name in "abc"]
    same(store.records("count"), due, "the counts")


@CHECKS.on()
def a_closed_store_refuses_records(store: Store) -> None:
    """As it refuses everything."""
    store.change([Change("key", "a", None, "1")])
    store.close()
    refused(StoreError, store.record, "key", "a")
    refused(StoreError, store.records, "key")
    refused(StoreError, store.change, [Change("key", "a", "1", "2")])
