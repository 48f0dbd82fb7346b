"""The parts of a campaign's pages that change while one watches."""

import time
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from askwise.campaign import Campaign, views
from askwise.campaign.views.results import single_answers
from askwise.core.money import from_micro, to_micro
from askwise.figures import live
from askwise.figures.price_chart import price_chart
from askwise.service.dashboard import tables as rows
from askwise.service.dashboard.facts import Facts
from askwise.service.dashboard.overview import LATE, PIECE, Glance, Overviews
from askwise.service.dashboard.visit import ROWS, Visit

SHORT = 8
"""Rows of each table on the overview."""

MOST_LABELS = 8
"""Labels whose tasks are shown one by one, the most frequent."""

CHARTED = ("overview", "workers")
"""Pages that have charts."""

POINTS = 12
"""Rows of the table beside a chart over time."""


@dataclass(frozen=True)
class Seen:
    """What is known of a campaign now. ``place`` changes when any of it has."""

    glance: Glance
    facts: Facts | None
    """None while those of a large campaign are worked out for the first time."""
    place: tuple[int, ...]
    series: views.Series | None = None
    read: int = 0
    charts: dict[str, Markup] | None = None
    forecast: views.Forecast | None = None


def look(visit: Visit, name: str, *, charts: bool, now: bool = False) -> Seen:
    """Look at a campaign; ``charts`` are of pages that are `CHARTED`."""
    overviews, status = visit.overviews, visit.overviews.glance(name).status
    ready = overviews.is_ready(
        name, status.answers + status.tasks, lambda: _look(overviews, name, charts), charts=charts
    )
    if not ready:
        glance = overviews.glance(name)
        return Seen(glance, None, (glance.status.seq, -1))
    return _look(overviews, name, charts, now=now)


def _look(overviews: Overviews, name: str, charts: bool, *, now: bool = False) -> Seen:
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


def draw(facts: Facts, series: views.Series, forecast: views.Forecast | None) -> dict[str, Markup]:
    """Draw the overview's charts: each an ``<svg>``, or empty where there is nothing to draw."""
    end = None
    if forecast is not None and forecast.ends is not None and forecast.spent is not None:
        end = forecast.ends, to_micro(forecast.spent, "spent")
    counts = facts.outcomes.counts
    skills = [_skill(each) for each in facts.workers if each.joined or each.answered]
    drawn = {
        "money": live.money_chart(
            series.times, series.spent, series.reserved, series.budget, end=end
        ),
        "answers": live.answers_chart(series.times, series.answers),
        "outcomes": live.outcomes_chart(
            facts.outcomes.edges,
            {each.outcome: each.bins for each in counts},
            {each.outcome: each.tasks for each in counts},
            facts.outcomes.rests_on,
        ),
        "workers": live.workers_chart(skills, *facts.range),
        "prices": price_chart(skills, *facts.range),
    }
    # Escaped by the one that draws: they hold names of workers and words of rules.
    return {name: Markup(svg) for name, svg in drawn.items()}


def _skill(worker: views.WorkerSummary) -> live.Skill:
    cost = worker.price if worker.cost_an_answer is None else worker.cost_an_answer
    price, quality = None if cost is None else float(cost), worker.quality
    if quality is None:
        return live.Skill(worker.id, worker.share, None, price=price)
    ends = quality.value, quality.low, quality.high
    return live.Skill(worker.id, worker.share, *ends, quality.basis, price)


def points(series: views.Series) -> list[dict[str, Any]]:
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


class Wanted(NamedTuple):
    """What of a page is asked for; each page takes what it has."""

    page: int = 1
    sort: str = ""
    outcome: str = ""
    down: bool = True
    fixed: int | None = None


def head(visit: Visit, name: str, glance: Glance, facts: Facts | None = None) -> Markup:
    """The state of a campaign, what can be done about it, and of when ``facts`` shown below are."""
    status = glance.status
    late = facts is not None and facts.seq < status.seq and time.time() - facts.time > LATE
    return visit.part(
        "head", "State", name=name, glance=glance, totals=status, late=facts if late else None
    )


def can_change(visit: Visit, glance: Glance) -> bool:
    """Whether to offer forms that change a campaign: of an archived one all would be refused."""
    return visit.caller.may("requester") and not glance.status.archived


def _part(visit: Visit, seen: Seen, id: str, label: str, **values: Any) -> Markup:
    glance = seen.glance
    common: dict[str, Any] = {"name": glance.status.name, "glance": glance, "totals": glance.status}
    common["changes"] = can_change(visit, glance)
    return visit.part(id, label, facts=seen.facts, **common, **values)


def overview(visit: Visit, campaign: Campaign, seen: Seen, wanted: Wanted) -> list[Markup]:
    """The parts of the overview below its head: what a campaign has come to comes first."""
    facts, status = seen.facts, seen.glance.status
    if facts is None:
        return [_pending(visit, seen, "pending")]
    assert seen.series is not None
    recent, _ = rows.decisions(campaign, 1, SHORT)
    top, shown = rows.workers(facts.workers, 1, "share", True)
    workers = {"workers": top[:SHORT], "total": shown.total, "sort": None, "down": True}
    workers_part = _part(visit, seen, "workers", "Workers", **workers, cut=None)
    if is_new(seen.glance):
        return [_checklist(visit, campaign, seen), workers_part]
    saved = visit.overviews.savings(campaign.name, wanted.fixed)
    numbers = {"forecast": seen.forecast, "saved": saved, "fixed": wanted.fixed}
    charts = {"charts": seen.charts, "points": points(seen.series), "read": seen.read}
    behind = seen.read + PIECE < status.seq
    made = [
        _part(visit, seen, "numbers", "Numbers", **numbers),
        _part(visit, seen, "charts", "Charts", **charts, behind=behind),
    ]
    if status.tasks and facts.options:
        labels = sorted(facts.results.labels.items(), key=lambda each: -each[1])
        values: dict[str, Any] = {"results": facts.results, "agreement": facts.agreement}
        values |= {"single": single_answers(facts.answers), "lacking": lacking(status, facts)}
        made.insert(
            0, _part(visit, seen, "results", "Results", **values, labels=labels[:MOST_LABELS],
                     more=labels[MOST_LABELS:])
        )  # fmt: skip
        contested = rows.contested(campaign, facts, SHORT)
        made.append(_part(visit, seen, "contested", "Contested tasks", contested=contested))
    return [
        *made,
        workers_part,
        _part(visit, seen, "decisions", "Decisions", asked=recent, cut=None),
    ]


def lacking(status: views.Status, facts: Facts) -> Decimal | None:
    """What one answer to each task without a label takes beyond the budget, at the mean cost.

    None where every task has a label or something other than money has ended the campaign.
    """
    unlabelled = facts.results.unlabelled
    if status.why != "budget" or status.left is None or not unlabelled or not status.answers:
        return None
    paid = sum((each.paid for each in facts.workers), Decimal(0))
    short = paid * unlabelled / status.answers - status.left
    if short <= 0:
        return None
    # Up, so that it is enough; prices may be far below a cent.
    step = Decimal("0.01") if short > Decimal("0.01") else Decimal("0.000001")
    return from_micro(to_micro(short.quantize(step, ROUND_UP), "short"))


def _pending(visit: Visit, seen: Seen, id: str) -> Markup:
    """What stands in the place of everything that is still worked out."""
    return _part(visit, seen, id, "Numbers", forecast=None, saved=None, fixed=None)


def is_new(glance: Glance) -> bool:
    """Whether nobody was asked yet, though somebody can be."""
    status = glance.status
    nothing = not status.decisions and not status.answers
    return nothing and status.why is None and not glance.bidding


def _checklist(visit: Visit, campaign: Campaign, seen: Seen) -> Markup:
    """What is to be done before the first answer, in place of parts that would be empty."""
    with campaign.reading() as state:
        taskless = state.spec.problem.taskless
        workers = list(state.ledger.workers)
    models = sum(each.kind == "model" for each in workers)
    links = {
        each.worker
        for each in visit.service.identities.tokens(campaign.name)
        if each.revoked is None
    }
    return _part(
        visit, seen, "begin", "First steps",
        taskless=taskless,
        asks_question=campaign.content is not None,
        models=models,
        people=len(workers) - models,
        invited=len(links),
        asks=bool(visit.service.judges),
    )  # fmt: skip


def tasks(visit: Visit, campaign: Campaign, seen: Seen, wanted: Wanted) -> list[Markup]:
    """A page of tasks."""
    if seen.facts is None:
        return [_pending(visit, seen, "pending")]
    known = {each.outcome: each.tasks for each in seen.facts.outcomes.counts}
    order = wanted.sort if wanted.sort in rows.TASK_SORTS else "unsure"
    chosen = wanted.outcome if wanted.outcome in known else None
    found, shown = rows.tasks(campaign, seen.facts, wanted.page, order, chosen)
    choices = {"sort": order, "sorts": rows.TASK_SORTS, "chosen": chosen, "outcomes": known}
    return [_part(visit, seen, "tasks", "Tasks", rows=found, cut=shown, **choices)]


def workers(visit: Visit, campaign: Campaign, seen: Seen, wanted: Wanted) -> list[Markup]:
    """A page of workers, and the report cards of models among them."""
    if seen.facts is None:
        return [_pending(visit, seen, "pending")]
    column = wanted.sort if wanted.sort in rows.WORKER_SORTS else "share"
    found, shown = rows.workers(seen.facts.workers, wanted.page, column, wanted.down)
    values = {"workers": found, "total": shown.total, "sort": column, "down": wanted.down}
    made = [_part(visit, seen, "workers", "Workers", **values, cut=shown)]
    if seen.facts.judges.judges:
        made.append(_part(visit, seen, "judges", "Judges", report=seen.facts.judges))
    if seen.charts and seen.charts["prices"]:
        chart = seen.charts["prices"]
        made.append(_part(visit, seen, "prices", "Quality against cost", chart=chart))
    return made


def decisions(visit: Visit, campaign: Campaign, seen: Seen, wanted: Wanted) -> list[Markup]:
    """A page of what was asked."""
    found, shown = rows.decisions(campaign, wanted.page, ROWS)
    return [_part(visit, seen, "decisions", "Decisions", asked=found, cut=shown)]


MAKERS = {"overview": overview, "tasks": tasks, "workers": workers, "decisions": decisions}
"""What makes the parts of a page below its head, by the page."""
