"""What the labelling policies share: tasks ranked by a key, and who is left for a task.

Paper 002: H. Zhang, Y. Ma, M. Sugiyama, "Bandit-based task assignment for heterogeneous
crowdsourcing", Neural Computation 27(11), 2015.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from askwise.core.errors import InvalidProblem
from askwise.core.labels import NO_LABEL, Label
from askwise.core.money import MICRO
from askwise.core.problem import Problem
from askwise.kernels import Array, Draw, step, uniform
from askwise.ledger import Book, Ledger
from askwise.ledger import columns as c
from askwise.ledger.queries import may_repeat
from askwise.policies.base import KernelPolicy, State
from askwise.policies.capabilities import Explains, Score
from askwise.policies.labels.tournament import build_tree, new_tree

MOST_SKILLS = 2**28
"""Contexts times workers at most: a number is kept for each."""


@step
def everyone_asked(book: Book, task: int) -> bool:
    """Whether a task was put to as many as may be asked about it."""
    tasks = book.tasks
    most = tasks[task, c.NAMED] if tasks[task, c.NAMED] >= 0 else book.totals[c.WORKERS]
    return bool(tasks[task, c.TASK_ASKED] >= most)


@step
def is_over(book: Book, task: int) -> bool:
    """Whether a task is closed, or everyone who may be asked about it was."""
    if book.tasks[task, c.CLOSED] == 1:
        return True
    return not may_repeat(book, task) and everyone_asked(book, task)


@step
def out_for(book: Book, task: int) -> int:
    """How many answers to a task are out."""
    return book.tasks[task, c.TASK_ASKED] - book.tasks[task, c.TASK_ANSWERED]


@step
def majority(book: Book, task: int, less: int) -> int:
    """Option with the most votes, one answer ``less`` (-1: none) left out; -1 if there is a tie."""
    best = top = -1
    for option in range(book.totals[c.OPTIONS]):
        count = book.votes[task, option] - (option == less)
        if count > top:
            best, top = option, count
        elif count == top:
            best = -1
    return best


@step
def draw_below(draw: Draw, index: int, count: int) -> int:
    """Draw a whole number below ``count``."""
    return min(int(uniform(draw, index) * count), count - 1)


Opinion = tuple[float | None, dict[str, float]]
"""What a policy ranks a worker by, and the details behind it."""


def voted(weights: Array, total: float, draw: Draw, task: int) -> Label:
    """The option of largest weight and its share of the total; a tie is drawn for the task."""
    if total == 0.0:
        return NO_LABEL
    leaders = np.flatnonzero(weights == weights.max())
    option = leaders[draw_below(draw, task, len(leaders))]
    return Label(float(option), float(weights[option]) / total, "agreement")


@dataclass(frozen=True)
class LabelPolicy(KernelPolicy, Explains):
    """Base of the family: tasks with options, each worker asked once about a task."""

    paper: ClassVar[str] = "002"
    outcomes: ClassVar[tuple[str, ...]] = ("options",)
    needs_budget: ClassVar[bool] = False
    derived: ClassVar[tuple[str, ...]] = ()
    """Fields of the State that are worked out, or mere room: they are in no snapshot."""

    def check(self, problem: Problem) -> None:
        """Refuse more contexts and workers than can be told apart in memory."""
        super().check(problem)
        contexts = len({task.context for task in problem.tasks})
        if contexts * len(problem.workers) > MOST_SKILLS:
            raise InvalidProblem(
                f"tasks have {contexts} contexts for {len(problem.workers)} workers: policy "
                f"{self.name!r} keeps a number for each pair and takes {MOST_SKILLS} at most; "
                "give coarser contexts",
                field="context",
            )

    def used(self, state: State, ledger: Ledger) -> dict[str, Array]:
        """All but what is derived."""
        kept = super().used(state, ledger)
        return {name: array for name, array in kept.items() if name not in self.derived}

    def scores(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw, available: Array
    ) -> list[Score]:
        """What it thinks of each worker, and their price."""
        found = []
        for at, (index, details) in enumerate(self.opinions(state, ledger, available)):
            price = int(ledger.book.workers[at, c.PRICE]) / MICRO
            found.append(Score(ledger.workers[at].id, index, {**details, "price": price}))
        return found

    def opinions(self, state: State, ledger: Ledger, available: Array) -> Iterable[Opinion]:
        """What ``scores`` says of each worker but the price; nothing where no task is next."""
        return ()


@dataclass(frozen=True)
class RankedPolicy(LabelPolicy):
    """Base of those that ask about the task with the lowest key.

    Their State has the fields ``keys`` (one per task; a new task's is 0) and ``tree``, the
    tournament over them.
    """

    derived: ClassVar[tuple[str, ...]] = ("tree",)

    def grow(self, state: State, ledger: Ledger) -> State:
        """Also make room in the tournament."""
        grown = super().grow(state, ledger)
        if len(grown.tree) < 2 * len(ledger.book.tasks):
            grown = grown._replace(tree=new_tree(len(ledger.book.tasks)))
            build_tree(grown.tree, grown.keys, ledger.total(c.TASKS))
        return grown

    def restore(self, problem: Problem, ledger: Ledger, kept: dict[str, Array]) -> State:
        """Rebuild the tournament."""
        restored: Any = super().restore(problem, ledger, kept)
        build_tree(restored.tree, restored.keys, ledger.total(c.TASKS))
        return restored
