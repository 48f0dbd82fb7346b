"""What pictures of plans show."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from askwise.figures import ReferenceRow, Row

SERIES = "expected; shaded: 8 campaigns of 10"

Point = tuple[float, float, float, float]
"""A place on the axis, what is expected there, and the ends of the 80% range."""


def count(number: int, noun: str) -> str:
    """A number of things.

    Examples
    --------
    >>> count(1, "question"), count(2000, "question")
    ('1 question', '2000 questions')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def cost_picture(
    title: str, path: Sequence[Point], runs: int, budget: Decimal | None
) -> dict[str, Any]:
    """The cost of campaigns by number of questions, as `askwise.figures.draw` takes it."""
    rows = [
        Row("", SERIES, at, "cost", mean, low, high, runs)
        for at, mean, low, high in [(0.0, 0.0, 0.0, 0.0), *path]
    ]
    reference = []
    if budget is not None:
        reference = _level(f"budget: {budget}", "cost", float(budget), rows)
    return {
        "results_rows": rows,
        "title": title,
        "metric": "cost",
        "x_label": "questions in the campaign",
        "y_label": "cost of the campaign",
        "reference": reference,
        "highlight": [SERIES],
    }


def error_picture(
    title: str, tried: Sequence[tuple[str, Point]], runs: int, target: tuple[str, float] | None
) -> dict[str, Any]:
    """Wrong labels against cost, for the settings that were tried; the last is the plan."""
    rows = [
        Row("", series, cost, "error", mean, low, high, runs)
        for series, (cost, mean, low, high) in tried
    ]
    return {
        "results_rows": rows,
        "title": title,
        "metric": "error",
        "x_label": "cost of the campaign",
        "y_label": "share of wrong labels",
        "reference": [] if target is None else _level(target[0], "error", target[1], rows),
        "highlight": [tried[-1][0]],
    }


def _level(series: str, metric: str, level: float, rows: Sequence[Row]) -> list[ReferenceRow]:
    places = [row.x for row in rows]
    ends = (min(places), max(places))
    return [ReferenceRow.at(series, x, metric, level, style="line") for x in ends]
