"""The mean utility of a task's answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from askwise.aggregation.base import Aggregator, aggregation
from askwise.core.book import BEFORE_OF_TASK, SETTLED, STATUS, TASK_LAST, VALUE
from askwise.core.draws import Draw
from askwise.core.ledger import Ledger
from askwise.core.problem import Problem


@aggregation.register("mean")
@dataclass(frozen=True)
class Mean(Aggregator):
    """The mean of a task's utilities. States no confidence."""

    outcomes: ClassVar[tuple[str, ...]] = ("utility",)

    def label(
        self, problem: Problem, ledger: Ledger, task: int, draw: Draw, beliefs: Any = None
    ) -> tuple[float | None, float | None]:
        """Add up the task's thread of answers."""
        book = ledger.book
        total, count = 0.0, 0
        at = int(book.tasks[task, TASK_LAST])
        while at >= 0:
            if book.assignments[at, STATUS] == SETTLED:
                total += float(book.marks[at, VALUE])
                count += 1
            at = int(book.assignments[at, BEFORE_OF_TASK])
        return (total / count if count else None), None
