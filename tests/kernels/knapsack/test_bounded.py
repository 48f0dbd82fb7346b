"""The bounded knapsack: greedy, exact and fractional, against definition and brute force."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.errors import TooLarge
from askwise.kernels.knapsack import (
    bounded_exact,
    bounded_fractional,
    bounded_greedy,
    exact_into,
    greedy_into,
    states,
)

Instance = tuple[list[float], list[int], list[int], int]

SOLVERS: list[Callable[..., Any]] = [bounded_greedy, bounded_exact, bounded_fractional]
# What the float arithmetic of the exact solver is allowed to lose.
CLOSE = 1 - Fraction(1, 10**9)


def value(values: list[float], counts: Any) -> Fraction:
    units = np.asarray(counts).tolist()
    return sum((Fraction(v) * Fraction(x) for v, x in zip(values, units, strict=True)), Fraction())


def weight(weights: list[int], counts: Any) -> int:
    return sum(w * int(x) for w, x in zip(weights, counts, strict=True))


def best_by_trying_all(values: list[float], weights: list[int], limits: Any, capacity: int) -> Any:
    plans = itertools.product(
        *(range(min(m, capacity // w) + 1) for m, w in zip(limits, weights, strict=True))
    )
    return max(value(values, plan) for plan in plans if weight(weights, plan) <= capacity)


def greedy_by_definition(
    values: list[float], weights: list[int], limits: list[int], capacity: int
) -> list[int]:
    counts = [0] * len(values)
    for i in sorted(range(len(values)), key=lambda i: (-(values[i] / weights[i]), i)):
        counts[i] = min(limits[i], capacity // weights[i])
        capacity -= counts[i] * weights[i]
    return counts


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    """Draw up to five types, with all that makes trouble: ties, divisors, tight limits."""
    n = draw(st.integers(0, 5))
    divisor = draw(st.sampled_from([1, 1, 6, 10**6]))
    heaviest = draw(st.sampled_from([4, 15, 60]))
    weights = [divisor * draw(st.integers(1, heaviest)) for _ in range(n)]
    kind = draw(st.sampled_from(["whole", "equal densities", "nearly equal", "any"]))
    if kind == "whole":
        values = [float(draw(st.integers(0, 9))) for _ in range(n)]
    elif kind == "equal densities":
        values = [w / divisor * 0.1 for w in weights]
    elif kind == "nearly equal":
        values = [w / divisor + draw(st.floats(0, 0.2)) for w in weights]
    else:
        values = [draw(st.floats(0, 3)) for _ in range(n)]
    limits = [draw(st.sampled_from([0, 1, 1, 2, 3, 5])) for _ in range(n)]
    capacity = draw(st.integers(0, divisor * heaviest * 6))
    return values, weights, limits, capacity


@st.composite
def instances_in_odd_money(draw: st.DrawFn) -> Instance:
    """Draw prices in micro-units without a divisor: no table over weights would hold them."""
    n = draw(st.integers(1, 6))
    weights = [draw(st.integers(3 * 10**6, 10**8)) for _ in range(n)]
    values = [draw(st.floats(0.01, 3)) for _ in range(n)]
    limits = [draw(st.integers(0, 3)) for _ in range(n)]
    return values, weights, limits, draw(st.integers(0, sum(weights) * 2))


def test_greedy_takes_the_densest_first_and_then_whatever_still_fits() -> None:
    # Densities 2, 1.5, 1.2 and 0.5. Of 20: two of type 1 (8), one of type 0 (6), none of
    # type 3 (10 is too heavy for the 6 left), six of type 2.
    counts = bounded_greedy([9.0, 8.0, 0.5, 12.0], [6, 4, 1, 10], [1, 2, 9, 9], 20)
    assert counts.tolist() == [1, 2, 6, 0]
    assert counts.dtype == np.int64


def test_greedy_breaks_ties_by_the_lowest_index() -> None:
    assert bounded_greedy([2.0, 1.0, 3.0], [2, 1, 3], [1, 1, 1], 3).tolist() == [1, 1, 0]


def test_greedy_takes_worthless_units_and_the_optimum_leaves_them() -> None:
    assert bounded_greedy([0.0, 1.0], [1, 2], None, 5).tolist() == [1, 2]
    assert bounded_exact([0.0, 1.0], [1, 2], None, 5).tolist() == [0, 2]
    assert bounded_fractional([0.0, 1.0], [1, 2], [5, 2], 5).tolist() == [0.0, 2.0]


def test_fractional_cuts_the_unit_that_no_longer_fits() -> None:
    counts = bounded_fractional([3.0, 4.0, 1.0], [2, 4, 1], [2, 3, 5], 11)
    assert counts.tolist() == [2.0, 1.75, 0.0]
    assert counts.dtype == np.float64


def test_exact_gives_up_the_densest_type_if_the_rest_fills_better() -> None:
    # 10 + 0 with 4 left over, or 7 + 7.
    assert bounded_exact([10.0, 7.0], [6, 5], None, 10).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("instance", "plan"),
    [
        # Greedy: 2 of the third, 1 of the second, 31. Three of the second: 33.
        (([4.0, 11.0, 10.0], [8, 6, 5], [2, 3, 2], 19), [0, 3, 0]),
        # Greedy: 2 of the second and the first, 22. One of each: 23, and 10 is full.
        (([2.0, 10.0, 11.0], [2, 3, 5], [1, 2, 2], 10), [1, 1, 1]),
        # Greedy: 2 x 8 + 11 + 6 at 19. Without the 11: 2 x 8 + 3 x 6 = 34 at 20.
        (([11.0, 8.0, 6.0], [7, 4, 4], [3, 2, 3], 21), [0, 2, 3]),
        # Three of the first would fill 18 with 48, but there are two: two of the second, 38.
        (([16.0, 19.0], [6, 7], [2, 6], 18), [0, 2]),
    ],
)
def test_limits_that_defeat_the_residues_are_met_by_the_states(
    instance: Instance, plan: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bounded_exact(*instance).tolist() == plan
    monkeypatch.setattr(states, "MAX_STATES", 0)
    with pytest.raises(TooLarge, match="capacity: an exact plan for"):
        bounded_exact(*instance)


def test_the_exact_solver_gives_up_rather_than_approximate(monkeypatch: pytest.MonkeyPatch) -> None:
    # Todd's instance: every state is undominated.
    n = 24
    weights = [2 ** (n + 6) + 2 ** (5 + j) + 1 for j in range(n)]
    monkeypatch.setattr(states, "MAX_STATES", 2000)
    with pytest.raises(TooLarge) as caught:
        bounded_exact([float(w) for w in weights], weights, [1] * n, sum(weights) // 2)
    assert caught.value.field == "capacity"


@pytest.mark.parametrize("solver", SOLVERS)
def test_nothing_is_taken_if_nothing_fits_or_nothing_is_allowed(solver: Any) -> None:
    assert solver([], [], None, 10).tolist() == []
    assert solver([5.0, 6.0], [3, 4], [0, 0], 10).tolist() == [0, 0]
    assert solver([5.0, 6.0], [3, 4], None, 0).tolist() == [0, 0]
    part = 2 / 3 if solver is bounded_fractional else 0
    assert solver([5.0, 6.0], [3, 4], None, 2).tolist() == [part, 0]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "limits", [None, [None, None], [3, None], (3, 4), [10**30, 4], np.array([2**63 - 1] * 2)]
)
def test_no_limit_is_the_same_as_one_that_can_not_bind(solver: Any, limits: Any) -> None:
    # Of the first 11 / 4 units fit, and after two of them one of the second.
    plan = [2.75, 0] if solver is bounded_fractional else [2, 1]
    assert solver([5.0, 1.0], [4, 3], limits, 11).tolist() == plan


def test_arrays_and_lists_give_the_same_plan_and_stay_as_they_were() -> None:
    values, weights, limits = np.array([3.0, 2.0]), np.array([3, 2], np.int32), np.array([5, 1])
    values.setflags(write=False)
    for solver in SOLVERS:
        assert solver(values, weights, limits, 10).tolist() == (
            solver([3.0, 2.0], [3, 2], [5, 1], 10).tolist()
        )
    assert limits.tolist() == [5, 1]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([-1.0], [1], [1], 1), "values: .*item 0 is -1"),
        (([1.0, float("nan")], [1, 1], [1, 1], 1), "values: .*item 1 is nan"),
        (([float("inf")], [1], [1], 1), "values: .*inf"),
        (([None], [1], [1], 1), "values: "),
        (([[1.0]], [1], [1], 1), "values: .*flat"),
        (([1.0], [0], [1], 1), "weights: must be at least 1, item 0 is 0"),
        (([1.0, 1.0], [2, -3], [1, 1], 1), "weights: .*item 1 is -3"),
        (([1.0], [1.5], [1], 1), "weights: .*whole"),
        (([1.0], [2**64], [1], 1), "weights: "),
        (([1.0], [1, 2], [1], 1), "weights: has 2 items, values has 1"),
        (([1.0], [1], [-1], 1), "limits: must be at least 0, item 0 is -1"),
        (([1.0], [1], [0.5], 1), "limits: .*whole"),
        (([1.0], [1], [1, 1], 1), "limits: has 2 items"),
        (([1.0], [1], [1], -1), "capacity: .*-1"),
        (([1.0], [1], [1], 1.5), "capacity: .*1.5"),
        (([1.0], [1], [1], 2**62), "capacity: "),
    ],
)
def test_input_that_makes_no_sense_is_refused_by_name(
    solver: Any, arguments: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        solver(*arguments)


@given(instances())
def test_greedy_follows_its_definition(instance: Instance) -> None:
    assert bounded_greedy(*instance).tolist() == greedy_by_definition(*instance)


@pytest.mark.parametrize("n", [31, 32, 33, 200, 3000])
@pytest.mark.parametrize("share", [0.001, 0.3, 0.9])
def test_greedy_follows_its_definition_among_many(n: int, share: float) -> None:
    rng = np.random.default_rng(n)
    values = rng.integers(0, 40, n).astype(float).tolist()
    weights = rng.integers(1, 20, n).tolist()
    limits = rng.integers(0, 4, n).tolist()
    capacity = int(share * sum(w * m for w, m in zip(weights, limits, strict=True)))
    assert bounded_greedy(values, weights, limits, capacity).tolist() == (
        greedy_by_definition(values, weights, limits, capacity)
    )


@given(instances())
def test_greedy_leaves_no_room_for_another_unit(instance: Instance) -> None:
    _, weights, limits, capacity = instance
    counts = bounded_greedy(*instance)
    left = capacity - weight(weights, counts)
    assert left >= 0
    assert all(x == m or w > left for x, m, w in zip(counts, limits, weights, strict=True))


@given(st.one_of(instances(), instances_in_odd_money()))
def test_exact_is_as_good_as_the_best_of_all_plans(instance: Instance) -> None:
    values, weights, limits, capacity = instance
    counts = bounded_exact(*instance)
    assert weight(weights, counts) <= capacity
    assert all(0 <= x <= m for x, m in zip(counts, limits, strict=True))
    assert value(values, counts) >= best_by_trying_all(*instance) * CLOSE


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(0, 60)), min_size=1, max_size=4),
    st.integers(0, 400),
)
def test_exact_without_limits_is_as_good_as_the_textbook_recursion(
    items: list[tuple[int, int]], capacity: int
) -> None:
    best = [0] * (capacity + 1)
    for room in range(1, capacity + 1):
        best[room] = max([best[room - 1]] + [best[room - w] + v for w, v in items if w <= room])
    values = [float(v) for _, v in items]
    counts = bounded_exact(values, [w for w, _ in items], None, capacity)
    assert value(values, counts) == best[capacity]


def test_exact_agrees_with_a_table_over_the_capacity() -> None:
    rng = np.random.default_rng(11)
    for _ in range(400):
        n, capacity = int(rng.integers(2, 7)), int(rng.integers(5, 60))
        weights, values = rng.integers(2, 13, n), rng.integers(1, 21, n)
        limits = rng.integers(0, 7, n)
        best = [0] * (capacity + 1)
        for w, v, m in zip(weights.tolist(), values.tolist(), limits.tolist(), strict=True):
            for _ in range(m):
                for room in range(capacity, w - 1, -1):
                    best[room] = max(best[room], best[room - w] + v)
        counts = bounded_exact(values, weights, limits, capacity)
        assert (counts <= limits).all()
        assert counts @ weights <= capacity
        assert counts @ values == best[capacity]


@given(st.one_of(instances(), instances_in_odd_money()))
def test_fractional_meets_the_dual_bound(instance: Instance) -> None:
    values, weights, limits, capacity = instance
    items = list(zip(values, weights, limits, strict=True))
    counts = bounded_fractional(*instance)
    assert all(0 <= x <= m for x, m in zip(counts, limits, strict=True))
    used = value([float(w) for w in weights], counts)
    assert used * CLOSE <= capacity
    # By duality the optimum is the least of these, and the least is at some type's density.
    prices = [Fraction(0)] + [Fraction(v) / w for v, w, _ in items]
    dual = min(
        price * capacity
        + sum((m * max(Fraction(0), Fraction(v) - price * w) for v, w, m in items), Fraction())
        for price in prices
    )
    assert float(value(values, counts)) == pytest.approx(float(dual), rel=1e-12)


@given(st.one_of(instances(), instances_in_odd_money()))
def test_fractional_is_worth_no_less_than_exact_and_exact_no_less_than_greedy(
    instance: Instance,
) -> None:
    values = instance[0]
    fractional = value(values, bounded_fractional(*instance))
    exact = value(values, bounded_exact(*instance))
    greedy = value(values, bounded_greedy(*instance))
    assert fractional >= exact * CLOSE
    assert exact >= greedy * CLOSE


@given(instances(), st.integers(1, 10**9))
def test_the_unit_of_money_does_not_change_what_is_best(instance: Instance, unit: int) -> None:
    values, weights, limits, capacity = instance
    scaled = bounded_exact(values, [unit * w for w in weights], limits, unit * capacity + unit - 1)
    plain = bounded_exact(*instance)
    assert float(value(values, scaled)) == pytest.approx(float(value(values, plain)), rel=1e-9)


@pytest.mark.parametrize("factor", [1e-315, 1e-200, 1.0, 1e200, 1e300])
def test_values_of_any_magnitude_are_told_apart(factor: float) -> None:
    values = [factor * v for v in (2.0, 10.0, 11.0)]
    assert bounded_exact(values, [2, 3, 5], [1, 2, 2], 10).tolist() == [1, 1, 1]


def test_capacities_up_to_the_last_bit_do_not_overflow() -> None:
    capacity = 2**61
    third = capacity // 3
    for solver in (bounded_greedy, bounded_exact):
        counts = solver([3.0, 2.0, 1.0], [third + 2, third + 1, third], [5, 5, 5], capacity)
        assert weight([third + 2, third + 1, third], counts) <= capacity
    assert bounded_exact([3.0, 2.9], [capacity - 1, capacity // 2], None, capacity).tolist() == (
        [0, 2]
    )
    assert bounded_exact([1.0], [1], None, capacity).tolist() == [capacity]


@given(instances())
def test_the_kernels_write_what_the_functions_return(instance: Instance) -> None:
    values, weights, limits, capacity = instance
    arrays = np.array(values), np.array(weights, np.int64), np.array(limits, np.int64)
    counts = np.full(len(values), -7, np.int64)
    left = greedy_into(*arrays, capacity, counts)
    assert counts.tolist() == bounded_greedy(*instance).tolist()
    assert left == capacity - weight(weights, counts)
    assert exact_into(*arrays, capacity, states.MAX_STATES, counts) == 0
    assert counts.tolist() == bounded_exact(*instance).tolist()
