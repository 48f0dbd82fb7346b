"""Gittins index by density: an optimism that shrinks with the money left."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from askwise.kernels import Array, Draw, kernel, step
from askwise.kernels.knapsack.ordering import ascending
from askwise.ledger import Book, Ledger, Proposal, money_left, propose, room
from askwise.ledger import columns as c
from askwise.policies.base import Kernels, policies
from askwise.policies.bounded import common
from askwise.policies.bounded.common import (
    COUNT,
    Indices,
    ScreeningParams,
    ScreeningPolicy,
    State,
)
from askwise.policies.bounded.pooling import (
    LEAST_SPREAD,
    lowest_price,
    seen,
    size_of,
    squares_about_mean,
    unit_of,
)

SCREEN, INDEX = range(2)


class Prior(NamedTuple):
    """What is believed of workers before they answer: of utility, or of utility per price.

    Above zero, in units of the range: the mean, the spread of workers' qualities about it, how
    far it may be off itself, the noise of an answer; what of the workers' squared relative
    differences it does not explain, and how many workers it rests on.
    """

    mean: float
    spread: float
    doubt: float
    noise: float
    unexplained: float
    workers: float


class Priors(NamedTuple):
    """Both priors, the chance that the second is right, and the price that prices count in."""

    flat: Prior
    by_price: Prior
    chance: float
    lowest: int


@step
def gittins_bonus(s: float) -> float:
    """Deviations to add to a posterior mean that may still be used for long.

    ``s`` is the answers to come times the variance, over the noise of one. Brezzi and Lai (2002),
    section 2, on the index of a normal mean.
    """
    if s <= 0.2:
        return math.sqrt(0.5 * s)
    root = math.sqrt(s)
    if s <= 1.0:
        return 0.49 - 0.11 / root
    if s <= 5.0:
        return 0.63 - 0.26 / root
    if s <= 15.0:
        return 0.77 - 0.58 / root
    return math.sqrt(2.0 * math.log(s) - math.log(math.log(s)) - math.log(16.0 * math.pi))


@kernel
def priors_of(book: Book, beliefs: Array) -> Priors:
    """Fit both priors, and weigh them by how well they explain those who have answered."""
    lowest = lowest_price(book)
    flat = prior_of(book, beliefs, lowest, 0)
    by_price = prior_of(book, beliefs, lowest, 1)
    # The ratio of the two normal likelihoods, each at the variance that fits it.
    freedom = max(0.0, flat.workers - 1.0)
    odds = 0.5 * freedom * math.log(flat.unexplained / by_price.unexplained)
    chance = 1.0 / (1.0 + math.exp(-min(30.0, max(-30.0, odds))))
    return Priors(flat, by_price, chance, lowest)


@kernel
def prior_of(book: Book, beliefs: Array, lowest: int, by_price: int) -> Prior:
    """Empirical Bayes by moments, all relative to the mean.

    As before any answer, noise is a third of the squared mean (a uniform utility), worth two
    answers; the spread is at least ``LEAST_SPREAD`` squared means, worth two workers.
    """
    count = book.totals[c.WORKERS]
    n, total, inverse = 0.0, 0.0, 0.0
    for worker in range(count):
        answers, own = seen(book, beliefs, worker, unit_of(book, worker, by_price, lowest))
        if answers > 0.0:
            n += 1.0
            total += own / answers
            inverse += 1.0 / answers
    mean, size = 0.5 - book.scale[c.ZERO], 0.5
    if n > 0.0:
        mean = total / n
        size = size_of(book, mean)
    within, freedom, between = 0.0, 0.0, 0.0
    for worker in range(count):
        unit = unit_of(book, worker, by_price, lowest)
        answers, own = seen(book, beliefs, worker, unit)
        if answers > 0.0:
            between += (own / answers - mean) * (own / answers - mean) / (size * size)
        told = beliefs[worker, COUNT]
        if told > 1.0:
            # Noise grows with the mean; nobody speaks for all, so ten answers are the most.
            level = max(size_of(book, own / answers), 0.01 * size)
            weight = min(told - 1.0, 10.0)
            squares = squares_about_mean(beliefs, worker, unit) / (told - 1.0)
            within += weight * squares / (level * level)
            freedom += weight
    noise = (within + 2.0 / 3.0) / (freedom + 2.0)
    others = max(0.0, n - 1.0)
    sampling = noise * inverse * others / max(n, 1.0)
    spread = (between - sampling + 2.0 * LEAST_SPREAD) / (others + 2.0)
    spread = max(spread, LEAST_SPREAD)
    doubt = (spread + (noise * inverse / n if n > 0.0 else noise)) / max(n, 1.0)
    unexplained = (between + 0.5) / (others + 1.0)
    square = size * size
    return Prior(mean, spread * square, doubt * square, noise * square, unexplained, n)


@kernel
def posterior(
    book: Book, beliefs: Array, prior: Prior, worker: int, unit: float
) -> tuple[float, float, float]:
    """Mean above zero, variance and noise of a worker under one prior.

    The noise is the worker's own, as if the prior had given them four more answers. Answers that
    are out are counted as if they had confirmed the mean. Nobody without an answer is believed
    to be outside the range.
    """
    noise, told = prior.noise, beliefs[worker, COUNT]
    if told > 1.0:
        noise = (squares_about_mean(beliefs, worker, unit) + 4.0 * noise) / (told + 3.0)
    answers, total = seen(book, beliefs, worker, unit)
    precision = 1.0 / prior.spread + answers / noise
    level = (prior.mean / prior.spread + total / noise) / precision
    out = book.workers[worker, c.ASKED] - book.workers[worker, c.ANSWERED]
    precision += out / noise
    # How much of the level is the prior's mean, which may be off.
    share = 1.0 / (prior.spread * precision)
    variance = 1.0 / precision + share * share * prior.doubt
    level, variance, noise = level * unit, variance * unit * unit, noise * unit * unit
    if answers == 0.0:
        worst, best = -book.scale[c.ZERO], 1.0 - book.scale[c.ZERO]
        level = min(best, max(worst, level))
        variance = min(variance, max((level - worst) * (best - level), 1e-9))
    return level, variance, noise


@kernel
def believed(book: Book, beliefs: Array, priors: Priors, worker: int) -> tuple[float, float, float]:
    """Mean above zero, variance and noise of a worker, the two priors mixed by their chances."""
    chance, unit = priors.chance, unit_of(book, worker, 1, priors.lowest)
    a, a_variance, a_noise = posterior(book, beliefs, priors.flat, worker, 1.0)
    b, b_variance, b_noise = posterior(book, beliefs, priors.by_price, worker, unit)
    variance = (1.0 - chance) * a_variance + chance * b_variance
    variance += chance * (1.0 - chance) * (a - b) * (a - b)
    noise = (1.0 - chance) * a_noise + chance * b_noise
    return (1.0 - chance) * a + chance * b, variance, noise


@kernel
def index_of(book: Book, beliefs: Array, priors: Priors, worker: int, units: int) -> float:
    """The worth above which a known one would be preferred, if a worker can still do ``units``."""
    level, variance, noise = believed(book, beliefs, priors, worker)
    bonus = math.sqrt(variance) * gittins_bonus(units * variance / noise)
    return min(level + bonus, 1.0 - book.scale[c.ZERO])


@kernel
def choose(
    book: Book, state: State, params: ScreeningParams, draw: Draw, available: Array, out: Proposal
) -> int:
    """Try out those who might be bargains; then the best index per price."""
    beliefs, totals = state.beliefs, book.totals
    money = money_left(totals)
    priors = priors_of(book, beliefs)
    best = whom_to_try(book, beliefs, priors, params.screen, available, out)
    if best >= 0:
        out.head[1] = SCREEN
        propose(out, -1, best, 1, 1.0)
        return c.PROPOSED
    highest = 0.0
    for worker in range(totals[c.WORKERS]):
        units = room(book, worker, money)
        if available[worker] == 0 or units <= 0:
            continue
        price = book.workers[worker, c.PRICE] / priors.lowest
        density = index_of(book, beliefs, priors, worker, units) / price
        if density >= 0.0 and (best < 0 or density > highest):
            best, highest = worker, density
    if best < 0:
        return common.at_end(book, available)
    out.head[1] = INDEX
    units = max(1, int(beliefs[best, COUNT]) // 8)
    propose(out, -1, best, min(units, room(book, best, money)), 1.0)
    return c.PROPOSED


@kernel
def whom_to_try(
    book: Book, beliefs: Array, priors: Priors, share: int, available: Array, out: Proposal
) -> int:
    """The cheapest who was never asked and may be better than the plan; -1: nobody.

    A prior fitted to a few who are alike knows nothing of rare bargains. So everybody is tried
    once whose price fits in the share for screening, and for whom the best utility of the range
    would be more per price than the least that the plan of those who have answered is paid for.
    """
    left = common.allowance_for(book, share)
    best, lowest = -1, 0
    for worker in range(book.totals[c.WORKERS]):
        price = book.workers[worker, c.PRICE]
        if (
            book.workers[worker, c.ASKED] == 0
            and book.ratings[worker, c.WEIGHT] == 0.0
            and available[worker] == 1
            and room(book, worker, left) > 0
            and (best < 0 or price < lowest)
        ):
            best, lowest = worker, price
    if best < 0:
        return best
    best_density = (1.0 - book.scale[c.ZERO]) / (lowest / priors.lowest)
    return best if best_density > margin_of(book, beliefs, priors, out) else -1


@kernel
def margin_of(book: Book, beliefs: Array, priors: Priors, out: Proposal) -> float:
    """Density of the last to be paid if the money left went to those who have answered."""
    count, money = book.totals[c.WORKERS], money_left(book.totals)
    minus_density = out.real[0]
    for worker in range(count):
        answers, _ = seen(book, beliefs, worker, 1.0)
        minus_density[worker] = 0.0
        if answers > 0.0:
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
    well they explain the answers. To the posterior mean comes a bonus that grows with what is
    not known and with the number of answers that the worker could still give for the money left,
    and so vanishes towards the end. Workers who were never asked are first tried once, cheapest
    up, as long as the best utility of the range would earn them a place in the plan.

    Parameters
    ----------
    screen : float
        Largest share of the budget that trying workers out may cost.
    discount : float
        Factor by which each new answer reduces the weight of all earlier ones; below 1 for workers
        whose quality drifts.

    Assumes utilities about a worker's own mean; noise may grow with it. A
    ``Worker(rating=, rating_weight=)`` is used as prior. Needs a utility after each answer.

    Not for feedback that never comes. Not where a decision must have a stated propensity below 1:
    it is deterministic.

    References
    ----------
    Beyond paper 003. J. Gittins, "Bandit processes and dynamic allocation indices", JRSS B 41
    (1979); M. Brezzi, T. L. Lai, "Optimal learning and experimentation in bandit problems",
    J. Economic Dynamics and Control 27 (2002).

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

    screen: float = 0.05
    notes: ClassVar[tuple[str, ...]] = ("screen", "best index per price")
    rule: ClassVar[str] = (
        "try everyone once who may be a bargain, then ask the best expected utility per price, "
        "with a bonus for what is not known yet and can still be used"
    )
    kernels: ClassVar[Kernels] = Kernels(choose, common.learn_fading)

    def indices(self, state: State, ledger: Ledger, draw: Draw) -> Indices:
        """The index per price, what is believed of the worker, and how surely."""
        low, high = ledger.problem.range
        book, beliefs = ledger.book, state.beliefs
        priors = priors_of(book, beliefs)
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
