"""One rating that a tool recorded, whichever tool it was."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

MISSING = ("", "null", "None", "nan", "NaN", "\\N")
"""What the cells of exported tables hold where there is no value."""


class Rating(NamedTuple):
    """What a judge or a person said of a task.

    Attributes
    ----------
    task : str
        What was rated.
    metric : str
        What it was rated for.
    judge : str or None
        Who rated, where the tool says so: a model, a person.
    person : bool
        Whether the tool marks it as the rating of a person.
    score : float or None
        A number.
    label : str or None
        What the rating says by itself: a category, or pass or fail by the tool's own threshold.
        None of a bare number; with neither label nor score the rating has failed.
    lower_passes : bool
        Whether low numbers are the good ones.
    unnamed : bool
        Whether the metric has no name of its own, but that of its kind.
    """

    task: str
    metric: str
    judge: str | None = None
    person: bool = False
    score: float | None = None
    label: str | None = None
    lower_passes: bool = False
    unnamed: bool = False


class Export(NamedTuple):
    """The ratings in a file, and what in it is none.

    Attributes
    ----------
    ratings : list of Rating
        In the order of the file.
    left_out : mapping of str to int
        How many entries were passed over, by the reason.
    hint : str
        Where the tool keeps the ratings of people, for those who look for them.
    """

    ratings: list[Rating]
    left_out: Mapping[str, int]
    hint: str


def passed(success: Any) -> str | None:
    """A tool's own pass or fail, as a label; None if it says neither."""
    if isinstance(success, str):
        success = {"true": True, "false": False}.get(success.strip().lower())
    if not isinstance(success, bool):
        return None
    return "pass" if success else "fail"


def number(value: Any) -> float | None:
    """A score as a number; None of what is none.

    Examples
    --------
    >>> number("0.5"), number(True), number("good"), number(float("nan"))
    (0.5, 1.0, None, None)
    """
    if isinstance(value, str) and value.strip() in MISSING:
        return None
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None


def text(value: Any) -> str | None:
    """A value as text without the space around it; None of what is missing."""
    if value is None or isinstance(value, dict | list):
        return None
    found = str(value).strip()
    return None if found in MISSING else found
