"""Keys of people and programs."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from askwise.service.api.bodies import JsonRoute
from askwise.service.api.dependencies import ERRORS, Anybody, Owner, Page, RetryKey, Serving
from askwise.service.api.shapes import replies, requests
from askwise.service.api.shapes.fields import KeyId
from askwise.service.idempotency import note_of
from askwise.service.json_reply import JsonReply

router = APIRouter(tags=["keys"], responses=ERRORS, route_class=JsonRoute)


@router.get("/me", response_model=replies.MeShape)
async def me(caller: Anybody) -> Response:
    """Who you are to this service."""
    return JsonReply(caller.to_json())


@router.get("/keys", response_model=replies.KeysShape)
def keys(service: Serving, caller: Owner, page: Page) -> Response:
    """The keys, without their secrets, newest first."""
    return JsonReply(page.cut(service.identities.keys()))


@router.post("/keys", status_code=201, response_model=replies.NewKeyShape)
def new_key(service: Serving, caller: Owner, key: RetryKey, body: requests.KeyBody) -> Response:
    """Make a key; its secret is in this reply and nowhere else."""
    secret, issued = service.identities.issue(
        body.role,
        body.label,
        lasts=body.lasts,
        secret=None if key is None else caller.derive("key", body.role, body.label, key),
        note=note_of(key, "key", body.model_dump()),
    )
    return JsonReply({**issued.to_json(), "secret": secret}, 201)


@router.delete("/keys/{id}", response_model=replies.KeyShape)
def revoke(service: Serving, caller: Owner, key: RetryKey, id: KeyId) -> Response:
    """End a key, at once."""
    return JsonReply(service.identities.revoke(id).to_json())
