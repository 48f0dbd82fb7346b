"""Signing in and out."""

from typing import Annotated

from pydantic import Field
from starlette.responses import RedirectResponse, Response

from askwise.service.errors import RequestRefused
from askwise.service.incoming_request import IncomingRequest
from askwise.service.pages.base import SESSION, form_of, page, pages, set_cookie
from askwise.service.state import service_of

router = pages()


@router.get("/")
async def root() -> Response:
    """Lead to the dashboard."""
    return RedirectResponse("/dashboard", 303)


@router.get("/login")
async def login(next: Annotated[str, Field(max_length=300)] = "/dashboard") -> Response:
    """The form for a key."""
    return page("dashboard/sign_in.html", next=_inside(next), message=None)


@router.post("/login")
async def sign_in(request: IncomingRequest) -> Response:
    """Open a session for the owner of a key."""
    fields = await form_of(request, None)
    target = _inside(fields.get("next", ""))
    service = service_of(request)
    identities = service.identities
    try:
        identity = await service.threads.run(identities.find, fields.get("key", "").strip())
    except RequestRefused as refusal:
        return page("dashboard/sign_in.html", status=401, next=target, message=str(refusal))
    if identity.role == "worker":
        return RedirectResponse(f"/join/{identity.secret}", 303)
    lasts = service.settings.session
    secret = await service.threads.run(identities.open_session, identity, lasts)
    reply = RedirectResponse(target, 303)
    set_cookie(request, reply, SESSION, secret, path="/", lasts=lasts)
    return reply


@router.post("/logout")
async def sign_out(request: IncomingRequest) -> Response:
    """End the session."""
    secret = request.cookies.get(SESSION, "")
    await form_of(request, secret)
    service = service_of(request)
    await service.threads.run(service.identities.close_session, secret)
    reply = RedirectResponse("/login", 303)
    reply.delete_cookie(SESSION, path="/")
    return reply


def _inside(path: str) -> str:
    """A path of this service; anything else leads to the dashboard.

    Examples
    --------
    >>> _inside("/dashboard/cats"), _inside("//evil.example"), _inside("https://evil.example")
    ('/dashboard/cats', '/dashboard', '/dashboard')
    """
    fine = path.startswith("/dashboard") and all(c.isprintable() and c != "\\" for c in path)
    return path if fine else "/dashboard"
