"""Lists of tasks, workers and names, as users give them."""

from collections.abc import Iterable, Mapping
from typing import Any

from askwise.core.errors import InvalidProblem
from askwise.core.frames import frame_rows, is_frame

_COLUMNS = {"tasks": ("id",), "workers": ("id", "price"), "people": ("id", "price")}
"""What data frames need to have."""


def listed(value: Any, field: str) -> list[Any]:
    """Take a list (or another iterable, but no text and no single thing); None is empty.

    Of a data frame of tasks or workers, its rows.
    """
    if value is None:
        return []
    if is_frame(value):
        if field not in _COLUMNS:
            raise InvalidProblem(f"{field} is a data frame: give a list", field=field)
        return frame_rows(value, field, _COLUMNS[field])
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidProblem(f"{field} is {value!r}: give a list", field=field)
    return list(value)
