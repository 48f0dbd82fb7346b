"""Optimistic knowledge gradient: the pair whose best answer would make us surest."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askwise.core.checks import flag, real
from askwise.core.errors import InvalidProblem
from askwise.core.labels import Label
from askwise.core.problem import Problem
from askwise.kernels import Array, Draw, kernel, step
from askwise.ledger import Book, Ledger, idle, may_put, money_left
from askwise.ledger import columns as c
from askwise.ledger.proposals import Proposal, new_proposal, propose
from askwise.ledger.queries import at_hand
from askwise.policies.base import Kernels, policies
from askwise.policies.capabilities import LabelsItself, TakesPilot
from askwise.policies.labels.common import LabelPolicy, Opinion, draw_below
from askwise.policies.labels.optkg import ranks as r
from askwise.policies.labels.optkg.moments import doubt, gain, strength
from askwise.policies.labels.optkg.ranks import Params, State, best_pair
from askwise.policies.labels.tournament import anyone_at_hand


@step
def next_pool(book: Book, state: State, after: float, after_pool: int) -> tuple[int, float]:
    """The pool with the least money per task behind another one in that order; -1 if none.

    Pools in which nothing can be asked are left out.
    """
    best, best_rate = -1, math.inf
    for pool in range(state.counts[r.IN_POOLS]):
        top = state.tree[state.roots[pool, r.OFFSET] + 1]
        if top < 0 or state.keys[top] == math.inf:
            continue
        rate = state.paid[pool] / book.contexts[pool, c.CONTEXT_TASKS]
        behind = rate > after or (rate == after and pool > after_pool)
        if behind and rate < best_rate:
            best, best_rate = pool, rate
    return best, best_rate


@kernel
def next_pair(
    book: Book, state: State, params: Params, available: Array, marks: Array
) -> tuple[int, int]:
    """The pair to ask now; (-1, -1) if there is none."""
    money = money_left(book.totals)
    if book.totals[c.OPEN] == 0 or not anyone_at_hand(book, money, available):
        return -1, -1
    pool, rate = next_pool(book, state, -1.0, -1)
    while pool >= 0:
        task, worker = best_pair(book, state, params, pool, money, available, marks)
        if task >= 0:
            return task, worker
        pool, rate = next_pool(book, state, rate, pool)
    return -1, -1


@step
def propose_anyone(book: Book, task: int, draw: Draw, available: Array, out: Proposal) -> None:
    """Put a task to somebody at random: without a model of workers all are alike."""
    money = money_left(book.totals)
    count = 0
    for worker in range(book.totals[c.WORKERS]):
        if at_hand(book, worker, money, available) and may_put(book, task, worker):
            out.whole[1, count] = worker
            count += 1
    propose(out, task, out.whole[1, draw_below(draw, 0, count)], 1, 1.0 / count)


@kernel
def choose(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Propose the pair with the largest gain."""
    task, worker = next_pair(book, state, params, available, out.whole[0])
    if task < 0:
        return idle(book, available)
    if params.workers == 1:
        propose(out, task, worker, 1, 1.0)
    else:
        propose_anyone(book, task, draw, available, out)
    return c.PROPOSED


@policies.register("optkg")
@dataclass(frozen=True)
class OptKG(LabelPolicy, LabelsItself, TakesPilot):
    """Ask the pair of task and worker whose more telling answer raises confidence most.

    Each task has a Beta belief of its positive side, each worker one of their accuracy; the gain of
    a pair is h(I(a', b')) - h(I(a, b)) for the better of the two answers, with I = P(theta >= .5)
    and h(x) = max(x, 1 - x). Pairs that were asked are left out. The positive option is the
    second one (index 1); a task with a >= b is answered positive, as the paper prints it, with
    confidence h(I).

    Parameters
    ----------
    positive, negative : float
        Prior of a task: the paper's a and b.
    right, wrong : float
        Prior of a worker: the paper's c and d.
    workers : bool
        Whether to model workers. Without it an answer counts the same no matter who gives it (the
        simplified model): the policy chooses the task, and asks each available worker with equal
        probability.

    Assumes that a worker is equally good on all tasks. Two options only. Prices matter only as
    far as the money goes. Where several answers are pending, tasks with fewer of them come first:
    otherwise all workers would be asked about the first task before its first answer is in.

    Not where workers are good at some kinds of tasks only: see ``optkg-multi``.

    A decision looks at tasks whose bound is above the best gain found, some dozens of 768; the
    bounds are in a tournament, renewed at every answer for its task, and for all tasks that a
    worker is the strongest for when their mean accuracy has moved by half a percent or so.

    References
    ----------
    Paper 002, section 4.3; X. Chen, Q. Lin, D. Zhou, "Optimistic knowledge gradient policy for
    optimal budget allocation in crowdsourcing", ICML 2013, section 3 and appendix 5.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("ann", 1), Worker("bob", 1)],
    ...     tasks=["t1", "t2"],
    ...     options=["no", "yes"],
    ...     budget=4,
    ...     policy="optkg",
    ... )
    >>> for answer in ("yes", "no", "yes", "yes"):
    ...     (work,) = campaign.ask()
    ...     print(work.task, work.worker)
    ...     campaign.tell(work.id, answer)
    t1 ann
    t2 bob
    t1 bob
    t2 ann
    """

    positive: float = 1.0
    negative: float = 1.0
    right: float = 4.0
    wrong: float = 1.0
    workers: bool = True

    notes: ClassVar[tuple[str, ...]] = ("largest gain",)
    rule: ClassVar[str] = (
        "ask the pair of task and worker whose more telling answer would raise the confidence in "
        "the task's answer most"
    )
    kernels: ClassVar[Kernels] = Kernels(choose, r.absorb)
    multi: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for field in ("positive", "negative", "right", "wrong"):
            number = getattr(self, field)
            real(number, field, "a number from 0.001 to 1000000", least=1e-3, most=1e6)
        flag(self.workers, "workers")

    def check(self, problem: Problem) -> None:
        """Refuse other than two options."""
        super().check(problem)
        if len(problem.options) != 2:
            raise InvalidProblem(
                f"options has {len(problem.options)} names: policy {self.name!r} works on two",
                field="options",
            )

    def params(self) -> Params:
        """As plain numbers."""
        return Params(int(self.workers), int(self.multi))

    def start(self, problem: Problem, ledger: Ledger) -> State:
        """Priors only."""
        return self._derived(self._fresh(ledger), ledger)

    def grow(self, state: State, ledger: Ledger) -> State:
        """Take in tasks, workers and contexts that are new."""
        if tuple(state.counts[: r.MONEY].tolist()) == self._sizes(ledger):
            return state
        tasks, workers, pools, money = state.counts.tolist()
        grown = self._fresh(ledger)
        grown.shapes[:tasks] = state.shapes[:tasks]
        grown.skills[:pools, :workers] = state.skills[:pools, :workers]
        grown.paid[:pools] = state.paid[:pools]
        grown.counts[r.MONEY] = money
        return self._derived(grown, ledger)

    def used(self, state: State, ledger: Ledger) -> dict[str, Array]:
        """Beliefs and money; the rest is derived."""
        tasks, workers, pools = self._sizes(ledger)
        return {
            "shapes": state.shapes[:tasks],
            "skills": state.skills[:pools, :workers],
            "paid": state.paid[:pools],
            "counts": state.counts,
        }

    def restore(self, problem: Problem, ledger: Ledger, kept: dict[str, Array]) -> State:
        """Derive the rest."""
        return self._derived(super().restore(problem, ledger, kept), ledger)

    def _sizes(self, ledger: Ledger) -> tuple[int, int, int]:
        pools = ledger.total(c.CONTEXTS) if self.multi else 1
        return ledger.total(c.TASKS), ledger.total(c.WORKERS), pools

    def _fresh(self, ledger: Ledger) -> State:
        """Priors for everything that there is, room for all that it derives."""
        tasks, workers, pools = self._sizes(ledger)
        book = ledger.book
        a, b, right, wrong = self.positive, self.negative, self.right, self.wrong
        shapes = np.empty((tasks, 3))
        shapes[:] = a, b, doubt(float(a), float(b))
        skills = np.empty((pools, workers, 3))
        skills[:] = right, wrong, strength(float(right), float(wrong)) if self.workers else 1.0
        staff = book.workers[:workers]
        gone = (staff[:, c.JOINED] == 0) | (staff[:, c.ASKED] >= staff[:, c.LIMIT])
        skills[:, gone, r.CEILING] = -1.0
        sizes = book.contexts[:pools, c.CONTEXT_TASKS].tolist() if self.multi else [tasks]
        halves = np.array([1 << max(0, size - 1).bit_length() for size in sizes], np.int64)
        roots = np.zeros((pools, 2), np.int64)
        roots[:, r.HALF] = halves
        roots[1:, r.OFFSET] = 2 * np.cumsum(halves)[:-1]
        return State(
            shapes=shapes,
            skills=skills,
            paid=np.zeros(pools, np.int64),
            counts=np.array([tasks, workers, pools, 0], np.int64),
            order=np.zeros((pools, workers), np.int64),
            keys=np.zeros(tasks),
            tops=np.zeros(tasks),
            leaves=np.zeros(tasks, np.int64),
            roots=roots,
            tree=np.full(2 * int(halves.sum()), -1, np.int64),
        )

    def _derived(self, state: State, ledger: Ledger) -> State:
        r.derive(ledger.book, state, self.params())
        return state

    def opinions(self, state: State, ledger: Ledger, available: Array) -> Iterator[Opinion]:
        """Gain of every worker's answer to the task that is next."""
        book, params = ledger.book, self.params()
        marks = new_proposal(ledger.total(c.WORKERS)).whole[0]
        task, _ = next_pair(book, state, params, available, marks)
        if task < 0:
            return
        pool = int(r.pool_of(book, params, task))
        a, b, doubted = (float(each) for each in state.shapes[task])
        for at in range(len(ledger.workers)):
            s = float(r.strength_of(state, params, pool, at))
            right, wrong = (float(each) for each in state.skills[pool, at, : r.CEILING])
            index = float(gain(a, b, doubted, s)) if may_put(book, task, at) else None
            yield index, {"accuracy": right / (right + wrong), "confidence": 1.0 - doubted}

    def labels(
        self, problem: Problem, state: State, ledger: Ledger, tasks: Sequence[int], draw: Draw
    ) -> list[Label]:
        """The positive set: a >= b; confidence h(I)."""
        return [
            Label(
                float(r.POSITIVE if a >= b else 1 - r.POSITIVE), float(1.0 - doubted), "agreement"
            )
            for a, b, doubted in state.shapes[list(tasks)]
        ]


@policies.register("optkg-multi")
@dataclass(frozen=True)
class OptKGMulti(OptKG):
    """Run one OptKG per context, each on its share of the money.

    The context that had the least money per task, spent and reserved, is next (then the one that
    appeared first): so at any time the money is split in proportion to the contexts' tasks, up
    to one answer. Where nothing can be asked in a context, its share goes to the others by the
    same rule.

    Parameters
    ----------
    positive, negative : float
        Prior of a task: the paper's a and b.
    right, wrong : float
        Prior of a worker in each context: the paper's c and d.
    workers : bool
        Whether to model workers. Without it an answer counts the same no matter who gives it (the
        simplified model).

    Assumes that a worker is equally good on all tasks of a context, and needs contexts. Two
    options only.

    Not with many small contexts: what a worker shows in one says nothing about another.

    References
    ----------
    Paper 002, section 5.1: "OptKG (Multi.)".

    Examples
    --------
    >>> from askwise import Campaign, Task, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("ann", 1), Worker("bob", 1)],
    ...     tasks=[Task("t1", "sports"), Task("t2", "sports"), Task("t3", "cooking")],
    ...     options=["no", "yes"],
    ...     budget=3,
    ...     policy="optkg-multi",
    ... )
    >>> [work.task for work in campaign.ask(3)]
    ['t1', 't3', 't2']
    """

    rule: ClassVar[str] = (
        "in the context that had the least money per task, ask the pair of task and worker whose "
        "more telling answer would raise the confidence in the task's answer most"
    )
    multi: ClassVar[bool] = True
