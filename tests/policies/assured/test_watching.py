"""The test by which assurances are watched, against enumeration of what may happen."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

import pytest

from askwise.policies.assured.sets.base import function_of
from askwise.policies.assured.watching import (
    RATIOS,
    STEP,
    log_evidence,
    lowered,
    most_error,
)

Chance = Callable[[Sequence[float]], float]
"""How likely the next answer is wrong, after what came before."""


def expected(length: int, said: Sequence[float], chance: Chance, side: float) -> float:
    """The mean of the evidence after so many answers, over all that may come."""
    total = 0.0
    for found in product((0.0, 1.0), repeat=length):
        weight = 1.0
        for at, wrong in enumerate(found):
            likely = chance(found[:at])
            weight *= likely if wrong else 1.0 - likely
        mean = sum(said[:length]) / length
        total += weight * math.exp(log_evidence(float(length), sum(found), mean, side))
    return total


def test_the_evidence_of_one_wrong_answer_is_worked_out_by_hand() -> None:
    odds = [2.0 ** (k / 3) for k in range(1, 13)]
    due = sum(r / (0.9 + 0.1 * r) for r in odds) / 12
    assert math.exp(log_evidence(1.0, 1.0, 0.1, 1.0)) == pytest.approx(due, rel=1e-12)
    # Of 10 answers said to be wrong with .1 each, 3 were.
    due = sum(r**3 / (0.9 + 0.1 * r) ** 10 for r in odds) / 12
    assert math.exp(log_evidence(10.0, 3.0, 0.1, 1.0)) == pytest.approx(due, rel=1e-12)
    assert (RATIOS, math.exp(RATIOS * STEP)) == (12, pytest.approx(16.0))


@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_its_mean_is_one_if_answers_are_wrong_as_often_as_was_said(length: int) -> None:
    assert expected(length, [0.1] * 8, lambda _: 0.1, 1.0) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("length", [2, 5, 8])
def test_its_mean_is_at_most_one_whatever_was_said_of_each_answer(length: int) -> None:
    said = [0.1, 0.02, 0.07, 0.1, 0.001, 0.09, 0.05, 0.03]
    assert expected(length, said, lambda past: said[len(past)], 1.0) < 1.0
    # Less likely to be wrong than was said, and that by what came before.
    assert expected(length, said, lambda past: said[len(past)] / (1 + sum(past)), 1.0) < 1.0


def test_a_tie_is_worth_less_than_its_mean() -> None:
    # Wrong with .05 and tied with .1: a mean of .1.
    outcomes = {0.0: 0.85, 0.5: 0.1, 1.0: 0.05}
    total = 0.0
    for found in product(outcomes, repeat=5):
        weight = math.prod(outcomes[each] for each in found)
        total += weight * math.exp(log_evidence(5.0, sum(found), 0.1, 1.0))
    assert 0.5 < total < 1.0


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_mean_of_changing_chances_is_tested_whatever_changes_them(side: float) -> None:
    """How often answers are wrong is bounded on the mean, also where that hangs on the past."""
    length = 8

    def chance(past: Sequence[float]) -> float:
        return 0.3 if past and past[-1] else 0.02 + 0.03 * len(past)

    total = 0.0
    for found in product((0.0, 1.0), repeat=length):
        chances = [chance(found[:at]) for at in range(length)]
        weight = math.prod(p if wrong else 1.0 - p for p, wrong in zip(chances, found, strict=True))
        mean = sum(chances) / length
        total += weight * math.exp(log_evidence(float(length), sum(found), mean, side))
    assert total <= 1.0


@pytest.mark.parametrize(("side", "error"), [(1.0, 0.1), (-1.0, 0.2)])
def test_looking_after_every_answer_gives_a_false_alarm_as_rarely_as_promised(
    side: float, error: float
) -> None:
    """Exactly, for 150 answers, over the paths of how many were wrong."""
    level, going = 0.05, {0: 1.0}
    alarms = 0.0
    for count in range(1, 151):
        after: dict[int, float] = {}
        for wrong, weight in going.items():
            after[wrong] = after.get(wrong, 0.0) + weight * (1.0 - error)
            after[wrong + 1] = after.get(wrong + 1, 0.0) + weight * error
        going = {}
        for wrong, weight in after.items():
            if log_evidence(float(count), float(wrong), error, side) >= -math.log(level):
                alarms += weight
            elif weight > 1e-12:
                going[wrong] = weight
    assert 0.005 < alarms < level


def test_the_most_error_is_where_the_evidence_is_just_enough() -> None:
    for count, wrong in ((50.0, 0.0), (200.0, 31.0), (200.0, 31.5), (1000.0, 100.0)):
        most = most_error(count, wrong, 0.05)
        assert wrong / count < most < 1.0
        assert log_evidence(count, wrong, most, -1.0) == pytest.approx(math.log(20.0), abs=1e-6)
    assert most_error(0.0, 0.0, 0.05) == 1.0
    # A single answer refutes nothing.
    assert most_error(1.0, 1.0, 0.05) == 1.0


def test_a_lowered_target_is_the_functions_own_at_that_error() -> None:
    for error in ("majority", "hoeffding-linear(epsilon=0.2)"):
        function = function_of(error)
        found, due = lowered(function.target(0.1), 0.04), function.target(0.1 - 0.04)
        assert found == due
