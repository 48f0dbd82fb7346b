"""A store that fails leaves nothing half-done in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar
from unittest import mock

import numpy as np
import pytest

from askwise import Campaign, Worker
from askwise.campaign import cached
from askwise.core.choices import Batch
from askwise.core.errors import PolicyFault, StoreError
from askwise.core.events import Event
from askwise.ledger import transitions
from askwise.ledger.proposals import Proposal, new_proposal, propose
from askwise.policies import Policy
from askwise.policies.bounded.common import State
from askwise.policies.bounded.thompson import ThompsonKnapsack
from askwise.store import MemoryStore, Reply, Snapshot, Transaction


class _Shaky(Transaction):
    def __init__(self, inner: Transaction, store: FailingStore) -> None:
        self.inner = inner
        self.store = store

    def tail(self, after: int) -> list[Event]:
        return self.inner.tail(after)

    def reply(self, key: str) -> Reply | None:
        self.store.trip("reply")
        return self.inner.reply(key)

    def append(self, events: Sequence[Event], expected_seq: int) -> None:
        self.store.trip("append")
        self.inner.append(events, expected_seq)
        self.store.trip("after append")

    def keep(self, reply: Reply) -> None:
        self.store.trip("keep")
        self.inner.keep(reply)


class FailingStore(MemoryStore):
    """Fails once, where it is told to."""

    failing: str | None = None
    error: BaseException = StoreError("the disk is full")

    def trip(self, where: str) -> None:
        if self.failing == where:
            self.failing = None
            raise self.error

    @contextmanager
    def write(self, name: str) -> Iterator[Transaction]:
        self.trip("begin")
        with super().write(name) as inner:
            yield _Shaky(inner, self)
            self.trip("commit")
        self.trip("after commit")

    def read(self, name: str, after: int = 0, upto: int | None = None) -> list[Event]:
        self.trip("read")
        return super().read(name, after, upto)

    def save(self, name: str, snapshot: Snapshot) -> None:
        self.trip("save")
        super().save(name, snapshot)


def make(store: MemoryStore) -> Campaign:
    return Campaign.create(
        workers=[Worker("a", 2, limit=9), Worker("b", 1)],
        tasks=["t", "u", "v"],
        outcome="utility",
        budget=30,
        policy="thompson-knapsack",
        lease=50,
        seed=3,
        name="cats",
        store=store,
        clock=lambda: 7.0,
    )


def prepared(store: MemoryStore) -> tuple[Campaign, list[str]]:
    """A campaign with one answer and two assignments out."""
    campaign = make(store)
    batch = campaign.ask(3)
    assert isinstance(batch, Batch)
    campaign.tell(batch[0].id, 0.5)
    return campaign, [each.id for each in batch[1:]]


VERBS: dict[str, Callable[[Campaign, list[str], str | None], Any]] = {
    "ask": lambda c, out, key: c.ask(2, key=key),
    "tell": lambda c, out, key: c.tell(out[0], 0.75, key=key),
    "fail": lambda c, out, key: c.fail(out[0], "error", "0.1", key=key),
    "expire": lambda c, out, key: c.expire(out[0], key=key),
    "decline": lambda c, out, key: c.decline(out[1], key=key),
    "add": lambda c, out, key: c.add(workers=[Worker("z", 1)], tasks=["w"], key=key),
    "leave": lambda c, out, key: c.leave("a", key=key),
    "top_up": lambda c, out, key: c.top_up(3, key=key),
    "pause": lambda c, out, key: c.pause(key=key),
    "stop": lambda c, out, key: c.stop(key=key),
    "close": lambda c, out, key: c.close("u", key=key),
}


@pytest.mark.parametrize(
    "where", ["begin", "read", "reply", "append", "after append", "keep", "commit"]
)
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("error", [StoreError("the disk is full"), KeyboardInterrupt()])
def test_a_write_that_fails_has_not_happened(verb: str, where: str, error: Any) -> None:
    store = FailingStore()
    campaign, out = prepared(store)
    twin, _ = prepared(MemoryStore())
    before, status = campaign.log(), campaign.status()
    if where == "read":
        # A campaign that was opened just now reads its log first; later only if others write too.
        campaign = Campaign.open(store, "cats", clock=lambda: 7.0)
    store.failing, store.error = where, error
    with pytest.raises(type(error)):
        VERBS[verb](campaign, out, "k")
    assert store.failing is None
    assert campaign.log() == before
    assert campaign.status() == status
    # And it goes on like one to which nothing happened.
    assert VERBS[verb](campaign, out, "k") == VERBS[verb](twin, out, "k")
    assert campaign.status() == twin.status()
    assert campaign.ask(3) == twin.ask(3)
    assert campaign.log() == twin.log()


def test_a_commit_that_is_reported_as_failed_and_was_not_is_found_by_its_key() -> None:
    store = FailingStore()
    campaign, out = prepared(store)
    twin, _ = prepared(MemoryStore())
    due = twin.ask(2, key="k")
    store.failing = "after commit"
    with pytest.raises(StoreError):
        campaign.ask(2, key="k")
    assert campaign.ask(2, key="k") == due
    assert campaign.log() == twin.log()
    campaign.tell(out[0], 0.5)
    twin.tell(out[0], 0.5)
    assert campaign.status() == twin.status()


def test_a_snapshot_that_can_not_be_saved_does_not_undo_the_answer() -> None:
    # Snapshots only save time and may be lost; the write is committed when one is tried.
    store = FailingStore()
    campaign, _ = prepared(store)
    store.failing = "save"
    with mock.patch.object(cached, "FIRST_SNAPSHOT", 1):
        while store.failing:
            batch = campaign.ask()
            assert isinstance(batch, Batch)
            campaign.tell(batch[0].id, 0.5)


def test_a_read_that_fails_changes_nothing() -> None:
    store = FailingStore()
    campaign, out = prepared(store)
    due = campaign.status()
    for look in (campaign.status, campaign.answers, campaign.payments, campaign.assignments):
        store.failing = "read"
        with pytest.raises(StoreError):
            look()
    assert campaign.status() == due
    campaign.tell(out[0], 0.5)


@pytest.mark.parametrize("reading", [True, False], ids=["while reading", "while writing"])
def test_an_interruption_while_catching_up_leaves_no_half_of_an_event(reading: bool) -> None:
    # Somebody else has written. The interruption comes when the ledger has taken an event in and
    # the beliefs have not; what is decided afterwards must not rest on that.
    store = MemoryStore()
    mine = Campaign.create(
        workers=[Worker("a", 1), Worker("b", 1)],
        outcome="utility",
        budget=90,
        policy={"name": "thompson-knapsack", "patience": 0},
        seed=3,
        name="cats",
        store=store,
    )
    batch = mine.ask(2)
    assert isinstance(batch, Batch)
    theirs = Campaign.open(store, "cats")
    for each in batch:
        theirs.tell(each.id, 1.0)
    honest = ThompsonKnapsack.absorb
    calls: list[int] = []

    def interrupted(self: Any, *arguments: Any) -> None:
        calls.append(0)
        if len(calls) == 1:
            raise KeyboardInterrupt
        honest(self, *arguments)

    with (
        mock.patch.object(ThompsonKnapsack, "absorb", interrupted),
        pytest.raises(KeyboardInterrupt),
    ):
        mine.status() if reading else mine.pause()
    assert mine.status() == Campaign.open(store, "cats").status()
    for _ in range(80):
        choice = mine.ask()
        assert isinstance(choice, Batch)
        assert mine.explain(choice[0].id).reproduced, "it rests on half-learnt beliefs"
        mine.tell(choice[0].id, 0.5)


def test_an_interruption_inside_the_ledger_leaves_no_half_of_an_event() -> None:
    store = MemoryStore()
    one = make(store)
    other = Campaign.open(store, "cats")
    assert other.status().pending == 0
    batch = one.ask()
    assert isinstance(batch, Batch)
    with (
        mock.patch.object(transitions, "advance", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        other.status()
    assert other.status() == one.status()
    other.tell(batch[0].id, 0.3)
    assert one.status().answers == 1


def test_a_policy_that_proposes_something_illegal_asks_nothing() -> None:
    campaign = make(MemoryStore())
    honest = ThompsonKnapsack.choose

    def greedy(self: Any, *arguments: Any) -> Any:
        choice = honest(self, *arguments)
        choice.rows[0, 2] = 10**6
        return choice

    with (
        mock.patch.object(ThompsonKnapsack, "choose", greedy),
        pytest.raises(PolicyFault, match="nothing was asked") as caught,
    ):
        campaign.ask()
    assert caught.value.field == "policy"
    assert campaign.log() == []
    assert isinstance(campaign.ask(), Batch)


class Blind(Policy):
    """Proposes any task for the first worker, whether there is one or not."""

    name: ClassVar[str] = "blind"
    notes: ClassVar[tuple[str, ...]] = ("blind",)

    def start(self, problem: Any, ledger: Any) -> State:
        return State(np.zeros((1, 4)), np.zeros(4, np.int64))

    def choose(self, *_: Any) -> Proposal:
        out = new_proposal(1)
        propose(out, -1, 0, 1, 1.0)
        return out

    def absorb(self, *_: Any) -> None:
        return None


def test_a_policy_that_asks_about_nothing_is_stopped() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1), Worker("b", 1)],
        tasks=["t"],
        outcome="utility",
        budget=10,
        policy=Blind(),
        seed=1,
    )
    assert isinstance(campaign.ask(), Batch)
    before = campaign.log()
    with pytest.raises(PolicyFault):
        campaign.ask()
    assert campaign.log() == before


def test_a_policy_that_fails_asks_nothing() -> None:
    campaign = make(MemoryStore())
    with (
        mock.patch.object(ThompsonKnapsack, "choose", side_effect=ZeroDivisionError),
        pytest.raises(ZeroDivisionError),
    ):
        campaign.ask()
    assert campaign.log() == []
    with (
        mock.patch.object(ThompsonKnapsack, "absorb", side_effect=ZeroDivisionError),
        pytest.raises(ZeroDivisionError),
    ):
        campaign.ask()
    assert campaign.log() == []
    twin = make(MemoryStore())
    assert campaign.ask(2) == twin.ask(2)
