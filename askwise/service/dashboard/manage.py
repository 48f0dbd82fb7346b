"""What a requester does about a campaign: forms, each of which leads back to a page."""

from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

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
from askwise.service.dashboard.visit import Form, Requesting, Visit, back, cut, do, do_with, sent
from askwise.service.pages.base import pages, refuse_form

router = pages()


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


@router.post("/dashboard/{name}/suspend")
async def suspend(visit: Requesting, name: Name) -> Response:
    """Hand nothing to a worker until the pause is lifted."""
    return await _change_standing(visit, name, "worker-paused", Campaign.suspend)


@router.post("/dashboard/{name}/reinstate")
async def reinstate(visit: Requesting, name: Name) -> Response:
    """Lift a worker's pause."""
    return await _change_standing(visit, name, "pause-lifted", Campaign.reinstate)


async def _change_standing(
    visit: Visit, name: str, code: str, act: Callable[..., None]
) -> Response:
    def work(form: Form) -> None:
        campaign = visit.service.campaigns.get(name)
        act(campaign, form.fields.get("worker", ""), by=visit.caller.label, key=form.key)

    return await do(
        visit,
        work,
        partial(shown.show_workers, visit, name),
        lambda _: back(f"/dashboard/{name}/workers", code),
    )


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
        campaign.revise(id, _value(campaign, form), by=visit.caller.label, key=form.key)

    return await _change_asked(visit, name, seq, "revised", work)


@router.post("/dashboard/{name}/asked/{seq}/withdraw")
async def withdraw(visit: Requesting, name: Name, seq: shown.Number) -> Response:
    """Take an answer back."""

    def work(campaign: Campaign, id: str, form: Form) -> None:
        why = form.text("why", longest=LONGEST_REMARK)
        campaign.withdraw(id, why, by=visit.caller.label, key=form.key)

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


@router.post("/dashboard/{name}/top-up")
async def top_up(visit: Requesting, name: Name) -> Response:
    """Add money to the budget."""
    return await change(
        visit, name, "manage", "topped-up",
        lambda campaign, form: campaign.top_up(form.text("amount", longest=40), form.key),
    )  # fmt: skip


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


@router.post("/dashboard/{name}/pause")
async def pause(visit: Requesting, name: Name) -> Response:
    """Hand out nothing for a while."""
    return await change(visit, name, "", "paused", lambda campaign, form: campaign.pause(form.key))


@router.post("/dashboard/{name}/resume")
async def resume(visit: Requesting, name: Name) -> Response:
    """Go on."""
    return await change(
        visit, name, "", "resumed", lambda campaign, form: campaign.resume(form.key)
    )


@router.post("/dashboard/{name}/begin")
async def begin(visit: Requesting, name: Name) -> Response:
    """Close the bidding: the first ask does."""

    def work(campaign: Campaign, form: Form) -> None:
        campaign.ask_around(visit.service.availability.away(name), key=form.key)

    return await change(visit, name, "", "begun", work)


@router.get("/dashboard/{name}/stop")
def confirm_stop(visit: Requesting, name: Name) -> Response:
    """Ask whether it is meant: a campaign can't be started again."""
    return visit.page("dashboard/stop.html", **shown.frame(visit, name, "manage"))


@router.post("/dashboard/{name}/stop")
async def stop(visit: Requesting, name: Name) -> Response:
    """End a campaign for good."""

    def work(campaign: Campaign, form: Form) -> None:
        if form.fields.get("sure") != "yes":
            raise refuse_form("tick the box: a campaign that was stopped can't be started again")
        campaign.stop(form.key)

    return await change(visit, name, "", "stopped", work)


@router.post("/dashboard/{name}/close")
async def close(visit: Requesting, name: Name) -> Response:
    """Ask no more about a task."""
    return await _change_task(
        visit, name, "closed", lambda campaign, form: campaign.close(_task(form), form.key)
    )


@router.post("/dashboard/{name}/truth")
async def truth(visit: Requesting, name: Name) -> Response:
    """Reveal the true option of a task."""
    return await _change_task(
        visit, name, "truth",
        lambda campaign, form: campaign.truth(_task(form), form.fields.get("option", ""), form.key),
    )  # fmt: skip


@router.post("/dashboard/{name}/label")
async def label(visit: Requesting, name: Name) -> Response:
    """Set the label of a task; it can be set again."""

    def work(campaign: Campaign, form: Form) -> None:
        why = form.fields.get("why", "").replace("\r\n", "\n").strip()
        campaign.set_label(
            _task(form),
            _value(campaign, form),
            by=visit.caller.label,
            why=why or None,
            truth=form.fields.get("truth") == "yes",
            key=form.key,
        )

    return await _change_task(visit, name, "labelled", work)


@router.post("/dashboard/{name}/comment")
async def comment(visit: Requesting, name: Name) -> Response:
    """Write a comment on a task."""

    def work(campaign: Campaign, form: Form) -> None:
        text = form.text("text", longest=LONGEST_REMARK).replace("\r\n", "\n")
        campaign.comment(_task(form), text, by=visit.caller.label, key=form.key)

    return await _change_task(visit, name, "commented", work)


def _value(campaign: Campaign, form: Form) -> float | str:
    """The label that a form sets; the campaign refuses what is not a number."""
    text = form.fields.get("value", "")
    if "options" in campaign.spec:
        return text
    try:
        return float(text)
    except ValueError:
        return text


CampaignChange = Callable[[Campaign, Form], None]


async def change(visit: Visit, name: str, tab: str, code: str, work: CampaignChange) -> Response:
    """Change a campaign; leads back to the overview or to a tab of it."""
    path = f"/dashboard/{name}/{tab}".rstrip("/")
    return await do(
        visit,
        lambda form: work(visit.service.campaigns.get(name), form),
        partial(show_manage if tab else shown.show_overview, visit, name),
        lambda _: back(path, code),
    )


async def _change_task(visit: Visit, name: str, code: str, work: CampaignChange) -> Response:
    """Change a task; leads back to its page."""

    def run(form: Form) -> str:
        work(visit.service.campaigns.get(name), form)
        return _task(form)

    def then(task: str) -> Response:
        query = urlencode({"id": task, "done": code})
        return RedirectResponse(f"/dashboard/{name}/task?{query}", 303)

    def again(typed: dict[str, str], **said: Any) -> Response:
        return shown.show_task(visit, name, typed.get("task", ""), typed, **said)

    return await do(visit, run, again, then)


def _task(form: Form) -> str:
    # As it is: an id may begin or end with a space.
    return form.fields.get("task", "")


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
