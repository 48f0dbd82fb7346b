"""Randomized round-robin: crowds drawn by one over their price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from askwise.core.arrays import Array
from askwise.core.compiling import kernel
from askwise.core.draws import Draw, uniform
from askwise.ledger import Book, Proposal, idle
from askwise.ledger import columns as c
from askwise.policies.base import Kernels, policies
from askwise.policies.crowds.common import (
    Nothing,
    SurveyPolicy,
    learn_nothing,
    next_question,
    price_unit,
    ranked_price,
)
from askwise.policies.crowds.non_adaptive import Params, draw_crowd


@kernel
def draw_by_price(book: Book, task: int, draw: Draw, available: Array, out: Proposal) -> None:
    """Propose a crowd drawn with probability proportional to one over its price."""
    weights = out.real[0]
    unit = price_unit(book)
    for worker in range(book.totals[c.WORKERS]):
        weights[worker] = 1.0 / ranked_price(book, worker, unit)
    draw_crowd(book, weights, task, uniform(draw, 0), available, out)


@kernel
def choose(
    book: Book, state: Nothing, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Draw by one over price."""
    task = next_question(book, available)
    if task < 0:
        return idle(book, available)
    draw_by_price(book, task, draw, available, out)
    return c.PROPOSED


@policies.register("rand-rr")
@dataclass(frozen=True)
class RandRr(SurveyPolicy):
    """Draw the crowd for each answer with probability proportional to one over its price.

    Among all fixed distributions the one that does best against the worst question: spending is
    then equal on all crowds (Theorem 5). A crowd that costs nothing is drawn as if it cost a
    hundredth of the cheapest.

    Assumes nothing about quality and learns nothing.

    Not for saving money: it is the yardstick of the paper's experiments.

    References
    ----------
    Paper 004, section 4.3 (RandRR), Theorem 5 and footnote 7.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 3)],
    ...     tasks=["q"],
    ...     options=["no", "yes"],
    ...     policy="rand-rr",
    ...     seed=1,
    ... )
    >>> campaign.ask()[0].propensity in (0.75, 0.25)
    True
    """

    notes: ClassVar[tuple[str, ...]] = ("drawn",)
    rule: ClassVar[str] = "of the question asked least, ask a crowd drawn by one over its price"
    kernels: ClassVar[Kernels] = Kernels(choose, learn_nothing)

    def params(self) -> Params:
        """Nothing to set."""
        return Params(0)
