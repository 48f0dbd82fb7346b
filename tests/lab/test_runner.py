"""Running experiments: same numbers everywhere, files whole or absent."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from askwise.core.errors import InvalidParameter, UnknownPolicy
from askwise.figures import Row
from askwise.lab import experiments, with_settings
from askwise.lab.experiment import Cell, Experiment, Figure
from askwise.lab.results import Results, mean_row, rate_row
from askwise.lab.runner import run, write

SMALL = {"budgets": "200", "policies": "uniform,bounded-epsilon-first(epsilon=0.2)"}


@pytest.fixture(scope="module")
def results() -> Results:
    return run(with_settings("bounded-table1", SMALL), reps=15, seed=3)


def test_results_have_a_row_for_every_series_and_metric(results: Results) -> None:
    found = {(row.series, row.x, row.metric) for row in results.rows}
    series = ("optimum", "uniform", "bounded-epsilon-first(epsilon=0.2)")
    metrics = ("utility", "share_of_optimum", "spent")
    assert found == {(name, 200, metric) for name in series for metric in metrics}
    assert all(row.n == 15 and row.ci_low <= row.mean <= row.ci_high for row in results.rows)


def test_nobody_beats_the_optimum_or_spends_more_than_the_budget(results: Results) -> None:
    for row in results.rows:
        if row.metric == "spent":
            assert row.ci_high <= 200
        if row.metric == "share_of_optimum":
            assert row.mean <= 1.0


@pytest.mark.parametrize(
    "backend", ["loky", *(pytest.param(name, marks=pytest.mark.slow) for name in ("dask", "ray"))]
)
def test_two_workers_of_any_backend_give_the_same_numbers(results: Results, backend: str) -> None:
    if backend != "loky":
        pytest.importorskip({"dask": "distributed"}.get(backend, backend))
    spread = run(with_settings("bounded-table1", SMALL), reps=15, seed=3, jobs=2, backend=backend)
    assert spread.rows == results.rows


@pytest.mark.slow
def test_a_running_dask_cluster_is_used_and_left_running(results: Results) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        experiment = with_settings("bounded-table1", SMALL)
        address = cluster.scheduler_address
        spread = run(experiment, reps=15, seed=3, jobs=2, backend="dask", scheduler=address)
        assert spread.rows == results.rows
        with distributed.Client(address) as client:
            assert len(client.scheduler_info()["workers"]) == 2


def test_files_are_written_and_agree_with_each_other(results: Results, tmp_path: Path) -> None:
    experiment = with_settings("bounded-table1", SMALL)
    page = write(experiment, results, tmp_path, "askwise lab run bounded-table1")
    directory = tmp_path / "bounded-table1"
    assert page == directory / "report.html"
    assert {file.name for file in directory.iterdir()} == {
        "results.csv",
        "results.json",
        "figure.png",
        "figure.svg",
        "report.html",
    }
    raw = json.loads((directory / "results.json").read_text())
    assert set(raw) == {"experiment", "seed", "reps", "params", "rows"}
    assert set(raw["rows"][0]) == {
        "panel", "series", "x", "metric", "mean", "ci_low", "ci_high", "n",
    }  # fmt: skip
    with (directory / "results.csv").open() as lines:
        assert len(list(csv.DictReader(lines))) == len(raw["rows"])
    text = page.read_text()
    assert "oDesk" in text
    assert "askwise lab run bounded-table1" in text


@pytest.mark.usefixtures("pictures")
def test_every_experiment_runs_and_draws(tmp_path: Path) -> None:
    smaller = {
        "bounded-small-budgets": {"budgets": "50,200", "policies": "uniform"},
        "bounded-large-budgets": {"budgets": "500", "policies": "uniform"},
        "bounded-candidates": {
            "budgets": "500", "few": "5", "many": "100", "policies": "uniform",
        },
        "bounded-correlation": {
            "budgets": "500", "variances": "0,1", "noises": "1", "policies": "uniform",
        },
        "bounded-exploration": {"small": "100", "large": "300"},
        "bounded-drift": {"changes": "0,3", "policies": "uniform"},
        "bounded-regret": {"budgets": "200,500", "policies": "uniform"},
        "bounded-table1": SMALL,
        "bounded-epsilon": {"budgets": "200", "epsilons": "0.1"},
        "bounded-ratings": {"budgets": "100"},
        "bounded-random": {"budgets": "100"},
        "bounded-policies": {
            "policies": "uniform", "table1": "500", "fig2": "100", "fig4": "5", "variances": "0.5",
        },
    }  # fmt: skip
    for name in experiments.names():
        # Fig. 1 is about applicants, and nobody is asked.
        if not name.startswith("bounded-") or name == "bounded-applicants":
            continue
        experiment = with_settings(name, smaller[name])
        results = run(experiment, reps=2, seed=1)
        assert write(experiment, results, tmp_path, "again").is_file()
        wanted = {"utility", "share_of_optimum", "spent"}
        if name in ("bounded-policies", "bounded-ratings"):
            wanted = {"expected_share"}
        assert wanted <= {row.metric for row in results.rows}


def test_the_table_world_runs_on_a_table_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "rates.csv"
    file.write_text("rate,stars\n" + "".join(f"{10 + k},{1 + k % 5}\n" for k in range(30)))
    settings = {"world": "table", "table": str(file), "rate": "rate", "rating": "stars"}
    results = run(with_settings("bounded-table1", {**SMALL, **settings}), reps=2, seed=1)
    assert results.params["table"] == str(file)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"budget": "500"}, "did you mean 'budgets'"),
        ({"budgets": "five"}, "budgets is 'five'"),
        ({"policies": "unifrom"}, "did you mean 'uniform'"),
        ({"policies": "uniform("}, "closing bracket"),
        ({"policies": "bounded-epsilon-first(epsilom=1)"}, "did you mean 'epsilon'"),
        ({"world": "mars"}, "market, floor5 or table"),
        ({"world": "table"}, "go together"),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(settings: dict[str, str], message: str) -> None:
    with pytest.raises((InvalidParameter, UnknownPolicy), match=message):
        with_settings("bounded-table1", settings)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"reps": 0}, "reps"),
        ({"jobs": 0}, "jobs"),
        ({"seed": -1}, "seed"),
        ({"backend": "slurm"}, "backend"),
        ({"scheduler": "tcp://127.0.0.1:1"}, "scheduler"),
    ],
)
def test_a_run_that_makes_no_sense_is_refused(arguments: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        run(with_settings("bounded-table1", SMALL), **{"reps": 1, **arguments})  # type: ignore[arg-type]
    assert caught.value.field == field


@dataclass(frozen=True)
class Rough(Experiment):
    """Three cells, of which some can't be computed or summed up."""

    broken: tuple[float, ...] = (2.0,)
    title: ClassVar[str] = "Rough"
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure("rate", "x", "rate", "The rate.", log_y=True),
        Figure("cost", "x", "cost", "The cost.", kind="pie"),  # type: ignore[arg-type]
    )
    name: ClassVar[str] = "rough"

    def cells(self) -> list[Cell]:
        return [Cell("", x) for x in (1.0, 2.0, 3.0)]

    def sample(self, cell: Cell, seed: int, replication: int) -> np.ndarray:
        if cell.x in self.broken:
            raise ZeroDivisionError("no crowd\nat all")
        return np.array([0.0 if cell.x == 1.0 else float(replication % 2), cell.x])

    def rows(self, cell: Cell, samples: np.ndarray, seed: int) -> list[Row]:
        return [
            rate_row(samples[:, 0], series="a", x=cell.x, metric="rate"),
            mean_row(samples[:, 1], series="a", x=cell.x, metric="cost"),
        ]


def test_a_cell_that_fails_is_left_out_and_told_of(tmp_path: Path) -> None:
    found = run(Rough(), reps=4)
    assert {row.x for row in found.rows} == {1.0, 3.0}
    (told,) = found.failures
    assert told == (
        "Left out because it could not be computed: x at 2 (ZeroDivisionError: no crowd)."
    )
    page = write(Rough(), found, tmp_path, "askwise lab run rough").read_text()
    assert "ZeroDivisionError: no crowd" in page
    assert Results.read_json(tmp_path / "rough" / "results.json") == replace(
        found, params={"broken": [2.0]}
    )


def test_the_first_cell_may_fail_and_not_all() -> None:
    assert {row.x for row in run(Rough((1.0,)), reps=2).rows} == {2.0, 3.0}
    with pytest.raises(ZeroDivisionError):
        run(Rough((1.0, 2.0, 3.0)), reps=2)


def test_tables_are_written_also_where_a_figure_can_not_be_drawn(tmp_path: Path) -> None:
    found = run(Rough(()), reps=4)
    page = write(Rough(()), found, tmp_path, "askwise lab run rough").read_text()
    # A rate of 0 has no place on its log axis, which says so; the figure of kind pie is none.
    assert "values of 0 are not shown" in page
    assert "The figure of cost can&#39;t be drawn" in page
    assert (tmp_path / "rough" / "results.csv").exists()
    assert (tmp_path / "rough" / "figure.svg").exists()


@pytest.mark.usefixtures("pictures")
def test_the_survey_of_one_crowd_is_written_though_no_question_ends_wrong(tmp_path: Path) -> None:
    experiment = with_settings("survey-single", {"qualities": "1,3"})
    found = run(experiment, reps=5, seed=0)
    assert any(row.metric == "error" and row.mean == 0 for row in found.rows)
    assert all(0 <= row.ci_low <= row.ci_high <= 1 for row in found.rows if row.metric == "error")
    write(experiment, found, tmp_path, "askwise lab run survey-single")
