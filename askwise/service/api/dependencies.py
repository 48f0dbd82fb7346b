"""What routes share: the caller, their role, their retry's key, pages of lists, polls."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import Annotated, Any

from pydantic import Field
from starlette.responses import Response

from askwise.campaign import Campaign
from askwise.core.errors import InvalidProblem
from askwise.core.version import __version__
from askwise.service.api.actions import status_of
from askwise.service.api.shapes import replies
from askwise.service.api.shapes.requests import Name
from askwise.service.auth.identity import ROLES, Identity, Role
from askwise.service.errors import forbidden, no_key
from askwise.service.incoming_request import IncomingRequest
from askwise.service.json_reply import JsonReply
from askwise.service.routing.plans import FromHeader, Provided
from askwise.service.routing.routes import RouteGroup
from askwise.service.state import ServiceState, service_of


def _header(text: str, **shape: Any) -> dict[str, Any]:
    return {"description": text, "required": True, "schema": {"type": "string", **shape}}


_WHEN = {"Retry-After": _header("Seconds to wait.", pattern="^[0-9]+$")}
_ETAG = {"ETag": _header("Send it as If-None-Match with the next poll.")}
_ERROR = {
    "application/json": {"schema": {"$ref": f"{replies.REF}{replies.name_of(replies.ErrorShape)}"}}
}
_HEADERS = {401: {"WWW-Authenticate": _header("Bearer")}, 429: _WHEN, 503: _WHEN}

ERRORS: dict[int, dict[str, Any]] = {
    code: {"content": _ERROR, "description": text, "headers": _HEADERS.get(code, {})}
    for code, text in {
        400: "The request can't be read.",
        401: "The key is missing or not valid.",
        403: "The key's role does not allow it.",
        404: "There is nothing of that name.",
        408: "The body came too slowly.",
        409: "It conflicts with the present state.",
        413: "The body is too large.",
        415: "The body's content type is not supported.",
        422: "A field is not valid; the error names it.",
        429: "Too many requests; Retry-After says when.",
        503: "The store can't be used; Retry-After says when.",
    }.items()
}
"""What any route may reply."""


def group(tag: str, prefix: str = "") -> RouteGroup:
    """A group of routes: they take JSON and fail in the one shape."""
    return RouteGroup(tag, prefix, ERRORS)


POLLED: dict[int, dict[str, Any]] = {
    200: {"headers": _ETAG},
    304: {"description": "Nothing has changed since the ETag that was sent.", "headers": _ETAG},
}
"""What a route that is polled replies besides."""


Serving = Annotated[ServiceState, Provided(service_of)]


def _caller(request: IncomingRequest) -> Identity:
    if request.identity is None:
        raise no_key()
    return request.identity


# Said in the reference of the API.
_caller.caller = "anybody with a key or a worker's token"  # type: ignore[attr-defined]


def needs(role: Role, *, workers: bool = False) -> Provided:
    """Provide the caller, who has at least this role, or is a worker if these may come.

    A worker's token opens only its own campaign; what is theirs in it is for the route to check.
    """

    def check(request: IncomingRequest, caller: Anybody) -> Identity:
        if caller.role == "worker":
            if not workers:
                raise forbidden("a worker's token does not allow this: it takes a key")
            named = request.path_params.get("name")
            if named is not None and named != caller.campaign:
                raise forbidden("this token is of another campaign", "not_yours")
            return caller
        caller.needs(role)
        return caller

    named = f"{role}s" if role == ROLES[0] else f"{role}s and above"
    check.caller = named + (", and workers for themselves" if workers else "")  # type: ignore[attr-defined]
    return Provided(check)


Anybody = Annotated[Identity, Provided(_caller)]
Viewer = Annotated[Identity, needs("viewer")]
Requester = Annotated[Identity, needs("requester")]
Owner = Annotated[Identity, needs("owner")]
RequesterOrWorker = Annotated[Identity, needs("requester", workers=True)]
ViewerOrWorker = Annotated[Identity, needs("viewer", workers=True)]


def _retry_key(
    caller: Anybody,
    given: Annotated[
        str | None,
        FromHeader("Idempotency-Key"),
        Field(
            min_length=1,
            max_length=150,
            description="Unique name of this write: a retry with it changes nothing and "
            "gets the first reply.",
        ),
    ] = None,
) -> str | None:
    # Each caller has names of their own: nobody is answered with another's reply.
    return None if given is None else f"{caller.id}:{given}"


RetryKey = Annotated[str | None, Provided(_retry_key)]


as_json = methodcaller("to_json")
"""What is found, as it is shown."""


@dataclass(frozen=True)
class Paging:
    """A part of a list: what follows ``after``, up to ``limit``."""

    limit: int
    after: str

    @property
    def start(self) -> int:
        """Where a page of a numbered list begins."""
        return int(self.after) if self.after else 0

    def cut(self, entries: Sequence[Any], show: Callable[[Any], Any] = as_json) -> dict[str, Any]:
        """The page of a whole list."""
        end = self.start + self.limit
        items = [show(each) for each in entries[self.start : end]]
        return {"items": items, "next": str(end) if end < len(entries) else None}

    def cut_named(
        self,
        rest: Sequence[Any],
        name: Callable[[Any], str | int],
        show: Callable[[Any], Any] = as_json,
    ) -> dict[str, Any]:
        """The page of what comes after ``after``: names, unlike places, do not move."""
        shown = rest[: self.limit]
        more = str(name(shown[-1])) if len(rest) > len(shown) else None
        return {"items": [show(each) for each in shown], "next": more}


def _paging(**shape: Any) -> Provided:
    """Provide the part of a list that is asked for; ``shape`` is that of ``after``."""
    place = Field(description="The `next` of the page before.", **shape)

    def part(
        service: Serving,
        limit: Annotated[int, Field(ge=1, description="The most entries to return.")] = 100,
        after: Annotated[str, place] = "",
    ) -> Paging:
        most = service.settings.largest_page
        if limit > most:
            words = f"limit is {limit}: a page has up to {most} entries"
            raise InvalidProblem(words, field="limit")
        return Paging(limit, after)

    return Provided(part)


Page = Annotated[Paging, _paging(pattern="^[0-9]{0,18}$")]
NamedPage = Annotated[Paging, _paging(max_length=64)]


async def opened(service: ServiceState, name: str) -> Campaign:
    """The campaign of this name, without a thread if it is open already."""
    found = service.campaigns.held(name)
    if found is None:
        found = await service.threads.run(service.campaigns.get, name)
    return found


@dataclass(frozen=True)
class Call:
    """A request about one campaign, by somebody who may make it; ``key`` is a retry's."""

    request: IncomingRequest
    service: ServiceState
    caller: Identity
    name: str
    key: str | None = None

    @property
    def campaign(self) -> Campaign:
        """The campaign; UnknownName if there is none."""
        return self.service.campaigns.get(self.name)

    @property
    def position(self) -> int:
        """Where its log ends."""
        return self.service.campaigns.store.position(self.name)

    def status(self) -> Response:
        """The reply to a change: the campaign at a glance."""
        return JsonReply(status_of(self.service, self.name))

    def polled(self, position: int, make: Callable[[], Any]) -> Response:
        """A reply that is made only if the log has moved since the caller looked last."""
        tag = f'"{__version__}.{position}"'
        headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Authorization"}
        known = [
            each.strip().removeprefix("W/")
            for each in self.request.headers.get("if-none-match", "").split(",")
        ]
        if tag in known or known == ["*"]:
            return Response(status_code=304, headers=headers)
        return JsonReply(make(), headers=headers)

    def listed(self, what: str, look: Callable[[Campaign], list[Any]], page: Paging) -> Response:
        """A page of what ``look`` finds, worked out once for all who poll."""
        position, found = self.service.campaigns.view(self.name, what, look)
        return self.polled(position, lambda: page.cut(found))

    def viewed(self, what: Any, look: Callable[[Campaign], Any]) -> Response:
        """What ``look`` finds, worked out once for all who poll."""
        position, found = self.service.campaigns.view(self.name, what, look)
        return self.polled(position, found.to_json)

    def worker(self, named: str | None) -> str:
        """The worker that a request is about: the one it names, or the caller."""
        if self.caller.role == "worker":
            assert self.caller.worker is not None
            if named not in (None, self.caller.worker):
                raise forbidden("this token is of another worker", "not_yours")
            return self.caller.worker
        if named is None:
            raise InvalidProblem("worker is missing: name the worker", field="worker")
        return named


def _look(request: IncomingRequest, service: Serving, caller: Viewer, name: Name) -> Call:
    return Call(request, service, caller, name)


def _own_look(
    request: IncomingRequest, service: Serving, caller: ViewerOrWorker, name: Name
) -> Call:
    return Call(request, service, caller, name)


def _change(
    request: IncomingRequest, service: Serving, caller: Requester, name: Name, key: RetryKey
) -> Call:
    return Call(request, service, caller, name, key)


def _own_change(
    request: IncomingRequest, service: Serving, caller: RequesterOrWorker, name: Name, key: RetryKey
) -> Call:
    return Call(request, service, caller, name, key)


Look = Annotated[Call, Provided(_look)]
OwnLook = Annotated[Call, Provided(_own_look)]
Change = Annotated[Call, Provided(_change)]
OwnChange = Annotated[Call, Provided(_own_change)]
"""About one campaign: looks of viewers, or of workers at what is theirs; changes likewise."""
