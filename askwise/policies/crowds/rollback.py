"""Explore, exploit, roll back: the straw man of paper 004, appendix F."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from askwise.core.checks import flag, real
from askwise.core.problem import Problem
from askwise.core.records import by_reference
from askwise.kernels import Array, Draw, Fact, step
from askwise.kernels.votes import answers_in, exceeds, lead_in
from askwise.ledger import Book, Ledger, Proposal, idle, money_left, propose
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.policies.base import Axes, Kernels, policies
from askwise.policies.crowds.common import SurveyPolicy, SurveyTerms, may_ask, question_for
from askwise.policies.crowds.non_adaptive import draw_by_price

# Columns of `stages` (one row per question): the crowd to exploit (its index + 1, 0 while
# exploring) and how many asks the exploration took.
CHOSEN, EXPLORED = range(2)

# What a decision is for.
EXPLORE, EXPLOIT, ROLL_BACK = range(3)


@by_reference
class Stages(NamedTuple):
    """Where each question is."""

    stages: Array


class Params(NamedTuple):
    """C'_qty, how long to exploit (in explorations), smooth or not; what the family shares."""

    low_quality: float
    alpha: float
    smooth: bool
    terms: SurveyTerms


@step
def choose(
    book: Book, state: Stages, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Explore until a crowd stands out, exploit that crowd, then explore again."""
    task = question_for(book, params.terms, available)
    if task < 0:
        return idle(book, available)
    stages = state.stages
    chosen = stages[task, CHOSEN] - 1
    if chosen >= 0:
        until = (1.0 + params.alpha) * stages[task, EXPLORED]
        asked = book.tasks[task, c.TASK_ASKED]
        if asked < until and may_ask(book, task, chosen, money_left(book.totals), available):
            propose(out, task, chosen, 1, 1.0)
            out.head[1] = EXPLOIT
            return c.PROPOSED
        out.head[1] = ROLL_BACK
    draw_by_price(book, state, params, task, draw, available, out)
    return c.PROPOSED


@step
def absorb(book: Book, state: Stages, params: Params, fact: Fact, draw: Draw) -> None:
    """See after each answer whether the low-confidence rule stops for its crowd."""
    if fact.kind == k.ANSWER and state.stages[fact.task, CHOSEN] == 0:
        cells, options = book.cells, book.totals[c.OPTIONS]
        cell = book.assignments[fact.assignment, c.CELL]
        answers = answers_in(cells, cell, c.VOTES, options)
        term = params.low_quality * math.sqrt(answers)
        if exceeds(lead_in(cells, cell, c.VOTES, options), term, params.smooth, draw, 0):
            state.stages[fact.task, CHOSEN] = fact.worker + 1
            state.stages[fact.task, EXPLORED] = book.tasks[fact.task, c.TASK_ASKED]


@policies.register("explore-exploit-rollback")
@dataclass(frozen=True)
class ExploreExploitRollback(SurveyPolicy):
    """Draw crowds until one stands out with low confidence, ask it for a while, then draw again.

    While exploring it draws as ``rand-rr``, until rule (1) with ``low`` times ``quality`` stops
    for some crowd. That crowd is asked ``alpha`` times as long as exploring took; if the
    stopping rule has not closed the question by then, it goes back to drawing.

    Parameters
    ----------
    quality : float
        C_qty of the stopping rule that the campaign uses.
    low : float
        Share of ``quality`` for the low-confidence rule.
    alpha : float, optional
        How long to exploit, as a multiple of how long exploring took; 1 / ``low`` by default (the
        paper's conjecture).
    smooth : bool
        Whether the low-confidence rule rounds at random, as ``gap`` does.
    open_at_once : int, optional
        Maximum number of questions under way, not counting those that wait for an answer; 1
        finishes one question after the other. By default all open questions take turns.
    free_price : float
        Price at which a free crowd is ranked, as a share of the lowest price above 0.

    Assumes a ``composite`` rule of ``gap`` with the same quality.

    Not for saving money: it is hardly better than drawing at random, in the paper and here.

    References
    ----------
    Paper 004, appendix F and footnote 9.

    Examples
    --------
    >>> from askwise.policies import policies
    >>> policies.make({"name": "explore-exploit-rollback", "quality": 2.0}).params().low_quality
    1.5
    """

    quality: float = 2.0
    low: float = 0.75
    alpha: float | None = None
    smooth: bool = True
    axes: ClassVar[Axes] = {"task": "stages"}
    notes: ClassVar[tuple[str, ...]] = ("explore", "exploit", "roll back")
    rule: ClassVar[str] = (
        "draw crowds by one over price until one stands out with low confidence, ask it alpha "
        "times as long, then draw again"
    )
    kernels: ClassVar[Kernels] = Kernels(choose, absorb)

    def __post_init__(self) -> None:
        super().__post_init__()
        real(self.quality, "quality", "a number from 0 to a million", least=0, most=1e6)
        real(self.low, "low", "a share above 0 and at most 1", least=1e-9, most=1)
        if self.alpha is not None:
            real(self.alpha, "alpha", "a number of 0 or more", least=0)
        flag(self.smooth, "smooth")

    def params(self) -> Params:
        """As plain numbers."""
        alpha = 1.0 / self.low if self.alpha is None else float(self.alpha)
        return Params(self.low * self.quality, alpha, self.smooth, self.terms())

    def start(self, problem: Problem, ledger: Ledger) -> Stages:
        """All questions are explored first."""
        return Stages(np.zeros((len(ledger.book.tasks), 2), np.int64))
