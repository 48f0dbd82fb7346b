"""The world of paper 003, section 6.3.3: quality tied to price, more or less closely."""

from __future__ import annotations

import numpy as np

from askwise.core.arrays import Array
from askwise.core.money import MICRO
from askwise.lab.worlds.base import NOISY, Market, World
from askwise.lab.worlds.freelancers import freelancer_market


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
    """Draw a market in which a worker's mean utility is D times his price.

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
    world = World(
        kind=NOISY,
        table=np.zeros((1, 1)),
        sizes=np.ones(1, np.int64),
        means=means,
        changes=np.zeros((count, 0)),
        noise=float(noise),
        keys=np.zeros((0, 2), np.int64),
    )
    # The largest utility that can occur: the densest worker at the top of the noise.
    high = cap * (3.0 * variance + 1.0) * (3.0 * noise + 1.0)
    return Market(market.prices, market.limits, means, world, high)
