"""Figures of paper 004: against exact values and an independent implementation."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

from askwise.figures import Row
from askwise.lab import runner
from askwise.lab.experiment import Experiment, experiments
from askwise.lab.papers.crowds.studies.common import cost_and_errors
from askwise.lab.papers.crowds.studies.promises import INSTANCES
from askwise.lab.papers.crowds.theory import exact_rules
from askwise.lab.worlds import Survey
from askwise.policies import PlansForAll, policies
from askwise.stopping import stopping

# Thousands of campaigns, which are the compiler's work.
pytestmark = pytest.mark.compiled

REFERENCE = {
    "printed-easy": {
        "rand-rr": (65.4, 52.8, 37.9, 25.3),
        "virt-ucb": (0.58, 0.62, 0.67, 0.74),
        "virt-thompson": (0.68, 0.73, 0.78, 0.83),
    },
    "printed-medium": {
        "rand-rr": (30.1, 24.4, 16.7, 10.5),
        "virt-ucb": (0.74, 0.76, 0.82, 0.89),
        "virt-thompson": (0.83, 0.85, 0.88, 0.92),
    },
    "printed-hard": {
        "rand-rr": (13.7, 11.1, 7.5, 4.7),
        "virt-ucb": (0.88, 0.90, 0.97, 1.04),
        "virt-thompson": (0.93, 0.93, 0.94, 0.93),
    },
}
"""Cost of RandRR, and of others relative to it, at these errors."""

ERRORS = (0.01, 0.02, 0.05, 0.1)


def run(name: str, reps: int, **settings: Any) -> tuple[Experiment, list[Row]]:
    experiment = experiments.get(name)(**settings)
    return experiment, list(runner.run(experiment, reps=reps, seed=1).rows)


def found(rows: list[Row], **place: Any) -> Row:
    matches = [
        row for row in rows if all(getattr(row, key) == value for key, value in place.items())
    ]
    assert len(matches) == 1, (place, matches)
    return matches[0]


# One crowd.


def single(reps: int) -> None:
    qualities = (0.5, 1.0, 1.5, 2.0)
    _, rows = run("survey-single", reps, qualities=qualities)
    for quality in qualities:
        known = exact_rules.over_gaps(0.05, 1.0, quality)
        cost = found(rows, panel="gap", series="rule (1)", x=quality, metric="cost")
        error = found(rows, panel="gap", series="rule (1)", x=quality, metric="error")
        slack = 3 * max(1.0, math.sqrt(200_000 / reps))
        assert abs(cost.mean / known.cost - 1) <= 0.02 / 3 * slack, (quality, cost, known)
        assert abs(error.mean - known.error) <= 0.003 / 3 * slack, (quality, error, known)


def test_rule_1_on_one_crowd_costs_and_errs_as_computed_exactly() -> None:
    single(5_000)


@pytest.mark.slow
def test_rule_1_on_one_crowd_with_200000_questions() -> None:
    single(200_000)


# Crowds.


@cache
def crowds(reps: int, panels: tuple[str, ...], contenders: tuple[str, ...]) -> list[Row]:
    return run("survey-crowds", reps, panels=panels, contenders=contenders)[1]


def compare_with_reference(rows: list[Row], panel: str, margin: float) -> None:
    for series, values in REFERENCE[panel].items():
        metric = "cost" if series == "rand-rr" else "cost_ratio"
        for error, due in zip(ERRORS, values, strict=True):
            row = found(rows, panel=panel, series=series, x=error, metric=metric)
            slack = margin * (due if series == "rand-rr" else 1.0)
            slack += (row.ci_high - row.ci_low) / 2
            assert abs(row.mean - due) <= slack, (panel, series, error, row, due)


def test_a_sample_of_runs_agrees_with_the_reference() -> None:
    series = ("rand-rr", "virt-ucb", "virt-thompson")
    rows = crowds(1_500, ("printed-medium",), series)
    compare_with_reference(rows, "printed-medium", 0.04)


@pytest.mark.slow
@pytest.mark.parametrize("panel", list(REFERENCE))
def test_twenty_thousand_runs_are_within_four_hundredths_of_the_reference(panel: str) -> None:
    rows = crowds(20_000, (panel,), ("rand-rr", "virt-ucb", "virt-thompson"))
    for series, values in REFERENCE[panel].items():
        for error, due in zip(ERRORS, values, strict=True):
            if series != "rand-rr":
                row = found(rows, panel=panel, series=series, x=error, metric="cost_ratio")
                assert abs(row.mean - due) <= 0.04, (panel, series, error, row, due)
            else:
                row = found(rows, panel=panel, series=series, x=error, metric="cost")
                # Not ratios: the reference's own costs are 3 to 6% below ours on the easy
                # workload, where a plain-Python reading of the paper agrees with ours.
                assert abs(row.mean / due - 1) <= 0.08, (panel, series, error, row, due)


@pytest.mark.slow
@pytest.mark.parametrize("panel", REFERENCE)
def test_joining_evidence_saves_a_tenth_against_the_composite_rule(panel: str) -> None:
    rows = crowds(10_000, (panel,), ("virt-thompson", "virt-ucb with posterior"))
    for error in ERRORS:
        joined = found(rows, panel=panel, series="virt-ucb with posterior", x=error, metric="cost")
        single_rule = found(rows, panel=panel, series="virt-thompson", x=error, metric="cost")
        assert joined.mean <= 0.9 * single_rule.mean, (error, joined, single_rule)


@pytest.mark.slow
def test_directed_likelihood_ratios_save_three_fifths_where_crowds_complement_each_other() -> None:
    _, rows = run(
        "survey-benchmarks",
        2_000,
        panels=("lemma-6",),
        contenders=("virt-thompson", "glr-directed with joint-glr"),
    )
    for error in ERRORS:
        ours = found(rows, series="glr-directed with joint-glr", x=error, metric="cost")
        theirs = found(rows, series="virt-thompson", x=error, metric="cost")
        assert ours.mean <= 0.4 * theirs.mean, (error, ours, theirs)


# The guarantee.

TRUTHS = {name: {"truth": [[0.6, 0.4]] * 3} for name in ("best-crowd", "best-mixture")}

SELECTING = [
    name
    for name in policies.names()
    if policies.get(name).paper.endswith("004") and not issubclass(policies.get(name), PlansForAll)
]
"""Every selection policy in the registry."""


def confident_mistakes(name: str, instance: str, delta: float, runs: int) -> float:
    """Share of questions that the e-process closes confidently and wrong."""
    responses = np.array(INSTANCES[instance])
    undecided = bool(np.all(responses[:, 0] == responses[:, 1]))
    policy = policies.make(
        {"name": name, **({"truth": responses.tolist()} if name in TRUTHS else {})}
    )
    # Ties are an option of the rule, in which every confident stop is a mistake.
    spec = {"name": "e-process", "delta": delta, "horizon": 2_000, "ties": undecided}
    rule = stopping.make(spec)
    survey = Survey(responses[None], shuffled=name not in TRUTHS)
    mistakes, chunk = 0.0, 250
    for first in range(0, runs, chunk):
        world = survey.answering(7, first, min(chunk, runs - first))
        _, wrong, sure = cost_and_errors(survey, world, policy, rule, 7, first)
        mistakes += float(np.sum(sure if undecided else sure & (wrong > 0)))
    return mistakes / runs


def runs_for(delta: float) -> int:
    """So many that a 95% interval at an error of delta is below a quarter of delta."""
    return math.ceil((1.96 / 0.25) ** 2 * (1 - delta) / delta)


def test_the_number_of_runs_makes_the_interval_a_quarter_of_delta() -> None:
    for delta in (0.01, 0.05, 0.1):
        half = 1.96 * math.sqrt(delta * (1 - delta) / runs_for(delta))
        assert half == pytest.approx(delta / 4, rel=1e-3)


def keeps(name: str, instance: str, delta: float) -> None:
    runs = runs_for(delta)
    error = confident_mistakes(name, instance, delta, runs)
    assert error <= delta + 1.96 * math.sqrt(delta * (1 - delta) / runs), (name, instance, error)


@pytest.mark.parametrize("instance", ["gap 0", "gap 0.3"])
def test_the_e_process_keeps_its_error(instance: str) -> None:
    keeps("virt-ucb", instance, 0.1)


TIED_OR_NOT = ("gap 0", "gap 0.01", "gap 0.05", "gap 0.3", "three options, tied", "three options")
DELTAS = (0.01, 0.05, 0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "instance", "delta"),
    # All 216 take hours: each policy meets each instance and, twice, each delta.
    [
        (name, instance, DELTAS[(at + place) % len(DELTAS)])
        for at, name in enumerate(SELECTING)
        for place, instance in enumerate(TIED_OR_NOT)
    ],
)
def test_the_e_process_keeps_its_error_with_every_policy(
    name: str, instance: str, delta: float
) -> None:
    keeps(name, instance, delta)


# Theorem 5.


@pytest.mark.parametrize("reps", [150, pytest.param(2_000, marks=pytest.mark.slow)])
def test_what_does_not_adapt_pays_for_every_crowd(reps: int) -> None:
    experiment, rows = run("survey-competitive", reps, crowds=(2, 10))
    bounds = {row.x: row.mean for row in experiment.paper_rows()}
    for count in (2, 10):
        naive = found(rows, series="rand-rr", x=count, metric="competitive_ratio")
        adaptive = found(rows, series="virt-ucb", x=count, metric="competitive_ratio")
        assert naive.ci_high >= bounds.get(count, 0.0)
        assert adaptive.ci_high < naive.ci_low


@pytest.mark.slow
def test_virt_uniform_at_unequal_prices_is_near_the_best_mixture() -> None:
    # 1.4 to 1.6 times as expensive while its bonus, too, was divided by the root of the price.
    contenders = ("best-mixture with gap", "virt-uniform with gap", "virt-thompson")
    _, rows = run("survey-benchmarks", 2_000, panels=("twice-the-price",), contenders=contenders)
    ratios = []
    for error in (0.03, 0.05, 0.07, 0.1):
        place: dict[str, Any] = {"panel": "twice-the-price", "metric": "cost", "x": error}
        best, learned = (found(rows, series=series, **place).mean for series in contenders[:2])
        ratios.append(learned / best)
    # 1.18 in 400 questions of another seed; a ratio of theirs has a standard error of about .1.
    assert 1.0 < np.mean(ratios) < 1.3
