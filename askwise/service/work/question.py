"""A question as its page shows it: to the worker who is asked, and to a requester beforehand."""

import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from askwise.core.content import Content, Example
from askwise.core.errors import InvalidProblem
from askwise.core.parts import whole_payload
from askwise.service.pages.markdown import markdown
from askwise.service.work.payload import ShownPart, shown, sources

SKIP = "s"
KEYS = string.digits[1:] + string.ascii_lowercase.replace(SKIP, "")
"""What answers by a key: the first option by 1, the tenth by a."""


@dataclass(frozen=True)
class OptionButton:
    """An option as a button: the name that it sends, what is read on it, the key that presses it.

    There are keys for the first options only.
    """

    name: str
    label: str
    meaning: str
    key: str


@dataclass(frozen=True)
class ShownExample:
    """A task with its right answer."""

    parts: list[ShownPart]
    answer: str
    why: str


@dataclass(frozen=True)
class QuestionView:
    """All that the page of a question shows of its content and its task.

    ``parts`` is None where the content can't show the task. ``sources`` is where images are loaded
    from, as a content policy names it.
    """

    title: str
    asked: str
    instructions: Markup
    currency: str
    parts: list[ShownPart] | None
    options: list[OptionButton]
    examples: list[ShownExample]
    sources: str


def question_view(
    content: Content | None, options: Sequence[str], payload: Any, *, swapped: bool = False
) -> QuestionView:
    """Put a question together; without content it is the payload and the options' names."""
    if content is None:
        parts = [shown(part) for part in whole_payload(payload)]
        buttons = _buttons([(name, name, "") for name in options])
        return QuestionView("", "", Markup(), "", parts, buttons, [], sources(parts))
    try:
        found = [shown(part) for part in content.parts(payload, swapped=swapped)]
    except InvalidProblem:
        # Of a campaign from before tasks were checked against the content.
        found = None
    examples = [_example(content, example) for example in content.examples]
    every = [*(found or ()), *(part for each in examples for part in each.parts)]
    return QuestionView(
        title=content.title,
        asked=content.question,
        instructions=markdown(content.instructions) if content.instructions.strip() else Markup(),
        currency=content.currency,
        parts=found,
        options=_buttons([(each.name, each.label, each.meaning) for each in content.options]),
        examples=examples,
        sources=sources(every),
    )


def _buttons(options: Sequence[tuple[str, str, str]]) -> list[OptionButton]:
    keys = [*KEYS, *[""] * len(options)]
    return [OptionButton(*each, key) for each, key in zip(options, keys, strict=False)]


def _example(content: Content, example: Example) -> ShownExample:
    labels = {option.name: option.label for option in content.options}
    answer = example.answer if isinstance(example.answer, str) else f"{example.answer:g}"
    parts = [shown(part) for part in content.parts(example.payload)]
    return ShownExample(parts, labels.get(answer, answer), example.why)
