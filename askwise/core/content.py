"""What a question says: the same for a page, a prompt and an export. Validated once."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from askwise.core.errors import InvalidProblem, nearest
from askwise.core.fields import as_name, refuse_unknown
from askwise.core.parts import (
    Field,
    Part,
    expect_name,
    expect_text,
    expect_word,
    given_fields,
    invalid,
    whole_payload,
    within,
)

__all__ = ["Content", "Example", "Field", "Option", "Part"]

Side = Literal["first", "second"]

SIDES: tuple[Side, ...] = get_args(Side)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Option:
    """A possible answer.

    Parameters
    ----------
    name : str
        What the campaign calls it.
    label : str, optional
        What is shown; the name if not given.
    meaning : str, optional
        When to choose it.
    side : "first" or "second", optional
        Which side of a pair it names. Where the sides are shown in the other order, so are the
        options that name them.

    Examples
    --------
    >>> Option("spam", meaning="Advertising that nobody asked for").label
    'spam'
    """

    name: str
    label: str = ""
    meaning: str = ""
    side: Side | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", as_name(self.name))
        expect_name(self.name, "name of an option")
        object.__setattr__(self, "label", self.label or self.name)
        expect_name(self.label, f"label of option {self.name!r}")
        expect_text(self.meaning, f"meaning of option {self.name!r}")
        if self.side is not None:
            expect_word(self.side, f"side of option {self.name!r}", SIDES)

    def to_json(self) -> dict[str, Any]:
        """As JSON, what is not set left out."""
        return given_fields(self, label=self.name)


@dataclass(frozen=True, slots=True)
class Example:
    """A task with the answer that is right, and why."""

    payload: Any
    answer: str | float
    why: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.answer, bool) or not isinstance(self.answer, str | int | float):
            raise invalid("answer of an example", self.answer, "give an option or a number")
        expect_text(self.why, "why of an example")

    def to_json(self) -> dict[str, Any]:
        """As JSON, what is not set left out."""
        return given_fields(self)


@dataclass(frozen=True, slots=True)
class Content:
    """What workers are asked and shown, people and models alike.

    Parameters
    ----------
    question : str
        What is asked about every task.
    options : sequence of Option, mapping or str
        The possible answers. Exactly one of ``options`` and ``range``.
    range : (float, float), optional
        The ends of an answer that is a number.
    title : str, optional
        What the campaign is about, in a few words.
    instructions : str, optional
        How to judge, in Markdown.
    currency : str, optional
        Currency of the prices, such as ``"EUR"``.
    fields : sequence of Field, mapping or str, optional
        Which parts of a payload are shown, in this order. Without any, the whole payload is shown:
        text as it is, an object by its ``text``, ``image`` (with ``alt``) and ``html``, whatever
        else there is as JSON.
    examples : sequence of Example or mapping, optional
        Tasks whose right answer is known.

    Examples
    --------
    >>> mails = Content("Is this spam?", options=["no", "yes"], fields=["subject"])
    >>> mails.parts({"subject": "You have won"})
    [Part(show='text', label='', value='You have won', alt='')]
    >>> Content.from_json(mails.to_json()) == mails
    True
    """

    question: str
    options: tuple[Option, ...] = ()
    range: tuple[float, float] | None = None
    title: str = ""
    instructions: str = ""
    currency: str = ""
    fields: tuple[Field, ...] = ()
    examples: tuple[Example, ...] = ()

    if TYPE_CHECKING:

        def __init__(
            self,
            question: str,
            options: Iterable[Option | Mapping[str, Any] | str] = (),
            range: Sequence[float] | None = None,
            title: str = "",
            instructions: str = "",
            currency: str = "",
            fields: Iterable[Field | Mapping[str, Any] | str] = (),
            examples: Iterable[Example | Mapping[str, Any]] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        for name in ("question", "title", "instructions", "currency"):
            expect_text(getattr(self, name), name)
        if not self.question.strip():
            raise invalid("question", self.question, "say what is asked")
        if len(self.currency) > 10 or not self.currency.isprintable():
            raise invalid("currency", self.currency, "give its code, such as 'EUR'")
        for name, noun, short in (
            ("options", Option, "name"),
            ("fields", Field, "name"),
            ("examples", Example, None),
        ):
            made = tuple(
                _made(noun, raw, f"{name}[{at}]", short)
                for at, raw in enumerate(_listed(getattr(self, name), name))
            )
            object.__setattr__(self, name, made)
        self._check_answers()
        self._check_sides()
        _check_different([field.name for field in self.fields], "fields", "name")
        for at, example in enumerate(self.examples):
            self._check_example(example, f"examples[{at}]")

    @classmethod
    def from_json(cls, raw: object) -> Content:
        """Read what ``to_json`` wrote, or what a user did."""
        return _made(cls, raw, "content", None)

    def to_json(self) -> dict[str, Any]:
        """As JSON, what is not set left out."""
        return {
            name: [each.to_json() if hasattr(each, "to_json") else each for each in value]
            if isinstance(value, tuple)
            else value
            for name, value in given_fields(self).items()
        }

    @property
    def pair(self) -> bool:
        """Whether two things are shown side by side, whose order could matter."""
        return any(field.show == "pair" for field in self.fields)

    def names(self) -> tuple[str, ...]:
        """What the campaign calls its options."""
        return tuple(option.name for option in self.options)

    def parts(self, payload: Any, *, swapped: bool = False) -> list[Part]:
        """What a task shows, in order; with ``swapped``, the sides of pairs in the other.

        Raises
        ------
        InvalidProblem
            The payload lacks a field, or has one that can't be shown as it should.
        """
        if not self.fields:
            return whole_payload(payload)
        if not isinstance(payload, Mapping):
            raise invalid("payload", payload, "the content names fields: give an object of them")
        found = [part for field in self.fields if (part := field.part(payload)) is not None]
        if not found:
            raise InvalidProblem("payload: it shows nothing: fill a field", field="payload")
        if swapped:
            return [
                dataclasses.replace(part, value=part.value[::-1]) if part.show == "pair" else part
                for part in found
            ]
        return found

    def unswapped(self, name: str) -> str:
        """The option that is meant by one that was chosen where the sides were swapped."""
        sides = {option.side: option.name for option in self.options if option.side is not None}
        chosen = next(option.side for option in self.options if option.name == name)
        if chosen is None:
            return name
        return sides["second" if chosen == "first" else "first"]

    def _check_answers(self) -> None:
        if bool(self.options) == (self.range is not None):
            raise InvalidProblem(
                "give exactly one of options (a list) and range (two numbers)", field="options"
            )
        if self.range is not None:
            ends = _listed(self.range, "range")
            fit = len(ends) == 2 and all(map(_is_number, ends)) and ends[0] < ends[1]
            if not fit:
                raise invalid("range", self.range, "give two numbers, the lower first")
            object.__setattr__(self, "range", (float(ends[0]), float(ends[1])))
        if len(self.options) == 1:
            raise invalid("options", list(self.names()), "a question needs at least two")
        _check_different(list(self.names()), "options", "name")
        # Labels are what programs answer with, and they are lax about capitals.
        _check_different([each.label.casefold() for each in self.options], "options", "label")

    def _check_sides(self) -> None:
        named = sorted(option.side for option in self.options if option.side is not None)
        if named and named != ["first", "second"]:
            raise invalid("options", named, "one option names the first side, one the second")
        if named and not self.pair:
            raise invalid("options", named, "options name sides, but no field is a pair")

    def _check_example(self, example: Example, label: str) -> None:
        answer = example.answer
        if self.range is None:
            if answer not in self.names():
                valid = nearest(str(answer), self.names())
                raise invalid(f"{label}.answer", answer, f"give an option; {valid}")
        elif not _is_number(answer) or not self.range[0] <= float(answer) <= self.range[1]:
            raise invalid(f"{label}.answer", answer, f"give a number in {self.range}")
        try:
            self.parts(example.payload)
        except InvalidProblem as error:
            raise within(error, label) from None


def _made(noun: type[T], raw: object, label: str, short: str | None) -> T:
    """An instance from itself, a mapping of its fields, or its name alone.

    What is wrong with it is told with its place: ``options[1].name``.
    """
    if isinstance(raw, noun):
        return raw
    if short is not None and isinstance(as_name(raw) if noun is Option else raw, str):
        raw = {short: raw}
    if not isinstance(raw, Mapping):
        raise invalid(label, raw, "give a mapping of its fields")
    parameters = dataclasses.fields(noun)  # type: ignore[arg-type]
    known = [field.name for field in parameters]
    refuse_unknown(raw, known, label, under=label)
    for field in parameters:
        if field.default is dataclasses.MISSING and field.name not in raw:
            raise InvalidProblem(f"{label} lacks {field.name!r}", field=f"{label}.{field.name}")
    try:
        return noun(**raw)
    except InvalidProblem as error:
        raise within(error, label) from None


def _listed(value: Any, field: str) -> list[Any]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise invalid(field, value, "give a list")
    return list(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _check_different(values: list[str], field: str, what: str) -> None:
    for at, value in enumerate(values):
        if value in values[:at]:
            raise InvalidProblem(f"{field}: the {what} {value!r} appears twice", field=field)
