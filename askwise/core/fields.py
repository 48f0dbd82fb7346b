"""Checks of the fields of a problem: its workers, its tasks and their names."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, TypeVar

from askwise.core.errors import AskwiseError, InvalidProblem, nearest
from askwise.core.money import field_of

T = TypeVar("T")


def fields_of(raw: object, noun: type, kind: str, needed: tuple[str, ...]) -> dict[str, Any]:
    """Take a mapping that has no other fields than those of a noun, and those that it needs."""
    if not isinstance(raw, Mapping):
        raise InvalidProblem(f"{kind} is {raw!r}: give a mapping with an 'id'", field=kind)
    known: tuple[str, ...] = noun.__slots__  # type: ignore[attr-defined]
    refuse_unknown(raw, known, f"{kind} {raw.get('id')!r}")
    for key in ("id", *needed):
        if key not in raw:
            raise InvalidProblem(f"{kind} {raw.get('id')!r} lacks {key!r}", field=key)
    return dict(raw)


def refuse_unknown(
    given: Iterable[Any],
    known: Collection[str],
    what: str,
    *,
    under: str = "",
    field: str | None = None,
    error: type[AskwiseError] = InvalidProblem,
) -> None:
    """Refuse names of fields that ``what`` does not have; those that it may mean are told.

    The error is about the name, ``under`` that of what it is in, or about ``field``.
    """
    for name in map(str, given):
        if name not in known:
            place = f"{under}.{name}" if under else name
            raise error(
                f"{what} has no field {name!r}: {nearest(name, known)}", field=field or place
            )


def is_name(value: object) -> bool:
    """Whether something can be the name of something: printable, of 1 to 200 characters."""
    return isinstance(value, str) and 0 < len(value) <= 200 and value.isprintable()


def plain_scalar(value: Any) -> Any:
    """A scalar of NumPy as Python's own; anything else as it is. Imports no NumPy."""
    return value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value


def as_name(value: Any) -> Any:
    """Take an id as text: of a whole number, NumPy's too, the text is the id.

    What can't be one (a truth value, a fraction) is handed back as it is, to be refused by what
    it was given to.

    Examples
    --------
    >>> import numpy as np
    >>> as_name(7), as_name(np.int64(7)), as_name(7.0), as_name(np.str_("ann"))
    ('7', '7', '7', 'ann')
    >>> as_name(True), as_name(0.5)
    (True, 0.5)
    """
    if type(value) is str:
        return value
    value = plain_scalar(value)
    if isinstance(value, float) and value.is_integer():
        # A column of whole numbers in which one is missing has turned into these.
        value = int(value)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else value


def by_name(given: Mapping[Any, T], field: str) -> dict[str, T]:
    """Take a mapping of ids, each as text; refuse two that have the same text."""
    named = {as_name(key): value for key, value in given.items()}
    if len(named) < len(given):
        check_unique([as_name(key) for key in given], field)
    return named


def check_id(value: object, field: str) -> str:
    """Take an id, as text; refuse what is none."""
    name = as_name(value)
    if not is_name(name):
        raise InvalidProblem(
            f"{field} is {value!r}: give a printable string of 1 to 200 characters, or a whole "
            "number",
            field=field,
        )
    return str(name)


def check_flag(value: object, label: str) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool):
        raise InvalidProblem(f"{label} is {value!r}: give true or false", field=field_of(label))


def check_unique(names: Sequence[str], kind: str) -> None:
    """Refuse names that are there twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidProblem(f"{kind} {name!r} is named twice", field=kind)
        seen.add(name)


def check_whole(value: object, label: str, *, at_least: int, at_most: int) -> None:
    """Refuse what is not a whole number from ``at_least`` to ``at_most``."""
    if isinstance(value, bool) or not isinstance(value, int) or not at_least <= value <= at_most:
        raise InvalidProblem(
            f"{label} is {value!r}: give a whole number from {at_least} to {at_most}",
            field=field_of(label),
        )


def check_real(value: object, label: str) -> float:
    """Take a finite number."""
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        raise InvalidProblem(f"{label} is {value!r}: give a number", field=field_of(label))
    try:
        number = float(value)
    except (OverflowError, ValueError):
        number = math.inf
    if not math.isfinite(number):
        raise InvalidProblem(f"{label} is {value!r}: give a finite number", field=field_of(label))
    return number
