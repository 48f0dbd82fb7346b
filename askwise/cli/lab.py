"""``askwise lab``: simulations, with figures and a report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askwise.cli import output
from askwise.cli.completing import completes
from askwise.cli.examples import examples
from askwise.cli.exit_codes import ExitCode
from askwise.cli.extras import extra
from askwise.cli.opening import leave_compiler_out
from askwise.cli.options import AsJson, Seed, argument, cores, option, settings_of
from askwise.cli.progress import progress
from askwise.cli.reports import command_line, written_together

if TYPE_CHECKING:
    from askwise.lab.experiment import Experiment
    from askwise.lab.results import Results

app = typer.Typer()


class Backend(StrEnum):
    """Where the work is sent; the runner's own list, known here without importing it."""

    loky = auto()
    dask = auto()
    ray = auto()


Name = Annotated[str, argument("NAME", "The experiment.", completes("lab", "experiments"))]


@app.callback(invoke_without_command=True)
def lab(context: typer.Context) -> None:
    """Run experiments: simulations with figures and a report."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@examples("askwise lab list")
@app.command("list")
def list_experiments(as_json: AsJson = False) -> None:
    """List the experiments."""
    leave_compiler_out()
    with extra():
        from askwise.lab.experiment import experiments
    found = [_describe(name) for name in experiments.names()]
    columns: output.Headings = {
        **{"experiment": "name", "reproduces": lambda each: each["reproduces"] or None},
        **{">reps": "reps", "title": "title"},
    }
    output.show_objects(found, as_json, columns)


@examples("askwise lab show bounded-small-budgets")
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
    output.show_facts(facts, " ".join(found["summary"].split()))


@examples(
    "askwise lab run bounded-small-budgets --reps 100 --seed 1 "
    "--set policies=uniform,knowledge-gradient",
    run=False,
)
@app.command("run")
def run_experiment(
    name: Name,
    reps: int | None = option(
        None, "N", "Replications per point; the experiment's own number by default."
    ),
    seed: Seed = 0,
    jobs: int | None = option(
        None, "J", "Number of processes; one per core by default. Results do not depend on it."
    ),
    settings: list[str] | None = option(
        None, "KEY=VALUE", "Set a parameter of the experiment (repeatable).", "--set"
    ),
    out: Path = option(Path("lab-out"), "DIR", "Write the results to DIR/NAME."),
    backend: Annotated[
        Backend, typer.Option(help="This machine (loky), or a cluster.")
    ] = Backend.loky,
    scheduler: str | None = option(
        None, "ADDRESS", "Address of a Dask or Ray cluster; by default one is started here."
    ),
    as_json: AsJson = False,
) -> None:
    """Run an experiment; writes results.csv, results.json, figures and report.html."""
    chosen = settings_of(settings)
    with extra():
        from askwise.lab import runner
        from askwise.lab.experiment import with_settings
    experiment = with_settings(name, chosen)
    with extra(), written_together(out / name) as place, progress(quiet=as_json) as tell:
        results = runner.run(
            experiment,
            reps=reps,
            seed=seed,
            jobs=cores() if jobs is None else jobs,
            backend=backend.value,
            scheduler=scheduler,
            progress=tell,
        )
        tell("drawing", 0, 1)
        again = {"seed": results.seed, "set": [f"{key}={value}" for key, value in chosen.items()]}
        command = command_line("lab", "run", name, reps=results.reps, **again)
        runner.write(experiment, results, place.parent, command)
        tell("drawing", 1, 1)
    if as_json:
        sys.stdout.write(results.to_json())
        _end_by(results.failures)
        return
    if output.for_people():
        _show_results(experiment, results)
    print(out / name / "report.html")
    _end_by(results.failures)


def _end_by(failures: Sequence[str]) -> None:
    """Say which cells are missing, and end with 1 where some are."""
    for failure in failures:
        print(failure, file=sys.stderr)
    if failures:
        raise typer.Exit(ExitCode.NOT_SO)


def _describe(name: str) -> dict[str, Any]:
    with extra():
        from askwise.core.registry import parameters_of
        from askwise.lab.experiment import experiments
    entry = experiments.get(name)
    facts = ("name", "title", "summary", "reproduces", "reps")
    return {fact: getattr(entry, fact) for fact in facts} | {"parameters": parameters_of(entry())}


def _show_results(experiment: Experiment, results: Results) -> None:
    """The first figure in figures: for each panel the right end of its curves."""
    from rich.text import Text

    from askwise.lab.report import estimate

    if not experiment.figures:
        return
    wanted = experiment.figures[0]
    rows = [
        row
        for row in results.rows
        if row.metric == wanted.metric and not experiment.drawn_as_reference(row)
    ]
    for panel in dict.fromkeys(row.panel for row in rows):
        here = [row for row in rows if row.panel == panel]
        end = max(row.x for row in here)
        last = [row for row in here if row.x == end]
        most = max(row.mean for row in last)
        name = Text(f"{panel + ': ' if panel else ''}{wanted.x_label} {end:g}", style="bold")
        records = [
            (row.series, *estimate(row), output.bar(row.mean / most if most > 0 else 0.0))
            for row in last
        ]
        columns = ("", f">{wanted.metric}", "95% interval", "")
        output.show(name, output.table(columns, records), "")


def _as_text(value: Any) -> str:
    """A parameter as --set takes it."""
    comma = ", " if output.for_people() else ","
    return comma.join(str(each) for each in value) if isinstance(value, tuple) else str(value)
