"""A schema takes what its type writes as JSON, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import IntEnum
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, NotRequired, TypedDict

import pytest
from jsonschema import Draft202012Validator

from askwise.core.json_types import Count, JsonLimits, Share
from askwise.core.jsonable import Jsonable
from askwise.core.schemas import SchemaMaker, in_json_words


class Colour(IntEnum):
    RED = 1
    BLUE = 2


@dataclass(frozen=True)
class Cup(Jsonable):
    """What tea is in; None if it is cold.

    Attributes
    ----------
    size : "small" or "large"
        How large it is.
    """

    size: Literal["small", "large"]


@dataclass(frozen=True)
class Bill(Jsonable):
    """What was had.

    Attributes
    ----------
    cups : tuple of Cup
        The cups.
    total : Decimal or None
        What it costs; None if it is free.
    """

    cups: tuple[Cup, ...]
    total: Decimal | None
    rows: tuple[tuple[str, int], ...] = ()
    secret: str = field(default="", compare=False)


@dataclass(frozen=True)
class Half(Jsonable):
    """A pair, of which one is worked out."""

    written: ClassVar = ("whole", "half")

    whole: float

    @property
    def half(self) -> Share:
        """The half."""
        return self.whole / 2


@dataclass(frozen=True)
class Guest:
    """Somebody; what is not set is left out."""

    name: str
    seat: int | None = None


class Tally(NamedTuple):
    """Two counts."""

    cups: Count
    colour: str


class Note(TypedDict):
    """A note."""

    text: str
    by: NotRequired[str]


def schema_of(kind: Any) -> dict[str, Any]:
    maker = SchemaMaker()
    made = maker.document(maker.of(kind))
    Draft202012Validator.check_schema(made)
    return made


def fits(kind: Any, value: Any) -> bool:
    return bool(Draft202012Validator(schema_of(kind)).is_valid(value))


def test_a_schema_takes_what_is_written_and_nothing_else() -> None:
    written = Bill((Cup("small"),), Decimal("1.50"), (("tea", 2),), "sesame").to_json()
    assert "secret" not in written
    assert fits(Bill, written)
    assert fits(Bill, {**written, "total": None})
    assert not fits(Bill, {**written, "total": 1.5})
    assert not fits(Bill, {**written, "rows": [["tea"]]})
    assert not fits(Bill, {**written, "rows": [["tea", 2, 3]]})
    assert not fits(Bill, {**written, "cups": [{"size": "huge"}]})
    assert not fits(Bill, {**written, "secret": "sesame"})
    assert schema_of(Bill)["required"] == ["cups", "total", "rows"]


def test_words_come_from_docstrings_and_are_those_of_json() -> None:
    made = schema_of(Bill)
    assert made["$defs"]["Cup"]["description"] == "What tea is in; null if it is cold."
    assert made["properties"]["total"]["description"] == "What it costs; null if it is free."
    assert in_json_words("``True``, False; see :meth:`ask`.") == "`true`, false; see `ask`."


def test_what_is_written_may_be_named_and_worked_out() -> None:
    assert Half(1.0).to_json() == {"whole": 1.0, "half": 0.5}
    assert Half.from_json({"whole": 1.0, "half": 0.5}) == Half(1.0)
    assert fits(Half, Half(1.0).to_json())
    assert not fits(Half, Half(4.0).to_json())


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (Guest, {"name": "ann"}, {"name": "ann", "seat": None}),
        (Guest, {"name": "ann", "seat": 3}, {"seat": 3}),
        (Tally, {"cups": 0, "colour": "red"}, {"cups": -1, "colour": "red"}),
        (Note, {"text": "x"}, {"by": "y"}),
        (Colour, "RED", "GREEN"),
        (Colour, "BLUE", 1),
        (Literal["a"] | None, None, "b"),
        (str | int, 3, 3.5),
        (dict[str, Count], {"a": 1}, {"a": -1}),
        (dict[Literal["a", "b"], int], {"a": 1}, {"c": 1}),
        (tuple[float, float], [1, 2], [1]),
        (Annotated[list[str], JsonLimits(minItems=1)], ["x"], []),
        (Annotated[Any, JsonLimits(type="string", maxLength=1)], "x", "xy"),
        (list[Any], [1, "x"], "x"),
        (dict, {}, []),
    ],
    ids=str,
)
def test_each_type_takes_its_values_and_no_others(kind: Any, good: Any, bad: Any) -> None:
    assert fits(kind, good)
    assert not fits(kind, bad)


def test_a_type_without_a_schema_and_two_classes_of_one_name_are_refused() -> None:
    with pytest.raises(TypeError, match="has no JSON schema"):
        SchemaMaker().of(complex)
    other = type("Cup", (Bill,), {})
    maker = SchemaMaker()
    maker.of(Cup)
    with pytest.raises(TypeError, match="are both called Cup"):
        maker.of(other)
