"""Ask where the next answer tells most between the two leading options: beyond paper 004."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askwise.core.book import (
    FIRST_CELL,
    NEXT_CELL,
    OPTIONS,
    PROPOSED,
    VOTES,
    WORKERS,
    Array,
    Book,
    Proposal,
    cell_of,
    idle,
    money_left,
    propose,
)
from askwise.core.compiling import kernel
from askwise.core.draws import Draw
from askwise.core.likelihood import NONE, distance_from_top
from askwise.policies.base import Kernels, policies
from askwise.policies.survey.common import (
    LearningPolicy,
    State,
    may_ask,
    next_question,
    price_unit,
    ranked_price,
)
from askwise.policies.survey.virt_thompson import Params, absorb, first_leader, shape


@kernel
def distances(book: Book, task: int, found: Array) -> None:
    """Sum over crowds of each option's distance from being on top."""
    cells, options = book.cells, book.totals[OPTIONS]
    for option in range(options):
        found[option] = 0.0
        cell = book.tasks[task, FIRST_CELL]
        while cell >= 0:
            found[option] += distance_from_top(cells, cell, VOTES, options, option, NONE)
            cell = cells[cell, NEXT_CELL]


@kernel
def margin(found: Array) -> float:
    """How far the second smallest is above the smallest."""
    smallest = math.inf
    second = math.inf
    for option in range(len(found)):
        if found[option] < smallest:
            second = smallest
            smallest = found[option]
        elif found[option] < second:
            second = found[option]
    return second - smallest


@kernel
def expected_margin(
    book: Book,
    state: State,
    params: Params,
    task: int,
    worker: int,
    now: Array,
    then: Array,
    blank: Array,
) -> float:
    """Margin that is expected after one more answer of a crowd, by its smoothed votes."""
    cells, options = book.cells, book.totals[OPTIONS]
    cell = cell_of(book, task, worker)
    leader = first_leader(book, state, cell)
    table, row, first = (cells, cell, VOTES) if cell >= 0 else (blank, 0, 0)
    expected = 0.0
    total = 0.0
    for answer in range(options):
        chance = shape(book, state, params.memory, worker, cell, answer, leader)
        for option in range(options):
            before = distance_from_top(table, row, first, options, option, NONE)
            after = distance_from_top(table, row, first, options, option, answer)
            then[option] = now[option] + after - before
        expected += chance * margin(then)
        total += chance
    return expected / total


@kernel
def choose(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Ask the crowd whose next answer is expected to widen the margin most, per price."""
    task = next_question(book, available)
    if task < 0:
        return idle(book, available)
    options = book.totals[OPTIONS]
    now = np.empty(options)
    then = np.empty(options)
    blank = np.zeros((1, options), np.int64)
    distances(book, task, now)
    before = margin(now)
    money = money_left(book.totals)
    unit = price_unit(book)
    best = -1
    best_gain = -math.inf
    for worker in range(book.totals[WORKERS]):
        if may_ask(book, task, worker, money, available):
            gain = expected_margin(book, state, params, task, worker, now, then, blank) - before
            gain /= ranked_price(book, worker, unit)
            if best < 0 or gain > best_gain:
                best, best_gain = worker, gain
    propose(out, task, best, 1, 1.0)
    return PROPOSED


@policies.register("glr-directed")
@dataclass(frozen=True)
class GlrDirected(LearningPolicy):
    """Ask the crowd whose next answer is expected to tell most, per price.

    What it wants to widen is the margin of ``joint-glr``: how much better one option explains all
    crowds' answers than the next best.

    Parameters
    ----------
    discount : float
        Factor on earlier answers in what a crowd is expected to answer next.
    prior : float
        The most answers that a crowd's record on closed questions is worth; 0: none.

    Assumes that all crowds have the same right option. Designed jointly with ``joint-glr``;
    works with any rule.

    Not with hundreds of crowds: every decision looks one answer ahead for each of them.

    References
    ----------
    Beyond paper 004, whose section 6 asks for selection and stopping designed jointly.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 3)],
    ...     tasks=["q"],
    ...     options=["x", "y", "z"],
    ...     policy="glr-directed",
    ...     stopping="joint-glr",
    ... )
    >>> campaign.ask()[0].worker
    'a'
    """

    paper: ClassVar[str] = "beyond 004"
    notes: ClassVar[tuple[str, ...]] = ("largest expected margin",)
    rule: ClassVar[str] = (
        "of the question asked least, ask the crowd whose next answer is expected to widen most, "
        "per price, the likelihood margin between the two best options"
    )
    kernels: ClassVar[Kernels] = Kernels(choose, absorb)

    def params(self) -> Params:
        """As plain numbers."""
        return Params(self.memory())

    def index(self, book: Book, state: State, task: int, worker: int, draw: Draw) -> float | None:
        """The expected widening per price."""
        options = int(book.totals[OPTIONS])
        now, then, blank = np.empty(options), np.empty(options), np.zeros((1, options), np.int64)
        distances(book, task, now)
        after = expected_margin(book, state, self.params(), task, worker, now, then, blank)
        return float((after - margin(now)) / ranked_price(book, worker, price_unit(book)))
