"""What tokens cost: exact prices, whole millionths, rounded up once a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from askwise.core.errors import InvalidParameter
from askwise.core.fields import refuse_unknown
from askwise.core.money import MICRO

MOST_TOKENS = 10**9
"""A usage beyond this is not believed."""

_KNOWN = ("input", "cached", "output", "per")


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of a call, as its reply counts them; ``cached`` ones are among those of the input."""

    input: int
    cached: int
    output: int

    @classmethod
    def read(cls, raw: object, *, spoke: bool = True) -> TokenUsage | None:
        """Read the ``usage`` of a reply; None if it is missing or can't be true.

        ``spoke`` says that the reply has a text, which can't have come of no tokens.

        Examples
        --------
        >>> TokenUsage.read({"prompt_tokens": 12, "completion_tokens": 3})
        TokenUsage(input=12, cached=0, output=3)
        >>> TokenUsage.read({"prompt_tokens": -1, "completion_tokens": 3}) is None
        True
        """
        if not isinstance(raw, Mapping):
            return None
        details = raw.get("prompt_tokens_details")
        cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
        if cached is None:
            cached = raw.get("prompt_cache_hit_tokens")
        made = cls(
            _count(raw.get("prompt_tokens")),
            0 if cached is None else _count(cached),
            _count(raw.get("completion_tokens")),
        )
        possible = made.input > 0 and 0 <= made.cached <= made.input and made.output >= int(spoke)
        return made if possible else None


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """Prices of ``per`` tokens each.

    Parameters
    ----------
    input, output : amount of money
        What tokens of the prompt, and of the reply, cost.
    cached : amount of money, optional
        What tokens of the prompt cost that the endpoint had cached; as others if not given.
    per : int
        How many tokens the prices are for.

    Examples
    --------
    >>> mini = TokenPrice.read({"input": "0.15", "output": "0.60"})
    >>> mini.bill(TokenUsage(1000, 0, 10))
    156
    >>> mini.bill(TokenUsage(1, 0, 0))
    1
    """

    input: Fraction
    cached: Fraction
    output: Fraction
    per: int = MICRO

    @classmethod
    def read(cls, raw: object) -> TokenPrice:
        """Read prices as users write them: a mapping, or 0 for a model that costs nothing."""
        if isinstance(raw, TokenPrice):
            return raw
        if not isinstance(raw, Mapping):
            if not isinstance(raw, bool) and raw in (0, "0"):
                return cls(Fraction(0), Fraction(0), Fraction(0))
            raise InvalidParameter(
                f'price is {raw!r}: give {{input = "0.15", output = "0.60", per = 1000000}}, or '
                "0 if it costs nothing",
                field="price",
            )
        refuse_unknown(raw, _KNOWN, "price", field="price", error=InvalidParameter)
        for key in ("input", "output"):
            if key not in raw:
                raise InvalidParameter(f"price lacks {key!r}", field="price")
        per = raw.get("per", MICRO)
        if isinstance(per, bool) or not isinstance(per, int) or not 1 <= per <= MOST_TOKENS:
            raise InvalidParameter(
                f"per of price is {per!r}: give the number of tokens that prices are for, such as "
                "1000000",
                field="price",
            )
        amounts = {key: _amount(raw[key], key) for key in _KNOWN[:3] if key in raw}
        return cls(
            amounts["input"], amounts.get("cached", amounts["input"]), amounts["output"], per
        )

    def bill(self, usage: TokenUsage) -> int:
        """What a call costs, in millionths, rounded up."""
        fresh = usage.input - usage.cached
        total = fresh * self.input + usage.cached * self.cached + usage.output * self.output
        return -((-total * MICRO / self.per) // 1)

    def most(self, input_tokens: int, output_tokens: int) -> int:
        """The most that a call of no more tokens than these can cost."""
        total = input_tokens * max(self.input, self.cached) + output_tokens * self.output
        return -((-total * MICRO / self.per) // 1)

    def to_json(self) -> dict[str, Any]:
        """As JSON, exactly."""
        prices = {key: str(getattr(self, key)) for key in _KNOWN[:3]}
        return {**prices, "per": self.per}


def _count(raw: object) -> int:
    """A number of tokens; -1 for what is none."""
    fits = isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw <= MOST_TOKENS
    return raw if fits and isinstance(raw, int) else -1


def _amount(value: object, key: str) -> Fraction:
    wrong = InvalidParameter(
        f'{key} of price is {value!r}: give an amount of 0 or more, such as "0.15"', field="price"
    )
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise wrong
    try:
        # A float is taken at its decimal writing: 0.15 means fifteen hundredths.
        amount = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    except InvalidOperation:
        raise wrong from None
    if not amount.is_finite() or not 0 <= amount <= MICRO or amount.adjusted() < -30:
        raise wrong
    return Fraction(amount)
