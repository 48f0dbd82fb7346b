"""Whether the service lives, can serve, and how it does."""

from contextlib import suppress
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, Response

from askwise.core.errors import AskwiseError, StoreError
from askwise.service import metrics
from askwise.service.api.dependencies import ERRORS, Serving, Viewer, operation_id
from askwise.service.api.shapes import replies
from askwise.service.json_reply import JsonReply

router = APIRouter(tags=["operation"], generate_unique_id_function=operation_id)

PATIENCE = 3.0
"""Seconds in which a store has to answer a probe."""

_ERRORS: dict[int | str, dict[str, Any]] = {code: ERRORS[code] for code in (401, 429)}


@router.get("/healthz", response_model=replies.HealthShape, responses=_ERRORS)
async def healthz() -> Response:
    """Whether the process lives."""
    return JsonReply({"status": "ok"})


@router.get("/readyz", response_model=replies.HealthShape, responses={**_ERRORS, 503: ERRORS[503]})
async def readyz(service: Serving) -> Response:
    """Whether it can serve: the store answers."""
    with anyio.move_on_after(PATIENCE), suppress(AskwiseError):
        # Neither in a thread nor on a connection that requests use: they may all wait.
        await anyio.to_thread.run_sync(
            service.campaigns.store.ping, abandon_on_cancel=True, limiter=service.probes
        )
        return JsonReply({"status": "ok"})
    raise StoreError("the store does not answer", field="store", reason="store_unreachable")


@router.get("/metrics", responses={**ERRORS, 200: {"content": {"text/plain": {}}}})
def show_metrics(caller: Viewer) -> Response:
    """Counts and times in Prometheus' text format."""
    text, media = metrics.as_text()
    return Response(text, media_type=media)
