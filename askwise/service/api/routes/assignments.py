"""Asking and telling."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from askwise.campaign import Campaign
from askwise.core.choices import Assignment, Batch, Wait
from askwise.core.errors import OverBudget, UnknownName
from askwise.service.api import shapes
from askwise.service.api.bodies import JsonRoute
from askwise.service.api.dependencies import (
    ERRORS,
    POLLED,
    Page,
    Reply,
    Requester,
    RequesterOrWorker,
    RetryKey,
    Service,
    Serving,
    Viewer,
    ViewerOrWorker,
    himself,
    polled,
)
from askwise.service.auth.identity import Identity
from askwise.service.errors import forbidden

router = APIRouter(tags=["asking"], responses=ERRORS, route_class=JsonRoute)


@router.post("/campaigns/{name}/ask", response_model=shapes.Asked | shapes.Wait | shapes.Done)
def ask(
    service: Serving,
    caller: RequesterOrWorker,
    key: RetryKey,
    name: shapes.Name,
    body: shapes.AskBody | None = None,
) -> Response:
    """Decide whom to ask next: a worker, a set of them, or whoever is best."""
    wanted = body or shapes.AskBody()
    campaign = service.hub.campaign(name)
    workers = offered(caller, wanted.workers)
    if caller.role == "worker":
        with campaign.reading() as state:
            if state.bidding:  # it is for the requester to close it, by the first ask
                return Reply(Wait("workers").to_json())
    if workers is None:
        choice = campaign.ask_around(service.absences.away(name), wanted.limit, key)
    else:
        choice = campaign.ask(wanted.limit, workers, key)
    if isinstance(choice, Batch):
        shown = [question(caller, each) for each in choice]
        return Reply({"status": "batch", "assignments": shown})
    return Reply(choice.to_json())


@router.get("/campaigns/{name}/assignments", response_model=shapes.Questions, responses=POLLED)
def assignments(
    request: Request,
    service: Serving,
    caller: ViewerOrWorker,
    name: shapes.Name,
    page: Page,
    worker: shapes.Id | None = None,
) -> Response:
    """What is out: handed out, neither answered nor released."""
    campaign = service.hub.campaign(name)
    if caller.role == "worker":
        worker = himself(caller, worker)
    position = service.hub.store.position(name)

    def make() -> dict[str, Any]:
        # By number and not by place: what is answered between two pages moves no place.
        rest = [each for each in campaign.assignments(worker) if number_of(each) > page.start]
        shown = rest[: page.limit]
        more = str(number_of(shown[-1])) if len(rest) > len(shown) else None
        return {"items": [question(caller, each) for each in shown], "next": more}

    return polled(request, position, make)


@router.get("/assignments/{id}", response_model=shapes.Handed)
def assignment(service: Serving, caller: ViewerOrWorker, id: shapes.AssignmentId) -> Response:
    """One assignment, and what has become of it."""
    handed = campaign_of(service, caller, id).assignment(id)
    shown = question(caller, handed.assignment)
    return Reply({**shown, "state": handed.state, "value": handed.value})


@router.post("/assignments/{id}/answer", response_model=shapes.Settled)
def answer(
    service: Serving,
    caller: RequesterOrWorker,
    key: RetryKey,
    id: shapes.AssignmentId,
    body: shapes.AnswerBody,
) -> Response:
    """Hand in an answer; its price is spent."""
    try:
        campaign_of(service, caller, id).tell(id, body.value, key)
    except OverBudget:
        if caller.role == "worker":
            # What is left of the budget is not for him to know.
            raise OverBudget(
                f"assignment {id!r} has expired and can't be paid for any more", field="assignment"
            ) from None
        raise
    return Reply({"assignment": id, "state": "answered"})


@router.post("/assignments/{id}/decline", response_model=shapes.Settled)
def decline(
    service: Serving, caller: RequesterOrWorker, key: RetryKey, id: shapes.AssignmentId
) -> Response:
    """Turn an assignment down; the pair is not offered again."""
    campaign_of(service, caller, id).decline(id, key)
    return Reply({"assignment": id, "state": "declined"})


@router.post("/assignments/{id}/expire", response_model=shapes.Settled)
def expire(service: Serving, caller: Requester, key: RetryKey, id: shapes.AssignmentId) -> Response:
    """Release an assignment that will not be answered."""
    campaign_of(service, caller, id).expire(id, key)
    return Reply({"assignment": id, "state": "expired"})


@router.get("/assignments/{id}/explanation", response_model=shapes.Explanation)
def explanation(service: Serving, caller: Viewer, id: shapes.AssignmentId) -> Response:
    """Why an assignment was made, recomputed from the log."""
    return Reply(campaign_of(service, caller, id).explain(id).to_json())


def offered(caller: Identity, workers: list[str] | None) -> list[str] | None:
    """Who is available: the caller, or those he names; None: all who are not away."""
    if caller.role == "worker":
        assert caller.worker is not None
        if workers not in (None, [caller.worker]):
            raise forbidden("this token is of another worker", "not_yours")
        return [caller.worker]
    return workers


def campaign_of(service: Service, caller: Identity, id: str) -> Campaign:
    """The campaign of an assignment; a worker finds only his own."""
    name = id.rpartition(":")[0]
    if caller.role != "worker":
        return service.hub.campaign(name)
    # Of what is not his a worker learns nothing, not even whether it exists.
    if name == caller.campaign:
        campaign = service.hub.campaign(name)
        try:
            if campaign.assignment(id).assignment.worker == caller.worker:
                return campaign
        except UnknownName:
            pass
    raise forbidden("this assignment is not yours", "not_yours")


def number_of(assignment: Assignment) -> int:
    """The number in an assignment's id."""
    return int(assignment.id.rpartition(":")[2])


def question(caller: Identity, assignment: Assignment) -> dict[str, Any]:
    """An assignment with what its worker is shown."""
    raw = assignment.to_json()
    if caller.role == "worker":
        del raw["propensity"]
    if assignment.payload is not None:
        raw["payload"] = assignment.payload
    return raw
