"""Laws of money: whatever calls cost, fail, expire or come late, the books are right."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from askwise import Campaign, Worker
from askwise.campaign.folding import fold_long
from askwise.campaign.state import CampaignState
from askwise.core.calls import FailureWhy
from askwise.core.choices import Batch
from askwise.core.errors import AskwiseError, Conflict, InvalidAnswer, OverBudget
from askwise.core.event_columns import EventColumns
from askwise.core.events import Event, Kind
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.store import MemoryStore
from askwise.testing.referee import Referee
from askwise.testing.sessions import spec_of_campaign

LEASE = 10.0
SETTLING = (Kind.ANSWER, Kind.FAILED)
WHYS = get_args(FailureWhy)
costs = st.none() | st.integers(0, 9_000_000).map(lambda micro: Decimal(micro).scaleb(-6))


def booked(log: list[Event]) -> list[Event]:
    return [event for event in log if event.kind in SETTLING]


def moved(log: list[Event]) -> list[Event]:
    return [event for event in log if event.kind in (*SETTLING, Kind.BONUS, Kind.PAID)]


def check_money(campaign: Campaign) -> None:
    """What is spent is what was booked, for all and for each; nothing said is lost."""
    log, found = campaign.log(), campaign.status()
    calls = booked(log)
    given: dict[Kind, Counter[str]] = {kind: Counter() for kind in (Kind.BONUS, Kind.PAID)}
    for event in log:
        if event.kind in given:
            given[event.kind][event.worker or ""] += event.price or 0
    bonuses, paid_out = given.values()
    for_calls = found.spent * 10**6 - bonuses.total()
    assert for_calls == sum(event.price or 0 for event in calls)
    # As exact as the log, call by call: what was said and not booked is listed.
    due = sum((event.price if event.cost is None else event.cost) or 0 for event in calls)
    assert for_calls + found.unbooked * 10**6 == due
    assert found.failures == sum(event.kind == Kind.FAILED for event in calls)
    if found.budget is not None:
        assert found.spent + found.reserved <= found.budget
    paid: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for event in calls:
        paid[event.worker or ""] += event.price or 0
        failed[event.worker or ""] += event.kind == Kind.FAILED
    for payment in campaign.payments():
        assert payment.paid * 10**6 == paid[payment.worker]
        assert payment.failures == failed[payment.worker]
        assert payment.bonus * 10**6 == bonuses[payment.worker]
        assert payment.paid_out * 10**6 == paid_out[payment.worker]
        assert payment.earned == payment.paid + payment.bonus
        assert (payment.owed + payment.paid_out, payment.overpaid) == (payment.earned, 0)
    assert sum(payment.earned for payment in campaign.payments()) == found.spent
    with campaign.reading() as state:
        for at, worker in enumerate(state.ledger.workers):
            row = state.ledger.book.workers[at]
            assert row[c.PAID] == paid[worker.id]
            assert row[c.FAILURES] == failed[worker.id]
            lost = (e.price or 0 for e in calls if e.kind == Kind.FAILED and e.worker == worker.id)
            assert row[c.FAILURE_COST] == sum(lost)


def same_ledgers(one: Ledger, other: Ledger) -> None:
    assert one.names() == other.names()
    for name, array in one.arrays().items():
        np.testing.assert_array_equal(array, other.arrays()[name], err_msg=name)


class Calls(RuleBasedStateMachine):
    """A campaign that is asked and told at random; a referee with books of its own looks on."""

    @initialize(
        budget=st.sampled_from((None, 4, 11, 40)),
        crowd=st.booleans(),
        policy=st.sampled_from(("random-pairs", "hem", "optkg", "bbta")),
    )
    def begin(self, budget: int | None, crowd: bool, policy: str) -> None:
        self.now = 1000.0
        kind = None if crowd else "model"
        self.campaign = Campaign.create(
            workers=[Worker("a", 1, limit=4, kind=kind), Worker("b", 2, kind=kind), Worker("c", 3)],
            tasks=["t1", "t2", "t3", "t4"],
            options=["no", "yes"],
            budget=budget,
            policy="virt-ucb" if crowd else policy,
            stopping={"name": "fixed", "n": 6, "cap": 9} if crowd else None,
            lease=LEASE,
            seed=1,
            clock=lambda: self.now,
        )
        self.referee = Referee(spec_of_campaign(self.campaign).problem)
        self.known: list[str] = []
        self.seen = 0

    @rule(limit=st.integers(1, 4), named=st.booleans())
    def ask(self, limit: int, named: bool) -> None:
        workers = ["a", "b", "c"] if named else None
        batch = self.campaign.ask(limit, workers)
        self._look(workers)
        if isinstance(batch, Batch):
            self.known += [each.id for each in batch]

    @precondition(lambda self: self.known)
    @rule(which=st.integers(0, 99), cost=costs, option=st.sampled_from(("no", "yes")))
    def tell(self, which: int, cost: Decimal | None, option: str) -> None:
        sure = {option: 0.75, "yes" if option == "no" else "no": 0.25}
        self._try(self.campaign.tell, self._pick(which), option, cost=cost, probabilities=sure)

    @precondition(lambda self: self.known)
    @rule(which=st.integers(0, 99), cost=costs, why=st.sampled_from(WHYS))
    def fail(self, which: int, cost: Decimal | None, why: FailureWhy) -> None:
        self._try(self.campaign.fail, self._pick(which), why, cost or 0)

    @precondition(lambda self: self.known)
    @rule(which=st.integers(0, 99), decline=st.booleans())
    def release(self, which: int, decline: bool) -> None:
        verb = self.campaign.decline if decline else self.campaign.expire
        self._try(verb, self._pick(which))

    @rule(worker=st.sampled_from("abc"), amount=costs)
    def give(self, worker: str, amount: Decimal | None) -> None:
        self._try(self.campaign.bonus, worker, amount or 0, "Well done.", by="ann")

    @rule(worker=st.sampled_from("abc"), amount=costs)
    def pay(self, worker: str, amount: Decimal | None) -> None:
        self._try(self.campaign.pay, worker, amount, by="ann")

    @rule()
    def pay_all(self) -> None:
        self._try(self.campaign.pay_all, by="ann")
        assert not any(each.owed for each in self.campaign.payments())

    @rule(seconds=st.sampled_from((1.0, 11.0)))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def sweep(self) -> None:
        self.campaign.sweep()
        self._look()

    @invariant()
    def the_books_are_right(self) -> None:
        if hasattr(self, "campaign"):
            check_money(self.campaign)

    def teardown(self) -> None:
        if hasattr(self, "campaign"):
            check_folds(self.campaign)

    def _pick(self, which: int) -> str:
        return self.known[which % len(self.known)]

    def _try(self, verb: Any, *given: Any, **more: Any) -> None:
        before = moved(self.campaign.log())
        try:
            verb(*given, **more)
        except AskwiseError:
            # What was overdue may have expired; nothing was paid.
            assert moved(self.campaign.log()) == before
        self._look()

    def _look(self, offered: list[str] | None = None) -> None:
        for event in self.campaign.log(after=self.seen):
            self.referee.see(event, offered or ["a", "b", "c"])
            self.seen = event.seq
        with self.campaign.reading() as state:
            self.referee.compare(state.ledger)


TestCalls = Calls.TestCase
TestCalls.settings = settings(max_examples=25, stateful_step_count=25)


def check_folds(campaign: Campaign) -> None:
    """Fold in one go = fold one by one = restored from a snapshot and gone on with."""
    log, spec = campaign.log(), spec_of_campaign(campaign)
    single, half = CampaignState(spec), CampaignState(spec)
    for event in log:
        single.fold(event)
    with campaign.reading() as state:
        same_ledgers(single.ledger, state.ledger)
    for event in log[: len(log) // 2]:
        half.fold(event)
    restored = CampaignState.restore(spec, half.snapshot())
    for event in log[len(log) // 2 :]:
        restored.fold(event)
    same_ledgers(single.ledger, restored.ledger)
    assert single.snapshot() == CampaignState.restore(spec, single.snapshot()).snapshot()
    if log and single.in_kernels:
        at_once = CampaignState(spec)
        fold_long(at_once, EventColumns.of(log))
        same_ledgers(single.ledger, at_once.ledger)


@pytest.mark.parametrize("kept", ["memory", "sqlite"])
def test_sixteen_threads_never_overspend_and_lose_no_cost(kept: str, tmp_path: Path) -> None:
    store: Any = MemoryStore() if kept == "memory" else f"sqlite:///{tmp_path}/calls.sqlite"
    campaign = Campaign.create(
        workers=[Worker(f"w{at}", 1 + at % 3, limit=30, kind="model") for at in range(8)],
        tasks=[f"t{at}" for at in range(40)],
        options=["no", "yes"],
        budget=150,
        policy="random-pairs",
        lease=0.05,
        store=store,
        name="calls",
        seed=1,
    )

    def work(number: int) -> list[tuple[str, Decimal | None]]:
        """Ask and settle; returns what was taken, and at which cost."""
        dice, taken = random.Random(number), []
        for _ in range(12):
            batch = campaign.ask(dice.randint(1, 3))
            for each in batch:
                cost = dice.choice((None, Decimal(dice.randint(0, 6_000_000)).scaleb(-6)))
                try:
                    if dice.random() < 0.3:
                        cost = cost or Decimal(0)
                        campaign.fail(each.id, dice.choice(WHYS), cost)
                    elif dice.random() < 0.1:
                        campaign.expire(each.id)
                        continue
                    else:
                        campaign.tell(each.id, dice.choice(("no", "yes")), cost=cost)
                except (InvalidAnswer, OverBudget, Conflict):
                    continue  # Its lease was over, and it can't be taken late or released.
                taken.append((each.id, cost))
        return taken

    with ThreadPoolExecutor(16) as pool:
        taken = [each for found in pool.map(work, range(16)) for each in found]
    check_money(campaign)
    referee = Referee(spec_of_campaign(campaign).problem)
    for event in campaign.log():
        referee.see(event)
    said = {
        f"calls:{event.assignment}": None if event.cost is None else Decimal(event.cost) / 10**6
        for event in booked(campaign.log())
    }
    assert said == dict(taken)
    assert len(taken) > 50
    check_folds(campaign)
