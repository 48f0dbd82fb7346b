"""Cheapest sets: every solver and error function against trying all sets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.core.errors import InvalidParameter, TooLarge
from askwise.kernels.knapsack import cover_exact, cover_greedy
from askwise.policies.assured.sets import (
    ErrorFunction,
    cheapest_set,
    error_probability,
    softest_set,
    solve_cheapest,
)
from askwise.policies.assured.sets.enumeration import sets_by_cost

Instance = tuple[list[Any], list[float], float]


FORGIVEN = 1e-12

SEARCHED = [
    "majority",
    "majority(ties=random)",
    "hoeffding",
    "most-likely-error",
    "weighted-majority",
]


def members_of(n: int) -> Any:
    """One row a set: who is in it."""
    return (np.arange(1 << n)[:, None] >> np.arange(n)) & 1 == 1


def all_errors(name: str, q: list[float]) -> Any:
    """The error of every set, computed for all sets at once."""
    n = len(q)
    members = members_of(n)
    sizes = members.sum(axis=1)
    if name.startswith("majority"):
        pmf = np.zeros((1 << n, n + 1))
        pmf[0, 0] = 1.0
        for i, p in enumerate(q):
            before = pmf[: 1 << i]
            pmf[1 << i : 2 << i] = before * (1.0 - p)
            pmf[1 << i : 2 << i, 1:] += before[:, :-1] * p
        right = np.arange(n + 1)
        weight = (2 * right < sizes[:, None]) + (2 * right == sizes[:, None]) * (
            0.5 if "random" in name else 1.0
        )
        return (pmf * weight).sum(axis=1)
    if name == "most-likely-error":
        order = np.argsort(q, kind="stable")
        ranked = members[:, order]
        counted = ranked & (np.cumsum(ranked, axis=1) <= ((sizes + 1) // 2)[:, None])
        return np.where(counted, 1.0 - np.array(q)[order], 1.0).prod(axis=1)
    if name == "hoeffding":
        margin = np.maximum(0.0, members @ (2 * np.array(q) - 1))
        return np.exp(-(margin**2) / (2 * np.maximum(sizes, 1)))
    # Weighted: those who are not in it answer by a coin, whatever is true.
    right = members_of(n)
    one, other = np.ones((1 << n, 1 << n)), np.ones((1 << n, 1 << n))
    for i, p in enumerate(q):
        chance = np.where(right[:, i], p, 1.0 - p)
        one *= np.where(members[:, i, None], chance, 0.5)
        other *= np.where(members[:, i, None], 1.0 - chance, 0.5)
    return np.minimum(one, other).sum(axis=1) / 2


def listed(mask: int) -> list[int]:
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def best_by_trying_all(name: str, costs: list[Any], q: list[float], alpha: float) -> Any:
    """The set that cheapest_set promises, and whether it is feasible."""
    n = len(q)
    errors = all_errors(name, q)
    feasible = bool((errors <= alpha * (1 + FORGIVEN)).any())
    limit = alpha if feasible else errors.min()
    fitting = np.flatnonzero(errors <= limit * (1 + FORGIVEN))
    totals = members_of(n)[fitting] @ np.array(costs) if n else np.zeros(1)
    cheapest = fitting[totals == totals.min()]
    return min(listed(mask) for mask in cheapest.tolist()), feasible


@st.composite
def instances(draw: st.DrawFn, most: int) -> Instance:
    n = draw(st.integers(0, most))
    money: st.SearchStrategy[float] = draw(
        st.sampled_from(
            [
                st.integers(0, 2),
                st.integers(1, 3),
                st.integers(1, 1),
                st.integers(0, 10**8),
                st.sampled_from([0, 0, 5 * 10**6, 6 * 10**6]),
                # Multiples of 1/8, whose sums are exact: ties are ties.
                st.integers(0, 40).map(lambda c: c / 8),
            ]
        )
    )
    quality: st.SearchStrategy[float] = draw(
        st.sampled_from(
            [
                st.sampled_from([0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]),
                st.sampled_from([0.55, 0.6, 0.65, 0.7]),
                st.floats(0.4, 1.0),
                st.floats(0.5, 0.85),
            ]
        )
    )
    costs = [draw(money) for _ in range(n)]
    qualities = [draw(quality) for _ in range(n)]
    return costs, qualities, draw(st.sampled_from([0.02, 0.05, 0.1, 0.2, 0.3, 0.4]))


def check(name: str, instance: Instance) -> None:
    costs, q, alpha = instance
    expected, feasible = best_by_trying_all(name, costs, q, alpha)
    assert cheapest_set(costs, q, alpha, name, "exact") == (
        expected,
        pytest.approx(error_probability(name, [q[i] for i in expected])),
        feasible,
    )


@pytest.mark.parametrize("name", SEARCHED)
@given(data=st.data())
def test_the_exact_solver_finds_the_first_of_the_cheapest_sets(name: str, data: Any) -> None:
    check(name, data.draw(instances(7 if name == "weighted-majority" else 9)))


@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCHED)
@settings(max_examples=1000)
@given(data=st.data())
def test_the_exact_solver_finds_it_among_more_workers(name: str, data: Any) -> None:
    check(name, data.draw(instances(9 if name == "weighted-majority" else 12)))


@given(instances(9))
def test_the_linear_form_is_the_minimum_knapsack(instance: Instance) -> None:
    costs, q, alpha = instance
    gains = [2 * p - 1 for p in q]
    demand = math.log(1 / alpha) / 0.4
    for solver, cover in (("exact", cover_exact), ("auto", cover_exact), ("greedy", cover_greedy)):
        expected, cost, feasible = cover(costs, gains, demand)
        found = solve_cheapest(costs, q, alpha, "hoeffding-linear(epsilon=0.4)", solver)
        assert found.feasible == feasible
        if feasible:
            assert (list(found.indices), found.cost) == (expected, cost)
        else:
            assert list(found.indices) == [i for i, p in enumerate(q) if p > 0.5]


@pytest.mark.parametrize("name", SEARCHED)
@given(data=st.data())
def test_other_solvers_find_feasible_sets_and_prove_their_gaps(name: str, data: Any) -> None:
    costs, q, alpha = data.draw(instances(7))
    expected, feasible = best_by_trying_all(name, costs, q, alpha)
    for solver in ("auto", "greedy"):
        found = solve_cheapest(costs, q, alpha, name, solver)
        assert found.feasible == feasible
        assert found.error == error_probability(name, [q[i] for i in found.indices])
        assert found.cost == sum(costs[i] for i in found.indices)
        optimum = sum(costs[i] for i in expected)
        assert found.cost * (1 - found.gap) <= optimum * (1 + 1e-9) <= found.cost * (1 + 2e-9)
        if found.exact:
            assert list(found.indices) == expected
            assert found.gap == pytest.approx(0.0, abs=1e-9)
    assert solve_cheapest(costs, q, alpha, name, "auto").exact


def test_five_workers_where_the_surrogate_asks_for_twenty_four() -> None:
    costs, q = [1] * 30, [0.8] * 30
    assert len(cheapest_set(costs, q, 0.1)[0]) == 5
    assert len(cheapest_set(costs, q, 0.1, "hoeffding-linear")[0]) == 24


def test_an_error_equal_to_alpha_up_to_rounding_is_feasible() -> None:
    # .104 = .2^3 + 3 * .8 * .2^2
    assert cheapest_set([1, 1, 1], [0.8, 0.8, 0.8], 0.104)[2]
    assert cheapest_set([1], [0.9], 0.1)[2]
    assert not cheapest_set([1], [0.9], 0.1 - 1e-10)[2]


def test_of_equal_costs_the_first_list_wins_and_a_complete_list_ends() -> None:
    q = [0.7, 0.8, 0.9, 0.9]
    assert cheapest_set([1, 1, 1, 1], q, 0.12)[0] == [2]
    assert cheapest_set([1, 1, 3, 3], [0.95, 0.6, 0.95, 0.99], 0.06)[0] == [0]
    # Worker 0 costs nothing: with 1 and 2 they make a set of the same cost that comes first.
    assert cheapest_set([0, 1, 0], [0.9, 0.99, 0.9], 0.05)[0] == [0, 1, 2]
    assert cheapest_set([0, 0, 0], [0.9, 0.9, 0.9], 0.2)[0] == [0]


def test_nobody_to_choose_from_is_infeasible() -> None:
    assert cheapest_set([], [], 0.1) == ([], 1.0, False)
    assert cheapest_set([], [], 0.1, "hoeffding-linear") == ([], 1.0, False)
    assert cheapest_set([], [], 0.1, Mean()) == ([], 0.5, False)


def test_the_least_error_is_returned_if_nothing_is_feasible() -> None:
    # Beside .9 two weak workers do harm.
    assert cheapest_set([5, 1, 1], [0.9, 0.6, 0.6], 0.01) == ([0], pytest.approx(0.1), False)
    # A worse than a coin is still the best single voter there is.
    assert cheapest_set([1, 1], [0.3, 0.4], 0.1) == ([1], pytest.approx(0.6), False)
    assert cheapest_set([0, 1], [0.4, 0.5], 0.1) == ([1], 0.5, False)
    assert cheapest_set([1, 1], [0.3, 0.4], 0.1, "majority(ties=random)") == ([], 0.5, False)


@pytest.mark.parametrize("solver", ["exact", "auto", "greedy", "classes"])
@pytest.mark.parametrize("rule", ["majority", "majority(ties=random)"])
def test_where_all_are_alike_and_too_few_everybody_is_asked(rule: str, solver: str) -> None:
    # Added up one by one, or times seven: the last bit differs.
    found = solve_cheapest([0] * 6 + [1], [0.55] * 7, 0.02, rule, solver)
    assert (found.indices, found.feasible) == (tuple(range(7)), False)


def typical(n: int, low: float, high: float, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.integers(10**6, 2 * 10**7, n), rng.uniform(low, high, n)


def test_typical_crowds_are_solved_exactly() -> None:
    for seed in range(3):
        costs, q = typical(60, 0.6, 0.9, seed)
        for alpha in (0.05, 0.2):
            found = solve_cheapest(costs, q, alpha)
            assert found.exact
            assert found.feasible
            assert found.cost <= solve_cheapest(costs, q, alpha, solver="greedy").cost


def test_what_takes_too_long_is_refused_if_exact_and_bounded_if_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("askwise.policies.assured.sets.solve._WORK", 1 << 11)
    monkeypatch.setattr("askwise.policies.assured.sets.solve._EXACT_WORK", 1 << 11)
    rng = np.random.default_rng(1)
    costs, q = rng.integers(1, 20, 40), rng.uniform(0.55, 0.65, 40)
    found = solve_cheapest(costs, q, 0.1)
    assert found.feasible
    assert not found.exact
    assert 0.0 < found.gap < 0.1
    with pytest.raises(TooLarge, match="auto"):
        cheapest_set(costs, q, 0.1, solver="exact")


@dataclass(frozen=True)
class Mean(ErrorFunction):
    """Half the mean chance of being wrong: nobody knows what for."""

    name = "mean"

    def probability(self, qualities: Any) -> float:
        return float(1.0 - qualities.mean()) / (1 + len(qualities)) if len(qualities) else 0.5


@given(instances(6))
def test_a_users_function_is_solved_by_trying_all(instance: Instance) -> None:
    costs, q, alpha = instance
    tried = []
    for mask in range(1 << len(q)):
        indices = listed(mask)
        error = Mean().probability(np.array(q)[indices])
        tried.append((error, sum(costs[i] for i in indices), indices))
    limit = max(alpha, min(tried)[0]) * (1 + FORGIVEN)
    expected = min((cost, indices) for error, cost, indices in tried if error <= limit)[1]
    found, error, feasible = cheapest_set(costs, q, alpha, Mean())
    assert found == expected
    assert feasible == (error <= alpha * (1 + FORGIVEN))
    greedy = solve_cheapest(costs, q, alpha, Mean(), "greedy")
    assert not greedy.exact
    assert greedy.error == Mean().probability(np.array(q)[list(greedy.indices)])
    assert feasible or not greedy.feasible


def test_a_users_function_is_too_large_above_twenty_workers() -> None:
    with pytest.raises(TooLarge, match="20 at most; use solver 'classes' or 'greedy'"):
        cheapest_set([1] * 21, [0.8] * 21, 0.1, Mean())
    assert cheapest_set([1] * 21, [0.8] * 21, 0.1, Mean(), "greedy")[2]
    with pytest.raises(TooLarge, match="20 at most"):
        softest_set([1] * 21, [0.8] * 21, 0.1, 3.0, Mean())


def test_sets_come_in_order_of_cost_and_list() -> None:
    found = list(sets_by_cost(np.array([1, 0, 1])))
    assert found == [
        (0, []),
        (0, [1]),
        (1, [0]),
        (1, [0, 1]),
        (1, [1, 2]),
        (1, [2]),
        (2, [0, 1, 2]),
        (2, [0, 2]),
    ]


@pytest.mark.parametrize("name", [*SEARCHED, "hoeffding-linear(epsilon=0.4)"])
@given(data=st.data())
@settings(max_examples=20)
def test_the_softest_set_has_the_least_cost_and_penalty(name: str, data: Any) -> None:
    costs, q, alpha = data.draw(instances(5))
    price = data.draw(st.sampled_from([0.0, 1.0, 10.0, 1e8]))
    best: tuple[float, float, list[int]] = (math.inf, 0.0, [])
    for mask in range(1 << len(q)):
        indices = listed(mask)
        error = error_probability(name, [q[i] for i in indices]) if indices else 0.5
        cost = float(sum(costs[i] for i in indices))
        best = min(best, (cost + price * max(0.0, error - alpha), cost, indices))
    found, value = softest_set(costs, q, alpha, price, name)
    assert value == pytest.approx(best[0], rel=1e-12)
    error = error_probability(name, [q[i] for i in found]) if found else 0.5
    spent = sum(costs[i] for i in found)
    assert value == pytest.approx(spent + price * max(0.0, error - alpha), rel=1e-12)


def test_the_ladder_is_within_a_rung_of_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    for _ in range(4):
        costs, q = rng.integers(1, 30, 7), rng.uniform(0.55, 0.9, 7)
        exact = softest_set(costs, q, 0.1, 200.0)[1]
        with monkeypatch.context() as patch:
            patch.setattr("askwise.policies.assured.sets.soft.MOST_WORKERS", 5)
            ladder = softest_set(costs, q, 0.1, 200.0)[1]
        assert exact <= ladder <= exact + 200.0 * 0.4 / 32


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (([1, -1], [0.5, 0.5], 0.1), "costs"),
        (([1, math.inf], [0.5, 0.5], 0.1), "costs"),
        ((["a", 1], [0.5, 0.5], 0.1), "costs"),
        ((3, [0.5], 0.1), "costs"),
        (([1, 1], [0.5], 0.1), "qualities"),
        (([1, 1], [0.5, 1.5], 0.1), "qualities"),
        (([1, 1], [0.5, 0.5], 0.0), "alpha"),
        (([1, 1], [0.5, 0.5], 0.5), "alpha"),
        (([1, 1], [0.5, 0.5], 0.1, "majority", "fast"), "solver"),
    ],
)
def test_bad_input_is_named(arguments: Any, field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        cheapest_set(*arguments)
    assert caught.value.field == field
    assert field in str(caught.value)
    with pytest.raises(InvalidParameter, match="price"):
        softest_set([1], [0.5], 0.1, -1.0)
