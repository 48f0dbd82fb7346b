"""Intervals for a probability that hold at all times at once: a mixture of likelihood ratios."""

import math

from askwise.core.compiling import kernel, step
from askwise.kernels.special import log_beta

_HALVINGS = 50
_MOST_STEPS = 30
_CLOSE = 1e-14


@step
def excess(level: float, right: int, wrong: int, quality: float) -> float:
    """How far the log of the likelihood ratio at a quality is above what is allowed."""
    found = level
    if right > 0:
        found -= right * math.log(quality)
    if wrong > 0:
        found -= wrong * math.log(1.0 - quality)
    return found


@kernel
def search(level: float, right: int, wrong: int, side: float) -> float:
    """The end of the interval below (``side`` -1) or above (1) the mean, on its outer side."""
    count = right + wrong
    mean = right / count
    # n kl(mean, q) is at least 2 n (mean - q)**2: at this distance q is outside, if there at all.
    depth = -excess(level, right, wrong, mean)
    quality = mean + side * math.sqrt(depth / (2.0 * count))
    if 0.0 < quality < 1.0:
        # The excess is convex: Newton's steps from outside stay outside and come ever closer.
        for _ in range(_MOST_STEPS):
            slope = wrong / (1.0 - quality) - right / quality
            moved = excess(level, right, wrong, quality) / slope
            quality -= moved
            if abs(moved) < _CLOSE:
                break
        return quality
    outside = 0.0 if side < 0.0 else 1.0
    inside = mean
    for _ in range(_HALVINGS):
        middle = 0.5 * (outside + inside)
        if excess(level, right, wrong, middle) > 0.0:
            outside = middle
        else:
            inside = middle
    return outside


@kernel
def lasting_interval(right: int, count: int, chance: float) -> tuple[float, float]:
    """Bounds on a quality that ever fail with probability at most ``chance``.

    At the true quality q, the mixture over all qualities p (uniform on 0 to 1) of the likelihood
    of the answers at p, divided by their likelihood at q, is a martingale of mean 1: that it ever
    exceeds 1 / chance has a probability of at most ``chance`` (Ville). So the qualities at which
    it does not are an interval that covers q at all counts at once, whatever decided on them.
    """
    wrong = count - right
    level = log_beta(right + 1.0, wrong + 1.0) + math.log(chance)
    low, high = 0.0, 1.0
    if right > 0:
        low = max(0.0, search(level, right, wrong, -1.0))
    if wrong > 0:
        high = min(1.0, search(level, right, wrong, 1.0))
    return low, high
