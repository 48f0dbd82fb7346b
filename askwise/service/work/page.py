"""The worker's page: a link opens their inbox, one question at a time."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated

from starlette.responses import RedirectResponse, Response

from askwise.campaign import Campaign
from askwise.core import errors
from askwise.service.auth.identity import Identity
from askwise.service.errors import RequestRefused, status_of
from askwise.service.incoming_request import IncomingRequest
from askwise.service.pages.base import form_of, log_error, page, pages, set_cookie
from askwise.service.routing.plans import Provided
from askwise.service.routing.routes import Instead
from askwise.service.state import service_of
from askwise.service.work import sentences
from askwise.service.work.cookies import cookie_of
from askwise.service.work.visit import WorkerVisit

LONGEST = 400 * 86400.0
"""Seconds for which a browser keeps a worker's token, as far as browsers go."""


def _stranger() -> Instead:
    """Tell somebody without a token that opens this campaign, or not any more, what to do."""
    return Instead(page("work/stranger.html", status=401))


def _words(error: errors.AskwiseError) -> str:
    """Tell a worker of an error by its reason."""
    if status_of(error) >= 500:
        log_error(error)
    return sentences.words_of(error.reason)


router = pages(_words)


async def _recognised(request: IncomingRequest, secret: str) -> Identity:
    """The worker who shows this token."""
    service = service_of(request)
    identities = service.identities
    found = identities.known(secret)
    if found is None:
        try:
            found = await service.threads.run(identities.find, secret)
        except RequestRefused:
            raise _stranger() from None
    if found.role != "worker":
        raise _stranger()
    return found


async def _worker(request: IncomingRequest, name: str) -> Identity:
    found = await _recognised(request, request.cookies.get(cookie_of(name), ""))
    if found.campaign != name:
        raise _stranger()
    return found


SignedInWorker = Annotated[Identity, Provided(_worker)]


@router.get("/join/{token}")
async def join(request: IncomingRequest, token: str) -> Response:
    """Let a browser keep the token of a link, out of sight; changes nothing else."""
    found = await _recognised(request, token)
    assert found.campaign is not None
    lasts = LONGEST if found.expires is None else min(LONGEST, found.expires - time.time())
    home = f"/work/{found.campaign}"
    reply = RedirectResponse(home, 303)
    set_cookie(request, reply, cookie_of(found.campaign), token, path=home, lasts=lasts)
    return reply


@router.get("/work/{name}")
def show(request: IncomingRequest, name: str, worker: SignedInWorker) -> Response:
    """Their inbox as it is: looking reserves nothing."""
    return WorkerVisit(request, name, worker).show(None)


@router.get("/work/{name}/{verb}")
async def lead_back(name: str, verb: str, worker: SignedInWorker) -> Response:
    """What was reached by sending a form is the inbox, when it is looked at."""
    return RedirectResponse(f"/work/{name}", 303)


@router.post("/work/{name}/sign-out")
async def sign_out(request: IncomingRequest, name: str, worker: SignedInWorker) -> Response:
    """Let the browser forget the token; what they have out may be asked again."""
    await form_of(request, worker.secret)
    service = service_of(request)
    assert worker.worker is not None
    await service.threads.run(_release, service.campaigns.get(name), worker.worker)
    reply = page("work/signed_out.html")
    reply.delete_cookie(cookie_of(name), path=f"/work/{name}")
    return reply


def _release(campaign: Campaign, worker: str) -> None:
    with suppress(errors.Conflict):  # of an archived campaign, of which nothing is out
        campaign.release(worker)


def _add(verb: str, act: Callable[[WorkerVisit, dict[str, str]], Response]) -> None:
    """Take a form: it does something for the worker and replies with their inbox."""

    @router.post(f"/work/{{name}}/{verb}")
    async def take(request: IncomingRequest, name: str, worker: SignedInWorker) -> Response:
        fields = await form_of(request, worker.secret)
        visit = WorkerVisit(request, name, worker)
        return await visit.service.threads.run(act, visit, fields)


_add("next", WorkerVisit.next)
_add("answer", WorkerVisit.answer)
_add("change", WorkerVisit.change)
_add("revise", WorkerVisit.revise)
_add("skip", WorkerVisit.skip)
_add("flag", WorkerVisit.flag)
_add("away", WorkerVisit.leave)
_add("back", WorkerVisit.come_back)
_add("bid", WorkerVisit.bid)
