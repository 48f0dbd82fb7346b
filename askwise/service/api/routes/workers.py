"""Workers of a campaign: invited, bidding, away, gone."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from askwise.campaign import Campaign
from askwise.core.errors import Conflict
from askwise.ledger import columns as c
from askwise.service.api import shapes
from askwise.service.api.bodies import JsonRoute
from askwise.service.api.dependencies import (
    ERRORS,
    Page,
    Reply,
    Requester,
    RequesterOrWorker,
    RetryKey,
    Service,
    Serving,
    himself,
)
from askwise.service.auth.identity import Identity, Issued
from askwise.service.retries import note_of, was_made

router = APIRouter(
    prefix="/campaigns/{name}", tags=["workers"], responses=ERRORS, route_class=JsonRoute
)


@router.post("/invite", status_code=201, response_model=shapes.Invitation)
def invite(
    service: Serving, caller: Requester, key: RetryKey, name: shapes.Name, body: shapes.InviteBody
) -> Response:
    """Make a worker's link; with a price, add him first if he is not in the campaign yet."""
    secret, issued, link = invite_worker(service, caller, key, name, body)
    return Reply({**issued.to_json(), "secret": secret, "link": link}, 201)


@router.post("/bid", response_model=shapes.Named)
def bid(
    service: Serving,
    caller: RequesterOrWorker,
    key: RetryKey,
    name: shapes.Name,
    body: shapes.BidBody,
) -> Response:
    """Name a worker's price, sealed; the first ask closes the bidding."""
    worker = himself(caller, body.worker)
    service.hub.campaign(name).bid(worker, body.amount, key)
    return Reply({"worker": worker})


@router.post("/leave", response_model=shapes.Named)
def leave(
    service: Serving,
    caller: RequesterOrWorker,
    key: RetryKey,
    name: shapes.Name,
    body: shapes.WorkerOnly,
) -> Response:
    """Let a worker go; what he has out may still be answered."""
    worker = himself(caller, body.worker)
    service.hub.campaign(name).leave(worker, key)
    return Reply({"worker": worker})


@router.post("/availability", response_model=shapes.Availability)
def availability(
    service: Serving,
    caller: RequesterOrWorker,
    key: RetryKey,
    name: shapes.Name,
    body: shapes.AvailabilityBody,
) -> Response:
    """Say whether a worker takes questions; one who asks for himself is always given them."""
    worker = himself(caller, body.worker)
    with service.hub.campaign(name).reading() as state:
        state.ledger.worker_at(worker)
    until = None if body.available else body.until
    note = note_of(key, "availability", name, worker, body.available, until)
    service.absences.set(name, worker, available=body.available, until=until, note=note)
    return Reply({"worker": worker, "available": body.available, "until": until})


@router.get("/tokens", response_model=shapes.Keys)
def tokens(service: Serving, caller: Requester, name: shapes.Name, page: Page) -> Response:
    """The workers' tokens, without their secrets."""
    service.hub.campaign(name)
    return Reply(page.cut(service.identities.tokens(name), lambda each: each.to_json()))


@router.delete("/tokens/{id}", response_model=shapes.Key)
def revoke(
    service: Serving, caller: Requester, key: RetryKey, name: shapes.Name, id: shapes.KeyId
) -> Response:
    """End a worker's token."""
    service.hub.campaign(name)
    return Reply(service.identities.revoke(id, campaign=name).to_json())


def invite_worker(
    service: Service, caller: Identity, key: str | None, name: str, body: shapes.InviteBody
) -> tuple[str, Issued, str]:
    """A worker's token, what is shown of it, and the link that opens his page."""
    campaign = service.hub.campaign(name)
    note = note_of(key, "invite", name, body.model_dump())
    # First: a key that stands for another invitation must add nobody, nor a retry.
    done = was_made(service.hub.store, note)
    if body.price is not None and not done and not _joined(campaign, body.worker):
        worker = {"id": body.worker, "price": body.price, "limit": body.limit}
        try:
            campaign.add(workers=[worker], key=None if key is None else f"{key}/add")
        except Conflict as error:
            if error.reason != "worker_exists":  # else somebody else was quicker
                raise
    with campaign.reading() as state:
        state.ledger.worker_at(body.worker)
    secret, issued = service.identities.issue(
        "worker",
        body.worker,
        lasts=body.lasts,
        campaign=name,
        worker=body.worker,
        secret=None if key is None else caller.derive("invite", name, body.worker, key),
        note=note,
    )
    return secret, issued, f"{service.settings.address}/join/{secret}"


def _joined(campaign: Campaign, worker: str) -> bool:
    """Whether he is in a campaign, and has not left it."""
    with campaign.reading() as state:
        ledger = state.ledger
        if not ledger.has_worker(worker):
            return False
        return bool(ledger.book.workers[ledger.worker_at(worker), c.JOINED])
