"""Whether the service lives, can serve, and how it does."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from askwise.core.errors import AskwiseError
from askwise.service import metrics, schemas
from askwise.service.calls import ERRORS, Reply, Serving, Viewer
from askwise.service.errors import Refused

router = APIRouter(tags=["operation"])

_ERRORS: dict[int | str, dict[str, Any]] = {code: ERRORS[code] for code in (401, 429)}


@router.get("/healthz", response_model=schemas.Health, responses=_ERRORS)
async def healthz() -> Response:
    """Whether the process lives."""
    return Reply({"status": "ok"})


@router.get("/readyz", response_model=schemas.Health, responses={**_ERRORS, 503: ERRORS[503]})
def readyz(service: Serving) -> Response:
    """Whether it can serve: the store answers."""
    try:
        service.hub.store.record("setup", "owner")
    except AskwiseError:
        raise Refused(
            503,
            "store_error",
            "the store does not answer",
            field="store",
            headers={"Retry-After": "1"},
        ) from None
    return Reply({"status": "ok"})


@router.get("/metrics", responses={**ERRORS, 200: {"content": {"text/plain": {}}}})
def show_metrics(caller: Viewer) -> Response:
    """Counts and times in Prometheus' text format."""
    text, media = metrics.as_text()
    return Response(text, media_type=media)
