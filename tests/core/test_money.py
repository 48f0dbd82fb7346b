"""Money: exact or refused."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.errors import InvalidProblem
from askwise.core.money import LARGEST, MICRO, from_micro, to_micro

micros = st.integers(0, LARGEST)


@given(micros)
def test_micro_units_come_back_from_every_writing(micro: int) -> None:
    amount = from_micro(micro)
    assert Fraction(amount) == Fraction(micro, MICRO)
    assert to_micro(amount, "x") == micro
    assert to_micro(str(amount), "x") == micro
    if micro % MICRO == 0:
        assert to_micro(micro // MICRO, "x") == micro


@given(st.integers(0, 10**9))
def test_a_float_is_taken_at_its_decimal_writing(micro: int) -> None:
    # Up to 1000 units six decimals are well within a float's fifteen digits.
    assert to_micro(micro / MICRO, "x") == micro


def test_tenths_add_up() -> None:
    assert 0.1 + 0.1 + 0.1 != 0.3
    assert 3 * to_micro(0.1, "x") == to_micro(0.3, "x")


@given(micros)
def test_the_writing_is_plain(micro: int) -> None:
    text = str(from_micro(micro))
    assert "E" not in text
    assert "." not in text or not text.endswith("0")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("-0.01", "0 or more"),
        (-1, "0 or more"),
        (float("nan"), "finite"),
        ("NaN", "a number, such as 5"),
        (Decimal("sNaN"), "finite"),
        (float("inf"), "finite"),
        ("-Infinity", "a number, such as 5"),
        ("ten", "a number, such as 5"),
        ("", "a number, such as 5"),
        ("0.0000001", "six decimals"),
        (1e-7, "six decimals"),
        (Decimal("1.0000005"), "six decimals"),
        (10**9 + 1, "go up to 1000000000"),
        ("1e300", "go up to"),
        (True, "as a string, int or Decimal"),
        (None, "as a string, int or Decimal"),
        ([1], "as a string, int or Decimal"),
        (1j, "as a string, int or Decimal"),
    ],
)
def test_what_is_no_amount_of_money_is_refused_by_name(value: Any, why: str) -> None:
    with pytest.raises(InvalidProblem, match=f"price is .*{why}") as caught:
        to_micro(value, "price")
    assert caught.value.field == "price"


@pytest.mark.parametrize(
    "value",
    [
        # More digits than a Decimal computes with by default (28).
        "0.1000000000000000000000000000000000000001",
        Decimal("1." + "0" * 40 + "1"),
        "999999999.9999999999999999999999999999999999",
        # Exponents beyond what a product of Decimals can have.
        "1e-2000000",
        "1e999999",
        pytest.param(10**5000, id="longer than Python writes"),
    ],
)
def test_many_digits_are_not_rounded_away(value: Any) -> None:
    with pytest.raises(InvalidProblem, match="price"):
        to_micro(value, "price")


def test_the_decimal_settings_of_the_caller_do_not_matter() -> None:
    with localcontext() as context:
        context.prec = 3
        assert to_micro("1234.567891", "x") == 1_234_567_891
        assert from_micro(1_234_567_891) == Decimal("1234.567891")
