"""Keys of people and programs."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from askwise.service.api import shapes
from askwise.service.api.bodies import JsonRoute
from askwise.service.api.dependencies import ERRORS, Anybody, Owner, Page, Reply, RetryKey, Serving
from askwise.service.retries import note_of

router = APIRouter(tags=["keys"], responses=ERRORS, route_class=JsonRoute)


@router.get("/me", response_model=shapes.Me)
async def me(caller: Anybody) -> Response:
    """Who you are to this service."""
    return Reply(
        {
            "id": caller.id,
            "role": caller.role,
            "label": caller.label,
            "expires": caller.expires,
            "campaign": caller.campaign,
            "worker": caller.worker,
        }
    )


@router.get("/keys", response_model=shapes.Keys)
def keys(service: Serving, caller: Owner, page: Page) -> Response:
    """The keys, without their secrets, newest first."""
    return Reply(page.cut(service.identities.keys(), lambda each: each.to_json()))


@router.post("/keys", status_code=201, response_model=shapes.NewKey)
def new_key(service: Serving, caller: Owner, key: RetryKey, body: shapes.KeyBody) -> Response:
    """Make a key; its secret is in this reply and nowhere else."""
    secret, issued = service.identities.issue(
        body.role,
        body.label,
        lasts=body.lasts,
        secret=None if key is None else caller.derive("key", body.role, body.label, key),
        note=note_of(key, "key", body.model_dump()),
    )
    return Reply({**issued.to_json(), "secret": secret}, 201)


@router.delete("/keys/{id}", response_model=shapes.Key)
def revoke(service: Serving, caller: Owner, key: RetryKey, id: shapes.KeyId) -> Response:
    """End a key, at once."""
    return Reply(service.identities.revoke(id).to_json())
