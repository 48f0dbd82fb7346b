"""The published JSON schemas, and what they find wrong."""

from __future__ import annotations

import json
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
