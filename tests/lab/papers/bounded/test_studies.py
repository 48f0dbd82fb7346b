"""Reproduction of Table 1 against reference figures from an independent implementation."""

from __future__ import annotations

import numpy as np
import pytest

from askwise.lab import with_settings
from askwise.lab.papers.bounded.studies.common import RECOMMENDED
from askwise.lab.results import Results
from askwise.lab.runner import run

# Thousands of campaigns, which are the compiler's work.
pytestmark = pytest.mark.compiled

BUDGETS = (500, 5000, 30000, 100000)

REFERENCE = {
    "bounded-epsilon-first": (0.827, 0.832, 0.895, 0.944),
    "budget-limited-epsilon-first": (0.851, 0.842, 0.528, 0.322),
    "trialsourcing": (0.622, 0.730, 0.342, 0.186),
    "random": (0.441, 0.331, 0.180, 0.123),
    "uniform": (0.274, 0.160, 0.135, 0.174),
    "bounded-kube": (0.574, 0.838, 0.960, 0.982),
    "simplified-bounded-kube": (0.574, 0.838, 0.960, 0.982),
    "bounded-epsilon-first(by=density,exploration=successive-rejects)": (
        0.833, 0.857, 0.903, 0.946,
    ),
    "bounded-epsilon-first(by=density,exploration=hoeffding-races)": (0.831, 0.839, 0.924, 0.975),
}  # fmt: skip
"""Shares of the optimum in the default market; their own 95% half-widths are up to .01."""

LESS_EXPLORED = "bounded-epsilon-first(by=density,exploration=successive-rejects)"
"""Explores less than its reference, which takes the residual as what the phases will not need if
workers are rejected in the order of their index. So it may do better: with that residual it has
.823, .863, .913 and .954 (400 runs)."""

REFERENCE_ERROR = 0.01 / 1.96


def check_against_reference(results: Results) -> None:
    """Check that shares are within three combined standard errors of the reference, or .02."""
    for row in results.rows:
        if row.metric != "share_of_optimum" or row.series not in REFERENCE:
            continue
        wanted = REFERENCE[row.series][BUDGETS.index(int(row.x))]
        own_error = (row.ci_high - row.ci_low) / 3.92
        margin = max(0.02, 3 * float(np.hypot(own_error, REFERENCE_ERROR)))
        assert wanted - row.mean <= margin, (row, wanted)
        assert row.mean - wanted <= margin or row.series == LESS_EXPLORED, (row, wanted)


def share(results: Results, series: str, budget: int) -> float:
    return next(
        row.mean
        for row in results.rows
        if (row.series, row.x, row.metric) == (series, budget, "share_of_optimum")
    )


@pytest.mark.slow
def test_a_small_sample_of_table_1_agrees_with_the_reference() -> None:
    policies = ",".join(
        [*(name for name in REFERENCE if name not in ("bounded-kube",)), "knowledge-gradient"]
    )
    settings = {"budgets": "500,5000", "policies": policies}
    results = run(with_settings("bounded-table1", settings), reps=200, seed=11)
    check_against_reference(results)
    assert share(results, "knowledge-gradient", 5000) > 0.97


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_table_1_agrees_with_the_reference_at_every_budget() -> None:
    results = run(with_settings("bounded-table1", {}), reps=1000, seed=1, jobs=2)
    check_against_reference(results)
    for ours in (RECOMMENDED, "thompson-knapsack", "knowledge-gradient"):
        assert share(results, ours, 5000) > 0.97
        assert share(results, ours, 30000) > 0.98
        # All beat every policy of the paper at every budget.
        for budget in BUDGETS:
            assert share(results, ours, budget) > max(
                share(results, rival, budget) for rival in REFERENCE
            )
