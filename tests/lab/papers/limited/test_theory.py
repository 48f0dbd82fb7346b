"""Bounds of paper 001, against hand-worked values, exact errors and brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from askwise.core.errors import AskwiseError
from askwise.kernels.knapsack import bounded_exact
from askwise.lab.papers.limited.theory import error_bound, theorem_4_2, theorem_4_3, value_needed


def majority_error(p: float, votes: int) -> float:
    """How often an odd number of votes is wrong."""
    return float(binom.cdf(votes // 2, votes, p))


def test_the_printed_form_of_theorem_5_1_is_false() -> None:
    true = majority_error(0.6, 201)
    assert true == pytest.approx(0.0021, abs=5e-5)
    assert error_bound(201 * 0.2, 201, printed=True) == pytest.approx(0.0003, abs=5e-5)
    assert error_bound(201 * 0.2, 201) == pytest.approx(math.exp(-4.02))
    assert error_bound(201 * 0.2, 201, printed=True) < true < error_bound(201 * 0.2, 201)


@given(p=st.floats(0.51, 0.99), half=st.integers(0, 150))
def test_the_corrected_form_bounds_every_majority(p: float, half: int) -> None:
    votes = 2 * half + 1
    assert majority_error(p, votes) <= error_bound(votes * (2 * p - 1), votes) + 1e-12


def test_the_corrected_form_bounds_the_vote_over_three_labels() -> None:
    # Five votes at p = .7, all 243 outcomes; a tie counts as wrong. v = .7 - .15.
    wrong = 0.0
    for said in itertools.product(range(3), repeat=5):
        votes = [said.count(label) for label in range(3)]
        if votes[0] <= max(votes[1:]):
            wrong += math.prod(0.7 if label == 0 else 0.15 for label in said)
    assert wrong <= error_bound(5 * 0.55, 5, labels=3)


@pytest.mark.parametrize("printed", [True, False])
def test_the_value_needed_is_where_the_bound_meets_the_error(printed: bool) -> None:
    value = value_needed(0.03, 50, labels=4, largest=2.0, printed=printed)
    assert error_bound(value, 50, labels=4, largest=2.0, printed=printed) == pytest.approx(0.03)


def test_no_value_no_bound() -> None:
    assert error_bound(-3, 10) == 1.0
    assert error_bound(0.1, 10) <= 1.0


VALUES, PRICES, LIMITS = [0.8, 0.5, 0.1], [1, 1, 2], [400, 900, 900]
"""Efficiencies .8, .5, .05. With 1000 the first is used up and the second splits."""


def test_theorem_4_2_by_hand() -> None:
    # d_s = .3, Q_min = .45: (8 / .09 + 4) ln N + pi^2 / 3 + 1.
    due = (8 / 0.09 + 4) * math.log(700) + math.pi**2 / 3 + 1
    assert theorem_4_2(700, VALUES, PRICES, LIMITS, 1000) == pytest.approx(due)
    # With 300 the first splits: there is nobody before them, and the second is .3 behind.
    assert theorem_4_2(700, VALUES, PRICES, LIMITS, 300) == pytest.approx(due)
    # With 2000 the third does, and nobody is behind: .45.
    due = (8 / 0.45**2 + 4) * math.log(700) + math.pi**2 / 3 + 1
    assert theorem_4_2(700, VALUES, PRICES, LIMITS, 2000) == pytest.approx(due)


def test_the_order_of_workers_does_not_matter() -> None:
    turned = theorem_4_3(VALUES[::-1], PRICES[::-1], LIMITS[::-1], 1000)
    assert turned == pytest.approx(theorem_4_3(VALUES, PRICES, LIMITS, 1000))


def test_workers_who_can_not_be_told_apart_have_no_bound() -> None:
    assert theorem_4_2(10, [0.5, 0.5], [1, 1], [9, 9], 12) == math.inf


def test_theorem_4_3_by_hand() -> None:
    # v_s + e_1 (C_max + sum c * (7)) with N = 1000 / 1.
    beyond = theorem_4_2(1000, VALUES, PRICES, LIMITS, 1000)
    due = 0.5 + 0.8 * (2 + 4 * beyond)
    assert theorem_4_3(VALUES, PRICES, LIMITS, 1000) == pytest.approx(due)


@given(data=st.data())
def test_what_selections_beyond_the_plan_cost_is_at_most_what_theorem_4_3_says(
    data: st.DataObject,
) -> None:
    """The step from (7) to 4.3: for any selections that leave less than C_max, by exact plans."""
    count = data.draw(st.integers(2, 4))
    values = np.array([data.draw(st.integers(0, 100)) for _ in range(count)]) / 100
    prices = np.array([data.draw(st.integers(1, 4)) for _ in range(count)])
    limits = np.array([data.draw(st.integers(1, 6)) for _ in range(count)])
    budget = data.draw(st.integers(1, int(prices @ limits)))
    chosen = np.zeros(count, int)
    # Any run: workers in some order, until nobody can be asked.
    while True:
        able = np.flatnonzero((chosen < limits) & (prices <= budget - prices @ chosen))
        if len(able) == 0:
            break
        chosen[data.draw(st.sampled_from(list(able)))] += 1
    rounded, left = np.zeros(count, int), budget
    split = -1
    for worker in np.argsort(-values / prices, kind="stable"):
        rounded[worker] = min(limits[worker], left // prices[worker])
        left -= rounded[worker] * prices[worker]
        split = worker
        if rounded[worker] < limits[worker]:
            break
    best = bounded_exact(values, prices, limits, budget) @ values
    beyond = np.maximum(0, chosen - rounded)
    most = values[split] + (values / prices).max() * (prices.max() + prices @ beyond)
    assert best - chosen @ values <= most + 1e-9


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: theorem_4_2(0.5, [1], [1], [1], 1), "selections"),
        (lambda: theorem_4_2(5, [1, 1], [1], [1], 1), "prices"),
        (lambda: theorem_4_2(5, [-1], [1], [1], 1), "values"),
        (lambda: theorem_4_3([1], [0], [1], 1), "prices"),
        (lambda: theorem_4_3([1], [1], [1], 0), "budget"),
        (lambda: error_bound(1, 0), "evaluations"),
        (lambda: error_bound(1, 1, labels=1), "labels"),
        (lambda: error_bound(1, 1, largest=0), "largest"),
        (lambda: value_needed(1.0, 1), "error"),
    ],
)
def test_bad_input_is_refused_by_name(call: object, field: str) -> None:
    with pytest.raises(AskwiseError) as caught:
        call()  # type: ignore[operator]
    assert caught.value.field == field
