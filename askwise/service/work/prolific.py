"""Where participants of studies on Prolific land, and where Prolific tells of them."""

from starlette.responses import RedirectResponse, Response

from askwise.running.prolific.records import hear_event
from askwise.service.errors import unauthorized
from askwise.service.incoming_request import IncomingRequest
from askwise.service.json_reply import JsonReply
from askwise.service.middleware.rates import Buckets, bucket_of
from askwise.service.pages.base import page, pages, set_cookie
from askwise.service.participants import STATUSES, NotLetIn
from askwise.service.routing.routes import RouteGroup
from askwise.service.state import ServiceState, service_of
from askwise.service.work.cookies import cookie_of
from askwise.sources.prolific import InvalidEvent, check_event
from askwise.sources.prolific.api import HOOK_SECRET, from_environment

LASTS = 86400.0
"""Seconds for which a participant's token is good; no submission lasts longer."""

landings = Buckets(rate=2.0, burst=60.0)
"""How often one address may land: for each landing Prolific is asked."""


async def land(request: IncomingRequest, door: str) -> Response:
    """Let a participant in: their browser keeps a token, and shows the workers' page."""
    service = service_of(request)
    address = request.client.host if request.client is not None else ""
    given = request.query_params
    ids = [given.get(name, "") for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")]
    try:
        if landings.take(bucket_of(address)) > 0:
            raise NotLetIn("busy")
        name, worker = await service.threads.run(service.participants.admit, door, *ids)
    except NotLetIn as refusal:
        reply = page("work/participant.html", status=STATUSES[refusal.why], why=refusal.why)
        if refusal.why == "busy":
            reply.headers["Retry-After"] = "10"
        return reply
    home = f"/work/{name}"
    reply = RedirectResponse(home, 303)
    secret = await service.threads.run(_token, service, name, worker)
    set_cookie(request, reply, cookie_of(name), secret, path=home, lasts=LASTS)
    return reply


async def take_event(request: IncomingRequest) -> Response:
    """Take a signed event from Prolific; the recruiter then looks at once."""
    service = service_of(request)
    body = await request.body()
    headers = dict(request.headers.items())
    try:
        event = check_event(from_environment(HOOK_SECRET), headers, body)
    except InvalidEvent as error:
        raise unauthorized(f"the event can't be taken: {error}") from None
    said = f"{request.header('x-event-id') or ''} {event.get('resource_id', '')}"
    await service.threads.run(hear_event, service.campaigns.store, said[:200])
    return JsonReply({"heard": True})


def _token(service: ServiceState, name: str, worker: str) -> str:
    issue = service.identities.issue
    return issue("worker", worker, lasts=LASTS, campaign=name, worker=worker)[0]


_pages, _events = pages(), RouteGroup()
_pages.get("/prolific/{door}")(land)
_events.post("/prolific/events")(take_event)
router = RouteGroup(routes=[*_pages.routes, *_events.routes])
