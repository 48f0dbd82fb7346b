"""Workers of a campaign: invited, bidding, away, gone."""

from askwise.campaign.views import OwnStanding, own_standing
from askwise.core.keys import Invitation, Key
from askwise.service.api import actions
from askwise.service.api.actions import invite_worker
from askwise.service.api.dependencies import (
    Change,
    OwnChange,
    OwnLook,
    Page,
    Requester,
    Serving,
    group,
)
from askwise.service.api.shapes import replies, requests
from askwise.service.idempotency import note_of
from askwise.service.json_reply import JsonReply

router = group("workers", "/campaigns/{name}")


@router.post("/invite", status=201, reply=Invitation)
def create_invitation(call: Change, body: requests.InviteBody) -> JsonReply:
    """Make a worker's link; with a price, add them first if they are not in the campaign yet."""
    secret, issued, link = invite_worker(call.service, call.caller, call.key, call.name, body)
    return JsonReply({**issued.to_json(), "secret": secret, "link": link}, 201)


@router.post("/bid", reply=replies.NamedShape)
def bid_price(call: OwnChange, body: requests.BidBody) -> JsonReply:
    """Name a worker's price, sealed; the first ask closes the bidding."""
    worker = call.worker(body.worker)
    call.campaign.bid(worker, body.amount, call.key)
    return JsonReply({"worker": worker})


@router.post("/leave", reply=replies.NamedShape)
def leave_campaign(call: OwnChange, body: requests.WorkerOnly) -> JsonReply:
    """Let a worker go; what they have out is released."""
    worker = call.worker(body.worker)
    call.campaign.leave(worker, call.key)
    return JsonReply({"worker": worker})


@router.post("/suspend", reply=replies.NamedShape)
def suspend_worker(call: Change, body: requests.StandingBody) -> JsonReply:
    """Hand nothing to a worker until they are reinstated; what they have out stays theirs."""
    by = body.by or call.caller.label
    call.campaign.suspend(body.worker, by=by, why=body.why, key=call.key)
    return JsonReply({"worker": body.worker})


@router.post("/reinstate", reply=replies.NamedShape)
def reinstate_worker(call: Change, body: requests.StandingBody) -> JsonReply:
    """Ask a worker again who was suspended; gold answers before that count no more."""
    by = body.by or call.caller.label
    call.campaign.reinstate(body.worker, by=by, why=body.why, key=call.key)
    return JsonReply({"worker": body.worker})


@router.get("/standing", reply=OwnStanding)
def get_standing(call: OwnLook, worker: requests.WorkerId) -> JsonReply:
    """Where a worker stands, as they may know: it does not tell which questions are gold."""
    named = call.worker(worker)
    with call.campaign.reading() as state:
        return JsonReply(own_standing(state, named).to_json())


@router.post("/availability", reply=replies.AvailabilityShape)
def set_availability(call: OwnChange, body: requests.AvailabilityBody) -> JsonReply:
    """Say whether a worker takes questions; those who ask for themselves are always given them."""
    worker = call.worker(body.worker)
    with call.campaign.reading() as state:
        state.ledger.worker_at(worker)
    available, until = body.available, None if body.available else body.until
    note = note_of(call.key, "availability", call.name, worker, available, until)
    call.service.availability.set(call.name, worker, available=available, until=until, note=note)
    return JsonReply({"worker": worker, "available": available, "until": until})


@router.get("/tokens", reply=replies.KeysShape)
def list_tokens(service: Serving, caller: Requester, name: requests.Name, page: Page) -> JsonReply:
    """The workers' tokens, without their secrets."""
    service.campaigns.get(name)
    return JsonReply(page.cut(service.identities.tokens(name)))


@router.delete("/tokens/{id}", reply=Key)
def revoke_token(call: Change, id: requests.KeyId) -> JsonReply:
    """End a worker's token; what they have out is released."""
    return JsonReply(actions.revoke_token(call.service, call.name, id).to_json())
