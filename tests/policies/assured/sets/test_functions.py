"""Error functions: against their definitions, their smoothness, and the checker."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.errors import InvalidParameter, UnknownPolicy
from askwise.policies.assured.sets import (
    ErrorFunction,
    check_error_function,
    ensure_error_function,
    error_probability,
    errors,
)
from askwise.policies.assured.sets.base import function_of

OURS = [
    "majority",
    "majority(ties=random)",
    "hoeffding",
    "hoeffding-linear",
    "hoeffding-linear(epsilon=0.4)",
    "most-likely-error",
    "weighted-majority",
]

probabilities = st.one_of(st.sampled_from([0.0, 0.3, 0.5, 0.6, 0.9, 1.0]), st.floats(0.0, 1.0))
profiles = st.lists(probabilities, max_size=7)


def outcomes(q: list[float]) -> Any:
    """Yield who is right, and how likely that is."""
    for right in itertools.product((False, True), repeat=len(q)):
        chance = math.prod(p if r else 1.0 - p for p, r in zip(q, right, strict=True))
        yield right, chance


@given(profiles)
def test_majority_is_the_chance_that_at_most_half_are_right(q: list[float]) -> None:
    wrong = sum(chance for right, chance in outcomes(q) if 2 * sum(right) < len(q))
    tie = sum(chance for right, chance in outcomes(q) if 2 * sum(right) == len(q))
    assert error_probability("majority", q) == pytest.approx(wrong + tie, abs=1e-14)
    assert error_probability("majority(ties=random)", q) == pytest.approx(
        wrong + tie / 2, abs=1e-14
    )


@given(profiles)
def test_no_vote_errs_less_than_the_weighted_majority(q: list[float]) -> None:
    # The best decision for every outcome, both truths being equally likely.
    best = 0.0
    for right, chance in outcomes(q):
        opposite = math.prod(1.0 - p if r else p for p, r in zip(q, right, strict=True))
        best += min(chance, opposite) / 2
    assert error_probability("weighted-majority", q) == pytest.approx(best, abs=1e-14)


@given(profiles)
def test_the_bounds_follow_their_formulas(q: list[float]) -> None:
    margin = sum(2 * p - 1 for p in q)
    plain = math.exp(-(margin**2) / (2 * len(q))) if margin > 0 else 1.0
    assert error_probability("hoeffding", q) == pytest.approx(plain)
    linear = math.exp(-max(0.0, margin) / 6)
    assert error_probability("hoeffding-linear", q) == pytest.approx(linear)
    half = sorted(q)[: (len(q) + 1) // 2]
    product = math.prod(1 - p for p in half)
    assert error_probability("most-likely-error", q) == pytest.approx(product, abs=1e-15)


def test_the_notes_examples() -> None:
    five = [0.6] * 5
    assert error_probability("most-likely-error", five) == pytest.approx(0.064)
    # 1 - P(at least 3 of 5) = .31744
    assert error_probability("majority", five) == pytest.approx(0.31744)
    assert error_probability("majority", [0.8] * 5) == pytest.approx(0.05792)
    assert error_probability("hoeffding-linear", [0.8] * 24) <= 0.1
    assert error_probability("hoeffding-linear", [0.8] * 23) > 0.1


def test_nobody_is_a_coin_where_votes_are_counted_and_no_promise_elsewhere() -> None:
    empty: list[float] = []
    assert error_probability("majority", empty) == 1.0
    assert error_probability("majority(ties=random)", empty) == 0.5
    assert error_probability("weighted-majority", empty) == 0.5
    for name in ("hoeffding", "hoeffding-linear", "most-likely-error"):
        assert error_probability(name, empty) == 1.0


def test_a_sure_worker_decides_the_weighted_vote() -> None:
    assert error_probability("weighted-majority", [0.6, 1.0, 0.7]) == 0.0
    assert error_probability("weighted-majority", [0.6, 0.0]) == 0.0
    assert error_probability("weighted-majority", [0.5] * 30) == 0.5


def test_a_large_weighted_vote_is_bounded_from_above_by_one_percent() -> None:
    q = np.random.default_rng(3).uniform(0.55, 0.75, 17)
    exact = error_probability("weighted-majority", q)
    # Workers who all but guess change the exact error by less than a millionth.
    padded = error_probability("weighted-majority", [*q, *[0.5 + 1e-9] * 5])
    assert exact * (1 - 1e-6) <= padded <= exact * 1.01
    # Equal workers: the weighted vote is the majority, in an odd set.
    equal = [0.7] * 25
    majority = error_probability("majority", equal)
    assert (
        majority * (1 - 1e-12) <= error_probability("weighted-majority", equal) <= majority * 1.01
    )


@pytest.mark.parametrize("name", OURS)
def test_our_functions_are_monotone_and_as_smooth_as_they_say(name: str) -> None:
    assert check_error_function(name, workers=7, profiles=150, seed=1) == []


@pytest.mark.parametrize("name", OURS)
def test_smoothness_holds_where_it_is_tight(name: str) -> None:
    # The steepest places: everybody near 1/2, near 1, or one half each.
    function = function_of(name)
    delta = 1e-4
    for n in range(1, 8):
        h = function.smoothness(delta, n)
        assert h is not None
        assert function.inverse_smoothness(h, n) == pytest.approx(delta)
        for size in range(n + 1):
            for sure in range(size + 1):
                low = np.array([1.0 - delta] * sure + [0.5] * (size - sure))
                drop = function.probability(low) - function.probability(low + delta)
                assert -1e-12 <= drop <= h * (1 + 1e-9)


def test_smoothness_of_majority_is_attained() -> None:
    # Three coins: the slope is 3 * C(2, 1) / 4; two sure workers: 2.
    assert function_of("majority(ties=random)").smoothness(0.1, 3) == pytest.approx(0.15)
    assert function_of("majority").smoothness(0.1, 3) == pytest.approx(0.2)
    assert function_of("weighted-majority").smoothness(0.1, 21) is None


@pytest.mark.parametrize("name", ["hoeffding-linear", "weighted-majority"])
def test_what_is_declared_decreasing_falls_with_every_worker_better_than_a_coin(name: str) -> None:
    rng = np.random.default_rng(0)
    assert function_of(name).decreasing
    for _ in range(50):
        q = rng.uniform(0.5, 1.0, 6)
        found = [error_probability(name, q[:k]) for k in range(7)]
        assert all(b <= a + 1e-12 for a, b in itertools.pairwise(found))


def test_functions_are_found_by_name_label_mapping_and_instance() -> None:
    q = [0.9, 0.8]
    for spec in (
        "majority(ties=random)",
        {"name": "majority", "ties": "random"},
        function_of("majority(ties=random)"),
    ):
        assert error_probability(spec, q) == pytest.approx(0.15)
    assert {name.partition("(")[0] for name in OURS} <= set(errors.names())


@pytest.mark.parametrize(
    ("spec", "q", "field"),
    [
        ("majority(ties=heads)", [0.5], "ties"),
        ("hoeffding-linear(epsilon=0)", [0.5], "epsilon"),
        ("hoeffding-linear(epsilon=0.6)", [0.5], "epsilon"),
        ("majority", [0.5, 1.2], "qualities"),
        ("majority", [0.5, math.nan], "qualities"),
        ("majority", [[0.5]], "qualities"),
        ("majority", ["a"], "qualities"),
        (3, [0.5], "error function"),
    ],
)
def test_what_is_not_valid_is_named(spec: Any, q: Any, field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        error_probability(spec, q)
    assert caught.value.field == field
    assert "\n" not in str(caught.value)


def test_an_unknown_function_is_answered_with_near_names() -> None:
    with pytest.raises(UnknownPolicy, match="majority"):
        error_probability("majorty", [0.5])


@dataclass(frozen=True)
class Rising(ErrorFunction):
    """Worse the better the first worker is."""

    name = "rising"

    def probability(self, qualities: Any) -> float:
        return float(qualities[0]) / 2 if len(qualities) else 0.5


@dataclass(frozen=True)
class Steep(ErrorFunction):
    """Changes faster than it says."""

    name = "steep"

    def probability(self, qualities: Any) -> float:
        return float(1.0 - qualities.mean()) if len(qualities) else 1.0

    def slope(self, workers: int) -> float | None:
        return 0.5


@dataclass(frozen=True)
class NotOne(ErrorFunction):
    """No probability."""

    name = "not-one"

    def probability(self, qualities: Any) -> float:
        return 2.0


def test_the_checker_names_set_profiles_and_values_of_a_violation() -> None:
    found = check_error_function(Rising())
    assert found
    assert "rising: set [" in found[0]
    assert "raised from (" in found[0]
    assert "error rises from" in found[0]
    assert "\n" not in found[0]
    assert "by more than the smoothness" in check_error_function(Steep())[0]
    assert "not one from 0 to 1" in check_error_function(NotOne())[0]


def test_the_checkers_findings_can_be_followed() -> None:
    sentence = check_error_function(Rising())[0]
    members = [int(i) for i in re.findall(r"set \[(.*?)\]", sentence)[0].split(",")]
    before, after = (
        np.array([float(q) for q in profile.split(", ")])
        for profile in re.findall(r"\((.*?)\)", sentence)
    )
    low, high = (float(x) for x in re.findall(r"from ([\d.]+) to ([\d.]+)", sentence)[-1])
    assert Rising().probability(before[members]) == pytest.approx(low, rel=1e-3)
    assert Rising().probability(after[members]) == pytest.approx(high, rel=1e-3)
    assert (after >= before).all()
    assert high > low


def test_a_users_function_is_refused_with_the_first_violation() -> None:
    with pytest.raises(InvalidParameter, match="error rises") as caught:
        ensure_error_function(Rising())
    assert caught.value.field == "error"
    for name in OURS:
        ensure_error_function(function_of(name))


def test_targets_are_plain_numbers() -> None:
    target = function_of("hoeffding-linear").target(0.1, "greedy")
    assert target.demand == pytest.approx(6 * math.log(10))
    assert all(isinstance(each, int | float) for each in target)
    assert function_of("majority(ties=random)").target(0.1).ties == 0.5
    assert Steep().target(0.1).code == -1
    for alpha in (0.0, 0.5, math.nan, "a", 1):
        with pytest.raises(InvalidParameter) as caught:
            function_of("majority").target(alpha)  # type: ignore[arg-type]
        assert caught.value.field == "alpha"
