"""What a requester takes back: forms on the pages of a campaign and of a task."""

from functools import partial
from typing import Any

from starlette.responses import Response

from askwise.campaign import Campaign
from askwise.campaign.undoing import LONGEST_TITLE
from askwise.service.api import undoing
from askwise.service.api.shapes.requests import Name
from askwise.service.dashboard import campaign as shown
from askwise.service.dashboard.manage import change, show_manage
from askwise.service.dashboard.visit import Form, Requesting, Visit, back, do
from askwise.service.pages.base import pages, refuse_form

router = pages()


@router.post("/dashboard/{name}/title")
async def retitle(visit: Requesting, name: Name) -> Response:
    """Call a campaign something else."""

    def work(campaign: Campaign, form: Form) -> None:
        empty = not form.fields.get("title", "").strip()
        title = None if empty else form.text("title", longest=LONGEST_TITLE)
        campaign.retitle(title, form.key)

    return await change(visit, name, "manage", "retitled", work)


@router.post("/dashboard/{name}/archive")
async def archive(visit: Requesting, name: Name) -> Response:
    """Put a campaign away."""
    return await change(
        visit, name, "manage", "archived", lambda campaign, form: campaign.archive(form.key)
    )


@router.post("/dashboard/{name}/unarchive")
async def unarchive(visit: Requesting, name: Name) -> Response:
    """Take a campaign up again."""
    return await change(
        visit, name, "", "unarchived", lambda campaign, form: campaign.unarchive(form.key)
    )


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


@router.post("/dashboard/{name}/remove-task")
async def remove_task(visit: Requesting, name: Name) -> Response:
    """Take a task out that nobody has answered."""

    def work(form: Form) -> None:
        visit.service.campaigns.get(name).remove(form.fields.get("task", ""), form.key)

    def again(typed: dict[str, str], **said: Any) -> Response:
        return shown.show_task(visit, name, typed.get("task", ""), typed, **said)

    return await do(visit, work, again, lambda _: back(f"/dashboard/{name}/tasks", "task-removed"))


def _delete(visit: Visit, name: str, **said: Any) -> Response:
    return visit.page("dashboard/delete.html", **{**shown.frame(visit, name, "manage"), **said})


def _check_sure(form: Form, why: str) -> None:
    if form.fields.get("sure") != "yes":
        raise refuse_form(f"tick the box: {why}", field="sure")
