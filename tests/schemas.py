"""The published JSON schemas, and what they find wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from tests.paths import REFERENCE

NAMES = sorted(path.name.removesuffix(".schema.json") for path in REFERENCE.glob("*.schema.json"))


@cache
def schema(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((REFERENCE / f"{name}.schema.json").read_text())
    return read


@cache
def _validator(name: str) -> Any:
    return Draft202012Validator(schema(name))


def faults(name: str, value: Any) -> list[str]:
    return [error.message for error in _validator(name).iter_errors(value)]


def undescribed(part: Any, place: str = "#") -> Iterator[str]:
    """The properties of a schema that nothing is said of."""
    if isinstance(part, list):
        for at, each in enumerate(part):
            yield from undescribed(each, f"{place}/{at}")
    if not isinstance(part, dict):
        return
    for name, each in part.items():
        if name == "properties" and isinstance(each, dict):
            for field, told in each.items():
                if not (isinstance(told, dict) and told.get("description")):
                    yield f"{place}/properties/{field}"
        if name not in ("examples", "example", "default"):
            yield from undescribed(each, f"{place}/{name}")
