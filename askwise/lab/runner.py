"""Running experiments: the same numbers whatever the number of jobs or the backend."""

import contextlib
import logging
import traceback
import warnings
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict
from itertools import starmap
from pathlib import Path
from typing import Any

import numpy as np

from askwise.core.arrays import Array
from askwise.core.checks import one_of, whole
from askwise.core.compiling import in_bulk
from askwise.core.errors import InvalidParameter
from askwise.figures import ReferenceRow, Row
from askwise.lab import report
from askwise.lab.experiment import Cell, Experiment
from askwise.lab.results import Results
from askwise.lab.simulate import Progress, check_seed, unseen

BACKENDS = ("loky", "dask", "ray")


def run(
    experiment: Experiment,
    *,
    reps: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    progress: Progress = unseen,
) -> Results:
    """Run every cell of an experiment.

    A cell that can't be computed is left out and told of (``failures``), unless none can.

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
    whole(count, "reps", least=1)
    whole(jobs, "jobs", least=1)
    check_seed(seed)
    one_of(backend, "backend", BACKENDS)
    if scheduler is not None and backend == "loky":
        raise InvalidParameter("scheduler needs backend dask or ray", field="scheduler")
    cells = experiment.cells()
    # Compile here, once: the jobs then read the machine code from disk.
    _chunk(experiment, 0, cells[0], 0, 1, seed)
    gathered: list[dict[int, Array]] = [{} for _ in cells]
    failed: dict[int, Exception] = {}
    done, total = 0, count * len(cells)
    progress("simulating", 0, total)
    parts = [
        (experiment, at, cell, first, min(first + experiment.chunk, count), seed)
        for first in range(0, count, experiment.chunk)
        for at, cell in enumerate(cells)
    ]
    with contextlib.closing(_spread(parts, backend, jobs, scheduler)) as computed:
        for at, first, samples in computed:
            if isinstance(samples, Exception):
                failed.setdefault(at, samples)
                continue
            gathered[at][first] = samples
            done += len(samples)
            progress("simulating", done, total)
    rows: list[Row] = []
    for at, (cell, chunks) in enumerate(zip(cells, gathered, strict=True)):
        if at in failed:
            continue
        # In the order of their replications, whatever came first.
        stacked = np.concatenate([chunks[first] for first in sorted(chunks)])
        assert len(stacked) == count
        try:
            rows.extend(experiment.rows(cell, stacked, seed))
        except Exception as error:
            failed[at] = error
    if len(failed) == len(cells):
        raise next(iter(failed.values()))
    failures = tuple(
        f"Left out because it could not be computed: {cells[at].panel or 'x'} at {cells[at].x:g} "
        f"({_reason(failed[at])})."
        for at in sorted(failed)
    )
    return Results(experiment.name, seed, count, asdict(experiment), tuple(rows), failures)


def _reason(error: Exception) -> str:
    """The error in one line."""
    said, *_ = traceback.format_exception_only(error)
    return said.splitlines()[0]


def _chunk(
    experiment: Experiment, at: int, cell: Cell, first: int, last: int, seed: int
) -> tuple[int, int, Array | Exception]:
    """Some replications of a cell, or why there are none: the other cells are computed all the
    same.
    """
    try:
        with in_bulk(experiment.name):
            return at, first, experiment.samples(cell, seed, first, last)
    except Exception as error:
        return at, first, error


def _spread(
    parts: Sequence[tuple[Any, ...]], backend: str, jobs: int, scheduler: str | None
) -> Generator[tuple[int, int, Array | Exception], None, None]:
    """Compute parts where they are to be computed, in any order."""
    if backend == "loky" and jobs == 1:
        yield from starmap(_chunk, parts)
        return
    with _needed("more than one job needs joblib", "lab", "jobs"):
        import joblib
    with (
        warnings.catch_warnings(),
        _cluster(backend, jobs, scheduler),
        joblib.parallel_config(backend=backend, n_jobs=jobs if backend == "loky" else -1),
    ):
        # A process whose memory has grown, as by compiling, is replaced; no work is lost by that.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
        # Dask's and Ray's backends hand results back in order only.
        form = "generator_unordered" if backend == "loky" else "list"
        yield from joblib.Parallel(return_as=form)(joblib.delayed(_chunk)(*part) for part in parts)


@contextlib.contextmanager
def _needed(what: str, extra: str, field: str) -> Iterator[None]:
    """Say which extra to install where an import fails."""
    try:
        yield
    except ImportError:
        raise InvalidParameter(f"{what}: pip install 'askwise[{extra}]'", field=field) from None


@contextlib.contextmanager
def _cluster(backend: str, jobs: int, scheduler: str | None) -> Iterator[None]:
    """Connect to a cluster, or start one here; what was started is stopped again."""
    if backend == "dask":
        with _needed("backend dask needs an extra", "dask", "backend"):
            from distributed import Client, LocalCluster
        with contextlib.ExitStack() as stack:
            local = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": None}
            where = scheduler or stack.enter_context(LocalCluster(**local))
            stack.enter_context(Client(where))
            yield
    elif backend == "ray":
        with _needed("backend ray needs an extra", "ray", "backend"):
            import ray
            from ray.util.joblib import register_ray
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
    # What was computed is kept, also where something can't be drawn.
    results.write_csv(directory / "results.csv")
    results.write_json(directory / "results.json")
    paper = list(experiment.paper_rows())
    drawn, undrawn = draw(experiment, results, directory)
    return report.write_report(
        directory,
        results,
        title=experiment.title,
        summary=experiment.summary,
        figures=drawn,
        paper_rows=paper or None,
        differences=[*results.failures, *undrawn, *experiment.differences(results.rows)],
        command=command,
        x_label=experiment.x_label,
    )


def draw(
    experiment: Experiment, results: Results, directory: Path
) -> tuple[list[tuple[str, str]], list[str]]:
    """Draw the figures of an experiment from its rows, which may have been kept for years.

    Returns captions and pictures for a page, and what to say of those that can't be drawn.
    """
    names = {row.series: row.series.split("(")[0] for row in results.rows}
    highlight = [label for label, name in names.items() if name in experiment.ours]
    paper = list(experiment.paper_rows())
    measured = {row.metric for row in results.rows}
    drawn: list[tuple[str, str]] = []
    undrawn: list[str] = []
    for number, wanted in enumerate(experiment.figures):
        if number > 0 and wanted.metric not in measured:
            # Such as errors among tasks called done, where no policy says which are.
            continue
        how = asdict(wanted)
        try:
            figure = report.draw(
                directory,
                how.pop("caption"),
                [row for row in results.rows if not experiment.drawn_as_reference(row)],
                "figure" if number == 0 else f"figure-{number + 1}",
                title=experiment.title,
                reference=_reference(experiment, results.rows, paper, wanted.metric),
                highlight=highlight,
                **how,
            )
        except Exception as error:
            undrawn.append(f"The figure of {wanted.metric} can't be drawn ({_reason(error)}).")
        else:
            drawn.append(figure)
    return drawn, undrawn


def _reference(
    experiment: Experiment, rows: Sequence[Row], paper: Sequence[ReferenceRow], metric: str
) -> list[ReferenceRow]:
    bounds = [
        ReferenceRow.at(row.series, row.x, row.metric, row.mean, panel=row.panel, style="line")
        for row in rows
        if experiment.drawn_as_reference(row) and row.metric == metric
    ]
    return [*bounds, *(row for row in paper if row.metric == metric)]
