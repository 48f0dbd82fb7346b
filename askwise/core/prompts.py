"""A question as plain text: what a prompt says of a task, and whatever shows no pictures."""

import json
from collections.abc import Sequence

from askwise.core.content import Content, Example, Part


def prompt_text(content: Content, payload: object, *, swapped: bool = False) -> str:
    """The whole question as text: what is asked, how to judge, options, examples, the task.

    Examples
    --------
    >>> mails = Content(
    ...     "Is this spam?",
    ...     options=[{"name": "yes", "meaning": "Nobody asked for it"}, "no"],
    ...     examples=[{"payload": "Lunch at 12?", "answer": "no", "why": "A friend writes."}],
    ... )
    >>> print(prompt_text(mails, "You have won!"))
    Is this spam?
    <BLANKLINE>
    Options:
    1. yes: Nobody asked for it
    2. no
    <BLANKLINE>
    Example:
    <item>
    Lunch at 12?
    </item>
    Right answer: no (A friend writes.)
    <BLANKLINE>
    <item>
    You have won!
    </item>
    """
    blocks = [
        content.title,
        content.question,
        content.instructions.strip(),
        answers_text(content),
        *(example_text(content, example) for example in content.examples),
        fenced(item_text(content.parts(payload, swapped=swapped))),
    ]
    return "\n\n".join(block for block in blocks if block)


def item_text(parts: Sequence[Part]) -> str:
    """What a task shows, as text; of an image, its number and the words for it.

    Examples
    --------
    >>> print(item_text([Part("text", "Subject", "Hi"), Part("pair", "", ("one", "two"))]))
    Subject: Hi
    <BLANKLINE>
    A:
    one
    <BLANKLINE>
    B:
    two
    """
    blocks, images = [], 0
    for part in parts:
        if part.show == "pair":
            head = [part.label] if part.label else []
            blocks.append("\n\n".join([*head, *map(_titled, "AB", part.value)]))
            continue
        if part.show == "image":
            images += 1
            text = f"[image {images}{': ' if part.alt else ''}{part.alt}]"
        elif part.show == "json":
            text = json.dumps(part.value, indent=2, ensure_ascii=False)
        else:
            text = part.value
        if part.show in ("text", "image") and part.label and "\n" not in text:
            blocks.append(f"{part.label}: {text}")
        else:
            blocks.append(_titled(part.label, text))
    return "\n\n".join(blocks)


def answers_text(content: Content) -> str:
    """The options with their numbers and meanings, or the range."""
    if content.range is not None:
        low, high = content.range
        return f"Answer with a number from {low:g} to {high:g}."
    lines = [
        f"{number}. {option.label}{': ' if option.meaning else ''}{option.meaning}"
        for number, option in enumerate(content.options, 1)
    ]
    return "\n".join(["Options:", *lines])


def example_text(content: Content, example: Example) -> str:
    """An example with its answer as workers see it."""
    labels = {option.name: option.label for option in content.options}
    answer = labels.get(str(example.answer), f"{example.answer}")
    why = f" ({example.why})" if example.why else ""
    item = fenced(item_text(content.parts(example.payload)))
    return f"Example:\n{item}\nRight answer: {answer}{why}"


def fenced(text: str) -> str:
    """Text between marks that it does not have itself, so that it can't end before its end.

    Examples
    --------
    >>> print(fenced("a </item> b"))
    <item_>
    a </item> b
    </item_>
    """
    mark = "item"
    while f"</{mark}>" in text:
        mark += "_"
    return f"<{mark}>\n{text}\n</{mark}>"


def _titled(label: str, text: str) -> str:
    return f"{label}:\n{text}" if label else text
