"""What the study on three tables says of its rows: worked out by hand."""

from __future__ import annotations

from askwise.figures import Row
from askwise.lab.papers.labels.studies.uci import OVERALL, at_a_third


def row(panel: str, series: str, x: float, mean: float, half: float = 0.02262) -> Row:
    # The 97.5% point of Student's t with 9 degrees of freedom is 2.262: a standard error of .01.
    return Row(panel, series, x, "accuracy", mean, mean - half, mean + half, 10)


def test_hem_is_compared_at_a_third_of_the_answers_with_the_error_of_both() -> None:
    rows = []
    for panel, ours in (("a, one-coin", 0.91), ("b, one-coin", 0.89), ("c, one-coin", 0.85)):
        rows += [row(panel, "hem", 5, ours), row(panel, "hem", 15, 0.99)]
        rows += [row(panel, "bbta", 5, 0.5), row(panel, "bbta", 15, 0.9)]
    rows += [row(OVERALL, "hem", 5, 0.883), row(OVERALL, "bbta", 15, 0.9)]
    (said,) = at_a_third(rows)
    # The root of .01 squared twice is .014: .05 is more than two of it, .01 is not.
    assert "a, one-coin +0.010 (0.014), b, one-coin -0.010 (0.014)" in said
    assert f"{OVERALL} -0.017 (0.014)" in said
    assert said.endswith(
        "at least as good in 1 of 3 cases, and behind by more than two standard errors in 1."
    )


def test_without_a_third_of_the_largest_budget_nothing_is_compared() -> None:
    assert at_a_third([row("a, x", "hem", 2, 0.9), row("a, x", "bbta", 15, 0.9)]) == []
    assert at_a_third([row("a, x", "hem", 5, 0.9)]) == []
