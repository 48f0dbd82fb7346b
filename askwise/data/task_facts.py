"""What is known of tasks beside their answers: truths, kinds, features."""

import math
import os

from askwise.core.errors import InvalidProblem
from askwise.data.columns import Columns, read_columns
from askwise.data.tables import value_of


def read_gold(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read true labels from a file with the columns ``task`` and ``label``."""
    return by_task(read_columns(path, ("task", "label")), "label")


def read_contexts(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read the kinds of tasks from a file with the columns ``task`` and ``context``."""
    return by_task(read_columns(path, ("task", "context")), "context")


def by_task(found: Columns, column: str) -> dict[str, str]:
    """What a column says of each task; two things of one task are refused."""
    rows: dict[str, int] = {}
    values = found.cells[column]
    for row, task in enumerate(found.cells["task"]):
        first = rows.setdefault(task, row)
        if values[first] != values[row]:
            raise InvalidProblem(
                f"{found.place(row)}: {column} of task {task!r} is {values[row]!r}, and "
                f"{values[first]!r} in line {found.lines[first]}; keep one of them",
                field=column,
            )
    return {task: values[row] for task, row in rows.items()}


def read_features(path: str | os.PathLike[str]) -> dict[str, tuple[float, ...]]:
    """Read features of tasks from a file with a column ``task`` and columns of numbers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "features.csv")
    ...     _ = file.write_text("task,length,colour\\nt1,3,0.5\\n")
    ...     read_features(file)
    {'t1': (3.0, 0.5)}
    """
    found = read_columns(path, ("task",), every=True)
    if len(found.cells) == 1:
        raise InvalidProblem(
            f"{found.source} has no column beside 'task': give features as numbers",
            field="features",
        )

    def numbers(task: str, said: dict[str, str]) -> tuple[float, ...]:
        return tuple(_number(text, name) for name, text in said.items())

    return found.each("task", numbers, noun="task")


def _number(text: str, name: str) -> float:
    number = value_of(text, float, "a number", name, name)
    if not math.isfinite(number):
        raise InvalidProblem(f"{name} is {text!r}: give a finite number", field=name)
    return number
