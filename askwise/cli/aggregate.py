"""``askwise aggregate``: labels out of recorded answers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askwise.cli import output
from askwise.cli.completing import completes
from askwise.cli.examples import examples
from askwise.cli.opening import leave_compiler_out
from askwise.cli.options import AsJson, argument, cores, option, settings_of
from askwise.cli.progress import narrated, progress, spoken
from askwise.cli.reports import command_line, pages
from askwise.core.errors import InvalidParameter

if TYPE_CHECKING:
    from askwise.aggregation.parts import Split
    from askwise.core.scoring import Bin
    from askwise.data import LabelTable
    from askwise.lab.aggregating.labels import Aggregated, Truths


class AggregateBackend(StrEnum):
    """Where the work is done."""

    local = auto()
    dask = auto()


FEW = 2_000
"""Up to this many answers, plain Python is faster than loading the compiler."""

ALL = "all"

SHOWN = 5
"""Tasks, best and worst workers on a screen."""


@examples(
    "askwise aggregate labels.csv --method dawid-skene --out answers.csv",
    "askwise aggregate labels.csv --method all --gold gold.csv",
)
def aggregate(
    labels: Path = argument(
        "LABELS",
        "A table with the columns task, worker and label: .csv, .csv.gz, .jsonl, .jsonl.gz or "
        ".parquet.",
    ),
    method: str = option(
        "dawid-skene",
        "LABEL",
        "Aggregator: NAME or NAME(KEY=VALUE), see aggregators; or all, to compare them.",
        completion=completes("aggregation"),
    ),
    settings: list[str] | None = option(
        None, "KEY=VALUE", "Set a parameter of the method (repeatable).", "--set"
    ),
    gold: Path | None = option(
        None, "FILE", "True labels (task, label) to measure accuracy with, not to learn from."
    ),
    learn_from: Path | None = option(None, "FILE", "True labels (task, label) to learn from."),
    contexts: Path | None = option(
        None, "FILE", "Kinds of tasks (task, context), for methods that use them."
    ),
    workers: Path | None = option(
        None,
        "FILE",
        "Kinds of workers (worker, kind, family): workers of one family err together, and count "
        "less.",
    ),
    features: Path | None = option(
        None,
        "FILE",
        "Features of tasks (task and columns of numbers), which act as one more worker.",
    ),
    duplicates: str = option(
        "keep",
        "WHAT",
        "What to do with repeated answers of a worker to a task: keep, drop (the first counts) or "
        "refuse.",
    ),
    out: Path | None = option(None, "FILE", "Write task, label and confidence there."),
    workers_out: Path | None = option(None, "FILE", "Write the quality of each worker there."),
    page: Path | None = option(None, "DIR", "Write report.html, figure.png and figure.svg there."),
    backend: Annotated[
        AggregateBackend,
        typer.Option(help="Where to compute: in this process or on a Dask cluster."),
    ] = AggregateBackend.local,
    scheduler: str | None = option(
        None,
        "ADDRESS",
        "Address of the cluster, with --backend dask; by default one is started here.",
    ),
    as_json: AsJson = False,
) -> None:
    """Label tasks from recorded answers, and tell how good the workers are."""
    from askwise.data import read_contexts, read_features, read_kin, read_labels

    chosen = {key: _value(text.strip()) for key, text in settings_of(settings).items()}
    if method == ALL and (chosen or out or workers_out or page):
        raise InvalidParameter(
            "method is 'all', which compares and writes nothing: give one method with --set, "
            "--out, --workers-out and --page",
            field="method",
        )
    _check_backend(method, backend, scheduler)
    with narrated(quiet=as_json) as say:
        table = read_labels(
            labels,
            duplicates=duplicates,
            progress=lambda count: say(f"read {count:,} labels of {labels}"),
        )
    if len(table) <= FEW and backend == AggregateBackend.local:
        leave_compiler_out()
    from askwise.aggregation.parts import watched
    from askwise.lab.aggregating.labels import aggregate as run
    from askwise.lab.aggregating.labels import make_method, methods

    given: dict[str, Any] = {
        "gold": _truths(table, gold),
        "learned": _truths(table, learn_from),
        "contexts": None if contexts is None else read_contexts(contexts),
        "workers": None if workers is None else read_kin(workers),
        "features": None if features is None else read_features(features),
    }
    if method == ALL:
        names = methods()
        found = []
        with progress(quiet=as_json) as tell:
            for at, name in enumerate(names):
                tell("comparing", at, len(names))
                found.append(run(table, make_method(name), **given))
        _show_all(found, as_json)
        return
    made = make_method(_spec(method, chosen))
    if contexts is not None and not made.uses_contexts:
        raise InvalidParameter(
            f"contexts: {made.name!r} does not use them; leave --contexts out", field="contexts"
        )
    with (
        progress(quiet=as_json, aloud=False) as tell,
        spoken(quiet=as_json) as say,
        _divided(backend, scheduler) as split,
    ):
        one = run(table, made, **given, split=watched(split, _passing(len(table), tell, say)))
    files = {"gold": gold, "learn_from": learn_from, "contexts": contexts}
    files |= {"workers": workers, "features": features}
    spelled = [f"{key}={value}" for key, value in chosen.items()]
    command = command_line(
        *("aggregate", labels),
        method=method,
        set=spelled,
        **files,
        duplicates=duplicates,
        backend=None if backend == AggregateBackend.local else backend.value,
        scheduler=scheduler,
        page=page,
    )
    written = _write(one, out, workers_out, page, command)
    if as_json:
        output.show_json({**one.to_json(), "files": [str(path) for path in written]})
    else:
        output.show_found(one, as_json, screen=_show, lines=_print_lines, files=written)


def _check_backend(method: str, backend: AggregateBackend, scheduler: str | None) -> None:
    """Refuse, before anything is read, what no cluster can do."""
    if backend == AggregateBackend.local:
        if scheduler is not None:
            raise InvalidParameter(
                "scheduler needs --backend dask: give both or neither", field="scheduler"
            )
        return
    from askwise.core.registry import from_label
    from askwise.lab.aggregating.labels import partitioned_methods

    spec = from_label(method)
    name = spec if isinstance(spec, str) else spec["name"]
    if name not in partitioned_methods():
        raise InvalidParameter(
            f"method {name!r} does not run on a cluster: give one of "
            f"{', '.join(partitioned_methods())}, or leave --backend out",
            field="method",
        )


def _passing(
    labels: int, tell: Callable[[str, int, int], None], say: Callable[[str], None]
) -> Callable[[int], None]:
    """What tells people, on a terminal and elsewhere, which pass over the labels is going on."""
    shown = "aggregating"
    tell(shown, 0, 1)

    def passing(number: int) -> None:
        nonlocal shown
        tell(shown, 1, 1)
        shown = f"aggregating: pass {number} over {labels:,} labels"
        tell(shown, 0, 1)
        say(shown)

    return passing


@contextmanager
def _divided(backend: AggregateBackend, scheduler: str | None) -> Iterator[Split]:
    """How tasks are divided: in one part here, or among the workers of a cluster."""
    if backend == AggregateBackend.local:
        from askwise.aggregation.parts import OnePart

        yield OnePart
        return
    from askwise.lab.aggregating.cluster import on_dask

    with on_dask(scheduler, jobs=cores()) as split:
        yield split


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _spec(method: str, chosen: dict[str, Any]) -> dict[str, Any]:
    from askwise.core.registry import from_label

    spec = from_label(method)
    return {**({"name": spec} if isinstance(spec, str) else spec), **chosen}


def _truths(table: LabelTable, path: Path | None) -> Truths | None:
    if path is None:
        return None
    from askwise.data import read_gold
    from askwise.data.labels import truths_in
    from askwise.lab.aggregating.labels import Truths

    read = read_gold(path)
    here = truths_in(table, read, path)
    return Truths(here, len(read) - len(here), str(path))


def _write(
    found: Aggregated, out: Path | None, workers_out: Path | None, page: Path | None, command: str
) -> list[Path]:
    from askwise.lab.aggregating import files

    written = []
    if page is not None:
        with pages(page) as place:
            assert place is not None
            files.write_aggregate_page(found, place, command)
        written.append(page / "report.html")
    if out is not None:
        written.append(files.write_labels(found, out))
    if workers_out is not None:
        written.append(files.write_crowd(found, workers_out))
    return written


def _print_lines(found: Aggregated) -> None:
    """One fact per line, for programs that read lines."""
    line, table = output.line, found.table
    for name, value in (
        ("tasks", len(table.task_names)),
        ("workers", len(table.worker_names)),
        ("answers", len(table)),
        ("labels", len(table.label_names)),
        ("duplicates", table.duplicates),
        ("dropped", table.dropped),
        ("method", found.method),
        ("iterations", found.fitted.iterations),
        ("converged", found.fitted.converged),
        ("agreement", found.agreement),
    ):
        line(name, value)
    if found.accuracy is not None:
        accuracy = found.accuracy
        line("accuracy", accuracy.mean, accuracy.low, accuracy.high, len(found.measured))
    if found.scores is not None:
        line("ties", found.scores.ties)
        line("ece", found.scores.ece)
        line("log_loss", found.scores.log_loss)
        line("brier", found.scores.brier)
        for each in found.scores.bins:
            line("reliability", each.confidence, each.right, each.tasks)
    line("rests_on", found.fitted.rests_on, found.truths)
    for each in found.to_json()["least_sure"]:
        line("unsure", each["task"], each["label"], each["confidence"])
    for word, group in (("best", found.ranked()[:SHOWN]), ("worst", found.worst(SHOWN))):
        for at in group:
            known = found.worker(at)
            line(word, *(known[name] for name in ("worker", "answers", "quality", "low", "high")))
    for remark in found.remarks():
        line("remark", remark)


def _show(found: Aggregated) -> None:
    """What a person wants to know, in the order in which they ask."""
    from rich.text import Text

    from askwise.lab.aggregating.files import facts

    output.show(output.grid(facts(found)))
    output.show(*(Text(remark, style="yellow") for remark in found.remarks()))
    if found.scores is not None:
        output.show(Text("\nHow often labels are right, by confidence:", style="bold"))
        output.show(_reliability(found.scores.bins))
    output.show(Text("\nLeast sure:", style="bold"), _tasks(found))
    ranked = found.ranked()
    groups = {"Workers, best first": ranked}
    if len(ranked) > 2 * SHOWN:
        groups = {"Best workers": ranked[:SHOWN], "Worst workers": found.worst(SHOWN)}
    for name, group in groups.items():
        output.show(Text(f"\n{name}:", style="bold"), _workers(found, group))


def _tasks(found: Aggregated) -> Any:
    from askwise.lab.aggregating.files import votes_text

    names = found.table
    return output.table(
        ("task", "label", ">confidence", "answers"),
        (
            (
                names.task_names[at],
                names.label_names[found.fitted.labels[at]],
                f"{found.fitted.confidence[at]:.3f}",
                votes_text(found.votes(at)),
            )
            for at in found.least_sure(SHOWN)
        ),
    )


def _reliability(bins: Sequence[Bin]) -> Any:
    return output.table(
        (">confidence", ">right", ">tasks"),
        ((f"{each.confidence:.3f}", f"{each.right:.3f}", each.tasks) for each in bins),
    )


def _workers(found: Aggregated, group: Sequence[int]) -> Any:
    known = [found.worker(at) for at in group]
    return output.table(
        ("worker", ">answers", ">quality", "95% interval", *found.fitted.of_workers),
        (
            (
                *(each["worker"], each["answers"], f"{each['quality']:.3f}"),
                f"[{each['low']:.3f}, {each['high']:.3f}]",
                *(each[name] for name in found.fitted.of_workers),
            )
            for each in known
        ),
    )


def _show_all(found: Sequence[Aggregated], as_json: bool) -> None:
    """Methods below each other."""
    if as_json:
        output.show_json([each.to_json() for each in found])
        return
    from askwise.lab.planning.plan import interval

    vote = next((each for each in found if each.method == "majority"), found[0])
    records = []
    for each in found:
        accuracy = ("", "") if each.accuracy is None else interval(each.accuracy)
        other = int((each.fitted.labels != vote.fitted.labels).sum())
        scores = ("", "")
        if each.scores is not None and each.scores.ece is not None:
            scores = (str(each.scores.ties), f"{each.scores.ece:.3f}")
        records.append((each.method, *accuracy, f"{each.agreement:.3f}", other, *scores))
    columns = ("method", ">accuracy", ">95% interval", ">agreement", ">not vote", ">ties", ">ECE")
    output.show_records(columns, records)
