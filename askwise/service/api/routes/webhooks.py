"""Webhooks: made, listed, ended, tried; what has become of their deliveries."""

from typing import Any

from askwise.service.api.dependencies import NamedPage, Page, Requester, RetryKey, Serving, group
from askwise.service.api.shapes import replies
from askwise.service.api.shapes.requests import DeliveryId, HookBody, HookId
from askwise.service.json_reply import JsonReply
from askwise.service.state import ServiceState
from askwise.service.webhooks.records import Delivery, Webhook

router = group("webhooks", "/hooks")


@router.get("", reply=replies.HooksShape)
def list_hooks(service: Serving, caller: Requester, page: Page) -> JsonReply:
    """The webhooks, without their secrets, newest first."""
    return JsonReply(page.cut(service.webhooks.list(), lambda each: _shown(service, each)))


@router.post("", status=201, reply=replies.NewHookShape)
def create_hook(service: Serving, caller: Requester, key: RetryKey, body: HookBody) -> JsonReply:
    """Be told what happens in a campaign, or in all; the secret is in this reply alone."""
    secret, hook = service.webhooks.make(
        body.url,
        body.events,
        campaign=body.campaign,
        label=body.label,
        secret=None if key is None else caller.derive("hook", key),
    )
    return JsonReply({**_shown(service, hook), "secret": secret}, 201)


@router.delete("/{id}", reply=replies.HookShape)
def end_hook(service: Serving, caller: Requester, key: RetryKey, id: HookId) -> JsonReply:
    """End a webhook; what it has not delivered is forgotten."""
    return JsonReply(_shown(service, service.webhooks.end(id)))


@router.get("/{id}/deliveries", reply=replies.DeliveriesShape)
def list_deliveries(service: Serving, caller: Requester, id: HookId, page: NamedPage) -> JsonReply:
    """The deliveries of a webhook, newest first: all that wait, and the last settled ones."""
    found = service.webhooks.deliveries(id, page.limit + 1, page.after)
    return JsonReply(page.cut_named(found, lambda each: each.id))


@router.post("/{id}/deliveries/{delivery}/retry", status=202, reply=Delivery)
def retry_delivery(
    service: Serving,
    caller: Requester,
    key: RetryKey,
    id: HookId,
    delivery: DeliveryId,
) -> JsonReply:
    """Try a delivery again, whatever has become of it."""
    return JsonReply(service.webhooks.retry(id, delivery, key).to_json(), 202)


@router.post("/{id}/test", status=202, reply=Delivery)
def test_hook(service: Serving, caller: Requester, key: RetryKey, id: HookId) -> JsonReply:
    """Send a `ping`, to try a webhook; the list of deliveries tells how it went."""
    return JsonReply(service.webhooks.ping(id, key).to_json(), 202)


def _shown(service: ServiceState, hook: Webhook) -> dict[str, Any]:
    return {**hook.to_json(), "waiting": service.webhooks.waiting(hook.id)}
