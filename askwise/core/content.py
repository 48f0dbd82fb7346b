"""What a question says: the same for a page, a prompt and an export. Validated once."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from askwise.core.errors import InvalidProblem, nearest

Show = Literal["text", "long_text", "image", "html", "pair", "json"]
"""How a field of a task is shown."""

Side = Literal["first", "second"]

SHOWS: tuple[Show, ...] = get_args(Show)
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
        _check_name(self.name, "name of an option")
        object.__setattr__(self, "label", self.label or self.name)
        _check_name(self.label, f"label of option {self.name!r}")
        _check_text(self.meaning, f"meaning of option {self.name!r}")
        if self.side is not None:
            _check_word(self.side, f"side of option {self.name!r}", SIDES)

    def to_json(self) -> dict[str, Any]:
        """As JSON, what is not set left out."""
        return _given(self, label=self.name)


@dataclass(frozen=True, slots=True)
class Field:
    """A part of a task's payload that is shown.

    Parameters
    ----------
    name : str
        Its name in the payload.
    show : "text", "long_text", "image", "html", "pair" or "json"
        How it is shown.
    label : str, optional
        What stands before it.
    second : str, optional
        Of a pair: the name of its second side. The first is ``name``.
    alt : str, optional
        Of an image: the name of what describes it in words.
    optional : bool
        Whether it may be missing; it is then left out.
    """

    name: str
    show: Show = "text"
    label: str = ""
    second: str | None = None
    alt: str | None = None
    optional: bool = False

    def __post_init__(self) -> None:
        _check_name(self.name, "name of a field")
        of = f"of field {self.name!r}"
        _check_word(self.show, f"show {of}", SHOWS)
        _check_text(self.label, f"label {of}")
        if not isinstance(self.optional, bool):
            raise _invalid(f"optional {of}", self.optional, "give true or false")
        if (self.second is not None) != (self.show == "pair"):
            raise _invalid(f"second {of}", self.second, "a pair names its second side, others none")
        if self.alt is not None and self.show != "image":
            raise _invalid(f"alt {of}", self.alt, "only an image has one")
        for other in (self.second, self.alt):
            if other is not None:
                _check_name(other, f"second or alt {of}")

    def part(self, payload: Mapping[str, Any]) -> Part | None:
        """What a payload shows of it; None if it is optional and missing."""
        value = payload.get(self.name)
        if self.second is not None:
            sides = (value, payload.get(self.second))
            if self.optional and all(map(_is_missing, sides)):
                return None
            first = self._text(self.name, sides[0])
            return Part(self.show, self.label, (first, self._text(self.second, sides[1])))
        if self.optional and _is_missing(value):
            return None
        if self.show == "json":
            if value is None:
                raise self._missing(self.name)
            return Part(self.show, self.label, value)
        text = self._text(self.name, value)
        if self.show != "image":
            return Part(self.show, self.label, text)
        if not text.startswith(("http://", "https://", "data:image/")):
            raise InvalidProblem(
                f"payload: {self.name} is {text[:80]!r}: give an image's address (http, https or "
                "data:image/)",
                field="payload",
            )
        words = payload.get(self.alt) if self.alt is not None else None
        return Part(self.show, self.label, text, "" if words is None else str(words))

    def to_json(self) -> dict[str, Any]:
        """As JSON, what is not set left out."""
        return _given(self)

    def _text(self, name: str, value: Any) -> str:
        if _is_missing(value):
            raise self._missing(name)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise InvalidProblem(
                f"payload: {name} is {value!r}: it is shown as {self.show}; give text, or show it "
                "as json",
                field="payload",
            )
        return str(value)

    def _missing(self, name: str) -> InvalidProblem:
        return InvalidProblem(
            f"payload: {name!r} is missing or empty: fill it, or make the field optional",
            field="payload",
        )


@dataclass(frozen=True, slots=True)
class Part:
    """Something to show: how, what stands before it, and the thing itself.

    ``value`` is text; of a pair it is both sides, of JSON any value. ``alt`` describes an image.
    """

    show: Show
    label: str
    value: Any
    alt: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """A task with the answer that is right, and why."""

    payload: Any
    answer: str | float
    why: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.answer, bool) or not isinstance(self.answer, str | int | float):
            raise _invalid("answer of an example", self.answer, "give an option or a number")
        _check_text(self.why, "why of an example")

    def to_json(self) -> dict[str, Any]:
        """As JSON, what is not set left out."""
        return _given(self)


@dataclass(frozen=True, slots=True)
class Content:
    """What workers are asked and shown, whoever they are.

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
        What prices are in: ``"EUR"``.
    fields : sequence of Field, mapping or str, optional
        Which parts of a payload are shown, in this order. Without any, a payload shows itself: text
        as it is, an object by its ``text``, ``image`` (with ``alt``) and ``html``, whatever else
        there is as JSON.
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
            _check_text(getattr(self, name), name)
        if not self.question.strip():
            raise _invalid("question", self.question, "say what is asked")
        if len(self.currency) > 10 or not self.currency.isprintable():
            raise _invalid("currency", self.currency, "give its code, as 'EUR'")
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
            for name, value in _given(self).items()
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
            return _whole(payload)
        if not isinstance(payload, Mapping):
            raise _invalid("payload", payload, "the content names fields: give an object of them")
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
                raise _invalid("range", self.range, "give two numbers, the lower first")
            object.__setattr__(self, "range", (float(ends[0]), float(ends[1])))
        if len(self.options) == 1:
            raise _invalid("options", list(self.names()), "a question needs at least two")
        _check_different(list(self.names()), "options", "name")
        # Labels are what programs answer with, and they are lax about capitals.
        _check_different([each.label.casefold() for each in self.options], "options", "label")

    def _check_sides(self) -> None:
        named = sorted(option.side for option in self.options if option.side is not None)
        if named and named != ["first", "second"]:
            raise _invalid("options", named, "one option names the first side, one the second")
        if named and not self.pair:
            raise _invalid("options", named, "options name sides, but no field is a pair")

    def _check_example(self, example: Example, label: str) -> None:
        answer = example.answer
        if self.range is None:
            if answer not in self.names():
                valid = nearest(str(answer), self.names())
                raise _invalid(f"answer of {label}", answer, f"give an option; {valid}")
        elif not _is_number(answer) or not self.range[0] <= float(answer) <= self.range[1]:
            raise _invalid(f"answer of {label}", answer, f"give a number in {self.range}")
        try:
            self.parts(example.payload)
        except InvalidProblem as error:
            raise InvalidProblem(f"{label}: {error}", field="examples") from None


def _whole(payload: Any) -> list[Part]:
    """A payload that shows itself; nothing of it is left out."""
    if payload is None:
        return []
    if isinstance(payload, str):
        return [Part("long_text", "", payload)]
    if not isinstance(payload, Mapping):
        return [Part("json", "", payload)]
    rest, found = dict(payload), []
    if isinstance(rest.get("text"), str):
        found.append(Part("long_text", "", rest.pop("text")))
    if isinstance(rest.get("image"), str):
        words = rest.pop("alt", "")
        found.append(Part("image", "", rest.pop("image"), words if isinstance(words, str) else ""))
    if isinstance(rest.get("html"), str):
        found.append(Part("html", "", rest.pop("html")))
    return [*found, Part("json", "", rest)] if rest or not payload else found


def _made(noun: type[T], raw: object, label: str, short: str | None) -> T:
    """An instance from itself, a mapping of its fields, or its name alone."""
    if isinstance(raw, noun):
        return raw
    if short is not None and isinstance(raw, str):
        raw = {short: raw}
    if not isinstance(raw, Mapping):
        raise _invalid(label, raw, "give a mapping of its fields")
    parameters = dataclasses.fields(noun)  # type: ignore[arg-type]
    known = [field.name for field in parameters]
    for key in map(str, raw):
        if key not in known:
            raise InvalidProblem(f"{label} has a field {key!r}: {nearest(key, known)}", field=key)
    for field in parameters:
        if field.default is dataclasses.MISSING and field.name not in raw:
            raise InvalidProblem(f"{label} lacks {field.name!r}", field=field.name)
    return noun(**raw)


def _given(value: Any, **implied: Any) -> dict[str, Any]:
    """The fields that differ from what they would be by themselves."""
    fields = {
        field.name: (getattr(value, field.name), implied.get(field.name, field.default))
        for field in dataclasses.fields(value)
    }
    return {
        name: list(found) if name == "range" and found is not None else found
        for name, (found, default) in fields.items()
        if found != default
    }


def _listed(value: Any, field: str) -> list[Any]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise _invalid(field, value, "give a list")
    return list(value)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _invalid(label: str, value: object, valid: str) -> InvalidProblem:
    return InvalidProblem(f"{label} is {_brief(value)}: {valid}", field=label.split()[0])


def _brief(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else repr(value)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."


def _check_name(value: object, label: str) -> None:
    if not isinstance(value, str) or not 0 < len(value) <= 200 or not value.isprintable():
        raise _invalid(label, value, "give a printable string of 1 to 200 characters")


def _check_text(value: object, label: str) -> None:
    if not isinstance(value, str):
        raise _invalid(label, value, "give text")


def _check_word(value: object, label: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise _invalid(label, value, f"give one of {', '.join(known)}")


def _check_different(values: list[str], field: str, what: str) -> None:
    for at, value in enumerate(values):
        if value in values[:at]:
            raise InvalidProblem(f"{field}: the {what} {value!r} is there twice", field=field)
