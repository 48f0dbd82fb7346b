"""What the study on three tables says of its rows: worked out by hand."""

from __future__ import annotations

from askwise.figures import Row
from askwise.lab import with_settings
from askwise.lab.papers.labels.studies.recorded import leaders
from askwise.lab.papers.labels.studies.uci import CLUSTERS, OVERALL, at_a_third, claims


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


def test_only_sure_leads_of_bbta_are_counted() -> None:
    # An interval of .02262 on each side: .9 is apart from .85, not from .87.
    rows = [row("a, malicious", CLUSTERS, 15, 0.6, 0.0)]
    means = {"bbta": 0.9, "optkg": 0.85, "crowdsense": 0.87, "iethresh": 0.95}
    rows += [row("a, malicious", series, 15, mean) for series, mean in means.items()]
    (said,) = claims(rows)
    assert "of optkg in 1 of 1, behind in 0; of crowdsense in 0 of 1, behind in 0" in said
    assert "of iethresh in 0 of 1, behind in 1; the rest is too close to tell." in said


def test_the_worst_length_of_exploration_is_told_where_intervals_are_apart() -> None:
    study = with_settings("labels-exploration", {"budgets": "5"})
    rows = []
    for panel, none in (("a, x", 0.80), ("b, x", 0.87), ("c, x", 0.95)):
        rows += [row(panel, "bbta(explore=0)", 5, none), row(panel, "bbta(explore=10)", 5, 0.9)]
    said = study.differences(rows)[-1]
    assert "from all others, in 1 of 3 cases, surely not in 1 (the paper" in said
    assert "10 tasks are the best in 1, surely not in 1; the rest" in said


def test_a_highest_accuracy_counts_if_its_interval_is_apart_from_all_others() -> None:
    rows = [row("a", "hem", 5, 0.9), row("a", "bbta", 5, 0.85), row("a", "optkg", 5, 0.7)]
    rows += [row("b", "hem", 5, 0.9), row("b", "bbta", 5, 0.87), row("c", "hem", 5, 0.9)]
    (said,) = leaders(rows)
    assert said.endswith("budgets: hem (1), too close to tell (1 of 2).")
