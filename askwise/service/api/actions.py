"""What both the API and the dashboard do: create a campaign, invite a worker."""

import hashlib
import json
import time
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from askwise.campaign import Campaign
from askwise.campaign.earlier_records import make_spec_in
from askwise.campaign.spec import check_name
from askwise.core.errors import Conflict, UnknownName
from askwise.core.keys import Key
from askwise.service.api.shapes import creation, requests
from askwise.service.api.toml import read_toml
from askwise.service.auth.identity import Identity
from askwise.service.errors import RequestRefused, bad_shape
from askwise.service.idempotency import key_reused, note_of, was_made
from askwise.service.routing.bodies import not_this, read_json
from askwise.service.state import ServiceState
from askwise.store import Change, Record, Store
from askwise.store.errors import campaign_exists
from askwise.store.records import CREATIONS


def status_of(service: ServiceState, name: str, position: int | None = None) -> dict[str, Any]:
    """A campaign at a glance, as JSON; its log ends at ``position``, if given."""
    return service.campaigns.view(name, "status", Campaign.status, position)[1].to_json()


def fields_of(media: str, body: bytes) -> dict[str, Any]:
    """Read the body of a creation into the fields of a campaign."""
    try:
        if media == "application/json":
            raw = read_json(body)
        elif media in ("application/toml", "text/x-toml", "text/toml"):
            raw = read_toml(body)
        else:
            raise not_this(media, "application/json or application/toml")
    except (ValueError, RecursionError) as error:
        raise RequestRefused("bad_request", f"the body can't be read: {error}") from None
    try:
        made = creation.NewCampaign.model_validate(raw)
    except ValidationError as error:
        raise bad_shape(error.errors(include_url=False)[0], "body") from None
    return made.model_dump(exclude_unset=True)


def create_once(service: ServiceState, fields: dict[str, Any], key: str | None) -> dict[str, Any]:
    """Create a campaign; with a retry's key, once.

    A note of the key is made first: it tells a retry, and a caller who sends the same at the same
    time, which campaign the key stands for. It holds the seed, too, so that all make the same.
    """
    store = service.campaigns.store
    listed = fields.get("workers") or ()
    tasks = fields.get("tasks") or ()
    fields = {**fields, "workers": service.judges.resolve(listed, fields.get("content"), tasks)}
    if key is None:
        return status_of(service, Campaign.create(store=store, **fields).name)
    # Nothing is noted of what is not valid.
    spec = make_spec_in(store, fields)
    request = hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
    hashed = hashlib.sha256(key.encode()).hexdigest()
    note = store.record(CREATIONS, hashed)
    if note is None:
        given = fields.get("name")
        # A name that is made up is made of the key, so that a retry makes up the same.
        name = check_name(f"campaign-{hashed[:12]}" if given is None else given)
        made = {"request": request, "name": name, "seed": spec.seed, "time": time.time()}
        earlier = getattr(spec.policy, "earlier", ())
        if earlier:
            # A campaign that the policy names may show more of the workers by the next try.
            made["earlier"] = earlier
        change = Change(CREATIONS, hashed, None, json.dumps(made))
        taken = _is_there(store, name)
        if taken or not store.change([change]):
            # Perhaps by the same request, in between.
            note = store.record(CREATIONS, hashed)
        if taken and note is None:
            raise campaign_exists(name)
        note = note or Record(CREATIONS, hashed, change.after or "")
    made = json.loads(note.body)
    if made["request"] != request:
        raise key_reused()
    if "earlier" in made:
        policy: Any = spec.policy
        spec = replace(spec, policy=replace(policy, earlier=made["earlier"]))
    text = replace(spec, seed=made["seed"]).to_json()
    try:
        store.create(made["name"], text, time.time())
    except Conflict:
        if json.loads(store.spec(made["name"])) != json.loads(text):
            # Somebody else took the name after the note was made.
            store.change([Change(CREATIONS, hashed, note.body, None)])
            raise
    return status_of(service, made["name"])


def additions_of(
    service: ServiceState, campaign: Campaign, body: creation.AdditionsBody
) -> dict[str, Any]:
    """What is added to a campaign; judges get their price from its tasks and the new ones."""
    fields = body.model_dump(exclude_unset=True)
    if any("judge" in worker for worker in fields.get("workers", ())):
        with campaign.reading() as state:
            tasks = [*state.ledger.tasks, *fields.get("tasks", ())]
        fields["workers"] = service.judges.resolve(fields["workers"], campaign.content, tasks)
    return fields


def _is_there(store: Store, name: str) -> bool:
    try:
        store.position(name)
    except UnknownName:
        return False
    return True


def invite_worker(
    service: ServiceState, caller: Identity, key: str | None, name: str, body: requests.InviteBody
) -> tuple[str, Key, str]:
    """A worker's token, what is shown of it, and the link that opens their page."""
    campaign = service.campaigns.get(name)
    # A kind or family that is not given is left out, as in requests made before there were any.
    said = {field: value for field in ("kind", "family") if (value := getattr(body, field))}
    request = {**body.model_dump(exclude={"kind", "family"}), **said}
    note = note_of(key, "invite", name, request)
    # First: a key that stands for another invitation must add nobody, nor a retry.
    done = was_made(service.campaigns.store, note)
    if body.price is not None and not done and not _joined(campaign, body.worker):
        worker = {"id": body.worker, "price": body.price, "limit": body.limit}
        worker |= {**_said_before(campaign, body.worker), **said}
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


def revoke_token(service: ServiceState, name: str, id: str) -> Key:
    """End a worker's token and release what they have out."""
    campaign = service.campaigns.get(name)
    ended = service.identities.revoke(id, campaign=name)
    assert ended.worker is not None
    # Also the second time: the first may have been cut off in between.
    campaign.release(ended.worker)
    return ended


def remove_worker(service: ServiceState, name: str, worker: str, key: str | None) -> None:
    """Let a worker go, release what they have out and end their links."""
    service.campaigns.get(name).leave(worker, key)
    for token in service.identities.tokens(name):
        if token.worker == worker and token.revoked is None:
            service.identities.revoke(token.id, campaign=name)


def _said_before(campaign: Campaign, worker: str) -> dict[str, str]:
    """Kind, family and source of somebody who comes back, as far as they had any."""
    with campaign.reading() as state:
        ledger = state.ledger
        if not ledger.has_worker(worker):
            return {}
        known = ledger.workers[ledger.worker_at(worker)].to_json()
    return {field: known[field] for field in ("kind", "family", "source") if field in known}


def _joined(campaign: Campaign, worker: str) -> bool:
    """Whether they are in a campaign, and have not left it."""
    with campaign.reading() as state:
        ledger = state.ledger
        if not ledger.has_worker(worker):
            return False
        return ledger.is_here(ledger.worker_at(worker))
