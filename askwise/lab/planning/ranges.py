"""Expected values with the ranges that hold eight of ten."""

import numpy as np

from askwise.core.arrays import Array
from askwise.core.money import MICRO, from_micro
from askwise.lab.planning.plan import Estimate, MoneyRange

MIDDLE = (0.1, 0.9)
"""Ends of the ranges: eight campaigns, or questions, of ten lie between."""


def middle(values: Array) -> Estimate:
    """The mean, and the ends between which eight of ten values lie."""
    low, high = np.quantile(values, MIDDLE, method="inverted_cdf")
    return Estimate(float(values.mean()), float(low), float(high))


def money_range(values: Array) -> MoneyRange:
    """The same of amounts."""
    found = middle(values)
    ends = (found.mean, found.low, found.high)
    return MoneyRange(*(from_micro(round(each * MICRO)) for each in ends))
