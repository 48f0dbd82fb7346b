"""Writes beside the log that are done once: a note of the retry's key is made along with each."""

import hashlib
import json
from typing import Any

from askwise.core.errors import Conflict
from askwise.store import Change, Store

_KIND = "retry"


def note_of(key: str | None, *request: Any) -> Change | None:
    """The note that a key stands for a request, to be made with what the request changes."""
    if key is None:
        return None
    hashed = hashlib.sha256(key.encode()).hexdigest()
    return Change(_KIND, hashed, None, _digest(request))


def was_made(store: Store, note: Change | None) -> bool:
    """Whether the request was done already; Conflict if its key stands for another."""
    known = None if note is None else store.record(note.kind, note.id)
    if note is None or known is None:
        return False
    if known.body != note.after:
        raise key_reused()
    return True


def key_reused() -> Conflict:
    """Build the refusal of a key that stands for another request."""
    message = "this Idempotency-Key was used for another request: use a new one"
    return Conflict(message, field="key", reason="key_reused")


def _digest(request: tuple[Any, ...]) -> str:
    text = json.dumps(request, sort_keys=True, default=str)
    return json.dumps(hashlib.sha256(text.encode()).hexdigest())
