"""Requests to a chat model: the forms of answer that are tried in turn, the body, its size."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from askwise.sources.chat.forms import Choices, FormName, instruction_of, request_of
from askwise.sources.chat.prompts import Prompt

LimitName = Literal["max_tokens", "max_completion_tokens"]
"""What endpoints call the most tokens of a reply."""

TOKENS_A_MESSAGE = 64
"""Tokens that an endpoint may add to a message for its own purposes, and to the whole."""

TOKEN_REPLY = 4
"""Tokens of a reply that is a number: one, and some for blanks."""


class Rung(NamedTuple):
    """A form of answer, and how many likely tokens are asked for at each place of it."""

    form: FormName
    top: int


BYTES_A_TOKEN = 4
"""Bytes of a token, about, in English and with the tokenizers in use; other scripts have fewer."""

_EVERY = (
    *(Rung("json_schema", 20), Rung("json_schema", 5), Rung("json_schema", 0), Rung("tool", 0)),
    *(Rung("token", 20), Rung("token", 5), Rung("pattern", 20), Rung("pattern", 5)),
    Rung("pattern", 0),
)


def ladder(form: FormName | Literal["auto"], *, weighed: bool) -> tuple[Rung, ...]:
    """What is tried in turn; ``weighed`` says that likely tokens may be asked for.

    Examples
    --------
    >>> [rung.form for rung in ladder("auto", weighed=False)]
    ['json_schema', 'tool', 'pattern']
    >>> ladder("token", weighed=True)[-1]
    Rung(form='token', top=0)
    """
    if form == "token":
        return tuple(Rung("token", top) for top in ((20, 5, 0) if weighed else (0,)))
    every = (rung for rung in _EVERY if form in ("auto", rung.form))
    return tuple(rung for rung in every if weighed or rung.top == 0)


@dataclass(frozen=True)
class RequestShape:
    """What all requests of a judge have in common."""

    model: str
    temperature: float | None
    rationale: bool
    parameters: Mapping[str, Any]
    image_tokens: int

    def body(
        self, prompt: Prompt, choices: Choices, rung: Rung, most: int, limit: LimitName
    ) -> dict[str, Any]:
        """The JSON of a request for a reply of at most ``most`` tokens."""
        instruction = instruction_of(rung.form, choices, self.rationale)
        made: dict[str, Any] = {
            "model": self.model,
            "messages": prompt.messages(instruction),
            limit: min(TOKEN_REPLY, most) if rung.form == "token" else most,
        }
        if self.temperature is not None:
            made["temperature"] = self.temperature
        return {
            **made,
            **request_of(rung.form, choices, self.rationale, rung.top),
            **self.parameters,
        }

    def most_input(self, choices: Choices, rungs: Iterable[Rung]) -> int:
        """The most tokens that a prompt can be beside its text: a token has at least one byte.

        Schemas and functions count, as endpoints write them into the prompt.
        """
        empty = Prompt("")
        bodies = [self.body(empty, choices, rung, 1, "max_completion_tokens") for rung in rungs]
        return max(map(size_of, bodies)) + 3 * TOKENS_A_MESSAGE

    def most_tokens(self, prompt: Prompt) -> int:
        """The most tokens that the text of a prompt can be, and its pictures, by their number."""
        return size_of(prompt.text) + self.image_tokens * len(prompt.images)

    def likely_tokens(self, prompt: Prompt, around: int) -> int:
        """About how many tokens a prompt is, with this many bytes around its text."""
        text = around + size_of(prompt.text)
        return text // BYTES_A_TOKEN + self.image_tokens * len(prompt.images)


def size_of(value: Any) -> int:
    """Bytes of a value in a request."""
    return len(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
