"""The freelancer market of paper 003, section 6.1: synthetic, or drawn from a real table.

Two markets are made of it: one with quality tied to price, more or less closely (section 6.3.3),
and one with workers whose quality changes (the paper's future work).
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter, nearest
from askwise.core.money import MICRO
from askwise.lab.worlds.base import NO_KEYS, NOISY, Market, World, rated_world

LARGEST_LIMIT = 5000
FEWEST_RATINGS = 5
STARS = np.array([0.05, 0.03, 0.07, 0.15, 0.70])
"""Probabilities of 1 to 5 stars, of workers who have ratings at all."""


def applicants(rng: np.random.Generator) -> int:
    """How many answer a call: log-normal, between 2 and 100 as in the paper's Fig. 1."""
    while True:
        count = round(float(np.exp(rng.normal(2.6, 0.8))))
        if 2 <= count <= 100:
            return count


def _price(rng: np.random.Generator, cap: int, floor: int) -> int:
    cheap = (1.6, 0.1) if floor == 5 else (1.2, 0.3)
    while True:
        low_paid = rng.random() < 0.3
        price = round(float(np.exp(rng.normal(*(cheap if low_paid else (3.9, 0.8))))))
        if floor <= price <= cap:
            return price


def draw_ratings(rng: np.random.Generator) -> Array:
    """Draw a worker's ratings: few workers have any; padded with noise to at least five."""
    ratings = np.zeros(0)
    if rng.random() < 0.04:
        count = min(40, int(rng.geometric(0.2)))
        ratings = rng.choice(5, size=count, p=STARS) / 4.0
    return pad(rng, ratings)


def pad(rng: np.random.Generator, ratings: Array) -> Array:
    """Footnote 13: pad with U(0, 1) until there are five, against bias from few ratings."""
    missing = max(0, FEWEST_RATINGS - len(ratings))
    return np.concatenate([ratings, rng.random(missing)])


def freelancer_market(
    rng: np.random.Generator, *, cap: int, floor: int = 3, candidates: int | None = None
) -> Market:
    """Draw a market: prices in whole dollars up to ``cap``, limits 1 to 5000, few ratings.

    Parameters
    ----------
    cap : int
        The highest price: highly paid workers do not apply for small projects.
    floor : int
        The lowest price: 3 is the default market, 5 the alternative.
    candidates : int, optional
        Fixes the number of applicants.
    """
    if floor not in (3, 5):
        raise InvalidParameter(f"floor is {floor!r}: give 3 or 5", field="floor")
    count = applicants(rng) if candidates is None else candidates
    prices = np.array([_price(rng, cap, floor) for _ in range(count)], np.int64) * MICRO
    limits = rng.integers(1, LARGEST_LIMIT + 1, size=count)
    world = rated_world([draw_ratings(rng) for _ in range(count)])
    return Market(prices, limits, world.means, world)


@dataclass(frozen=True)
class RateTable:
    """Real rates and mean ratings (None: not rated yet), one entry per worker."""

    rates: Array
    ratings: Array
    reviews: Array


def read_table(
    path: str, *, rate: str, rating: str, reviews: str = "", worker: str = "", stars: float = 5.0
) -> RateTable:
    """Read a CSV of freelancers; the columns are named by options.

    Parameters
    ----------
    rate, rating : str
        Columns of the hourly rate and of the mean rating (0 or empty: none yet).
    reviews : str
        Column of the number of ratings; without it a rated worker counts as five.
    worker : str
        Column of the worker's id; of several rows per worker the first is taken.
    stars : float
        The best rating; 1 is the worst.
    """
    file = Path(path)
    if not file.is_file():
        raise InvalidParameter(f"table is {path!r}: there is no such file", field="table")
    found: list[tuple[float, float, float]] = []
    with file.open(newline="", encoding="utf-8") as lines:
        reader = csv.DictReader(lines)
        header = reader.fieldnames or []
        columns = {"rate": rate, "rating": rating, "reviews": reviews, "worker": worker}
        for name, column in columns.items():
            if column and column not in header:
                raise InvalidParameter(
                    f"{name} is {column!r}: no such column in {path}, {nearest(column, header)}",
                    field=name,
                )
        known: set[str] = set()
        for number, line in enumerate(reader, start=2):
            if worker and line[worker] in known:
                continue
            known.add(line[worker] if worker else str(number))
            try:
                price = float(line[rate])
                stars_given = float(line[rating] or 0)
                count = float(line[reviews] or 0) if reviews else FEWEST_RATINGS
            except ValueError as error:
                raise InvalidParameter(f"{path}, line {number}: {error}", field="table") from None
            if price > 0:
                share = (stars_given - 1.0) / (stars - 1.0) if stars_given > 0 else np.nan
                found.append((price, share, count))
    if not found:
        raise InvalidParameter(f"table {path!r} has no row with a rate above 0", field="table")
    rates, ratings, counts = np.array(found).T
    return RateTable(rates, np.clip(ratings, 0.0, 1.0), counts)


def market_from_table(
    rng: np.random.Generator, table: RateTable, *, cap: int, candidates: int | None = None
) -> Market:
    """Draw applicants from a table of real freelancers; limits as in the synthetic market.

    A rated worker's ratings are stars scattered about their mean (each the floor or the ceiling
    of it, so that the mean is kept), at most forty; an unrated one's are noise.
    """
    affordable = np.flatnonzero((table.rates <= cap) & (np.round(table.rates) >= 1))
    if len(affordable) == 0:
        raise InvalidParameter(f"table has no worker at {cap} or less an hour", field="table")
    count = applicants(rng) if candidates is None else candidates
    chosen = rng.choice(affordable, size=count, replace=True)
    ratings = []
    for at in chosen:
        given = np.zeros(0)
        if not np.isnan(table.ratings[at]):
            exact = 4.0 * table.ratings[at]
            size = int(np.clip(table.reviews[at], 1, 40))
            given = (np.floor(exact) + (rng.random(size) < exact - np.floor(exact))) / 4.0
        ratings.append(pad(rng, given))
    world = rated_world(ratings)
    prices = np.round(table.rates[chosen] * 100).astype(np.int64) * (MICRO // 100)
    limits = rng.integers(1, LARGEST_LIMIT + 1, size=count)
    return Market(prices, limits, world.means, world)


def mixture(rng: np.random.Generator, variance: float, size: int) -> Array:
    """Draw from footnote 15's distribution: mean 1, the given variance, never negative.

    The printed distribution function is not one; the mixture it describes is: with
    probability 1 - 1/k uniform on [0, 1], else uniform on [1, k], k = 3 variance + 1.
    """
    if variance == 0.0:
        return np.ones(size)
    top = 3.0 * variance + 1.0
    share = rng.random(size)
    low = rng.random(size) < 1.0 - 1.0 / top
    return np.where(low, share, 1.0 + (top - 1.0) * share)


def correlation_market(
    rng: np.random.Generator, *, cap: int, variance: float, noise: float
) -> Market:
    """Draw a market in which a worker's mean utility is D times their price.

    Parameters
    ----------
    variance : float
        Variance of D: 0 ties quality to price completely.
    noise : float
        Variance of the factor that each answer is multiplied with.
    """
    market = freelancer_market(rng, cap=cap)
    count = len(market.prices)
    means = mixture(rng, variance, count) * market.prices / MICRO
    table, sizes = np.zeros((1, 1)), np.ones(1, np.int64)
    world = World(NOISY, table, sizes, means, np.zeros((count, 0)), float(noise), NO_KEYS)
    # The largest utility that can occur: the densest worker at the top of the noise.
    high = cap * (3.0 * variance + 1.0) * (3.0 * noise + 1.0)
    return Market(market.prices, market.limits, means, world, high)


def drifting_market(rng: np.random.Generator, *, cap: int, changes: int) -> Market:
    """Draw a market in which each worker's ratings are drawn again ``changes`` times.

    The changes come at independent uniform points of the budget: what passes is the
    employer's project, not the worker's own count of answers.
    """
    market = freelancer_market(rng, cap=cap)
    count = len(market.prices)
    when = np.sort(rng.random((count, changes)), axis=1)
    world = rated_world([draw_ratings(rng) for _ in range(count * (changes + 1))], when)
    return Market(market.prices, market.limits, world.means[:: changes + 1], world)
