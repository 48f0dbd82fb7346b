"""Leases that are over are released by whoever sweeps, without a write where none is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from askwise import Batch, Campaign, Worker
from askwise.core.events import Kind
from askwise.store import MemoryStore, Transaction
from tests.clock import Clock


class Counting(MemoryStore):
    transactions = 0

    @contextmanager
    def write(self, name: str) -> Iterator[Transaction]:
        self.transactions += 1
        with super().write(name) as transaction:
            yield transaction


def shop(store: MemoryStore, clock: Clock, lease: float | None = 60) -> Campaign:
    return Campaign.create(
        workers=[Worker(f"w{at}", 1) for at in range(30)],
        outcome="utility",
        budget=10_000,
        policy="uniform",
        lease=lease,
        store=store,
        clock=clock,
        name="shop",
        seed=1,
    )


def test_a_sweep_releases_what_is_overdue_and_tells_how_many() -> None:
    clock, store = Clock(100.0), Counting()
    campaign = shop(store, clock)
    first = campaign.ask(limit=3)
    assert isinstance(first, Batch)
    clock.now += 30
    campaign.ask(limit=2)
    campaign.tell(first[0].id, 0.5)
    clock.now += 30
    assert campaign.sweep() == 2
    assert [event.assignment for event in campaign.log() if event.kind == Kind.EXPIRED] == [
        int(each.id.rpartition(":")[2]) for each in first[1:]
    ]
    assert campaign.status().pending == 2
    assert campaign.sweep() == 0
    clock.now += 30
    assert campaign.sweep() == 2
    assert campaign.status().pending == 0


def test_a_sweep_writes_nothing_where_nothing_is_overdue() -> None:
    clock, store = Clock(100.0), Counting()
    campaign = shop(store, clock)
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    campaign.tell(batch[0].id, 0.5)
    store.transactions = 0
    assert campaign.sweep() == 0
    clock.now += 1000
    assert campaign.sweep() == 0, "what is answered is not overdue"
    assert store.transactions == 0
    forever = shop(MemoryStore(), clock, lease=None)
    forever.ask()
    clock.now += 1e9
    assert forever.sweep() == 0


def test_a_sweep_sees_what_another_has_handed_out() -> None:
    clock, store = Clock(100.0), Counting()
    one = shop(store, clock)
    other = Campaign.open(store, "shop", clock=clock)
    assert other.sweep() == 0
    one.ask(limit=4)
    clock.now += 60
    assert other.sweep() == 4
    assert one.sweep() == 0
    assert one.status() == other.status()


def test_leases_of_what_was_answered_are_not_kept() -> None:
    clock = Clock(100.0)
    campaign = shop(MemoryStore(), clock)
    held = campaign.ask(limit=2)
    assert isinstance(held, Batch)
    for _ in range(1500):
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        campaign.tell(batch[0].id, 0.5)
    with campaign.reading() as state:
        assert len(state.leases.heap) <= 1030
        assert state.soonest() == 160
    clock.now = 160
    assert campaign.sweep() == 2
