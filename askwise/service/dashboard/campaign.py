"""One campaign: overview, tasks, workers, decisions; watched live."""

import time
from typing import Annotated, Any
from urllib.parse import urlencode

from pydantic import Field
from starlette.responses import HTMLResponse, RedirectResponse, Response

from askwise.core.errors import UnknownName
from askwise.core.version import __version__
from askwise.ledger import columns as c
from askwise.service.api.shapes.requests import Name
from askwise.service.dashboard import fragments
from askwise.service.dashboard import tables as rows
from askwise.service.dashboard.fragments import Wanted
from askwise.service.dashboard.home import PageNumber
from askwise.service.dashboard.visit import Viewing, Visit
from askwise.service.dashboard.worker_page import worker_page
from askwise.service.exports import EXPORTS, sent_as_file
from askwise.service.pages.base import pages
from askwise.service.routing.plans import Provided
from askwise.service.work.payload import scrolls
from askwise.service.work.question import question_view
from askwise.service.work.sides import has_sides

router = pages()

Words = Annotated[str, Field(max_length=200)]
Number = Annotated[int, Field(ge=1, lt=10**18)]
"""Of an event: an assignment is known by that of its ASKED."""


def _wanted(
    page: PageNumber = 1,
    sort: Words = "",
    outcome: Words = "",
    down: bool = True,
    fixed: Annotated[str, Field(max_length=7)] = "",
) -> Wanted:
    return Wanted(page, sort, outcome, down, _number(fixed))


AskedPage = Annotated[Wanted, Provided(_wanted)]


@router.get("/dashboard/{name}")
def overview(visit: Viewing, name: Name, wanted: AskedPage) -> Response:
    """A campaign as it stands."""
    try:
        if not visit.overviews.is_open(name):
            return _being_opened(visit, name)
        visit.service.campaigns.get(name)
    except UnknownName:
        if name == "keys":
            return RedirectResponse("/dashboard/-/keys", 303)
        raise
    return show_overview(visit, name, wanted)


def show_overview(visit: Visit, name: str, wanted: Wanted | None = None, **values: Any) -> Response:
    """The overview, perhaps with word of what went wrong."""
    wanted = wanted or Wanted()
    content = visit.service.campaigns.get(name).content
    view = None if content is None else question_view(content, (), None)
    run = visit.service.runs.report(name)
    return _tab(visit, name, "overview", wanted, exports=EXPORTS, view=view, run=run, **values)


@router.get("/dashboard/{name}/tasks")
def tasks(visit: Viewing, name: Name, wanted: AskedPage) -> Response:
    """The tasks of a campaign, the contested ones first."""
    return _tab(visit, name, "tasks", wanted)


@router.get("/dashboard/{name}/workers")
def workers(visit: Viewing, name: Name, wanted: AskedPage) -> Response:
    """The workers of a campaign."""
    return show_workers(visit, name, wanted)


def show_workers(
    visit: Visit,
    name: str,
    wanted: Wanted | None = None,
    typed: dict[str, str] | None = None,
    **values: Any,
) -> Response:
    """The workers, perhaps with word of what went wrong."""
    return _tab(visit, name, "workers", wanted or Wanted(), **values)


@router.get("/dashboard/{name}/worker")
def worker(visit: Viewing, name: Name, id: Words, page: PageNumber = 1) -> Response:
    """One worker in full, with their answers."""
    if not visit.overviews.is_open(name):
        return _being_opened(visit, name)
    campaign = visit.service.campaigns.get(name)
    found = worker_page(campaign, visit.overviews, id, page, now=_just_done(visit))
    return visit.page("dashboard/worker.html", **frame(visit, name, "workers"), found=found)


@router.get("/dashboard/{name}/decisions")
def decisions(visit: Viewing, name: Name, wanted: AskedPage) -> Response:
    """Who was asked what, newest first."""
    return _tab(visit, name, "decisions", wanted)


@router.get("/dashboard/{name}/task")
def task(visit: Viewing, name: Name, id: Words) -> Response:
    """A task with all its answers."""
    return show_task(visit, name, id)


def show_task(
    visit: Visit, name: str, id: str, typed: dict[str, str] | None = None, **values: Any
) -> Response:
    """A task's page, perhaps with word of what went wrong."""
    campaign = visit.service.campaigns.get(name)
    found = rows.task_page(campaign, visit.overviews, id, now=_just_done(visit))
    values = {**frame(visit, name, "tasks"), "found": found, "typed": typed or {}, **values}
    return visit.page("dashboard/task.html", **values)


@router.get("/dashboard/{name}/preview")
def preview(visit: Viewing, name: Name, id: Words = "") -> Response:
    """A task as its workers see it; the first one if none is named. Nothing can be sent."""
    campaign = visit.service.campaigns.get(name)
    with campaign.reading() as state:
        problem, ledger = state.spec.problem, state.ledger
        tasks = ledger.total(c.TASKS)
        at = int(ledger.task_at(id)) if id else 0
        task = None if problem.taskless else ledger.tasks[at]
        after = ledger.tasks[at + 1].id if at + 1 < tasks and not problem.taskless else None
    view = question_view(campaign.content, problem.options, None if task is None else task.payload)
    return visit.page(
        "dashboard/preview.html",
        allow={"img-src": f"'self' {view.sources}"} if view.sources else None,
        **frame(visit, name, "preview"),
        view=view,
        question={"task": None if task is None else task.id},
        after=after,
        range=(0.0, 1.0) if problem.options else problem.range,
        swaps=has_sides(campaign.content),
        scrolls=scrolls,
    )


@router.get("/dashboard/{name}/asked/{seq}")
def asked(visit: Viewing, name: Name, seq: Number) -> Response:
    """Why somebody was asked."""
    return show_asked(visit, name, seq)


def show_asked(
    visit: Visit, name: str, seq: int, typed: dict[str, str] | None = None, **values: Any
) -> Response:
    """The page of an assignment, perhaps with word of what went wrong."""
    campaign = visit.service.campaigns.get(name)
    id = f"{name}:{seq}"
    handed, why = campaign.assignment(id), campaign.explain(id)
    with campaign.reading() as state:
        changed = tuple(state.ledger.changes.get(seq, ()))
    asked = campaign.log(seq - 1, seq)[0].time
    row = rows.AssignmentRow(seq, why.decision, handed, asked, changed)
    (row,) = rows.with_replies(campaign, visit.overviews, [row])
    details = list(dict.fromkeys(key for each in why.candidates for key in each.details))
    return visit.page(
        "dashboard/asked.html",
        **frame(visit, name, "decisions"),
        handed=handed,
        seq=seq,
        row=row,
        why=why,
        options=campaign.spec.get("options"),
        typed=typed or {},
        details=details,
        **values,
    )


@router.get("/dashboard/{name}/export/{what}")
def export(visit: Viewing, name: Name, what: str) -> Response:
    """A file of the campaign."""
    return sent_as_file(visit.service.campaigns.get(name), what)


@router.get("/dashboard/{name}/live")
def live(visit: Viewing, name: Name, wanted: AskedPage, of: Words = "overview") -> Response:
    """The parts of a page that change; nothing if they have not."""
    seen = fragments.look(visit, name, charts=of in fragments.CHARTED)
    headers = {
        "ETag": _tag(visit, seen),
        "Cache-Control": "private, no-cache",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    }
    if headers["ETag"] in visit.request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    made = [fragments.head(visit, name, seen.glance, seen.facts)]
    if of in fragments.MAKERS:
        made += fragments.MAKERS[of](visit, visit.service.campaigns.get(name), seen, wanted)
    return HTMLResponse("\n".join(made), headers=headers)


def frame(visit: Visit, name: str, tab: str, seen: fragments.Seen | None = None) -> dict[str, Any]:
    """What stands above everything on a campaign's pages."""
    glance = visit.overviews.glance(name) if seen is None else seen.glance
    return {
        "name": name,
        "tab": tab,
        "totals": glance.status,
        "head": fragments.head(visit, name, glance, None if seen is None else seen.facts),
        "changes": fragments.can_change(visit, glance),
        "manages": visit.caller.may("requester"),
    }


def _tab(visit: Visit, name: str, tab: str, wanted: Wanted, **values: Any) -> Response:
    """A page whose parts are swapped while somebody watches."""
    if not visit.overviews.is_open(name):
        return _being_opened(visit, name)
    is_overview = tab == "overview"
    seen = fragments.look(
        visit,
        name,
        charts=tab in fragments.CHARTED,
        now=tab in (*fragments.CHARTED, "tasks") and _just_done(visit),
    )
    parts = fragments.MAKERS[tab](visit, visit.service.campaigns.get(name), seen, wanted)
    said = {"of": tab, **wanted._asdict()}
    query = {key: value for key, value in said.items() if value not in ("", None)}
    values = {**frame(visit, name, tab, seen), "parts": parts, **values}
    values["fresh"] = fragments.is_new(seen.glance)
    template = "dashboard/campaign.html" if is_overview else "dashboard/list.html"
    return visit.page(template, live=f"/dashboard/{name}/live?{urlencode(query)}", **values)


def _being_opened(visit: Visit, name: str) -> Response:
    """A page that comes again by itself until the campaign is open."""
    return visit.page("dashboard/opening.html", name=name)


def _tag(visit: Visit, seen: fragments.Seen) -> str:
    """What the parts depend on: the log, who looks, and (the forecast) the minute."""
    place = (*seen.place, visit.caller.role, int(time.time() // 60))
    return f'"{__version__}.{".".join(map(str, place))}"'


def _just_done(visit: Visit) -> bool:
    """Whether somebody comes from a form: then they see what it did, however fast the log moves."""
    return "done" in visit.request.query_params or visit.request.method == "POST"


def _number(text: str) -> int | None:
    fine = text.isascii() and text.isdecimal() and 0 < int(text) <= 10**6
    return int(text) if fine else None
