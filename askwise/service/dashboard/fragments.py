"""The parts of a campaign's pages that change while one watches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from askwise.campaign.insight_views import Forecast
from askwise.campaign.timeline import Series
from askwise.core.money import from_micro, to_micro
from askwise.figures import live
from askwise.service.dashboard import tables as rows
from askwise.service.dashboard.overview import PIECE, Facts, Glance
from askwise.service.dashboard.visit import ROWS, Visit

SHORT = 8
"""Rows of each table on the overview."""

POINTS = 12
"""Rows of the table beside a chart over time."""


@dataclass(frozen=True)
class Charts:
    """The overview's charts, each an ``<svg>``, or empty where there is nothing to draw."""

    money: Markup
    answers: Markup
    outcomes: Markup
    workers: Markup


@dataclass(frozen=True)
class Seen:
    """What is known of a campaign now. ``place`` changes when any of it has."""

    glance: Glance
    facts: Facts
    place: tuple[int, ...]
    series: Series | None = None
    read: int = 0
    charts: Charts | None = None
    forecast: Forecast | None = None


def look(visit: Visit, name: str, *, charts: bool, now: bool = False) -> Seen:
    """Look at a campaign; ``charts`` are of the overview only."""
    overviews = visit.overviews
    glance, facts = overviews.glance(name), overviews.facts(name, now=now)
    place: tuple[int, ...] = (glance.status.seq, facts.seq)
    if not charts:
        return Seen(glance, facts, place)
    read, series = overviews.series(name)
    forecast = overviews.forecast(name)
    drawn, made = overviews.charts(
        name, lambda facts, series: draw(facts, series, forecast), now=now
    )
    return Seen(glance, facts, (*place, read, *drawn), series, read, made, forecast)


def draw(facts: Facts, series: Series, forecast: Forecast | None) -> Charts:
    """Draw the overview's charts."""
    end = None
    if forecast is not None and forecast.ends is not None and forecast.spent is not None:
        end = forecast.ends, to_micro(forecast.spent, "spent")
    counts = facts.outcomes.counts
    skills = [
        live.Skill(each.id, each.share, None)
        if each.quality is None
        else live.Skill(
            each.id, each.share, each.quality.value, each.quality.low, each.quality.high,
            each.quality.basis,
        )
        for each in facts.workers
        if each.joined or each.answered
    ]  # fmt: skip
    # Escaped by the one that draws: they hold names of workers and words of rules.
    return Charts(
        *map(
            Markup,
            (
                live.money_chart(
                    series.times, series.spent, series.reserved, series.budget, end=end
                ),
                live.answers_chart(series.times, series.answers),
                live.outcomes_chart(
                    facts.outcomes.edges,
                    {each.outcome: each.bins for each in counts},
                    {each.outcome: each.tasks for each in counts},
                ),
                live.workers_chart(skills, *facts.range),
            ),
        )
    )


def points(series: Series) -> list[dict[str, Any]]:
    """Some moments of a series, the last one among them: a chart in numbers."""
    size = len(series.times)
    if size == 0:
        return []
    places = np.unique(np.linspace(0, size - 1, min(POINTS, size)).round().astype(int))
    return [
        {
            "time": float(series.times[at]),
            "answers": int(series.answers[at]),
            "spent": from_micro(int(series.spent[at])),
            "reserved": from_micro(int(series.reserved[at])),
            "budget": None if series.budget is None else from_micro(int(series.budget[at])),
        }
        for at in places
    ]


def head(visit: Visit, name: str, glance: Glance) -> Markup:
    """The state of a campaign, and what can be done about it."""
    return visit.part(
        "dashboard_head.html", "head", "State", name=name, glance=glance, totals=glance.status
    )


def overview(visit: Visit, name: str, seen: Seen, fixed: int | None) -> list[Markup]:
    """The parts of the overview, the head first."""
    campaign, facts, status = visit.service.campaigns.get(name), seen.facts, seen.glance.status
    assert seen.series is not None
    recent, _ = rows.decisions(campaign, 1, SHORT)
    top, shown = rows.workers(facts.workers, 1, "share", True)
    common = {"name": name, "totals": status, "facts": facts}
    made = [
        head(visit, name, seen.glance),
        visit.part(
            "dashboard_numbers.html", "numbers", "Numbers",
            glance=seen.glance, forecast=seen.forecast,
            saved=visit.overviews.savings(name, fixed), fixed=fixed, **common,
        ),
        visit.part(
            "dashboard_charts.html", "charts", "Charts",
            charts=seen.charts, points=points(seen.series), read=seen.read,
            behind=seen.read + PIECE < status.seq, **common,
        ),
    ]  # fmt: skip
    if status.tasks and facts.options:
        made.append(
            visit.part(
                "dashboard_contested.html",
                "contested",
                "Contested tasks",
                contested=rows.contested(campaign, facts, SHORT),
                **common,
            )
        )
    made.append(
        visit.part(
            "dashboard_workers.html",
            "workers",
            "Workers",
            workers=top[:SHORT],
            total=shown.total,
            sort=None,
            down=True,
            cut=None,
            **common,
        )
    )
    made.append(
        visit.part(
            "dashboard_decisions.html", "decisions", "Decisions", asked=recent, cut=None, **common
        )
    )
    return made


def tasks(visit: Visit, name: str, seen: Seen, page: int, sort: str, outcome: str) -> list[Markup]:
    """A page of tasks."""
    known = {each.outcome: each.tasks for each in seen.facts.outcomes.counts}
    order = sort if sort in rows.TASK_SORTS else "unsure"
    chosen = outcome if outcome in known else None
    found, shown = rows.tasks(visit.service.campaigns.get(name), seen.facts, page, order, chosen)
    return [
        head(visit, name, seen.glance),
        visit.part(
            "dashboard_tasks.html", "tasks", "Tasks",
            name=name, totals=seen.glance.status, rows=found, cut=shown, sort=order,
            chosen=chosen, outcomes=known, sorts=rows.TASK_SORTS, facts=seen.facts,
        ),
    ]  # fmt: skip


def workers(visit: Visit, name: str, seen: Seen, page: int, sort: str, down: bool) -> list[Markup]:
    """A page of workers."""
    column = sort if sort in rows.WORKER_SORTS else "share"
    found, shown = rows.workers(seen.facts.workers, page, column, down)
    return [
        head(visit, name, seen.glance),
        visit.part(
            "dashboard_workers.html", "workers", "Workers",
            name=name, totals=seen.glance.status, workers=found, total=shown.total, sort=column,
            down=down, cut=shown, facts=seen.facts,
        ),
    ]  # fmt: skip


def decisions(visit: Visit, name: str, seen: Seen, page: int) -> list[Markup]:
    """A page of what was asked."""
    found, shown = rows.decisions(visit.service.campaigns.get(name), page, ROWS)
    return [
        head(visit, name, seen.glance),
        visit.part(
            "dashboard_decisions.html", "decisions", "Decisions",
            name=name, totals=seen.glance.status, asked=found, cut=shown, facts=seen.facts,
        ),
    ]  # fmt: skip
