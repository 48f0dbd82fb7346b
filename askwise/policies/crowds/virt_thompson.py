"""Thompson's heuristic with virtual rewards: paper 004, algorithm 2."""

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from askwise.core.checks import one_of
from askwise.core.draws import beta, gamma
from askwise.core.registry import LATER
from askwise.kernels import Array, Draw, kernel, step
from askwise.ledger import Book, Proposal, cell_of
from askwise.ledger import columns as c
from askwise.policies.base import Kernels, policies
from askwise.policies.crowds import common
from askwise.policies.crowds.common import (
    Memory,
    Prices,
    SamplingPolicy,
    State,
    SurveyTerms,
    largest,
    learn,
)


class Params(NamedTuple):
    """How votes are remembered; what the family shares; whether a draw's accuracy is the reward."""

    memory: Memory
    terms: SurveyTerms
    by_accuracy: bool


@step
def shape(
    book: Book, state: State, memory: Memory, worker: int, cell: int, option: int, leader: int
) -> float:
    """Parameter of an option in a crowd's Dirichlet posterior: 1 + votes + prior votes."""
    leading, other = common.record(state, worker, book.totals[c.OPTIONS], memory)
    votes = state.counts[cell, option] if cell >= 0 else 0.0
    return 1.0 + votes + (leading if option == leader else other)


@step
def first_leader(book: Book, state: State, task: int, cell: int) -> int:
    """The option with most votes of a crowd, ties by the lowest number.

    Of a crowd that has not answered, the option with most votes of all.
    """
    leader = 0
    heard_it = cell >= 0 and book.cells[cell, c.CELL_ANSWERS] > 0
    for option in range(1, book.totals[c.OPTIONS]):
        if heard_it:
            ahead_now = state.counts[cell, option] > state.counts[cell, leader]
        else:
            ahead_now = book.votes[task, option] > book.votes[task, leader]
        if ahead_now:
            leader = option
    return leader


@kernel
def sampled_gap(
    book: Book, state: State, params: Params, task: int, worker: int, draw: Draw
) -> float:
    """A draw of the crowd's gap from what is believed of it.

    Two options: an accuracy is drawn from Beta(1 + max, 1 + min) of the crowd's own votes; it must
    not know which option is right, and takes the crowd's leader for it. Its gap is 2 * draw - 1.
    """
    options = book.totals[c.OPTIONS]
    memory = params.memory
    if options == 2:
        said = common.heard(book, state, memory, task, worker)
        accuracy = beta(draw, worker, 1.0 + said.top, 1.0 + said.second)
        return accuracy if params.by_accuracy else 2.0 * accuracy - 1.0
    cell = cell_of(book, task, worker)
    leader = first_leader(book, state, task, cell)
    total = 0.0
    top = 0.0
    second = 0.0
    for option in range(options):
        a = shape(book, state, memory, worker, cell, option, leader)
        drawn = gamma(draw, 64 * (worker * options + option), a)
        total += drawn
        if drawn > top:
            second = top
            top = drawn
        elif drawn > second:
            second = drawn
    return (top - second) / total


@step
def sampled_index(
    book: Book, state: State, params: Params, task: int, worker: int, prices: Prices, draw: Draw
) -> float:
    """A draw of the crowd's gap, per root of price.

    A gap below 0 is none, and no price makes it worth more or less; of several such crowds the
    one nearest to a gap is asked, and the cheaper: so it is taken times the root.
    """
    gap = sampled_gap(book, state, params, task, worker, draw)
    price = common.ranked_price(book, worker, prices.unit, params.terms)
    return common.per_root(gap, price) if gap > 0.0 else gap * math.sqrt(price)


largest_sample = largest(sampled_index)


@step
def propose_largest_sample(
    book: Book, state: State, params: Params, task: int, draw: Draw, available: Array, out: Proposal
) -> None:
    """Sample every crowd's gap, propose the largest per root of price."""
    largest_sample(book, state, params, task, draw, available, out)
    out.odds[0] = np.nan


@policies.register("virt-thompson")
@dataclass(frozen=True)
class VirtThompson(SamplingPolicy):
    """Draw each crowd's gap from its posterior and ask the largest draw per square root of price.

    Two options: an accuracy from Beta(1 + votes of the crowd's leader, 1 + votes of the other), and
    its gap, twice the accuracy less 1. More: Dirichlet (1 + votes), and the gap of the drawn
    distribution.

    Parameters
    ----------
    reward : "gap" or "accuracy"
        What is divided by the root of the price, with two options. ``accuracy`` is the draw itself,
        as the paper words it: a crowd that guesses then has half the reward of the best crowd, and
        is asked for ever if it costs a quarter as much. It does better where the best crowd is the
        cheap one.
    discount : float
        Factor by which each new answer to a question reduces the weight of the earlier ones; below
        1 for crowds that drift.
    prior : float
        Maximum number of answers that a crowd's record on closed questions counts for; 0 ignores
        the record.
    open_at_once : int, optional
        Maximum number of questions under way, not counting those that wait for an answer; 1
        finishes one question after the other. By default all open questions take turns.
    free_price : float
        Price at which a free crowd is ranked, as a share of the lowest price above 0.

    Assumes that all crowds have the same right option. It never sees which one that is: the
    paper's curves for it come out only if the posterior is told.

    Not when decisions need a stated propensity: a Thompson draw has none in closed form.
    Not for very many crowds and options: a decision draws a number for each pair of them, and
    50,000 pairs are the limit.

    References
    ----------
    Paper 004, section 4.1 (algorithm 2).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("panel", "0.10"), Worker("vendor", "0.05")],
    ...     tasks=["q"],
    ...     options=["no", "yes"],
    ...     policy="virt-thompson",
    ...     stopping="composite",
    ...     seed=1,
    ... )
    >>> campaign.ask()[0].propensity is None
    True
    """

    notes: ClassVar[tuple[str, ...]] = ("largest sample",)
    rule: ClassVar[str] = (
        "of the question asked least, draw each crowd's gap from what is believed of it and ask "
        "the largest draw per root of its price"
    )
    reward: str = field(default="gap", kw_only=True, metadata=LATER)
    kernels: ClassVar[Kernels] = Kernels(common.choosing(propose_largest_sample), learn)
    ranks_by: ClassVar = sampled_index

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.reward, "reward", ("gap", "accuracy"))

    def params(self) -> Params:
        """As plain numbers."""
        return Params(self.memory(), self.terms(), self.reward == "accuracy")
