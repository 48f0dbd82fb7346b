"""Writes that wait for one another share a transaction, and each is all or nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.core.choices import Batch
from askwise.core.errors import AskwiseError, PolicyFault, StoreError
from askwise.policies.bounded.uniform import Uniform
from askwise.store import MemoryStore, Transaction


class GatedStore(MemoryStore):
    """A store whose commits wait at a gate, and are counted."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.gate.set()
        self.begun = threading.Event()
        self.commits = 0
        self.broken = False

    @contextmanager
    def write(self, name: str) -> Iterator[Transaction]:
        with super().write(name) as transaction:
            yield transaction
            self.begun.set()
            self.gate.wait(10)
            self.commits += 1
            if self.broken:
                raise StoreError("the disk is gone")


def shop(store: MemoryStore, workers: int = 40, budget: int = 100) -> Campaign:
    return Campaign.create(
        workers=[Worker(f"w{at}", 1, limit=10) for at in range(workers)],
        outcome="utility",
        budget=budget,
        policy="uniform",
        store=store,
        name="shop",
        seed=1,
    )


def at_once(store: GatedStore, campaign: Campaign, calls: list[Callable[[], Any]]) -> list[Any]:
    """Let all calls wait behind one write that is held up at its commit; what each came to."""
    found: list[Any] = [None] * len(calls)

    def run(call: Callable[[], Any], at: int) -> None:
        try:
            came_to = call()
        except AskwiseError as error:
            came_to = error
        if at >= 0:
            found[at] = came_to

    store.begun.clear()
    store.gate.clear()
    first = threading.Thread(target=run, args=(campaign.pause, -1))
    first.start()
    assert store.begun.wait(10)
    threads = [threading.Thread(target=run, args=(call, at)) for at, call in enumerate(calls)]
    for at, thread in enumerate(threads):
        thread.start()
        # In this order: each has joined the queue before the next comes.
        while len(campaign._writer._waiting) <= at:
            thread.join(0.001)
    store.commits = 0
    store.gate.set()
    for thread in (first, *threads):
        thread.join(10)
    return found


def test_those_who_wait_share_a_transaction() -> None:
    store = GatedStore()
    campaign = shop(store)
    found = at_once(store, campaign, [campaign.resume] + [campaign.ask] * 30)
    assert store.commits == 2
    assert all(isinstance(each, Batch) for each in found[1:])
    assert len({each[0].id for each in found[1:]}) == 30
    again = Campaign.open(store, "shop")
    assert again.status() == campaign.status()
    assert [event.seq for event in campaign.log()] == list(range(1, len(campaign.log()) + 1))


def test_a_refusal_in_a_group_is_one_requests_own() -> None:
    store = GatedStore()
    campaign = shop(store)
    calls: list[Callable[[], Any]] = [
        campaign.resume,
        campaign.ask,
        lambda: campaign.tell("shop:999", 0.5),
        lambda: campaign.top_up(5, key="more"),
        lambda: campaign.top_up(5, key="more"),
        lambda: campaign.top_up(6, key="more"),
        campaign.resume,
        campaign.ask,
    ]
    found = at_once(store, campaign, calls)
    assert store.commits == 2
    refused = [at for at, each in enumerate(found) if isinstance(each, AskwiseError)]
    assert refused == [2, 5, 6]
    assert campaign.status().budget == 105
    assert campaign.status().pending == 2
    assert Campaign.open(store, "shop").status() == campaign.status()


def test_the_last_of_a_budget_goes_to_one_of_a_group() -> None:
    store = GatedStore()
    campaign = shop(store, budget=3)
    found = at_once(store, campaign, [campaign.resume] + [campaign.ask] * 12)
    assert sum(isinstance(each, Batch) for each in found[1:]) == 3
    assert campaign.status().left == 0


def test_a_group_whose_commit_fails_leaves_nothing() -> None:
    store = GatedStore()
    campaign = shop(store)
    before = campaign.status()
    store.broken = True
    found = at_once(store, campaign, [campaign.ask] * 5)
    assert all(isinstance(each, StoreError) for each in found)
    store.broken = False
    assert campaign.status() == before
    assert isinstance(campaign.ask(), Batch)


def test_a_write_that_fails_halfway_takes_none_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    store = GatedStore()
    campaign = shop(store, workers=3)
    honest = Uniform.choose
    calls: list[int] = []

    def wild(self: Any, problem: Any, state: Any, ledger: Any, *rest: Any) -> Any:
        choice = honest(self, problem, state, ledger, *rest)
        calls.append(0)
        if len(campaign.log()) + len(calls) > 4 and hasattr(choice, "rows"):
            choice.rows[0, 2] = 1000  # beyond any limit: found out after the first was handed out
        return choice

    monkeypatch.setattr(Uniform, "choose", wild)
    found = at_once(
        store,
        campaign,
        [campaign.resume, lambda: campaign.ask(limit=9), lambda: campaign.top_up(7)],
    )
    assert isinstance(found[1], PolicyFault)
    assert found[0] is None
    assert found[2] is None
    assert campaign.status().budget == 107
    assert campaign.status().pending == 0
    assert Campaign.open(store, "shop").status() == campaign.status()
