"""The mean utility of a task's answers."""

from dataclasses import dataclass
from typing import Any, ClassVar

from askwise.aggregation.base import Aggregator, aggregation
from askwise.core.draws import Draw
from askwise.core.labels import Label
from askwise.core.problem import Problem
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger


@aggregation.register("mean")
@dataclass(frozen=True)
class Mean(Aggregator):
    """The mean of a task's utilities, without a confidence.

    Assumes that every answer is as good as any other.

    Not for answers that are options: every other aggregator takes those.

    References
    ----------
    Common practice.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("ann", 1), Worker("bob", 1)],
    ...     tasks=["t"],
    ...     outcome="utility",
    ...     policy="uniform",
    ...     aggregation="mean",
    ... )
    >>> for value in (0.25, 0.75):
    ...     campaign.tell(campaign.ask()[0].id, value)
    >>> campaign.answers()[0].value
    0.5
    """

    outcomes: ClassVar[tuple[str, ...]] = ("utility",)
    paper: ClassVar[str] = "practice"

    def is_by_task(self, ledger: Ledger) -> bool:
        return True

    def label(
        self, problem: Problem, ledger: Ledger, task: int, draw: Draw, beliefs: Any = None
    ) -> Label:
        """Add up the task's thread of answers."""
        book = ledger.book
        total, count = 0.0, 0
        at = int(book.tasks[task, c.TASK_LAST])
        while at >= 0:
            if book.assignments[at, c.STATUS] == c.SETTLED:
                total += float(book.marks[at, c.VALUE])
                count += 1
            at = int(book.assignments[at, c.BEFORE_OF_TASK])
        return Label(total / count if count else None, None)
