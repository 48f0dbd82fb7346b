"""Thompson's heuristic over mixtures of crowds, at any prices: beyond paper 004."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askwise.core.draws import gamma
from askwise.kernels import Array, Draw, kernel, uniform
from askwise.ledger import Book, Proposal, cell_of, money_left
from askwise.ledger import columns as c
from askwise.policies.base import Kernels, policies
from askwise.policies.crowds import common
from askwise.policies.crowds.common import Memory, Params, SamplingPolicy, State, learn
from askwise.policies.crowds.mixtures import MOST_MIXTURES, best_mixture_any, mixtures_tried
from askwise.policies.crowds.non_adaptive import draw_crowd
from askwise.policies.crowds.virt_thompson import first_leader, shape


@kernel
def sample_responses(
    book: Book, state: State, memory: Memory, task: int, draw: Draw, responses: Array
) -> None:
    """Draw each crowd's distribution over the options from its Dirichlet posterior."""
    options = book.totals[c.OPTIONS]
    for worker in range(book.totals[c.WORKERS]):
        cell = cell_of(book, task, worker)
        leader = first_leader(book, state, task, cell)
        total = 0.0
        for option in range(options):
            a = shape(book, state, memory, worker, cell, option, leader)
            drawn = gamma(draw, 64 * (worker * options + option), a)
            responses[worker, option] = drawn
            total += drawn
        for option in range(options):
            responses[worker, option] /= total


@kernel
def draw_from_best(
    book: Book, state: State, params: Params, task: int, draw: Draw, available: Array, out: Proposal
) -> None:
    """Sample distributions, find their best mixture, draw a crowd from it."""
    crowds, options = book.totals[c.WORKERS], book.totals[c.OPTIONS]
    responses = np.empty((crowds, options))
    sample_responses(book, state, params.memory, task, draw, responses)
    prices = np.empty(crowds)
    usable = np.zeros(crowds, np.int8)
    money = money_left(book.totals)
    unit = common.price_unit(book)
    for worker in range(crowds):
        prices[worker] = common.ranked_price(book, worker, unit, params.terms)
        if common.may_ask(book, task, worker, money, available):
            usable[worker] = 1
    scratch = np.empty(crowds)
    weights = np.empty(crowds)
    best_mixture_any(responses, prices, usable, scratch, weights)
    # Beyond all indices that the samples use.
    chance = uniform(draw, 64 * crowds * options)
    draw_crowd(book, weights, task, chance, available, out)
    out.odds[0] = np.nan


@policies.register("lp-thompson")
@dataclass(frozen=True)
class LpThompson(SamplingPolicy):
    """Draw every crowd's answers from their posterior, and ask from the best mixture for them.

    Each crowd's distribution over the options is drawn from Dirichlet(1 + votes). Of all
    mixtures of crowds the one with the largest gap per root of its mean price is found (a small
    linear program, by its vertices), and a crowd is drawn from it.

    Parameters
    ----------
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

    Assumes that all crowds have the same right option. Goes with rules that see all answers as
    one source or join the crowds' evidence (``gap``, ``posterior``, ``joint-glr``). Mixtures of
    up to three crowds are searched, which is exact for up to four options.

    Not with two options: there the best mixture is a single crowd (Lemma 7), and
    ``virt-thompson`` finds it with less. Not with many crowds and options: the search goes over
    all triples of both, and 300,000 mixtures are the limit (3 options and 447 crowds, 4 and 74,
    10 and 13).

    References
    ----------
    Beyond paper 004: its first open question (the randomized benchmark, unequal prices).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 3)],
    ...     tasks=["q"],
    ...     options=["x", "y", "z"],
    ...     policy="lp-thompson",
    ...     stopping="gap",
    ...     seed=1,
    ... )
    >>> campaign.ask()[0].worker in ("a", "b")
    True
    """

    paper: ClassVar[str] = "beyond 004"
    notes: ClassVar[tuple[str, ...]] = ("drawn from the best mixture of a sample",)
    rule: ClassVar[str] = (
        "of the question asked least, draw each crowd's answers from what is believed of them, "
        "find the mixture of crowds with the largest gap per root of price, draw a crowd from it"
    )
    kernels: ClassVar[Kernels] = Kernels(common.choosing(draw_from_best), learn)

    def check_size(self, options: int, workers: int) -> None:
        """Refuse more mixtures than a decision can try."""
        super().check_size(options, workers)
        self.refuse_size(
            f"the number of mixtures with {options} options and {workers} workers",
            mixtures_tried(options, workers), MOST_MIXTURES, "workers",
            "use 'virt-thompson', fewer crowds, or fewer options",
        )  # fmt: skip
