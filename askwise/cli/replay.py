"""``askwise replay``: what a policy would have cost and got right on recorded answers."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askwise.cli import output
from askwise.cli.options import AsJson
from askwise.cli.outputs import extra, progress, workshop
from askwise.core.registry import split_outside_brackets

if TYPE_CHECKING:
    from askwise.lab.replaying.replay import Replay


def replay(
    labels: Annotated[
        Path,
        typer.Argument(
            metavar="LABELS", help="A table task,worker,label (CSV, JSON Lines, Parquet)."
        ),
    ],
    gold: Annotated[
        Path,
        typer.Option(
            "--gold",
            metavar="FILE",
            help="A table task,label: what is right.",
            show_default=False,
        ),
    ],
    budget: Annotated[
        str,
        typer.Option(
            "--budget", metavar="AMOUNT", help="The most that may be spent.", show_default=False
        ),
    ],
    policy: Annotated[
        str,
        typer.Option(
            "--policy", metavar="LABEL", help="Whom to try: NAME or NAME(KEY=VALUE); see policies."
        ),
    ] = "hem",
    against: Annotated[
        str,
        typer.Option("--against", metavar="LABELS", help="What to hold it against, with commas."),
    ] = "bbta,random-pairs",
    contexts: Annotated[
        Path | None,
        typer.Option(
            "--contexts", metavar="FILE", help="A table task,context.", show_default=False
        ),
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            "--prices",
            metavar="FILE",
            help="A table worker,price; without it every answer costs 1.",
            show_default=False,
        ),
    ] = None,
    duplicates: Annotated[
        str,
        typer.Option(
            "--duplicates",
            metavar="drop|refuse",
            help="Further answers of a worker to the same task.",
        ),
    ] = "drop",
    runs: Annotated[
        int, typer.Option("--runs", metavar="N", help="Runs of each, in another order.")
    ] = 10,
    window: Annotated[
        int, typer.Option("--window", metavar="N", help="Questions that may be out at a time.")
    ] = 1,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Of all draws.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write replay.json, figure.png, figure.svg and report.html there.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Try a policy on recorded answers: what it would have cost, and how right it would be."""
    from askwise.core.checks import one_of
    from askwise.data.labels import in_common, read_contexts, read_gold, read_labels, read_prices
    from askwise.lab.replaying import replay as replays

    one_of(duplicates, "duplicates", ("drop", "refuse"))
    table = read_labels(labels, duplicates=duplicates)
    truths = read_gold(gold)
    in_common(table, truths, gold)
    kinds = None if contexts is None else read_contexts(contexts)
    if kinds is not None and contexts is not None:
        in_common(table, kinds, contexts)
    asked: dict[str, Any] = {
        "policy": policy,
        "against": against,
        "budget": budget,
        "runs": runs,
        "window": window,
        "seed": seed,
    }
    rivals = [part.strip() for part in split_outside_brackets(against) if part.strip()]
    options = {
        **asked,
        "against": rivals,
        "contexts": kinds,
        "prices": None if prices is None else read_prices(prices),
    }
    page = None
    with progress(quiet=as_json) as tell:
        if out is None:
            found = replays.replay(table, truths, progress=tell, **options)
        else:
            with extra(), workshop(out) as place:
                # Missed now, not after the runs.
                import jinja2  # noqa: F401
                import matplotlib  # noqa: F401

                from askwise.lab.replaying.files import write_replay

                found = replays.replay(table, truths, progress=tell, **options)
                files = {"gold": gold, "contexts": contexts, "prices": prices}
                command = _command(labels, files, {**asked, "duplicates": duplicates})
                write_replay(found, place, str(labels), command)
            page = out / "report.html"
    if as_json:
        output.show_json(found.to_json())
        return
    show = _show if output.for_people() else _print_lines
    show(found)
    if page is not None:
        print(page)


def _command(labels: Path, files: dict[str, Path | None], asked: dict[str, Any]) -> str:
    """The command that gives these numbers again."""
    words = ["askwise", "replay", str(labels)]
    for name, value in {**files, **asked}.items():
        if value is not None:
            words += [f"--{name}", str(value)]
    return shlex.join(words)


def _print_lines(found: Replay) -> None:
    """One fact a line, for programs that read lines."""
    line = output.line
    for name in ("tasks", "workers", "answers", "options", "measured", "runs", "seed"):
        line(name, getattr(found, name))
    for row in found.rows:
        line(row.metric, row.series, row.x, row.mean, row.ci_low, row.ci_high)
    line("everything", found.everything[0], found.everything[1])
    for each in found.savings:
        line("saving", each.other, each.accuracy, each.other_cost, each.cost, each.share)
    for remark in found.remarks:
        line("remark", remark)


def _show(found: Replay) -> None:
    """What a person wants to know, in the order in which he asks."""
    from rich.text import Text

    from askwise.lab.replaying.files import headline, lines, sentences

    screen = output.console()
    screen.print(Text(headline(found), style="bold"))
    screen.print()
    for sentence in sentences(found):
        screen.print(Text(sentence))
    screen.print()
    screen.print(
        output.table(
            ("policy", ">right", "95% interval", ">spent"),
            ((name, *cells) for name, cells in lines(found)),
        )
    )
    screen.print()
    for remark in found.remarks:
        screen.print(Text(remark, style="dim"))
