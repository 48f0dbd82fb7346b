"""How ``hem`` stands against the others: worked out by hand from a few rows."""

from __future__ import annotations

import numpy as np
import pytest

from askwise.figures import Row
from askwise.lab.papers.labels.studies.standing import (
    GAIN,
    LEAD,
    behind,
    gains,
    is_behind,
    laws,
    leads,
    means,
)
from askwise.lab.replaying.contenders import contender


def row(panel: str, series: str, x: float, metric: str, mean: float) -> Row:
    return Row(panel, series, x, metric, mean, mean, mean, 1)


def test_leads_are_taken_run_by_run_and_left_out_where_a_run_is_missing() -> None:
    named = ("random-pairs", "hem", "bbta", "hem(target=0.05)")
    contenders = [contender(label) for label in named]
    # By run, budget and contender; with a target it is the same policy.
    accuracy = np.array([[[0.5, 0.7, 0.6, 0.9]], [[0.7, 0.8, np.nan, 0.9]]])
    (only,) = leads("rte", accuracy, (2.0,), contenders)
    assert (only.panel, only.series, only.x, only.metric) == ("rte", "random-pairs", 2.0, LEAD)
    assert only.mean == pytest.approx(0.15)
    # Student's t with one degree of freedom, 12.706, times the standard error of (.2, .1): .05.
    assert only.ci_high - only.mean == pytest.approx(12.706 * 0.05, abs=1e-3)


def test_gains_compare_the_last_budget_with_each_before_it_for_ours_alone() -> None:
    contenders = [contender("random-pairs"), contender("hem")]
    accuracy = np.array([[[0.5, 0.6], [0.5, 0.7], [0.9, 0.65]]])
    found = gains("rte", accuracy, (1.0, 2.0, 3.0), contenders)
    assert [(each.series, each.x, each.metric) for each in found] == [
        ("hem", 1.0, GAIN), ("hem", 2.0, GAIN),
    ]  # fmt: skip
    assert [each.mean for each in found] == pytest.approx([0.05, -0.05])


@pytest.mark.parametrize(("mean", "expected"), [(-0.031, True), (-0.029, False), (0.1, False)])
def test_being_behind_takes_more_than_a_little_and_two_standard_errors(
    mean: float, expected: bool
) -> None:
    # The 97.5% point of Student's t with 9 degrees of freedom is 2.262: a standard error of .01.
    lead = Row("rte", "bbta", 1.0, LEAD, mean, mean - 0.02262, mean + 0.02262, 10)
    assert is_behind(lead, 0.01) is expected


def test_each_point_counts_once_by_the_best_of_the_others() -> None:
    rows = [
        row("a", "bbta", 1, LEAD, -0.02), row("a", "random-pairs", 1, LEAD, -0.03),
        row("a", "bbta", 2, LEAD, 0.1), row("b", "bbta", 1, LEAD, -0.01),
    ]  # fmt: skip
    (said,) = behind(rows)
    assert "at 2 of 3 (66.7%); behind on a at 1 by 0.030 (random-pairs)." in said
    within = "at 3 of 3 (100.0%); its lowest mean difference is on a at 1 by 0.030 (random-pairs)."
    assert behind(rows, 0.04)[0].endswith(within)
    assert behind(rows[2:3])[0].endswith("at 1 of 1 (100.0%).")
    assert behind([]) == []


def test_means_are_over_the_sets_on_which_both_were_measured() -> None:
    rows = [
        row("a", "hem", 1, "accuracy", 0.8), row("a", "bbta", 1, "accuracy", 0.7),
        row("a", "hem", 6, "accuracy", 0.9), row("a", "bbta", 6, "accuracy", 0.9),
        row("b", "hem", 1, "accuracy", 0.6), row("b", "hem", 4, "accuracy", 0.7),
        row("b", "bbta", 4, "accuracy", 0.8), row("c", "bbta", 1, "accuracy", 0.1),
    ]  # fmt: skip
    assert means(rows, (1.0, 2.0)) == [
        "Mean accuracy with 1 N answers (N tasks): bbta 0.700 (hem 0.800, sets: 1).",
        "Mean accuracy with all recorded answers: bbta 0.850 (hem 0.800, sets: 2).",
    ]


def test_laws_name_the_sets_that_break_them() -> None:
    rows = [
        row("a", "random-pairs", 1, LEAD, -0.004), row("b", "random-pairs", 1, LEAD, -0.006),
        row("b", "bbta", 1, LEAD, -0.5), row("a", "hem", 2, GAIN, -0.009),
        row("b", "hem", 1, GAIN, -0.02), row("b", "hem", 2, GAIN, -0.03),
    ]  # fmt: skip
    alone, more = laws(rows)
    assert alone.endswith("on 1 of 2 sets; less on b at 1 by 0.006 (random-pairs).")
    assert more.endswith("on 1 of 2 sets; worse than at 1 by 0.020 on b, at 2 by 0.030 on b.")
    assert laws([]) == []
