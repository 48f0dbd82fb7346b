"""The page of one worker: read off a campaign, a page of their answers at a time."""

from dataclasses import dataclass, replace

import numpy as np
from markupsafe import Markup

from askwise.campaign import Campaign, views
from askwise.campaign.views.worker_pace import LATEST
from askwise.figures.quality_chart import quality_chart
from askwise.ledger import columns as c
from askwise.service.dashboard import tables
from askwise.service.dashboard.overview import Overviews
from askwise.service.dashboard.visit import Cut, cut

MOST_OPTIONS = 12
"""Options up to which what a worker mixes up is shown as a table of all pairs."""

MOST_PAIRS = 20
"""Pairs that are listed where there are more options."""


@dataclass(frozen=True)
class WorkerPage:
    """A worker with what they answered, newest first."""

    report: views.WorkerReport
    chart: Markup
    table: list[tuple[str, list[int]]]
    """A row per expected option, a cell per option given; empty if there are many options."""
    pairs: list[views.ConfusionCount]
    """The most frequent pairs, where there is not a table."""
    options: tuple[str, ...]
    range: tuple[float, float]
    asked: list[tables.AssignmentRow]
    cut: Cut


def worker_page(
    campaign: Campaign, overviews: Overviews, worker: str, page: int, *, now: bool
) -> WorkerPage:
    """A worker in full, with one page of what was put to them."""
    with campaign.reading() as state:
        at = state.ledger.worker_at(worker)
    known = overviews.facts(campaign.name, now=now).workers
    with campaign.reading() as state:
        summary = known[at] if at < len(known) else None
        report = views.worker_report(state, worker, summary)
        rows = state.ledger.book.assignments[: state.ledger.total(c.ASSIGNMENTS)]
        theirs = np.flatnonzero(rows[:, c.WORKER] == at)[::-1]
        shown = cut(len(theirs), page)
        found = [
            tables.assignment_row(campaign, state, place)
            for place in theirs[shown.start : shown.end].tolist()
        ]
        problem, seq = state.spec.problem, state.seq
    report = replace(
        report, pace=views.worker_pace(campaign.log(max(0, seq - LATEST), seq), worker)
    )
    chart = quality_chart(
        [(each.first, each.last, each.quality) for each in report.blocks],
        *(problem.range if report.basis == "utility" else (0.0, 1.0)),
    )
    small = len(problem.options) <= MOST_OPTIONS
    return WorkerPage(
        report=report,
        chart=Markup(chart),
        table=_table(problem.options, report.confusion) if small else [],
        pairs=[] if small else list(report.confusion[:MOST_PAIRS]),
        options=problem.options,
        range=problem.range,
        asked=tables.with_replies(campaign, overviews, tables.timed(campaign, found)),
        cut=shown,
    )


def _table(
    options: tuple[str, ...], confusion: tuple[views.ConfusionCount, ...]
) -> list[tuple[str, list[int]]]:
    counts = {(each.expected, each.said): each.count for each in confusion}
    rows = [(row, [counts.get((row, said), 0) for said in options]) for row in options]
    return [row for row in rows if any(row[1])]
