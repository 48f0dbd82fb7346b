"""``askwise check``: the report card of judges, against people, and a test for CI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from askwise.cli import output
from askwise.cli.examples import examples
from askwise.cli.exit_codes import ExitCode
from askwise.cli.options import AsJson, Seed, argument, option
from askwise.cli.progress import progress
from askwise.cli.reports import command_line, pages
from askwise.cli.scores import Metric, PeopleMetric, Threshold, Tool, read_export
from askwise.core.errors import InvalidParameter

if TYPE_CHECKING:
    from askwise.auditing import JudgeAgreement, ReportCard

    Columns = Mapping[str, list[str]]

SHOWN = 20
"""Judges, and rows of judges by class, on a screen."""


@examples("askwise check verdicts.csv --human humans.csv")
def check(
    verdicts: Path = argument(
        "VERDICTS",
        "A table task,worker,label (CSV, JSON Lines, Parquet): verdicts of judges. An empty label "
        "is a failure. With --from: the export of the tool.",
    ),
    human: Path | None = option(
        None,
        "FILE",
        "A table task,worker,label: what people said of the same tasks. Required unless the "
        "export has it.",
    ),
    tool: Tool = None,
    metric: Metric = None,
    people_metric: PeopleMetric = None,
    threshold: Threshold = None,
    order: str | None = option(
        None, "COLUMN", "Column of VERDICTS that gives the order in which a task was shown."
    ),
    workers: Path | None = option(
        None,
        "FILE",
        "A table worker,price and optionally kind,family; without it a verdict costs 1.",
    ),
    epsilon: float = option(
        0.1,
        "SHARE",
        "How much worse than a person a judge may be: 0.2 for experts, 0.15 if skilled, 0.1 for a "
        "crowd.",
    ),
    confidence: float = option(0.9, "SHARE", "Confidence of certificates."),
    at_least: float | None = option(
        None,
        "SHARE",
        "For CI: exit with 1 unless every judge agrees with people on at least this share of "
        "tasks, with 95% confidence.",
    ),
    judge: str | None = option(None, "NAME", "The judge that --at-least applies to."),
    seed: Seed = 0,
    out: Path | None = option(None, "DIR", "Write check.json, report.html and its figures there."),
    as_json: AsJson = False,
) -> None:
    """Measure judges against people: how accurate they are, alone and together."""
    from askwise.auditing import Sources, agreements, held
    from askwise.auditing import check as run
    from askwise.data import read_recorded_workers
    from askwise.lab.checking.files import write_card

    if judge is not None and at_least is None:
        raise InvalidParameter(
            "judge is given without at_least: say how often they have to agree, --at-least SHARE",
            field="judge",
        )
    reading = {"metric": metric, "people_metric": people_metric, "threshold": threshold}
    if tool is None:
        _refuse_without_tool(reading)
        said, told = _read_tables(verdicts, human, order)
    else:
        said, told = _read_of_tool(verdicts, human, order, tool, reading)
    people = f"people of {verdicts}" if human is None else str(human)
    sources = Sources(str(verdicts), people)
    shown: tuple[JudgeAgreement, ...] = ()
    if at_least is not None:
        shown = agreements(said, told, at_least=at_least, judge=judge, sources=sources)
    known = [] if workers is None else read_recorded_workers(workers)
    with progress(quiet=as_json, compiles=False) as tell, pages(out) as place:
        found = run(
            said,
            told,
            order=order,
            prices=None if workers is None else {each.id: Decimal(each.price) for each in known},
            families={each.id: each.family for each in known if each.family is not None},
            epsilon=epsilon,
            confidence=confidence,
            seed=seed,
            sources=sources,
            progress=tell,
        )
        if place is not None:
            asked: dict[str, Any] = {"human": human, "order": order, "workers": workers}
            asked |= {"epsilon": epsilon, "confidence": confidence, "seed": seed}
            asked |= {"from": tool, **reading}
            command = command_line("check", verdicts, **asked)
            tell("drawing", 0, 1)
            write_card(found, place, str(verdicts), people, command)
            tell("drawing", 1, 1)
    written = [] if out is None else [out / "report.html"]
    output.show_found(
        found,
        as_json,
        screen=lambda card: _show(card, str(verdicts), people),
        lines=_print_lines,
        files=written,
    )
    _say_agreements(shown, as_json)
    if not held(shown):
        raise typer.Exit(ExitCode.NOT_SO)


def _read_tables(verdicts: Path, human: Path | None, order: str | None) -> tuple[Columns, Columns]:
    from askwise.data.columns import read_columns

    if human is None:
        raise InvalidParameter(
            "human is not given: judges are measured against people, so give their answers with "
            "--human FILE (task,worker,label); without people, askwise aggregate says how far "
            "judges agree",
            field="human",
        )
    columns = ("task", "worker", "label")
    if order in columns:
        raise InvalidParameter(
            f"order is {order!r}: name another column of {verdicts}, one that says in which order "
            "a task was shown",
            field="order",
        )
    more = () if order is None else (order,)
    said = read_columns(verdicts, (*columns, *more), blank=("label",))
    return said.cells, read_columns(human, columns).cells


def _read_of_tool(
    export: Path, human: Path | None, order: str | None, tool: str, reading: Mapping[str, Any]
) -> tuple[Columns, Columns]:
    """Verdicts of an export, and the answers of its people unless others are given."""
    from askwise.data.columns import read_columns

    if order is not None:
        raise InvalidParameter(
            "order can't be combined with --from: exports have no order in which a task was shown",
            field="order",
        )
    found = read_export(export, tool, **reading, people=human is None)
    output.console(stderr=True).print(found.said(), highlight=False, soft_wrap=True)
    if human is not None:
        return found.verdicts, read_columns(human, ("task", "worker", "label")).cells
    if not found.people["task"]:
        raise InvalidParameter(
            f"human is not given, and {export} has no rating of a person: give their answers with "
            "--human FILE (task,worker,label), or name the score that people gave with "
            "--people-metric",
            field="human",
        )
    return found.verdicts, found.people


def _refuse_without_tool(reading: Mapping[str, Any]) -> None:
    for name, value in reading.items():
        if value not in (None, []):
            raise InvalidParameter(
                f"{name} can only be used with the export of a tool: name the tool with --from, or "
                f"leave --{name.replace('_', '-')} out",
                field=name,
            )


def _say_agreements(shown: Sequence[JudgeAgreement], as_json: bool) -> None:
    """What a test of the agreement came to; with JSON beside it, on stderr."""
    for each in shown:
        if as_json:
            output.console(stderr=True).print(each.sentence(), highlight=False, soft_wrap=True)
        elif output.for_people():
            output.show("", each.sentence())
        else:
            ends = (each.low, each.at_least, each.holds, each.more, each.tied)
            output.line("agreement", each.judge, each.agreed, each.tasks, *ends)


def _print_lines(card: ReportCard) -> None:
    """One fact per line, for programs that read lines."""
    line, ends_of = output.line, output.ends_of
    for name in ("tasks", "verdicts", "failures"):
        line(name, getattr(card, name))
    for name in ("people", "answers", "tasks", "tied", "alone"):
        line(f"human_{name}" if name != "people" else name, getattr(card.people, name))
    line("ceiling", *ends_of(card.people.ceiling))
    line("attainable", card.people.attainable)
    for each in card.judges:
        line("accuracy", each.judge, *ends_of(each.accuracy), each.tasks)
        line("kappa", each.judge, *ends_of(each.kappa))
        line("failed", each.judge, *ends_of(each.failures), each.verdicts)
        for rates in each.classes:
            line("tpr", each.judge, rates.label, *ends_of(rates.tpr))
            line("tnr", each.judge, rates.label, *ends_of(rates.tnr))
        if each.alternative is not None:
            test = each.alternative
            line("alternative", each.judge, test.winning_rate, test.passes, test.advantage)
        if each.flips is not None:
            line("flips", each.judge, *ends_of(each.flips.share), each.flips.tasks)
    panel = card.panel
    line("panel_accuracy", *ends_of(panel.accuracy), panel.tasks)
    line("correlation", *ends_of(panel.correlation))
    line("effective", *ends_of(panel.effective), panel.counted)
    line("families", panel.within_families, panel.between_families)
    for part in panel.contributions:
        line("gain", part.judge, *ends_of(part.gain), part.effect)
    if card.cascade is not None:
        found = card.cascade
        line("cascade", ", ".join(found.judges), found.until, found.cost, found.all_cost)
        line("cascade_chosen", found.chosen_cost, *ends_of(found.chosen_error))
        line("cascade_error", *ends_of(found.error))
        line("all_error", *ends_of(found.all_error))
    for share in card.shares:
        line("share", share.label, share.naive.value, *ends_of(share.human), *ends_of(share.ppi))
    for need in card.needs:
        line("need", need.alpha, need.clean, need.expected)
    for remark in card.remarks:
        line("remark", remark)


def _show(card: ReportCard, source: str, people: str) -> None:
    """What a person wants to know, in the order in which they ask."""
    from rich.text import Text

    from askwise.lab.checking import words

    def table(first: str, columns: tuple[str, ...], lines: list[words.NamedCells]) -> Any:
        heads = (first, *(f">{name}" for name in columns))
        return output.table(heads, ((name, *cells) for name, cells in lines))

    def head(text: str) -> Text:
        return Text(f"\n{text}", style="bold")

    output.show(Text(words.headline(card), style="bold"), words.people_sentence(card), "")
    output.show(output.grid(words.facts(card, source, people)))
    judges, classes = list(words.judge_lines(card)), list(words.class_lines(card))
    output.show(head("Judges"), table("judge", words.judge_columns(card), judges[:SHOWN]))
    output.show(*_more(len(judges)), Text(words.JUDGES_MEANING, style="dim"))
    output.show(head("By class"), table("judge", words.CLASSES, classes[:SHOWN]))
    output.show(*_more(len(classes)))
    if len(card.judges) > 1:
        output.show(head("Together"), *map(Text, words.panel_sentences(card)))
    if card.cascade is not None:
        output.show(head("Cheap judges first"), *map(Text, words.cascade_sentences(card.cascade)))
    shares = list(words.share_lines(card))
    output.show(head("Shares of classes"), table("label", words.SHARES, shares[:SHOWN]))
    output.show(*_more(len(shares)))
    if card.needs:
        output.show(head("Certificates"), Text(words.needs_meaning(card)))
        output.show(table("certificate", words.NEEDS, list(words.need_lines(card))))
    output.show(head("Notes"), *(Text(remark, style="yellow") for remark in card.remarks))


def _more(rows: int) -> list[str]:
    return [] if rows <= SHOWN else [f"{rows - SHOWN} more: see --out or --json."]
