"""What workers have in common, and what follows for each: empirical Bayes by moments."""

from typing import NamedTuple

from askwise.core.money import MICRO
from askwise.kernels import Array, kernel
from askwise.ledger import Book
from askwise.ledger import columns as c
from askwise.policies.bounded.common import COUNT, SQUARES, SUM

LEAST_SPREAD = 0.12
"""The least variance of qualities, in squared means, that is believed of a crowd."""


class Pool(NamedTuple):
    """What the workers have in common: mean, spread of their qualities, noise of an answer.

    In units of utility or, when ``by_price`` is 1, of utility per price: whichever differs
    less from worker to worker.
    """

    mean: float
    spread: float
    noise: float
    by_price: int


@kernel
def unit_of(book: Book, worker: int, by_price: int) -> float:
    """What a worker's answers are measured in."""
    return book.workers[worker, c.PRICE] / MICRO if by_price == 1 else 1.0


@kernel
def seen(book: Book, beliefs: Array, worker: int, unit: float) -> tuple[float, float]:
    """Answers of a worker and their sum, a prior rating counted as so many answers."""
    weight = book.ratings[worker, c.WEIGHT]
    total = beliefs[worker, SUM] + weight * book.ratings[worker, c.RATING]
    return beliefs[worker, COUNT] + weight, total / unit


@kernel
def pool_of(book: Book, beliefs: Array) -> Pool:
    """Pool by utility or by utility per price, whichever has the smaller relative spread."""
    flat, by_price = moments(book, beliefs, 0), moments(book, beliefs, 1)
    if by_price.spread * flat.mean * flat.mean < flat.spread * by_price.mean * by_price.mean:
        return by_price
    return flat


@kernel
def moments(book: Book, beliefs: Array, by_price: int) -> Pool:
    """Empirical Bayes by moments: pooled noise within workers, spread of means between them.

    What is assumed before anything is seen is relative to the mean, so that neither the range
    of the utility nor the unit of money matters: noise as of a uniform utility (a third of
    the squared mean), and a spread of at least ``LEAST_SPREAD`` squared means.
    """
    within, freedom = 0.0, 0.0
    n, total, inverse = 0.0, 0.0, 0.0
    for worker in range(book.totals[c.WORKERS]):
        unit = unit_of(book, worker, by_price)
        count = beliefs[worker, COUNT]
        if count > 1.0:
            # Nobody speaks for all: beyond ten answers a worker tells of their own noise only.
            weight = min(count - 1.0, 10.0)
            within += weight * squares_about_mean(beliefs, worker, unit) / (count - 1.0)
            freedom += weight
        count, own = seen(book, beliefs, worker, unit)
        if count > 0.0:
            n += 1.0
            total += own / count
            inverse += 1.0 / count
    middle = max(total / n, 1e-9) if n > 0.0 else 0.5
    noise = (within + 2.0 * middle * middle / 3.0) / (freedom + 2.0)
    between = 0.0
    for worker in range(book.totals[c.WORKERS]):
        count, own = seen(book, beliefs, worker, unit_of(book, worker, by_price))
        if count > 0.0:
            between += (own / count - middle) * (own / count - middle)
    spread = (between - noise * inverse) / n if n > 0.0 else 0.0
    return Pool(middle, max(spread, LEAST_SPREAD * middle * middle), noise, by_price)


@kernel
def squares_about_mean(beliefs: Array, worker: int, unit: float) -> float:
    """Sum of squared deviations of a worker's answers from their mean."""
    count, total = beliefs[worker, COUNT], beliefs[worker, SUM]
    return max(0.0, beliefs[worker, SQUARES] - total * total / count) / (unit * unit)


@kernel
def posterior(book: Book, beliefs: Array, pool: Pool, worker: int) -> tuple[float, float, float]:
    """Mean and variance of a worker's quality, shrunk to the pool, and their noise.

    The noise is the worker's own, as if the pool had given them four more answers.
    """
    unit = unit_of(book, worker, pool.by_price)
    noise, count = pool.noise, beliefs[worker, COUNT]
    if count > 1.0:
        own = squares_about_mean(beliefs, worker, unit)
        noise = (own + 4.0 * pool.noise) / (count + 3.0)
    count, total = seen(book, beliefs, worker, unit)
    precision = 1.0 / pool.spread + count / noise
    level = (pool.mean / pool.spread + total / noise) / precision
    return level * unit, unit * unit / precision, noise * unit * unit
