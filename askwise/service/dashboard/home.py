"""The dashboard's first page: all campaigns, and the making of one; and the owner's keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from pydantic import Field
from starlette.responses import Response

from askwise.campaign.spec import Spec, make_spec
from askwise.core.keys import Key
from askwise.service.api.actions import create_once, fields_of
from askwise.service.auth.identity import ROLES
from askwise.service.dashboard.visit import Form, Owning, Requesting, Viewing, Visit, back, cut, do
from askwise.service.pages.base import pages, refuse_form
from askwise.service.work.payload import scrolls
from askwise.service.work.question import question_view

router = pages()

PageNumber = Annotated[int, Field(ge=1, le=10**9)]

EXAMPLE = """\
name = "cats"
budget = "20"
policy = "random-pairs"
stopping = { name = "lead", lead = 3 }
lease = 600

[[workers]]
id = "ann"
price = "0.05"

[[tasks]]
id = "picture-1"
payload = { text = "A tail behind a curtain" }
"""

ASKED = {
    "question": "Is there a cat?",
    "options": "cat: A living one, or a part of it\nno cat: Anything else, pictures of cats too",
}
"""What the form of a new campaign asks at first."""


WORDS = ("title", "question", "instructions", "options")
"""The fields of the form that are the campaign's content."""


@dataclass(frozen=True)
class PreviewedForm:
    """A campaign that is looked at before it is made, and what was typed."""

    spec: Spec
    typed: dict[str, str]


@router.get("/dashboard")
def campaigns(visit: Viewing, page: PageNumber = 1) -> Response:
    """All campaigns at a glance."""
    visit.overviews.warm()
    names = visit.service.campaigns.store.names()
    shown = cut(len(names), page)
    rows, broken = visit.service.campaigns.each(
        names[shown.start : shown.end], visit.overviews.glance
    )
    return visit.page("dashboard/campaigns.html", rows=rows, broken=broken, cut=shown)


@router.get("/dashboard/-/new")
def new(visit: Requesting) -> Response:
    """The form for a campaign."""
    return _new(visit, {"toml": EXAMPLE, **ASKED})


@router.post("/dashboard/-/new")
async def make(visit: Requesting) -> Response:
    """Make a campaign."""

    def work(form: Form) -> str | PreviewedForm:
        text = form.text("toml", longest=visit.service.settings.largest_body)
        fields = fields_of("application/toml", text.replace("\r\n", "\n").encode())
        content = _content(form.fields, fields)
        if content is not None and fields.get("content") is not None:
            raise refuse_form("the question is filled in here and in [content]: give it once")
        if content is not None:
            fields["content"] = content
        if form.fields.get("do") == "preview":
            return PreviewedForm(make_spec(fields), dict(form.fields))
        return str(create_once(visit.service, fields, form.key)["name"])

    def then(done: str | PreviewedForm) -> Response:
        if isinstance(done, str):
            return back(f"/dashboard/{done}", "made")
        return _new(visit, done.typed, spec=done.spec)

    return await do(visit, work, partial(_new, visit), then)


@router.get("/dashboard/-/keys")
def keys(visit: Owning, page: PageNumber = 1) -> Response:
    """The keys of people and programs."""
    return _keys(visit, page=page)


@router.post("/dashboard/-/keys")
async def new_key(visit: Owning) -> Response:
    """Make a key; its secret is on the page that follows and nowhere else."""

    def work(form: Form) -> tuple[str, Key]:
        role, lasts = form.text("role"), form.seconds("days")
        return visit.service.identities.issue(
            role if role in ROLES else "",
            form.text("label", longest=100),
            lasts=lasts,
            secret=visit.caller.derive("key", form.key),
        )

    return await do(visit, work, partial(_keys, visit))


@router.post("/dashboard/-/keys/{id}/revoke")
async def revoke(visit: Owning, id: str) -> Response:
    """End a key, at once."""
    return await do(
        visit,
        lambda form: visit.service.identities.revoke(id),
        partial(_keys, visit),
        lambda _: back("/dashboard/-/keys", "key-revoked"),
    )


def _new(
    visit: Visit, typed: dict[str, str], *, spec: Spec | None = None, **values: Any
) -> Response:
    """The form with what was typed; of a ``spec``, also what its workers would see."""
    view = task = None
    if spec is not None:
        task = spec.problem.tasks[0] if spec.problem.tasks else None
        payload = None if task is None else task.payload
        view = question_view(spec.content, spec.problem.options, payload)
    return visit.page(
        "dashboard/new.html",
        typed=typed,
        view=view,
        question={"task": None if task is None else task.id},
        range=None if spec is None or spec.problem.options else spec.problem.range,
        scrolls=scrolls,
        allow={"img-src": f"'self' {view.sources}"} if view is not None and view.sources else None,
        **values,
    )


def _content(typed: Mapping[str, str], campaign: Mapping[str, Any]) -> dict[str, Any] | None:
    """The content that a form was filled in with, if any; answers may be those of its TOML."""
    given = {name: typed.get(name, "").replace("\r\n", "\n").strip() for name in WORDS}
    if not any(given.values()):
        return None
    lines = [line.partition(":") for line in given.pop("options").splitlines() if line.strip()]
    made: dict[str, Any] = {name: words for name, words in given.items() if words}
    made.setdefault("question", "")
    if lines:
        made["options"] = [
            {"name": name.strip(), "meaning": meaning.strip()} for name, _, meaning in lines
        ]
    elif campaign.get("options") is not None:
        made["options"] = campaign["options"]
    elif (outcome := campaign.get("outcome")) is not None:
        ends = outcome if isinstance(outcome, dict) else {}
        made["range"] = [ends.get("low", 0), ends.get("high", 1)]
    return made


def _keys(visit: Visit, *, page: int = 1, **values: Any) -> Response:
    found = visit.service.identities.keys()
    shown = cut(len(found), page)
    values = {"made": None, "typed": {}, **values, "keys": found[shown.start : shown.end]}
    return visit.page("dashboard/keys.html", cut=shown, **values)
