"""Files from which a campaign is about to be created: kept in the store for a day.

They are kept there, and not in the memory of a process, as the next step may come to another.
"""

import base64
import json
import secrets
import time
from typing import Annotated

from pydantic import Field
from starlette.datastructures import UploadFile

from askwise.data.tables import HeldFile
from askwise.service.auth.identity import Identity
from askwise.service.errors import RequestRefused
from askwise.service.pages.base import refuse_form
from askwise.store import Change, Store
from askwise.store.records import DRAFT_FILES, DRAFTS

DraftId = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]

LASTS = 24 * 3600.0
"""Seconds for which a file is kept."""

MOST = 5
"""Files that are kept of one caller; the oldest makes room."""


def keep_draft(store: Store, caller: Identity, file: HeldFile) -> str:
    """Keep a file, and give up what is too old; returns its id."""
    now = time.time()
    own: list[tuple[float, str, str]] = []
    for record in store.records(DRAFTS):
        said = json.loads(record.body)
        if said["time"] < now - LASTS:
            _drop(store, record.id, record.body)
        elif said["owner"] == caller.id:
            own.append((said["time"], record.id, record.body))
    for _, id, body in sorted(own)[: max(0, len(own) - MOST + 1)]:
        _drop(store, id, body)
    id = secrets.token_hex(16)
    said = json.dumps({"time": now, "owner": caller.id, "name": file.name})
    held = base64.b64encode(file.raw).decode()
    store.change([Change(DRAFTS, id, None, said), Change(DRAFT_FILES, id, None, held)])
    return id


def find_draft(store: Store, caller: Identity, id: str) -> HeldFile:
    """A file that was kept for this caller; others do not learn of it."""
    record, held = store.record(DRAFTS, id), store.record(DRAFT_FILES, id)
    said = None if record is None else json.loads(record.body)
    if said is None or held is None or said["owner"] != caller.id:
        raise RequestRefused(
            "not_found", "this file is no longer kept: choose it again under New campaign"
        )
    return HeldFile(said["name"], base64.b64decode(held.body))


async def sent_file(given: object) -> HeldFile:
    """The file that a form has sent; refuses a form without one."""
    if not isinstance(given, UploadFile) or not given.filename:
        raise refuse_form("choose a file first", field="file")
    # Browsers of old send a whole path.
    name = given.filename.replace("\\", "/").rpartition("/")[2][:200]
    if name.lower().endswith(".gz"):
        raise refuse_form(
            f"{name} is compressed: unpack it first, or run askwise new {name}", field="file"
        )
    return HeldFile(name, await given.read())


def _drop(store: Store, id: str, body: str) -> None:
    held = store.record(DRAFT_FILES, id)
    changes = [Change(DRAFTS, id, body, None)]
    if held is not None:
        changes.append(Change(DRAFT_FILES, id, held.body, None))
    store.change(changes)
