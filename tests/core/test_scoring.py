"""Scores of labels: worked out by hand, and the laws they keep."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.arrays import Array
from askwise.core.scoring import (
    BINS,
    LEAST,
    ScoredLabels,
    Scores,
    calibration_error,
    least_calibration_error,
    log_loss,
    right_shares,
    score,
    spread,
)

NONE = math.nan


def labels(rows: list[list[float]], named: list[int] | None = None) -> ScoredLabels:
    """Labels by probabilities; the first of the largest is named."""
    probabilities = np.array(rows, np.float64)
    chosen = np.array(named) if named is not None else probabilities.argmax(axis=1)
    return ScoredLabels(chosen, probabilities[np.arange(len(rows)), chosen], probabilities)


# Only a confidence is known.


def test_the_rest_of_a_confidence_goes_evenly_to_the_other_options() -> None:
    found = spread(np.array([1, 0, -1, 2]), np.array([0.7, 1.0, 0.9, NONE]), 4)
    quarter = [0.25] * 4
    assert found.probabilities == pytest.approx(
        np.array([[0.1, 0.7, 0.1, 0.1], [1.0, 0.0, 0.0, 0.0], quarter, quarter])
    )
    # What names nothing reports nothing.
    assert np.isnan(found.confidence).tolist() == [False, False, True, True]


# Ties.


def test_a_tie_counts_the_share_of_those_tied() -> None:
    # Right; tied by two with the truth among them, and without; tied by three; wrong.
    said = labels([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.4, 0.4, 0.2], [1 / 3] * 3, [0.1, 0.2, 0.7]])
    right, tied = right_shares(said, np.array([0, 1, 2, 2, 0]))
    assert right == pytest.approx([1, 0.5, 0, 1 / 3, 0])
    assert tied.tolist() == [False, True, True, True, False]


def test_rounding_makes_no_difference_of_a_tie() -> None:
    right, tied = right_shares(labels([[0.5 + 1e-12, 0.5 - 1e-12]]), np.array([1]))
    assert (right.tolist(), tied.tolist()) == ([0.5], [True])
    right, tied = right_shares(labels([[0.5 + 1e-6, 0.5 - 1e-6]]), np.array([1]))
    assert (right.tolist(), tied.tolist()) == ([0.0], [False])


def test_what_is_named_counts_though_another_option_were_more_probable() -> None:
    right, tied = right_shares(labels([[0.6, 0.3, 0.1]], [1]), np.array([1]))
    assert (right.tolist(), tied.tolist()) == ([1.0], [False])


def test_nothing_named_is_a_guess_and_no_tie() -> None:
    said = spread(np.array([-1, -1]), np.array([NONE, NONE]), 4)
    right, tied = right_shares(said, np.array([0, 3]))
    assert (right.tolist(), tied.tolist()) == ([0.25, 0.25], [False, False])


def test_without_a_confidence_nothing_tells_a_tie() -> None:
    right, tied = right_shares(spread(np.array([1, 0]), np.full(2, NONE), 2), np.array([1, 1]))
    assert (right.tolist(), tied.tolist()) == ([1.0, 0.0], [False, False])


ROWS = st.lists(
    st.lists(st.integers(0, 3), min_size=3, max_size=3).filter(any), min_size=1, max_size=4
)


@given(ROWS, st.data())
def test_ties_by_share_are_the_mean_over_all_ways_to_break_them(
    counts: list[list[int]], data: st.DataObject
) -> None:
    rows = [[each / sum(row) for each in row] for row in counts]
    truths = np.array([data.draw(st.integers(0, 2)) for _ in rows])
    leaders = [[at for at, each in enumerate(row) if each == max(row)] for row in counts]
    broken = [np.mean(np.array(way) == truths) for way in itertools.product(*leaders)]
    # Each way is as likely as any other.
    right, tied = right_shares(labels(rows), truths)
    assert right.mean() == pytest.approx(np.mean(broken))
    assert tied.tolist() == [len(each) > 1 for each in leaders]


# Calibration.


def test_calibration_is_the_weighted_distance_in_each_bin() -> None:
    # In [.9, 1] a mean of .95, and 2 of 3 are right; in [.6, .7) .6, and 1 of 2.
    confidence = np.array([0.9, 0.95, 1.0, 0.6, 0.6])
    right = np.array([1.0, 1.0, 0.0, 1.0, 0.0])
    due = (3 * abs(0.95 - 2 / 3) + 2 * abs(0.6 - 0.5)) / 5
    assert calibration_error(confidence, right) == pytest.approx(due)


def test_an_edge_belongs_to_the_upper_bin_whatever_rounding_says() -> None:
    # 1 - .7 is .30000000000000004 and 1 - .9 is .09999999999999998: [.3, .4) and [.1, .2).
    for low, high in ((1 - 0.9, 0.15), (1 - 0.7, 0.35), (0.9, 1.0)):
        found = calibration_error(np.array([low, high]), np.array([1.0, 0.0]))
        assert found == pytest.approx(abs((low - 1.0) + high) / 2)


def test_in_two_bins_errors_do_not_cancel() -> None:
    assert calibration_error(np.array([0.25, 0.75]), np.array([1.0, 0.0])) == pytest.approx(0.75)
    assert calibration_error(np.array([0.25, 0.75]), np.array([1.0, 0.0]), 1) == pytest.approx(0.0)


@given(st.lists(st.sampled_from([0.0, 0.05, 0.3, 0.32, 0.9, 1.0]), min_size=1, max_size=8))
def test_the_least_calibration_error_is_near_the_mean_over_all_outcomes(each: list[float]) -> None:
    # Every way in which labels may turn out, weighed by its probability.
    confidence, due = np.array(each), 0.0
    for outcome in itertools.product((0.0, 1.0), repeat=len(each)):
        right = np.array(outcome)
        weight = float(np.prod(np.where(right == 1.0, confidence, 1.0 - confidence)))
        due += weight * (calibration_error(confidence, right) or 0.0)
    found = least_calibration_error(confidence)
    assert found is not None
    # One label of .5 is off by .5, and by .4 in the normal approximation, which is the worst.
    assert found == pytest.approx(due, rel=0.26, abs=1e-12)


def test_nothing_has_no_calibration_and_no_loss() -> None:
    assert least_calibration_error(np.zeros(0)) is None
    assert calibration_error(np.zeros(0), np.zeros(0)) is None
    assert log_loss(np.zeros((0, 2)), np.zeros(0, np.int64)) is None


SHARES = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=30
)


@given(SHARES, st.randoms(use_true_random=False))
def test_calibration_is_a_share_that_no_order_changes(
    pairs: list[tuple[float, float]], dice: object
) -> None:
    def of(rows: list[tuple[float, float]]) -> float:
        found = calibration_error(*np.array(rows).T)
        assert found is not None
        return found

    mixed = list(pairs)
    dice.shuffle(mixed)  # type: ignore[attr-defined]
    assert of(mixed) == pytest.approx(of(pairs), abs=1e-12)
    assert 0.0 <= of(pairs) <= 1.0
    # Not below the distance of the two means, nor above the mean distance of each.
    confidence, right = np.array(pairs).T
    assert of(pairs) >= abs(confidence.mean() - right.mean()) - 1e-12
    assert of(pairs) <= np.abs(confidence - right).mean() + 1e-12


@given(st.lists(st.integers(0, BINS), min_size=1, max_size=10))
def test_confidences_that_come_true_are_calibrated(tenths: list[int]) -> None:
    # Of ten labels at k tenths, k are right.
    confidence = np.repeat(np.array(tenths) / 10, 10)
    right = np.concatenate([np.arange(10) < each for each in tenths]).astype(float)
    assert calibration_error(confidence, right) == pytest.approx(0.0, abs=1e-12)


# Log loss.


def test_the_loss_is_the_mean_of_logs_and_never_infinite() -> None:
    rows = np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]])
    due = (math.log(2) + math.log(4) + 6 * math.log(10)) / 3
    assert log_loss(rows, np.array([0, 0, 1])) == pytest.approx(due)
    # Rounding may leave a probability a little above 1.
    assert log_loss(np.array([[1.0 + 1e-12, 0.0]]), np.array([0])) == 0.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_the_loss_is_within_its_bounds_and_falls_with_the_truths_probability(
    chances: list[float],
) -> None:
    def of(values: Array) -> float:
        found = log_loss(np.stack([values, 1 - values], axis=1), np.zeros(len(values), np.int64))
        assert found is not None
        return found

    values = np.array(chances)
    assert 0.0 <= of(values) <= -math.log(LEAST) + 1e-9
    assert of(np.sqrt(values)) <= of(values) + 1e-12


# All of them.


def test_scores_by_hand() -> None:
    said = ScoredLabels(
        np.array([0, 1, 0, -1]),
        np.array([0.9, 0.5, 0.8, NONE]),
        np.array([[0.9, 0.1], [0.5, 0.5], [0.8, 0.2], [0.5, 0.5]]),
    )
    found = score(said, np.array([0, 0, 1, 1]))
    # Right, tied, wrong, a guess. The guess reports no confidence, but has a probability.
    assert found.accuracy == pytest.approx((1 + 0.5 + 0 + 0.5) / 4)
    assert found.ties == 1
    assert found.ece == pytest.approx((0.1 + 0.0 + 0.8) / 3)
    assert found.log_loss == pytest.approx(
        -(math.log(0.9) + math.log(0.5) + math.log(0.2) + math.log(0.5)) / 4
    )


def test_an_option_without_a_confidence_leaves_neither_calibration_nor_loss() -> None:
    said = spread(np.array([0, 1]), np.array([0.9, NONE]), 2)
    assert score(said, np.array([0, 1])) == Scores(1.0, 0, None, None)


def test_where_nothing_is_named_there_is_a_loss_and_no_calibration() -> None:
    found = score(spread(np.array([-1]), np.array([NONE]), 4), np.array([2]))
    assert found == Scores(0.25, 0, None, pytest.approx(math.log(4)))
