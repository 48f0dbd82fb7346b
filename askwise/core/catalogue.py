"""What a registry has to choose from: names, what they do, and the parameters that they take."""

import dataclasses
import inspect
import json
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, get_args, get_origin, get_type_hints

from askwise.core.docstrings import DocEntry, doc_of
from askwise.core.json_types import Word
from askwise.core.jsonable import Jsonable, as_json
from askwise.core.registry import Registry
from askwise.core.schemas import SchemaMaker, in_json_words

_PLAIN = (str, int, float, bool, type(None), Decimal)


@dataclass(frozen=True)
class ParameterInfo(Jsonable):
    """A parameter of a policy, rule, aggregator, mechanism or source.

    Attributes
    ----------
    name : str
        Its name.
    type : str
        What it takes, in words.
    required : bool
        Whether it must be given.
    default : JSON value
        What it is if it is not given; None also where that is nothing that JSON can hold.
    description : str
        What it means.
    schema : dict
        The JSON Schema of its values, as far as its type says it.
    """

    name: Word
    type: str
    required: bool
    default: Any
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True)
class EntryInfo(Jsonable):
    """An entry of a registry: what can be named in a campaign, or as a judge.

    Attributes
    ----------
    name : str
        Its name.
    summary : str
        What it does, in one sentence.
    outcomes : tuple of str
        The answers that it works on: ``options``, ``utility`` or both; empty for a source.
    parameters : tuple of ParameterInfo
        The parameters that it takes beside its name.
    """

    name: Word
    summary: str
    outcomes: tuple[str, ...]
    parameters: tuple[ParameterInfo, ...]


def entries_of(registry: Registry[Any]) -> list[EntryInfo]:
    """All entries of a registry, by name."""
    return [entry_info(registry, registry.get(name)) for name in registry.names()]


def entry_info(registry: Registry[Any], entry: Any) -> EntryInfo:
    """What can be said of an entry."""
    return EntryInfo(
        name=entry.name,
        summary=in_json_words(doc_of(entry).sentence).replace("`", ""),
        outcomes=tuple(getattr(entry, "outcomes", ())),
        parameters=parameters_info(registry, entry),
    )


def parameters_info(registry: Registry[Any], entry: Any) -> tuple[ParameterInfo, ...]:
    """The parameters of an entry, as its constructor takes them."""
    said, hints = parameter_docs(registry, entry), get_type_hints(entry)
    fields = {field.name: field for field in dataclasses.fields(entry)}
    found = []
    for name in inspect.signature(entry).parameters:
        required, default = _default(fields[name])
        words = said.get(name, DocEntry(name, "", ""))
        found.append(
            ParameterInfo(
                name=name,
                type=in_json_words(words.kind),
                required=required,
                default=default,
                description=in_json_words(words.text),
                schema=_schema(hints[name]),
            )
        )
    return tuple(found)


def parameter_docs(registry: Registry[Any], entry: Any) -> dict[str, DocEntry]:
    """What docstrings say of each parameter; "as in" another entry is looked up there."""
    said: dict[str, DocEntry] = {}
    lines = (line for base in entry.__mro__ for line in doc_of(base).entries.get("Parameters", ()))
    for line in lines:
        for name in (each.strip() for each in line.names.split(",")):
            same = re.match(r"As in ``([\w-]+)``(.*)", line.text)
            told = line
            if same is not None:
                there = parameter_docs(registry, registry.get(same[1]))[name]
                told = DocEntry(name, there.kind, there.text.rstrip(".") + same[2])
            # What a class says itself comes before what its bases say.
            said.setdefault(name, told)
    return said


def _default(field: dataclasses.Field[Any]) -> tuple[bool, Any]:
    """Whether a parameter must be given, and what it is if it is not, as JSON."""
    missing = dataclasses.MISSING
    if field.default is missing and field.default_factory is missing:
        return True, None
    value = field.default
    if field.default_factory is not missing:
        value = field.default_factory()
    try:
        value = as_json(value)
        return False, json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return False, None


def _schema(kind: Any) -> dict[str, Any]:
    """The schema of what a parameter takes from JSON; of what only a program can give, anything."""
    union = get_origin(kind) in (typing.Union, types.UnionType)
    parts = [part for part in (get_args(kind) if union else (kind,)) if _is_json(part)]
    if str in parts:
        # Money may be given as a string, and any string is one already.
        parts = [part for part in parts if part is not Decimal]
    made = [SchemaMaker().of(part) for part in parts]
    if len(made) < 2:
        return made[0] if made else {}
    return {"anyOf": made}


def _is_json(kind: Any) -> bool:
    """Whether JSON can hold values of a type."""
    origin = get_origin(kind)
    if origin is None:
        return kind is Any or kind in _PLAIN
    if origin is Literal:
        return True
    holds = isinstance(origin, type) and issubclass(origin, Sequence | Mapping)
    return holds and all(part is ... or _is_json(part) for part in get_args(kind))
