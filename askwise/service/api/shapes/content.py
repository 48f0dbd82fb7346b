"""The content of a question, as the description of the API has it.

A body is not checked by it: :class:`askwise.core.content.Content` does that and names the field.
"""

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from askwise.core.content import SIDES
from askwise.core.parts import SHOWS

_NAME = {"type": "string", "minLength": 1, "maxLength": 200}
_TEXT = {"type": "string"}


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _said(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {**schema, "description": description}


OPTION = _object(
    ["name"],
    name=_said(_NAME, "What the campaign calls it; answers have this name."),
    label=_said(_NAME, "What is shown; the name if not given."),
    meaning=_said(_TEXT, "When to choose it."),
    side=_said({"enum": [*SIDES]}, "Which side of a pair it names."),
)
FIELD = _object(
    ["name"],
    name=_said(_NAME, "Its name in the payload."),
    show=_said({"enum": [*SHOWS], "default": "text"}, "How it is shown."),
    label=_said(_TEXT, "What is written before it."),
    second=_said(_NAME, "For a pair: the name of its second side."),
    alt=_said(_NAME, "For an image: the name of the field that describes it in words."),
    optional=_said({"type": "boolean", "default": False}, "Whether it may be missing."),
)
EXAMPLE = _object(
    ["payload", "answer"],
    payload=_said({}, "The payload of a task."),
    answer=_said({"type": ["string", "number"]}, "The right answer."),
    why=_said(_TEXT, "Why it is right."),
)
CONTENT = _object(
    ["question"],
    question=_said(_TEXT, "What is asked about every task."),
    options=_said(
        {"type": "array", "items": {"anyOf": [_NAME, OPTION]}},
        "The possible answers. Exactly one of `options` and `range`.",
    ),
    range=_said(
        {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
        "The ends of an answer that is a number.",
    ),
    title=_said(_TEXT, "What the campaign is about, in a few words."),
    instructions=_said(_TEXT, "How to judge, in Markdown."),
    currency=_said({"type": "string", "maxLength": 10}, "What prices are in, as `EUR`."),
    fields=_said(
        {"type": "array", "items": {"anyOf": [_NAME, FIELD]}},
        "Which parts of a payload are shown, in this order.",
    ),
    examples=_said({"type": "array", "items": EXAMPLE}, "Tasks whose right answer is known."),
)

ContentBody = Annotated[
    dict[Annotated[str, Field(max_length=100)], Any],
    WithJsonSchema({**CONTENT, "title": "Content"}),
]
"""What workers are asked and shown."""
