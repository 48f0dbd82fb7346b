"""What the labelling policies share: tasks ranked by a key, and who is left for a task.

Paper 002: H. Zhang, Y. Ma, M. Sugiyama, "Bandit-based task assignment for heterogeneous
crowdsourcing", Neural Computation 27(11), 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from askwise.core.arrays import Array
from askwise.core.compiling import step
from askwise.core.errors import InvalidProblem
from askwise.core.problem import Problem
from askwise.ledger import columns as c
from askwise.ledger.columns import Book
from askwise.ledger.ledger import Ledger
from askwise.policies.base import KernelPolicy, State
from askwise.policies.capabilities import Explains
from askwise.policies.labels.tournament import build_tree, new_tree

PAPER = "002"


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
    return book.totals[c.REPEAT] == 0 and everyone_asked(book, task)


@dataclass(frozen=True)
class LabelPolicy(KernelPolicy, Explains):
    """Base of the family: tasks with options, each worker asked once about a task."""

    paper: ClassVar[str] = PAPER
    outcomes: ClassVar[tuple[str, ...]] = ("options",)
    needs_budget: ClassVar[bool] = False

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


@dataclass(frozen=True)
class RankedPolicy(LabelPolicy):
    """Base of those that ask about the task with the lowest key.

    Their State has the fields ``keys`` (one a task; a new task's is 0) and ``tree``, the
    tournament over them, which is derived and in no snapshot.
    """

    def grow(self, state: State, ledger: Ledger) -> State:
        """Also make room in the tournament."""
        grown = super().grow(state, ledger)
        if len(grown.tree) < 2 * len(ledger.book.tasks):
            grown = grown._replace(tree=new_tree(len(ledger.book.tasks)))
            build_tree(grown.tree, grown.keys, ledger.total(c.TASKS))
        return grown

    def used(self, state: State, ledger: Ledger) -> dict[str, Array]:
        """All but the tournament."""
        kept = super().used(state, ledger)
        del kept["tree"]
        return kept

    def restore(self, problem: Problem, ledger: Ledger, kept: dict[str, Array]) -> State:
        """Rebuild the tournament."""
        restored: Any = super().restore(problem, ledger, kept)
        build_tree(restored.tree, restored.keys, ledger.total(c.TASKS))
        return restored
