"""Money in integer micro-units: floats never touch a balance."""

from decimal import Decimal, InvalidOperation
from functools import lru_cache
from numbers import Integral

from askwise.core.errors import InvalidProblem

MICRO = 1_000_000
NO_CAP = 2**61
"""Stands for "no budget": far above any sum of money, and sums of two still fit in 64 bits."""

LARGEST = 10**15
"""A thousand million units. Keeps every product and sum of money in the kernels inside 64 bits."""

SHARE_UNIT = 10**9
"""A share of money is counted in thousand-millionths, so that it splits money exactly."""

Amount = str | int | float | Decimal


def to_micro(value: object, label: str) -> int:
    """Read an amount as micro-units, exactly or not at all.

    ``label`` names it in messages: a field (``price``) or a field of something (``price of
    worker 'ann'``).

    Examples
    --------
    >>> to_micro("0.05", "price"), to_micro(3, "price"), to_micro(0.1, "price")
    (50000, 3000000, 100000)
    """
    if isinstance(value, bool) or not isinstance(value, str | Integral | float | Decimal):
        raise _invalid(label, f"is {value!r}: give an amount of money as a string, int or Decimal")
    amount = _as_decimal(value)
    if not amount.is_finite():
        valid = "number, such as 5" if isinstance(value, str) else "finite amount of money"
        raise _invalid(label, f"is {value!r}: give a {valid}")
    # In integers, not in Decimal arithmetic: that rounds to the caller's own precision.
    sign, digits, exponent = amount.as_tuple()
    assert isinstance(exponent, int)
    shift = exponent + 6
    if not any(digits):
        return 0
    if sign:
        raise _invalid(label, f"is {value!r}: give an amount of 0 or more")
    if len(digits) + shift > len(str(LARGEST)):
        raise _too_large(label)
    if shift < -len(digits) or len(digits) > 100:
        raise _too_fine(value, label)
    number = int("".join(map(str, digits)))
    micro, rest = (number * 10**shift, 0) if shift >= 0 else divmod(number, 10**-shift)
    if rest:
        raise _too_fine(value, label)
    if micro > LARGEST:
        raise _too_large(label)
    return micro


def field_of(label: str) -> str:
    """The field that a label names: ``price`` in ``price of worker 'ann'``."""
    return label.split()[0]


def _as_decimal(value: str | Integral | float | Decimal) -> Decimal:
    if isinstance(value, Decimal):
        return value
    if isinstance(value, float):
        # A float is taken at its decimal writing: 0.1 means one tenth.
        return Decimal(repr(float(value)))
    try:
        return Decimal(value if isinstance(value, str) else int(value))
    except InvalidOperation:
        return Decimal("NaN")


def _invalid(label: str, wrong: str) -> InvalidProblem:
    return InvalidProblem(f"{label} {wrong}", field=field_of(label), reason="invalid_amount")


def _too_large(label: str) -> InvalidProblem:
    # Not the value itself: Python refuses to write out whole numbers beyond 4300 digits.
    return _invalid(label, f"is too large: amounts go up to {from_micro(LARGEST)}")


def _too_fine(value: object, label: str) -> InvalidProblem:
    return _invalid(
        label, f"is {value!r}: amounts have at most six decimals, and askwise does not round"
    )


@lru_cache(maxsize=4096)
def from_micro(micro: int) -> Decimal:
    """Write micro-units as a Decimal without trailing zeros.

    Examples
    --------
    >>> from_micro(50_000), from_micro(30_000_000)
    (Decimal('0.05'), Decimal('30'))
    """
    sign, size = ("-" if micro < 0 else ""), abs(int(micro))
    whole, part = divmod(size, MICRO)
    return Decimal(sign + (f"{whole}.{part:06d}".rstrip("0") if part else str(whole)))
