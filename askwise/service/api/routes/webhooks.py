"""Webhooks: made, listed, ended, tried; what has become of their deliveries."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from askwise.service.api import shapes
from askwise.service.api.bodies import JsonRoute
from askwise.service.api.dependencies import (
    ERRORS,
    NamedPage,
    Page,
    Reply,
    Requester,
    RetryKey,
    Service,
    Serving,
)
from askwise.service.webhooks.records import Hook

router = APIRouter(prefix="/hooks", tags=["webhooks"], responses=ERRORS, route_class=JsonRoute)


@router.get("", response_model=shapes.Hooks)
def hooks(service: Serving, caller: Requester, page: Page) -> Response:
    """The webhooks, without their secrets, newest first."""
    return Reply(page.cut(service.hooks.list(), lambda each: _shown(service, each)))


@router.post("", status_code=201, response_model=shapes.NewHook)
def new_hook(service: Serving, caller: Requester, key: RetryKey, body: shapes.HookBody) -> Response:
    """Be told what happens in a campaign, or in all; the secret is in this reply alone."""
    secret, hook = service.hooks.make(
        body.url,
        body.events,
        campaign=body.campaign,
        label=body.label,
        secret=None if key is None else caller.derive("hook", key),
    )
    return Reply({**_shown(service, hook), "secret": secret}, 201)


@router.delete("/{id}", response_model=shapes.Hook)
def end_hook(service: Serving, caller: Requester, key: RetryKey, id: shapes.HookId) -> Response:
    """End a webhook; what it has not delivered is forgotten."""
    return Reply(_shown(service, service.hooks.end(id)))


@router.get("/{id}/deliveries", response_model=shapes.Deliveries)
def deliveries(service: Serving, caller: Requester, id: shapes.HookId, page: NamedPage) -> Response:
    """The deliveries of a webhook, newest first: all that wait, and the last settled ones."""
    found = service.hooks.deliveries(id, page.limit + 1, page.after)
    shown = found[: page.limit]
    more = shown[-1].id if len(found) > len(shown) else None
    return Reply({"items": [each.to_json() for each in shown], "next": more})


@router.post("/{id}/deliveries/{delivery}/retry", status_code=202, response_model=shapes.Delivery)
def retry(
    service: Serving,
    caller: Requester,
    key: RetryKey,
    id: shapes.HookId,
    delivery: shapes.DeliveryId,
) -> Response:
    """Try a delivery again, whatever has become of it."""
    return Reply(service.hooks.retry(id, delivery, key).to_json(), 202)


@router.post("/{id}/test", status_code=202, response_model=shapes.Delivery)
def test(service: Serving, caller: Requester, key: RetryKey, id: shapes.HookId) -> Response:
    """Send a `ping`, to try a webhook; the list of deliveries tells what came of it."""
    return Reply(service.hooks.ping(id, key).to_json(), 202)


def _shown(service: Service, hook: Hook) -> dict[str, Any]:
    return {**hook.to_json(), "waiting": service.hooks.waiting(hook.id)}
