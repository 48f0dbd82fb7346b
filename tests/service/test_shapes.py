"""The shapes of replies are those of the views that they tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from jsonschema import Draft202012Validator
from pydantic import Field

from askwise.core.jsonable import Jsonable
from askwise.service.api.shapes.replies import page_of, shape_of


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
