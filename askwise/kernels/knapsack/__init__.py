"""Knapsacks: what to buy for a budget (bounded), and whom to hire for a demand (cover)."""

from askwise.kernels.knapsack.cover import cover_exact, cover_greedy
from askwise.kernels.knapsack.exact import bounded_exact, exact_into
from askwise.kernels.knapsack.ga import cover_greedy_into
from askwise.kernels.knapsack.greedy import (
    bounded_fractional,
    bounded_greedy,
    fill_by_density,
    greedy_into,
)

__all__ = [
    "bounded_exact",
    "bounded_fractional",
    "bounded_greedy",
    "cover_exact",
    "cover_greedy",
    "cover_greedy_into",
    "exact_into",
    "fill_by_density",
    "greedy_into",
]
