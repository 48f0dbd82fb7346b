"""CrowdSense: a few good workers and a random one, then more while the vote is close."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from askwise.core.checks import real
from askwise.core.labels import Label
from askwise.core.problem import Problem
from askwise.core.records import by_reference
from askwise.kernels import Array, Draw, kernel, step
from askwise.ledger import Book, Ledger, Proposal, money_left, propose
from askwise.ledger import columns as c
from askwise.ledger.queries import at_hand
from askwise.policies.base import Axes, Kernels, policies
from askwise.policies.capabilities import LabelsItself
from askwise.policies.labels.common import Opinion, draw_below, out_for, voted
from askwise.policies.labels.in_turn import AGREED, JUDGED, InTurnPolicy, is_left, turn_kernels

FIRST = 3
"""This many are asked at first: two of the highest quality and one at random."""

# Columns of `votes`: the option that won when the task was done, plus one (0: none); its share.
WINNER, SHARE = range(2)

START, MORE = range(2)


@by_reference
class State(NamedTuple):
    """Which tasks are done and how, whose turn it is, and what workers have shown."""

    done: Array
    votes: Array
    shown: Array
    head: Array


class Params(NamedTuple):
    """The paper's epsilon and K."""

    threshold: float
    smoothing: float


@step
def quality(state: State, params: Params, worker: int) -> float:
    """Q_j = (a_j + K) / (c_j + 2K)."""
    shown, K = state.shown, params.smoothing
    return (shown[worker, AGREED] + K) / (shown[worker, JUDGED] + 2.0 * K)


@step
def weight_of(book: Book, state: State, params: Params, task: int, option: int) -> float:
    """Quality of those who named an option, added up."""
    cells = book.cells
    total = 0.0
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        if cells[cell, c.VOTES + option] > 0:
            total += quality(state, params, cells[cell, c.CELL_WORKER])
        cell = cells[cell, c.NEXT_CELL]
    return total


@kernel
def count_votes(
    book: Book, state: State, params: Params, task: int
) -> tuple[int, float, float, float]:
    """Leading option (-1: a tie), its weight, that of the second and of all together."""
    leader, top, second, total = -1, 0.0, 0.0, 0.0
    for option in range(book.totals[c.OPTIONS]):
        weight = weight_of(book, state, params, task, option)
        total += weight
        if weight > top:
            leader, second, top = option, top, weight
        elif weight > second:
            second = weight
    return -1 if top == second else leader, top, second, total


@step
def best_left(book: Book, state: State, params: Params, task: int, money: int) -> int:
    """Of those whom the money is enough for, the one of highest quality, then the first."""
    best, best_q = -1, -1.0
    for worker in range(book.totals[c.WORKERS]):
        if book.workers[worker, c.PRICE] <= money and is_left(book, task, worker):
            q = quality(state, params, worker)
            if q > best_q:
                best, best_q = worker, q
    return best


@step
def is_complete(book: Book, state: State, params: Params, task: int) -> bool:
    """Whether the vote is clear enough to do without the next worker, or there is none."""
    money = money_left(book.totals)
    candidate = best_left(book, state, params, task, money)
    if candidate < 0:
        return True
    if book.tasks[task, c.TASK_ASKED] < FIRST:
        return False
    _, top, second, _ = count_votes(book, state, params, task)
    size = book.tasks[task, c.TASK_ANSWERED]
    rest = top - second - quality(state, params, candidate)
    return not rest / (size + 1.0) < params.threshold


@step
def best_free(book: Book, state: State, params: Params, free: Array, money: int) -> int:
    """The same of those marked as free."""
    best, best_q = -1, -1.0
    for worker in range(book.totals[c.WORKERS]):
        if free[worker] == 1 and book.workers[worker, c.PRICE] <= money:
            q = quality(state, params, worker)
            if q > best_q:
                best, best_q = worker, q
    return best


@step
def anyone_missing(book: Book, state: State, params: Params, task: int) -> bool:
    """Whether somebody whom the money is enough for was not asked."""
    return best_left(book, state, params, task, money_left(book.totals)) >= 0


@kernel
def propose_for(
    book: Book, state: State, params: Params, task: int, draw: Draw, available: Array, out: Proposal
) -> None:
    """What is missing of the first three, or the next by quality once all answers are in.

    With money short the first three are cut: the best, the second and the random one, each of
    those whom what is left is enough for.
    """
    money = money_left(book.totals)
    asked = book.tasks[task, c.TASK_ASKED]
    if asked >= FIRST and out_for(book, task) > 0:
        return
    free, others = out.whole[0], out.whole[1]
    for worker in range(book.totals[c.WORKERS]):
        free[worker] = at_hand(book, worker, money, available) and is_left(book, task, worker)
    out.head[1] = START if asked < FIRST else MORE
    for _ in range(FIRST - 1 - asked if asked < FIRST else 1):
        best = best_free(book, state, params, free, money)
        if best < 0:
            break
        propose(out, task, best, 1, 1.0)
        free[best] = 0
        money -= book.workers[best, c.PRICE]
    if asked < FIRST:
        count = 0
        for worker in range(book.totals[c.WORKERS]):
            if free[worker] == 1 and book.workers[worker, c.PRICE] <= money:
                others[count] = worker
                count += 1
        if count > 0:
            propose(out, task, others[draw_below(draw, 0, count)], 1, 1.0 / count)


@kernel
def teach(book: Book, state: State, params: Params, task: int) -> None:
    """Keep the weighted vote, and count who agreed with it; a tie agrees with nobody."""
    cells, shown, votes = book.cells, state.shown, state.votes
    leader, top, _, total = count_votes(book, state, params, task)
    votes[task, WINNER] = leader + 1
    votes[task, SHARE] = top / total
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        worker = cells[cell, c.CELL_WORKER]
        shown[worker, JUDGED] += cells[cell, c.CELL_ANSWERS]
        if leader >= 0:
            shown[worker, AGREED] += cells[cell, c.VOTES + leader]
        cell = cells[cell, c.NEXT_CELL]


@step
def judge(book: Book, state: State, params: Params, task: int, worker: int, option: int) -> None:
    """Count a late answer against the vote that was kept."""
    state.shown[worker, JUDGED] += 1.0
    if option + 1 == int(state.votes[task, WINNER]):
        state.shown[worker, AGREED] += 1.0


@policies.register("crowdsense")
@dataclass(frozen=True)
class CrowdSense(InTurnPolicy, LabelsItself):
    """Take tasks in order; ask two good workers and a random one, then more while votes are close.

    Quality is Q_j = (a_j + K) / (c_j + 2K): a_j of their c_j answers agreed with the weighted vote
    when the task was done. After the first three the best of those left is asked while
    (lead - Q) / (size + 1) < threshold, where the lead is the weight of the first option over the
    second (with two options the paper's |Score|). The answer is the vote weighted by Q as it was
    when the task was done; a tie is drawn, and agrees with nobody.

    Parameters
    ----------
    threshold : float
        The paper's epsilon: the higher, the more workers are asked about a task.
    smoothing : float
        The paper's K.

    Assumes that a worker is equally good on all tasks. What it spends is not known beforehand: it
    ends when all tasks are done, or when the money is; then of the first three only those are asked
    whom the rest of the money can pay. Each task waits for its answers, because they decide who is
    asked next: if answers take long, few are pending at a time. Later answers still count for the
    worker, not for the task.

    Not for a fixed budget: it spends in order, and later tasks may get nothing.

    References
    ----------
    Paper 002, section 4.2; S. Ertekin, C. Rudin, H. Hirsh, "Approximating the crowd", Data Mining
    and Knowledge Discovery 28, 2014.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker(name, 1) for name in ("ann", "bob", "cid", "dee")],
    ...     tasks=["t1", "t2"],
    ...     options=["no", "yes"],
    ...     policy="crowdsense",
    ...     seed=1,
    ... )
    >>> batch = campaign.ask(9)
    >>> [(work.worker, work.propensity) for work in batch]
    [('ann', 1.0), ('bob', 1.0), ('dee', 0.5)]
    >>> campaign.ask()
    Wait(what='answers')
    """

    threshold: float = 0.1
    smoothing: float = 100.0

    notes: ClassVar[tuple[str, ...]] = ("first three", "still close")
    rule: ClassVar[str] = (
        "about one task at a time, ask the two workers of highest quality and a random one; then "
        "the next by quality while the weighted vote is close"
    )
    axes: ClassVar[Axes] = {"task": "done votes", "worker": "shown"}
    kernels: ClassVar[Kernels] = turn_kernels(
        "crowdsense", propose_for, anyone_missing, is_complete, teach, judge
    )

    def __post_init__(self) -> None:
        real(self.threshold, "threshold", "a number")
        real(self.smoothing, "smoothing", "a number of answers above 0", least=1e-9)

    def params(self) -> Params:
        """As plain numbers."""
        return Params(float(self.threshold), float(self.smoothing))

    def start(self, problem: Problem, ledger: Ledger) -> State:
        """Nothing is done, nobody has shown anything."""
        tasks, workers = len(ledger.book.tasks), len(ledger.book.workers)
        return State(
            done=np.zeros(tasks, np.int8),
            votes=np.zeros((tasks, 2)),
            shown=np.zeros((workers, 2)),
            head=np.zeros(1, np.int64),
        )

    def opinions(self, state: State, ledger: Ledger, available: Array) -> Iterator[Opinion]:
        """Quality of every worker, and who is left for the task whose turn it is."""
        params, task = self.params(), self.turn(state, ledger)
        for at in range(len(ledger.workers)):
            left = task < ledger.total(c.TASKS) and is_left(ledger.book, task, at)
            judged, agreed = (float(each) for each in state.shown[at])
            details = {"judged": judged, "agreed": agreed, "left": float(left)}
            yield float(quality(state, params, at)), details

    def labels(
        self, problem: Problem, state: State, ledger: Ledger, tasks: Sequence[int], draw: Draw
    ) -> list[Label]:
        """The weighted vote, kept or as it is now, and its share; None where nobody answered."""
        return [self._label(state, ledger, task, draw) for task in tasks]

    def _label(self, state: State, ledger: Ledger, task: int, draw: Draw) -> Label:
        if state.votes[task, WINNER] > 0:
            winner, share = (float(state.votes[task, column]) for column in (WINNER, SHARE))
            return Label(winner - 1.0, share, "agreement")
        book, params, options = ledger.book, self.params(), range(ledger.total(c.OPTIONS))
        weights = [float(weight_of(book, state, params, task, option)) for option in options]
        return voted(np.array(weights), sum(weights), draw, task)
