"""Forms of an answer: four ways to have a model answer so that a program can read it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from askwise.core.content import Content

FormName = Literal["json_schema", "tool", "token", "pattern"]

TOOL = "answer"
MOST_TOKEN_OPTIONS = 9
"""Options that a token tells apart: their numbers have one digit."""

_DECORATION = " \t\"'`*_."


@dataclass(frozen=True, slots=True)
class Choices:
    """What may be answered: labels, as they are shown, or a range of numbers."""

    labels: tuple[str, ...]
    range: tuple[float, float] | None = None

    @classmethod
    def of(cls, content: Content) -> Choices:
        """The choices of a question."""
        return cls(tuple(option.label for option in content.options), content.range)

    def schema(self) -> dict[str, Any]:
        """As JSON schema."""
        if self.range is not None:
            return {"type": "number", "minimum": self.range[0], "maximum": self.range[1]}
        return {"type": "string", "enum": list(self.labels)}

    def words(self) -> str:
        """For people and models."""
        if self.range is not None:
            return f"a number from {self.range[0]:g} to {self.range[1]:g}"
        return "one of " + ", ".join(json.dumps(each, ensure_ascii=False) for each in self.labels)

    def read(self, said: object) -> int | float | None:
        """The place of a label, or the number; None for anything else."""
        if self.range is None:
            if not isinstance(said, str):
                return None
            folded = [label.casefold() for label in self.labels]
            for text in (said.strip(), said.strip(_DECORATION)):
                if text.casefold() in folded:
                    return folded.index(text.casefold())
            return None
        if isinstance(said, str):
            try:
                said = float(said.strip(_DECORATION))
            except ValueError:
                return None
        if isinstance(said, bool) or not isinstance(said, int | float):
            return None
        return float(said) if self.range[0] <= said <= self.range[1] else None


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """What a model said: the choice (None if it is none), its reasons, where the choice stands."""

    choice: int | float | None
    rationale: str | None = None
    text: str = ""
    start: int = -1
    """Where in ``text`` the choice begins; -1 if that is not known."""
    as_asked: bool = True
    """Whether it has the form that was asked for."""


def request_of(form: FormName, choices: Choices, rationale: bool, top: int) -> dict[str, Any]:
    """What a request says besides its messages, so that the reply has a form.

    ``top`` is the number of likely tokens to tell at each place; 0 for none.
    """
    more: dict[str, Any] = {}
    if top and form != "tool":
        more = {"logprobs": True, "top_logprobs": top}
    if form == "json_schema":
        schema = {"name": TOOL, "strict": True, "schema": _schema(choices, rationale)}
        more["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif form == "tool":
        function = {
            "name": TOOL,
            "description": "Give the answer.",
            "parameters": _schema(choices, rationale),
            "strict": True,
        }
        more["tools"] = [{"type": "function", "function": function}]
        more["tool_choice"] = {"type": "function", "function": {"name": TOOL}}
    return more


def instruction_of(form: FormName, choices: Choices, rationale: bool) -> str:
    """The last words of a prompt: how to answer."""
    first = "first your reasons in one or two sentences, " if rationale else ""
    if form == "json_schema":
        keys = '"rationale" (one or two sentences) and "answer"' if rationale else '"answer"'
        return f"Reply with a JSON object with {keys}. The answer is {choices.words()}."
    if form == "tool":
        return f"Call the function {TOOL!r}. The answer is {choices.words()}."
    if form == "token":
        return "Reply with the number of the option, and nothing else."
    return (
        f"Reply with {first or 'one line: '}{'then a last line: ' if rationale else ''}"
        f"Answer: X, where X is {choices.words()}."
    )


def usable(form: FormName, choices: Choices, rationale: bool) -> bool:
    """Whether a question can be answered in a form."""
    if form != "token":
        return True
    return not rationale and 0 < len(choices.labels) <= MOST_TOKEN_OPTIONS


def read(form: FormName, message: Mapping[str, Any], choices: Choices) -> ReadAnswer:
    """Read what a model said; if it is not in the form, then by the pattern."""
    text = _THOUGHTS.sub("", _text_of(message.get("content")), count=1)
    if form == "tool":
        arguments = _arguments(message)
        if arguments is not None:
            found = _of_json(arguments, choices)
            if found is not None:
                return found
    elif form == "token":
        digits = text.strip().strip(_DECORATION)
        if digits.isascii() and digits.isdigit() and 1 <= int(digits) <= len(choices.labels):
            return ReadAnswer(int(digits) - 1, None, text, text.index(digits))
    if form in ("json_schema", "tool"):
        found = _of_json(text, choices)
        if found is not None:
            return found
    found = _of_pattern(text, choices)
    return found if form == "pattern" else _otherwise(found)


def _text_of(content: object) -> str:
    """The text of a message, which may come in parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _otherwise(said: ReadAnswer) -> ReadAnswer:
    return ReadAnswer(said.choice, said.rationale, said.text, said.start, as_asked=False)


def _schema(choices: Choices, rationale: bool) -> dict[str, Any]:
    # Reasons stand first: what is written before the answer can still change it.
    properties: dict[str, Any] = {"rationale": {"type": "string"}} if rationale else {}
    properties["answer"] = choices.schema()
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _arguments(message: Mapping[str, Any]) -> str | None:
    calls = message.get("tool_calls")
    if not isinstance(calls, Sequence) or len(calls) != 1 or not isinstance(calls[0], Mapping):
        return None
    function = calls[0].get("function")
    arguments = function.get("arguments") if isinstance(function, Mapping) else None
    return arguments if isinstance(arguments, str) else None


def _of_json(text: str, choices: Choices) -> ReadAnswer | None:
    """An object with an answer, fenced or not; None for any other text."""
    fence = _FENCE.fullmatch(text)
    try:
        raw = json.loads(text if fence is None else fence[1])
    except (ValueError, RecursionError):
        return None
    if not isinstance(raw, dict) or "answer" not in raw:
        return None
    rationale = raw.get("rationale")
    at = re.search(r'"answer"\s*:\s*"?', text)
    return ReadAnswer(
        choices.read(raw["answer"]),
        rationale if isinstance(rationale, str) else None,
        text,
        -1 if at is None or text.count('"answer"') != 1 else at.end(),
    )


_THOUGHTS: Final = re.compile(r"\A\s*<think>.*?</think>\s*", re.S)
"""What some models that reason write before their answer."""

_FENCE: Final = re.compile(r"\s*```(?:json)?\s*(.*?)\s*```\s*", re.S | re.I)
_ANSWER: Final = re.compile(r"[*_`\s]*answer[*_`\s]*:\s*(.+)", re.I)


def _of_pattern(text: str, choices: Choices) -> ReadAnswer:
    """The last line, with or without ``Answer:``, is a choice and nothing else."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return ReadAnswer(None, None, text)
    last = lines[-1]
    match = _ANSWER.fullmatch(last)
    if match is None and len(lines) > 1:
        return ReadAnswer(None, None, text)
    said = last if match is None else match[1]
    before = "\n".join(lines[:-1]).strip()
    choice = choices.read(said)
    start = text.rindex(last) + (0 if match is None else match.start(1))
    start += len(said) - len(said.lstrip(_DECORATION))
    return ReadAnswer(choice, before or None, text, start)


def probabilities_of(
    said: ReadAnswer, logprobs: object, texts: Sequence[str]
) -> tuple[float, ...] | None:
    """Probabilities of the choices, from those of the tokens where the choice begins.

    Parameters
    ----------
    said : ReadAnswer
        What was said, and where in it the choice begins.
    logprobs : JSON value
        What the reply says of its tokens.
    texts : sequence of str
        How each choice is written.

    Returns
    -------
    tuple of float or None
        They sum to 1; a choice that was not among the likeliest tokens has 0. None where tokens are
        not told, or where one begins more than one choice.
    """
    bare = [text.strip(_DECORATION).casefold() for text in texts]
    token = _token_at(said.text, said.start, logprobs) if said.start >= 0 else None
    if token is None or not all(bare):
        return None
    before, likely = token
    mass = [0.0] * len(bare)
    for written, probability in likely:
        # Quotes and blanks before the choice may be part of its token, and of its rivals'.
        begun = written.removeprefix(before).lstrip(_DECORATION).casefold()
        fits = [at for at, text in enumerate(bare) if begun and _begins(text, begun)]
        if len(fits) > 1:
            return None
        for at in fits:
            mass[at] += probability
    total = sum(mass)
    return tuple(each / total for each in mass) if total > 0 else None


def _begins(text: str, token: str) -> bool:
    """Whether a token begins a text, or holds all of it and what follows."""
    return text.startswith(token) or (token.startswith(text) and not token[len(text)].isalnum())


def _token_at(
    text: str, start: int, logprobs: object
) -> tuple[str, list[tuple[str, float]]] | None:
    """The token that has a place of a text: what it has before that place, and its rivals."""
    tokens = list(_tokens(logprobs))
    at = _beginning("".join(str(token["token"]) for token in tokens), text, start)
    if at is None:
        return None
    for token in tokens:
        written = str(token["token"])
        if at <= start < at + len(written):
            rivals = token.get("top_logprobs")
            rivals = rivals if isinstance(rivals, list) else []
            likely = [
                (str(each["token"]), math.exp(min(0.0, float(each["logprob"]))))
                for each in rivals
                if isinstance(each, Mapping) and _weighed(each)
            ]
            return written[: start - at], likely
        at += len(written)
    return None


def _beginning(written: str, text: str, start: int) -> int | None:
    """Where in a text its tokens begin, which write more than the text if that is below 0.

    They need agree up to the place that matters. Some servers take a fence off the text and tell of
    its tokens all the same. None where the two do not fit.
    """
    if written[: start + 1] == text[: start + 1]:
        return 0
    return -written.index(text) if written.count(text) == 1 else None


def _tokens(logprobs: object) -> Iterator[Mapping[str, Any]]:
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    for token in content if isinstance(content, list) else ():
        if not isinstance(token, Mapping) or not isinstance(token.get("token"), str):
            return
        yield token


def _weighed(token: Mapping[str, Any]) -> bool:
    weight = token.get("logprob")
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        return False
    return isinstance(token.get("token"), str) and not math.isnan(weight)
