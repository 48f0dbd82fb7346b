"""The shapes of replies are those of the views that they tell."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import Field

from askwise.core.content import Content, Example, Option
from askwise.core.content import Field as ContentField
from askwise.core.jsonable import Jsonable
from askwise.service.api.shapes.content import CONTENT, EXAMPLE, FIELD, OPTION
from askwise.service.api.shapes.replies import page_of, shape_of
from tests.paths import DOCS


@dataclass(frozen=True)
class Cup(Jsonable):
    """What tea is in; None if it is cold."""

    size: Literal["small", "large"]


@dataclass(frozen=True)
class Bill(Jsonable):
    """What was had."""

    cups: tuple[Cup, ...]
    total: Decimal | None
    rows: tuple[tuple[str, int], ...] = ()
    secret: str = field(default="", compare=False)


def test_a_shape_takes_what_its_view_writes_and_nothing_else() -> None:
    schema = shape_of(Bill).model_json_schema()
    fits = Draft202012Validator(schema).is_valid
    written = Bill((Cup("small"),), Decimal("1.50"), (("tea", 2),), "sesame").to_json()
    assert "secret" not in written
    assert fits(written)
    assert fits({**written, "total": None})
    assert not fits({**written, "total": 1.5})
    assert not fits({**written, "rows": [["tea"]]})
    assert not fits({**written, "cups": [{"size": "huge"}]})
    assert not fits({**written, "secret": "sesame"})
    assert schema["required"] == ["cups", "total", "rows"]


def test_a_shape_says_what_its_view_says_in_the_words_of_json() -> None:
    assert shape_of(Cup).model_json_schema()["description"] == "What tea is in; null if it is cold."


def test_a_shape_may_have_another_name_and_further_fields() -> None:
    more: dict[str, Any] = {"size": Field(description="How large."), "colour": (str, "white")}
    schema = shape_of(Cup, "Mug", "A mug.", **more).model_json_schema()
    assert (schema["title"], schema["description"]) == ("Mug", "A mug.")
    assert schema["properties"]["size"]["description"] == "How large."
    assert schema["properties"]["size"]["enum"] == ["small", "large"]
    assert schema["required"] == ["size"]


def test_a_page_has_items_and_where_the_next_begins() -> None:
    schema = page_of("Bills", Bill).model_json_schema()
    assert schema["description"] == "A page of bills."
    assert schema["required"] == ["next", "items"]


@pytest.mark.parametrize(
    ("schema", "noun"),
    [(CONTENT, Content), (OPTION, Option), (FIELD, ContentField), (EXAMPLE, Example)],
)
def test_the_description_of_content_has_each_of_its_fields(
    schema: dict[str, Any], noun: type
) -> None:
    found = {field.name: field for field in dataclasses.fields(noun)}
    assert set(schema["properties"]) == set(found)
    needed = {name for name, field in found.items() if field.default is dataclasses.MISSING}
    assert set(schema["required"]) == needed


def test_content_that_is_written_fits_its_description() -> None:
    written = Content(
        "Which?",
        options=[Option("a", side="first", meaning="Left"), Option("b", side="second")],
        title="Pairs",
        currency="EUR",
        fields=[ContentField("l", "pair", second="r"), ContentField("i", "image", alt="w")],
        examples=[
            Example({"l": "x", "r": "y", "i": "https://img.example/1"}, "a", "Because."),
        ],
    ).to_json()
    fits = Draft202012Validator(CONTENT).is_valid
    assert fits(written)
    assert fits(Content("How much?", range=(0, 5)).to_json())
    assert not fits({**written, "hint": "?"})


def test_the_schema_of_a_campaign_describes_content_as_the_api_does() -> None:
    schema = json.loads((DOCS / "reference" / "campaign.schema.json").read_text())
    described = schema["properties"]["content"]
    assert {**described, "description": ""} == {**CONTENT, "description": ""}
