"""What fields hold: names, ids, money, answers; and what requests and replies have in common."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Path
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    WithJsonSchema,
)

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
AMOUNT = r"^[0-9]{1,20}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,2})?$"


def _in_path(pattern: str, description: str, example: str) -> Any:
    return Path(pattern=pattern, description=description, examples=[example])


Name = Annotated[str, _in_path(NAME, "The campaign.", "cats")]
AssignmentId = Annotated[
    str,
    _in_path(NAME[:-1] + ":[1-9][0-9]{0,17}$", "The assignment: campaign and number.", "cats:12"),
]
KeyId = Annotated[str, _in_path("^[0-9a-f]{16,64}$", "The id, as in the list.", "0f1e2d3c4b5a6978")]
HookId = Annotated[
    str, _in_path("^[0-9a-f]{16}$", "The hook's id, as in the list.", "0f1e2d3c4b5a6978")
]
DeliveryId = Annotated[
    str,
    _in_path("^[0-9a-f]{22}$", "The delivery's id, as in the list.", "0006439f3a2b1c0f1e2d3c"),
]

Money = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]*)(\.[0-9]{1,6})?$", examples=["0.05"])]
"""In replies: exact, so a string."""

Id = Annotated[str, Field(min_length=1, max_length=200)]


def _amount(value: object) -> str | int | float:
    if isinstance(value, str) and re.fullmatch(AMOUNT, value):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1e9:
        return value
    raise ValueError('give an amount of money of 0 or more, as a string ("0.05") or a number')


Amount = Annotated[
    str | int | float,
    PlainValidator(_amount),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": AMOUNT},
                {"type": "number", "minimum": 0, "maximum": 1e9},
            ],
            "examples": ["0.05"],
        }
    ),
]
"""In requests: a string is exact, a number is taken as it is written; six decimals at the most."""


def _given(value: object) -> str | float:
    if isinstance(value, str) and len(value) <= 200:
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e300:
        return float(value)
    raise ValueError("give an option (a string), or a number")


Given = Annotated[
    str | float,
    PlainValidator(_given),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "maxLength": 200},
                {"type": "number", "minimum": -1e300, "maximum": 1e300},
            ]
        }
    ),
]


def _whole(value: object) -> object:
    # 2.0 is a whole number in JSON.
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = BeforeValidator(_whole)
Real = Annotated[float, Field(ge=-1e300, le=1e300)]


def _kind(value: object) -> str | None:
    if isinstance(value, str):
        return "(name)"
    return "(object)" if isinstance(value, dict | BaseModel) else None


NameOrObject = Discriminator(
    _kind, custom_error_type="kind", custom_error_message="Give a name, or an object"
)


def _parameter(value: object) -> object:
    if isinstance(value, str) and len(value) > 200:
        raise ValueError("a text may have up to 200 characters here")
    return value


Parameter = Annotated[
    Any,
    PlainValidator(_parameter),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "maxLength": 200},
                {"type": ["number", "boolean", "null", "array", "object"]},
            ]
        }
    ),
]

Part = Annotated[
    Annotated[str, Field(min_length=1, max_length=100), Tag("(name)")]
    | Annotated[dict[Annotated[str, Field(max_length=100)], Parameter], Tag("(object)")],
    NameOrObject,
]
"""A policy, rule, aggregator or mechanism: its name, or an object with name and parameters."""


class Body(BaseModel):
    """A request: no unknown fields, no guessing of types."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


def example(body: dict[str, Any]) -> ConfigDict:
    """Show how a request looks."""
    return ConfigDict(json_schema_extra={"examples": [body]})


class Shape(BaseModel):
    """A reply: nothing in it that is not described."""

    model_config = ConfigDict(extra="forbid")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # Clients hold the names in the OpenAPI description: there, an AnswerShape is an Answer.
        cls.__name__ = cls.__qualname__ = cls.__name__.removesuffix("Shape")
        super().__init_subclass__(**kwargs)
