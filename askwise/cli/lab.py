"""``askwise lab``: simulations, with figures and a report."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from enum import StrEnum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askwise.cli import output
from askwise.cli.opening import leave_compiler_out
from askwise.cli.options import AsJson
from askwise.cli.outputs import extra, progress, workshop
from askwise.core.errors import InvalidParameter

if TYPE_CHECKING:
    from askwise.lab.experiment import Experiment
    from askwise.lab.results import Results

app = typer.Typer()


class Backend(StrEnum):
    """Where the work is sent; the runner's own list, known here without importing it."""

    loky = auto()
    dask = auto()
    ray = auto()


Name = Annotated[str, typer.Argument(metavar="NAME", help="The experiment.", show_default=False)]


@app.callback(invoke_without_command=True)
def lab(context: typer.Context) -> None:
    """Run experiments: simulations with figures and a report."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command("list")
def list_experiments(as_json: AsJson = False) -> None:
    """List the experiments."""
    leave_compiler_out()
    with extra():
        from askwise.lab.experiment import experiments
    found = [_describe(name) for name in experiments.names()]
    if as_json:
        output.show_json(found)
        return
    output.show_records(
        ("experiment", "reproduces", ">reps", "title"),
        ((each["name"], each["reproduces"] or None, each["reps"], each["title"]) for each in found),
    )


@app.command("show")
def show_experiment(name: Name, as_json: AsJson = False) -> None:
    """Describe an experiment and the parameters that --set may change."""
    leave_compiler_out()
    found = _describe(name)
    if as_json:
        output.show_json(found)
        return
    facts = [("experiment", found["name"]), ("title", found["title"])]
    facts += [("reproduces", found["reproduces"] or None), ("replications", found["reps"])]
    facts += [
        (f"--set {parameter}=", _as_text(value)) for parameter, value in found["parameters"].items()
    ]
    summary = " ".join(found["summary"].split())
    if not output.for_people():
        for fact in facts:
            output.line(*fact)
        print(f"\n{summary}")
        return
    screen = output.console()
    screen.print(output.grid(facts))
    screen.print()
    screen.print(summary)


@app.command("run")
def run_experiment(
    name: Name,
    reps: Annotated[
        int | None,
        typer.Option(
            "--reps",
            metavar="N",
            help="Replications of each point; the experiment's own number by default.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Of all draws.")] = 0,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            metavar="J",
            help="Processes at a time; one a core by default. The numbers do not depend on it.",
            show_default=False,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Set a parameter of the experiment (repeat it).",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Results go to DIR/NAME.")
    ] = Path("lab-out"),
    backend: Annotated[
        Backend, typer.Option("--backend", help="This machine (loky), or a cluster.")
    ] = Backend.loky,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Of a dask or ray cluster; without it one is started here.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run an experiment; writes results.csv, results.json, figures and report.html."""
    chosen = _settings(settings or ())
    with extra():
        from askwise.lab import runner
        from askwise.lab.experiment import with_settings
    experiment = with_settings(name, chosen)
    with extra(), workshop(out / name) as place, progress() as tell:
        results = runner.run(
            experiment,
            reps=reps,
            seed=seed,
            jobs=_cores() if jobs is None else jobs,
            backend=backend.value,
            scheduler=scheduler,
            progress=tell,
        )
        tell("drawing", 0, 1)
        runner.write(experiment, results, place.parent, _command(name, results, chosen))
        tell("drawing", 1, 1)
    if as_json:
        sys.stdout.write(results.to_json())
        return
    if output.for_people():
        _show_results(experiment, results)
    print(out / name / "report.html")


def _describe(name: str) -> dict[str, Any]:
    with extra():
        from askwise.core.registry import parameters_of
        from askwise.lab.experiment import experiments
    entry = experiments.get(name)
    return {
        "name": entry.name,
        "title": entry.title,
        "summary": entry.summary,
        "reproduces": entry.reproduces,
        "reps": entry.reps,
        "parameters": parameters_of(entry()),
    }


def _settings(given: Sequence[str]) -> dict[str, str]:
    chosen = {}
    for each in given:
        key, equals, value = each.partition("=")
        if not equals or not key:
            raise InvalidParameter(f"set is {each!r}: give KEY=VALUE", field="set")
        chosen[key.strip()] = value
    return chosen


def _command(name: str, results: Results, chosen: dict[str, str]) -> str:
    """The command that gives these numbers again, whatever the machine."""
    words = ["askwise", "lab", "run", name]
    words += ["--reps", str(results.reps), "--seed", str(results.seed)]
    for key, value in chosen.items():
        words += ["--set", f"{key}={value}"]
    return shlex.join(words)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _show_results(experiment: Experiment, results: Results) -> None:
    """The first figure in figures: for each panel the right end of its curves."""
    from askwise.lab.report import estimate

    if not experiment.figures:
        return
    wanted = experiment.figures[0]
    rows = [
        row
        for row in results.rows
        if row.metric == wanted.metric and not experiment.drawn_as_reference(row)
    ]
    screen = output.console()
    for panel in dict.fromkeys(row.panel for row in rows):
        here = [row for row in rows if row.panel == panel]
        end = max(row.x for row in here)
        last = [row for row in here if row.x == end]
        most = max(row.mean for row in last)
        screen.print(f"{panel + ': ' if panel else ''}{wanted.x_label} {end:g}", style="bold")
        records = [
            (row.series, *estimate(row), output.bar(row.mean / most if most > 0 else 0.0))
            for row in last
        ]
        screen.print(output.table(("", f">{wanted.metric}", "95% interval", ""), records))
        screen.print()


def _as_text(value: Any) -> str:
    """A parameter as --set takes it."""
    comma = ", " if output.for_people() else ","
    return comma.join(str(each) for each in value) if isinstance(value, tuple) else str(value)
