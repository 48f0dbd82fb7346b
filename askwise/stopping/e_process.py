"""Stop with a guarantee: the error is at most delta on every question."""

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from askwise.core.checks import between, flag
from askwise.core.registry import LATER
from askwise.kernels import Array, Draw, step
from askwise.ledger import Book
from askwise.ledger import columns as c
from askwise.stopping.base import CONFIDENT, GO_ON, OPTION, SCRATCH, SURE, name_largest, stopping
from askwise.stopping.evidence import log_evidence
from askwise.stopping.families import (
    any_family,
    counted_votes,
    families_for,
    family_of,
    speaks_for_family,
)
from askwise.stopping.single import TOTAL, SingleCrowdRule, Votes, votes_of


class Params(NamedTuple):
    """The error that is kept; whether ties are covered."""

    delta: float
    ties: bool


@step
def begin(options: int, ruling: Array) -> None:
    """No bet has been looked at."""
    for option in range(options):
        ruling[SCRATCH + option] = math.inf


@step
def take(option: int, rival: int, log_e: float, params: Params, ruling: Array) -> None:
    """Take in a bet on an option against a rival, by the logarithm of its capital.

    Scratch cells hold, where ties are covered, an option's weakest bet; else minus the logarithm of
    the sum of all bets against an option.
    """
    if params.ties:
        ruling[SCRATCH + option] = min(ruling[SCRATCH + option], log_e)
        return
    before = -ruling[SCRATCH + rival]
    larger, smaller = max(before, log_e), min(before, log_e)
    ruling[SCRATCH + rival] = -(larger + math.log(1.0 + math.exp(smaller - larger)))


@step
def conclude(options: int, params: Params, draw: Draw, source: int, ruling: Array) -> int:
    """Stop if one option alone is left, or has won all its bets where ties are covered.

    If none is left, or two have won, crowds contradict each other: then no answer can be stood
    behind.
    """
    strongest = name_largest(options, draw, 2 * source + 1, ruling)
    bets = options if params.ties else options - 1
    enough = math.log(bets) - math.log(params.delta)
    standing = 0
    weakest = math.inf
    for option in range(options):
        value = ruling[SCRATCH + option]
        standing += value >= enough if params.ties else -value < enough
        if option != int(ruling[OPTION]):
            weakest = min(weakest, -value)
    if params.ties:
        weakest = strongest
    contradicted = standing > 1 if params.ties else standing == 0
    ruling[SURE] = 0.0 if contradicted else 1.0 - min(1.0, bets * math.exp(-weakest))
    return CONFIDENT if standing == 1 else GO_ON


@step
def halts(votes: Votes, params: Params, draw: Draw, ruling: Array) -> int:
    """Judge one source: bets on each option against each rival."""
    table, row, first, options, source = votes
    begin(options, ruling)
    for option in range(options):
        for rival in range(options):
            if rival != option:
                a, b = table[row, first + option], table[row, first + rival]
                take(option, rival, log_evidence(a, b, 2), params, ruling)
    return conclude(options, params, draw, source, ruling)


@step
def halts_once(book: Book, params: Params, task: int, cell: int, draw: Draw, ruling: Array) -> int:
    """Judge one source, of each family by its first answer; ``cell`` as in ``votes_of``."""
    votes = votes_of(book, task, cell)
    if not (any_family(book, task) if cell < 0 else family_of(book, cell) >= 0):
        return halts(votes, params, draw, ruling)
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
    begin(options, ruling)
    for option in range(options):
        for rival in range(options):
            if rival != option:
                a, b = int(ruling[counted + option]), int(ruling[counted + rival])
                take(option, rival, log_evidence(a, b, 2), params, ruling)
    return conclude(options, params, draw, votes.source, ruling)


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
def judge(book: Book, params: Params, task: int, draw: Draw, ruling: Array) -> int:
    """Judge all crowds together."""
    options = book.totals[c.OPTIONS]
    begin(options, ruling)
    for option in range(options):
        for rival in range(options):
            if rival != option:
                take(option, rival, log_e_value(book, task, option, rival), params, ruling)
    return conclude(options, params, draw, TOTAL, ruling)


@stopping.register("e-process")
@dataclass(frozen=True)
class EProcess(SingleCrowdRule):
    """Stop when the evidence for an option, against each rival, is beyond what chance allows.

    For each pair of options it bets on the one against the other, answer by answer; the capital
    of such a bet (an e-process) begins with 1 and does not grow on average if the other is right,
    however the next crowd is chosen. An option is ruled out when the capital of all bets against
    it together reaches (n - 1) / delta, with n options. It stops when one option is left.

    Proof of the promise: to stop with a wrong option it has to rule out the right one. The capital
    of the n - 1 bets against that is a supermartingale from n - 1 on, and so ever reaches
    (n - 1) / delta with probability at most delta (Ville's inequality).

    Parameters
    ----------
    delta : float
        Largest probability of an error.
    ties : bool
        Whether the promise covers ties too: where several options are equally right, the
        probability that it stops at all is at most delta. It then stops for an option when its bet
        against every rival has reached n / delta. (Of each option, one of these bets is against one
        of the best: each of n bets gets that far with probability at most delta / n.) With two
        options this takes 10 to 30% more answers.
    horizon, cap
        As in ``gap``; a question that ends there is marked, and the guarantee does not cover it.

    Assumes that no crowd, given all that came before, prefers a wrong option to the right one.
    Nothing else: qualities may differ and drift, crowds may be asked in any order, answers
    need not be equally distributed.
    A crowd's next answer is news only if it is another member's. Persons and models
    (``Worker(kind=...)``) have one answer to a question; it is fixed by the question, so that with
    them the promise is about questions as they come, not about each. Workers that err together are
    a ``family``: only its first answer to a question counts, whichever member gave it, and the
    assumption is about that answer alone; the others may depend on it in any way, copy or
    contradict it. (Their mean would not work: members are asked one by one, and what a family has
    said may decide whether it is asked again.) A crowd with a family has one such answer, too: a
    model that draws its answers is a crowd with its own family. A few families alone never end a
    question at a small delta: with two options, 0.05 takes 7 that agree. Errors that families have
    in common, such as on questions that mislead most of them, are not covered: make them one
    family.

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
    (7, 'confident')
    """

    delta: float = 0.05
    ties: bool = field(default=False, kw_only=True, metadata=LATER)
    paper: ClassVar[str] = "beyond 004"
    guarantees: ClassVar[bool] = True
    promise: ClassVar[str] = (
        "Guarantees an error of at most delta on every question, at any time, with any number of "
        "options and crowds asked in any order. Assumes that no crowd prefers a wrong option, "
        "whatever was said before; of a family, which errs together, it counts one answer."
    )
    dial: ClassVar[str] = "delta"
    version: ClassVar[int] = 2
    single: ClassVar = halts
    source: ClassVar = halts_once
    kernel: ClassVar = judge

    def __post_init__(self) -> None:
        super().__post_init__()
        between(self.delta, "delta", 0, 1)
        flag(self.ties, "ties")

    def params(self) -> Params:
        """As plain numbers."""
        return Params(float(self.delta), self.ties)
