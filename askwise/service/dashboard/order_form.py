"""The form of a new campaign of a table: what was typed, as an order, and where it is wrong."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askwise.campaign.earlier_records import make_spec_in
from askwise.core.money import to_micro
from askwise.core.problem import Worker, as_worker
from askwise.core.screening import ScreeningTerms
from askwise.data.order_costs import OrderCeiling, ceiling_of
from askwise.data.orders import ItemsOrder, options_of_text, people_of_text, read_order
from askwise.data.table_preview import TablePreview
from askwise.data.tables import HeldFile
from askwise.service.dashboard.part_choices import PARTS, chosen_parts
from askwise.service.pages.base import refuse_form
from askwise.service.state import ServiceState

ROLES = {
    "show": "shown to workers",
    "id": "the id",
    "kind": "its kind",
    "truth": "the right answer, where known",
    "": "not used",
}
"""What a column may be."""

MOST_COLUMNS = 40
"""Columns that the form has a choice for; those beyond are not used."""

MOST_JUDGES = 20
"""Judges that the form has a box for."""

MOST_ITEMS = 100_000
"""Items of a campaign that is created in the browser."""

_FIELDS = {
    **{name: name for name in ("name", "title", "question", "options", "instructions")},
    **{name: name for name in ("people", "price", "limit", "budget", "currency", "by", "file")},
    **dict.fromkeys(("text", "kind", "truth", "payload", "tasks", "context"), "columns"),
    **{"target_error": "target", "target": "target", "judges": "people", "workers": "people"},
    **{"confidence": "confidence", "certify": "confidence", "judge": "judges", "id": "people"},
    **{"columns": "columns", "error": "target", "screening": "qualify", "parts": "parts"},
    **{name: name for name in ("qualify", "pass_share", "gold_rate", "warn_below", "pause_below")},
    **dict.fromkeys(PARTS, "parts"),
}
"""The field of the form beside which an error is shown, by the field that it names."""


@dataclass(frozen=True)
class OrderedForm:
    """A form that can be ordered: the campaign's fields, and what it can cost."""

    order: ItemsOrder
    fields: dict[str, Any]
    ceiling: OrderCeiling

    @property
    def end(self) -> str:
        """When the campaign ends and what is not spent, in a sentence."""
        ceiling, order = self.ceiling, self.order
        if order.target_error is not None or "stopping" in self.fields:
            return "Items that become sure sooner get fewer answers, and the rest is not spent."
        if self.fields["policy"] != "auto":
            return "The policy chosen under Advanced decides when the campaign ends."
        if ceiling.budget is not None and ceiling.budget < ceiling.everybody:
            return "The campaign ends when the budget is spent. To end sooner, set a target above."
        return "The campaign ends when everybody has answered every item."


def first_typed(seen: TablePreview) -> dict[str, str]:
    """What the form holds at first: what the table itself suggests."""
    stem = Path(seen.source).stem
    title = stem.replace("_", " ").replace("-", " ").strip().capitalize()
    usual = ScreeningTerms()
    shares = {
        "pass_share": usual.pass_share,
        "gold_rate": usual.rate,
        "warn_below": usual.warn_below,
        "pause_below": usual.pause_below,
    }
    lines = {name: f"{share:.0%}".removesuffix("%") for name, share in shares.items() if share}
    return {"title": title, "qualify": str(usual.qualify), **lines, **guessed_roles(seen)}


def guessed_roles(seen: TablePreview, shown: Sequence[str] = ()) -> dict[str, str]:
    """What each column seems to be; ``shown`` are those that are known to be shown."""
    guessed = {seen.truth: "truth", seen.kind: "kind", seen.text: "show", seen.id: "id"}
    if known := [name for name in shown if name in seen.names]:
        guessed.pop(seen.text, None)
        guessed |= dict.fromkeys(known, "show")
    return {
        f"role-{at}": guessed.get(name, "") for at, name in enumerate(seen.names[:MOST_COLUMNS])
    }


def read_form(
    service: ServiceState, file: HeldFile, names: Sequence[str], typed: Mapping[str, str]
) -> OrderedForm:
    """What was typed, as a campaign; an error names the field of the form (see `place_of`)."""
    columns = chosen_columns(names, typed)
    said = {name: value.replace("\r\n", "\n").strip() for name, value in typed.items()}
    judges = [said[f"judge-{at}"] for at in range(MOST_JUDGES) if said.get(f"judge-{at}")]
    people = people_of_text(said.get("people", ""), said.get("price", ""), said.get("limit", ""))
    if not people and not judges:
        raise refuse_form("name at least one person who answers", field="people")
    target = _percent(said, "target", "the share of labels that may be wrong")
    confidence = _percent(said, "confidence", "how sure the certificate is to be")
    if confidence is not None and target is None:
        raise refuse_form("say what share of the labels may be wrong", field="target")
    by = [name.strip() for name in re.split("[,;\n]", said.get("by", "")) if name.strip()]
    if confidence is not None and not by:
        raise refuse_form("name the people who audit", field="by")
    if confidence is None and by:
        raise refuse_form("say how sure the certificate is to be", field="confidence")
    parts = chosen_parts(said)
    if "policy" in parts and target is not None and confidence is None:
        raise refuse_form(
            "a target is for the policy that is chosen automatically: give no target, or no policy "
            "under Advanced",
            field="target",
        )
    budget = said.get("budget") or None
    if budget is not None:
        to_micro(budget, "budget")
    options = options_of_text(said.get("options", ""))
    if len(options) < 2:
        raise refuse_form("name at least two options, one per line", field="options")
    order = read_order(
        file,
        question=said.get("question"),
        options=options,
        title=said.get("title", ""),
        instructions=said.get("instructions", ""),
        currency=said.get("currency", ""),
        people=people,
        budget=budget,
        target_error=target,
        certify=confidence,
        by=by or None,
        escalate=bool(confidence is not None and said.get("escalate")),
        screening=_screening(said),
        **columns,
    )
    if len(order.items) > MOST_ITEMS:
        raise refuse_form(
            f"these are {len(order.items)} rows: up to {MOST_ITEMS} can be created here; for more, "
            f"run askwise new {file.name}",
            field="columns",
        )
    order.check_workers(judges)
    fields = _plain(order.fields_with([{"judge": each} for each in judges], judges))
    if said.get("name"):
        fields["name"] = said["name"]
    listed = service.judges.resolve(fields["workers"], order.content, order.tasks)
    workers: list[Worker] = [as_worker(each) for each in listed]
    if parts:
        fields |= parts
        # What does not go together is said before anything is created.
        make_spec_in(service.campaigns.store, {**fields, "workers": listed})
    return OrderedForm(order, fields, ceiling_of(order, workers))


def place_of(field: str, names: Sequence[str]) -> str:
    """Where in the form an error about a field is shown; empty if there is no such place.

    ``names`` are the columns of the table: an error may name one of them.

    Examples
    --------
    >>> place_of("options[1].name", ["id", "text"])
    'options'
    >>> place_of("review", ["id", "review"])
    'columns'
    """
    if field in names and field not in ("name", "title", "question", "price", "limit"):
        return "columns"
    if field.startswith("screening."):
        return _SCREENING.get(field.partition(".")[2], "qualify")
    if field.startswith("certify."):
        return {"certify.by": "by", "certify.error": "target", "certify.share": "budget"}.get(
            field, "confidence"
        )
    return _FIELDS.get(re.split(r"[.\[]", field)[0], "")


def chosen_columns(names: Sequence[str], typed: Mapping[str, str]) -> dict[str, Any]:
    """Which columns are what, as :func:`read_order` takes them."""
    chosen: dict[str, list[str]] = {role: [] for role in ROLES}
    for at, name in enumerate(names[:MOST_COLUMNS]):
        role = typed.get(f"role-{at}", "")
        if role not in ROLES:
            raise refuse_form(f"column {name!r} can't be {role!r}: choose again", field="columns")
        chosen[role].append(name)
    for role in ("id", "kind", "truth"):
        if len(chosen[role]) > 1:
            named = " and ".join(map(repr, chosen[role][:2]))
            raise refuse_form(
                f"{named} are both {ROLES[role].partition(',')[0]}: choose one", field="columns"
            )
    if not chosen["show"]:
        raise refuse_form("choose a column that is shown to workers", field="columns")
    single = {role: chosen[role][0] if chosen[role] else None for role in ("id", "kind", "truth")}
    # An empty name has ids made: a column that is called id may be something else.
    return {"text": chosen["show"], **single, "id": single["id"] or ""}


_SCREENING = {"rate": "gold_rate", "pass_share": "pass_share", "qualify": "qualify"}
_SCREENING |= {"warn_below": "warn_below", "pause_below": "pause_below"}
"""The field of the form that each of the terms of screening is read from."""


def _screening(said: Mapping[str, str]) -> dict[str, Any] | None:
    """The terms of screening, if the form wants any; a line that is left empty is not drawn."""
    if not said.get("screen"):
        return None
    text = said.get("qualify", "") or "0"
    if not text.isdecimal() or len(text) > 9:
        raise refuse_form(
            f"the number of gold questions is {text[:20]!r}: give a whole number", field="qualify"
        )
    share = _percent(said, "pass_share", "the share that must be right")
    return {
        "qualify": int(text),
        **({} if share is None else {"pass_share": share}),
        "paid": not said.get("unpaid"),
        "rate": _percent(said, "gold_rate", "the share of gold questions") or 0.0,
        "warn_below": _percent(said, "warn_below", "the line for a warning"),
        "pause_below": _percent(said, "pause_below", "the line for a pause"),
    }


def _percent(said: Mapping[str, str], name: str, what: str) -> float | None:
    text = said.get(name, "").removesuffix("%").strip()
    if not text:
        return None
    try:
        share = float(text) / 100
    except ValueError:
        share = -1.0
    if not 0 < share < 1:
        raise refuse_form(f"{what} is {text[:20]!r}: give a number between 0 and 100", field=name)
    return share


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a campaign as JSON, what is not set left out."""

    def plain(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [plain(each) for each in value]
        return value.to_json() if hasattr(value, "to_json") else value

    return {name: plain(value) for name, value in fields.items() if value is not None}
