"""Crowds in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from askwise.core.arrays import Array
from askwise.core.compiling import step
from askwise.core.draws import Draw
from askwise.ledger import Book, Proposal, cell_of, idle, money_left, propose
from askwise.ledger import columns as c
from askwise.policies.base import Kernels, policies
from askwise.policies.crowds.common import (
    Nothing,
    SurveyPolicy,
    learn_nothing,
    may_ask,
    next_question,
)
from askwise.policies.crowds.non_adaptive import Params


@step
def choose(
    book: Book, state: Nothing, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Ask the crowd asked least about the question, ties by the lowest number: in turn."""
    task = next_question(book, available)
    if task < 0:
        return idle(book, available)
    cells = book.cells
    money = money_left(book.totals)
    best = -1
    least = 0
    for worker in range(book.totals[c.WORKERS]):
        if may_ask(book, task, worker, money, available):
            cell = cell_of(book, task, worker)
            asked = cells[cell, c.CELL_OUT] + cells[cell, c.CELL_ANSWERS] if cell >= 0 else 0
            if best < 0 or asked < least:
                best, least = worker, asked
    propose(out, task, best, 1, 1.0)
    return c.PROPOSED


@policies.register("round-robin")
@dataclass(frozen=True)
class RoundRobin(SurveyPolicy):
    """Ask the crowds in turn, question by question.

    The crowd that was asked least about the question is next, the first of several.

    Assumes nothing about quality and learns nothing.

    Not for saving money: a useless crowd gets as many questions as the best.

    References
    ----------
    Paper 004, section 4.3 (the naive approach).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 1)],
    ...     tasks=["q"],
    ...     options=["no", "yes"],
    ...     policy="round-robin",
    ... )
    >>> [each.worker for each in campaign.ask(limit=4)]
    ['a', 'b', 'a', 'b']
    """

    notes: ClassVar[tuple[str, ...]] = ("in turn",)
    rule: ClassVar[str] = "of the question asked least, ask the crowd asked least about it"
    kernels: ClassVar[Kernels] = Kernels(choose, learn_nothing)

    def params(self) -> Params:
        """Nothing to set."""
        return Params(0)
