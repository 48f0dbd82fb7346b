"""A campaign as files, and its workers with what is known of them."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Request
from starlette.responses import Response, StreamingResponse

from askwise.campaign import Campaign, views
from askwise.service.api import shapes
from askwise.service.api.dependencies import ERRORS, Page, Service, Serving, Viewer, polled
from askwise.service.exports import EXPORTS, export

router = APIRouter(prefix="/campaigns/{name}", tags=["campaigns"], responses=ERRORS)

What = Annotated[
    Literal["answers.csv", "answers.jsonl", "labels.csv", "payments.csv", "log.jsonl"],
    Path(description=" ".join(f"`{file}`: {words}" for file, (_, words) in EXPORTS.items())),
]


@router.get(
    "/export/{what}",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The file, sent as it is made.",
            "content": {
                "text/csv": {"schema": {"type": "string"}},
                "application/jsonl": {"schema": {"type": "string"}},
            },
        }
    },
)
def export_file(service: Serving, caller: Viewer, name: shapes.Name, what: What) -> Response:
    """A campaign as a file: answers, labels, payments, or the whole log."""
    return sent_as_file(service, name, what)


@router.get("/workers", response_model=shapes.Workers)
def workers(
    request: Request, service: Serving, caller: Viewer, name: shapes.Name, page: Page
) -> Response:
    """The workers in the order in which they joined: their work, their money, how good they seem.

    A quality comes with a 95% interval and with what it rests on: known truths, or agreement
    with the other workers, which is not the same.
    """

    def look(campaign: Campaign) -> list[views.WorkerSummary]:
        with campaign.reading() as state:
            return views.workers(state)

    position, found = service.hub.view(name, "workers", look)
    return polled(request, position, lambda: page.cut(found, lambda each: each.to_json()))


def sent_as_file(service: Service, name: str, what: str) -> Response:
    """A file of a campaign, to be saved by a browser."""
    made = export(service.hub.campaign(name), what)
    return StreamingResponse(
        made.pieces,
        media_type=made.media,
        headers={"Content-Disposition": f'attachment; filename="{made.name}"'},
    )
