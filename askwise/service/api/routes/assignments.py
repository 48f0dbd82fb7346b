"""Asking and telling."""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, NamedTuple

from starlette.requests import ClientDisconnect
from starlette.responses import Response

from askwise.campaign import Campaign, views
from askwise.campaign.requests import PreparedWrite
from askwise.core.choices import Assignment, Batch, Done, Wait
from askwise.core.errors import OverBudget, UnknownName
from askwise.service.api import dependencies as d
from askwise.service.api.shapes import replies, requests
from askwise.service.api.shapes.requests import AssignmentId
from askwise.service.auth.identity import Identity
from askwise.service.errors import forbidden
from askwise.service.json_reply import JsonReply
from askwise.service.own_answers import check_in_time
from askwise.service.routing.plans import Provided
from askwise.service.state import ServiceState
from askwise.service.threads import written

router = d.group("asking")

_ANYBODY = requests.AskBody()
"""What is wanted by who sends nothing."""


@router.post("/campaigns/{name}/ask", reply=replies.ChoiceShape)
async def ask_workers(call: d.OwnChange, body: requests.AskBody | None = None) -> Response:
    """Decide whom to ask next: a worker, a set of them, or the best of all."""
    wanted = body or _ANYBODY
    workers = offered(call.caller, wanted.workers)
    campaign = await d.opened(call.service, call.name)
    if call.caller.role == "worker" and await is_bidding(call.service, campaign):
        # It is for the requester to close it, by the first ask.
        return JsonReply(Wait("workers").to_json())
    choice = await asked(call, campaign, wanted, workers)
    if isinstance(choice, Batch):
        shown = [question(call.caller, each) for each in choice]
        return JsonReply({"status": "batch", "assignments": shown})
    return JsonReply(choice.to_json())


async def asked(
    call: d.Call, campaign: Campaign, wanted: requests.AskBody, workers: list[str] | None
) -> Batch | Wait | Done:
    """What a campaign decides; where it has to wait, what it decides as soon as it has not."""
    service, clock = call.service, asyncio.get_running_loop().time
    holding = service.settings.holding if call.caller.role == "worker" else None

    async def decide(*, patient: bool) -> Batch | Wait | Done:
        away = await absent(service, campaign) if workers is None else ()
        write = campaign.asking(
            wanted.limit, workers, call.key, away=away, patient=patient, holding=holding
        )
        return await written(campaign, write)

    if not wanted.wait or not service.watch.takes_more:
        return await decide(patient=False)
    until = clock() + wanted.wait
    with service.watch.waiter(call.name) as waiter:
        choice = await decide(patient=True)
        gone = asyncio.ensure_future(call.request.gone())
        try:
            while isinstance(choice, Wait):
                # Meanwhile others may be at work in its place.
                call.request.place.give_back()
                looks_again = await waiter.wait(until - clock(), gone)
                if gone.done():
                    # Nobody is there to take what would be handed out.
                    raise ClientDisconnect
                if not looks_again:
                    break
                await call.request.place.take()
                choice = await decide(patient=True)
        finally:
            gone.cancel()
    return choice


@router.get("/campaigns/{name}/assignments", reply=replies.QuestionsShape, responses=d.POLLED)
def list_assignments(call: d.OwnLook, page: d.Page, worker: requests.OneWorker = None) -> Response:
    """What is out: handed out, neither answered nor released."""
    campaign = call.campaign
    if call.caller.role == "worker":
        worker = call.worker(worker)

    def make() -> dict[str, Any]:
        # By number and not by place: what is answered between two pages moves no place.
        rest = [each for each in campaign.assignments(worker) if number_of(each) > page.start]
        return page.cut_named(rest, number_of, lambda each: question(call.caller, each))

    return call.polled(call.position, make)


class AssignmentCall(NamedTuple):
    """A request about one assignment, by somebody who may make it; ``key`` is a retry's."""

    service: ServiceState
    caller: Identity
    id: str
    key: str | None

    def campaign(self) -> Campaign:
        """Its campaign; a worker finds only their own assignments."""
        return campaign_of(self.service, self.caller, self.id)

    async def settle(self, state: str, prepare: Callable[..., PreparedWrite[None]]) -> Response:
        """Do what a method of the campaign prepares."""
        campaign = await opened_of(self.service, self.caller, self.id)
        await written(campaign, prepare(campaign, self.id))
        return self.became(state)

    def became(self, state: str) -> Response:
        """The reply to a change: what has become of it."""
        return JsonReply({"assignment": self.id, "state": state})


def _change(
    service: d.Serving, caller: d.Requester, id: AssignmentId, key: d.RetryKey
) -> AssignmentCall:
    return AssignmentCall(service, caller, id, key)


def _own_change(
    service: d.Serving, caller: d.RequesterOrWorker, id: AssignmentId, key: d.RetryKey
) -> AssignmentCall:
    return AssignmentCall(service, caller, id, key)


AssignmentChange = Annotated[AssignmentCall, Provided(_change)]
OwnAssignmentChange = Annotated[AssignmentCall, Provided(_own_change)]


@router.get("/assignments/{id}", reply=replies.HandedShape)
def get_assignment(service: d.Serving, caller: d.ViewerOrWorker, id: AssignmentId) -> Response:
    """One assignment, and what has become of it."""
    handed = campaign_of(service, caller, id).assignment(id)
    shown = question(caller, handed.assignment)
    return JsonReply({**shown, **handed.become()})


@router.post("/assignments/{id}/answer", reply=replies.SettledShape)
async def answer_assignment(call: OwnAssignmentChange, body: requests.AnswerBody) -> Response:
    """Hand in an answer; its price is spent, or what it cost."""
    by_worker = call.caller.role == "worker"
    if by_worker and body.cost is not None:
        raise forbidden("what an answer costs is not for its worker to say: leave cost out")
    tell = partial(Campaign.telling, key=call.key, **dict(body))
    try:
        return await call.settle("answered", tell)
    except OverBudget:
        if by_worker:
            # What is left of the budget is not for them to know.
            raise OverBudget(
                f"assignment {call.id!r} has expired and can't be paid for any more",
                field="assignment",
            ) from None
        raise


@router.post("/assignments/{id}/revise", reply=replies.SettledShape)
def revise_answer(call: OwnAssignmentChange, body: requests.RevisionBody) -> Response:
    """Change an answer; a worker's token changes their last one, for a minute by default."""
    campaign = call.campaign()
    by: str | None = body.by or call.caller.label
    if call.caller.role == "worker":
        if body.by is not None:
            raise forbidden("a worker changes their own answers: leave by out")
        assert call.caller.worker is not None
        if call.key is None or not campaign.store.replies(campaign.name, [call.key]):
            within = call.service.settings.revise_within
            check_in_time(campaign, call.caller.worker, call.id, time.time(), within)
        by = None
    campaign.revise(call.id, **{**dict(body), "by": by}, key=call.key)
    return call.became("answered")


@router.post("/assignments/{id}/withdraw", reply=replies.SettledShape)
def withdraw_answer(call: AssignmentChange, body: requests.WithdrawalBody) -> Response:
    """Take an answer back: there is no vote, and what was paid stays paid."""
    by = body.by or call.caller.label
    call.campaign().withdraw(call.id, body.why, by=by, key=call.key)
    return call.became("withdrawn")


@router.post("/assignments/{id}/fail", reply=replies.SettledShape)
async def fail_assignment(call: AssignmentChange, body: requests.FailureBody) -> Response:
    """Hand in that a call brought no answer, and what it cost; the pair is not offered again."""
    return await call.settle("failed", partial(Campaign.failing, key=call.key, **dict(body)))


@router.post("/assignments/{id}/decline", reply=replies.SettledShape)
async def decline_assignment(call: OwnAssignmentChange) -> Response:
    """Turn an assignment down; the pair is not offered again."""
    return await call.settle("declined", partial(Campaign.declining, key=call.key))


@router.post("/assignments/{id}/flag", reply=replies.SettledShape)
async def flag_task(call: OwnAssignmentChange, body: requests.FlagBody) -> Response:
    """Say that a task can't be answered, and why; the pair is not offered again."""
    return await call.settle("declined", partial(Campaign.flagging, why=body.why, key=call.key))


@router.post("/assignments/{id}/expire", reply=replies.SettledShape)
async def expire_assignment(call: AssignmentChange) -> Response:
    """Release an assignment that will not be answered."""
    return await call.settle("expired", partial(Campaign.expiring, key=call.key))


@router.post("/assignments/{id}/renew", reply=replies.SettledShape)
async def renew_assignment(call: AssignmentChange) -> Response:
    """Restart the lease of an open assignment."""
    return await call.settle("out", partial(Campaign.renewing, key=call.key))


@router.get("/assignments/{id}/explanation", reply=views.Explanation)
def explain_assignment(service: d.Serving, caller: d.Viewer, id: AssignmentId) -> Response:
    """Why an assignment was made, recomputed from the log."""
    return JsonReply(campaign_of(service, caller, id).explain(id).to_json())


def offered(caller: Identity, workers: list[str] | None) -> list[str] | None:
    """Who is available: the caller, or those they name; None: all who are not away."""
    if caller.role == "worker":
        assert caller.worker is not None
        if workers not in (None, [caller.worker]):
            raise forbidden("this token is of another worker", "not_yours")
        return [caller.worker]
    return workers


async def absent(service: ServiceState, campaign: Campaign) -> frozenset[str]:
    """Who is not asked unless they are named: those away, and those the service itself asks."""
    away = service.availability.known(campaign.name)
    if away is None:
        away = await service.threads.run(service.availability.away, campaign.name)
    if service.runs.may_serve(campaign):
        away |= await service.threads.run(service.runs.served, campaign)
    return away


async def is_bidding(service: ServiceState, campaign: Campaign) -> bool:
    """Whether workers name their prices still; no thread where there are no bids, or no more."""

    def look() -> bool:
        with campaign.reading() as state:
            return state.bidding

    return campaign.bidding is not False and await service.threads.run(look)


async def opened_of(service: ServiceState, caller: Identity, id: str) -> Campaign:
    """The campaign of an assignment, as ``campaign_of``; without a thread where that can be."""
    name = id.rpartition(":")[0]
    if caller.role != "worker":
        return await d.opened(service, name)
    if name == caller.campaign:
        held = service.campaigns.held(name)
        if held is not None and held.holder(id) == caller.worker:
            return held
    return await service.threads.run(campaign_of, service, caller, id)


def campaign_of(service: ServiceState, caller: Identity, id: str) -> Campaign:
    """The campaign of an assignment; a worker finds only their own."""
    name = id.rpartition(":")[0]
    if caller.role != "worker":
        return service.campaigns.get(name)
    # Of what is not theirs a worker learns nothing, not even whether it exists.
    if name == caller.campaign:
        campaign = service.campaigns.get(name)
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
