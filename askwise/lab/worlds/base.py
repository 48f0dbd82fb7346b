"""A world of priced workers with hidden quality, answering the same to every policy."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from askwise.core import draws
from askwise.core.money import MICRO, from_micro
from askwise.core.problem import Problem, Worker
from askwise.core.records import by_reference
from askwise.kernels import Array, step
from askwise.kernels.knapsack import bounded_fractional

RATED, NOISY = range(2)
NO_KEYS = np.zeros((0, 2), np.int64)
RATING_SHARE = 0.9
"""A unit of work is worth .9 R + .1 U(0, 1): R one of the worker's ratings (003, section 6.1)."""


@by_reference
class World(NamedTuple):
    """Hidden qualities as arrays. A worker has one row for each stretch between two changes.

    ``kind`` tells how an answer arises: RATED draws one of the ratings in ``table``, NOISY
    multiplies ``means`` by a mixture of uniforms of mean 1 (003, footnote 15).
    """

    kind: int
    table: Array
    sizes: Array
    means: Array
    changes: Array
    noise: float
    keys: Array


@step
def row_at(world: World, worker: int, elapsed: float) -> int:
    """Row of a worker when this share of the budget has been spent."""
    changes = world.changes
    stretches = changes.shape[1]
    at = 0
    while at < stretches and elapsed >= changes[worker, at]:
        at += 1
    return worker * (stretches + 1) + at


@step
def answer(world: World, worker: int, k: int, elapsed: float) -> float:
    """Utility of the k-th unit of a worker: a pure function of the seed, worker and k."""
    row = row_at(world, worker, elapsed)
    x, y = draws.threefry(world.keys[worker, 0], world.keys[worker, 1], k, 0)
    share = y / 4294967296.0
    if world.kind == RATED:
        rating = world.table[row, (x * world.sizes[row]) >> 32]
        return 0.9 * rating + 0.1 * share
    # Footnote 15 as it is meant: U[0, 1] with probability 1 - 1/top, else U[1, top].
    top = 3.0 * world.noise + 1.0
    factor = share
    if x / 4294967296.0 >= 1.0 - 1.0 / top:
        factor = 1.0 + (top - 1.0) * share
    return world.means[row] * factor


@step
def reply_with_utility(world: World, task: int, worker: int, k: int, elapsed: float) -> float:
    """Answer as :func:`answer` does: a unit of work has no task."""
    return answer(world, worker, k, elapsed)


@step
def no_truth(world: World, task: int) -> int:
    """A unit of work has no truth to reveal."""
    return -1


def staff(prices: Array, limits: Iterable[int | None]) -> tuple[Worker, ...]:
    """Workers ``w0``, ``w1``, ... at prices in micro-units."""
    pairs = zip(prices.tolist(), limits, strict=True)
    return tuple(
        Worker(f"w{at}", from_micro(price), limit) for at, (price, limit) in enumerate(pairs)
    )


@dataclass(frozen=True)
class Market:
    """Workers with prices and limits, and the hidden truth about them.

    Parameters
    ----------
    prices, limits : int64 arrays
        Prices in micro-units.
    means : float array
        True mean utilities (at the start, where they change).
    world : World
        How answers arise; its keys are set by ``answering``.
    high : float
        Upper end of the utility's range; the lower is 0.
    """

    prices: Array
    limits: Array
    means: Array
    world: World
    high: float = 1.0

    def answering(self, seed: int, replication: int) -> World:
        """The world with the draws of one replication: the same crowd for every policy."""
        key0, key1 = draws.stream(seed, draws.WORLD, replication)
        keys = np.zeros((len(self.prices), 2), np.int64)
        for worker in range(len(keys)):
            keys[worker] = draws.threefry(key0, key1, worker, 0)
        return self.world._replace(keys=keys)

    def problem(self, budget: int) -> Problem:
        """The campaign that an employer with this budget (micro-units) sees."""
        return Problem(
            workers=staff(self.prices, self.limits.tolist()),
            utility=(0.0, float(self.high)),
            budget=budget,
            repeat=True,
        )

    def optimum(self, budget: int) -> tuple[float, float]:
        """Utility and spending of the fractional plan with true means: an upper bound."""
        counts = bounded_fractional(self.means, self.prices, self.limits, budget)
        return float(counts @ self.means), float(counts @ self.prices) / MICRO


def rated_world(ratings: list[Array], changes: Array | None = None) -> World:
    """Build a world from one array of ratings (0..1) a row; rows of a worker in sequence."""
    widest = max(len(each) for each in ratings)
    table = np.zeros((len(ratings), widest))
    sizes = np.zeros(len(ratings), np.int64)
    for row, each in enumerate(ratings):
        table[row, : len(each)] = each
        sizes[row] = len(each)
    means = RATING_SHARE * table.sum(axis=1) / sizes + (1.0 - RATING_SHARE) / 2.0
    if changes is None:
        changes = np.zeros((len(ratings), 0))
    return World(RATED, table, sizes, means, changes, 0.0, NO_KEYS)
