"""Decisions that are the campaign's own and not its policy's: whom to ask, about what, what for."""

from dataclasses import dataclass
from typing import NamedTuple

from askwise.core.events import PlanRow
from askwise.ledger import Ledger


class OwnAsk(NamedTuple):
    """A worker to ask about a task."""

    task: int
    worker: int
    propensity: float | None


@dataclass(frozen=True)
class OwnDecision:
    """Whom to ask now, and what for."""

    note: str
    rows: list[OwnAsk]

    def plan(self, ledger: Ledger) -> tuple[PlanRow, ...]:
        """The same in names."""
        return tuple(
            PlanRow(ledger.workers[worker].id, ledger.task_id(task), 1, odds)
            for task, worker, odds in self.rows
        )
