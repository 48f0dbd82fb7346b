"""Ask who tells most between the two options still in the race: beyond paper 004."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askwise.kernels import Array, Draw, kernel
from askwise.kernels.likelihood import distance_from_top
from askwise.ledger import Book, Proposal, money_left, propose
from askwise.ledger import columns as c
from askwise.policies.base import Kernels, policies
from askwise.policies.crowds import common
from askwise.policies.crowds.common import Params, SamplingPolicy, State, learn
from askwise.policies.crowds.lp_thompson import sample_responses


@kernel
def leading_two(book: Book, task: int) -> tuple[int, int]:
    """The two options nearest to being on top in every crowd, ties by the lowest number."""
    cells, options = book.cells, book.totals[c.OPTIONS]
    first = second = -1
    nearest = next_nearest = math.inf
    for option in range(options):
        distance = 0.0
        cell = book.tasks[task, c.FIRST_CELL]
        while cell >= 0:
            distance += distance_from_top(cells, cell, c.VOTES, options, option)
            cell = cells[cell, c.NEXT_CELL]
        if distance < nearest:
            second, next_nearest = first, nearest
            first, nearest = option, distance
        elif distance < next_nearest:
            second, next_nearest = option, distance
    return first, second


@kernel
def telling(responses: Array, worker: int, options: int, first: int, second: int) -> float:
    """How much an answer of a crowd moves the margin on average, if it answers like this.

    Whichever way: a crowd that speaks for the second option tells as much.
    """
    against = distance_from_top(responses, worker, 0, options, second)
    return abs(against - distance_from_top(responses, worker, 0, options, first))


@kernel
def propose_most_telling(
    book: Book, state: State, params: Params, task: int, draw: Draw, available: Array, out: Proposal
) -> None:
    """Sample how the crowds answer; ask who then tells most between the two best options."""
    crowds, options = book.totals[c.WORKERS], book.totals[c.OPTIONS]
    first, second = leading_two(book, task)
    responses = np.empty((crowds, options))
    sample_responses(book, state, params.memory, task, draw, responses)
    money = money_left(book.totals)
    unit = common.price_unit(book)
    best = -1
    best_told = -math.inf
    for worker in range(crowds):
        if common.may_ask(book, task, worker, money, available):
            told = telling(responses, worker, options, first, second)
            told /= common.ranked_price(book, worker, unit, params.terms)
            if best < 0 or told > best_told:
                best, best_told = worker, told
    propose(out, task, best, 1, np.nan)


@policies.register("glr-directed")
@dataclass(frozen=True)
class GlrDirected(SamplingPolicy):
    """Ask the crowd that best tells apart the two leading options, per price.

    ``joint-glr`` stops when the best option explains all crowds' answers better than the second
    best, by a margin. This policy draws each crowd's distribution from its posterior and asks
    the crowd whose answers would move that margin fastest per price, either way. (By the votes
    as they are, without drawing, it would lock in on crowds that began with an unlucky tie.)

    Parameters
    ----------
    discount : float
        Factor by which each new answer to a question reduces the weight of the earlier ones, in
        what a crowd is believed to answer; below 1 for crowds that drift.
    prior : float
        Maximum number of answers that a crowd's record on closed questions counts for; 0 ignores
        the record.
    open_at_once : int, optional
        Maximum number of questions under way, not counting those that wait for an answer; 1
        finishes one question after the other. By default all open questions take turns.
    free_price : float
        Price at which a free crowd is ranked, as a share of the lowest price above 0.

    Assumes that all crowds have the same right option. Designed jointly with ``joint-glr``;
    works with any rule.

    Not when decisions need a stated propensity: a Thompson draw has none in closed form.
    Not for very many crowds and options: a decision draws a number for each pair of them, and
    50,000 pairs are the limit.

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
    ...     seed=1,
    ... )
    >>> campaign.ask()[0].worker in ("a", "b")
    True
    """

    paper: ClassVar[str] = "beyond 004"
    notes: ClassVar[tuple[str, ...]] = ("moves the margin",)
    rule: ClassVar[str] = (
        "of the question asked least, draw each crowd's answers from what is believed of them and "
        "ask who would move fastest, per price, the likelihood margin between the best two options"
    )
    kernels: ClassVar[Kernels] = Kernels(common.choosing(propose_most_telling), learn)

    def index(self, book: Book, state: State, task: int, worker: int, draw: Draw) -> float | None:
        """How fast the margin would move per price, by the sample."""
        options = int(book.totals[c.OPTIONS])
        first, second = leading_two(book, task)
        responses = np.empty((int(book.totals[c.WORKERS]), options))
        sample_responses(book, state, self.memory(), task, draw, responses)
        told = telling(responses, worker, options, first, second)
        unit = common.price_unit(book)
        return float(told / common.ranked_price(book, worker, unit, self.terms()))
