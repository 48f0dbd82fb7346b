"""Why the greedy solver is refused: an instance in which a lower bid ends a worker's work."""

from __future__ import annotations

import math

import pytest

from askwise.kernels.knapsack import cover_exact, cover_greedy

ROUNDS = 92
RIGHT = (79, 65, 53, 89)
"""Of four workers' answers in so many rounds of exploration."""
DEMAND, ENOUGH = 1.3711, 0.9514
"""M' at the upper bounds, M at the lower ones."""


def set_and_end(bid: float, *, exact: bool = False) -> tuple[list[int], bool]:
    """Whom the solver chooses on the upper bounds, and whether that ends exploration."""
    radius = math.sqrt(math.log(16) / (2 * ROUNDS))
    means = [right / ROUNDS for right in RIGHT]
    upper = [2 * min(1.0, mean + radius) - 1 for mean in means]
    lower = [2 * max(0.5, mean - radius) - 1 for mean in means]
    solve = cover_exact if exact else cover_greedy
    chosen, _, feasible = solve([11.813, 9.726, bid, 12.377], upper, DEMAND)
    assert feasible
    return [worker + 1 for worker in chosen], sum(lower[at] for at in chosen) >= ENOUGH


def test_a_losers_lower_bid_changes_the_greedy_set_and_ends_exploration() -> None:
    assert set_and_end(5.75) == ([1, 4], True)
    assert set_and_end(6.25) == ([1, 2], False)


def work(bid: float, left: int = 1000) -> int:
    """Worker 3's tasks of the next ``left``, if exploration goes on at least once more."""
    chosen, ends = set_and_end(bid)
    return (left if 3 in chosen else 0) if ends else 1


def test_so_that_a_higher_bid_brings_more_work() -> None:
    assert work(5.75) == 0 < work(6.25)


@pytest.mark.parametrize("bid", [0.5 * step for step in range(41)])
def test_with_the_exact_solver_a_loser_changes_nothing(bid: float) -> None:
    chosen, _ = set_and_end(bid, exact=True)
    if 3 not in chosen:
        assert chosen == set_and_end(20.0, exact=True)[0]
