"""The naive baseline: a pair of task and worker at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from askwise.core.arrays import Array
from askwise.core.compiling import kernel, step
from askwise.core.draws import Draw, uniform
from askwise.core.events import Fact
from askwise.core.money import MICRO
from askwise.core.problem import Problem
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.ledger.columns import Book
from askwise.ledger.ledger import Ledger
from askwise.ledger.proposals import Proposal, propose
from askwise.ledger.queries import idle, may_put, money_left, tasks_for
from askwise.policies.base import Axes, Kernels, policies
from askwise.policies.capabilities import Score
from askwise.policies.labels.common import LabelPolicy
from askwise.policies.labels.tournament import at_hand

ATTEMPTS = 64
"""Draws of a task before the tasks of a worker are counted through."""


class State(NamedTuple):
    """How many closed tasks each worker was asked about (and did not let expire)."""

    closed: Array


class Params(NamedTuple):
    """Nothing to set."""

    none: int


@step
def pairs_left(book: Book, state: State, worker: int) -> int:
    """How many open tasks may be put to a worker; as ``tasks_left``, from counts alone."""
    workers = book.workers
    here = tasks_for(book, worker)
    if book.totals[c.REPEAT] == 1:
        return here
    return here - (workers[worker, c.ASKED] + workers[worker, c.REFUSED] - state.closed[worker])


@step
def pairs_at_hand(book: Book, state: State, money: int, available: Array) -> int:
    """How many pairs may be asked now."""
    total = 0
    for worker in range(book.totals[c.WORKERS]):
        if at_hand(book, worker, money, available):
            total += pairs_left(book, state, worker)
    return total


@step
def is_open_to(book: Book, task: int, worker: int) -> bool:
    """Whether a pair may be asked."""
    return bool(book.tasks[task, c.CLOSED] == 0) and may_put(book, task, worker)


@step
def draw_below(draw: Draw, index: int, count: int) -> int:
    """Draw a whole number below ``count``."""
    return min(int(uniform(draw, index) * count), count - 1)


@kernel
def draw_task(book: Book, worker: int, left: int, draw: Draw) -> int:
    """One of the ``left`` tasks that may be put to a worker, all with equal probability.

    A task drawn among all is as good as any that he may be asked about, if it is one; so is the
    one that a draw counts off, which is used when many draws in a row hit none.
    """
    tasks = book.totals[c.TASKS]
    for attempt in range(ATTEMPTS):
        task = draw_below(draw, 2 + attempt, tasks)
        if is_open_to(book, task, worker):
            return task
    place = draw_below(draw, 1, left)
    for task in range(tasks):
        if is_open_to(book, task, worker):
            if place == 0:
                return task
            place -= 1
    return -1


@step
def choose(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Draw a worker by the number of tasks that he has left, then one of them."""
    money = money_left(book.totals)
    total = pairs_at_hand(book, state, money, available)
    if total == 0:
        return idle(book, available)
    place = draw_below(draw, 0, total)
    for worker in range(book.totals[c.WORKERS]):
        if at_hand(book, worker, money, available):
            left = pairs_left(book, state, worker)
            if place < left:
                propose(out, draw_task(book, worker, left, draw), worker, 1, 1.0 / total)
                break
            place -= left
    return c.PROPOSED


@step
def absorb(book: Book, state: State, params: Params, fact: Fact, draw: Draw) -> None:
    """Count what closed; the ledger counts the rest."""
    assignments, closed = book.assignments, state.closed
    if fact.kind == k.CLOSED:
        at = book.tasks[fact.task, c.TASK_LAST]
        while at >= 0:
            if assignments[at, c.STATUS] != c.EXPIRED:
                closed[assignments[at, c.WORKER]] += 1
            at = assignments[at, c.BEFORE_OF_TASK]
    elif fact.kind == k.EXPIRED and book.tasks[fact.task, c.CLOSED] == 1:
        closed[fact.worker] -= 1


@policies.register("random-pairs")
@dataclass(frozen=True)
class RandomPairs(LabelPolicy):
    """Ask a pair of task and worker drawn uniformly from all that may be asked now.

    Assumes nothing and learns nothing; with the majority vote at the end it is the naive baseline
    of the paper. The answers are left to the aggregation.

    Not for saving money: its answers can be used to judge other policies offline, as every pair
    has a known probability.

    A decision costs O(workers), plus O(tasks) for a worker who has few of many tasks left.

    References
    ----------
    Paper 002, section 5.1: the naive baseline.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("ann", 1), Worker("bob", 1)],
    ...     tasks=["t1", "t2"],
    ...     options=["no", "yes"],
    ...     budget=4,
    ...     policy="random-pairs",
    ...     seed=1,
    ... )
    >>> campaign.ask()[0].propensity
    0.25
    """

    notes: ClassVar[tuple[str, ...]] = ("drawn",)
    rule: ClassVar[str] = "ask a pair of task and worker drawn from all that may be asked"
    axes: ClassVar[Axes] = {"worker": "closed"}
    kernels: ClassVar[Kernels] = Kernels(choose, absorb)

    def params(self) -> Params:
        """Nothing to set."""
        return Params(0)

    def start(self, problem: Problem, ledger: Ledger) -> State:
        """Nothing is closed."""
        return State(np.zeros(len(ledger.book.workers), np.int64))

    def scores(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw, available: Array
    ) -> list[Score]:
        """How likely each worker is to be asked."""
        book = ledger.book
        money = int(money_left(book.totals))
        total = int(pairs_at_hand(book, state, money, available))
        found = []
        for at, worker in enumerate(ledger.workers):
            here = bool(at_hand(book, at, money, available))
            left = int(pairs_left(book, state, at)) if here else 0
            details = {"pairs": float(left), "price": int(book.workers[at, c.PRICE]) / MICRO}
            found.append(Score(worker.id, left / total if total else None, details))
        return found
