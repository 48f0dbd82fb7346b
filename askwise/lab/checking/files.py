"""A report card as files: its numbers, figures and a page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from askwise import figures as plots
from askwise.auditing import ReportCard
from askwise.figures import Dot
from askwise.lab import report
from askwise.lab.checking import words
from askwise.lab.planning.pictures import count

MOST_DOTS, MOST_CELLS, MOST_CLASSES = 40, 30, 500
"""The most judges of the first figure and of the heat map, and rows of the table of classes."""


def write_card(card: ReportCard, directory: Path, source: str, people: str, command: str) -> Path:
    """Write check.json, report.html and its figures; returns the page."""
    report.write_json(directory, "check.json", card)
    judges, panel, shares = (list(drawn(card, directory)) for drawn in (_judges, _panel, _shares))
    classes = list(words.class_lines(card))
    shown = min(MOST_CLASSES, len(classes))
    some = "" if shown == len(classes) else f" The first {shown} of {len(classes)} rows."
    return report.write_page(
        directory,
        "check.html",
        title=words.headline(card),
        byline=f"Verdicts of {source}, compared with people of {people}",
        figures=[*judges, *panel, *shares],
        people=words.people_sentence(card),
        judge_figures=judges,
        judges_note=words.JUDGES_MEANING,
        judge_columns=words.judge_columns(card),
        judges=list(words.judge_lines(card)),
        classes_note=words.CLASSES_MEANING + some,
        class_columns=words.CLASSES,
        classes=classes[:shown],
        panel=list(words.panel_sentences(card)),
        panel_figures=panel,
        cascade=[] if card.cascade is None else list(words.cascade_sentences(card.cascade)),
        share_figures=shares,
        shares_note=words.SHARES_MEANING,
        share_columns=words.SHARES,
        shares=list(words.share_lines(card)),
        needs_note=words.needs_meaning(card) if card.needs else "",
        need_columns=words.NEEDS,
        needs=list(words.need_lines(card)),
        facts=list(words.facts(card, source, people)),
        remarks=card.remarks,
        command=command,
    )


def _drawn(figure: Any, directory: Path, stem: str, caption: str) -> tuple[str, str]:
    return caption, plots.save_and_embed(figure, directory, stem)


def _judges(card: ReportCard, directory: Path) -> Iterator[tuple[str, str]]:
    """Accuracy and kappa of each judge."""
    measured = [each for each in words.ranked(card) if each.accuracy is not None]
    dots = []
    for each in measured[:MOST_DOTS]:
        for series, found in (("accuracy", each.accuracy), ("kappa", each.kappa)):
            if found is not None:
                dots.append(Dot(each.judge, series, found.value, found.low, found.high))
    if not dots:
        return
    ceiling = card.people.ceiling
    lines = {} if ceiling is None else {"one person left out, against the others": ceiling.value}
    if card.panel.accuracy is not None and len(card.judges) > 1:
        lines["majority vote of all judges"] = card.panel.accuracy.value
    figure = plots.draw_dots(
        dots, title="Accuracy of the judges", x_label="share of tasks, or kappa", lines=lines
    )
    caption = "Against the majority of people, with 95% intervals; the best first."
    if len(measured) > MOST_DOTS:
        caption += f" {MOST_DOTS} of {count(len(measured), 'judge')}."
    yield _drawn(figure, directory, "judges", caption)


def _panel(card: ReportCard, directory: Path) -> Iterator[tuple[str, str]]:
    """Correlations of errors."""
    if card.panel.correlation is None:
        return
    place = {each.judge: at for at, each in enumerate(card.judges)}
    best = [each.judge for each in words.ranked(card)[:MOST_CELLS]]
    rows = [place[name] for name in best]
    values = [[card.panel.correlations[row][column] for column in rows] for row in rows]
    label = "correlation of errors"
    figure = plots.draw_heat(best, values, title="Who errs with whom", label=label)
    caption = (
        "Correlation of the errors of two judges, on tasks that people answered: 1 if they err on "
        "the same ones, 0 if independently."
    )
    if len(card.judges) > MOST_CELLS:
        caption += f" The best {MOST_CELLS} of {len(card.judges)} judges."
    yield _drawn(figure, directory, "correlations", caption)


def _shares(card: ReportCard, directory: Path) -> Iterator[tuple[str, str]]:
    """Shares of classes, by three ways to tell."""
    dots = []
    for each in card.shares[:MOST_DOTS]:
        for series, found in (
            ("judges alone", each.naive), ("people alone", each.human), ("PPI++", each.ppi)
        ):  # fmt: skip
            if found is not None:
                dots.append(Dot(each.label, series, found.value, found.low, found.high))
    figure = plots.draw_dots(dots, title="How many tasks are of each class", x_label="share")
    caption = "Shares of classes among all tasks, with 95% intervals."
    if len(card.shares) > MOST_DOTS:
        caption += f" {MOST_DOTS} of {len(card.shares)} classes."
    yield _drawn(figure, directory, "shares", caption)
