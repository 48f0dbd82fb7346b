"""Running experiments: the same numbers whatever the number of jobs or the backend."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import askwise
from askwise import figures
from askwise.core.arrays import Array
from askwise.core.compiling import allowed
from askwise.core.errors import InvalidParameter
from askwise.figures import ReferenceRow, Row
from askwise.lab import report
from askwise.lab.experiment import Cell, Experiment
from askwise.lab.results import Results

BACKENDS = ("loky", "dask", "ray")

Progress = Callable[[str, int, int], None]
"""Called with what is under way, how much is done and how much there is."""


def run(
    experiment: Experiment,
    *,
    reps: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> Results:
    """Run every cell of an experiment.

    Parameters
    ----------
    reps : int, optional
        Replications a cell; the experiment's own number by default.
    jobs : int
        Processes at a time (with ``loky``).
    backend : "loky", "dask" or "ray"
        Where joblib sends the work; a cluster needs the extra of the same name.
    scheduler : str, optional
        Address of the cluster; without it dask and ray start one on this machine.
    """
    count = experiment.reps if reps is None else reps
    if count < 1:
        raise InvalidParameter(f"reps is {count}: give a whole number from 1", field="reps")
    if jobs < 1:
        raise InvalidParameter(f"jobs is {jobs}: give a whole number from 1", field="jobs")
    if not 0 <= seed < 2**63:
        raise InvalidParameter(f"seed is {seed}: give a number from 0 to 2**63 - 1", field="seed")
    if backend not in BACKENDS:
        raise InvalidParameter(
            f"backend is {backend!r}: give one of {', '.join(BACKENDS)}", field="backend"
        )
    if scheduler is not None and backend == "loky":
        raise InvalidParameter("scheduler goes with backend dask or ray", field="scheduler")
    tell = progress or (lambda what, done, total: None)
    cells = experiment.cells()
    # Compile here, once: the jobs then read the machine code from disk.
    _chunk(experiment, 0, cells[0], 0, 1, seed)
    gathered: list[dict[int, Array]] = [{} for _ in cells]
    done, total = 0, count * len(cells)
    tell("simulating", 0, total)
    parts = [
        (at, first, min(first + experiment.chunk, count))
        for first in range(0, count, experiment.chunk)
        for at in range(len(cells))
    ]
    with _workers(backend, jobs, scheduler) as spread:
        for at, first, samples in spread(experiment, cells, parts, seed):
            gathered[at][first] = samples
            done += len(samples)
            tell("simulating", done, total)
    rows: list[Row] = []
    for cell, chunks in zip(cells, gathered, strict=True):
        # In the order of their replications, whatever came first.
        stacked = np.concatenate([chunks[first] for first in sorted(chunks)])
        assert len(stacked) == count
        rows.extend(experiment.rows(cell, stacked, seed))
    return Results(experiment.name, seed, count, asdict(experiment), tuple(rows))


def _chunk(
    experiment: Experiment, at: int, cell: Cell, first: int, last: int, seed: int
) -> tuple[int, int, Array]:
    with allowed(experiment.name):
        return at, first, experiment.samples(cell, seed, first, last)


_DRAWN = ("metric", "x_label", "y_label", "log_x", "log_y", "kind")

Part = tuple[int, int, int]
Spread = Callable[[Experiment, Sequence[Cell], list[Part], int], Iterator[tuple[int, int, Array]]]


@contextlib.contextmanager
def _workers(backend: str, jobs: int, scheduler: str | None) -> Iterator[Spread]:
    """Set joblib up for a backend; hands back what spreads parts over it."""
    if backend == "loky" and jobs == 1:
        yield _one_by_one
        return
    try:
        import joblib
    except ImportError:
        raise InvalidParameter(
            "more than one job needs joblib: pip install 'askwise[lab]'", field="jobs"
        ) from None
    with (
        _cluster(backend, jobs, scheduler),
        joblib.parallel_config(backend=backend, n_jobs=jobs if backend == "loky" else -1),
    ):
        # Dask's and Ray's backends hand results back in order only.
        form = "generator_unordered" if backend == "loky" else "list"
        yield lambda experiment, cells, parts, seed: iter(
            joblib.Parallel(return_as=form)(
                joblib.delayed(_chunk)(experiment, at, cells[at], first, last, seed)
                for at, first, last in parts
            )
        )


def _one_by_one(
    experiment: Experiment, cells: Sequence[Cell], parts: list[Part], seed: int
) -> Iterator[tuple[int, int, Array]]:
    for at, first, last in parts:
        yield _chunk(experiment, at, cells[at], first, last, seed)


@contextlib.contextmanager
def _cluster(backend: str, jobs: int, scheduler: str | None) -> Iterator[None]:
    """Connect to a cluster, or start one here; what was started is stopped again."""
    if backend == "dask":
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise InvalidParameter(
                "backend dask needs an extra: pip install 'askwise[dask]'", field="backend"
            ) from None
        if scheduler is not None:
            with Client(scheduler):
                yield
        else:
            local = LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None)
            with local, Client(local):
                yield
    elif backend == "ray":
        try:
            import ray
            from ray.util.joblib import register_ray
        except ImportError:
            raise InvalidParameter(
                "backend ray needs an extra: pip install 'askwise[ray]'", field="backend"
            ) from None
        options: dict[str, Any] = {"address": scheduler} if scheduler else {"num_cpus": jobs}
        ray.init(
            log_to_driver=False, include_dashboard=False, logging_level=logging.ERROR, **options
        )
        register_ray()
        try:
            yield
        finally:
            ray.shutdown()
    else:
        yield


def write(experiment: Experiment, results: Results, out: Path, command: str) -> Path:
    """Write results.csv, results.json, figure.png, figure.svg and report.html; returns the page."""
    directory = out / experiment.name
    directory.mkdir(parents=True, exist_ok=True)
    paper = list(experiment.paper_rows())
    drawn: list[tuple[str, str]] = []
    for number, wanted in enumerate(experiment.figures):
        figure = figures.draw(
            [row for row in results.rows if not experiment.drawn_as_reference(row)],
            title=experiment.title,
            **{name: getattr(wanted, name) for name in _DRAWN},
            reference=_reference(experiment, results.rows, paper, wanted.metric),
            highlight=_highlight(experiment, results.rows),
        )
        figures.save(figure, directory, "figure" if number == 0 else f"figure-{number + 1}")
        drawn.append((wanted.caption, figures.svg_text(figure)))
    results.write_csv(directory / "results.csv")
    results.write_json(directory / "results.json")
    return report.write_report(
        directory,
        results,
        title=experiment.title,
        summary=experiment.summary,
        figures=drawn,
        paper_rows=paper or None,
        differences=experiment.differences(results.rows),
        version=askwise.__version__,
        command=command,
        x_label=experiment.x_label,
    )


def _reference(
    experiment: Experiment, rows: Sequence[Row], paper: Sequence[ReferenceRow], metric: str
) -> list[ReferenceRow]:
    bounds = [
        ReferenceRow.at(row.series, row.x, row.metric, row.mean, panel=row.panel, style="line")
        for row in rows
        if experiment.drawn_as_reference(row) and row.metric == metric
    ]
    return [*bounds, *(row for row in paper if row.metric == metric)]


def _highlight(experiment: Experiment, rows: Sequence[Row]) -> list[str]:
    labels = {row.series for row in rows}
    return [label for label in labels if label.split("(")[0] in experiment.ours]
