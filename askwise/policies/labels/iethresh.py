"""IEThresh: all workers whose upper confidence bound is near the highest."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from askwise.core.checks import between, real
from askwise.core.problem import Problem
from askwise.core.records import by_reference
from askwise.kernels import Array, Draw, kernel, step
from askwise.kernels.knapsack.ordering import ascending
from askwise.ledger import Book, Ledger, Proposal, propose
from askwise.ledger import columns as c
from askwise.ledger.queries import asked_before, at_hand, money_left
from askwise.policies.base import Kernels, policies
from askwise.policies.labels.common import Opinion, majority
from askwise.policies.labels.in_turn import AGREED, JUDGED, InTurnPolicy, is_left, turn_kernels


@by_reference
class State(NamedTuple):
    """Which tasks are done, whose turn it is, rewards of workers, and Student's t.

    ``critical`` has the critical value for n rewards at place n; it is a table, not a belief.
    """

    done: Array
    shown: Array
    head: Array
    critical: Array


class Params(NamedTuple):
    """The paper's epsilon."""

    threshold: float


@step
def upper(state: State, worker: int) -> float:
    """UI = m + t(n - 1) * s / sqrt(n), s the sample standard deviation of rewards 0 and 1.

    Of fewer than two rewards there is no deviation: infinity, so that they are asked.
    """
    n = state.shown[worker, JUDGED]
    if n < 2.0:
        return math.inf
    m = state.shown[worker, AGREED] / n
    # More rewards than tasks come only of pairs that were answered twice, once late.
    t = state.critical[min(int(n), len(state.critical) - 1)]
    return float(m + t * math.sqrt(m * (1.0 - m) / (n - 1.0)))


@step
def cut(book: Book, state: State, params: Params, task: int) -> float:
    """The least UI that is asked about a task: epsilon times the highest that is known.

    Who was asked about the task counts on, so that it is the same for the whole batch.
    """
    highest = -math.inf
    for worker in range(book.totals[c.WORKERS]):
        mine = upper(state, worker)
        if book.workers[worker, c.JOINED] == 0 or mine == math.inf or mine <= highest:
            continue
        if is_left(book, task, worker) or asked_before(book, task, worker):
            highest = mine
    return params.threshold * highest if highest > -math.inf else -math.inf


@step
def anyone_missing(book: Book, state: State, params: Params, task: int) -> bool:
    """Whether somebody whom the money is enough for belongs to the batch and was not asked."""
    least = cut(book, state, params, task)
    money = money_left(book.totals)
    for worker in range(book.totals[c.WORKERS]):
        enough = book.workers[worker, c.PRICE] <= money
        if enough and upper(state, worker) >= least and is_left(book, task, worker):
            return True
    return False


@step
def is_complete(book: Book, state: State, params: Params, task: int) -> bool:
    """Whether the whole batch was asked."""
    return not anyone_missing(book, state, params, task)


@kernel
def propose_for(
    book: Book, state: State, params: Params, task: int, draw: Draw, available: Array, out: Proposal
) -> None:
    """Everybody whose UI is high enough and who was not asked yet, the highest first.

    With money short the batch is cut: workers who cost more than what is left are passed over.
    """
    money = money_left(book.totals)
    least = cut(book, state, params, task)
    chosen, keys = out.whole[0], out.real[0]
    count = 0
    for worker in range(book.totals[c.WORKERS]):
        here = at_hand(book, worker, money, available) and upper(state, worker) >= least
        if here and is_left(book, task, worker):
            chosen[count] = worker
            keys[count] = -upper(state, worker)
            count += 1
    for at in ascending(keys[:count]):
        worker = chosen[at]
        price = book.workers[worker, c.PRICE]
        if price <= money:
            propose(out, task, worker, 1, 1.0)
            money -= price


@kernel
def teach(book: Book, state: State, params: Params, task: int) -> None:
    """Reward those who agree with the majority; with a tie nobody does."""
    cells = book.cells
    leader = majority(book, task, -1)
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        for option in range(book.totals[c.OPTIONS]):
            if cells[cell, c.VOTES + option] > 0:
                reward(state, cells[cell, c.CELL_WORKER], option == leader)
        cell = cells[cell, c.NEXT_CELL]


@step
def reward(state: State, worker: int, agrees: bool) -> None:
    """Count a reward."""
    state.shown[worker, JUDGED] += 1.0
    if agrees:
        state.shown[worker, AGREED] += 1.0


@step
def judge(book: Book, state: State, params: Params, task: int, worker: int, option: int) -> None:
    """Reward a late answer by the majority that it makes."""
    reward(state, worker, option == majority(book, task, -1))


@policies.register("iethresh")
@dataclass(frozen=True)
class IEThresh(InTurnPolicy):
    """Take tasks in order; ask all workers whose upper confidence bound is near the highest.

    The bound is UI = m + t * s / sqrt(n) of a worker's rewards, 1 where they agreed with the
    majority of those asked. A batch is everybody with UI >= threshold * max UI, and everybody
    with fewer than two rewards: so the first two tasks are asked of all. The answers are the
    majority of those asked, which is left to the aggregation.

    Parameters
    ----------
    threshold : float
        The paper's epsilon, 0 (ask everybody) to 1 (only the highest).
    error : float
        The paper's alpha: t is the critical value at alpha / 2, with n - 1 degrees of freedom.

    Assumes that a worker is equally good on all tasks. What it spends is not known beforehand: it
    ends when all tasks are done, or when the money is; then a batch is cut, the highest bounds
    first, and workers who cost more than what is left are skipped. Each task waits for its answers,
    because they decide the next batch. A tie rewards nobody.

    Not for a fixed budget, nor where workers are good at some tasks only: there it was worse than
    random pairs.

    References
    ----------
    Paper 002, section 4.1; P. Donmez, J. Carbonell, J. Schneider, "Efficiently learning the
    accuracy of labeling sources for selective sampling", KDD 2009.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker(name, 1) for name in ("ann", "bob", "cid")],
    ...     tasks=["t1", "t2", "t3"],
    ...     options=["no", "yes"],
    ...     policy="iethresh",
    ... )
    >>> said = {"ann": "yes", "bob": "yes", "cid": "no"}
    >>> for _ in range(3):
    ...     batch = campaign.ask(9)
    ...     print([work.worker for work in batch])
    ...     for work in batch:
    ...         campaign.tell(work.id, said[work.worker])
    ['ann', 'bob', 'cid']
    ['ann', 'bob', 'cid']
    ['ann', 'bob']
    """

    threshold: float = 0.9
    error: float = 0.05

    notes: ClassVar[tuple[str, ...]] = ("high bounds",)
    rule: ClassVar[str] = (
        "about one task at a time, ask all workers whose upper confidence bound is near the highest"
    )
    kernels: ClassVar[Kernels] = turn_kernels(
        "iethresh", propose_for, anyone_missing, is_complete, teach, judge
    )
    derived: ClassVar[tuple[str, ...]] = ("critical",)

    def __post_init__(self) -> None:
        real(self.threshold, "threshold", "a share from 0 to 1", least=0, most=1)
        between(self.error, "error", 0, 1)

    def params(self) -> Params:
        """As plain numbers."""
        return Params(float(self.threshold))

    def start(self, problem: Problem, ledger: Ledger) -> State:
        """Nothing is done, nobody was rewarded."""
        tasks, workers = len(ledger.book.tasks), len(ledger.book.workers)
        return State(
            done=np.zeros(tasks, np.int8),
            shown=np.zeros((workers, 2)),
            head=np.zeros(1, np.int64),
            critical=self._table(tasks),
        )

    def _table(self, tasks: int) -> Array:
        """Critical values for up to one reward a task."""
        from scipy.special import stdtrit

        table = np.full(tasks + 1, np.inf)
        table[2:] = stdtrit(np.arange(1.0, tasks), 1.0 - self.error / 2.0)
        return table

    def grow(self, state: State, ledger: Ledger) -> State:
        """Also make the table longer."""
        grown: State = super().grow(state, ledger)
        if len(grown.critical) <= len(ledger.book.tasks):
            grown = grown._replace(critical=self._table(len(ledger.book.tasks)))
        return grown

    def opinions(self, state: State, ledger: Ledger, available: Array) -> Iterator[Opinion]:
        """UI of every worker, and who belongs to the batch of the task whose turn it is."""
        task = self.turn(state, ledger)
        if task >= ledger.total(c.TASKS):
            return
        least = float(cut(ledger.book, state, self.params(), task))
        for at in range(len(ledger.workers)):
            n, agreed = (float(each) for each in state.shown[at])
            mine = float(upper(state, at))
            mean = agreed / n if n else math.nan
            details = {"judged": n, "mean": mean, "chosen": float(mine >= least)}
            yield mine if math.isfinite(mine) else None, details
