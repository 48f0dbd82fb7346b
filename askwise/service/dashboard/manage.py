"""What a requester does about a campaign: forms, each of which leads back to a page."""

from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.responses import Response

from askwise.campaign import Campaign
from askwise.core.calls import LONGEST_REMARK
from askwise.core.problem import KINDS
from askwise.service.api.actions import invite_worker, remove_worker, revoke_token
from askwise.service.api.shapes import requests
from askwise.service.api.shapes.requests import Name
from askwise.service.dashboard import campaign as shown
from askwise.service.dashboard.added_tasks import PastedTable, add_tasks, pasted_again
from askwise.service.dashboard.home import PageNumber
from askwise.service.dashboard.order_form import MOST_COLUMNS, ROLES
from askwise.service.dashboard.visit import (
    Form,
    Requesting,
    Visit,
    back,
    changes,
    cut,
    do,
    do_with,
    sent,
)
from askwise.service.pages.base import pages, refuse_form

router = pages()


def show_manage(visit: Visit, name: str, *, page: int = 1, **values: Any) -> Response:
    """The page on which a campaign is managed, perhaps with word of what went wrong."""
    frame = shown.frame(visit, name, "manage")
    tokens = visit.service.identities.tokens(name)
    part = cut(len(tokens), page)
    values = {
        "made": None,
        "typed": {},
        "field": None,
        "kinds": KINDS,
        "pasted": None,
        "column_roles": ROLES,
        "most_columns": MOST_COLUMNS,
        **values,
        "tokens": tokens[part.start : part.end],
    }
    return visit.page("dashboard/manage.html", **frame, cut=part, **values)


def task_of(form: Form) -> str:
    """The task that a form is about, as it is: an id may begin or end with a space."""
    return form.fields.get("task", "")


def show_task_again(visit: Visit, name: str, *, typed: dict[str, str], **said: Any) -> Response:
    """The page of the task that a form is about, with word of what went wrong."""
    return shown.show_task(visit, name, typed.get("task", ""), typed, **said)


on_overview = changes(
    shown.show_overview, lambda name, form, code: back(f"/dashboard/{name}", code)
)
on_manage = changes(show_manage, lambda name, form, code: back(f"/dashboard/{name}/manage", code))
on_workers = changes(
    shown.show_workers, lambda name, form, code: back(f"/dashboard/{name}/workers", code)
)
on_task = changes(
    show_task_again,
    lambda name, form, code: back(f"/dashboard/{name}/task", code, id=task_of(form)),
)
"""Forms by the page on which they are, and to which they lead back."""


@router.get("/dashboard/{name}/manage")
def manage(visit: Requesting, name: Name, page: PageNumber = 1) -> Response:
    """Invite workers, add money and tasks, revoke links."""
    return show_manage(visit, name, page=page)


@router.post("/dashboard/{name}/invite")
async def invite(visit: Requesting, name: Name) -> Response:
    """Make a worker's link; it is on the page that follows and nowhere else."""

    def work(form: Form) -> tuple[str, str]:
        lasts, price = form.seconds("days"), form.fields.get("price", "").strip()
        worker = form.text("worker")
        if not price and not _is_known(visit.service.campaigns.get(name), worker):
            raise refuse_form(
                f"price is empty: give a price for the new worker {worker!r}", field="price"
            )
        body = requests.InviteBody(
            worker=worker,
            price=price or None,
            limit=form.whole("limit"),
            lasts=lasts,
            kind=form.one_of("kind", KINDS),
            family=form.fields.get("family", "").strip() or None,
        )
        _, _, link = invite_worker(visit.service, visit.caller, form.key, name, body)
        return body.worker, link

    return await do(visit, work, partial(show_manage, visit, name))


def _is_known(campaign: Campaign, worker: str) -> bool:
    """Whether a worker has ever joined a campaign."""
    with campaign.reading() as state:
        return state.ledger.has_worker(worker)


@router.post("/dashboard/{name}/tokens/{id}/revoke")
async def revoke(visit: Requesting, name: Name, id: requests.KeyId) -> Response:
    """End a worker's link."""
    return await do(
        visit,
        lambda form: revoke_token(visit.service, name, id),
        partial(show_manage, visit, name),
        lambda _: back(f"/dashboard/{name}/manage", "token-revoked"),
    )


@router.post("/dashboard/{name}/remove")
async def remove(visit: Requesting, name: Name) -> Response:
    """Let a worker go, release what they have out and end their links."""
    return await do(
        visit,
        lambda form: remove_worker(visit.service, name, form.fields.get("worker", ""), form.key),
        partial(shown.show_workers, visit, name),
        lambda _: back(f"/dashboard/{name}/workers", "removed"),
    )


@on_workers(router, "suspend", "worker-paused")
def suspend(campaign: Campaign, form: Form) -> None:
    """Hand nothing to a worker until the pause is lifted."""
    campaign.suspend(form.fields.get("worker", ""), by=form.by, key=form.key)


@on_workers(router, "reinstate", "pause-lifted")
def reinstate(campaign: Campaign, form: Form) -> None:
    """Lift a worker's pause."""
    campaign.reinstate(form.fields.get("worker", ""), by=form.by, key=form.key)


@router.post("/dashboard/{name}/asked/{seq}/release")
async def release(visit: Requesting, name: Name, seq: shown.Number) -> Response:
    """Take an assignment back; its question may be asked again."""
    return await _change_asked(
        visit, name, seq, "released", lambda campaign, id, form: campaign.expire(id, form.key)
    )


@router.post("/dashboard/{name}/asked/{seq}/revise")
async def revise(visit: Requesting, name: Name, seq: shown.Number) -> Response:
    """Change an answer."""

    def work(campaign: Campaign, id: str, form: Form) -> None:
        campaign.revise(id, _value(campaign, form), by=form.by, key=form.key)

    return await _change_asked(visit, name, seq, "revised", work)


@router.post("/dashboard/{name}/asked/{seq}/withdraw")
async def withdraw(visit: Requesting, name: Name, seq: shown.Number) -> Response:
    """Take an answer back."""

    def work(campaign: Campaign, id: str, form: Form) -> None:
        why = form.text("why", longest=LONGEST_REMARK)
        campaign.withdraw(id, why, by=form.by, key=form.key)

    return await _change_asked(visit, name, seq, "withdrawn", work)


async def _change_asked(
    visit: Requesting,
    name: str,
    seq: int,
    done: str,
    work: Callable[[Campaign, str, Form], None],
) -> Response:
    """Do something about an assignment; goes on to its page."""

    def again(**said: Any) -> Response:
        return shown.show_asked(visit, name, seq, **said)

    return await do(
        visit,
        lambda form: work(visit.service.campaigns.get(name), f"{name}:{seq}", form),
        again,
        lambda _: back(f"/dashboard/{name}/asked/{seq}", done),
    )


@on_manage(router, "top-up", "topped-up")
def top_up(campaign: Campaign, form: Form) -> None:
    """Add money to the budget."""
    campaign.top_up(form.text("amount", longest=40), form.key)


@router.post("/dashboard/{name}/add")
async def add(visit: Requesting, name: Name) -> Response:
    """Add tasks; a table is shown first, so that its columns can be chosen."""
    form = await sent(visit)

    def then(pasted: PastedTable | None) -> Response:
        if pasted is None:
            return back(f"/dashboard/{name}/manage", "added")
        return show_manage(visit, name, typed=dict(form.fields), pasted=pasted)

    def again(typed: dict[str, str], **said: Any) -> Response:
        pasted = pasted_again(visit.service.campaigns.get(name), typed)
        return show_manage(visit, name, typed=typed, pasted=pasted, **said)

    return await do_with(
        visit, form, lambda form: add_tasks(visit.service.campaigns.get(name), form), again, then
    )


@on_overview(router, "pause", "paused")
def pause(campaign: Campaign, form: Form) -> None:
    """Hand out nothing for a while."""
    campaign.pause(form.key)


@on_overview(router, "resume", "resumed")
def resume(campaign: Campaign, form: Form) -> None:
    """Go on."""
    campaign.resume(form.key)


@router.post("/dashboard/{name}/begin")
async def begin(visit: Requesting, name: Name) -> Response:
    """Close the bidding: the first ask does."""

    def work(form: Form) -> None:
        away = visit.service.availability.away(name)
        visit.service.campaigns.get(name).ask_around(away, key=form.key)

    again = partial(shown.show_overview, visit, name)
    return await do(visit, work, again, lambda _: back(f"/dashboard/{name}", "begun"))


@router.get("/dashboard/{name}/stop")
def confirm_stop(visit: Requesting, name: Name) -> Response:
    """Ask whether it is meant: a campaign can't be started again."""
    return visit.page("dashboard/stop.html", **shown.frame(visit, name, "manage"))


@on_overview(router, "stop", "stopped")
def stop(campaign: Campaign, form: Form) -> None:
    """End a campaign for good."""
    if form.fields.get("sure") != "yes":
        raise refuse_form("tick the box: a campaign that was stopped can't be started again")
    campaign.stop(form.key)


@on_task(router, "close", "closed")
def close(campaign: Campaign, form: Form) -> None:
    """Ask no more about a task."""
    campaign.close(task_of(form), form.key)


@on_task(router, "truth", "truth")
def truth(campaign: Campaign, form: Form) -> None:
    """Reveal the true option of a task."""
    campaign.truth(task_of(form), form.fields.get("option", ""), form.key)


@on_task(router, "label", "labelled")
def label(campaign: Campaign, form: Form) -> None:
    """Set the label of a task; it can be set again."""
    why = form.fields.get("why", "").replace("\r\n", "\n").strip()
    campaign.set_label(
        task_of(form),
        _value(campaign, form),
        by=form.by,
        why=why or None,
        truth=form.fields.get("truth") == "yes",
        key=form.key,
    )


@on_task(router, "comment", "commented")
def comment(campaign: Campaign, form: Form) -> None:
    """Write a comment on a task."""
    text = form.text("text", longest=LONGEST_REMARK).replace("\r\n", "\n")
    campaign.comment(task_of(form), text, by=form.by, key=form.key)


def _value(campaign: Campaign, form: Form) -> float | str:
    """The label that a form sets; the campaign refuses what is not a number."""
    text = form.fields.get("value", "")
    if "options" in campaign.spec:
        return text
    try:
        return float(text)
    except ValueError:
        return text
