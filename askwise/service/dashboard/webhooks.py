"""The webhooks of a campaign and what has become of their deliveries. For requesters: an address
may hold a secret of the receiver's.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.responses import Response

from askwise.service.api.shapes import requests
from askwise.service.api.shapes.requests import Name
from askwise.service.dashboard import campaign as shown
from askwise.service.dashboard.visit import Form, Requesting, Visit, back, do
from askwise.service.pages.base import pages
from askwise.service.webhooks.records import EVENTS, Webhook

router = pages()

SHOWN = 20
"""Deliveries of each hook on the page; the API has more."""

WORDS = {
    "answer.settled": "an answer is settled",
    "answer.revised": "an answer is changed or withdrawn",
    "task.closed": "a task is closed",
    "campaign.done": "the campaign is done",
    "budget.used": "80% of the budget is used",
    "ping": "test",
}


@router.get("/dashboard/{name}/hooks")
def hooks(visit: Requesting, name: Name) -> Response:
    """The hooks that are told of a campaign."""
    return _hooks(visit, name)


@router.post("/dashboard/{name}/hooks")
async def make(visit: Requesting, name: Name) -> Response:
    """Make a hook; its secret is on the page that follows and nowhere else."""

    def work(form: Form) -> tuple[str, Webhook]:
        visit.service.campaigns.get(name)
        return visit.service.webhooks.make(
            form.text("url", longest=2000),
            [event for event in EVENTS if form.fields.get(event)],
            campaign=name,
            label=form.fields.get("label", "").strip()[:100],
            secret=visit.caller.derive("hook", form.key),
        )

    return await do(visit, work, partial(_hooks, visit, name))


@router.post("/dashboard/{name}/hooks/{id}/end")
async def end(visit: Requesting, name: Name, id: requests.HookId) -> Response:
    """End a hook."""
    return await _change(visit, name, "hook-removed", lambda form: visit.service.webhooks.end(id))


@router.post("/dashboard/{name}/hooks/{id}/test")
async def ping(visit: Requesting, name: Name, id: requests.HookId) -> Response:
    """Send a test."""
    return await _change(
        visit, name, "hook-tested", lambda form: visit.service.webhooks.ping(id, form.key)
    )


@router.post("/dashboard/{name}/hooks/{id}/deliveries/{delivery}/retry")
async def retry(
    visit: Requesting, name: Name, id: requests.HookId, delivery: requests.DeliveryId
) -> Response:
    """Try a delivery again."""
    return await _change(
        visit, name, "retried", lambda form: visit.service.webhooks.retry(id, delivery, form.key)
    )


async def _change(visit: Visit, name: str, code: str, work: Callable[[Form], object]) -> Response:
    """Change something about a hook; leads back to the page of all."""
    path = f"/dashboard/{name}/hooks"
    return await do(visit, work, partial(_hooks, visit, name), lambda _: back(path, code))


def _hooks(visit: Visit, name: str, **values: Any) -> Response:
    frame = shown.frame(visit, name, "hooks")
    webhooks = visit.service.webhooks
    found = [(hook, webhooks.deliveries(hook.id, SHOWN)) for hook in webhooks.list(name)]
    values = {"made": None, "typed": {}, **values}
    return visit.page(
        "dashboard/hooks.html", **frame, hooks=found, words=WORDS, events=EVENTS, **values
    )
