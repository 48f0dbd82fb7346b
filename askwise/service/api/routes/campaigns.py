"""Campaigns: made, listed, changed, read."""

from __future__ import annotations

import hashlib
import json
import time
import tomllib
from dataclasses import replace
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.responses import Response

from askwise.campaign import Campaign
from askwise.campaign.spec import check_name, make_spec
from askwise.core.errors import Conflict, UnknownName
from askwise.service.api import shapes
from askwise.service.api.bodies import JsonRoute, check_plain, media_type, not_this, read_json
from askwise.service.api.dependencies import (
    ERRORS,
    POLLED,
    NamedPage,
    Page,
    Reply,
    Requester,
    RetryKey,
    Service,
    Serving,
    Viewer,
    polled,
)
from askwise.service.errors import Refused
from askwise.store import Change, Record, Store
from askwise.store.base import campaign_exists

router = APIRouter(prefix="/campaigns", tags=["campaigns"], responses=ERRORS, route_class=JsonRoute)

_MADE = "made"
"""Kind of the records of keyed creations."""

_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/NewCampaign"}},
            "application/toml": {"schema": {"type": "string"}},
        },
    }
}


@router.post("", status_code=201, response_model=shapes.Status, openapi_extra=_BODY)
async def create(request: Request, service: Serving, caller: Requester, key: RetryKey) -> Response:
    """Create a campaign from JSON, or from TOML (`Content-Type: application/toml`)."""
    body = await request.body()

    def make() -> dict[str, Any]:
        return create_once(service, fields_of(media_type(request), body), key)

    # In a thread from here on: a large file takes its time to be read.
    status = await anyio.to_thread.run_sync(make)
    return Reply(status, 201, {"Location": f"/campaigns/{status['name']}"})


@router.get("", response_model=shapes.Campaigns)
def campaigns(service: Serving, caller: Viewer, page: NamedPage) -> Response:
    """List the campaigns by name."""
    names = [name for name in service.hub.store.names() if name > page.after]
    shown = names[: page.limit]
    more = shown[-1] if len(names) > len(shown) else None
    items, broken = service.hub.each(shown, lambda name: _status(service, name))
    return Reply({"items": items, "unreadable": broken, "next": more})


@router.get("/{name}", response_model=shapes.Status, responses=POLLED)
def status(request: Request, service: Serving, caller: Viewer, name: shapes.Name) -> Response:
    """A campaign at a glance."""
    service.hub.campaign(name)
    position = service.hub.store.position(name)
    return polled(request, position, lambda: _status(service, name))


@router.get("/{name}/spec", response_model=shapes.Spec)
def spec(service: Serving, caller: Viewer, name: shapes.Name) -> Response:
    """The campaign as it was created."""
    return Reply(service.hub.campaign(name).spec)


@router.post("/{name}/pause", response_model=shapes.Status)
def pause(service: Serving, caller: Requester, key: RetryKey, name: shapes.Name) -> Response:
    """Hand out nothing until it is resumed; answers are still taken."""
    service.hub.campaign(name).pause(key)
    return Reply(_status(service, name))


@router.post("/{name}/resume", response_model=shapes.Status)
def resume(service: Serving, caller: Requester, key: RetryKey, name: shapes.Name) -> Response:
    """Go on after a pause."""
    service.hub.campaign(name).resume(key)
    return Reply(_status(service, name))


@router.post("/{name}/stop", response_model=shapes.Status)
def stop(service: Serving, caller: Requester, key: RetryKey, name: shapes.Name) -> Response:
    """End a campaign for good; answers to what is out are still taken."""
    service.hub.campaign(name).stop(key)
    return Reply(_status(service, name))


@router.post("/{name}/top-up", response_model=shapes.Status)
def top_up(
    service: Serving, caller: Requester, key: RetryKey, name: shapes.Name, body: shapes.AmountBody
) -> Response:
    """Add money to the budget."""
    service.hub.campaign(name).top_up(body.amount, key)
    return Reply(_status(service, name))


@router.post("/{name}/add", response_model=shapes.Status)
def add(
    service: Serving,
    caller: Requester,
    key: RetryKey,
    name: shapes.Name,
    body: shapes.AdditionsBody,
) -> Response:
    """Add tasks and workers, all or none."""
    raw = body.model_dump(exclude_unset=True)
    campaign = service.hub.campaign(name)
    campaign.add(tasks=raw.get("tasks", []), workers=raw.get("workers", []), key=key)
    return Reply(_status(service, name))


@router.post("/{name}/close", response_model=shapes.Status)
def close(
    service: Serving, caller: Requester, key: RetryKey, name: shapes.Name, body: shapes.TaskOnly
) -> Response:
    """Ask no more about a task."""
    service.hub.campaign(name).close(body.task, key)
    return Reply(_status(service, name))


@router.post("/{name}/truth", response_model=shapes.Status)
def truth(
    service: Serving, caller: Requester, key: RetryKey, name: shapes.Name, body: shapes.TruthBody
) -> Response:
    """Reveal the true option of a task."""
    service.hub.campaign(name).truth(body.task, body.option, key)
    return Reply(_status(service, name))


@router.get("/{name}/over", response_model=shapes.Over)
def over(service: Serving, caller: Viewer, name: shapes.Name) -> Response:
    """Why there is nothing more to ask, if so, and nothing is out."""
    done = service.hub.campaign(name).over()
    return Reply({"why": None if done is None else done.why})


@router.get("/{name}/answers", response_model=shapes.Answers, responses=POLLED)
def answers(
    request: Request, service: Serving, caller: Viewer, name: shapes.Name, page: Page
) -> Response:
    """Every task's answer so far, in the order in which tasks were added."""
    position, found = service.hub.view(name, "answers", Campaign.answers)
    return polled(request, position, lambda: page.cut(found, lambda each: each.to_json()))


@router.get("/{name}/task", response_model=shapes.Task)
def task(service: Serving, caller: Viewer, name: shapes.Name, id: shapes.Id) -> Response:
    """A task as it was added, with its payload."""
    return Reply(service.hub.campaign(name).task(id).to_json())


@router.get("/{name}/payments", response_model=shapes.Payments, responses=POLLED)
def payments(
    request: Request, service: Serving, caller: Viewer, name: shapes.Name, page: Page
) -> Response:
    """What each worker has earned and what is reserved for him."""
    position, found = service.hub.view(name, "payments", Campaign.payments)
    return polled(request, position, lambda: page.cut(found, lambda each: each.to_json()))


@router.get("/{name}/log", response_model=shapes.Log, responses=POLLED)
def log(
    request: Request, service: Serving, caller: Viewer, name: shapes.Name, page: Page
) -> Response:
    """The events of a campaign, from the first on."""
    campaign = service.hub.campaign(name)
    position = service.hub.store.position(name)

    def make() -> dict[str, Any]:
        start = page.start
        events = campaign.log(start, start + page.limit)
        end = start + len(events)
        more = str(end) if events and end < position else None
        return {"items": [event.to_json() for event in events], "next": more}

    return polled(request, position, make)


def _status(service: Service, name: str) -> dict[str, Any]:
    shown: dict[str, Any] = service.hub.view(name, "status", Campaign.status)[1].to_json()
    return shown


def fields_of(media: str, body: bytes) -> dict[str, Any]:
    """Read the body of a creation into the fields of a campaign."""
    try:
        if media == "application/json":
            raw = read_json(body)
        elif media in ("application/toml", "text/x-toml", "text/toml"):
            raw = tomllib.loads(body.decode())
            check_plain(raw)
        else:
            raise not_this(media, "application/json or application/toml")
    except (ValueError, RecursionError) as error:
        raise Refused("bad_request", f"the body can't be read: {error}") from None
    try:
        made = shapes.NewCampaign.model_validate(raw)
    except ValidationError as error:
        found = error.errors(include_url=False)
        placed = [{**each, "loc": ("body", *each["loc"])} for each in found]
        raise RequestValidationError(placed) from None
    return made.model_dump(exclude_unset=True)


def create_once(service: Service, fields: dict[str, Any], key: str | None) -> dict[str, Any]:
    """Create a campaign; with a retry's key, once.

    A note of the key is made first: it tells a retry, and whoever sends the same at the same
    time, which campaign the key stands for. It holds the seed, too, so that all make the same.
    """
    store = service.hub.store
    if key is None:
        return _status(service, Campaign.create(store=store, **fields).name)
    # Nothing is noted of what is not valid.
    spec = make_spec(fields)
    request = hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
    hashed = hashlib.sha256(key.encode()).hexdigest()
    note = store.record(_MADE, hashed)
    if note is None:
        given = fields.get("name")
        # A name that is made up is made of the key, so that a retry makes up the same.
        name = check_name(f"campaign-{hashed[:12]}" if given is None else given)
        made = {"request": request, "name": name, "seed": spec.seed, "time": time.time()}
        change = Change(_MADE, hashed, None, json.dumps(made))
        taken = _is_there(store, name)
        if taken or not store.change([change]):
            # Perhaps by the same request, in between.
            note = store.record(_MADE, hashed)
        if taken and note is None:
            raise campaign_exists(name)
        note = note or Record(_MADE, hashed, change.after or "")
    made = json.loads(note.body)
    if made["request"] != request:
        raise Conflict(
            "this Idempotency-Key was used for another request: use a new one",
            field="key",
            reason="key_reused",
        )
    text = replace(spec, seed=made["seed"]).to_json()
    try:
        store.create(made["name"], text, time.time())
    except Conflict:
        if json.loads(store.spec(made["name"])) != json.loads(text):
            # Somebody else took the name after the note was made.
            store.change([Change(_MADE, hashed, note.body, None)])
            raise
    return _status(service, made["name"])


def _is_there(store: Store, name: str) -> bool:
    try:
        store.position(name)
    except UnknownName:
        return False
    return True
