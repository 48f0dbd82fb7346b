"""Tasks that name who may be asked: the ledger against a plain count of its log."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from askwise import Campaign, Task, Worker
from askwise.campaign.state import CampaignState
from askwise.core.choices import Batch, Done, Wait
from askwise.core.errors import AskwiseError, InvalidProblem, PolicyFault
from askwise.core.events import Kind
from askwise.core.problem import UNLIMITED
from askwise.ledger import columns as c
from askwise.ledger import queries
from askwise.testing.sessions import spec_of_campaign

NAMES = ("a", "b", "c", "d")
LEASE = 50.0


class Count:
    """What the log says, recounted from its beginning."""

    def __init__(self, campaign: Campaign) -> None:
        spec = spec_of_campaign(campaign)
        self.repeat = spec.problem.repeat
        self.tasks = {task.id: task for task in spec.problem.tasks}
        self.open = dict.fromkeys(self.tasks)
        self.joined = {worker.id for worker in spec.problem.workers}
        self.work: dict[int, tuple[str, str, str]] = {}
        for event in campaign.log():
            self.see(event)

    def see(self, event: Any) -> None:
        if event.kind == Kind.ASKED:
            self.work[event.seq] = event.task, event.worker, "out"
        elif event.kind in (Kind.ANSWER, Kind.EXPIRED, Kind.DECLINED):
            task, worker, _ = self.work[event.assignment]
            self.work[event.assignment] = task, worker, event.kind.name
        elif event.kind == Kind.CLOSED:
            del self.open[event.task]
        elif event.kind == Kind.ADDED:
            for raw in event.tasks:
                self.tasks[raw["id"]] = Task(**raw)
                self.open[raw["id"]] = None
        elif event.kind == Kind.JOINED:
            self.joined |= {raw["id"] for raw in event.workers}
        elif event.kind == Kind.LEFT:
            self.joined.discard(event.worker)

    def may_answer(self, task: str, worker: str) -> bool:
        named = self.tasks[task].workers
        return named is None or worker in named

    def may_put(self, task: str, worker: str) -> bool:
        asked = any(
            (task, worker) == each[:2] and each[2] != "EXPIRED" for each in self.work.values()
        )
        return self.may_answer(task, worker) and (self.repeat or not asked)

    def asked(self, task: str) -> int:
        return sum(each[0] == task and each[2] in ("out", "ANSWER") for each in self.work.values())

    def left(self, worker: str) -> int:
        if self.repeat:
            return UNLIMITED if any(self.may_answer(task, worker) for task in self.open) else 0
        return sum(self.may_put(task, worker) for task in self.open)

    def next(self, worker: str) -> str | None:
        order = list(self.tasks)
        able = [task for task in self.open if self.may_put(task, worker)]
        return min(able, key=lambda task: (self.asked(task), order.index(task)), default=None)


class Player:
    """A campaign to which anything may happen, compared with the plain count after each."""

    def __init__(self, policy: str, *, repeat: bool, utility: bool) -> None:
        self.now = 0.0
        raw: dict[str, Any] = {"outcome": "utility"} if utility else {"options": ["no", "yes"]}
        self.value: Any = 0.5 if utility else "yes"
        self.campaign = Campaign.create(
            workers=[Worker("a", 1), Worker("b", 2, limit=4), Worker("c", 1)],
            tasks=[
                Task("t0", workers=("a",)),
                Task("t1", context="x"),
                Task("t2", context="x", workers=("b", "c")),
            ],
            budget=60,
            policy=policy,
            repeat=repeat,
            seed=1,
            name="x",
            lease=LEASE,
            clock=lambda: self.now,
            **raw,
        )
        self.state = CampaignState(spec_of_campaign(self.campaign))

    def move(self, number: int) -> None:
        moves = (
            self.ask, self.ask, self.tell, self.tell, self.some, self.late, self.expire,
            self.decline, self.leave, self.come, self.close, self.add, self.wait,
        )  # fmt: skip
        which, argument = number % len(moves), number // len(moves)
        try:
            moves[which](argument)
        except PolicyFault:
            raise
        except AskwiseError:
            pass  # Refused, as it should be: leaves no trace, which is compared below.
        self.compare()

    def ask(self, number: int) -> None:
        self.campaign.ask(1 + number % 4)

    def some(self, number: int) -> None:
        known = [worker.id for worker in self.state.ledger.workers]
        self.campaign.ask(2, [name for at, name in enumerate(known) if number >> at & 1])

    def tell(self, number: int) -> None:
        out = self.campaign.assignments()
        if out:
            self.campaign.tell(out[number % len(out)].id, self.value)

    def late(self, number: int) -> None:
        gone = [seq for seq, each in Count(self.campaign).work.items() if each[2] == "EXPIRED"]
        if gone:
            self.campaign.tell(f"x:{gone[number % len(gone)]}", self.value)

    def expire(self, number: int) -> None:
        out = self.campaign.assignments()
        if out:
            self.campaign.expire(out[number % len(out)].id)

    def decline(self, number: int) -> None:
        out = self.campaign.assignments()
        if out:
            self.campaign.decline(out[number % len(out)].id)

    def leave(self, number: int) -> None:
        self.campaign.leave(NAMES[number % len(NAMES)])

    def come(self, number: int) -> None:
        name = NAMES[number % len(NAMES)]
        self.campaign.add(workers=[Worker(name, 1 + number % 3, trusted=number % 5 == 0)])

    def close(self, number: int) -> None:
        tasks = [task.id for task in self.state.ledger.tasks]
        self.campaign.close(tasks[number % len(tasks)])

    def add(self, number: int) -> None:
        known = [worker.id for worker in self.state.ledger.workers]
        named = tuple(name for at, name in enumerate(known) if number >> at & 1)
        at = len(self.state.ledger.tasks)
        kind = None if number % 3 == 0 else f"kind {number % 3}"
        self.campaign.add(tasks=[Task(f"t{at}", context=kind, workers=named or None)])

    def wait(self, number: int) -> None:
        self.now += number % 60

    def compare(self) -> None:
        for event in self.campaign.log(after=self.state.seq):
            self.state.fold(event)
        ledger, book, due = self.state.ledger, self.state.ledger.book, Count(self.campaign)
        tasks = [task.id for task in ledger.tasks]
        named = [task for task in due.open if due.tasks[task].workers is not None]
        assert ledger.total(c.OPEN_NAMED) == len(named)
        for at, worker in enumerate(ledger.workers):
            mine = [task for task in named if due.may_answer(task, worker.id)]
            assert book.workers[at, c.OPEN_TO] == len(mine)
            able = [task for task in due.open if due.may_answer(task, worker.id)]
            assert queries.tasks_for(book, at) == len(able)
            assert queries.tasks_left(book, at) == due.left(worker.id)
            assert queries.has_task(book, at) == (due.left(worker.id) > 0)
            found = int(queries.next_task(book, at))
            assert (None if found < 0 else tasks[found]) == due.next(worker.id)
            for place, task in enumerate(tasks):
                assert queries.may_put(book, place, at) == due.may_put(task, worker.id)
        plan = book.plan[: ledger.total(c.PLAN_ROWS)]
        prices = book.workers[plan[:, c.PLAN_WORKER], c.PRICE]
        assert ledger.total(c.PLANNED) == (prices * plan[:, c.PLAN_COUNT]).sum()
        for task, worker, count in plan[plan[:, c.PLAN_COUNT] > 0]:
            if task < 0:
                assert count <= due.left(ledger.workers[worker].id)

    def finish(self) -> None:
        """Answer everything; an end must be one."""
        self.campaign.pause()
        self.campaign.resume()  # Any write releases what is overdue.
        for _ in range(400):
            for each in self.campaign.assignments():
                self.campaign.tell(each.id, self.value)
            self.compare()
            joined = sorted(Count(self.campaign).joined)
            choice = self.campaign.ask(3, joined)
            if isinstance(choice, Done):
                return
            if isinstance(choice, Wait):
                assert (choice.what, joined) == ("workers", []), choice
                return
        raise AssertionError("the campaign does not end")


SCRIPTS = st.lists(st.integers(0, 3000), max_size=30)


@given(script=SCRIPTS, repeat=st.booleans())
# A late answer takes the last task that the plan had in mind for somebody.
@example(script=[346, 424, 1954, 123, 1148, 746], repeat=False)
def test_counts_are_those_of_the_log_with_a_policy_that_plans_for_any_task(
    script: list[int], repeat: bool
) -> None:
    player = Player("uniform", repeat=repeat, utility=True)
    for number in script:
        player.move(number)
    player.finish()


@pytest.mark.parametrize("policy", ["hem", "bbta", "random-pairs"])
@given(script=SCRIPTS, repeat=st.booleans())
@settings(max_examples=settings.default.max_examples // 3)
def test_counts_are_those_of_the_log_with_a_policy_that_names_pairs(
    policy: str, script: list[int], repeat: bool
) -> None:
    player = Player(policy, repeat=repeat, utility=False)
    for number in script:
        player.move(number)
    player.finish()


@given(script=SCRIPTS, cut=st.integers(0, 30), repeat=st.booleans())
def test_a_snapshot_with_named_tasks_goes_on_as_if_nothing_had_been(
    script: list[int], cut: int, repeat: bool
) -> None:
    player = Player("hem", repeat=repeat, utility=False)
    for number in script[:cut]:
        player.move(number)
    again = CampaignState.restore(player.state.spec, player.state.snapshot())
    for number in script[cut:]:
        player.move(number)
    for event in player.campaign.log(after=again.seq):
        again.fold(event)
    for name, array in player.state.ledger.arrays().items():
        np.testing.assert_array_equal(again.ledger.arrays()[name], array, err_msg=name)
    policy, ledger = player.state.spec.policy, player.state.ledger
    kept = policy.used(player.state.beliefs, ledger)
    for name, array in policy.used(again.beliefs, again.ledger).items():
        np.testing.assert_array_equal(array, kept[name], err_msg=name)
    assert again.ledger.contexts == ledger.contexts
    everyone = np.ones(len(ledger.workers), np.int8)
    one, other = player.state.choose(everyone), again.choose(everyone)
    assert type(one) is type(other)
    if not isinstance(one, Wait | Done):
        assert player.state.rows(one) == again.rows(other)


def test_a_worker_whom_only_closed_tasks_name_is_not_waited_for() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1), Worker("b", 1)],
        tasks=[Task("t0", workers=("a",)), Task("t1", workers=("b",))],
        options=["no", "yes"],
        policy="random-pairs",
        budget=9,
        name="x",
    )
    campaign.close("t0")
    batch = campaign.ask(5)
    assert isinstance(batch, Batch)
    assert [(each.task, each.worker) for each in batch] == [("t1", "b")]
    campaign.tell(batch[0].id, "yes")
    assert campaign.ask() == Done("tasks")


def test_a_plan_for_any_task_gives_up_what_a_closing_takes_from_it() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1), Worker("b", 1)],
        tasks=[Task("t0", workers=("a",)), Task("t1", workers=("a",)), Task("t2", workers=("b",))],
        outcome="utility",
        policy="uniform",
        budget=9,
        name="x",
    )
    campaign.ask()
    campaign.close("t1")
    batch = campaign.ask(9)
    status = campaign.status()
    assert status.reserved == status.pending == 2
    assert isinstance(batch, Batch)
    assert "t1" not in {each.task for each in batch}


def test_names_in_a_task_are_held_against_who_has_ever_joined() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1), Worker("b", 1)],
        tasks=["t0"],
        options=["no", "yes"],
        policy="hem",
        budget=9,
        name="x",
    )
    with pytest.raises(InvalidProblem, match="names worker 'c', who is not in the campaign"):
        campaign.add(tasks=[Task("t1", workers=("c",))])
    assert campaign.status().tasks == 1
    # Who comes with it may be named, and so may one who left: they may come back.
    campaign.leave("b")
    campaign.add(tasks=[Task("t1", workers=("c", "b"))], workers=[Worker("c", 1)])
    seen = set()
    while isinstance(batch := campaign.ask(), Batch):
        seen.add((batch[0].task, batch[0].worker))
        campaign.tell(batch[0].id, "no")
    assert seen == {("t0", "a"), ("t0", "c"), ("t1", "c")}
    campaign.add(workers=[Worker("b", 1)])
    batch = campaign.ask(5)
    assert isinstance(batch, Batch)
    assert {(each.task, each.worker) for each in batch} == {("t0", "b"), ("t1", "b")}


@pytest.mark.parametrize("limit", [1, 3])
def test_limits_hold_over_tasks_that_name_the_same_worker(limit: int) -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1, limit=limit), Worker("b", 1)],
        tasks=[Task(f"t{at}", workers=("a",)) for at in range(5)],
        options=["no", "yes"],
        policy="bbta",
        budget=9,
        name="x",
    )
    asked = []
    while isinstance(batch := campaign.ask(), Batch):
        asked.append(batch[0].task)
        campaign.tell(batch[0].id, "no")
    assert batch == Done("limits")
    assert len(asked) == len(set(asked)) == limit
