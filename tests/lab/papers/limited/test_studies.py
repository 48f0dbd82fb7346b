"""Figures of paper 001: against an independent implementation and by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from askwise.core.errors import InvalidParameter
from askwise.core.money import MICRO
from askwise.figures import Row
from askwise.lab import with_settings
from askwise.lab.papers.limited.studies import regret
from askwise.lab.papers.limited.studies.labelling import RIVALS, b_kube, series_of, wrong_and_done
from askwise.lab.papers.limited.studies.regret import BEYOND_BOUND, BOUND, INSTANCES
from askwise.lab.papers.limited.studies.skills import WORLDS, draw_market, draw_skills
from askwise.lab.runner import run, write
from askwise.lab.simulate import simulate
from askwise.lab.worlds.limited import Labellers, labellers
from askwise.policies import policies

SERIES = (b_kube(1.0), b_kube(1.5), *RIVALS)

REFERENCE = {
    ("A", 100): ((0.159, 26), (0.065, 12), (0.289, 50), (0.305, 50), (0.417, 30)),
    ("A", 300): ((0.105, 50), (0.032, 36), (0.099, 50), (0.113, 50), (0.394, 30)),
    ("B", 100): ((0.263, 23), (0.133, 8), (0.381, 50), (0.380, 50), (0.473, 30)),
    ("B", 300): ((0.175, 49), (0.066, 26), (0.149, 50), (0.166, 50), (0.451, 30)),
}
"""Error and tasks done of the series, with 50 tasks, by set and budget."""

REFERENCE_REPS = 2000


def found(rows: list[Row], **place: Any) -> Row:
    matches = [
        row for row in rows if all(getattr(row, key) == value for key, value in place.items())
    ]
    assert len(matches) == 1, (place, matches)
    return matches[0]


def results(name: str, reps: int, jobs: int = 1, **settings: str) -> list[Row]:
    return list(run(with_settings(name, settings), reps=reps, seed=1, jobs=jobs).rows)


def compare_with_reference(
    rows: list[Row], name: str, budget: int, reps: int, series: tuple[str, ...] = SERIES
) -> None:
    """Within three combined standard errors, or .015 for errors."""
    for label, (error, tasks) in zip(series, REFERENCE[name, budget], strict=False):
        place = {"panel": f"set {name}, 50 tasks", "series": series_of(label), "x": budget}
        row = found(rows, metric="error", **place)
        combined = (row.ci_high - row.ci_low) / 3.92 * (1 + reps / REFERENCE_REPS) ** 0.5
        assert abs(row.mean - error) <= max(0.015, 3 * combined), (row, error)
        row = found(rows, metric="tasks_done", **place)
        combined = (row.ci_high - row.ci_low) / 3.92 * (1 + reps / REFERENCE_REPS) ** 0.5
        # The reference is rounded to whole tasks.
        assert abs(row.mean - tasks) <= 0.5 + 3 * combined, (row, tasks)


@pytest.mark.compiled
@pytest.mark.slow
def test_a_sample_of_the_figures_agrees_with_the_reference() -> None:
    # 200 repetitions: three combined standard errors are .013 at most, below the .015.
    some = SERIES[:3]
    rows = results(
        "limited-labels", 200, tasks="50", budgets="300", sets="B", contenders=",".join(some)
    )
    compare_with_reference(rows, "B", 300, 200, some)


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_figures_agree_with_the_reference_in_2000_repetitions() -> None:
    rows = results(
        "limited-labels", 2000, 2, tasks="50", budgets="100,300", contenders=",".join(SERIES)
    )
    for name, budget in REFERENCE:
        compare_with_reference(rows, name, budget, 2000)


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_quarter_of_the_confidence_term_errs_less_and_no_policy_is_best_on_both_measures() -> (
    None
):
    rows = results("limited-labels", 300, 2)
    for panel in {row.panel for row in rows}:
        for budget in (100, 200, 300):
            place = {"panel": panel, "x": budget}
            for quality in (1.0, 1.5):
                whole = found(rows, series=series_of(b_kube(quality)), metric="error", **place)
                less = found(rows, series=series_of(b_kube(quality, 0.25)), metric="error", **place)
                assert less.mean < whole.mean + 0.005, (less, whole)
                done = found(rows, series=series_of(b_kube(quality)), metric="tasks_done", **place)
                all_ = found(rows, series=RIVALS[0], metric="tasks_done", **place)
                rival = found(rows, series=RIVALS[0], metric="error", **place)
                assert done.mean < all_.mean or whole.mean > rival.mean


def test_the_page_counts_what_the_rows_say() -> None:
    experiment = with_settings("limited-labels", {})

    def row(label: str, metric: str, mean: float) -> Row:
        return Row("set A, 50 tasks", series_of(label), 100.0, metric, mean, mean, mean, 9)

    rows = [row(label, "tasks_done", 50.0) for label in SERIES]
    rows += [row(label, "error", 0.2) for label in RIVALS]
    rows += [row(b_kube(1.0), "error", 0.1), row(b_kube(1.5), "error", 0.3)]
    rows += [row(b_kube(1.0), "rival_error", 0.05), row(b_kube(1.5), "rival_error", 0.4)]
    rows += [row(b_kube(1.0, 0.25), "error", 0.05), row(b_kube(1.5, 0.25), "error", 0.4)]
    one, other, bonus, *_ = experiment.differences(rows)
    assert "surely so in 1 of 1 cells, surely not in 0." in one
    assert "less in 0 of 1 cells, more in 1; too close to tell in 0." in one
    assert "surely so in 0 of 1 cells, surely not in 1." in other
    assert "less in 1 of 1 cells, more in 0; too close to tell in 0." in other
    assert "less in 1 of 2 cells, more in 1; too close to tell in 0. It comes to 0.92" in bonus


def test_what_is_too_close_to_tell_is_not_counted_for_either_side() -> None:
    experiment = with_settings("limited-labels", {})

    def row(label: str, metric: str, mean: float) -> Row:
        place = ("set A, 50 tasks", series_of(label), 100.0)
        return Row(*place, metric, mean, mean - 0.02, mean + 0.02, 9)

    rows = [row(label, "tasks_done", 50.0) for label in SERIES]
    rows += [row(label, "error", 0.2) for label in RIVALS]
    rows += [row(b_kube(1.0), "error", 0.17), row(b_kube(1.0), "rival_error", 0.2)]
    one, *_ = experiment.differences(rows)
    assert "surely so in 0 of 1 cells, surely not in 0." in one
    assert "less in 0 of 1 cells, more in 0; too close to tell in 1." in one


def test_errors_are_over_tasks_with_a_label_and_a_tie_is_half_an_error() -> None:
    # Two workers who are always right and always wrong label t0 both; t1 and t2 nobody.
    crowd = Labellers(np.array([1.0, 0.0]), np.array([MICRO, MICRO]))
    policy = policies.make("label-trialsourcing")
    world = crowd.answering(1, 0, 3)
    done = simulate(policy, crowd.problem(3, 1, 9 * MICRO), world, seed=1)
    assert done.answers == 2
    assert wrong_and_done(done, world.right) == (0.5, 1.0)


def test_workers_are_drawn_as_in_the_paper() -> None:
    crowds = [labellers(np.random.default_rng([3, at]), 20, 5) for at in range(400)]
    accuracies = np.array([crowd.accuracies for crowd in crowds])
    prices = np.array([crowd.prices for crowd in crowds]) / MICRO
    assert ((accuracies == 0.5).sum(axis=1) == 5).all()
    # Anywhere: each place is a spammer's in a quarter of 400 draws, sd .022.
    assert np.abs((accuracies == 0.5).mean(axis=0) - 0.25).max() < 0.11
    # 8000 uniforms above the value: mean .5, sd .0033.
    above = prices - (2 * accuracies - 1)
    assert above.min() >= -1e-6
    assert above.max() <= 1 + 1e-6
    assert abs(above.mean() - 0.5) < 0.017
    honest = labellers(np.random.default_rng([3, 0]), 20)
    same = accuracies[0] > 0.5
    assert (honest.accuracies[same] == accuracies[0][same]).all()


def test_answers_are_right_as_often_as_accuracies_say_and_labels_equally_likely() -> None:
    crowd = Labellers(np.array([0.9, 0.5]), np.array([MICRO, MICRO]))
    world = crowd.answering(2, 0, 2000)
    done = simulate(
        policies.make("label-bounded-epsilon-first"),
        crowd.problem(2000, 2000, 4000 * MICRO, repeat=False),
        world,
        seed=2,
    )
    book = done.ledger.book
    rows = book.assignments[:4000]
    right = book.marks[:4000, 0] == world.right[rows[:, 0]]
    # sd .0067 and .0112 of 2000.
    assert abs(right[rows[:, 1] == 0].mean() - 0.9) < 0.034
    assert abs(right[rows[:, 1] == 1].mean() - 0.5) < 0.056
    assert abs(world.right.mean() - 0.5) < 0.056


@pytest.mark.compiled
@pytest.mark.slow
def test_regret_stays_below_its_bound_and_is_zero_for_nobody() -> None:
    rows = results("limited-regret", 4, instances="apart", budgets="100,1000")
    for budget in (100.0, 1000.0):
        place = {"panel": "apart", "x": budget}
        limit = found(rows, series=BOUND, metric="regret", **place).mean
        beyond = found(rows, series=BEYOND_BOUND, metric="beyond_plan", **place).mean
        for series in {row.series for row in rows if row.n}:
            assert 0 <= found(rows, series=series, metric="regret", **place).mean <= limit
            assert found(rows, series=series, metric="spent", **place).mean <= budget
        seen = "simplified-bounded-kube, values seen"
        assert found(rows, series=seen, metric="beyond_plan", **place).mean <= beyond


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_judged_by_the_vote_regret_outgrows_that_of_values_seen() -> None:
    rows = results("limited-regret", 20, 2, instances="apart", budgets="3000,30000")

    def growth(series: str) -> float:
        low, high = (
            found(rows, series=series, metric="regret", x=float(budget)).mean
            for budget in (3000, 30000)
        )
        return high / low

    # In proportion to the budget it would be 10.
    assert growth("simplified-bounded-kube, values seen") < 4
    assert growth("b-kube, judged by the vote") > 8


def test_the_page_says_where_theorem_4_2_is_exceeded_and_why() -> None:
    seen, judged = (regret._series(label) for label in (regret.SEEN[0], regret.JUDGED[0]))
    rows = [
        Row("apart", regret.BEYOND_BOUND, 100, "beyond_plan", 10, 10, 10, 0),
        Row("apart", seen, 100, "beyond_plan", 9, 8, 10.5, 40),
        Row("apart", judged, 100, "beyond_plan", 30, 28, 32, 40),
    ]
    within, over = (
        regret._against_theorem_4_2(rows, label) for label in (regret.SEEN[0], regret.JUDGED[0])
    )
    assert within == f"{seen} stays within Theorem 4.2 in all 1 cells."
    assert "in 1 of 1 cells" in over
    assert "selected 30 times beyond the plan, and (7) allows 10." in over
    assert "does not cover it" in over


def test_the_rounded_plan_by_hand() -> None:
    # apart: efficiencies .9, .6, .25, .1, .05, limits 40 each of 100: 40, 40 and 20 / 2.
    assert INSTANCES["apart"].plan(100).tolist() == [40, 40, 10, 0, 0]
    assert INSTANCES["close"].plan(100).tolist() == [30, 30, 30, 10, 0, 0]
    means = INSTANCES["apart"].market(100).world.means
    assert means.tolist() == pytest.approx(INSTANCES["apart"].values.tolist())


@pytest.mark.usefixtures("pictures")
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("limited-labels", {"tasks": "20", "budgets": "100", "contenders": ",".join(SERIES[:3])}),
        pytest.param(
            "limited-skills",
            {"answers": "3"},
            marks=[pytest.mark.compiled, pytest.mark.slow],
        ),
        pytest.param(
            "limited-regret",
            {"budgets": "100,1000"},
            marks=[pytest.mark.compiled, pytest.mark.slow],
        ),
    ],
)
def test_results_are_drawn_and_reported(
    name: str, settings: dict[str, str], tmp_path: Path
) -> None:
    experiment = with_settings(name, settings)
    made = run(experiment, reps=3, seed=1)
    assert write(experiment, made, tmp_path, "again").is_file()
    assert all(line.endswith(".") for line in experiment.differences(made.rows))


@pytest.mark.parametrize(
    ("name", "settings", "field"),
    [
        ("limited-labels", {"sets": "C"}, "sets"),
        ("limited-labels", {"tasks": "1"}, "tasks"),
        ("limited-labels", {"budgets": "0"}, "budgets"),
        ("limited-skills", {"worlds": "one skil"}, "worlds"),
        ("limited-skills", {"answers": "0"}, "answers"),
        ("limited-regret", {"instances": "far"}, "instances"),
        ("limited-regret", {"budgets": "3"}, "budgets"),
    ],
)
def test_bad_settings_are_refused_by_name(name: str, settings: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        with_settings(name, settings)
    assert caught.value.field == field


def test_workers_of_a_world_have_the_skills_that_it_says() -> None:
    rng = np.random.default_rng(1)
    drawn = {world: draw_skills(rng, world, 3) for world in WORLDS}
    assert (np.sort(drawn["specialists"], axis=1) == [0.55, 0.55, 0.95]).all()
    assert set((drawn["specialists"] == 0.95).sum(axis=0)) == {6, 7}
    assert (drawn["one skill"] == drawn["one skill"][:, :1]).all()
    assert (drawn["skills apart"].std(axis=1) > 0).all()
    # A kind that needs two skills is answered right as often as their mean says: 20 workers on 40
    # tasks of it, 800 answers, 4 standard deviations are below .07.
    market = draw_market("specialists", 1, 0)
    kind = np.flatnonzero(market.contexts == 2)
    said = market.label.reshape(market.tasks, market.workers)[kind]
    right = (said == market.truth[kind][:, None]).mean()
    # Of three skills a third of the workers is good at each: (.95 + 2 * .55) / 3 on the mean.
    assert abs(right - 0.683) < 0.08
