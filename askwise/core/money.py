"""Money in integer micro-units: floats never touch a balance."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from askwise.core.errors import InvalidProblem

MICRO = 1_000_000
NO_CAP = 2**61
"""Stands for "no budget": far above any sum of money, and sums of two still fit in 64 bits."""

LARGEST = 10**15
"""A thousand million units. Keeps every product and sum of money in the kernels inside 64 bits."""

Amount = str | int | float | Decimal


def to_micro(value: object, field: str) -> int:
    """Read an amount as micro-units, exactly or not at all.

    Examples
    --------
    >>> to_micro("0.05", "price"), to_micro(3, "price"), to_micro(0.1, "price")
    (50000, 3000000, 100000)
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise InvalidProblem(
            f"{field} is {value!r}: give an amount of money as a string, int or Decimal",
            field=field,
        )
    try:
        # A float is taken at its decimal writing: 0.1 means one tenth.
        amount = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite():
        raise InvalidProblem(f"{field} is {value!r}: give a finite amount of money", field=field)
    if amount < 0:
        raise InvalidProblem(f"{field} is {value!r}: give an amount of 0 or more", field=field)
    micro = amount * MICRO
    if micro > LARGEST:
        raise InvalidProblem(
            f"{field} is {value!r}: amounts go up to {from_micro(LARGEST)}", field=field
        )
    if micro != micro.to_integral_value():
        raise InvalidProblem(
            f"{field} is {value!r}: amounts have at most six decimals, and askwise does not round",
            field=field,
        )
    return int(micro)


def from_micro(micro: int) -> Decimal:
    """Write micro-units as a Decimal without trailing zeros.

    Examples
    --------
    >>> from_micro(50_000), from_micro(30_000_000)
    (Decimal('0.05'), Decimal('30'))
    """
    amount = Decimal(int(micro)).scaleb(-6).normalize()
    return amount.quantize(Decimal(1)) if amount == amount.to_integral_value() else amount
