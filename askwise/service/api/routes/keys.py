"""Keys of people and programs."""

from askwise.core.keys import Caller, Key, NewKey
from askwise.service.api.dependencies import Anybody, Owner, Page, RetryKey, Serving, group
from askwise.service.api.shapes import replies, requests
from askwise.service.idempotency import note_of
from askwise.service.json_reply import JsonReply

router = group("keys")


@router.get("/me", reply=Caller)
async def get_me(caller: Anybody) -> JsonReply:
    """Who you are to this service."""
    return JsonReply(caller.to_json())


@router.get("/keys", reply=replies.KeysShape)
def list_keys(service: Serving, caller: Owner, page: Page) -> JsonReply:
    """The keys, without their secrets, newest first."""
    return JsonReply(page.cut(service.identities.keys()))


@router.post("/keys", status=201, reply=NewKey)
def create_key(service: Serving, caller: Owner, key: RetryKey, body: requests.KeyBody) -> JsonReply:
    """Make a key; its secret is in this reply and nowhere else."""
    secret, issued = service.identities.issue(
        body.role,
        body.label,
        lasts=body.lasts,
        secret=None if key is None else caller.derive("key", body.role, body.label, key),
        note=note_of(key, "key", body.model_dump()),
    )
    return JsonReply({**issued.to_json(), "secret": secret}, 201)


@router.delete("/keys/{id}", reply=Key)
def revoke_key(service: Serving, caller: Owner, key: RetryKey, id: requests.KeyId) -> JsonReply:
    """End a key, at once."""
    return JsonReply(service.identities.revoke(id).to_json())
