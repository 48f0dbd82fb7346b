"""Critical bids: against GA itself at prices nearby, and Clarke's against trying all sets."""

from __future__ import annotations

import itertools
import math
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.errors import InvalidParameter
from askwise.kernels.knapsack import cover_greedy
from askwise.policies.assured.sets import (
    cheapest_set,
    critical_bids,
    critical_bids_exact,
    error_probability,
)

Instance = tuple[list[Any], list[float], float]


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    n = draw(st.integers(1, 9))
    money: st.SearchStrategy[float] = draw(
        st.sampled_from(
            [st.integers(0, 5), st.integers(1, 10**7), st.floats(0.1, 50.0), st.just(2)]
        )
    )
    gain = st.one_of(st.sampled_from([-0.2, 0.0, 0.1, 0.2, 0.3, 0.5, 1.0]), st.floats(0.05, 1.0))
    costs = [draw(money) for _ in range(n)]
    gains = [draw(gain) for _ in range(n)]
    return costs, gains, draw(st.sampled_from([0.3, 0.7, 0.9, 1.5, 2.0]))


def chosen_at(costs: list[Any], gains: list[float], demand: float, i: int, price: float) -> bool:
    changed = [*map(float, costs)]
    changed[i] = price
    return i in cover_greedy(changed, gains, demand)[0]


@given(instances())
def test_a_worker_is_chosen_just_below_their_critical_bid_and_not_just_above(
    instance: Instance,
) -> None:
    costs, gains, demand = instance
    indices, _, feasible = cover_greedy(costs, gains, demand)
    bids = critical_bids(costs, gains, demand)
    assert len(bids) == len(indices)
    for i, bid in zip(indices, bids, strict=True):
        assert bid >= costs[i]
        if not feasible:
            assert bid == math.inf
            continue
        below = [costs[i], costs[i] + 0.5 * (min(bid, 1e9) - costs[i]), bid * (1 - 1e-9)]
        for price in below:
            if costs[i] <= price < bid:
                assert chosen_at(costs, gains, demand, i, price)
        if bid == math.inf:
            assert chosen_at(costs, gains, demand, i, 1e12)
        else:
            assert not chosen_at(costs, gains, demand, i, bid * (1 + 1e-9) + 1e-12)
            assert not chosen_at(costs, gains, demand, i, 3 * bid + 1.0)


@given(instances(), st.floats(0.0, 1.0))
def test_who_lowers_their_price_stays_in_gas_set(instance: Instance, share: float) -> None:
    costs, gains, demand = instance
    for i in cover_greedy(costs, gains, demand)[0]:
        assert chosen_at(costs, gains, demand, i, costs[i] * share)


def test_a_small_worker_passes_others_in_the_order() -> None:
    # Ratios 1, 2, 3: 0 and 1 reach 2. Worker 0 stays until their price is the third's.
    assert critical_bids([1, 2, 3], [1.0, 1.0, 1.0], 2.0) == [3.0, 3.0]
    # Big worker 1 closes {0, 1} at 12; the rival {0, 2, 3} costs 13: they may ask for one more.
    assert critical_bids([2, 10, 5, 6], [2.0, 5.0, 2.0, 2.0], 6.0)[1] == 11.0


def test_the_indispensable_may_ask_for_anything() -> None:
    assert critical_bids([1, 2], [1.0, 1.0], 2.0) == [math.inf, math.inf]
    assert critical_bids([1, 2, 3], [2.0, 0.5, 0.5], 2.0) == [math.inf]
    assert critical_bids([1, 2], [0.5, 0.5], 2.0) == [math.inf, math.inf]
    assert critical_bids([1, 2], [0.5, 0.5], 0.0) == []


def test_whole_costs_are_added_up_exactly() -> None:
    large = 2**55 + 1
    assert critical_bids([large, large + 2], [1.0, 1.0], 1.0) == [float(large + 2)]


def test_the_papers_market_takes_no_time() -> None:
    rng = np.random.default_rng(0)
    costs = np.concatenate((np.full(600, 20.0), rng.uniform(10, 20, 500)))
    q = np.concatenate((np.full(600, 2 / 3), rng.uniform(2 / 3, 1, 500)))
    begun = time.process_time()
    bids = critical_bids(costs, 2 * q - 1, 6 * math.log(10))
    # In plain Python; compiled it is some hundred times faster.
    assert time.process_time() - begun < 5.0
    indices = cover_greedy(costs, 2 * q - 1, 6 * math.log(10))[0]
    assert len(bids) == len(indices) == pytest.approx(15, abs=4)
    assert all(costs[i] <= bid < 25 for i, bid in zip(indices, bids, strict=True))


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (([1, -1], [0.5, 0.5], 1.0), "costs"),
        (([1, 1], [0.5], 1.0), "gains"),
        (([1, 1], [0.5, math.nan], 1.0), "gains"),
        (([1, 1], [0.5, 0.5], math.inf), "demand"),
    ],
)
def test_bad_input_is_named(arguments: Any, field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        critical_bids(*arguments)
    assert caught.value.field == field


def cheapest_cost(costs: list[int], q: list[float], alpha: float, name: str) -> float:
    return min(
        (
            sum(costs[i] for i in chosen)
            for size in range(len(q) + 1)
            for chosen in itertools.combinations(range(len(q)), size)
            if error_probability(name, [q[i] for i in chosen]) <= alpha * (1 + 1e-12)
        ),
        default=math.inf,
    )


@pytest.mark.parametrize("name", ["majority", "weighted-majority", "hoeffding-linear(epsilon=0.5)"])
def test_clarkes_payments_are_the_harm_to_the_others(name: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(12):
        costs = rng.integers(1, 9, 5).tolist()
        q = rng.uniform(0.6, 0.98, 5).tolist()
        best = cheapest_cost(costs, q, 0.15, name)
        bids = critical_bids_exact(costs, q, 0.15, name)
        harm = []
        for i in cheapest_set(costs, q, 0.15, name, "exact")[0]:
            without = cheapest_cost(costs[:i] + costs[i + 1 :], q[:i] + q[i + 1 :], 0.15, name)
            harm.append(without - (best - costs[i]) if without < math.inf else math.inf)
        assert bids == harm


def test_clarkes_payment_is_the_highest_price_at_which_one_is_in() -> None:
    # Three at .8 (error .104) cost 6, the single .9 costs 8.
    costs, q = [2, 2, 2, 8], [0.8, 0.8, 0.8, 0.9]
    assert critical_bids_exact(costs, q, 0.11) == [4.0, 4.0, 4.0]
    assert critical_bids_exact([2, 2, 2], [0.8] * 3, 0.11) == [math.inf] * 3
    assert critical_bids_exact([2, 3], [0.7, 0.6], 0.11) == [math.inf]
