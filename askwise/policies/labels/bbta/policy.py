"""Bandit-based task assignment: paper 002, algorithm 1."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askwise.core.checks import real, whole
from askwise.core.labels import Label
from askwise.core.problem import Problem
from askwise.kernels import Array, Draw, kernel, uniform
from askwise.ledger import Book, Ledger, Proposal, propose
from askwise.ledger import columns as c
from askwise.ledger.queries import asked_before, at_hand, idle, may_answer, may_put, money_left
from askwise.policies.base import Axes, Kernels, policies
from askwise.policies.capabilities import LabelsItself
from askwise.policies.labels.bbta import losses
from askwise.policies.labels.bbta.losses import Params, State, is_explored, weigh
from askwise.policies.labels.common import Opinion, RankedPolicy, voted
from askwise.policies.labels.tournament import first_task, new_tree

EXPLORATION, ADAPTIVE = range(2)


@kernel
def explore(book: Book, params: Params, state: State, available: Array, out: Proposal) -> bool:
    """Propose all workers for the first task that is still to be explored (line 12)."""
    tasks = book.tasks
    money = money_left(book.totals)
    for context in range(book.totals[c.CONTEXTS]):
        due = min(params.explore, book.contexts[context, c.CONTEXT_TASKS])
        if state.contexts[context, losses.EXPLORED] >= due:
            continue
        task = book.contexts[context, c.FIRST_TASK]
        for _ in range(due):
            if not is_explored(book, task):
                left = money
                for worker in range(book.totals[c.WORKERS]):
                    if not at_hand(book, worker, left, available):
                        continue
                    # Once each, also where pairs may repeat.
                    if may_answer(book, task, worker) and not asked_before(book, task, worker):
                        propose(out, task, worker, 1, 1.0)
                        left -= book.workers[worker, c.PRICE]
                if out.head[0] > 0:
                    return True
            task = tasks[task, c.NEXT_ALIKE]
    return False


@kernel
def choose(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Explore; then the least confident task, and a worker drawn by their weight."""
    if params.explore > 0 and explore(book, params, state, available, out):
        out.head[1] = EXPLORATION
        return c.PROPOSED
    money = money_left(book.totals)
    task = first_task(book, state.tree, state.keys, money, available)
    if task < 0:
        return idle(book, available)
    context = book.tasks[task, c.CONTEXT]
    weights = out.real[0]
    weigh(book, state, context, state.contexts[context, losses.STEPS] + 1, weights)
    total = 0.0
    for worker in range(book.totals[c.WORKERS]):
        # No pair twice: the rest is renormalised (p~ of the notes).
        if at_hand(book, worker, money, available) and may_put(book, task, worker):
            # A weight that is too small to be told from 0 still has its chance.
            weights[worker] = max(weights[worker], 1e-300)
            total += weights[worker]
        else:
            weights[worker] = 0.0
    mark = uniform(draw, 0) * total
    passed = 0.0
    picked = -1
    for worker in range(book.totals[c.WORKERS]):
        if weights[worker] > 0.0:
            passed += weights[worker]
            picked = worker
            if mark < passed:
                break
    out.head[1] = ADAPTIVE
    propose(out, task, picked, 1, weights[picked] / total)
    return c.PROPOSED


@policies.register("bbta")
@dataclass(frozen=True)
class Bbta(RankedPolicy, LabelsItself):
    """Ask a worker, drawn by their record in its context, about the least confident task.

    First ``explore`` tasks of each context are put to everyone and judged by majority. Then each
    step takes the task whose weighted vote is closest, draws a worker with probability in
    proportion to exp(-eta * losses) among those not asked about it, and books a loss, divided by
    that probability, when their answer differs from the weighted vote. In the end the answers are
    the votes weighted by all losses.

    Parameters
    ----------
    explore : int
        Number of tasks of each context (the first ones) that everyone is asked about: the paper's
        N'.
    refresh : float
        0 scores all tasks of a context again after each answer, as in the paper, which takes time
        in proportion to the context's answers. 0.05 does so only when the context's answers have
        grown by 5%, and otherwise scores only the task that was answered: a decision then costs
        O(workers + log tasks), with no loss of accuracy seen.

    Assumes that most workers are right more often than not in each context (the truth is
    unknown: a worker is judged by the others). Two or more options; tasks without a context share
    one. Prices are respected but not weighed: an expensive worker is drawn as often as a cheap one.

    Not for budgets that exploration would use up: it takes explore * contexts * workers answers.
    Where accuracy per answer counts, ``hem`` needs a third of the answers.

    References
    ----------
    Paper 002, algorithm 1; several options by its section 6.

    Examples
    --------
    >>> from askwise import Campaign, Task, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker(name, 1) for name in ("ann", "bob", "eve")],
    ...     tasks=[Task("a", context="birds"), Task("b", context="birds")],
    ...     options=["no", "yes"],
    ...     budget=6,
    ...     policy="bbta",
    ...     seed=1,
    ... )
    >>> [each.worker for each in campaign.ask(limit=3)]
    ['ann', 'bob', 'eve']
    """

    explore: int = 1
    refresh: float = 0.0

    notes: ClassVar[tuple[str, ...]] = ("exploration", "least confident task")
    rule: ClassVar[str] = (
        "everyone on the first tasks of each context; then the task whose weighted vote is "
        "closest, and a worker drawn in proportion to exp(-eta * their losses in its context)"
    )
    kernels: ClassVar[Kernels] = Kernels(choose, losses.absorb)
    derived: ClassVar[tuple[str, ...]] = ("tree", "weights")
    axes: ClassVar[Axes] = {
        "context worker": "losses",
        "context": "contexts",
        "task": "heard keys",
        "worker": "weights",
    }

    def __post_init__(self) -> None:
        whole(self.explore, "explore", least=0)
        real(self.refresh, "refresh", "a share of 0 or more, such as 0.05", least=0)

    def params(self) -> Params:
        """As plain numbers."""
        return Params(int(self.explore), float(self.refresh))

    def start(self, problem: Problem, ledger: Ledger) -> State:
        """No losses; the tasks to explore are set aside."""
        book = ledger.book
        state = State(
            losses=np.zeros((len(book.contexts), len(book.workers))),
            contexts=np.zeros((len(book.contexts), 4), np.int64),
            heard=np.zeros((len(book.tasks), 2), np.int64),
            keys=np.zeros(len(book.tasks)),
            tree=new_tree(len(book.tasks)),
            weights=np.zeros(len(book.workers)),
        )
        losses.take_stock(book, state, self.params())
        return state

    def labels(
        self, problem: Problem, state: State, ledger: Ledger, tasks: Sequence[int], draw: Draw
    ) -> list[Label]:
        """The weighted vote by the last weights; its share of the answers' weight.

        A tie is broken by a draw declared for the task.
        """
        votes = np.zeros((len(tasks), max(1, len(problem.options))))
        losses.weigh_votes(ledger.book, state, np.asarray(tasks, np.int64), votes)
        return [
            voted(row, float(row.sum()), draw, task) for task, row in zip(tasks, votes, strict=True)
        ]

    def opinions(self, state: State, ledger: Ledger, available: Array) -> Iterator[Opinion]:
        """Losses and weight of each worker in the context of the task that is next."""
        book = ledger.book
        task = int(first_task(book, state.tree, state.keys, money_left(book.totals), available))
        if task < 0:
            return
        context = int(book.tasks[task, c.CONTEXT])
        weights = np.zeros(len(book.workers))
        t = int(state.contexts[context, losses.STEPS]) + 1
        total = weigh(book, state, context, t, weights)
        for at in range(len(ledger.workers)):
            index = float(weights[at] / total) if may_put(book, task, at) else None
            lost, weight = float(state.losses[context, at]), float(weights[at])
            yield index, {"losses": lost, "weight": weight}
