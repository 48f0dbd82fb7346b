"""One campaign: overview, tasks, workers, decisions; watched live."""

from __future__ import annotations

import time
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from askwise import __version__
from askwise.core.errors import UnknownName
from askwise.service.api.shapes.fields import Name
from askwise.service.dashboard import fragments
from askwise.service.dashboard import tables as rows
from askwise.service.dashboard.home import PageNumber, to_keys
from askwise.service.dashboard.visit import Viewing, Visit
from askwise.service.exports import EXPORTS, sent_as_file
from askwise.service.pages.base import PageRoute

router = APIRouter(route_class=PageRoute, include_in_schema=False)

Fixed = Annotated[str, Query(max_length=7)]
Words = Annotated[str, Query(max_length=200)]


@router.get("/dashboard/{name}")
def overview(visit: Viewing, name: Name, fixed: Fixed = "") -> Response:
    """A campaign as it stands."""
    try:
        visit.service.campaigns.get(name)
    except UnknownName:
        if name == "keys":
            return to_keys()
        raise
    return show_overview(visit, name, fixed)


def show_overview(visit: Visit, name: str, fixed: str = "", **values: Any) -> Response:
    """The overview, perhaps with word of what went wrong."""
    seen = fragments.look(visit, name, charts=True, now=_just_done(visit))
    made = fragments.overview(visit, name, seen, _number(fixed))
    where = _live(name, fixed=_number(fixed))
    return visit.page(
        "dashboard_campaign.html",
        **frame(visit, name, "overview", made[0]),
        parts=made[1:], live=where, exports=EXPORTS, **values,
    )  # fmt: skip


@router.get("/dashboard/{name}/tasks")
def tasks(
    visit: Viewing, name: Name, page: PageNumber = 1, sort: Words = "", outcome: Words = ""
) -> Response:
    """The tasks of a campaign, the contested ones first."""
    seen = fragments.look(visit, name, charts=False)
    made = fragments.tasks(visit, name, seen, page, sort, outcome)
    where = _live(name, of="tasks", page=page, sort=sort, outcome=outcome)
    return _listed(visit, name, "tasks", made, where)


@router.get("/dashboard/{name}/workers")
def workers(
    visit: Viewing, name: Name, page: PageNumber = 1, sort: Words = "", down: bool = True
) -> Response:
    """The workers of a campaign."""
    seen = fragments.look(visit, name, charts=False)
    made = fragments.workers(visit, name, seen, page, sort, down)
    where = _live(name, of="workers", page=page, sort=sort, down=down)
    return _listed(visit, name, "workers", made, where)


@router.get("/dashboard/{name}/decisions")
def decisions(visit: Viewing, name: Name, page: PageNumber = 1) -> Response:
    """Who was asked what, newest first."""
    seen = fragments.look(visit, name, charts=False)
    made = fragments.decisions(visit, name, seen, page)
    return _listed(visit, name, "decisions", made, _live(name, of="decisions", page=page))


@router.get("/dashboard/{name}/task")
def task(visit: Viewing, name: Name, id: Words) -> Response:
    """A task with all its answers."""
    return show_task(visit, name, id)


def show_task(visit: Visit, name: str, id: str, **values: Any) -> Response:
    """A task's page, perhaps with word of what went wrong."""
    campaign = visit.service.campaigns.get(name)
    found = rows.task_page(campaign, visit.overviews, id, now=_just_done(visit))
    return visit.page("dashboard_task.html", **frame(visit, name, "tasks"), found=found, **values)


@router.get("/dashboard/{name}/asked/{seq}")
def asked(visit: Viewing, name: Name, seq: Annotated[int, Path(ge=1, lt=10**18)]) -> Response:
    """Why somebody was asked."""
    campaign = visit.service.campaigns.get(name)
    id = f"{name}:{seq}"
    handed, why = campaign.assignment(id), campaign.explain(id)
    details = list(dict.fromkeys(key for each in why.candidates for key in each.details))
    return visit.page(
        "dashboard_asked.html",
        **frame(visit, name, "decisions"),
        handed=handed,
        why=why,
        time=campaign.log(seq - 1, seq)[0].time,
        details=details,
    )


@router.get("/dashboard/{name}/export/{what}")
def export(visit: Viewing, name: Name, what: str) -> Response:
    """A file of the campaign."""
    return sent_as_file(visit.service.campaigns.get(name), what)


@router.get("/dashboard/{name}/live")
def live(
    visit: Viewing,
    name: Name,
    of: Words = "overview",
    fixed: Fixed = "",
    page: PageNumber = 1,
    sort: Words = "",
    outcome: Words = "",
    down: bool = True,
) -> Response:
    """The parts of a page that change; nothing if they have not."""
    seen = fragments.look(visit, name, charts=of == "overview")
    headers = {
        "ETag": _tag(visit, seen),
        "Cache-Control": "private, no-cache",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    }
    if headers["ETag"] in visit.request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if of == "tasks":
        made = fragments.tasks(visit, name, seen, page, sort, outcome)
    elif of == "workers":
        made = fragments.workers(visit, name, seen, page, sort, down)
    elif of == "decisions":
        made = fragments.decisions(visit, name, seen, page)
    elif of == "overview":
        made = fragments.overview(visit, name, seen, _number(fixed))
    else:
        made = [fragments.head(visit, name, seen.glance)]
    return HTMLResponse("\n".join(made), headers=headers)


def frame(visit: Visit, name: str, tab: str, head: Markup | None = None) -> dict[str, Any]:
    """What stands above everything on a campaign's pages."""
    glance = visit.overviews.glance(name)
    return {
        "name": name,
        "tab": tab,
        "totals": glance.status,
        "head": fragments.head(visit, name, glance) if head is None else head,
    }


def _listed(visit: Visit, name: str, tab: str, made: list[Markup], where: str) -> Response:
    return visit.page(
        "dashboard_list.html", **frame(visit, name, tab, made[0]), parts=made[1:], live=where
    )


def _live(name: str, **query: Any) -> str:
    """Where the changing parts of a page are to be had."""
    given = {key: str(value) for key, value in query.items() if value not in ("", None)}
    return f"/dashboard/{name}/live" + (f"?{urlencode(given)}" if given else "")


def _tag(visit: Visit, seen: fragments.Seen) -> str:
    """What the parts depend on: the log, who looks, and (the forecast) the minute."""
    place = (*seen.place, visit.caller.role, int(time.time() // 60))
    return f'"{__version__}.{".".join(map(str, place))}"'


def _just_done(visit: Visit) -> bool:
    """Whether somebody comes from a form: then he sees what it did, however fast the log moves."""
    return "done" in visit.request.query_params or visit.request.method == "POST"


def _number(text: str) -> int | None:
    fine = text.isascii() and text.isdecimal() and 0 < int(text) <= 10**6
    return int(text) if fine else None
