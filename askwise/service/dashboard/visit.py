"""What the dashboard's pages share: who filters, parts that are swapped live, forms."""

import hashlib
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from markupsafe import Markup
from pydantic import ValidationError
from starlette.responses import RedirectResponse, Response

from askwise.campaign import Campaign
from askwise.core.errors import AskwiseError
from askwise.service.api.shapes.requests import Name
from askwise.service.auth.identity import Identity, Role, csrf_token
from askwise.service.dashboard.overview import Overviews
from askwise.service.errors import bad_shape, status_of
from askwise.service.incoming_request import IncomingRequest
from askwise.service.pages import filters
from askwise.service.pages.base import SESSION, form_of, page, refuse_form, signed_in, templates
from askwise.service.routing.plans import Provided
from askwise.service.routing.routes import RouteGroup
from askwise.service.state import ServiceState, service_of

T = TypeVar("T")
W = TypeVar("W", bound=str)

ROWS = 25
"""Rows of a table on one page."""

HIDDEN = Markup('<input type="hidden" name="csrf"><input type="hidden" name="key">')
"""Where a form's token and key go. They are put in last: what is shown does not depend on them."""


@dataclass(frozen=True)
class Visit:
    """A request of somebody who is signed in."""

    request: IncomingRequest
    service: ServiceState
    caller: Identity

    @property
    def overviews(self) -> Overviews:
        """What is worked out for all who watch."""
        return self.request.app.state.overviews

    def filled(self, text: str) -> str:
        """Give each form the token of this browser and a key of its own."""
        token = csrf_token(self.caller.secret)

        def fields(_: re.Match[str]) -> str:
            return (
                f'<input type="hidden" name="csrf" value="{token}">'
                f'<input type="hidden" name="key" value="{secrets.token_hex(16)}">'
            )

        return re.sub(re.escape(HIDDEN), fields, text)

    def common(self) -> dict[str, Any]:
        """What every template may use."""
        return {
            "caller": self.caller,
            "changes": self.caller.may("requester"),
            "hidden": HIDDEN,
            "why_done": filters.why_done,
        }

    def page(
        self,
        template: str,
        *,
        status: int = 200,
        alert: str | None = None,
        allow: dict[str, str] | None = None,
        **values: Any,
    ) -> Response:
        """A whole page; ``alert`` says what went wrong with what was sent before.

        ``allow`` widens what the page may load.
        """
        code = self.request.query_params.get("done", "")
        notice = filters.NOTICES.get(code) if alert is None else None
        values = {"alert": alert, "notice": notice, **self.common(), **values}
        return page(template, status=status, allow=allow, finish=self.filled, **values)

    def part(self, id: str, label: str, **values: Any) -> Markup:
        """A part of a page that is swapped when it has changed, which its tag tells."""
        template = templates().get_template(f"dashboard/{id}.html")
        text = template.render({**self.common(), **values})
        tag = hashlib.sha256(text.encode()).hexdigest()[:12]
        frame = Markup('<section class="part" id="{}" data-tag="{}" aria-label="{}">{}</section>')
        return frame.format(f"part-{id}", tag, label, Markup(self.filled(text)))


def _visiting(role: Role) -> Provided:
    """Provide the visit of somebody with at least this role."""

    def visit(request: IncomingRequest, caller: Annotated[Identity, Provided(signed_in)]) -> Visit:
        caller.needs(role)
        return Visit(request, service_of(request), caller)

    return Provided(visit)


Viewing = Annotated[Visit, _visiting("viewer")]
Requesting = Annotated[Visit, _visiting("requester")]
Owning = Annotated[Visit, _visiting("owner")]

filters.install(templates())


@dataclass(frozen=True)
class Form:
    """A form that was sent, who sent it, and a key under which it does its work once."""

    fields: Mapping[str, str]
    key: str
    by: str

    def text(self, name: str, *, longest: int = 200) -> str:
        """A field that must be filled in."""
        found = self.fields.get(name, "").strip()
        if not found:
            raise refuse_form(f"{name} is empty: fill it in")
        if len(found) > longest:
            raise refuse_form(f"{name} is too long: up to {longest} characters")
        return found

    def whole(self, name: str) -> int | None:
        """A whole number from 1, or nothing."""
        found = self.fields.get(name, "").strip()
        if not found:
            return None
        if not found.isascii() or not found.isdecimal() or not 0 < len(found) < 10:
            raise refuse_form(f"{name} is {filters.clip(found, 20)}: give a whole number from 1")
        return int(found)

    def one_of(self, name: str, words: Sequence[W]) -> W | None:
        """One of some words, or nothing."""
        found = self.fields.get(name, "").strip()
        for word in words:
            if word == found:
                return word
        if found:
            raise refuse_form(f"{name} is {filters.clip(found, 20)}: give {', '.join(words)}")
        return None

    def seconds(self, name: str) -> float | None:
        """A number of days, as seconds, or nothing."""
        days = self.whole(name)
        return None if days is None else 86400.0 * days


async def sent(visit: Visit, take: Callable[[object], Awaitable[None]] | None = None) -> Form:
    """Read the form that a page of the dashboard has sent; ``take`` is handed its file.

    The key is of the form and of what was typed: a second click, or a reload, does nothing
    more, and who goes back and types something else is heard.
    """
    fields = await form_of(visit.request, visit.request.cookies.get(SESSION, ""), take)
    nonce = fields.pop("key", "")
    if not nonce:
        raise refuse_form("this form is out of date: go back, reload the page and try again")
    typed = "\0".join(f"{name}\0{value}" for name, value in sorted(fields.items()))
    text = "\0".join([nonce, visit.request.url.path, typed])
    hashed = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Form(fields, f"{visit.caller.id}:form:{hashed[:40]}", visit.caller.label)


async def do(
    visit: Visit,
    work: Callable[[Form], T],
    show: Callable[..., Response],
    then: Callable[[T], Response] | None = None,
) -> Response:
    """Do what a form asks for, ``then`` go on, or ``show`` the page again with what was ``made``.

    What is refused shows it with the reason (``alert``), its ``status``, the ``field`` that it is
    about and what was ``typed``.
    """
    form = await sent(visit)
    return await do_with(visit, form, work, show, then)


async def do_with(
    visit: Visit,
    form: Form,
    work: Callable[[Form], T],
    show: Callable[..., Response],
    then: Callable[[T], Response] | None = None,
) -> Response:
    """Do what a form asks for that was read before, as :func:`do` does."""
    try:
        done = await visit.service.threads.run(work, form)
    except (AskwiseError, ValidationError) as error:
        refused = error if isinstance(error, AskwiseError) else _first_flaw(error.errors())
        status = status_of(refused)
        if status >= 500:
            raise
        said = {
            "alert": str(refused),
            "status": status,
            "field": refused.field,
            "typed": dict(form.fields),
        }
        return await visit.service.threads.run(lambda: show(**said))
    return show(made=done) if then is None else then(done)


def _first_flaw(errors: Sequence[Any]) -> AskwiseError:
    """Build the refusal of what somebody typed, in the words that the API has for it."""
    flaw = bad_shape(errors[0], "form")
    return refuse_form(str(flaw), field=flaw.field)


def back(path: str, code: str, **query: str) -> Response:
    """Lead to a page that says what was done."""
    return RedirectResponse(f"{path}?{urlencode({**query, 'done': code})}", 303)


CampaignChange = Callable[[Campaign, Form], None]


def changes(
    again: Callable[..., Response], lead: Callable[[str, Form, str], Response]
) -> Callable[[RouteGroup, str, str], Callable[[CampaignChange], CampaignChange]]:
    """Make forms of functions that change a campaign, each at a path of its own.

    Parameters
    ----------
    again : callable
        Takes the visit, the campaign's name and what ``do`` says of a form that is refused: shows
        the page again on which it was.
    lead : callable
        Takes the campaign's name, the form and the code of what was done: leads on.
    """

    def at(router: RouteGroup, path: str, code: str) -> Callable[[CampaignChange], CampaignChange]:
        def make(work: CampaignChange) -> CampaignChange:
            async def post(visit: Requesting, name: Name) -> Response:
                def run(form: Form) -> Form:
                    work(visit.service.campaigns.get(name), form)
                    return form

                return await do(
                    visit, run, partial(again, visit, name), lambda form: lead(name, form, code)
                )

            post.__name__, post.__doc__ = work.__name__, work.__doc__
            router.post(f"/dashboard/{{name}}/{path}")(post)
            return work

        return make

    return at


@dataclass(frozen=True)
class Cut:
    """One page of a table."""

    page: int
    pages: int
    start: int
    end: int
    total: int


def cut(total: int, wanted: int, rows: int = ROWS) -> Cut:
    """The rows of a page; beyond the last it is the last.

    Examples
    --------
    >>> cut(60, 2)
    Cut(page=2, pages=3, start=25, end=50, total=60)
    """
    pages = max(1, -(-total // rows))
    shown = min(max(1, wanted), pages)
    start = (shown - 1) * rows
    return Cut(shown, pages, start, min(start + rows, total), total)
