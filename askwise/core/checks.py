"""Checks of hyper-parameters that policies, rules and mechanisms share."""

import math

from askwise.core.errors import InvalidParameter

MOST = 2**40
"""Whole numbers end here: far beyond any count, and kernels have 64 bits."""

LARGEST_FLOAT = 1.7976931348623157e308


def real(
    value: object, field: str, valid: str, *, least: float = -math.inf, most: float = math.inf
) -> float:
    """Take a finite number from ``least`` to ``most``; ``valid`` says what to give instead.

    Examples
    --------
    >>> real(0.25, "bonus", "0 or more", least=0)
    0.25
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidParameter(f"{field} is {_shown(value)}: give {valid}", field=field)
    if not least <= value <= most or abs(value) > LARGEST_FLOAT:
        raise InvalidParameter(f"{field} is {_shown(value)}: give {valid}", field=field)
    return float(value)


def between(value: object, field: str, low: float, high: float) -> float:
    """Take a number strictly between two others."""
    valid = f"a number between {low:g} and {high:g}"
    number = real(value, field, valid)
    if not low < number < high:
        raise InvalidParameter(f"{field} is {_shown(value)}: give {valid}", field=field)
    return number


def whole(value: object, field: str, *, least: int, most: int = MOST) -> int:
    """Take a whole number from ``least`` to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        upto = "" if most == MOST else f" to {most}"
        raise InvalidParameter(
            f"{field} is {_shown(value)}: give a whole number from {least}{upto}", field=field
        )
    return value


def _shown(value: object) -> str:
    """Write a value out; Python refuses to write whole numbers beyond 4300 digits."""
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of more than 30 digits"
    return repr(value)


def flag(value: object, field: str) -> bool:
    """Take true or false, and nothing that merely looks like it."""
    if not isinstance(value, bool):
        raise InvalidParameter(f"{field} is {value!r}: give true or false", field=field)
    return value


def one_of(value: object, field: str, known: tuple[str, ...]) -> str:
    """Take one of a few words."""
    if not isinstance(value, str) or value not in known:
        raise InvalidParameter(f"{field} is {value!r}: give one of {', '.join(known)}", field=field)
    return value
