"""Writes that wait for one another share a transaction, and each is all or nothing."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.core.choices import Batch
from askwise.core.errors import AskwiseError, InvalidProblem, PolicyFault, StoreError
from askwise.policies.bounded.benchmarks import Uniform
from askwise.store import MemoryStore, Transaction

PATIENCE = 60.0
"""Seconds for threads of a test on a busy machine."""


class GatedStore(MemoryStore):
    """A store whose commits wait at a gate, and are counted."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.gate.set()
        self.begun = threading.Event()
        self.commits = 0
        self.writes = 0
        self.failures: dict[int, BaseException] = {}
        """What the first, second, ... write comes to at its commit."""

    @contextmanager
    def write(self, name: str) -> Iterator[Transaction]:
        self.writes += 1
        failure = self.failures.get(self.writes)
        with super().write(name) as transaction:
            yield transaction
            self.begun.set()
            assert self.gate.wait(PATIENCE)
            self.commits += 1
            if failure is not None:
                raise failure


class Murder(BaseException):
    """Ends a thread, as an interrupt from the keyboard would."""


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
        except (AskwiseError, Murder) as error:
            came_to = error
        if at >= 0:
            found[at] = came_to

    store.begun.clear()
    store.gate.clear()
    first = threading.Thread(target=run, args=(campaign.pause, -1))
    first.start()
    assert store.begun.wait(PATIENCE)
    threads = [threading.Thread(target=run, args=(call, at)) for at, call in enumerate(calls)]
    for at, thread in enumerate(threads):
        thread.start()
        # In this order: each has joined the queue before the next comes.
        while len(campaign._writer._waiting) <= at:
            thread.join(0.001)
    store.commits = 0
    store.gate.set()
    for thread in (first, *threads):
        thread.join(PATIENCE)
        assert not thread.is_alive()
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


def test_a_key_that_no_store_can_keep_is_refused_before_it_meets_others() -> None:
    campaign = shop(GatedStore())
    with pytest.raises(InvalidProblem, match=r"key is '.ud800', which has half a character"):
        campaign.pause(key="\ud800")
    assert campaign.log() == []


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
    store.failures = dict.fromkeys((1, 2), StoreError("the disk is gone"))
    found = at_once(store, campaign, [campaign.ask] * 5)
    assert [str(each) for each in found] == ["the disk is gone"] * 5
    assert len({id(each) for each in found}) == 5, "each thread raises an error of its own"
    assert campaign.status() == before
    assert isinstance(campaign.ask(), Batch)


def test_a_write_that_fails_halfway_takes_none_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    store = GatedStore()
    campaign = shop(store, workers=3)
    honest = Uniform.choose

    def wild(self: Any, problem: Any, state: Any, ledger: Any, *rest: Any) -> Any:
        choice = honest(self, problem, state, ledger, *rest)
        if ledger.seq > 4 and hasattr(choice, "rows"):
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


def test_a_leader_who_is_interrupted_leaves_the_lead_to_another() -> None:
    store = GatedStore()
    campaign = shop(store)
    store.failures[1] = Murder()
    found = at_once(store, campaign, [campaign.ask] * 6)
    assert all(isinstance(each, Batch) for each in found)
    assert campaign.status().pending == 6
    assert campaign.status().state == "running", "the pause that was interrupted never was"
    assert Campaign.open(store, "shop").status() == campaign.status()


def test_an_interrupt_in_a_group_is_an_error_to_all_of_it() -> None:
    store = GatedStore()
    campaign = shop(store)
    before = campaign.status()
    store.failures[2] = Murder()
    found = at_once(store, campaign, [campaign.resume, campaign.ask, campaign.ask, campaign.ask])
    assert [type(each) for each in found] == [Murder, StoreError, StoreError, StoreError]
    assert campaign.status().seq == before.seq + 1, "the pause before them"
    campaign.resume()
    assert isinstance(campaign.ask(), Batch)
    assert Campaign.open(store, "shop").status() == campaign.status()


def test_a_waiter_who_is_interrupted_withdraws_their_write() -> None:
    store = GatedStore()
    campaign = shop(store)
    store.gate.clear()
    first = threading.Thread(target=campaign.ask)
    first.start()
    assert store.begun.wait(PATIENCE)
    waiter = threading.get_ident()

    def interrupt_who_waits() -> None:
        while not campaign._writer._waiting:
            time.sleep(0.001)
        signal.pthread_kill(waiter, signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)
    interrupting = threading.Thread(target=interrupt_who_waits)
    interrupting.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            campaign.top_up(5)
    finally:
        interrupting.join(PATIENCE)
        signal.signal(signal.SIGUSR1, before)
    other = threading.Thread(target=campaign.ask)
    other.start()
    while len(campaign._writer._waiting) != 1:
        time.sleep(0.001)
    store.gate.set()
    for thread in (first, other):
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert campaign.status().budget == 100
    assert campaign.status().pending == 2


def test_whoever_is_to_lead_and_is_interrupted_passes_the_lead_on() -> None:
    store = GatedStore()
    campaign = shop(store)
    writer = campaign._writer
    honest = writer._lead
    ran: list[str] = []

    def lead(request: Any) -> None:
        ran.append(threading.current_thread().name)
        if threading.current_thread().name == "heir":
            raise Murder
        honest(request)

    def ask() -> None:
        with contextlib.suppress(Murder):
            campaign.ask()

    writer._lead = lead  # type: ignore[method-assign]
    store.gate.clear()
    names = ["first", "heir", "next", "last"]
    threads = [threading.Thread(target=ask, name=name) for name in names]
    threads[0].start()
    assert store.begun.wait(PATIENCE)
    for at, thread in enumerate(threads[1:]):
        thread.start()
        while len(writer._waiting) <= at:
            time.sleep(0.001)
    store.gate.set()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert ran == ["first", "heir", "next"]
    assert campaign.status().pending == 3


def test_many_clients_lose_nothing_and_double_nothing() -> None:
    store = GatedStore()
    campaign = shop(store, workers=20, budget=150)
    told: list[str] = []

    def client() -> None:
        while isinstance(batch := campaign.ask(), Batch):
            campaign.tell(batch[0].id, 0.5, key=batch[0].id)
            told.append(batch[0].id)

    threads = [threading.Thread(target=client) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert len(told) == len(set(told)) == campaign.status().answers == 150
    assert campaign.status().left == 0
    assert [event.seq for event in campaign.log()] == list(range(1, campaign.status().seq + 1))
    assert Campaign.open(store, "shop").status() == campaign.status()
