"""Dataclasses that are written to JSON and read back field by field, money as strings."""

from dataclasses import Field, fields
from decimal import Decimal
from functools import cache
from typing import Any, ClassVar, Self, get_args, get_type_hints


class Jsonable:
    """A dataclass whose JSON has its fields, under their names and in their order.

    Money is written as a string, a tuple as a list. A field that does not count in comparisons is
    no part of the value, and none of its JSON.

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

    def to_json(self) -> dict[str, Any]:
        """As JSON, money as a string."""
        return {name: as_json(getattr(self, name)) for name in self.json_types()}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Self:
        """Read back what ``to_json`` wrote.

        A field with a default may be missing: an older version may have written it.
        """
        wanted = {name: kind for name, kind in cls.json_types().items() if name in raw}
        return cls(**{name: _typed(raw[name], kind) for name, kind in wanted.items()})

    @classmethod
    @cache
    def json_types(cls) -> dict[str, Any]:
        """The type of each field that is written."""
        types = get_type_hints(cls)
        return {field.name: types[field.name] for field in fields(cls) if field.compare}


def as_json(value: Any) -> Any:
    """A value as JSON: money as a string, a tuple as a list, a Jsonable as it says."""
    if isinstance(value, tuple):
        return [as_json(each) for each in value]
    if isinstance(value, Jsonable):
        return value.to_json()
    return str(value) if isinstance(value, Decimal) else value


def _typed(value: Any, kind: Any) -> Any:
    """What ``as_json`` made a value of, as the type that its field has."""
    if isinstance(value, list):
        return tuple(_typed(each, get_args(kind)[0]) for each in value)
    for one in get_args(kind) or (kind,):
        if one is Decimal and isinstance(value, str):
            return Decimal(value)
        if isinstance(value, dict) and isinstance(one, type) and issubclass(one, Jsonable):
            return one.from_json(value)
    return value
