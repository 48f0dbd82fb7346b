"""Tasks that a requester pastes: ids, JSON objects, or a table whose columns they choose."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from askwise.campaign import Campaign
from askwise.data.items import read_items
from askwise.data.table_preview import TablePreview, looks_like_table, preview_table
from askwise.data.tables import HeldFile
from askwise.service.api.shapes import creation
from askwise.service.dashboard import order_form
from askwise.service.dashboard.visit import Form
from askwise.service.errors import bad_shape
from askwise.service.pages.base import refuse_form
from askwise.service.routing.bodies import read_json

MOST_TASKS = 10_000
"""Tasks added by one form; the API takes more."""

PASTED = "tasks.csv"
"""What messages call a table that was pasted."""


@dataclass(frozen=True)
class PastedTable:
    """A table that was pasted, to be looked at before anything is added."""

    seen: TablePreview
    roles: Mapping[str, str]


def add_tasks(campaign: Campaign, form: Form) -> PastedTable | None:
    """Add what was pasted; a table is handed back until its columns are chosen."""
    text = form.text("tasks", longest=2**24)
    how = form.one_of("how", ("lines", "table"))
    if how == "table" or (how is None and looks_like_table(text)):
        file = HeldFile(PASTED, text.encode("utf-8", "surrogatepass"))
        if how is None:
            return _looked_at(campaign, file, {})
        _add_table(campaign, file, form)
    else:
        campaign.add(tasks=_lines(text), key=form.key)
    return None


def pasted_again(campaign: Campaign, typed: Mapping[str, str]) -> PastedTable | None:
    """The table that was refused, with the columns as they were chosen."""
    if typed.get("how") != "table":
        return None
    return _looked_at(campaign, HeldFile(PASTED, typed.get("tasks", "").encode()), typed)


def _looked_at(campaign: Campaign, file: HeldFile, typed: Mapping[str, str]) -> PastedTable:
    seen = preview_table(file)
    content = campaign.content
    shown = [] if content is None else [field.name for field in content.fields]
    return PastedTable(seen, {**order_form.guessed_roles(seen, shown), **typed})


def _add_table(campaign: Campaign, file: HeldFile, form: Form) -> None:
    seen = preview_table(file)
    with campaign.reading() as state:
        options = tuple(state.spec.problem.options)
    columns = order_form.chosen_columns(seen.names, form.fields)
    items = read_items(file, options=options, **columns)
    _refuse_many(len(items))
    campaign.add(tasks=items.tasks(campaign.content), key=form.key)
    campaign.truths(items.truths)


def _lines(text: str) -> list[Any]:
    """One task a line: an id, or a JSON object with an id, a payload and so on."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    _refuse_many(len(lines))
    found: list[Any] = []
    for at, line in enumerate(lines, 1):
        if not line.startswith("{"):
            found.append(line)
            continue
        try:
            raw = read_json(line.encode())
            found.append(creation.TaskBody.model_validate(raw).model_dump(exclude_unset=True))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise refuse_form(f"line {at}: {bad_shape(first, 'form')}") from None
        except ValueError as error:
            raise refuse_form(f"line {at} is not JSON: {error}") from None
    return found


def _refuse_many(count: int) -> None:
    if count > MOST_TASKS:
        raise refuse_form(
            f"these are {count} tasks: add up to {MOST_TASKS} at a time here, or use the API"
        )
