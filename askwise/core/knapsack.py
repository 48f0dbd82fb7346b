"""Knapsacks under the name that programs hold: they stand in :mod:`askwise.kernels.knapsack`."""

from askwise.kernels.knapsack import *  # noqa: F403
from askwise.kernels.knapsack import __all__ as __all__
