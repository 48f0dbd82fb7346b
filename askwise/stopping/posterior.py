"""Stop when, by Bayes over the crowds' unknown quality, an error is improbable enough."""

import math
from dataclasses import dataclass
from typing import ClassVar

from askwise.core.checks import between
from askwise.kernels import Array, Draw, step
from askwise.kernels.votes import answers_in
from askwise.ledger import Book
from askwise.ledger import columns as c
from askwise.stopping.base import CONFIDENT, GO_ON, SCRATCH, SURE, name_largest, stopping
from askwise.stopping.evidence import log_evidence
from askwise.stopping.single import TOTAL, SingleCrowdRule, Votes


@step
def add_evidence(table: Array, row: int, first: int, options: int, ruling: Array) -> None:
    """Add what one source says for each option to the scratch cells."""
    answers = answers_in(table, row, first, options)
    for option in range(options):
        votes = table[row, first + option]
        ruling[SCRATCH + option] += log_evidence(votes, answers - votes, options)


@step
def name_likeliest(options: int, draw: Draw, source: int, ruling: Array) -> float:
    """Write the likeliest option and its posterior probability; returns that of an error."""
    best = name_largest(options, draw, 2 * source + 1, ruling)
    others = -1.0
    for option in range(options):
        others += math.exp(ruling[SCRATCH + option] - best)
    ruling[SURE] = 1.0 / (1.0 + others)
    return others / (1.0 + others)


@step
def clear(options: int, ruling: Array) -> None:
    """Begin with equal odds."""
    for option in range(options):
        ruling[SCRATCH + option] = 0.0


@step
def halts(votes: Votes, most: float, draw: Draw, ruling: Array) -> int:
    """Judge one source."""
    clear(votes.options, ruling)
    add_evidence(votes.table, votes.row, votes.first, votes.options, ruling)
    error = name_likeliest(votes.options, draw, votes.source, ruling)
    return CONFIDENT if error <= most else GO_ON


@step
def weigh_crowds(book: Book, task: int, draw: Draw, ruling: Array) -> float:
    """Multiply what each crowd says, each with a quality of its own; returns that of an error."""
    cells, options = book.cells, book.totals[c.OPTIONS]
    clear(options, ruling)
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        if cells[cell, c.CELL_ANSWERS] > 0:
            add_evidence(cells, cell, c.VOTES, options, ruling)
        cell = cells[cell, c.NEXT_CELL]
    return name_likeliest(options, draw, TOTAL, ruling)


@step
def judge(book: Book, most: float, task: int, draw: Draw, ruling: Array) -> int:
    """Judge all crowds together."""
    return CONFIDENT if weigh_crowds(book, task, draw, ruling) <= most else GO_ON


@stopping.register("posterior")
@dataclass(frozen=True)
class Posterior(SingleCrowdRule):
    """Stop when the posterior probability that the leading option is wrong is small enough.

    Each crowd answers right with a probability of its own, unknown and uniform between chance
    and one, and errs evenly over the other options. Crowds are independent: their evidence is
    multiplied, so that a crowd at odds with itself counts little and a unanimous one much.

    Parameters
    ----------
    error : float
        The posterior probability of an error at which to stop.
    horizon, cap
        As in ``gap``.

    Assumes independent answers and qualities spread evenly between chance and one: its error
    is the target on average over such questions, not on each of them.

    Not where questions may be nearly balanced and must not be decided by luck: there its
    error comes near one half (``e-process`` keeps its error).

    References
    ----------
    Beyond paper 004, whose section 6 asks for rules better than the composite.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 1)],
    ...     tasks=["t"],
    ...     options=["no", "yes"],
    ...     policy="round-robin",
    ...     stopping={"name": "posterior", "error": 0.1},
    ... )
    >>> for _ in range(3):
    ...     campaign.tell(campaign.ask()[0].id, "yes")
    >>> answer = campaign.answers()[0]
    >>> answer.value, answer.outcome, round(answer.confidence, 3)
    ('yes', 'confident', 0.955)
    """

    error: float = 0.05
    paper: ClassVar[str] = "beyond 004"
    promise: ClassVar[str] = (
        "Trades error for cost: its error is on average the target if crowds' qualities are "
        "spread evenly between chance and one. On a single question it may be far above."
    )
    dial: ClassVar[str] = "error"
    single: ClassVar = halts
    kernel: ClassVar = judge

    def __post_init__(self) -> None:
        super().__post_init__()
        between(self.error, "error", 0, 1)

    def params(self) -> float:
        """As plain numbers."""
        return float(self.error)
