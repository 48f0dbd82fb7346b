"""What pages share: templates, cookies, forms that only they can send, errors as pages."""

import hmac
import logging
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Scope

from askwise.core.errors import AskwiseError
from askwise.core.version import __version__
from askwise.service.auth.identity import Identity, csrf_token
from askwise.service.errors import BadShape, RequestRefused, forbidden, reply_to, status_of
from askwise.service.incoming_request import IncomingRequest
from askwise.service.routing.routes import Instead, RouteGroup
from askwise.service.state import service_of

log = logging.getLogger("askwise.service")

SESSION = "askwise_session"
"""The cookie of a browser that is signed in."""

NEW_TABLE = "/dashboard/-/new/table"
"""Where a file is sent from which a campaign is created."""

POLICY = {
    "default-src": "'none'",
    "style-src": "'self'",
    "script-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
}
"""What a page may load: its own style, script and pictures."""


def pages(words: Callable[[AskwiseError], str] | None = None) -> RouteGroup:
    """A group of routes whose errors are pages; ``words`` is what is said of one."""
    say = words or words_of

    def tell(request: IncomingRequest, error: AskwiseError) -> Response:
        if isinstance(error, BadShape):
            return trouble(request, 422, "the form is not filled in correctly")
        return trouble(request, status_of(error), say(error))

    return RouteGroup(tell=tell)


def words_of(error: AskwiseError) -> str:
    """What is said of an error; what a store or a policy says of itself is not for here."""
    if status_of(error) < 500:
        return str(error)
    log_error(error)
    return "the service can't do that at the moment: go back and try again in a moment"


@cache
def templates() -> Environment:
    """The pages' templates: everything put into them is escaped."""
    made = Environment(
        loader=PackageLoader("askwise.service"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["version"] = __version__
    return made


def page(
    template: str,
    /,
    *,
    status: int = 200,
    allow: dict[str, str] | None = None,
    finish: Callable[[str], str] = str,
    **values: Any,
) -> Response:
    """Render a template; ``allow`` widens what the page may load, ``finish`` goes over its text."""
    text = finish(templates().get_template(template).render(**values))
    rules = {**POLICY, **(allow or {})}
    policy = "; ".join(f"{what} {source}" for what, source in rules.items())
    # A payload may hold half a character (a lone surrogate), which no page can.
    body = text.encode("utf-8", "replace")
    return HTMLResponse(body, status, {"Content-Security-Policy": policy})


def trouble(request: Request, status: int, message: str) -> Response:
    """What went wrong, as a page."""
    return page("error.html", status=status, code=status, message=message, home=_home(request))


def refused(scope: Scope, error: AskwiseError) -> Response:
    """What is told of a request that came to no route: to a browser, a page."""
    told = reply_to(error)
    sent_by_page = error.reason == "body_too_large" and scope["path"].startswith("/dashboard")
    if not sent_by_page and not _takes_pages(scope):
        return told
    path, code, message = scope["path"], told.status_code, str(error)
    if error.reason == "not_found":
        message = "there is no such page: check the address"
    elif error.reason == "body_too_large" and path == NEW_TABLE:
        message = (
            "this file is too large to be sent here: create the campaign with askwise new FILE"
        )
    home = "/".join(path.split("/")[:3]) if path.startswith("/work/") else "/dashboard"
    reply = page("error.html", status=code, code=code, message=message, home=home)
    for name, value in told.headers.items():
        if name not in ("content-length", "content-type"):
            reply.headers[name] = value
    if error.reason == "body_too_large":
        # What was sent is not read to its end.
        reply.headers["Connection"] = "close"
    return reply


def _takes_pages(scope: Scope) -> bool:
    """Whether a browser asks, to show what it gets."""
    return any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])


def log_error(error: AskwiseError) -> None:
    """Tell the operator of an error that is not the caller's."""
    fields = {"code": error.code, "reason": error.reason, "message": str(error)}
    log.error("page", extra={"fields": fields})


def _home(request: Request) -> str:
    name = request.path_params.get("name")
    return f"/work/{name}" if request.url.path.startswith("/work/") and name else "/dashboard"


async def signed_in(request: IncomingRequest) -> Identity:
    """Provide the person who is signed in with this browser."""
    secret = request.cookies.get(SESSION, "")
    found = None
    if secret:
        service = service_of(request)
        found = await service.threads.run(service.identities.session, secret)
    if found is None:
        path = request.url.path if request.method == "GET" else "/dashboard"
        raise Instead(RedirectResponse(f"/login?next={path}", 303))
    return found


async def form_of(
    request: Request,
    secret: str | None,
    take: Callable[[object], Awaitable[None]] | None = None,
) -> dict[str, str]:
    """The fields of a form that a page of ours has sent, and no other site's.

    ``secret`` is the cookie whose token the form must carry; None where there is none yet.
    ``take`` is handed the field ``file`` of a form that has one, while it can be read.
    """
    check_origin(request)
    async with request.form(max_files=0 if take is None else 1, max_fields=100) as sent:
        fields = {name: value for name, value in sent.items() if isinstance(value, str)}
        if take is not None:
            await take(sent.get("file"))
    if secret is not None:
        token = fields.pop("csrf", "")
        if not hmac.compare_digest(token.encode(), csrf_token(secret).encode()):
            raise forbidden(
                "this form is out of date: go back, reload the page and try again", "form_outdated"
            )
    return fields


def check_origin(request: Request) -> None:
    """Refuse what another site's page has sent; browsers say where a form comes from."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None and site not in ("same-origin", "none"):
        raise forbidden("this form was sent by another site", "other_site")
    # A proxy may ask for us by another name than people do.
    ours = (request.headers.get("host"), urlsplit(service_of(request).settings.address).netloc)
    if origin not in (None, "null") and urlsplit(origin).netloc not in ours:
        raise forbidden("this form was sent by another site", "other_site")


def set_cookie(
    request: Request, reply: Response, name: str, value: str, *, path: str, lasts: float
) -> None:
    """Give a browser a cookie that scripts can't read and other sites can't send with forms."""
    reply.set_cookie(
        name,
        value,
        max_age=int(lasts),
        path=path,
        httponly=True,
        samesite="lax",
        secure=service_of(request).settings.https,
    )


def refuse_form(message: str, field: str | None = None) -> RequestRefused:
    """Build the refusal of what somebody typed."""
    return RequestRefused("invalid_form", message, field=field)
