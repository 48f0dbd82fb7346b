"""Estimates with their 95% intervals."""

import math
from dataclasses import dataclass

import numpy as np

from askwise.core.arrays import Array
from askwise.core.jsonable import Jsonable
from askwise.core.scoring import NORMAL, wilson_ends


@dataclass(frozen=True, slots=True)
class Interval(Jsonable):
    """An estimate and the ends of its 95% interval.

    Attributes
    ----------
    value : float
        The estimate.
    low : float
        The lower end.
    high : float
        The upper end.
    """

    value: float
    low: float
    high: float


def share(hits: float, tries: float) -> Interval | None:
    """A share with Wilson's interval; None of nothing. A tie may be a hit by a part.

    Examples
    --------
    >>> found = share(8, 10)
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.8, 0.49, 0.943)
    """
    if tries <= 0:
        return None
    hits, tries = min(max(float(hits), 0.0), float(tries)), float(tries)
    value, (low, high) = hits / tries, wilson_ends(hits, tries)
    # Rounding may leave an end on the wrong side of what was found.
    return Interval(value, min(low, value), max(high, value))


def paired(differences: Array) -> Interval:
    """The mean of paired differences, each from -1 to 1, with an interval that is never empty.

    The ends are those of Agresti and Min (2005): half a task is added that gains all and half a
    task that loses all, on either side, so that few tasks without any difference do not prove
    that there is none.

    Examples
    --------
    >>> import numpy as np
    >>> found = paired(np.zeros(10))
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.0, -0.163, 0.163)
    """
    total, tasks = float(differences.sum()), len(differences)
    middle = total / (tasks + 2)
    square = (float((differences * differences).sum()) + 1.0) / (tasks + 2)
    half = NORMAL * math.sqrt(max(0.0, square - middle * middle) / (tasks + 2))
    value = total / tasks
    return Interval(
        value, min(value, max(-1.0, middle - half)), max(value, min(1.0, middle + half))
    )


def normal(values: Array) -> Interval:
    """A mean with the interval of the central limit theorem."""
    mean = float(values.mean())
    half = NORMAL * float(values.std()) / math.sqrt(len(values))
    return Interval(mean, mean - half, mean + half)


def percentiles(value: float, draws: Array) -> Interval:
    """An estimate with the middle 95% of what resampling gave."""
    low, high = np.quantile(draws, (0.025, 0.975))
    return Interval(value, min(value, float(low)), max(value, float(high)))
