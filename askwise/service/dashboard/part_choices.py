"""The parts of a campaign that a form offers: by the catalogue, with what each takes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from askwise.aggregation import aggregation
from askwise.core.catalogue import EntryInfo, ParameterInfo, entries_of
from askwise.core.registry import Registry
from askwise.mechanisms import mechanisms
from askwise.policies import policies
from askwise.service.pages.base import refuse_form
from askwise.stopping import stopping

PARTS: dict[str, tuple[Registry[Any], str, str]] = {
    "policy": (policies, "Policy", "chosen automatically"),
    "stopping": (stopping, "Stopping rule", "none, or what the policy needs"),
    "aggregation": (aggregation, "Aggregation", "what suits the policy"),
    "mechanism": (mechanisms, "Prices", "those above"),
}
"""The parts by their field: what there is, what it is called, what leaving it out means."""


@dataclass(frozen=True)
class ParameterField:
    """A parameter as a field of a form."""

    name: str
    label: str
    hint: str
    words: tuple[str, ...]
    """What may be chosen, where that is a list."""
    default: str


@dataclass(frozen=True)
class PartChoice:
    """A part, what there is to choose from, and what the chosen one takes."""

    field: str
    label: str
    otherwise: str
    entries: list[EntryInfo]
    chosen: EntryInfo | None
    parameters: list[ParameterField]


def part_choices(typed: Mapping[str, str]) -> list[PartChoice]:
    """What the form offers, with the parameters of what was chosen."""
    found = []
    for field, (registry, label, otherwise) in PARTS.items():
        entries = _entries(registry)
        chosen = next((each for each in entries if each.name == typed.get(field)), None)
        parameters = [] if chosen is None else chosen.parameters
        shown = [_field_of(field, each) for each in parameters]
        found.append(PartChoice(field, label, otherwise, entries, chosen, shown))
    return found


def chosen_parts(typed: Mapping[str, str]) -> dict[str, Any]:
    """The parts that were chosen, as ``POST /campaigns`` takes them.

    A parameter that was left empty is left out.
    """
    made: dict[str, Any] = {}
    for field, (registry, label, _) in PARTS.items():
        name = typed.get(field, "").strip()
        if not name:
            continue
        entry = next((each for each in _entries(registry) if each.name == name), None)
        if entry is None:
            raise refuse_form(f"there is no {label.lower()} {name[:40]!r}: choose again", "parts")
        values = {}
        for each in entry.parameters:
            if text := typed.get(f"{field}.{each.name}", "").strip():
                values[each.name] = _value(text)
        made[field] = {"name": name, **values} if values else name
    return made


@cache
def _entries(registry: Registry[Any]) -> list[EntryInfo]:
    """Those that work on options, which is what the form asks about."""
    return [each for each in entries_of(registry) if "options" in (each.outcomes or ("options",))]


def _field_of(part: str, parameter: ParameterInfo) -> ParameterField:
    schema = parameter.schema
    words = schema.get("enum") or (["true", "false"] if schema.get("type") == "boolean" else [])
    limits = [
        f"{word} {schema[key]:g}"
        for key, word in (
            ("minimum", "from"),
            ("exclusiveMinimum", "above"),
            ("maximum", "up to"),
            ("exclusiveMaximum", "below"),
        )
        if isinstance(schema.get(key), int | float)
    ]
    said = " ".join(parameter.description.split()).rstrip(".")
    hint = f"{said} ({', '.join(limits)})." if limits else f"{said}."
    default = "" if parameter.default is None else json.dumps(parameter.default).strip('"')
    label = parameter.name.replace("_", " ")
    name = f"{part}.{parameter.name}"
    return ParameterField(name, label, hint, tuple(map(str, words)), default)


def _value(text: str) -> Any:
    """What was typed: JSON where it is such (numbers, lists, true), and else the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
