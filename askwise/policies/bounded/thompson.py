"""Thompson sampling by density: beyond the paper."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from askwise.core.checks import whole
from askwise.core.draws import beta
from askwise.core.money import MICRO
from askwise.kernels import Array, Draw, kernel
from askwise.ledger import Book, Ledger, Proposal
from askwise.ledger import columns as c
from askwise.policies.base import Kernels, policies
from askwise.policies.bounded import common
from askwise.policies.bounded.common import COUNT, SUM, BoundedPolicy, Indices, State


class Params(NamedTuple):
    """Discount of old answers; how many answers earn one more unit at a time."""

    discount: float
    patience: int


@kernel
def shape(book: Book, state: State, worker: int) -> tuple[float, float]:
    """The two parameters of the worker's Beta posterior."""
    count, total = state.beliefs[worker, COUNT], state.beliefs[worker, SUM]
    weight = book.ratings[worker, c.WEIGHT]
    # Utilities in [0, 1] update the posterior by fractions; a rating counts like answers.
    a = 1.0 + total + weight * book.ratings[worker, c.RATING]
    b = 1.0 + (count - total) + weight * (1.0 - book.ratings[worker, c.RATING])
    return a, max(b, 1e-9)


@kernel
def sampled_density(book: Book, state: State, draw: Draw, worker: int) -> float:
    """A draw from the worker's Beta posterior, above zero and per price."""
    a, b = shape(book, state, worker)
    return (beta(draw, worker, a, b) - book.scale[c.ZERO]) / book.workers[worker, c.PRICE]


@kernel
def surely_below_zero(book: Book, state: State, worker: int) -> bool:
    """Whether two deviations above a worker's posterior mean there is still nothing."""
    a, b = shape(book, state, worker)
    level = a / (a + b)
    deviation = math.sqrt(level * (1.0 - level) / (a + b + 1.0))
    return level + 2.0 * deviation < book.scale[c.ZERO]


@kernel
def choose(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Sample everyone, ask the densest who can be asked."""
    densities = out.real[0]
    for worker in range(book.totals[c.WORKERS]):
        densities[worker] = -math.inf
        if available[worker] == 1 and not surely_below_zero(book, state, worker):
            densities[worker] = sampled_density(book, state, draw, worker)
    # A draw may be below zero; only those who surely are have none.
    least = -math.inf
    if common.propose_densest(
        book, state.beliefs, densities, least, available, params.patience, np.nan, out
    ):
        return c.PROPOSED
    return common.at_end(book, available)


@policies.register("thompson-knapsack")
@dataclass(frozen=True)
class ThompsonKnapsack(BoundedPolicy):
    """Sample each worker's quality from its posterior and ask the best sample per price.

    A Beta posterior per worker; utilities between 0 and 1 update it by fractions. The worker
    with the best sampled utility per price who still fits is asked, ``max(1, n // patience)``
    units at a time after n answers. Those who are two deviations below zero are left out.

    Parameters
    ----------
    discount : float
        Factor by which each new answer reduces the weight of all earlier ones; below 1 for workers
        whose quality drifts (.99 forgets in about a hundred answers).
    patience : int
        After n answers a decision covers n // patience units, at least one; 0 decides after every
        unit.

    Assumes independent utilities per worker. A ``Worker(rating=, rating_weight=)`` is used as
    prior. Needs a utility after each answer; several may be out at once.

    Not when decisions need a stated propensity: a Thompson draw has none in closed form. Not
    with a range far wider than what workers deliver: a Beta posterior learns from the value's
    place in the range, and then everybody looks alike (``knowledge-gradient`` adapts).

    References
    ----------
    Beyond paper 003, whose conclusions ask for belief models and for drifting workers.
    Y. Xia et al., "Thompson sampling for budgeted multi-armed bandits", IJCAI 2015.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> workers = [Worker("a", 1, rating=0.9, rating_weight=50), Worker("b", 1)]
    >>> campaign = Campaign.create(
    ...     workers=workers, outcome="utility", budget=9, seed=1, policy="thompson-knapsack"
    ... )
    >>> campaign.ask()[0].worker
    'a'
    """

    discount: float = 1.0
    patience: int = common.PATIENCE
    needs_budget: ClassVar[bool] = False
    paper: ClassVar[str] = "beyond 003"
    notes: ClassVar[tuple[str, ...]] = ("best sample per price",)
    rule: ClassVar[str] = (
        "draw each worker's quality from what is believed of it, ask the best draw per price"
    )
    kernels: ClassVar[Kernels] = Kernels(choose, common.learn_fading)

    def __post_init__(self) -> None:
        common.check_discount(self.discount)
        whole(self.patience, "patience", least=0)

    def params(self) -> Params:
        """As plain numbers."""
        return Params(float(self.discount), int(self.patience))

    def indices(self, state: State, ledger: Ledger, draw: Draw) -> Indices:
        """The sampled utility per price that the choice was made by."""
        low, high = ledger.problem.range
        for at in range(len(ledger.workers)):
            density = float(sampled_density(ledger.book, state, draw, at)) * MICRO
            above = density * common.price_of(ledger, at)
            yield density, {"sample": ledger.problem.zero + (high - low) * above}
