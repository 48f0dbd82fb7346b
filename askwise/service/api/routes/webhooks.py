"""Webhooks: made, listed, ended, tried; what has become of their deliveries."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from askwise.service.api.bodies import JsonRoute
from askwise.service.api.dependencies import (
    ERRORS,
    NamedPage,
    Page,
    Requester,
    RetryKey,
    Serving,
)
from askwise.service.api.shapes.fields import DeliveryId, HookId
from askwise.service.api.shapes.replies import (
    DeliveriesShape,
    DeliveryShape,
    HookShape,
    HooksShape,
    NewHookShape,
)
from askwise.service.api.shapes.requests import HookBody
from askwise.service.json_reply import JsonReply
from askwise.service.state import ServiceState
from askwise.service.webhooks.records import Webhook

router = APIRouter(prefix="/hooks", tags=["webhooks"], responses=ERRORS, route_class=JsonRoute)


@router.get("", response_model=HooksShape)
def hooks(service: Serving, caller: Requester, page: Page) -> Response:
    """The webhooks, without their secrets, newest first."""
    return JsonReply(page.cut(service.webhooks.list(), lambda each: _shown(service, each)))


@router.post("", status_code=201, response_model=NewHookShape)
def new_hook(service: Serving, caller: Requester, key: RetryKey, body: HookBody) -> Response:
    """Be told what happens in a campaign, or in all; the secret is in this reply alone."""
    secret, hook = service.webhooks.make(
        body.url,
        body.events,
        campaign=body.campaign,
        label=body.label,
        secret=None if key is None else caller.derive("hook", key),
    )
    return JsonReply({**_shown(service, hook), "secret": secret}, 201)


@router.delete("/{id}", response_model=HookShape)
def end_hook(service: Serving, caller: Requester, key: RetryKey, id: HookId) -> Response:
    """End a webhook; what it has not delivered is forgotten."""
    return JsonReply(_shown(service, service.webhooks.end(id)))


@router.get("/{id}/deliveries", response_model=DeliveriesShape)
def deliveries(service: Serving, caller: Requester, id: HookId, page: NamedPage) -> Response:
    """The deliveries of a webhook, newest first: all that wait, and the last settled ones."""
    found = service.webhooks.deliveries(id, page.limit + 1, page.after)
    return JsonReply(page.cut_named(found, lambda each: each.id))


@router.post("/{id}/deliveries/{delivery}/retry", status_code=202, response_model=DeliveryShape)
def retry(
    service: Serving,
    caller: Requester,
    key: RetryKey,
    id: HookId,
    delivery: DeliveryId,
) -> Response:
    """Try a delivery again, whatever has become of it."""
    return JsonReply(service.webhooks.retry(id, delivery, key).to_json(), 202)


@router.post("/{id}/test", status_code=202, response_model=DeliveryShape)
def test(service: Serving, caller: Requester, key: RetryKey, id: HookId) -> Response:
    """Send a `ping`, to try a webhook; the list of deliveries tells what came of it."""
    return JsonReply(service.webhooks.ping(id, key).to_json(), 202)


def _shown(service: ServiceState, hook: Webhook) -> dict[str, Any]:
    return {**hook.to_json(), "waiting": service.webhooks.waiting(hook.id)}
