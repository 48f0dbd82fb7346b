"""The naive baseline: a pair of task and worker at random."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from askwise.kernels import Array, Draw, kernel, step
from askwise.ledger import Book, Ledger, Proposal, propose
from askwise.ledger import columns as c
from askwise.ledger.queries import at_hand, idle, may_put, money_left, tasks_for, tasks_left
from askwise.policies.base import Kernels, NoSettings, Nothing, learn_nothing, policies
from askwise.policies.capabilities import TakesPilot
from askwise.policies.labels.common import LabelPolicy, Opinion, draw_below

ATTEMPTS = 64
"""Draws of a task before the tasks of a worker are counted through."""


@step
def pairs_with(book: Book, worker: int, money: int, available: Array) -> int:
    """How many pairs with a worker may be asked now."""
    if not at_hand(book, worker, money, available):
        return 0
    if book.workers[worker, c.ONCE] == 0:
        return tasks_for(book, worker)
    return tasks_left(book, worker)


@step
def pairs_at_hand(book: Book, money: int, available: Array) -> int:
    """How many pairs may be asked now."""
    total = 0
    for worker in range(book.totals[c.WORKERS]):
        total += pairs_with(book, worker, money, available)
    return total


@step
def is_open_to(book: Book, task: int, worker: int) -> bool:
    """Whether a pair may be asked."""
    return bool(book.tasks[task, c.CLOSED] == 0) and may_put(book, task, worker)


@kernel
def draw_task(book: Book, worker: int, left: int, draw: Draw) -> int:
    """One of the ``left`` tasks that may be put to a worker, all with equal probability.

    A task drawn among all is as good as any that they may be asked about, if it is one; so is the
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
    book: Book, state: Nothing, params: NoSettings, draw: Draw, available: Array, out: Proposal
) -> int:
    """Draw a worker by the number of tasks that they have left, then one of them."""
    money = money_left(book.totals)
    total = pairs_at_hand(book, money, available)
    if total == 0:
        return idle(book, available)
    place = draw_below(draw, 0, total)
    for worker in range(book.totals[c.WORKERS]):
        left = pairs_with(book, worker, money, available)
        if place < left:
            propose(out, draw_task(book, worker, left, draw), worker, 1, 1.0 / total)
            break
        place -= left
    return c.PROPOSED


@policies.register("random-pairs")
@dataclass(frozen=True)
class RandomPairs(LabelPolicy, TakesPilot):
    """Ask a pair of task and worker drawn uniformly from all that may be asked now.

    Assumes nothing and learns nothing; with the majority vote at the end it is the naive baseline
    of the paper. The answers are left to the aggregation.

    Not for saving money: its answers can be used to judge other policies offline, because every
    pair has a known probability.

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
    version: ClassVar[int] = 2
    kernels: ClassVar[Kernels] = Kernels(choose, learn_nothing)

    def opinions(self, state: Nothing, ledger: Ledger, available: Array) -> Iterator[Opinion]:
        """How likely each worker is to be asked."""
        money = int(money_left(ledger.book.totals))
        total = int(pairs_at_hand(ledger.book, money, available))
        for at in range(len(ledger.workers)):
            pairs = int(pairs_with(ledger.book, at, money, available))
            yield pairs / total if total else None, {"pairs": float(pairs)}
