"""A new campaign: of a file that a browser sends, step by step; or of TOML, all at once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from starlette.responses import RedirectResponse, Response

from askwise.campaign.earlier_records import make_spec_in
from askwise.campaign.spec import Spec, check_name
from askwise.core.errors import AskwiseError
from askwise.data.columns import ENDINGS
from askwise.data.orders import options_of_text
from askwise.data.table_preview import TablePreview, preview_table
from askwise.data.tables import HeldFile
from askwise.service.api.actions import create_once, fields_of, invite_worker
from askwise.service.api.shapes import creation, requests
from askwise.service.dashboard import order_form
from askwise.service.dashboard.drafts import DraftId, find_draft, keep_draft, sent_file
from askwise.service.dashboard.order_form import OrderedForm
from askwise.service.dashboard.part_choices import PARTS, part_choices
from askwise.service.dashboard.toml_lines import line_of
from askwise.service.dashboard.visit import Form, Requesting, Visit, back, do, do_with, sent
from askwise.service.pages.base import NEW_TABLE, pages, refuse_form
from askwise.service.work.payload import scrolls
from askwise.service.work.question import question_view

router = pages()

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
            return PreviewedForm(
                make_spec_in(visit.service.campaigns.store, fields), dict(form.fields)
            )
        return str(create_once(visit.service, fields, form.key)["name"])

    def then(done: str | PreviewedForm) -> Response:
        if isinstance(done, str):
            return back(f"/dashboard/{done}", "made")
        return _new(visit, done.typed, spec=done.spec)

    return await do(visit, work, partial(_new, visit), then)


def first_step(visit: Visit) -> dict[str, Any]:
    """What the form for a file says: which files there may be, and how large."""
    return {
        "endings": [each for each in ENDINGS if not each.endswith(".gz")],
        "largest": visit.service.settings.largest_body,
    }


@router.post(NEW_TABLE)
async def take_table(visit: Requesting) -> Response:
    """Take a file, look whether it is a table, and keep it for the next step."""
    files: list[HeldFile] = []
    refused: list[AskwiseError] = []

    async def take(given: object) -> None:
        try:
            files.append(await sent_file(given))
        except AskwiseError as error:
            refused.append(error)

    form = await sent(visit, take)

    def work(form: Form) -> str:
        if refused:
            raise refused[0]
        preview_table(files[0])
        return keep_draft(visit.service.campaigns.store, visit.caller, files[0])

    def then(id: str) -> Response:
        return RedirectResponse(f"/dashboard/-/new/table/{id}", 303)

    def again(typed: dict[str, str], field: str | None, **said: Any) -> Response:
        return _new(visit, {"toml": EXAMPLE, **ASKED}, field="file", **said)

    return await do_with(visit, form, work, again, then)


@router.get("/dashboard/-/new/table/{draft}")
def choose(visit: Requesting, draft: DraftId) -> Response:
    """The first rows of the file, and the form for everything else."""
    file = find_draft(visit.service.campaigns.store, visit.caller, draft)
    seen = preview_table(file)
    typed = order_form.first_typed(seen)
    typed["name"] = _free_name(visit, Path(seen.source).stem)
    return _choose(visit, draft, seen, typed=typed)


@router.post("/dashboard/-/new/table/{draft}")
async def make_of_table(visit: Requesting, draft: DraftId) -> Response:
    """Say what a campaign costs, show what its workers will see, or create it."""
    form = await sent(visit)
    store = visit.service.campaigns.store
    file = await visit.service.threads.run(lambda: find_draft(store, visit.caller, draft))
    seen = await visit.service.threads.run(lambda: preview_table(file))
    wanted = form.fields.get("do", "")
    if wanted == "parts":
        return await visit.service.threads.run(
            lambda: _choose(visit, draft, seen, typed=dict(form.fields))
        )

    def work(form: Form) -> OrderedForm | CreatedCampaign:
        ordered = order_form.read_form(visit.service, file, seen.names, form.fields)
        return _create(visit, ordered, form) if wanted == "create" else ordered

    def then(done: OrderedForm | CreatedCampaign) -> Response:
        if isinstance(done, CreatedCampaign):
            return visit.page("dashboard/created.html", made=done)
        if wanted == "cost":
            return _cost(visit, seen, done)
        return _choose(visit, draft, seen, typed=dict(form.fields), ordered=done, looked=True)

    def again(**said: Any) -> Response:
        if wanted == "cost":
            return _cost(visit, seen, None)
        return _choose(visit, draft, seen, **said)

    return await do_with(visit, form, work, again, then)


@dataclass(frozen=True)
class CreatedCampaign:
    """A campaign that was just created, with the links of its people."""

    name: str
    tasks: int
    truths: int
    links: dict[str, str]


def _create(visit: Visit, ordered: OrderedForm, form: Form) -> CreatedCampaign:
    """Create a campaign, tell its truths and make a link for each of its people; once."""
    if "name" in ordered.fields:
        check_name(ordered.fields["name"])
    shape = creation.NewCampaign.model_validate(ordered.fields)
    fields = shape.model_dump(exclude_unset=True)
    name = str(create_once(visit.service, fields, form.key)["name"])
    campaign = visit.service.campaigns.get(name)
    truths = ordered.order.truths
    campaign.truths(truths)
    links = {}
    for person in ordered.order.people:
        body = requests.InviteBody(worker=person.id, lasts=None)
        key = f"{form.key}/{person.id}"
        _, _, links[person.id] = invite_worker(visit.service, visit.caller, key, name, body)
    return CreatedCampaign(name, len(ordered.order.tasks), len(truths), links)


def _free_name(visit: Visit, stem: str) -> str:
    """A name for a campaign that no other has, after its file."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-._")[:50] or "campaign"
    taken = set(visit.service.campaigns.store.names())
    numbered = (plain if at == 1 else f"{plain}-{at}" for at in range(1, len(taken) + 2))
    return next(name for name in numbered if name not in taken)


def _choose(
    visit: Visit,
    draft: str,
    seen: TablePreview,
    *,
    typed: dict[str, str],
    ordered: OrderedForm | None = None,
    alert: str | None = None,
    field: str | None = None,
    looked: bool = False,
    **values: Any,
) -> Response:
    """The form for a table, with what was typed, and beside each field what is wrong with it."""
    error = "" if alert is None else order_form.place_of(field or "", seen.names)
    view = task = None
    if ordered is not None:
        task = ordered.order.tasks[0]
        view = question_view(ordered.order.content, (), task.payload)
    return visit.page(
        "dashboard/order.html",
        alert=alert,
        choices=part_choices(typed),
        parts_chosen=any(typed.get(field) for field in PARTS),
        wrong=error,
        draft=draft,
        seen=seen,
        typed=typed,
        roles=order_form.ROLES,
        most_columns=order_form.MOST_COLUMNS,
        judges=visit.service.judges.to_json()[: order_form.MOST_JUDGES],
        ordered=ordered,
        looked=looked,
        view=view,
        question={"task": None if task is None else task.id},
        scrolls=scrolls,
        allow={"img-src": f"'self' {view.sources}"} if view is not None and view.sources else None,
        **values,
    )


def _cost(visit: Visit, seen: TablePreview, ordered: OrderedForm | None) -> Response:
    """The part of the page that says what a campaign costs, for a script to swap."""
    return visit.page("dashboard/cost.html", seen=seen, ordered=ordered)


def _new(
    visit: Visit,
    typed: dict[str, str],
    *,
    spec: Spec | None = None,
    field: str | None = None,
    **values: Any,
) -> Response:
    """The forms for a file and for TOML; of a ``spec``, also what its workers would see.

    ``field`` is what an alert is about: "file", or something in the TOML, whose line is named.
    """
    view = task = None
    if spec is not None:
        task = spec.problem.tasks[0] if spec.problem.tasks else None
        payload = None if task is None else task.payload
        view = question_view(spec.content, spec.problem.options, payload)
    return visit.page(
        "dashboard/new.html",
        typed=typed,
        advanced=spec is not None or ("alert" in values and field != "file"),
        line=line_of(typed.get("toml", ""), field or ""),
        **first_step(visit),
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
    options = options_of_text(given.pop("options"))
    made: dict[str, Any] = {name: words for name, words in given.items() if words}
    made.setdefault("question", "")
    if options:
        made["options"] = options
    elif campaign.get("options") is not None:
        made["options"] = campaign["options"]
    elif (outcome := campaign.get("outcome")) is not None:
        ends = outcome if isinstance(outcome, dict) else {}
        made["range"] = [ends.get("low", 0), ends.get("high", 1)]
    return made
