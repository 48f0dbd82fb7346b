"""The schemas of the reference are what the code gives, and say what every property means."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from docs.schemas import PUBLISHED, REFERENCE, written
from tests.schemas import NAMES, schema, undescribed


def test_every_schema_is_written_from_the_code() -> None:
    assert sorted(PUBLISHED) == NAMES


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_file_is_what_the_code_gives(name: str) -> None:
    kept = (REFERENCE / f"{name}.schema.json").read_text(encoding="utf-8")
    assert kept == written(name), "run: python -m docs.schemas"


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_property_is_described(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))
    assert list(undescribed(schema(name))) == []
