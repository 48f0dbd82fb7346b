"""Knowledge gradient: look at a worker only as long as the look is worth its price."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from askwise.kernels import Array, Draw, kernel
from askwise.kernels.knapsack.ordering import ascending
from askwise.ledger import Book, Ledger, Proposal, money_left, propose, room
from askwise.ledger import columns as c
from askwise.policies.base import Kernels, policies
from askwise.policies.bounded import common
from askwise.policies.bounded.common import (
    COUNT,
    PATIENCE,
    Indices,
    ScreeningParams,
    ScreeningPolicy,
    State,
)
from askwise.policies.bounded.pooling import pool_of, posterior

LONGEST_LOOK = 64

HOPE = 2.0
"""Deviations above what is believed of workers up to which they may be worth something."""

SCREEN, LOOK, PLAN = range(3)


class Spending(NamedTuple):
    """How the money left would be spent: who is densest, what each could take and is given."""

    order: Array
    densities: Array
    capital: Array
    shares: Array
    last: int
    """The place in the order of the last who is given something."""
    money: int
    kept: int = 0
    """What of the money nobody is given."""
    below: int = 0
    """Whether utilities can be below zero: keeping money then is a choice too."""


@kernel
def linear_loss(gap: float, deviation: float) -> float:
    """E max(0, Z - gap) for Z normal with mean 0: what a chance to change one's mind is worth."""
    if deviation <= 0.0:
        return max(0.0, -gap)
    z = gap / deviation
    density = math.exp(-0.5 * z * z) * 0.3989422804014327
    return deviation * (density - z * 0.5 * math.erfc(z * 0.7071067811865476))


@kernel
def choose(
    book: Book, state: State, params: ScreeningParams, draw: Draw, available: Array, out: Proposal
) -> int:
    """Screen cheaply; then the look that gains most per price, or the plan where none pays."""
    beliefs, totals = state.beliefs, book.totals
    count = totals[c.WORKERS]
    money = money_left(totals)
    pool = pool_of(book, beliefs)
    densities, variances, noises, sort_key = out.real[0], out.real[1], out.real[2], out.real[3]
    rooms, shares, capital = out.whole[3], out.whole[1], out.whole[2]
    for worker in range(count):
        level, variances[worker], noises[worker] = posterior(book, beliefs, pool, worker)
        price = book.workers[worker, c.PRICE]
        densities[worker] = level / price
        rooms[worker] = room(book, worker, money)
        capital[worker] = 0
        if rooms[worker] > 0:
            # All the money the worker could take: whole units, but for a remainder below one.
            capital[worker] = rooms[worker] * price
            if money - capital[worker] < price:
                capital[worker] = money
        sort_key[worker] = -densities[worker]
    order = ascending(sort_key[:count])
    last = plan_money(order, densities, capital, money, shares)
    kept = money
    for worker in range(count):
        kept -= shares[worker]
    below = int(book.scale[c.ZERO] > 0.0)
    plan = Spending(order, densities, capital, shares, last, money, kept, below)
    screened = whom_to_screen(book, beliefs, plan, params.screen, available, out)
    if screened >= 0:
        out.head[1] = SCREEN
        propose(out, -1, screened, 1, 1.0)
        return c.PROPOSED
    if totals[c.PENDING] > 0 and nothing_known(book, beliefs):
        return c.WAIT_ANSWERS
    best, best_units, best_rate = -1, 0, 0.0
    for worker in range(count):
        if available[worker] == 0 or rooms[worker] <= 0:
            continue
        most, price = rooms[worker], book.workers[worker, c.PRICE]
        if shares[worker] > 0:
            # Those in the plan are looked at within their part of it.
            most = min(most, max(1, shares[worker] // price))
        units, rate = best_look(plan, worker, price, variances[worker], noises[worker], most)
        if rate > best_rate:
            best, best_units, best_rate = worker, units, rate
    if best >= 0:
        out.head[1] = LOOK
        propose(out, -1, best, min(best_units, rooms[best]), 1.0)
        return c.PROPOSED
    # No look is worth anything: the densest of the plan.
    out.head[1] = PLAN
    if common.propose_densest(book, beliefs, densities, 0.0, available, PATIENCE, 1.0, out):
        return c.PROPOSED
    hopeful = most_hopeful(book, densities, variances, available)
    if hopeful >= 0:
        out.head[1] = LOOK
        propose(out, -1, hopeful, 1, 1.0)
        return c.PROPOSED
    return common.at_end(book, available)


@kernel
def most_hopeful(book: Book, densities: Array, variances: Array, available: Array) -> int:
    """Of workers believed to be below zero, the one who may be furthest above it; -1: nobody may.

    A campaign does not end as worthless on a first bad answer: the plan's gains are those of normal
    beliefs, whose tails are thin. While answers are out, they may dash the hope.
    """
    best, highest, money = -1, 0.0, money_left(book.totals)
    if book.totals[c.PENDING] > 0:
        return best
    for worker in range(book.totals[c.WORKERS]):
        deviation = math.sqrt(variances[worker]) / book.workers[worker, c.PRICE]
        upper = densities[worker] + HOPE * deviation
        if available[worker] == 1 and upper > highest and room(book, worker, money) > 0:
            best, highest = worker, upper
    return best


@kernel
def whom_to_screen(
    book: Book, beliefs: Array, plan: Spending, share: int, available: Array, out: Proposal
) -> int:
    """The cheapest who had no unit yet and might earn a place in the plan; -1: nobody.

    Might: the best utility of the range, per price, is more than the least dense of those who
    have answered is believed to be, if they would use up the money. Within the share of the
    budget that is kept for screening.
    """
    left = common.allowance_for(book, share)
    margin, money = 0.0, plan.money
    for worker in plan.order:
        known = beliefs[worker, COUNT] > 0.0 or book.ratings[worker, c.WEIGHT] > 0.0
        if known and plan.densities[worker] >= 0.0 and plan.capital[worker] > 0 and money > 0:
            money -= plan.capital[worker]
            margin = plan.densities[worker]
    if money > 0:
        margin = 0.0
    best = 1.0 - book.scale[c.ZERO]
    for worker in common.cheapest_first(book, out):
        price = book.workers[worker, c.PRICE]
        if price > left or best / price <= margin:
            break
        if (
            book.workers[worker, c.ASKED] == 0
            and book.ratings[worker, c.WEIGHT] == 0.0
            and available[worker] == 1
            and room(book, worker, left) > 0
        ):
            return worker
    return -1


@kernel
def nothing_known(book: Book, beliefs: Array) -> bool:
    """Whether no worker has answered yet and none came with a rating."""
    for worker in range(book.totals[c.WORKERS]):
        if beliefs[worker, COUNT] > 0.0 or book.ratings[worker, c.WEIGHT] > 0.0:
            return False
    return True


@kernel
def plan_money(order: Array, densities: Array, capital: Array, money: int, shares: Array) -> int:
    """Give the money to the densest first, to nobody below zero; returns the last one's place."""
    last = 0
    for at in range(len(order)):
        worker = order[at]
        shares[worker] = min(capital[worker], money) if densities[worker] >= 0.0 else 0
        money -= shares[worker]
        if shares[worker] > 0:
            last = at
    return last


@kernel
def best_look(
    plan: Spending, worker: int, price: int, variance: float, noise: float, most: int
) -> tuple[int, float]:
    """The number of further units of a worker (1, 2, 4, ...) that gains most per price."""
    # Where the plan leaves money over, a look costs what it would have kept.
    marginal = max(0.0, plan.densities[plan.order[plan.last]])
    best_units, best_rate = 0, 0.0
    units = 1
    while units <= LONGEST_LOOK and units <= most:
        after = 1.0 / (1.0 / variance + units / noise)
        deviation = math.sqrt(max(0.0, variance - after)) / price
        cost = float(units * price)
        gain = value_of_change(plan, worker, deviation) * max(0.0, 1.0 - cost / plan.money)
        loss = cost * max(0.0, marginal - plan.densities[worker])
        rate = (gain - loss) / cost
        if rate > best_rate:
            best_units, best_rate = units, rate
        units *= 2
    return best_units, best_rate


@kernel
def value_of_change(plan: Spending, worker: int, deviation: float) -> float:
    """What the plan can gain when a worker's density moves by a normal deviation.

    Moving up, the worker wins money from the least dense of the plan; moving down, they lose
    what they have to the densest outside it. Money that the plan keeps counts as a worker of
    density zero. Beyond six deviations nothing is gained.
    """
    if deviation <= 0.0:
        return 0.0
    order, densities, capital, shares = plan.order, plan.densities, plan.capital, plan.shares
    gain = 0.0
    own = densities[worker]
    wins = capital[worker] - shares[worker]
    if plan.below == 1:
        moved = min(wins, plan.kept)
        gain += moved * linear_loss(max(-own, 0.0), deviation)
        wins -= moved
    for at in range(plan.last, -1, -1):
        other = order[at]
        if wins <= 0:
            break
        if other == worker or shares[other] == 0:
            continue
        gap = densities[other] - own
        if gap > 6.0 * deviation:
            break
        moved = min(wins, shares[other])
        gain += moved * linear_loss(max(gap, 0.0), deviation)
        wins -= moved
    loses = shares[worker]
    for other in order:
        if loses <= 0:
            break
        spare = capital[other] - shares[other]
        if other == worker or spare <= 0:
            continue
        if densities[other] < 0.0:
            break
        gap = own - densities[other]
        if gap > 6.0 * deviation:
            break
        moved = min(loses, spare)
        gain += moved * linear_loss(max(gap, 0.0), deviation)
        loses -= moved
    if plan.below == 1:
        gain += loses * linear_loss(own, deviation)
    return gain


@policies.register("knowledge-gradient")
@dataclass(frozen=True)
class KnowledgeGradient(ScreeningPolicy):
    """Ask the workers whose next answers improve the remaining plan most per unit of cost.

    Every worker's quality is a normal posterior shrunk to what the workers have in common
    (their utility, or their utility per price where answers clearly follow prices).
    The cheapest are tried first, one unit each, as long as the best utility of the range would
    earn them a place in the plan. The money left is planned by posterior utility per price. A
    look of 1, 2, 4, ... 64 units at a worker is worth what the plan is expected to gain when
    the estimate moves, less what the looked-at units earn below the plan's margin. Where no look
    pays, the plan goes on. It ends as worthless where everybody is believed to be below zero by
    more than two deviations.

    Parameters
    ----------
    screen : float
        Largest share of the budget that trying workers out (one unit each, the cheapest first) may
        cost.
    discount : float
        Factor by which each new answer reduces the weight of all earlier ones; below 1 for workers
        whose quality drifts.

    Assumes utilities about a worker's own mean with noise of a similar size. A
    ``Worker(rating=, rating_weight=)`` is used as prior. Needs a utility after each answer.

    Not for feedback that never comes: its looks pay only when they are answered. Not for
    utilities that are mostly small and rarely huge: a few answers then tell little, and it
    stops looking too early (``simplified-bounded-kube`` goes on).

    References
    ----------
    Beyond paper 003. P. Frazier, W. Powell, S. Dayanik, "A knowledge-gradient policy for
    sequential information collection", SIAM J. Control Optim. 47 (2008).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 2)],
    ...     outcome="utility",
    ...     budget=30,
    ...     policy="knowledge-gradient",
    ... )
    >>> [each.worker for each in campaign.ask(limit=9)]
    ['a', 'b']
    """

    notes: ClassVar[tuple[str, ...]] = ("screen", "look", "plan")
    rule: ClassVar[str] = (
        "screen everyone cheaply, then ask the worker whose next answers improve the remaining "
        "plan most per unit of cost"
    )
    kernels: ClassVar[Kernels] = Kernels(choose, common.learn_fading)

    def indices(self, state: State, ledger: Ledger, draw: Draw) -> Indices:
        """Posterior utility per price, with its mean and deviation."""
        low, high = ledger.problem.range
        zero = ledger.problem.zero
        pool = pool_of(ledger.book, state.beliefs)
        for at in range(len(ledger.workers)):
            level, variance, _ = posterior(ledger.book, state.beliefs, pool, at)
            details = {
                "believed": zero + (high - low) * float(level),
                "deviation": (high - low) * math.sqrt(float(variance)),
            }
            yield float(level) / common.price_of(ledger, at), details
