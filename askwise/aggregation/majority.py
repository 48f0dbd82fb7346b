"""The option that most answers gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from askwise.aggregation.base import Aggregator, aggregation
from askwise.core.book import TASK_ANSWERED
from askwise.core.draws import Draw
from askwise.core.ledger import Ledger
from askwise.core.problem import Problem
from askwise.core.votes import leading_option


@aggregation.register("majority")
@dataclass(frozen=True)
class Majority(Aggregator):
    """The option with the most votes; its confidence is its share of them.

    A tie is broken by a draw declared for the task, so the answer does not change from one
    look to the next.
    """

    def label(
        self, problem: Problem, ledger: Ledger, task: int, draw: Draw, beliefs: Any = None
    ) -> tuple[float | None, float | None]:
        """Count votes."""
        answered = int(ledger.book.tasks[task, TASK_ANSWERED])
        if answered == 0:
            return None, None
        votes = ledger.book.votes
        option = leading_option(votes, task, 0, len(problem.options), draw, task)
        return float(option), float(votes[task, option] / answered)
