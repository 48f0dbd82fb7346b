"""Whether the service lives, can serve, and how it does."""

import asyncio
from contextlib import suppress
from typing import Any

from starlette.responses import Response

from askwise.core.errors import AskwiseError, StoreError
from askwise.service import metrics
from askwise.service.api.dependencies import ERRORS, Serving, Viewer
from askwise.service.api.shapes import replies
from askwise.service.json_reply import JsonReply
from askwise.service.routing.routes import RouteGroup

router = RouteGroup("operation")

PATIENCE = 3.0
"""Seconds in which a store has to answer a probe."""

_ERRORS: dict[int, dict[str, Any]] = {code: ERRORS[code] for code in (401, 429)}


@router.get("/healthz", reply=replies.HealthShape, responses=_ERRORS)
async def check_health() -> Response:
    """Whether the process lives."""
    return JsonReply({"status": "ok"})


@router.get("/readyz", reply=replies.HealthShape, responses={**_ERRORS, 503: ERRORS[503]})
async def check_readiness(service: Serving) -> Response:
    """Whether it can serve: the store answers."""
    with suppress(AskwiseError, TimeoutError):
        # Neither in a thread nor on a connection that requests use: they may all wait.
        await asyncio.wait_for(service.probes.run(service.campaigns.store.ping), PATIENCE)
        return JsonReply({"status": "ok"})
    raise StoreError("the store does not answer", field="store", reason="store_unreachable")


@router.get("/metrics", responses={**ERRORS, 200: {"content": {"text/plain": {}}}})
def get_metrics(caller: Viewer) -> Response:
    """Counts and times in Prometheus' text format."""
    text, media = metrics.as_text()
    return Response(text, media_type=media)
