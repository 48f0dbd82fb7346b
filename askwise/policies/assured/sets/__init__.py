"""Error functions of a set of workers, cheapest sets that keep one below a threshold, bids."""

from askwise.policies.assured.sets.base import ErrorFunction, Target, error_probability, errors
from askwise.policies.assured.sets.bids import (
    critical_bids,
    critical_bids_by_classes,
    critical_bids_exact,
)
from askwise.policies.assured.sets.checking import check_error_function, ensure_error_function
from askwise.policies.assured.sets.soft import softest_set
from askwise.policies.assured.sets.solve import Cheapest, cheapest_set, solve_cheapest

__all__ = [
    "Cheapest",
    "ErrorFunction",
    "Target",
    "cheapest_set",
    "check_error_function",
    "critical_bids",
    "critical_bids_by_classes",
    "critical_bids_exact",
    "ensure_error_function",
    "error_probability",
    "errors",
    "softest_set",
    "solve_cheapest",
]
