"""The minimum knapsack: greedy (GA) and exact, against definition and brute force."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.errors import TooLarge
from askwise.kernels.knapsack import cover_exact, cover_greedy, states

Instance = tuple[list[Any], list[float], float]

SOLVERS: list[Any] = [cover_greedy, cover_exact]


def reaches(gains: list[float], chosen: Any, demand: float) -> bool:
    """Compare exactly, but for the shortfall that the docstring forgives."""
    total = sum((Fraction(gains[i]) for i in chosen), Fraction())
    return total >= Fraction(demand) * (1 - Fraction(1, 10**12))


def price(costs: list[Any], chosen: Any) -> Fraction:
    return sum((Fraction(costs[i]) for i in chosen), Fraction())


def best_by_trying_all(costs: list[Any], gains: list[float], demand: float) -> Any:
    useful = [i for i in range(len(costs)) if gains[i] > 0]
    sets = (
        list(chosen)
        for size in range(len(useful) + 1)
        for chosen in itertools.combinations(useful, size)
    )
    return min(
        ((price(costs, chosen), chosen) for chosen in sets if reaches(gains, chosen, demand)),
        default=None,
    )


def greedy_by_definition(costs: list[Any], gains: list[float], demand: float) -> Any:
    order = sorted(
        (i for i in range(len(costs)) if gains[i] > 0), key=lambda i: (costs[i] / gains[i], i)
    )
    small: list[int] = []
    candidates = []
    for j in order:
        if reaches(gains, [*small, j], demand):
            candidates.append((price(costs, [*small, j]), j, sorted([*small, j])))
        else:
            small.append(j)
    return min(candidates)[2] if candidates else None


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    n = draw(st.integers(0, 8))
    money: st.SearchStrategy[float] = st.one_of(
        st.integers(0, 4),
        st.integers(0, 30).map(lambda c: c * 10**6),
        st.integers(0, 10**8),
    )
    if draw(st.booleans()):
        # Multiples of 1/8, whose sums are exact: ties are ties.
        money = st.sampled_from([c / 8 for c in range(80)])
    costs = [draw(money) for _ in range(n)]
    gain = st.one_of(
        st.sampled_from([-0.2, 0.0, 0.1, 0.1, 0.2, 0.3, 0.5, 1.0]), st.floats(0.01, 1.0)
    )
    gains = [draw(gain) for _ in range(n)]
    demand = draw(st.sampled_from([0.3, 0.6, 0.7, 0.9, 1.0, 1.5, 2.0]))
    return costs, gains, demand


def test_greedy_closes_a_candidate_with_every_item_that_reaches_the_demand() -> None:
    # By cost per gain: 0 (1), 1 (2), 2 (2.5), 3 (3). Demand 6: 0 is small (2); 1 is big,
    # {0, 1} costs 12; 2 is small (4); 3 is big, {0, 2, 3} costs 2 + 5 + 6 = 13.
    costs, gains = [2, 10, 5, 6], [2.0, 5.0, 2.0, 2.0]
    assert cover_greedy(costs, gains, 6.0) == ([0, 1], 12, True)
    # If 1 cost 12 (2.4 per gain still before 2) its candidate would cost 14.
    assert cover_greedy([2, 12, 5, 6], gains, 6.0) == ([0, 2, 3], 13, True)


def test_greedy_keeps_small_items_that_a_big_one_makes_superfluous() -> None:
    assert cover_greedy([1, 10], [1.0, 10.0], 10.0) == ([0, 1], 11, True)
    assert cover_exact([1, 10], [1.0, 10.0], 10.0) == ([1], 10, True)


def test_greedy_prefers_the_lowest_index_among_candidates_of_equal_cost() -> None:
    # Ratios 5/6 and 5/7: item 1 comes first in order, item 0 by index.
    assert cover_greedy([5, 5], [6.0, 7.0], 6.0) == ([0], 5, True)


@pytest.mark.parametrize("seed", range(8))
def test_greedy_is_as_defined_where_many_small_items_follow_a_big_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Many that add next to nothing for next to nothing, some at no cost, and a few that do it all.
    dear = rng.random(80) < 0.2
    costs = np.where(dear, rng.integers(40, 60, 80), rng.integers(0, 3, 80)).tolist()
    gains = np.where(dear, rng.choice([1.0, 2.0, 4.0], 80), rng.integers(0, 4, 80) / 64).tolist()
    for demand in (0.5, 2.0, 3.99, sum(gains) - 0.25):
        chosen, _, feasible = cover_greedy(costs, gains, demand)
        assert feasible
        assert chosen == greedy_by_definition(costs, gains, demand)


def test_exact_prefers_the_first_list_among_sets_of_equal_cost() -> None:
    assert cover_exact([2, 1, 1, 2], [2.0, 1.0, 1.0, 2.0], 2.0) == ([0], 2, True)
    assert cover_exact([3, 1, 1, 2], [2.0, 1.0, 1.0, 2.0], 2.0) == ([1, 2], 2, True)
    # What costs nothing moves a list forward, but does not prolong a complete one.
    assert cover_exact([0, 2, 0], [0.5, 2.0, 0.5], 2.0) == ([0, 1], 2, True)
    assert cover_exact([5, 0, 3], [3.0, 1.0, 3.0], 6.0) == ([0, 1, 2], 8, True)


@pytest.mark.parametrize("solver", SOLVERS)
def test_all_items_are_returned_if_even_they_do_not_reach_the_demand(solver: Any) -> None:
    assert solver([3, 4, 5], [1.0, -1.0, 0.5], 1.6) == ([0, 1, 2], 12, False)
    assert solver([], [], 1.0) == ([], 0, False)
    assert solver([1.5], [0.0], 1e-300) == ([0], 1.5, False)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("demand", [0.0, -3.0])
def test_no_demand_needs_nobody(solver: Any, demand: float) -> None:
    assert solver([3, 4], [1.0, 1.0], demand) == ([], 0, True)


@pytest.mark.parametrize("solver", SOLVERS)
def test_useless_items_are_never_used_even_if_they_cost_nothing(solver: Any) -> None:
    assert solver([0, 0, 7], [0.0, -1.0, 2.0], 2.0) == ([2], 7, True)


@pytest.mark.parametrize("solver", SOLVERS)
def test_whole_costs_stay_whole_and_others_are_added_up_without_loss(solver: Any) -> None:
    _, cost, _ = solver([2**60 + 1, 1], [1.0, 1.0], 2.0)
    assert (cost, type(cost)) == (2**60 + 2, int)
    _, cost, _ = solver([0.1] * 10, [1.0] * 10, 10.0)
    assert (cost, type(cost)) == (1.0, float)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e12, 1e300])
def test_the_last_bit_of_a_sum_does_not_decide(solver: Any, scale: float) -> None:
    # Added one by one these come to .9999999999999999.
    assert solver([1] * 10, [0.1 * scale] * 10, 1.0 * scale) == (list(range(10)), 10, True)
    assert solver([1] * 3, [0.3 * scale] * 3, 0.9 * scale) == ([0, 1, 2], 3, True)
    assert not solver([1] * 3, [0.3 * scale] * 3, 0.9000001 * scale)[2]


def test_exact_minds_small_costs_beside_huge_ones() -> None:
    costs = [1e30, 1.0, 1.0000000001, 0.5]
    assert cover_exact(costs, [9.0, 1.0, 1.0, 1.0], 2.0) == ([1, 3], 1.5, True)


@pytest.mark.parametrize("costs", [[7] * 300, [0.7] * 300])
def test_a_crowd_of_equals_is_no_harder_than_a_handful(costs: list[Any]) -> None:
    indices, cost, feasible = cover_exact(costs, [0.8] * 300, 13.8155)
    assert (indices, feasible) == (list(range(18)), True)
    assert cost == pytest.approx(18 * costs[0])


def test_exact_is_no_dearer_than_greedy_in_a_large_crowd() -> None:
    rng = np.random.default_rng(5)
    costs, gains = rng.uniform(1, 20, 1100), rng.uniform(0, 1, 1100)
    indices, cost, feasible = cover_exact(costs, gains, 13.8155)
    assert feasible
    assert gains[indices].sum() >= 13.8155
    # The linear bound: the cheapest gain first, the last item in part.
    order = np.argsort(costs / gains)
    sums = np.cumsum(gains[order])
    last = int(np.searchsorted(sums, 13.8155))
    short = 13.8155 - (sums[last] - gains[order[last]])
    bound = costs[order[:last]].sum() + costs[order[last]] * short / gains[order[last]]
    assert bound <= cost <= cover_greedy(costs, gains, 13.8155)[1]


def test_the_exact_solver_gives_up_rather_than_approximate(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    gains = rng.uniform(0.1, 1, 60)
    monkeypatch.setattr(states, "MAX_STATES", 2000)
    with pytest.raises(TooLarge) as caught:
        cover_exact(gains + 0.1, gains, 13.8155)
    assert caught.value.field == "costs"


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([-1], [1.0], 1.0), "costs: must be at least 0, item 0 is -1"),
        (([1.0, float("nan")], [1.0, 1.0], 1.0), "costs: .*item 1 is nan"),
        (([float("inf")], [1.0], 1.0), "costs: "),
        (([2**61, 1], [1.0, 1.0], 1.0), "costs: their sum"),
        (([1], [float("nan")], 1.0), "gains: .*nan"),
        (([1], [1.0, 1.0], 1.0), "gains: has 2 items, costs has 1"),
        (([1], [1.0], float("nan")), "demand: .*nan"),
    ],
)
def test_input_that_makes_no_sense_is_refused_by_name(
    solver: Any, arguments: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        solver(*arguments)


@given(instances())
def test_greedy_follows_its_definition(instance: Instance) -> None:
    costs = instance[0]
    expected = greedy_by_definition(*instance)
    indices, cost, feasible = cover_greedy(*instance)
    assert feasible == (expected is not None)
    assert indices == (list(range(len(costs))) if expected is None else expected)
    assert float(cost) == pytest.approx(float(price(costs, indices)))


@given(instances())
def test_exact_is_the_first_of_the_cheapest_sets(instance: Instance) -> None:
    costs = instance[0]
    best = best_by_trying_all(*instance)
    indices, cost, feasible = cover_exact(*instance)
    assert feasible == (best is not None)
    assert indices == (list(range(len(costs))) if best is None else best[1])
    assert Fraction(cost) == price(costs, indices)


@given(
    st.lists(st.tuples(st.floats(0.001, 50), st.floats(0.01, 1)), min_size=1, max_size=8),
    st.floats(0.1, 3),
)
def test_exact_is_the_cheapest_set_at_any_prices(
    items: list[tuple[float, float]], demand: float
) -> None:
    costs, gains = [c for c, _ in items], [g for _, g in items]
    best = best_by_trying_all(costs, gains, demand)
    _, cost, feasible = cover_exact(costs, gains, demand)
    assert feasible == (best is not None)
    if best is not None:
        assert cost == pytest.approx(float(best[0]), rel=1e-13)


@given(instances())
def test_greedy_costs_at_most_twice_the_optimum(instance: Instance) -> None:
    _, greedy_cost, feasible = cover_greedy(*instance)
    _, cost, also_feasible = cover_exact(*instance)
    assert feasible == also_feasible
    assert cost <= greedy_cost
    assert not feasible or greedy_cost <= 2 * cost
