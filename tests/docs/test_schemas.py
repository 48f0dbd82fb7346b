"""The schemas of the reference are what the code gives, and say what every property means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from docs.schemas import PUBLISHED, REFERENCE, written
from tests.schemas import schema


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_file_is_what_the_code_gives(name: str) -> None:
    kept = (REFERENCE / f"{name}.schema.json").read_text(encoding="utf-8")
    assert kept == written(name), "run: python -m docs.schemas"


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_property_is_described(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))
    assert list(undescribed(schema(name))) == []


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
