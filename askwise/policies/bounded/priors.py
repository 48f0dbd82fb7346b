"""What is believed of workers before they answer, fitted to those who have; and of each after."""

import math
from typing import NamedTuple

from askwise.kernels import Array, kernel, step
from askwise.ledger import Book
from askwise.ledger import columns as c
from askwise.policies.bounded.common import COUNT, SUM
from askwise.policies.bounded.pooling import (
    evidence,
    lowest_price,
    seen,
    size_of,
    squares_about_mean,
    unit_of,
)

LEAST_SPREAD = 0.03
"""The least variance of qualities, in squared means, that is believed of a crowd."""

ERRORS = 2.0
"""Standard errors that the spread is believed to be above its estimate.

Too small a spread ends the search for good; one that is too large costs a few answers. A normal
crowd's variance has a relative error of sqrt(2 / n), one with exponential tails twice that.
"""

KNOWN = 0.5
"""Answers, faded or stated by a rating, from which on a worker counts among those seen."""

RATINGS = ("learned", "taken", "ignored")
LEARNED, TAKEN, IGNORED = range(3)
"""What to make of ratings: learn how far they are right, take them as they are, or leave them."""

TRUSTS = (1.0, 1 / 4, 1 / 16, 0.0)
"""Parts of their stated weight that ratings may deserve."""

BELIEVED = (0.85, 0.05, 0.05, 0.05)
"""How probable each part is before any rated worker has answered."""


class Prior(NamedTuple):
    """What is believed of workers before they answer: of utility, or of utility per price.

    Above zero, in units of the range: the mean, the spread of workers' qualities about it, how
    far it may be off itself, the noise of an answer; what of the workers' squared relative
    differences it does not explain, how many workers it rests on, and the part of their weight
    that ratings deserve.
    """

    mean: float
    spread: float
    doubt: float
    noise: float
    unexplained: float
    workers: float
    trust: float


class Priors(NamedTuple):
    """Both priors, the chance that the second is right, and the price that prices count in."""

    flat: Prior
    by_price: Prior
    chance: float
    lowest: int


@kernel
def priors_of(book: Book, beliefs: Array, ratings: int) -> Priors:
    """Fit both priors, and weigh them by how well they explain those who have answered."""
    lowest = lowest_price(book)
    flat = prior_of(book, beliefs, lowest, 0, ratings)
    by_price = prior_of(book, beliefs, lowest, 1, ratings)
    odds = evidence(flat.workers, flat.unexplained, by_price.unexplained)
    chance = 1.0 / (1.0 + math.exp(-min(30.0, max(-30.0, odds))))
    return Priors(flat, by_price, chance, lowest)


@kernel
def prior_of(book: Book, beliefs: Array, lowest: int, by_price: int, ratings: int) -> Prior:
    """Fit one prior; where ratings are to be judged, first to the answers alone."""
    if ratings == TAKEN or not any_rated(book):
        return fitted(book, beliefs, lowest, by_price, 1.0)
    by_answers = fitted(book, beliefs, lowest, by_price, 0.0)
    if ratings == IGNORED:
        return by_answers
    trust = trust_in_ratings(book, beliefs, lowest, by_price, by_answers)
    return fitted(book, beliefs, lowest, by_price, trust)


@kernel
def any_rated(book: Book) -> bool:
    """Whether somebody came with a rating."""
    for worker in range(book.totals[c.WORKERS]):
        if book.ratings[worker, c.WEIGHT] > 0.0:
            return True
    return False


@kernel
def fitted(book: Book, beliefs: Array, lowest: int, by_price: int, trust: float) -> Prior:
    """Empirical Bayes by moments, all relative to the mean.

    As before any answer, noise is a third of the squared mean (a uniform utility) and the spread
    ``LEAST_SPREAD`` squared means, worth two answers and two workers. The spread is then taken
    ``ERRORS`` of its standard errors higher.
    """
    count = book.totals[c.WORKERS]
    n, total, inverse = 0.0, 0.0, 0.0
    for worker in range(count):
        answers, own = seen(book, beliefs, worker, unit_of(book, worker, by_price, lowest), trust)
        if answers >= KNOWN:
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
        answers, own = seen(book, beliefs, worker, unit, trust)
        if answers >= KNOWN:
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
    if n > 0.0:
        spread += ERRORS * math.sqrt(2.0 / n) * (spread + noise * inverse / n)
    doubt = (spread + (noise * inverse / n if n > 0.0 else noise)) / max(n, 1.0)
    unexplained = (between + 0.5) / (others + 1.0)
    square = size * size
    return Prior(mean, spread * square, doubt * square, noise * square, unexplained, n, trust)


@kernel
def trust_in_ratings(book: Book, beliefs: Array, lowest: int, by_price: int, prior: Prior) -> float:
    """The expected part of their weight that ratings deserve.

    By how probable each of ``TRUSTS`` makes the mean answer of every rated worker who has
    answered, given their rating. Before that it is nearly all of it.
    """
    highest, total, part = -math.inf, 0.0, 0.0
    for at in range(len(TRUSTS)):
        fit = math.log(BELIEVED[at])
        for worker in range(book.totals[c.WORKERS]):
            told, weight = beliefs[worker, COUNT], book.ratings[worker, c.WEIGHT]
            if told > 0.0 and weight > 0.0:
                unit = unit_of(book, worker, by_price, lowest)
                found = (beliefs[worker, SUM] / told - book.scale[c.ZERO]) / unit
                rating = (book.ratings[worker, c.RATING] - book.scale[c.ZERO]) / unit
                fit += how_likely(prior, rating, weight * TRUSTS[at], found, told)
        if fit > highest:
            rescaled = math.exp(highest - fit)
            total, part, highest = total * rescaled, part * rescaled, fit
        likelihood = math.exp(fit - highest)
        total += likelihood
        part += TRUSTS[at] * likelihood
    return part / total


@step
def how_likely(prior: Prior, rating: float, weight: float, found: float, told: float) -> float:
    """Logarithm of the normal density of a mean of answers, given a rating of some weight."""
    precision = 1.0 / prior.spread + weight / prior.noise
    expected = (prior.mean / prior.spread + rating * weight / prior.noise) / precision
    share = 1.0 / (prior.spread * precision)
    variance = 1.0 / precision + share * share * prior.doubt + prior.noise / told
    return -0.5 * (math.log(variance) + (found - expected) * (found - expected) / variance)


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
    answers, total = seen(book, beliefs, worker, unit, prior.trust)
    precision = 1.0 / prior.spread + answers / noise
    level = (prior.mean / prior.spread + total / noise) / precision
    out = book.workers[worker, c.ASKED] - book.workers[worker, c.ANSWERED]
    precision += out / noise
    # How much of the level is the prior's mean, which may be off.
    share = 1.0 / (prior.spread * precision)
    variance = 1.0 / precision + share * share * prior.doubt
    level, variance, noise = level * unit, variance * unit * unit, noise * unit * unit
    if told == 0.0:
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


@step
def known(book: Book, beliefs: Array, priors: Priors, worker: int) -> bool:
    """Whether a worker's answers, or a rating that is believed, say something of them."""
    trust = min(priors.flat.trust, priors.by_price.trust)
    return seen(book, beliefs, worker, 1.0, trust)[0] >= KNOWN
