"""What a task shows: fields of its payload, or all of it, as parts in order."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from askwise.core.errors import InvalidProblem

Show = Literal["text", "long_text", "image", "html", "pair", "json"]
"""How a field of a task is shown."""

SHOWS: tuple[Show, ...] = get_args(Show)

IMAGES = ("http://", "https://", "data:image/")
"""How the address of an image begins."""


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
        What is written before it.
    second : str, optional
        For a pair: the name of its second side. The first is ``name``.
    alt : str, optional
        For an image: the name of the field that describes it in words.
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
        expect_name(self.name, "name of a field")
        of = f"of field {self.name!r}"
        expect_word(self.show, f"show {of}", SHOWS)
        expect_text(self.label, f"label {of}")
        if not isinstance(self.optional, bool):
            raise invalid(f"optional {of}", self.optional, "give true or false")
        if (self.second is not None) != (self.show == "pair"):
            raise invalid(f"second {of}", self.second, "a pair names its second side, others none")
        if self.alt is not None and self.show != "image":
            raise invalid(f"alt {of}", self.alt, "only an image has one")
        for other in (self.second, self.alt):
            if other is not None:
                expect_name(other, f"second or alt {of}")

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
        if not text.startswith(IMAGES):
            raise InvalidProblem(
                f"payload: {self.name} is {text[:80]!r}: give an image's address (http, https or "
                "data:image/)",
                field="payload",
            )
        words = payload.get(self.alt) if self.alt is not None else None
        return Part(self.show, self.label, text, "" if words is None else str(words))

    def to_json(self) -> dict[str, Any]:
        """As JSON, what is not set left out."""
        return given_fields(self)

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


def whole_payload(payload: Any) -> list[Part]:
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
    image, words = rest.get("image"), rest.get("alt", "")
    if isinstance(image, str) and image.startswith(IMAGES) and isinstance(words, str):
        found.append(Part("image", "", image, words))
        rest = {key: value for key, value in rest.items() if key not in ("image", "alt")}
    if isinstance(rest.get("html"), str):
        found.append(Part("html", "", rest.pop("html")))
    return [*found, Part("json", "", rest)] if rest or not payload else found


def given_fields(value: Any, **implied: Any) -> dict[str, Any]:
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


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def invalid(label: str, value: object, valid: str) -> InvalidProblem:
    """The error that names a field, its value and what would be valid."""
    return InvalidProblem(f"{label} is {_brief(value)}: {valid}", field=label.split()[0])


def within(error: InvalidProblem, place: str) -> InvalidProblem:
    """The same error, told of something that is a part of another.

    Examples
    --------
    >>> found = within(invalid("name of an option", "", "give one"), "options[1]")
    >>> print(found, found.field, sep="; ")
    options[1].name of an option is '': give one; options[1].name
    """
    own = error.field or ""
    begins_with_it = own != "" and str(error).startswith(re.split(r"[.\[]", own)[0])
    return InvalidProblem(
        f"{place}{'.' if begins_with_it else ': '}{error}",
        field=f"{place}.{own}" if own else place,
        reason=error.reason,
    )


def _brief(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else repr(value)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."


def expect_name(value: object, label: str) -> None:
    """Refuse what can't be a name or a label."""
    if not isinstance(value, str) or not 0 < len(value) <= 200 or not value.isprintable():
        raise invalid(label, value, "give a printable string of 1 to 200 characters")


def expect_text(value: object, label: str) -> None:
    """Refuse what is not text."""
    if not isinstance(value, str):
        raise invalid(label, value, "give text")


def expect_word(value: object, label: str, known: tuple[str, ...]) -> None:
    """Refuse what is none of a few words."""
    if value not in known:
        raise invalid(label, value, f"give one of {', '.join(known)}")
