"""The books of a referee: what a log has come to, kept apart from the ledger that it checks."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from askwise.core.events import Kind
from askwise.core.problem import UNLIMITED, Problem, Worker


class AskedWork(NamedTuple):
    """An assignment as the referee has it."""

    task: str | None
    worker: str
    price: int
    k: int
    elapsed: float
    gold: bool


@dataclass
class RefereeBooks:
    """What the log has come to, counted without the ledger; who may be asked what by that."""

    problem: Problem
    bids: dict[str, int] = field(default_factory=dict)
    prices: dict[str, int] = field(default_factory=dict)
    limits: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, str | None] = field(default_factory=dict)
    families: dict[str, str | None] = field(default_factory=dict)
    joined: set[str] = field(default_factory=set)
    order: list[str] = field(default_factory=list)
    open_tasks: dict[str | None, int] = field(default_factory=dict)
    numbers: dict[str | None, int] = field(default_factory=dict)
    named: dict[str | None, Collection[str]] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str | None, str]] = field(default_factory=Counter)
    plan: list[list[Any]] = field(default_factory=list)
    work: dict[int, AskedWork] = field(default_factory=dict)
    out: list[int] = field(default_factory=list)
    expired: list[int] = field(default_factory=list)
    renewed: dict[int, float] = field(default_factory=dict)
    settled: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    paid: Counter[str] = field(default_factory=Counter)
    bonuses: Counter[str] = field(default_factory=Counter)
    paid_out: Counter[str] = field(default_factory=Counter)
    paid_for: dict[str, set[int]] = field(default_factory=dict)
    """What each worker had answered when they were paid last, with what was withdrawn."""
    passed_over: set[str] = field(default_factory=set)
    withdrawn: set[int] = field(default_factory=set)
    replies: list[tuple[Kind, str, int]] = field(default_factory=list)
    """All that bears on who is passed over: a kind, a worker, and the ASKED of a question."""
    judged_anew: str | None = None
    """The task of the answer that the last event has changed."""
    truths: set[str | None] = field(default_factory=set)
    set_by_hand: set[str | None] = field(default_factory=set)
    """Tasks whose label was set: it is what is audited, so they are closed with it once more."""
    suspended: set[str] = field(default_factory=set)
    gold: bool = False
    """Whether the decision is on gold questions."""
    budget: int | None = None
    spent: int = 0
    decisions: int = 0
    seq: int = 0
    paused: bool = False
    stopped: bool = False

    def __post_init__(self) -> None:
        self.budget = self.problem.budget
        self.join(self.problem.workers)
        self.open([task.id for task in self.problem.tasks] or [None])
        self.name(task.to_json() for task in self.problem.tasks)

    def join(self, workers: Iterable[Worker]) -> None:
        """Note workers who join, or come back."""
        for worker in workers:
            if worker.id not in self.prices:
                self.order.append(worker.id)
            self.bids[worker.id] = self.prices[worker.id] = worker.micro
            self.limits[worker.id] = UNLIMITED if worker.limit is None else worker.limit
            self.kinds[worker.id], self.families[worker.id] = worker.kind, worker.family
            self.joined.add(worker.id)
            self.passed_over.discard(worker.id)
            self.replies.append((Kind.JOINED, worker.id, 0))

    def open(self, tasks: Sequence[str | None]) -> None:
        """Note tasks that are added."""
        for task in tasks:
            self.open_tasks[task] = self.numbers[task] = len(self.numbers)

    def name(self, tasks: Iterable[dict[str, Any]]) -> None:
        """Note whom tasks are for, if that was said."""
        self.named.update({raw["id"]: raw["workers"] for raw in tasks if "workers" in raw})

    def most(self, worker: str) -> int:
        """How often a worker may be asked in all and answer: a call that fails uses up a place."""
        return self.limits[worker] - self.failures[worker]

    def repeats(self, worker: str) -> bool:
        """Whether a worker may be asked about a task again: units of work are never the same."""
        crowd = self.kinds[worker] in (None, "crowd")
        return self.problem.repeat and (crowd or self.problem.taskless)

    def is_for(self, task: str | None, worker: str) -> bool:
        """Whether a task is open to a worker at all."""
        return task not in self.named or worker in self.named[task]

    @property
    def held(self) -> int:
        """Micro-units reserved for what is out."""
        return sum(self.work[seq].price for seq in self.out)

    def planned(self, *, alive: bool) -> Counter[str]:
        """Units by worker that were decided and not handed out: all, or those never in doubt.

        A plan that leaves the task open may outlive the tasks that it was made for. Whether such
        units are given up is the ledger's business.
        """
        units: Counter[str] = Counter()
        for _, worker, left, sure in self.plan:
            units[worker] += sure if alive else left
        return units

    def reserved(self, *, alive: bool) -> int:
        """Micro-units reserved for such units."""
        units = self.planned(alive=alive)
        return sum(count * self.prices[worker] for worker, count in units.items())

    @property
    def free(self) -> int:
        """Micro-units that are neither spent, on calls or bonuses, nor held for what is out."""
        if self.budget is None:
            return UNLIMITED**2
        return self.budget - self.spent - self.bonuses.total() - self.held

    def owed(self, worker: str) -> int:
        """Micro-units that a worker has earned and was not paid."""
        return self.paid[worker] + self.bonuses[worker] - self.paid_out[worker]

    def tasks_for(self, worker: str) -> int:
        """How many open tasks may be put to a worker."""
        return sum(self.may_put(task, worker) for task in self.open_tasks)

    def may_put(self, task: str | None, worker: str) -> bool:
        """Whether a task is for a worker who was not asked about it, or may be again."""
        asked = self.pairs[task, worker] and not self.repeats(worker)
        return self.is_for(task, worker) and not asked

    def can_work(self, worker: str) -> bool:
        """Whether limit and tasks leave a worker who is there something to do."""
        here = worker in self.joined and self.asked[worker] < self.most(worker)
        return here and self.tasks_for(worker) > 0

    def left_to_nobody(self, able: Collection[str]) -> bool:
        """Whether there is an open task that may be put to none of those who can work."""
        return any(not any(self.may_put(task, one) for one in able) for task in self.open_tasks)

    def is_at_limit(self, worker: str) -> bool:
        """Whether a worker was asked as often as may be.

        Where crowds are asked again, that is also so of a person or model who was asked about all
        open tasks; where nobody is, the tasks are used up and not the worker.
        """
        if self.asked[worker] >= self.most(worker):
            return True
        theirs = [task for task in self.open_tasks if self.is_for(task, worker)]
        used = bool(theirs) and self.tasks_for(worker) == 0
        return self.problem.repeat and not self.repeats(worker) and used

    def awaiting_truth(self) -> str | None:
        """The first open task that has an answer and no truth."""
        answered = {self.work[seq].task for seq in self.settled} - self.truths
        return next((task for task in self.open_tasks if task in answered), None)

    def takes_late(self, seq: int) -> bool | None:
        """Whether an answer to an expired assignment is to be accepted.

        None where that depends on units that were planned for tasks that are gone.
        """
        work = self.work[seq]
        if self.stopped or (work.task not in self.open_tasks and not work.gold):
            return False
        if not self.repeats(work.worker) and self.pairs[work.task, work.worker]:
            return False
        verdicts = set()
        for alive in (True, False):
            asked = self.asked[work.worker] + self.planned(alive=alive)[work.worker]
            left = self.free - self.reserved(alive=alive)
            verdicts.add(asked < self.most(work.worker) and work.price <= left)
        return verdicts.pop() if len(verdicts) == 1 else None
