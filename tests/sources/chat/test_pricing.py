"""Bills are exact: whole millionths, rounded up once, never below what tokens cost."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.errors import InvalidParameter
from askwise.sources.chat.pricing import TokenPrice, TokenUsage

amounts = st.decimals(0, 1000, places=6)
tokens = st.integers(0, 10**7)


@given(amounts, amounts, amounts, st.sampled_from([1, 1000, 10**6]), tokens, tokens, tokens)
def test_a_bill_is_the_exact_cost_rounded_up(
    fresh: Decimal, cached: Decimal, output: Decimal, per: int, new: int, old: int, out: int
) -> None:
    prices = {"input": str(fresh), "cached": str(cached), "output": str(output), "per": per}
    price = TokenPrice.read(prices)
    bill = price.bill(TokenUsage(new + old, old, out))
    exact = Fraction(fresh) * new + Fraction(cached) * old + Fraction(output) * out
    exact = exact * 10**6 / per
    assert type(bill) is int
    assert exact <= bill < exact + 1
    assert bill <= price.most(new + old, out)
    assert price.most(new + old, out) <= price.most(new + old + 1, out + 1)


def test_a_bill_by_hand() -> None:
    price = TokenPrice.read({"input": 0.15, "cached": "0.075", "output": Decimal("0.6")})
    # 800 x 0.15 + 200 x 0.075 + 11 x 0.6 = 141.6 millionths
    assert price.bill(TokenUsage(1000, 200, 11)) == 142


def test_what_costs_nothing_has_to_be_said() -> None:
    assert TokenPrice.read(0).most(10**6, 10**6) == 0
    with pytest.raises(InvalidParameter, match="or 0 if it costs nothing"):
        TokenPrice.read(None)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (3, "price is 3"),
        (False, "price is False"),
        ("0.15", "price is '0.15'"),
        ({"input": "1"}, "lacks 'output'"),
        ({"input": "1", "output": "1", "outptu": 1}, "did you mean 'output'"),
        ({"input": "-1", "output": "1"}, "input of price is '-1'"),
        ({"input": "nan", "output": "1"}, "input of price is 'nan'"),
        ({"input": "one", "output": "1"}, "input of price is 'one'"),
        ({"input": True, "output": "1"}, "input of price is True"),
        ({"input": "1e-40", "output": "1"}, "input of price"),
        ({"input": "1", "output": "1", "per": 0}, "per of price is 0"),
        ({"input": "1", "output": "1", "per": "1M"}, "per of price is '1M'"),
    ],
)
def test_a_price_that_is_none_is_refused(given: Any, said: str) -> None:
    with pytest.raises(InvalidParameter, match=said) as caught:
        TokenPrice.read(given)
    assert caught.value.field == "price"


GOOD = {"prompt_tokens": 12, "completion_tokens": 3}


@pytest.mark.parametrize(
    "wrong",
    [
        {"prompt_tokens": -1},
        {"prompt_tokens": 0},
        {"prompt_tokens": "12"},
        {"prompt_tokens": 12.0},
        {"prompt_tokens": True},
        {"prompt_tokens": 10**12},
        {"completion_tokens": None},
        {"completion_tokens": 0},
        {"prompt_tokens_details": {"cached_tokens": 13}},
        {"prompt_tokens_details": {"cached_tokens": -1}},
        {"prompt_cache_hit_tokens": 13},
    ],
)
def test_a_usage_that_can_not_be_true_is_none(wrong: dict[str, Any]) -> None:
    assert TokenUsage.read(GOOD) == TokenUsage(12, 0, 3)
    assert TokenUsage.read({**GOOD, **wrong}) is None


def test_cached_tokens_are_found_under_both_names() -> None:
    details = {**GOOD, "prompt_tokens_details": {"cached_tokens": 4}}
    assert TokenUsage.read(details) == TokenUsage(12, 4, 3)
    assert TokenUsage.read({**GOOD, "prompt_cache_hit_tokens": 5}) == TokenUsage(12, 5, 3)
    assert TokenUsage.read({**GOOD, "prompt_tokens_details": None}) == TokenUsage(12, 0, 3)
    assert TokenUsage.read([]) is None
    assert TokenUsage.read({**GOOD, "completion_tokens": 0}, spoke=False) == TokenUsage(12, 0, 0)
