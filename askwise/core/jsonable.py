"""Dataclasses that are written to JSON and read back field by field, money as strings."""

from dataclasses import Field, fields
from decimal import Decimal
from functools import cache
from typing import Any, ClassVar, Self, get_args, get_type_hints


class Jsonable:
    """A dataclass whose JSON has its fields, under their names and in their order.

    Money is written as a string, a tuple as a list, a named tuple as an object. A field that does
    not count in comparisons is no part of the value, and none of its JSON.

    Attributes
    ----------
    written : tuple of str
        Names of the fields and properties that are written, in this order; all fields if empty.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, slots=True)
    ... class Bill(Jsonable):
    ...     items: tuple[str, ...]
    ...     total: Decimal | None
    >>> Bill(("tea",), Decimal("1.5")).to_json()
    {'items': ['tea'], 'total': '1.5'}
    >>> Bill.from_json({"items": ["tea"], "total": "1.5"})
    Bill(items=('tea',), total=Decimal('1.5'))
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    written: ClassVar[tuple[str, ...]] = ()

    def to_json(self) -> dict[str, Any]:
        """As JSON, money as a string."""
        return {name: as_json(getattr(self, name)) for name in self.json_types()}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Self:
        """Read back what ``to_json`` wrote.

        A field with a default may be missing: an older version may have written it.
        """
        known = {field.name for field in fields(cls)}
        wanted = {
            name: kind for name, kind in cls.json_types().items() if name in raw and name in known
        }
        return cls(**{name: _typed(raw[name], kind) for name, kind in wanted.items()})

    @classmethod
    @cache
    def json_types(cls) -> dict[str, Any]:
        """The type of each field that is written."""
        return _written_types(cls, limits=False)

    @classmethod
    def json_fields(cls) -> dict[str, Any]:
        """The type of each property of the JSON, with its limits."""
        return _written_types(cls, limits=True)


def _written_types(noun: type[Jsonable], *, limits: bool) -> dict[str, Any]:
    types = get_type_hints(noun, include_extras=limits)
    names = noun.written or [field.name for field in fields(noun) if field.compare]
    for name in names:
        if name not in types:
            types[name] = get_type_hints(getattr(noun, name).fget, include_extras=limits)["return"]
    return {name: types[name] for name in names}


_AS_THEY_ARE = frozenset((str, int, float, bool))


def as_json(value: Any) -> Any:
    """A value as JSON: money as a string, a tuple as a list, a Jsonable as it says."""
    if value is None or type(value) in _AS_THEY_ARE:
        return value
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, tuple):
        if hasattr(value, "_asdict"):
            return {name: as_json(each) for name, each in value._asdict().items()}
        return [as_json(each) for each in value]
    return str(value) if isinstance(value, Decimal) else value


def _typed(value: Any, kind: Any) -> Any:
    """What ``as_json`` made a value of, as the type that its field has."""
    if isinstance(value, list) and get_args(kind):
        return tuple(_typed(each, get_args(kind)[0]) for each in value)
    for one in get_args(kind) or (kind,):
        if one is Decimal and isinstance(value, str):
            return Decimal(value)
        if isinstance(value, dict) and isinstance(one, type):
            if issubclass(one, Jsonable):
                return one.from_json(value)
            if issubclass(one, tuple):
                known = get_type_hints(one).items()
                return one(**{name: _typed(value[name], of) for name, of in known if name in value})
    return value
