"""The schema of a campaign's TOML file: the fields of a request, as a file may give them."""

from __future__ import annotations

from typing import Any

from askwise.core.schemas import Schema, SchemaMaker
from askwise.data.campaigns import FIELDS
from askwise.service.api.shapes.creation import NewCampaign
from askwise.service.api.shapes.requests import AMOUNT

_FILE = {"type": "string", "minLength": 1}

_AMOUNT = {
    "anyOf": [{"type": "string", "pattern": "^[0-9]*\\.?[0-9]+$"}, {"type": "number", "minimum": 0}]
}
"""Money: a string (exact) or a number."""

_NAME = {"type": "string", "description": "Its name."}

_PART = {
    "anyOf": [
        _FILE,
        {
            "type": "object",
            "properties": {"name": _NAME},
            "required": ["name"],
            "additionalProperties": True,
        },
    ]
}
"""A name, or a table with the name and parameters."""

_OUTCOME = {
    "anyOf": [
        {"const": "utility"},
        {
            "type": "object",
            "properties": {
                "kind": {"const": "utility", "description": "Says that answers are numbers."},
                "low": {"type": "number", "description": "The lowest answer; 0 by default."},
                "high": {"type": "number", "description": "The highest answer; 1 by default."},
                "zero": {
                    "type": "number",
                    "description": "What no answer at all is worth; 0 by default. Below `high`.",
                },
            },
            "required": [],
            "additionalProperties": False,
        },
    ]
}


def campaign_schema(maker: SchemaMaker) -> Schema:
    """The schema of a campaign as TOML.

    A file differs from a request: workers and tasks may be in other files, judges are no workers,
    TOML has no null, and the library sets fewer limits than a service.
    """
    whole = _in_toml(NewCampaign.model_json_schema())
    parts, fields = whole["$defs"], whole["properties"]
    for name in ("policy", "stopping", "aggregation", "mechanism"):
        fields[name] = {**_said(fields[name]), **_PART}
    fields["outcome"] = {**_said(fields["outcome"]), **_OUTCOME}
    workers = {"type": "array", "items": {"$ref": f"{maker.place}WorkerBody"}}
    fields["workers"] = {**_said(fields["workers"]), "anyOf": [_FILE, workers]}
    tasks = {key: fields["tasks"][key] for key in ("type", "items")}
    fields["tasks"] = {**_said(fields["tasks"]), "anyOf": [_FILE, tasks]}
    for once in (fields["options"], *(parts[each]["properties"][name] for each, name in _ONCE)):
        once["uniqueItems"] = True
    parts["WorkerBody"]["dependentRequired"] = {"rating_weight": ["rating"]}
    del parts["JudgeBody"], parts["TaskBody"]["properties"]["context"]["maxLength"]
    maker.named |= parts
    return {
        "type": "object",
        "properties": {name: fields[name] for name in FIELDS},
        "required": ["workers"],
        "additionalProperties": False,
        "oneOf": [{"required": ["outcome"]}, {"required": ["options", "tasks"]}],
    }


_ONCE = (("CertifyBody", "by"), ("PilotBody", "workers"))
"""Lists that hold a name once."""


def _said(schema: Schema) -> Schema:
    return {"description": schema["description"]}


def _in_toml(part: Any) -> Any:
    """A schema of a request as one of TOML: no null, no titles, money as the library takes it."""
    if isinstance(part, list):
        return [_in_toml(each) for each in part if each != {"type": "null"}]
    if not isinstance(part, dict):
        return part
    kept = {
        key: _in_toml(value)
        for key, value in part.items()
        if not (key == "title" and isinstance(value, str))
        and not (key == "default" and value is None)
    }
    kinds = kept.get("anyOf", [])
    if any(each.get("pattern") == AMOUNT for each in kinds):
        return {**kept, **_AMOUNT}
    if len(kinds) == 1:
        del kept["anyOf"]
        return {**kinds[0], **kept}
    return kept
