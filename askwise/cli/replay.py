"""``askwise replay``: what a policy would have cost and got right on recorded answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from askwise.cli import output
from askwise.cli.completing import completes
from askwise.cli.examples import examples
from askwise.cli.options import AsJson, Seed, argument, option
from askwise.cli.progress import progress, spoken
from askwise.cli.reports import command_line, pages
from askwise.core.registry import split_outside_brackets

if TYPE_CHECKING:
    from askwise.lab.replaying.replay import Replay


@examples(
    "askwise replay labels.csv --gold gold.csv --budget 20 --policy hem "
    "--against random-pairs --runs 2",
)
def replay(
    labels: Path = argument("LABELS", "A table task,worker,label (CSV, JSON Lines, Parquet)."),
    gold: Path = option(..., "FILE", "True labels: a table task,label."),
    budget: str = option(..., "AMOUNT", "Maximum to spend."),
    policy: str = option(
        "hem",
        "LABEL",
        "Policy to try: NAME or NAME(KEY=VALUE); see policies.",
        completion=completes("policies"),
    ),
    against: str = option(
        "bbta,random-pairs", "LABELS", "Policies to compare it with, comma-separated."
    ),
    contexts: Path | None = option(None, "FILE", "A table task,context."),
    prices: Path | None = option(
        None, "FILE", "A table worker,price; without it every answer costs 1."
    ),
    workers: Path | None = option(
        None, "FILE", "A table worker,price and optionally limit,kind,family, instead of --prices."
    ),
    truths: int = option(
        0,
        "N",
        "Number of tasks, drawn at random, whose truth is told at the start; accuracy is not "
        "measured on them.",
    ),
    stop: str | None = option(
        None,
        "LABEL",
        "Stopping rule: NAME or NAME(KEY=VALUE); see rules.",
        completion=completes("stopping"),
    ),
    duplicates: str = option(
        "drop", "drop|refuse", "What to do with repeated answers of a worker to a task."
    ),
    runs: int = option(10, "N", "Number of runs, each in a different order."),
    window: int = option(1, "N", "Number of questions that may be open at a time."),
    seed: Seed = 0,
    out: Path | None = option(
        None, "DIR", "Write replay.json, figure.png, figure.svg and report.html there."
    ),
    as_json: AsJson = False,
) -> None:
    """Try a policy on recorded answers: what it would have cost, and how accurate it would be."""
    from askwise.core.checks import one_of
    from askwise.data import (
        read_contexts,
        read_gold,
        read_labels,
        read_prices,
        read_recorded_workers,
    )
    from askwise.data.labels import in_common, truths_in
    from askwise.lab.replaying import replay as replays
    from askwise.lab.replaying.files import write_replay

    one_of(duplicates, "duplicates", ("drop", "refuse"))
    table = read_labels(labels, duplicates=duplicates)
    right = read_gold(gold)
    truths_in(table, right, gold)
    kinds = None if contexts is None else read_contexts(contexts)
    if kinds is not None and contexts is not None:
        in_common(table, kinds, contexts)
    asked: dict[str, Any] = {"policy": policy, "against": against, "budget": budget}
    asked |= {"truths": truths, "stop": stop, "runs": runs, "window": window, "seed": seed}
    options = {
        **asked,
        "against": [part.strip() for part in split_outside_brackets(against) if part.strip()],
        "contexts": kinds,
        "prices": None if prices is None else read_prices(prices),
        "workers": None if workers is None else read_recorded_workers(workers),
    }
    with (
        progress(quiet=as_json, aloud=False) as tell,
        spoken(quiet=as_json) as say,
        pages(out) as place,
    ):
        found = replays.replay(table, right, progress=tell, doing=say, **options)
        if place is not None:
            files = {"gold": gold, "contexts": contexts, "prices": prices, "workers": workers}
            asked["truths"] = truths or None
            command = command_line("replay", labels, **files, **asked, duplicates=duplicates)
            write_replay(found, place, str(labels), command)
    written = [] if out is None else [out / "report.html"]
    output.show_found(found, as_json, screen=_show, lines=_print_lines, files=written)


def _print_lines(found: Replay) -> None:
    """One fact per line, for programs that read lines."""
    line = output.line
    for name in ("tasks", "workers", "answers", "options", "measured", "runs", "seed"):
        line(name, getattr(found, name))
    for row in found.rows:
        line(row.metric, row.series, row.x, row.mean, row.ci_low, row.ci_high)
    for each in found.measures:
        for name in ("ties", "ece", "log_loss", "done_share", "done_error"):
            line(name, each.series, each.budget, getattr(each, name))
    line("everything", found.everything[0], found.everything[1])
    for saved in found.savings:
        line(
            *("saving", saved.other, saved.accuracy, saved.other_cost, saved.cost, saved.share),
            saved.sure,
        )
    for remark in found.remarks:
        line("remark", remark)


def _show(found: Replay) -> None:
    """What a person wants to know, in the order in which they ask."""
    from rich.text import Text

    from askwise.lab.replaying.files import SURE, headline, lines, sentences, sure_lines

    columns = ("policy", ">right", "95% interval", ">spent")
    table = output.table(columns, ((name, *cells) for name, cells in lines(found)))
    output.show(
        Text(headline(found), style="bold"), "", *map(Text, sentences(found)), "", table, ""
    )
    # Budget and accuracy are in the table above.
    final = sure_lines(map(found.final_measures, found.series))
    heads = ("policy", *(f">{name}" for name in SURE[2:]))
    output.show(output.table(heads, ((name, *cells[2:]) for name, cells in final)), "")
    output.show(*(Text(remark, style="dim") for remark in found.remarks))
