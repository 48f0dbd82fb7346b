"""What both the API and the dashboard take back: a campaign is deleted, a worker forgotten."""

import hashlib
import time

from askwise.campaign.forgetting import delete, forget_worker
from askwise.core.errors import UnknownName
from askwise.service.idempotency import note_of, was_made
from askwise.service.state import ServiceState


def delete_campaign(service: ServiceState, name: str, key: str | None) -> None:
    """Delete a campaign that nobody has answered, and all that belongs to it."""
    store = service.campaigns.store
    note = note_of(key, "delete", name)
    if was_made(store, note):
        return
    delete(store, name, [] if note is None else [note])
    service.campaigns.drop(name)
    service.identities.look_again()


def forget(
    service: ServiceState, name: str, worker: str, pseudonym: str | None, key: str | None
) -> str:
    """Replace a worker's id by a pseudonym; returns what they are called now."""
    if pseudonym is None and key is not None:
        # The same retry, the same name, from which the old one can't be told.
        pseudonym = f"worker-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    store = service.campaigns.store
    note = note_of(key, "forget", name, pseudonym)
    if was_made(store, note) and pseudonym is not None:
        return pseudonym
    _check_joined(service, name, worker)
    new = forget_worker(store, name, worker, time.time(), pseudonym, [] if note is None else [note])
    service.identities.look_again()
    service.availability.look_again(name)
    return new


def _check_joined(service: ServiceState, name: str, worker: str) -> None:
    with service.campaigns.get(name).reading() as state:
        if not state.ledger.has_worker(worker):
            # Without a list of who is there: the message may end in a log.
            message = "worker is not in this campaign: check the id"
            raise UnknownName(message, field="worker", reason="unknown_worker")
