"""What routes share: the caller, his role, his retry's key, pages of lists, polls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import anyio
from fastapi import Depends, Header, Query, Request
from starlette.responses import Response

from askwise import __version__
from askwise.core.errors import InvalidProblem
from askwise.service.api import shapes
from askwise.service.api.replies import Reply as Reply
from askwise.service.auth.identity import ROLES, Identities, Identity, Role
from askwise.service.availability import Absences
from askwise.service.errors import forbidden, no_key
from askwise.service.open_campaigns import Hub
from askwise.service.settings import Settings
from askwise.service.webhooks.hooks import Hooks


def _header(text: str, **shape: Any) -> dict[str, Any]:
    return {"description": text, "required": True, "schema": {"type": "string", **shape}}


_WHEN = {"Retry-After": _header("Seconds to wait.", pattern="^[0-9]+$")}
_ETAG = {"ETag": _header("Send it as If-None-Match with the next poll.")}
_HEADERS = {
    401: {"WWW-Authenticate": _header("Bearer")},
    429: _WHEN,
    503: _WHEN,
}

ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": shapes.Error, "description": text, "headers": _HEADERS.get(code, {})}
    for code, text in {
        400: "The request can't be read.",
        401: "No key, or not a good one.",
        403: "The key's role does not allow it.",
        404: "A name that stands for nothing.",
        408: "The body came too slowly.",
        409: "It clashes with what is there.",
        413: "The body is too large.",
        415: "The body is not of a kind that is read here.",
        422: "A field is not valid; the error names it.",
        429: "Too many requests; Retry-After says when.",
        503: "The store can't be used; Retry-After says when.",
    }.items()
}
"""What any route may reply."""

POLLED: dict[int | str, dict[str, Any]] = {
    200: {"headers": _ETAG},
    304: {"description": "Nothing has changed since the ETag that was sent.", "headers": _ETAG},
}
"""What a route that is polled replies besides."""


class Service:
    """What the routes of one application work with."""

    def __init__(
        self,
        settings: Settings,
        hub: Hub,
        identities: Identities,
        absences: Absences,
        hooks: Hooks,
    ) -> None:
        self.settings = settings
        self.hub = hub
        self.identities = identities
        self.absences = absences
        self.hooks = hooks
        self.probes = anyio.CapacityLimiter(4)
        """Threads that look whether the store answers."""


async def _service(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


Serving = Annotated[Service, Depends(_service)]


async def _caller(request: Request) -> Identity:
    identity: Identity | None = request.state.identity
    if identity is None:
        raise no_key()
    return identity


# Said in the reference of the API.
_caller.caller = "anybody with a key or a worker's token"  # type: ignore[attr-defined]


def needs(role: Role, *, workers: bool = False) -> Any:
    """A dependency: the caller, who has at least this role, or is a worker if these may come.

    A worker's token opens only its own campaign; what is his in it is for the route to check.
    """

    async def check(request: Request, caller: Annotated[Identity, Depends(_caller)]) -> Identity:
        if caller.role == "worker":
            if not workers:
                raise forbidden("a worker's token does not allow this: it takes a key")
            named = request.path_params.get("name")
            if named is not None and named != caller.campaign:
                raise forbidden("this token is of another campaign", "not_yours")
            return caller
        if not caller.may(role):
            raise forbidden(f"a {caller.role}'s key does not allow this: it takes a {role}'s")
        return caller

    named = f"{role}s" if role == ROLES[0] else f"{role}s and above"
    check.caller = named + (", and workers for themselves" if workers else "")  # type: ignore[attr-defined]
    return Depends(check)


Anybody = Annotated[Identity, Depends(_caller)]
Viewer = Annotated[Identity, needs("viewer")]
Requester = Annotated[Identity, needs("requester")]
Owner = Annotated[Identity, needs("owner")]
RequesterOrWorker = Annotated[Identity, needs("requester", workers=True)]
ViewerOrWorker = Annotated[Identity, needs("viewer", workers=True)]


async def _retry_key(
    caller: Anybody,
    given: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key",
            min_length=1,
            max_length=150,
            description="A name of your own for this write: a retry with it changes nothing and "
            "gets the first reply.",
        ),
    ] = None,
) -> str | None:
    # Each caller has names of his own: nobody is answered with another's reply.
    return None if given is None else f"{caller.id}:{given}"


RetryKey = Annotated[str | None, Depends(_retry_key)]


def himself(caller: Identity, worker: str | None) -> str:
    """The worker that a request is about: the one it names, or the caller."""
    if caller.role == "worker":
        assert caller.worker is not None
        if worker not in (None, caller.worker):
            raise forbidden("this token is of another worker", "not_yours")
        return caller.worker
    if worker is None:
        raise InvalidProblem("worker is missing: name the worker", field="worker")
    return worker


@dataclass(frozen=True)
class Paging:
    """A part of a list: what follows ``after``, up to ``limit``."""

    limit: int
    after: str

    @property
    def start(self) -> int:
        """Where a page of a numbered list begins."""
        return int(self.after) if self.after else 0

    def cut(self, entries: Sequence[Any], show: Callable[[Any], Any]) -> dict[str, Any]:
        """The page of a whole list."""
        start = self.start
        items = [show(each) for each in entries[start : start + self.limit]]
        end = start + len(items)
        return {"items": items, "next": str(end) if end < len(entries) else None}


_Limit = Annotated[int, Query(ge=1, description="Entries, at the most.")]
_BEFORE = "The `next` of the page before."


async def _numbered(
    service: Serving,
    limit: _Limit = 100,
    after: Annotated[str, Query(pattern="^[0-9]{0,18}$", description=_BEFORE)] = "",
) -> Paging:
    return _paging(service, limit, after)


async def _named(
    service: Serving,
    limit: _Limit = 100,
    after: Annotated[str, Query(max_length=64, description=_BEFORE)] = "",
) -> Paging:
    return _paging(service, limit, after)


def _paging(service: Service, limit: int, after: str) -> Paging:
    largest = service.settings.largest_page
    if limit > largest:
        raise InvalidProblem(f"limit is {limit}: a page has up to {largest} entries", field="limit")
    return Paging(limit, after)


Page = Annotated[Paging, Depends(_numbered)]
NamedPage = Annotated[Paging, Depends(_named)]


def polled(request: Request, position: int, make: Callable[[], Any]) -> Response:
    """A reply that is made only if the log has moved since the caller looked last."""
    tag = f'"{__version__}.{position}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Authorization"}
    known = [
        each.strip().removeprefix("W/")
        for each in request.headers.get("if-none-match", "").split(",")
    ]
    if tag in known or known == ["*"]:
        return Response(status_code=304, headers=headers)
    return Reply(make(), headers=headers)
