"""One shape for everything that goes wrong, and the status code that fits it."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from askwise.core import errors
from askwise.service.logs import without_secrets
from askwise.service.replies import Reply

log = logging.getLogger("askwise.service")

LONGEST = 1000
"""Characters of a message, at the most: it may name a value that somebody sent."""


class Refused(errors.AskwiseError):
    """A request that is refused before it reaches a campaign."""

    code = "refused"

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        field: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message, field=field)
        self.status = status
        self.code = code
        self.headers = headers or {}


def unauthorized(message: str) -> Refused:
    """Build the refusal of a caller who is not known."""
    return Refused(401, "unauthorized", message, headers={"WWW-Authenticate": "Bearer"})


def no_key() -> Refused:
    """Build the refusal of a caller who shows no key."""
    return unauthorized("no key: send the header 'Authorization: Bearer KEY'")


def forbidden(message: str) -> Refused:
    """Build the refusal of a caller who may not do this."""
    return Refused(403, "forbidden", message)


STATUS: dict[type[errors.AskwiseError], int] = {
    errors.InvalidProblem: 422,
    errors.InvalidParameter: 422,
    errors.InvalidAnswer: 422,
    errors.TooLarge: 422,
    errors.UnknownPolicy: 422,
    errors.UnknownName: 404,
    errors.OverBudget: 409,
    errors.Conflict: 409,
    errors.StoreError: 503,
}
"""Faults of a policy or mechanism are ours: 500."""


def status_of(error: errors.AskwiseError) -> int:
    """The status code of an error.

    Examples
    --------
    >>> status_of(errors.Conflict("the campaign was stopped"))
    409
    >>> status_of(errors.InvalidAnswer("answered already", field="assignment"))
    409
    """
    if isinstance(error, Refused):
        return error.status
    if isinstance(error, errors.InvalidAnswer) and error.field == "assignment":
        return 409  # the answer is well formed, the assignment is past it
    if isinstance(error, errors.StoreError) and error.field not in (None, "store"):
        return 422  # text that no store can keep
    for kind in type(error).__mro__:
        if kind in STATUS:
            return STATUS[kind]
    return 500


def body_of(code: str, message: str, field: str | None = None) -> dict[str, Any]:
    """The one shape.

    Examples
    --------
    >>> body_of("conflict", "the campaign was stopped", "state")["error"]["field"]
    'state'
    """
    # A key in the wrong place (a path, a field) is not said aloud.
    field = None if field is None else _short(without_secrets(field), 200)
    message = _short(without_secrets(message), LONGEST)
    return {"error": {"code": code, "message": message, "field": field}}


def reply_to(error: errors.AskwiseError) -> Response:
    """An error as a reply."""
    status = status_of(error)
    headers = dict(error.headers) if isinstance(error, Refused) else {}
    message = str(error)
    if status == 503:
        headers["Retry-After"] = "1"
        log.error("store", extra={"fields": {"message": message}})
        # What the store says of itself (files, hosts) is for the operator's eyes.
        message = "the store can't be used at the moment: try again with the same Idempotency-Key"
    if status == 500:
        log.error("fault", extra={"fields": {"code": error.code, "message": message}})
    return Reply(body_of(error.code, message, error.field), status, headers)


def fault() -> Response:
    """The reply to whom something happened that nobody foresaw."""
    return Reply(body_of("fault", "an error of the service, see its log"), 500)


WORDS = {
    400: "bad_request", 404: "not_found", 405: "method_not_allowed", 413: "too_large",
    415: "unsupported_media_type",
}  # fmt: skip


def install(app: FastAPI) -> None:
    """Let every error of ``app`` come out in the one shape."""

    @app.exception_handler(errors.AskwiseError)
    async def ours(_: Request, error: errors.AskwiseError) -> Response:
        return reply_to(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        return _invalid(error.errors()[0])

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        words = {
            404: "there is nothing at this address: see /docs for what there is",
            405: f"{request.method} is not allowed here: see /docs",
        }
        code = WORDS.get(error.status_code, "refused")
        message = words.get(error.status_code, str(error.detail))
        headers = dict(error.headers or {})
        if error.status_code == 405:
            headers["Allow"] = ", ".join(_allowed(app, request))
        return Reply(body_of(code, message), error.status_code, headers)


def _invalid(first: dict[str, Any]) -> Response:
    """Say which field is not of its shape, and why."""
    place, *inner = first["loc"]
    # What alternatives of a field are called, in parentheses, is nothing that a caller wrote.
    names = [str(part) for part in inner if not str(part).startswith("(")]
    field = ".".join(names) or None
    why = first["msg"].removeprefix("Value error, ")
    why = why[:1].lower() + why[1:]
    value = first.get("input")
    shown = f" is {_short(repr(value), 100)}" if isinstance(value, str | int | float) else ""
    if place == "path":
        return Reply(body_of("unknown_name", f"{field}{shown}: there is no such thing", field), 404)
    if first["type"] == "missing":
        text = f"{field or 'the body'} is missing"
    elif first["type"] == "extra_forbidden":
        text = f"{field} is no field of this request: see /docs for those there are"
    else:
        text = f"{field or 'the body'}{shown}: {why}"
    return Reply(body_of("invalid_request", text, field), 422)


def _allowed(app: FastAPI, request: Request) -> list[str]:
    """The methods that an address takes: several routes may share it."""
    found = []
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        scope = {**request.scope, "method": method}
        if any(route.matches(scope)[0] == Match.FULL for route in app.router.routes):
            found += [method, "HEAD"] if method == "GET" else [method]
    return found


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
