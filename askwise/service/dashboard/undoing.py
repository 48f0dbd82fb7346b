"""What a requester takes back: forms on the pages of a campaign and of a task."""

from functools import partial
from typing import Any

from starlette.responses import Response

from askwise.campaign import Campaign
from askwise.campaign.undoing import LONGEST_TITLE
from askwise.service.api import undoing
from askwise.service.api.shapes.requests import Name
from askwise.service.dashboard import campaign as shown
from askwise.service.dashboard.manage import (
    on_manage,
    on_overview,
    show_manage,
    show_task_again,
    task_of,
)
from askwise.service.dashboard.visit import Form, Requesting, Visit, back, changes, do
from askwise.service.pages.base import pages, refuse_form

router = pages()


@on_manage(router, "title", "retitled")
def retitle(campaign: Campaign, form: Form) -> None:
    """Call a campaign something else."""
    empty = not form.fields.get("title", "").strip()
    campaign.retitle(None if empty else form.text("title", longest=LONGEST_TITLE), form.key)


@on_manage(router, "archive", "archived")
def archive(campaign: Campaign, form: Form) -> None:
    """Put a campaign away."""
    campaign.archive(form.key)


@on_overview(router, "unarchive", "unarchived")
def unarchive(campaign: Campaign, form: Form) -> None:
    """Take a campaign up again."""
    campaign.unarchive(form.key)


@router.get("/dashboard/{name}/delete")
def confirm_delete(visit: Requesting, name: Name) -> Response:
    """Ask whether it is meant: a campaign that was deleted can't be brought back."""
    return _delete(visit, name)


@router.post("/dashboard/{name}/delete")
async def delete(visit: Requesting, name: Name) -> Response:
    """Delete a campaign that nobody has answered."""

    def work(form: Form) -> None:
        _check_sure(form, "a campaign that was deleted can't be brought back")
        undoing.delete_campaign(visit.service, name, form.key)

    return await do(
        visit, work, partial(_delete, visit, name), lambda _: back("/dashboard", "deleted")
    )


@router.post("/dashboard/{name}/forget")
async def forget(visit: Requesting, name: Name) -> Response:
    """Replace a worker's id."""

    def work(form: Form) -> None:
        _check_sure(form, "an id that was replaced can't be brought back")
        undoing.forget(visit.service, name, form.text("worker"), None, form.key)
        # It may have been worked out a moment ago, with the old id.
        visit.overviews.drop(name)

    def again(**said: Any) -> Response:
        return show_manage(visit, name, **{**said, "field": "forgotten"})

    return await do(visit, work, again, lambda _: back(f"/dashboard/{name}/workers", "forgotten"))


on_removed_task = changes(
    show_task_again, lambda name, form, code: back(f"/dashboard/{name}/tasks", code)
)


@on_removed_task(router, "remove-task", "task-removed")
def remove_task(campaign: Campaign, form: Form) -> None:
    """Take a task out that nobody has answered."""
    campaign.remove(task_of(form), form.key)


def _delete(visit: Visit, name: str, **said: Any) -> Response:
    return visit.page("dashboard/delete.html", **{**shown.frame(visit, name, "manage"), **said})


def _check_sure(form: Form, why: str) -> None:
    if form.fields.get("sure") != "yes":
        raise refuse_form(f"tick the box: {why}", field="sure")
