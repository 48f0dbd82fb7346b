"""Cheapest sets that keep an error: time against the number of workers, share solved exactly."""

from __future__ import annotations

import statistics
import time
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from askwise.core.compiling import bind
from askwise.core.money import MICRO
from askwise.policies.assured.sets import Target
from askwise.policies.assured.sets.base import function_of
from askwise.policies.assured.sets.cheapest import find_cheapest
from askwise.policies.assured.sets.linear import cheapest_linear
from askwise.policies.assured.sets.probability import Goal
from askwise.policies.assured.sets.search import FIRST, NONE
from benchmarks.timing import in_turns, quantity, ratio, table, want

WORKERS = (10, 30, 100, 300, 1_000, 2_000)
INSTANCES = 20
LONGEST = 1.0
"""Milliseconds that a decision of a policy with a thousand workers may take."""


class Case(NamedTuple):
    """An error function, a solver and a crowd; sizes begin where the target can be met."""

    name: str
    solver: str
    alpha: float
    low: float
    high: float
    least: int


CASES = (
    Case("majority", "auto", 0.1, 0.6, 0.9, 10),
    Case("majority", "greedy", 0.1, 0.6, 0.9, 10),
    Case("hoeffding-linear(epsilon=0.5)", "auto", 0.2, 0.6, 0.9, 10),
    Case("hoeffding-linear(epsilon=0.5)", "greedy", 0.2, 0.6, 0.9, 10),
    Case("majority", "auto", 0.1, 0.55, 0.65, 100),
    Case("majority", "auto", 0.02, 0.55, 0.65, 300),
)


def by_search(
    target: Target, costs: Any, qualities: Any, chosen: Any, statuses: Any, bounds: Any
) -> None:
    """Solve one instance a row."""
    goal = Goal(target.code, target.ties, target.alpha * (1.0 + 1e-12))
    for k in range(costs.shape[0]):
        statuses[k], bounds[k] = find_cheapest(
            goal, costs[k], qualities[k], target.solver, target.work, chosen[k]
        )


def by_knapsack(
    target: Target, costs: Any, qualities: Any, chosen: Any, statuses: Any, bounds: Any
) -> None:
    """Solve one instance a row in the linear form."""
    for k in range(costs.shape[0]):
        statuses[k], bounds[k] = cheapest_linear(
            costs[k], qualities[k], target.demand, target.solver, target.work, chosen[k]
        )


class Crowds:
    """Random crowds of one size, and what was found for them."""

    def __init__(self, case: Case, workers: int) -> None:
        rng = np.random.default_rng(workers)
        shape = (INSTANCES, workers)
        self.target = function_of(case.name).target(case.alpha, case.solver)
        self.costs = rng.integers(MICRO, 20 * MICRO, shape)
        self.qualities = rng.uniform(case.low, case.high, shape)
        self.chosen = np.zeros(shape, np.bool_)
        self.statuses = np.zeros(INSTANCES, np.int64)
        self.bounds = np.zeros(INSTANCES, np.float64)

    def solve(self, solver: Any) -> int:
        """Solve them all."""
        solver(self.target, self.costs, self.qualities, self.chosen, self.statuses, self.bounds)
        return INSTANCES

    def found(self) -> tuple[str, str, str]:
        """Workers in a set, share solved exactly and mean gap, of what can be solved at all."""
        solved = self.statuses != NONE
        if not solved.any():
            return "-", "-", "-"
        paid = np.where(self.chosen, self.costs, 0).sum(axis=1)[solved]
        gaps = 1.0 - self.bounds[solved] / paid
        size = float(self.chosen.sum(axis=1)[solved].mean())
        exact = float((self.statuses[solved] == FIRST).mean())
        return f"{size:.1f}", f"{exact:.0%}", f"{max(0.0, gaps.mean()):.2%}"


def main(quick: bool = False) -> None:
    """Print the table."""
    begun = time.perf_counter()
    search, knapsack = bind(by_search, "benchmark"), bind(by_knapsack, "benchmark")
    sizes = WORKERS[:-1] if quick else WORKERS
    rows = []
    for case in CASES:
        solver = knapsack if case.name.startswith("hoeffding-linear") else search
        crowds = {str(n): Crowds(case, n) for n in sizes if n >= case.least}
        for each in crowds.values():
            each.solve(solver)  # to compile
        contenders = {n: partial(each.solve, solver) for n, each in crowds.items()}
        found = in_turns(contenders, rounds=3 if quick else 7)
        first = next(iter(found.values()))
        for n, times in found.items():
            spent = statistics.median(times)
            wanted = want(1e3 * spent, most=LONGEST) if n == "1000" and case.low > 0.55 else "  "
            rows.append(
                [
                    f"{case.name} {case.solver}",
                    f"{case.low:g}-{case.high:g}",
                    f"{case.alpha:g}",
                    n,
                    *crowds[n].found(),
                    f"{quantity(1e6 * spent)} us",
                    f"{ratio(times, first):.1f}",
                    *wanted,
                ]
            )
    print(f"{INSTANCES} crowds a line, prices 1 to 20 in micro-units")
    print(f"  ({time.perf_counter() - begun:.0f} s with compiling, which is kept on disk)")
    header = ["", "qualities", "alpha", "workers", "chosen", "exact", "gap", "a set", "relative"]
    table([*header, "wanted, ms", "met"], rows)
