"""The markets that are measured on: freelancers with prices in whole dollars."""

from __future__ import annotations

import numpy as np

from askwise.core.money import MICRO
from askwise.core.problem import Problem
from askwise.lab.worlds import Market, freelancer_market


def market_of(workers: int, cap: int = 100, seed: int = 1) -> Market:
    """The same market at every run."""
    return freelancer_market(np.random.default_rng(seed), cap=cap, candidates=workers)


def problem_of(market: Market, dollars: int) -> Problem:
    """The campaign of an employer with this many dollars."""
    return market.problem(dollars * MICRO)
