"""The dashboard's first page: all campaigns; and the owner's keys."""

from functools import partial
from typing import Annotated, Any

from pydantic import Field
from starlette.responses import Response

from askwise.core.keys import Key
from askwise.service.api.shapes.requests import Archived
from askwise.service.auth.identity import ROLES
from askwise.service.dashboard.new_campaign import first_step
from askwise.service.dashboard.overview import Glance
from askwise.service.dashboard.visit import Form, Owning, Viewing, Visit, back, cut, do
from askwise.service.pages.base import pages

router = pages()

PageNumber = Annotated[int, Field(ge=1, le=10**9)]


@router.get("/dashboard")
def campaigns(visit: Viewing, page: PageNumber = 1, archived: Archived = "no") -> Response:
    """All campaigns at a glance; those that were archived on a page of their own."""
    visit.overviews.warm()
    away = archived == "yes"
    names = visit.service.campaigns.listed(archived=away)
    shown = cut(len(names), page)
    overviews = visit.overviews

    def look(name: str, position: int | None) -> Glance | str:
        # A long log is read by another thread, and the list does not wait for it.
        if overviews.is_open(name, patience=0.0, position=position):
            return overviews.glance(name, position)
        return name

    found, broken = visit.service.campaigns.each(names[shown.start : shown.end], look)
    rows = [each for each in found if isinstance(each, Glance)]
    opening = [each for each in found if isinstance(each, str)]
    return visit.page(
        "dashboard/campaigns.html",
        rows=rows,
        opening=opening,
        broken=broken,
        cut=shown,
        archived=away,
        elsewhere=len(visit.service.campaigns.listed(archived=not away)),
        **first_step(visit),
    )


@router.get("/dashboard/-/keys")
def keys(visit: Owning, page: PageNumber = 1) -> Response:
    """The keys of people and programs."""
    return _keys(visit, page=page)


@router.post("/dashboard/-/keys")
async def new_key(visit: Owning) -> Response:
    """Make a key; its secret is on the page that follows and nowhere else."""

    def work(form: Form) -> tuple[str, Key]:
        role, lasts = form.text("role"), form.seconds("days")
        return visit.service.identities.issue(
            role if role in ROLES else "",
            form.text("label", longest=100),
            lasts=lasts,
            secret=visit.caller.derive("key", form.key),
        )

    return await do(visit, work, partial(_keys, visit))


@router.post("/dashboard/-/keys/{id}/revoke")
async def revoke(visit: Owning, id: str) -> Response:
    """End a key, at once."""
    return await do(
        visit,
        lambda form: visit.service.identities.revoke(id),
        partial(_keys, visit),
        lambda _: back("/dashboard/-/keys", "key-revoked"),
    )


def _keys(visit: Visit, *, page: int = 1, **values: Any) -> Response:
    found = visit.service.identities.keys()
    shown = cut(len(found), page)
    values = {"made": None, "typed": {}, **values, "keys": found[shown.start : shown.end]}
    return visit.page("dashboard/keys.html", cut=shown, **values)
