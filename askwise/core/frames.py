"""Data frames as input: rows by the names of their columns, as the CSV files have them.

A frame is known by what it does, so nothing here imports pandas.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from askwise.core.errors import InvalidProblem
from askwise.core.fields import as_name, by_name, plain_scalar

_MISSING = ("NAType", "NaTType")


def is_frame(value: object) -> bool:
    """Whether something is a data frame."""
    return hasattr(value, "columns") and hasattr(value, "itertuples")


def is_missing(value: object) -> bool:
    """Whether a cell says nothing: None, NaN, or what pandas puts there."""
    if value is None or type(value).__name__ in _MISSING:
        return True
    return isinstance(value, float) and value != value


def frame_rows(frame: Any, field: str, needed: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of a frame as mappings, without the cells that say nothing.

    Scalars of NumPy become Python's; a whole number that turned into a float because others of
    its column are missing is one again. ``needed`` columns have to be there and filled.
    """
    names = _needed(frame, field, needed)
    rows = []
    for at, cells in enumerate(frame.itertuples(index=False, name=None)):
        row = {
            name: _plain(name, cell)
            for name, cell in zip(names, cells, strict=True)
            if not is_missing(cell)
        }
        for name in needed:
            if name not in row:
                raise _empty(field, name, at)
        rows.append(row)
    return rows


def frame_texts(frame: Any, field: str, needed: Sequence[str]) -> dict[str, list[str]]:
    """Columns of a frame as texts, of a whole number its text; every cell has to be filled."""
    _needed(frame, field, needed)
    found: dict[str, list[str]] = {}
    for name in needed:
        found[name] = [_text(cell, field, name, at) for at, cell in enumerate(frame[name])]
    return found


def told_by_task(given: Any, field: str, column: str) -> dict[str, str]:
    """What is told of tasks: by a mapping, a Series by task, or a frame with two columns.

    Tasks of which nothing is told are left out.
    """
    if is_frame(given):
        _needed(given, field, ("task", column))
        pairs = list(zip(given["task"], given[column], strict=True))
    elif isinstance(given, Mapping) or hasattr(given, "items"):
        pairs = list(given.items())
    else:
        raise InvalidProblem(
            f"{field} is a {type(given).__name__}: give a mapping of task to {column}, or a data "
            f"frame with the columns task and {column}",
            field=field,
        )
    told: dict[str, str] = {}
    for at, (task, value) in enumerate(pairs):
        if is_missing(value):
            continue
        name, text = _text(task, field, "task", at), _text(value, field, column, at)
        if told.setdefault(name, text) != text:
            raise InvalidProblem(
                f"{field} names task {name!r} twice, with {told[name]!r} and {text!r}: keep one",
                field=field,
            )
    return told


def _needed(frame: Any, field: str, needed: Sequence[str]) -> list[str]:
    names = [str(name) for name in frame.columns]
    for name in needed:
        if name not in names:
            raise InvalidProblem(
                f"{field} has no column {name!r}: its columns are {', '.join(names) or 'none'}; it "
                f"needs {' and '.join(needed)}",
                field=name,
            )
    by_name(dict.fromkeys(frame.columns), "column")
    return names


def _plain(name: str, cell: Any) -> Any:
    cell = plain_scalar(cell)
    if name == "limit" and isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if name == "workers" and isinstance(cell, str):
        return [each.strip() for each in cell.split(";") if each.strip()]
    return cell


def _text(cell: Any, field: str, column: str, at: int) -> str:
    if is_missing(cell):
        raise _empty(field, column, at)
    text = as_name(cell)
    if isinstance(text, str):
        return text
    if isinstance(text, float):
        return str(text)
    raise InvalidProblem(
        f"{column} of {field} is {cell!r} in row {at} (counted from 0): give text or a number",
        field=column,
    )


def _empty(field: str, column: str, at: int) -> InvalidProblem:
    return InvalidProblem(
        f"column {column!r} of {field} is empty in row {at} (counted from 0): fill it or drop the "
        "row",
        field=column,
    )
