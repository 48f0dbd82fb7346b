"""Stop after a fixed number of answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from askwise.core.book import TASK_ANSWERED
from askwise.core.checks import whole
from askwise.core.draws import Draw
from askwise.core.ledger import Ledger
from askwise.core.problem import Problem
from askwise.core.votes import leading_option
from askwise.stopping.base import StoppingRule, Verdict, stopping


@stopping.register("fixed")
@dataclass(frozen=True)
class Fixed(StoppingRule):
    """Close a task after ``n`` answers, with the option most of them gave.

    Parameters
    ----------
    n : int
        How many answers a task gets. A tie is broken by a declared draw.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 1)],
    ...     tasks=["t"],
    ...     options=["no", "yes"],
    ...     budget=9,
    ...     policy="uniform",
    ...     stopping={"name": "fixed", "n": 1},
    ... )
    >>> campaign.tell(campaign.ask()[0].id, "yes")
    >>> campaign.answers()[0].value, campaign.ask()
    ('yes', Done(why='tasks'))
    """

    n: int = 3
    promise: ClassVar[str] = "Trades error for cost; guarantees nothing about either."

    def __post_init__(self) -> None:
        whole(self.n, "n", least=1)

    def verdict(
        self,
        problem: Problem,
        state: Any,
        ledger: Ledger,
        task: int,
        draw: Draw,
        beliefs: Any = None,
    ) -> Verdict | None:
        """Count, then take the most frequent option."""
        answered = int(ledger.book.tasks[task, TASK_ANSWERED])
        if answered < self.n:
            return None
        if not problem.options:
            return Verdict(None, "confident")
        votes = ledger.book.votes[task]
        option = leading_option(votes, draw, 0)
        return Verdict(option, "confident", float(votes[option] / answered))
