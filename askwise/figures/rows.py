"""What is drawn: rows, each one point of one curve with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np

from askwise.core.errors import InvalidParameter


@dataclass(frozen=True, slots=True)
class Row:
    """One point of one curve, or one cell of one table.

    Attributes
    ----------
    panel : str
        The sub-figure it belongs to; empty where there is only one.
    series : str
        Label of the policy (or other curve), such as ``bounded-epsilon-first(epsilon=0.15)``.
    x : float
        Where on the horizontal axis: a budget, a number of workers.
    metric : str
        What was measured, such as ``utility`` or ``share_of_optimum``.
    mean, ci_low, ci_high : float
        The estimate and its 95% interval.
    n : int
        Number of replications behind it; 0 if that is not known (a value out of a paper).
    """

    panel: str
    series: str
    x: float
    metric: str
    mean: float
    ci_low: float
    ci_high: float
    n: int

    def __post_init__(self) -> None:
        for name in ("panel", "series", "metric"):
            if not isinstance(getattr(self, name), str):
                refuse(name, getattr(self, name), "a text")
        for name in ("x", "mean", "ci_low", "ci_high", "n"):
            # Rows are often built from NumPy scalars, which JSON does not know.
            object.__setattr__(self, name, _plain_number(name, getattr(self, name)))
        if not self.ci_low <= self.ci_high:
            refuse("ci_low", self.ci_low, f"at most ci_high, {self.ci_high!r}")
        if not isinstance(self.n, int) or self.n < 0:
            refuse("n", self.n, "a whole number, 0 or more")


@dataclass(frozen=True, slots=True)
class ReferenceRow(Row):
    """A value that was not measured here: a paper's figure, or a bound.

    Attributes
    ----------
    style : {"points", "line"}
        Hollow markers (values read out of a paper) or a dashed line (a bound).
    source : str
        Whose value it is, in words: another reading's, where a paper has no digits.
    """

    style: Literal["line", "points"] = "points"
    source: str = "the paper"

    @classmethod
    def at(
        cls,
        series: str,
        x: float,
        metric: str,
        mean: float,
        *,
        panel: str = "",
        half_width: float = 0.0,
        style: Literal["line", "points"] = "points",
        source: str = "the paper",
    ) -> ReferenceRow:
        """A value with the half width of its interval, as papers print it: ``59.88 (0.35)``."""
        low, high = mean - half_width, mean + half_width
        return cls(panel, series, x, metric, mean, low, high, 0, style, source)


def source_of(rows: Iterable[Row]) -> str:
    """Whose values references are; those of an experiment have one source."""
    return next((row.source for row in rows if isinstance(row, ReferenceRow)), "the paper")


def _plain_number(name: str, value: Any) -> int | float:
    if isinstance(value, (bool, np.bool_)):
        refuse(name, value, "a number")
    if isinstance(value, (int, np.integer)):
        return int(value)
    if not isinstance(value, (float, np.floating)) or not math.isfinite(value):
        refuse(name, value, "a finite number")
    return float(value)


def refuse(name: str, value: object, valid: str) -> NoReturn:
    """Raise the one error: which field, its value, what would be valid."""
    shown = value if isinstance(value, str) else repr(value)
    raise InvalidParameter(f"{name} is {shown}; it must be {valid}", field=name)
