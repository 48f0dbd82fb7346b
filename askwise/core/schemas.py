"""JSON Schema of what is written as JSON, derived from the types that it is written from.

The types say what a value may be, with limits in ``Annotated``; the docstring of a class says what
each field means. So nothing is said of a shape in a second place.
"""

import dataclasses
import enum
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache, reduce
from operator import attrgetter, or_
from typing import Any, Literal, NotRequired, get_args, get_origin, get_type_hints

from askwise.core.docstrings import attributes_of, doc_of
from askwise.core.json_types import MONEY_SCHEMA

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Decimal: MONEY_SCHEMA,
    Any: {},
    object: {},
}


class SchemaMaker:
    """Makes schemas that refer to each other by name.

    Parameters
    ----------
    place : str
        What a reference to a named schema begins with.
    name_of : callable, optional
        What a class is called; by its own name if not given.

    Attributes
    ----------
    named : dict
        The schemas of the classes that were met, by name.
    """

    def __init__(
        self, place: str = "#/$defs/", name_of: Callable[[Any], str] = attrgetter("__name__")
    ) -> None:
        self.place = place
        self.named: dict[str, Schema] = {}
        self._name_of = name_of
        self._met: dict[str, Any] = {}

    def of(self, kind: Any) -> Schema:
        """The schema of a type; a class of fields is referred to by its name."""
        if kind in _PLAIN:
            return dict(_PLAIN[kind])
        if hasattr(kind, "json_kind"):
            return self.of(kind.json_kind)
        if _is_shape(kind):
            return {"$ref": self.place + self._name(kind)}
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return {"enum": [each.name for each in kind]}
        origin, parts = get_origin(kind), get_args(kind)
        if origin is typing.Annotated:
            return self._limited(parts[0], parts[1:])
        if origin is Literal:
            return {"enum": list(parts)} if len(parts) > 1 else {"const": parts[0]}
        if origin in (typing.Union, types.UnionType):
            return self._either(parts)
        if origin is tuple and parts[-1] is not ...:
            items = [self.of(part) for part in parts]
            size = {"minItems": len(parts), "maxItems": len(parts)}
            return {"type": "array", "prefixItems": items, "items": False, **size}
        if origin in (tuple, list) or (isinstance(origin, type) and issubclass(origin, Sequence)):
            return {"type": "array", "items": self.of(parts[0])}
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return self._mapping(*parts)
        if kind in (dict, Mapping):
            return {"type": "object"}
        if kind in (list, tuple):
            return {"type": "array"}
        raise TypeError(f"{kind!r} has no JSON schema")

    def document(self, made: Schema, **said: Any) -> Schema:
        """A schema as a document of its own, with all that it refers to; ``said`` comes first."""
        if "$ref" in made:
            made = self.named.pop(made["$ref"].removeprefix(self.place))
        parts = {"$defs": self.named} if self.named else {}
        return {"$schema": DIALECT, **said, **{**made, **said}, **parts}

    def _name(self, kind: Any) -> str:
        name = self._name_of(kind)
        if self._met.setdefault(name, kind) is not kind:
            raise TypeError(f"{kind!r} and {self._met[name]!r} are both called {name}")
        if name not in self.named:
            self.named[name] = {}  # a class may be a part of itself
            self.named[name] = self._object(kind)
        return name

    def _object(self, kind: Any) -> Schema:
        fields, needed = written_fields(kind)
        said = attributes_of(kind)
        properties = {}
        for name, each in fields.items():
            words = {"description": in_json_words(said[name])} if name in said else {}
            properties[name] = {**self.of(each), **words}
        read = doc_of(kind)
        told = in_json_words("\n\n".join([read.sentence, *read.prose]))
        return {
            **({"description": told} if told else {}),
            "type": "object",
            "properties": properties,
            "required": needed,
            "additionalProperties": False,
        }

    def _limited(self, kind: Any, limits: Sequence[Any]) -> Schema:
        made = self.of(kind)
        for each in limits:
            if isinstance(each, Mapping):
                # JsonLimits that name a type say all.
                made = {**each} if "type" in each or "$ref" in each else {**made, **each}
        return made

    def _either(self, parts: Sequence[Any]) -> Schema:
        made = [self.of(part) for part in parts]
        if all(set(each) == {"type"} for each in made):
            return {"type": [each["type"] for each in made]}
        if set(made[0]) == {"enum"} and made[1:] == [{"type": "null"}]:
            return {"enum": [*made[0]["enum"], None]}
        return {"anyOf": made}

    def _mapping(self, key: Any, value: Any) -> Schema:
        names = self.of(key)
        limits = {} if names == {"type": "string"} else {"propertyNames": names}
        return {"type": "object", **limits, "additionalProperties": self.of(value)}


@cache
def written_fields(kind: Any) -> tuple[dict[str, Any], list[str]]:
    """The type of each field that is written, and the names of those that always are.

    A class that says itself what it writes (``json_fields``, as a ``Jsonable`` does) and a named
    tuple write all of it; another dataclass leaves out what is not set.
    """
    if typing.is_typeddict(kind):
        hints = _hints(kind)
        needed = [name for name, each in hints.items() if get_origin(each) is not NotRequired]
        return {name: _bare(each) for name, each in hints.items()}, needed
    if hasattr(kind, "json_fields"):
        written = kind.json_fields()
        return written, list(written)
    if hasattr(kind, "_fields"):
        return _hints(kind), list(kind._fields)
    hints, fields = _hints(kind), dataclasses.fields(kind)
    needed = [field.name for field in fields if _has_no_default(field)]
    found = {
        field.name: hints[field.name] if field.name in needed else _without_none(hints[field.name])
        for field in fields
        if field.compare
    }
    return found, needed


def in_json_words(text: str) -> str:
    """What a docstring says, of JSON: null is what Python calls None.

    Examples
    --------
    >>> in_json_words("``None`` if there is none; None while it waits.")
    '`null` if there is none; null while it waits.'
    """
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text.replace("``", "`"))
    text = re.sub(r"\bTrue\b", "true", re.sub(r"\bFalse\b", "false", text))
    return re.sub(r"\bNone\b", "null", text)


def _is_shape(kind: Any) -> bool:
    if not isinstance(kind, type):
        return False
    has_names = issubclass(kind, tuple) and hasattr(kind, "_fields")
    return typing.is_typeddict(kind) or dataclasses.is_dataclass(kind) or has_names


def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _bare(kind: Any) -> Any:
    """The type of a key that need not be there."""
    return get_args(kind)[0] if get_origin(kind) is NotRequired else kind


def _has_no_default(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return field.default is missing and field.default_factory is missing


def _without_none(kind: Any) -> Any:
    if get_origin(kind) is typing.Annotated:
        kind, *limits = get_args(kind)
        return typing.Annotated[(_without_none(kind), *limits)]
    if get_origin(kind) in (typing.Union, types.UnionType):
        return reduce(or_, (part for part in get_args(kind) if part is not type(None)))
    return kind
