"""What workers have in common, and what follows for each: empirical Bayes by moments."""

import math
from typing import NamedTuple

from askwise.kernels import Array, kernel, step
from askwise.ledger import Book
from askwise.ledger import columns as c
from askwise.policies.bounded.common import COUNT, SQUARES, SUM

LEAST_SPREAD = 0.12
"""The least variance of qualities, in squared means, that is believed of a crowd."""

ODDS = 3.0
"""How much more likely the answers must be if utilities follow prices, before that is believed."""


class Pool(NamedTuple):
    """What the workers have in common: mean, spread of their qualities, noise of an answer.

    In units of utility above zero or, when ``by_price`` is 1, of that per price. ``lowest`` is the
    price that prices are counted in, ``doubt`` how far the mean may be off itself, and
    ``unexplained`` what it leaves of the relative squared differences between ``workers``.
    """

    mean: float
    spread: float
    noise: float
    by_price: int
    lowest: int
    doubt: float
    unexplained: float
    workers: float


@kernel
def lowest_price(book: Book) -> int:
    """The unit of prices, so that the unit of money does not matter."""
    lowest = 0
    for worker in range(book.totals[c.WORKERS]):
        price = book.workers[worker, c.PRICE]
        if price > 0 and (lowest == 0 or price < lowest):
            lowest = price
    return max(lowest, 1)


@step
def unit_of(book: Book, worker: int, by_price: int, lowest: int) -> float:
    """What a worker's answers are measured in."""
    return book.workers[worker, c.PRICE] / lowest if by_price == 1 else 1.0


@step
def seen(book: Book, beliefs: Array, worker: int, unit: float, trust: float) -> tuple[float, float]:
    """Answers of a worker and their sum above zero; a rating counts as answers, so far trusted."""
    weight = trust * book.ratings[worker, c.WEIGHT]
    count = beliefs[worker, COUNT] + weight
    total = beliefs[worker, SUM] + weight * book.ratings[worker, c.RATING]
    return count, (total - count * book.scale[c.ZERO]) / unit


@step
def size_of(book: Book, mean: float) -> float:
    """What noise and spread are relative to: the mean, as long as nobody can be below zero.

    Where utilities may be below zero their mean says less of their size: it counts as no less
    than half of the range below zero.
    """
    return max(abs(mean), 0.5 * min(book.scale[c.ZERO], 1.0), 1e-9)


@step
def evidence(workers: float, flat: float, by_price: float) -> float:
    """Logarithm of how much more likely answers are if utilities follow prices.

    The ratio of the two normal likelihoods, each at the variance that fits it.
    """
    return 0.5 * max(0.0, workers - 1.0) * math.log(flat / by_price)


@kernel
def pool_of(book: Book, beliefs: Array) -> Pool:
    """Pool by utility, or by utility per price where the answers clearly speak for it."""
    flat, by_price = moments(book, beliefs, 0), moments(book, beliefs, 1)
    if evidence(flat.workers, flat.unexplained, by_price.unexplained) > math.log(ODDS):
        return by_price
    return flat


@kernel
def moments(book: Book, beliefs: Array, by_price: int) -> Pool:
    """Empirical Bayes by moments: pooled noise within workers, spread of means between them.

    What is assumed before anything is seen is relative to the mean, so that neither the range
    of the utility nor the unit of money matters: noise as of a uniform utility (a third of
    the squared mean), and a spread of at least ``LEAST_SPREAD`` squared means.
    """
    lowest = lowest_price(book)
    within, freedom = 0.0, 0.0
    n, total, inverse = 0.0, 0.0, 0.0
    for worker in range(book.totals[c.WORKERS]):
        unit = unit_of(book, worker, by_price, lowest)
        count = beliefs[worker, COUNT]
        if count > 1.0:
            # Nobody speaks for all: beyond ten answers their record is mostly their own noise.
            weight = min(count - 1.0, 10.0)
            within += weight * squares_about_mean(beliefs, worker, unit) / (count - 1.0)
            freedom += weight
        count, own = seen(book, beliefs, worker, unit, 1.0)
        if count > 0.0:
            n += 1.0
            total += own / count
            inverse += 1.0 / count
    middle, size = 0.5 - book.scale[c.ZERO], 0.5
    if n > 0.0:
        middle = total / n
        size = size_of(book, middle)
    square = size * size
    noise = (within + 2.0 * square / 3.0) / (freedom + 2.0)
    between = 0.0
    for worker in range(book.totals[c.WORKERS]):
        count, own = seen(book, beliefs, worker, unit_of(book, worker, by_price, lowest), 1.0)
        if count > 0.0:
            between += (own / count - middle) * (own / count - middle)
    relative = (between - noise * inverse) / n / square if n > 0.0 else 0.0
    spread = max(relative, LEAST_SPREAD) * square
    doubt = (spread + (noise * inverse / n if n > 0.0 else noise)) / max(n, 1.0)
    unexplained = (between / square + 0.5) / max(n, 1.0)
    return Pool(middle, spread, noise, by_price, lowest, doubt, unexplained, n)


@step
def squares_about_mean(beliefs: Array, worker: int, unit: float) -> float:
    """Sum of squared deviations of a worker's answers from their mean."""
    count, total = beliefs[worker, COUNT], beliefs[worker, SUM]
    return max(0.0, beliefs[worker, SQUARES] - total * total / count) / (unit * unit)


@kernel
def posterior(book: Book, beliefs: Array, pool: Pool, worker: int) -> tuple[float, float, float]:
    """Mean above zero and variance of a worker's quality, shrunk to the pool, and their noise.

    The noise is the worker's own, as if the pool had given them four more answers.
    """
    unit = unit_of(book, worker, pool.by_price, pool.lowest)
    noise, count = pool.noise, beliefs[worker, COUNT]
    if count > 1.0:
        own = squares_about_mean(beliefs, worker, unit)
        noise = (own + 4.0 * pool.noise) / (count + 3.0)
    count, total = seen(book, beliefs, worker, unit, 1.0)
    precision = 1.0 / pool.spread + count / noise
    level = (pool.mean / pool.spread + total / noise) / precision
    variance = 1.0 / precision
    if book.scale[c.ZERO] > 0.0:
        # The level is in part the pool's mean, which may be off: below zero that ends a campaign.
        share = 1.0 / (pool.spread * precision)
        variance += share * share * pool.doubt
    return level * unit, variance * unit * unit, noise * unit * unit
