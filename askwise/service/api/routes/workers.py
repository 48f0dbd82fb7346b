"""Workers of a campaign: invited, bidding, away, gone."""

from askwise.core.keys import Invitation, Key
from askwise.service.api import actions
from askwise.service.api.actions import invite_worker
from askwise.service.api.dependencies import Change, OwnChange, Page, Requester, Serving, group
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
