"""The knapsack kernels give the same result, to the last bit, compiled and not.

Run as a script this file solves seeded instances and prints the answers; the test runs it
twice, with the compiler and without, and compares.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from askwise.core.compiling import kernel
from askwise.kernels.knapsack import (
    bounded_exact,
    bounded_fractional,
    bounded_greedy,
    cover_exact,
    cover_greedy,
    cover_greedy_into,
    exact_into,
    greedy_into,
)
from askwise.kernels.knapsack.states import MAX_STATES
from tests.paths import ROOT

pytestmark = pytest.mark.compiled


@kernel
def solve_inside_a_kernel(
    values: Any, weights: Any, limits: Any, capacity: int, counts: Any, chosen: Any
) -> Any:
    left = greedy_into(values, weights, limits, capacity, counts)
    greedy_counts = counts.copy()
    status = exact_into(values, weights, limits, capacity, MAX_STATES, counts)
    reached = cover_greedy_into(values, values, 2.0, chosen)
    return left, status, reached, greedy_counts


def print_answers(n: int, unit: int, kind: int, rng: np.random.Generator) -> None:
    weights = rng.integers(1, 100, n) * unit
    if kind == 3:
        weights += rng.integers(0, unit, n)
    values = weights / unit * 0.1 if kind == 1 else rng.random(n) * 3
    limits = rng.integers(0, 3 if kind == 2 else 50, n)
    capacity = int(rng.integers(0, 1000) * unit)
    for bounded in (bounded_greedy, bounded_exact, bounded_fractional):
        print([float(x).hex() for x in bounded(values, weights, limits, capacity)])
    counts, chosen = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    left, status, reached, greedy_counts = solve_inside_a_kernel(
        values, weights, limits, capacity, counts, chosen
    )
    print(int(left), int(status), bool(reached), greedy_counts.tolist(), counts.tolist(), chosen)
    gains = rng.random(n) - 0.1
    for cover in (cover_greedy, cover_exact):
        for costs in (weights, values + rng.random(n)):
            indices, cost, feasible = cover(costs, gains, 0.2 * n)
            print(indices, float(cost).hex(), feasible)


def answers(switch: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", __file__],
        env={**os.environ, "ASKWISE_JIT": switch, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_compiled_and_plain_kernels_agree_to_the_last_bit() -> None:
    plain = answers("0")
    assert len(plain) >= 640
    assert answers("1") == plain


if __name__ == "__main__":
    generator = np.random.default_rng(2)
    for size in (1, 2, 3, 5, 8, 15, 15, 15, 40, 70):
        for money in (1, 10**6):
            for sort in range(4):
                print_answers(size, money, sort, generator)
