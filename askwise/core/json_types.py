"""Types with the limits that their values keep in JSON, for the fields of what is published.

A type checker sees the plain type; :mod:`askwise.core.schemas` reads the limits.
"""

import json
from typing import Annotated, Any


class JsonLimits(dict[str, Any]):
    """Keywords of JSON Schema, to be put beside a type in ``Annotated``."""

    def __hash__(self) -> int:  # type: ignore[override]
        # Types in a union are hashed.
        return hash(json.dumps(self, sort_keys=True))


AMOUNT_PATTERN = r"(0|[1-9][0-9]*)(\.[0-9]{1,6})?"

MONEY_SCHEMA = JsonLimits(type="string", pattern=f"^{AMOUNT_PATTERN}$", examples=["0.05"])
"""Money in JSON: exact, so a string."""

Id = Annotated[str, JsonLimits(minLength=1, maxLength=200)]
"""What somebody calls a task, a worker or an option."""

Word = Annotated[str, JsonLimits(minLength=1)]
"""A label that is never empty."""

Day = Annotated[str, JsonLimits(format="date", examples=["2026-11-18"])]
"""A day of the calendar."""

AssignmentId = Annotated[str, JsonLimits(pattern="^.+:[1-9][0-9]*$")]
"""A campaign and a number, as ``cats:12``."""

Count = Annotated[int, JsonLimits(minimum=0)]
Positive = Annotated[int, JsonLimits(minimum=1)]
NumberOfOptions = Annotated[int, JsonLimits(minimum=2)]

Quantity = Annotated[float, JsonLimits(minimum=0)]
"""How much of something that may come in parts."""

Share = Annotated[float, JsonLimits(minimum=0, maximum=1)]
Level = Annotated[float, JsonLimits(exclusiveMinimum=0, exclusiveMaximum=1)]
"""A share that is neither none nor all, such as a confidence level."""

Chance = Annotated[float, JsonLimits(exclusiveMinimum=0, maximum=1)]
"""The probability of what has happened."""

Correlation = Annotated[float, JsonLimits(minimum=-1, maximum=1)]
PartSaved = Annotated[float, JsonLimits(maximum=1)]
"""A share that is saved: negative where more was spent."""
