"""Error functions of a set of workers, cheapest sets that keep one below a threshold, bids."""

from askwise.core.accuracy.base import ErrorFunction, Target, error_probability, errors
from askwise.core.accuracy.bids import critical_bids, critical_bids_exact
from askwise.core.accuracy.checking import check_error_function, ensure_error_function
from askwise.core.accuracy.kernels import cheapest_into, error_of, extend_into, meets
from askwise.core.accuracy.soft import softest_set
from askwise.core.accuracy.solve import Cheapest, cheapest_set, solve_cheapest

__all__ = [
    "Cheapest",
    "ErrorFunction",
    "Target",
    "cheapest_into",
    "cheapest_set",
    "check_error_function",
    "critical_bids",
    "critical_bids_exact",
    "ensure_error_function",
    "error_of",
    "error_probability",
    "errors",
    "extend_into",
    "meets",
    "softest_set",
    "solve_cheapest",
]
