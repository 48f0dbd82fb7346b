"""The webhooks of a campaign and what has become of their deliveries. For requesters: an address
may hold a secret of the receiver's.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from askwise.service.api.shapes import fields
from askwise.service.api.shapes.fields import Name
from askwise.service.dashboard import campaign as shown
from askwise.service.dashboard.visit import Form, Requesting, Visit, back, do
from askwise.service.pages.base import PageRoute
from askwise.service.webhooks.records import EVENTS, Webhook

router = APIRouter(route_class=PageRoute, include_in_schema=False)

SHOWN = 20
"""Deliveries of each hook on the page; the API has more."""

WORDS = {
    "answer.settled": "an answer is settled",
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

    return await do(
        visit,
        work,
        lambda made: _hooks(visit, name, made=made),
        lambda form, message, status: _hooks(
            visit, name, typed=dict(form.fields), alert=message, status=status
        ),
    )


@router.post("/dashboard/{name}/hooks/{id}/end")
async def end(visit: Requesting, name: Name, id: fields.HookId) -> Response:
    """End a hook."""
    return await do(
        visit,
        lambda form: visit.service.webhooks.end(id),
        lambda _: back(f"/dashboard/{name}/hooks", "hook-removed"),
        lambda form, message, status: _hooks(visit, name, alert=message, status=status),
    )


@router.post("/dashboard/{name}/hooks/{id}/test")
async def ping(visit: Requesting, name: Name, id: fields.HookId) -> Response:
    """Send a test."""
    return await do(
        visit,
        lambda form: visit.service.webhooks.ping(id, form.key),
        lambda _: back(f"/dashboard/{name}/hooks", "hook-tested"),
        lambda form, message, status: _hooks(visit, name, alert=message, status=status),
    )


@router.post("/dashboard/{name}/hooks/{id}/deliveries/{delivery}/retry")
async def retry(
    visit: Requesting, name: Name, id: fields.HookId, delivery: fields.DeliveryId
) -> Response:
    """Try a delivery again."""
    return await do(
        visit,
        lambda form: visit.service.webhooks.retry(id, delivery, form.key),
        lambda _: back(f"/dashboard/{name}/hooks", "retried"),
        lambda form, message, status: _hooks(visit, name, alert=message, status=status),
    )


def _hooks(
    visit: Visit,
    name: str,
    *,
    made: tuple[str, Webhook] | None = None,
    typed: dict[str, str] | None = None,
    **values: Any,
) -> Response:
    frame = shown.frame(visit, name, "hooks")
    found = [
        (hook, visit.service.webhooks.deliveries(hook.id, SHOWN))
        for hook in visit.service.webhooks.list(name)
    ]
    return visit.page(
        "dashboard_hooks.html", **frame, hooks=found, made=made, typed=typed or {}, words=WORDS,
        events=EVENTS, **values,
    )  # fmt: skip
