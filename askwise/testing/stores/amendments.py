"""What stores do that can delete and rewrite campaigns.

A store that is no ``Amending`` passes them without a look.
"""

from collections.abc import Callable
from functools import wraps

from askwise.core.errors import Conflict, UnknownName
from askwise.core.events import Event, Kind
from askwise.store import Change, Reply, Snapshot, Store
from askwise.store.amending import Amending
from askwise.store.event_rows import EventRow
from askwise.testing.stores.base import Check, StoreSuite, append, keeps_snapshots
from askwise.testing.suite import refused, same

CHECKS = StoreSuite()


def _listed(check: Callable[[Amending], None]) -> Check:
    @wraps(check)
    def if_amending(store: Store) -> None:
        if isinstance(store, Amending):
            _fill(store)
            check(store)

    return CHECKS.on("c", "d")(if_amending)


def _fill(store: Store) -> None:
    for name in ("c", "d"):
        log = [Event(Kind.LEFT, seq=seq, key=f"ann {seq}", worker="ann") for seq in range(1, 4)]
        append(store, name, log)
        with store.write(name) as transaction:
            transaction.keep(Reply("ann 1", '{"worker": "ann"}', "{}"))
        store.save(name, Snapshot(2, "v", b"ann"))
    store.change([Change("token", "t", None, "ann")])


class _AnnToEve:
    """Rename ann to eve wherever the name occurs."""

    def spec(self, text: str) -> str:
        return text.replace("{", '{"by": "eve"', 1)

    def row(self, row: EventRow) -> EventRow:
        return row._replace(key=(row.key or "").replace("ann", "eve"), body='{"worker":"eve"}')

    def reply(self, reply: Reply) -> Reply:
        return Reply("eve 1", reply.request.replace("ann", "eve"), reply.body)


_RENAMED = [Event(Kind.RENAMED, seq=4, time=1.0, worker="eve")]


@_listed
def a_deleted_campaign_is_gone_and_its_name_is_taken(store: Amending) -> None:
    """With its records in one step; nothing of another campaign is touched."""
    same(store.delete("c", 3, [Change("token", "t", "ann", None)]), True, "delete")
    same((store.names(), store.record("token", "t")), (["d"], None), "what is left")
    for use in (store.spec, store.read, store.position, lambda name: store.delete(name, 3)):
        refused(UnknownName, use, "c")
    refused(UnknownName, append, store, "c", [Event(Kind.PAUSED, seq=4)])
    refused(Conflict, store.create, "c", "{}", 0.0)
    same(store.position("d"), 3, "the other log")


@_listed
def a_campaign_is_not_deleted_on_what_was_true_before(store: Amending) -> None:
    """Neither if its log has grown, nor if a record has changed."""
    refused(Conflict, store.delete, "c", 2)
    same(store.delete("c", 3, [Change("token", "t", "bob", None)]), False, "delete")
    same((store.names(), store.position("c")), (["c", "d"], 3), "what is left")
    refused(UnknownName, store.delete, "e", 0)


@_listed
def a_campaign_is_rewritten_as_a_whole(store: Amending) -> None:
    """Spec, events, keys, replies and records, and those of no other campaign."""
    change = Change("token", "t", "ann", "eve")
    same(store.rewrite("c", 3, _AnnToEve(), _RENAMED, [change]), True, "rewrite")
    same([event.worker for event in store.read("c")], ["eve"] * 4, "workers")
    same([event.key for event in store.read("c")], ["eve 1", "eve 2", "eve 3", None], "keys")
    same(store.spec("c"), '{"by": "eve"}', "spec")
    replies = store.replies("c", ["ann 1", "eve 1"])
    same(replies, {"eve 1": Reply("eve 1", '{"worker": "eve"}', "{}")}, "replies")
    same(store.snapshot("c", "v"), None, "snapshots")
    same([event.worker for event in store.read("d")], ["ann"] * 3, "the other log")
    record = store.record("token", "t")
    same(record.body if record else None, "eve", "record")


@_listed
def a_campaign_is_not_rewritten_on_what_was_true_before(store: Amending) -> None:
    """Neither if its log has grown, nor if a record has changed."""
    refused(Conflict, store.rewrite, "c", 2, _AnnToEve(), [Event(Kind.RENAMED, seq=3)])
    change = Change("token", "t", "bob", "eve")
    same(store.rewrite("c", 3, _AnnToEve(), _RENAMED, [change]), False, "rewrite")
    same([event.worker for event in store.read("c")], ["ann"] * 3, "workers")


@_listed
def no_snapshot_of_before_a_rewriting_is_kept_after_it(store: Amending) -> None:
    """Somebody may have been about to save one."""
    store.rewrite("c", 3, _AnnToEve(), _RENAMED)
    store.save("c", Snapshot(3, "v", b"ann"))
    same(store.snapshot("c", "v"), None, "snapshots")
    if keeps_snapshots(store):
        store.save("c", Snapshot(4, "v", b"eve"))
        same(store.snapshot("c", "v"), Snapshot(4, "v", b"eve"), "snapshots")


@_listed
def a_campaign_that_is_put_away_is_known_by_the_end_of_its_log(store: Amending) -> None:
    """Until it is taken up again."""
    same(store.put_away(), set(), "nobody")
    append(store, "c", [Event(Kind.ARCHIVED, seq=4)])
    same(store.put_away(), {"c"}, "one")
    append(store, "c", [Event(Kind.UNARCHIVED, seq=5)])
    same(store.put_away(), set(), "nobody again")
