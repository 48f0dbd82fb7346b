"""A campaign as a TOML file: the fields that ``Campaign.create`` takes."""

import os
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from askwise.core.content import Content
from askwise.core.errors import InvalidProblem
from askwise.core.fields import as_name
from askwise.core.problem import Task, Worker, as_task, as_worker
from askwise.data.tables import placed, read_tasks, read_toml, read_workers

FIELDS = (
    *("name", "budget", "outcome", "options", "policy", "stopping", "aggregation", "mechanism"),
    *("certify", "pilot", "screening", "content", "repeat", "lease", "seed", "workers", "tasks"),
)

_SHAPES: dict[str, tuple[tuple[type, ...], str]] = {
    "outcome": ((str, dict), "'utility' or a table like {kind = 'utility', low = 0, high = 1}"),
    "options": ((list,), "a list of names like ['no', 'yes']"),
    "certify": ((dict,), "a table [certify] with error, confidence and by"),
    "pilot": ((int, dict), "a number of tasks, or a table [pilot] with tasks and workers"),
    "screening": ((bool, dict), "true, or a table [screening] with qualify, rate and others"),
    "content": ((dict,), "a table [content] with the question"),
    "repeat": ((bool,), "true or false"),
    "workers": ((str, list), "the name of a CSV file, or tables [[workers]]"),
    "tasks": ((str, list), "the name of a CSV file, a list of ids, or tables [[tasks]]"),
}
"""What the library takes on trust from a program, and a file may get wrong."""

_ENTRIES: dict[str, tuple[Callable[[Path], list[Any]], Callable[[Any], Any]]] = {
    "workers": (read_workers, as_worker),
    "tasks": (read_tasks, as_task),
}
"""How each is read from a table, and made from an entry of the file itself."""


def read_campaign(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the fields of a campaign; workers and tasks may be in CSV files beside it.

    Raises
    ------
    InvalidProblem
        The file, or a table it names, is not what it should be.
    OSError
        A file can't be read.
    """
    return _read(Path(path), FIELDS, "a campaign")


def read_additions(path: str | os.PathLike[str]) -> tuple[list[Worker], list[Task]]:
    """Read workers and tasks to be added to a campaign."""
    raw = _read(Path(path), ("workers", "tasks"), "a file of additions")
    return raw.get("workers", []), raw.get("tasks", [])


def read_content(path: str | os.PathLike[str]) -> Content:
    """Read what is asked: a question, options with their meanings, instructions, examples.

    Raises
    ------
    InvalidProblem
        The file is no such TOML.
    OSError
        The file can't be read.
    """
    file = Path(path)
    raw = read_toml(file, "a question", [field.name for field in fields(Content)])
    with placed(str(file)):
        return Content.from_json(raw)


def _read(path: Path, known: tuple[str, ...], noun: str) -> dict[str, Any]:
    raw = read_toml(path, noun, known)
    for key, value in raw.items():
        kinds, wanted = _SHAPES.get(key, ((object,), ""))
        if not isinstance(value, kinds):
            raise InvalidProblem(f"{path}: {key} is {value!r}: give {wanted}", field=key)
    for option in raw.get("options", ()):
        if not isinstance(as_name(option), str):
            raise InvalidProblem(
                f"{path}: options has {option!r}: give names, in quotes", field="options"
            )
    for field, (read, make) in _ENTRIES.items():
        given = raw.get(field)
        if isinstance(given, str):
            table = path.parent / given
            if not table.is_file():
                raise InvalidProblem(
                    f"{path}: {field} is {given!r}, but there is no file {table}", field=field
                )
            raw[field] = read(table)
        elif given is not None:
            with placed(str(path)):
                raw[field] = [make(each) for each in given]
    return raw
