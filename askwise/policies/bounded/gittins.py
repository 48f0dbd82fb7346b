"""Gittins index by density: an optimism that shrinks with the money left."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from askwise.core.checks import one_of
from askwise.kernels import Array, Draw, kernel
from askwise.kernels.knapsack.ordering import ascending
from askwise.ledger import Book, Ledger, Proposal, money_left, propose, room
from askwise.ledger import columns as c
from askwise.policies.base import Kernels, policies
from askwise.policies.bounded import common
from askwise.policies.bounded.common import PATIENCE, Indices, ScreeningPolicy, State
from askwise.policies.bounded.normal_index import normal_bonus
from askwise.policies.bounded.pooling import unit_of
from askwise.policies.bounded.priors import RATINGS, Priors, believed, known, priors_of

SCREEN, INDEX = range(2)


class Params(NamedTuple):
    """Share of the budget for screening; discount of old answers; what to make of ratings."""

    screen: int
    discount: float
    ratings: int


@kernel
def index_of(book: Book, beliefs: Array, priors: Priors, worker: int, units: int) -> float:
    """The worth above which a known one would be preferred, if a worker can still do ``units``."""
    level, variance, noise = believed(book, beliefs, priors, worker)
    bonus = math.sqrt(variance) * normal_bonus(variance / noise, float(units))
    return min(level + bonus, 1.0 - book.scale[c.ZERO])


@kernel
def choose(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Try out those who might be bargains; then the best index per price."""
    beliefs, totals = state.beliefs, book.totals
    money = money_left(totals)
    priors = priors_of(book, beliefs, params.ratings)
    best = whom_to_try(book, beliefs, priors, params.screen, available, out)
    if best >= 0:
        out.head[1] = SCREEN
        propose(out, -1, best, 1, 1.0)
        return c.PROPOSED
    densities = out.real[0]
    for worker in range(totals[c.WORKERS]):
        units = room(book, worker, money)
        densities[worker] = -math.inf
        if available[worker] == 1 and units > 0:
            price = book.workers[worker, c.PRICE] / priors.lowest
            densities[worker] = index_of(book, beliefs, priors, worker, units) / price
    out.head[1] = INDEX
    if common.propose_densest(book, beliefs, densities, 0.0, available, PATIENCE, 1.0, out):
        return c.PROPOSED
    return common.at_end(book, available)


@kernel
def whom_to_try(
    book: Book, beliefs: Array, priors: Priors, share: int, available: Array, out: Proposal
) -> int:
    """The cheapest who was never asked and is worth a try; -1: nobody.

    A prior fitted to those who were asked knows nothing of rare bargains. So everybody is tried
    once whose price fits in the share for screening and may well be repaid: see `repays`.
    """
    left, asked = common.share_of_budget(book, share), 0
    for worker in range(book.totals[c.WORKERS]):
        if book.workers[worker, c.ASKED] > 0:
            left -= book.workers[worker, c.PRICE]
            asked += 1
    left = min(left, money_left(book.totals))
    margin, best, lowest = -1.0, -1, 0
    for worker in range(book.totals[c.WORKERS]):
        price = book.workers[worker, c.PRICE]
        if (
            book.workers[worker, c.ASKED] > 0
            or available[worker] == 0
            or (best >= 0 and price >= lowest)
            or room(book, worker, left) <= 0
            or known(book, beliefs, priors, worker)
        ):
            continue
        if margin < 0.0:
            margin = margin_of(book, beliefs, priors, out)
        if repays(book, beliefs, priors, worker, margin, asked):
            best, lowest = worker, price
    return best


@kernel
def repays(
    book: Book, beliefs: Array, priors: Priors, worker: int, margin: float, asked: int
) -> bool:
    """Whether one who may be unlike all who were asked is worth the price of a try.

    By the rule of succession the next is unlike all ``asked`` before with a chance of one in
    ``asked + 1``; nothing is known of such a worker, so their utility is uniform up to the best of
    the range. What they would then earn above the margin, in all that they can still do, has to
    be more than what the try is believed to earn below it.
    """
    unit = unit_of(book, worker, 1, priors.lowest)
    best = 1.0 - book.scale[c.ZERO]
    above = best / unit - margin
    if above <= 0.0:
        return False
    level, _, _ = believed(book, beliefs, priors, worker)
    money = (room(book, worker, money_left(book.totals)) - 1) * unit
    gain = money * 0.5 * above * above * unit / best
    return gain >= (asked + 1.0) * (margin * unit - level)


@kernel
def margin_of(book: Book, beliefs: Array, priors: Priors, out: Proposal) -> float:
    """Density of the last to be paid if the money left went to those who are known."""
    count, money = book.totals[c.WORKERS], money_left(book.totals)
    minus_density = out.real[0]
    for worker in range(count):
        minus_density[worker] = 0.0
        if known(book, beliefs, priors, worker):
            level, _, _ = believed(book, beliefs, priors, worker)
            minus_density[worker] = min(0.0, -level / unit_of(book, worker, 1, priors.lowest))
    for worker in ascending(minus_density[:count]):
        if minus_density[worker] < 0.0:
            money -= room(book, worker, money) * book.workers[worker, c.PRICE]
            if money < book.workers[worker, c.PRICE]:
                return -minus_density[worker]
    return 0.0


@policies.register("gittins-knapsack")
@dataclass(frozen=True)
class GittinsKnapsack(ScreeningPolicy):
    """Ask the best Gittins index per price: expected utility plus what learning may still bring.

    Every worker's quality has a normal posterior. Its prior is fitted to all who have answered,
    twice: workers may be alike in utility or in utility per price, and both priors count by how
    well they explain the answers. The spread of qualities is believed to be two standard errors
    above its estimate. To the posterior mean comes the bonus of the Gittins index, for as many
    answers as the worker could still give for the money left: it grows with what is not known,
    and vanishes towards the end. Workers who were never asked are first tried once, cheapest up, as
    long as one unlike all before would repay the try.

    Parameters
    ----------
    screen : float
        Largest share of the budget that trying workers out may cost.
    discount : float
        Factor by which each new answer reduces the weight of all earlier ones; below 1 for workers
        whose quality drifts.
    ratings : "learned", "taken" or "ignored"
        What to make of ``Worker(rating=, rating_weight=)``: believe ratings as far as the answers
        of rated workers bear them out; take them for as many answers as they say; or leave them.

    Assumes utilities about a worker's own mean; noise may grow with it. Needs a utility after
    each answer.

    Not for feedback that never comes. Not where a decision must have a stated propensity below 1:
    it is deterministic.

    References
    ----------
    Beyond paper 003; ratings are among its future work (section 7). J. Gittins, "Bandit processes
    and dynamic allocation indices", JRSS B 41 (1979).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 2)],
    ...     outcome="utility",
    ...     budget=60,
    ...     policy="gittins-knapsack",
    ... )
    >>> [each.worker for each in campaign.ask(limit=2)]
    ['a', 'b']
    """

    ratings: str = "learned"
    notes: ClassVar[tuple[str, ...]] = ("screen", "best index per price")
    rule: ClassVar[str] = (
        "try everyone once who may be a bargain, then ask the best expected utility per price, "
        "with a bonus for what is not known yet and can still be used"
    )
    kernels: ClassVar[Kernels] = Kernels(choose, common.learn_fading)

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.ratings, "ratings", RATINGS)

    def params(self) -> Params:
        """As plain numbers."""
        share = common.share_of(self.screen, "screen")
        return Params(share, float(self.discount), RATINGS.index(self.ratings))

    def indices(self, state: State, ledger: Ledger, draw: Draw) -> Indices:
        """The index per price, what is believed of the worker, and how surely."""
        low, high = ledger.problem.range
        book, beliefs = ledger.book, state.beliefs
        priors = priors_of(book, beliefs, RATINGS.index(self.ratings))
        money = int(money_left(book.totals))
        for at in range(len(ledger.workers)):
            level, variance, _ = believed(book, beliefs, priors, at)
            units = int(room(book, at, money))
            index = float(index_of(book, beliefs, priors, at, units)) if units > 0 else None
            details = {
                "believed": ledger.problem.zero + (high - low) * float(level),
                "deviation": (high - low) * math.sqrt(float(variance)),
                "room": float(units),
            }
            yield (None if index is None else index / common.price_of(ledger, at)), details
