"""Stop with a guarantee: the error is at most delta on every question."""

import math
from dataclasses import dataclass
from typing import ClassVar

from askwise.core.checks import between
from askwise.kernels import Array, Draw, step
from askwise.ledger import Book
from askwise.ledger import columns as c
from askwise.stopping.base import CONFIDENT, GO_ON, SCRATCH, SURE, name_largest, stopping
from askwise.stopping.evidence import log_evidence
from askwise.stopping.families import (
    any_family,
    counted_votes,
    families_for,
    family_of,
    speaks_for_family,
)
from askwise.stopping.single import TOTAL, SingleCrowdRule, Votes, votes_of


@step
def conclude(options: int, delta: float, draw: Draw, source: int, ruling: Array) -> int:
    """Stop if one option's evidence against its nearest rival exceeds options / delta.

    If two options' does, crowds contradict each other: then no answer can be stood behind.
    """
    enough = math.log(options) - math.log(delta)
    weakest = name_largest(options, draw, 2 * source + 1, ruling)
    winners = 0
    for option in range(options):
        winners += ruling[SCRATCH + option] >= enough
    ruling[SURE] = 1.0 - min(1.0, options * math.exp(-weakest)) if winners <= 1 else 0.0
    return CONFIDENT if winners == 1 else GO_ON


@step
def halts(votes: Votes, delta: float, draw: Draw, ruling: Array) -> int:
    """Judge one source: for each option the evidence against its nearest rival."""
    table, row, first, options, source = votes
    for option in range(options):
        least = math.inf
        for rival in range(options):
            if rival != option:
                a, b = table[row, first + option], table[row, first + rival]
                least = min(least, log_evidence(a, b, 2))
        ruling[SCRATCH + option] = least
    return conclude(options, delta, draw, source, ruling)


@step
def halts_once(book: Book, delta: float, task: int, cell: int, draw: Draw, ruling: Array) -> int:
    """Judge one source, of each family by its first answer; ``cell`` as in ``votes_of``."""
    votes = votes_of(book, task, cell)
    if not (any_family(book, task) if cell < 0 else family_of(book, cell) >= 0):
        return halts(votes, delta, draw, ruling)
    options = votes.options
    said = -1
    if cell >= 0 and speaks_for_family(book, task, cell):
        said = book.cells[cell, c.FIRST_SAID]
    counted = SCRATCH + options
    for option in range(options):
        if cell < 0:
            ruling[counted + option] = counted_votes(book, task, option)
        else:
            ruling[counted + option] = 1.0 if option == said else 0.0
    for option in range(options):
        least = math.inf
        for rival in range(options):
            if rival != option:
                a, b = int(ruling[counted + option]), int(ruling[counted + rival])
                least = min(least, log_evidence(a, b, 2))
        ruling[SCRATCH + option] = least
    return conclude(options, delta, draw, votes.source, ruling)


@step
def log_e_value(book: Book, task: int, option: int, rival: int) -> float:
    """Logarithm of the e-value against "rival is right", over all crowds.

    The mean of two processes, each a supermartingale if every crowd gives the rival at least
    as often as the option: crowds each with a bias of its own (their product), and all crowds
    with one bias (their votes together). A family is in both by its first answer to the task:
    given all that came before, none of it the family's, that is a vote like any other.
    """
    cells, votes = book.cells, book.votes
    apart = 0.0
    families = False
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        if family_of(book, cell) < 0:
            apart += log_evidence(cells[cell, c.VOTES + option], cells[cell, c.VOTES + rival], 2)
        else:
            families = True
        cell = cells[cell, c.NEXT_CELL]
    won, lost = votes[task, option], votes[task, rival]
    if families:
        apart += families_for(book, task, option) * log_evidence(1, 0, 2)
        apart += families_for(book, task, rival) * log_evidence(0, 1, 2)
        won, lost = counted_votes(book, task, option), counted_votes(book, task, rival)
    together = log_evidence(won, lost, 2)
    larger = max(apart, together)
    return larger + math.log(0.5 * (math.exp(apart - larger) + math.exp(together - larger)))


@step
def judge(book: Book, delta: float, task: int, draw: Draw, ruling: Array) -> int:
    """Find for each option its evidence against its nearest rival; stop if one's is enough."""
    options = book.totals[c.OPTIONS]
    for option in range(options):
        least = math.inf
        for rival in range(options):
            if rival != option:
                least = min(least, log_e_value(book, task, option, rival))
        ruling[SCRATCH + option] = least
    return conclude(options, delta, draw, TOTAL, ruling)


@stopping.register("e-process")
@dataclass(frozen=True)
class EProcess(SingleCrowdRule):
    """Stop when the evidence for an option, against each rival, is beyond what luck allows.

    For each pair of options it bets on the one against the other, answer by answer; the
    capital of such a bet (an e-process) exceeds n / delta with probability at most delta / n if
    the other is right, at any time and however the next crowd is chosen (Ville's inequality).
    It stops for an option whose bets against all rivals have won so much.

    Parameters
    ----------
    delta : float
        The error that is kept.
    horizon, cap
        As in ``gap``; a question that ends there is marked, and not counted by the guarantee.

    Assumes that no crowd, given all that came before, prefers a wrong option to the right one.
    Nothing else: qualities may differ and drift, crowds may be asked in any order, answers
    need not be equally distributed. Ties are covered: where no option is right, it stops with
    probability at most delta.
    A crowd's next answer is news only if it is another member's. Persons and models
    (``Worker(kind=...)``) have one answer to a question; it is fixed by the question, so that with
    them the promise is about questions as they come, not about each. Workers that err together
    are a ``family``: of it only the first answer to a question counts, whichever member gave it,
    and the assumption is about that answer alone; the others may depend on it in any way, copy or
    contradict it. (Their mean would not do: members are asked one by one, and what a family has
    said may decide whether it is asked again.) A crowd with a family has one such answer, too: a
    model that draws its answers is a crowd with a family of its own. A few families alone never
    end a question at a small delta: it takes 8 of one mind at 0.05, with two options. Errors that
    families have in common, as on questions that mislead most of them, are not covered: make
    them one family.

    Not where an error on average is enough: ``posterior`` asks less at the same measured error.

    References
    ----------
    Beyond paper 004 (Theorem 1 promises only an error of the order of delta).
    A. Ramdas, P. Grünwald, V. Vovk, G. Shafer, "Game-theoretic statistics and safe anytime-valid
    inference", Statistical Science 38 (2023).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1)],
    ...     tasks=["t"],
    ...     options=["no", "yes"],
    ...     policy="round-robin",
    ...     stopping={"name": "e-process", "delta": 0.05},
    ... )
    >>> while campaign.status().open_tasks:
    ...     campaign.tell(campaign.ask()[0].id, "yes")
    >>> campaign.answers()[0].count, campaign.answers()[0].outcome
    (8, 'confident')
    """

    delta: float = 0.05
    paper: ClassVar[str] = "beyond 004"
    guarantees: ClassVar[bool] = True
    promise: ClassVar[str] = (
        "Guarantees an error of at most delta on every question, at any time, with any number of "
        "options and crowds asked in any order. Assumes that no crowd prefers a wrong option, "
        "whatever was said before; of a family, which errs together, it counts one answer."
    )
    dial: ClassVar[str] = "delta"
    single: ClassVar = halts
    source: ClassVar = halts_once
    kernel: ClassVar = judge

    def __post_init__(self) -> None:
        super().__post_init__()
        between(self.delta, "delta", 0, 1)

    def params(self) -> float:
        """As plain numbers."""
        return float(self.delta)
