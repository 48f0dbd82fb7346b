"""The shapes of replies are those of the views that they tell."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from jsonschema import Draft202012Validator

from askwise.core.content import Content, Example, Option
from askwise.core.content import Field as ContentField
from askwise.core.jsonable import Jsonable
from askwise.core.schemas import SchemaMaker
from askwise.service.api.shapes.content import CONTENT, EXAMPLE, FIELD, OPTION
from askwise.service.api.shapes.replies import page_of, said, shape_of
from tests.paths import DOCS


@dataclass(frozen=True)
class Cup(Jsonable):
    """What tea is in.

    Attributes
    ----------
    size : "small" or "large"
        How large it is; None if it is gone.
    """

    size: Literal["small", "large"]


def schema_of(kind: Any) -> dict[str, Any]:
    maker = SchemaMaker()
    return maker.document(maker.of(kind))


def test_a_shape_takes_what_its_views_write_and_what_it_adds() -> None:
    colour = said(str, "Of the cup.")
    schema = schema_of(shape_of("Mug", "A mug.", Cup, optional=("size",), colour=colour))
    assert schema["description"] == "A mug."
    assert schema["properties"]["size"]["enum"] == ["small", "large"]
    assert schema["properties"]["size"]["description"] == "How large it is; null if it is gone."
    assert schema["properties"]["colour"] == {"type": "string", "description": "Of the cup."}
    assert schema["required"] == ["colour"]


def test_a_shape_of_a_shape_keeps_what_may_be_missing() -> None:
    mug = shape_of("Mug", "A mug.", Cup, optional=("size",))
    assert schema_of(shape_of("Set", "A set.", mug, count=said(int, "How many.")))["required"] == [
        "count"
    ]


def test_a_page_has_items_and_where_the_next_begins() -> None:
    schema = schema_of(page_of("Cups", Cup))
    assert schema["description"] == "A page of cups."
    assert schema["required"] == ["next", "items"]
    assert schema["properties"]["items"]["items"] == {"$ref": "#/$defs/Cup"}


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
    assert {name: described[name] for name in CONTENT} == CONTENT
    assert set(described) - set(CONTENT) == {"description", "examples"}
