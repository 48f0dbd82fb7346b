"""Workers and tasks as tables: one a line, the first line names the columns."""

from __future__ import annotations

import csv
import io
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from askwise.core.errors import InvalidProblem, nearest
from askwise.core.problem import Task, Worker

T = TypeVar("T", Task, Worker)

_NUMBERS: dict[str, type] = {"limit": int, "rating": float, "rating_weight": float}
"""Fields that are numbers; the price stays text, as money is read exactly."""

_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read_workers(path: str | os.PathLike[str]) -> list[Worker]:
    """Read workers from a CSV file with the columns ``id``, ``price`` and, if wanted, others.

    Raises
    ------
    InvalidProblem
        The file is no such table; the message names the line.
    OSError
        The file can't be read.
    """
    return _read(Path(path), Worker, worker_of_text, ("id", "price"))


def read_tasks(path: str | os.PathLike[str]) -> list[Task]:
    """Read tasks from a CSV file with the column ``id`` and, if wanted, ``context``, ``payload``.

    A payload is taken as text. A column ``workers`` names those who may be asked, separated by
    semicolons.
    """
    return _read(Path(path), Task, task_of_text, ("id",))


def worker_of_text(fields: Mapping[str, str]) -> Worker:
    """Build a worker from fields given as text; empty ones count as not given.

    Examples
    --------
    >>> worker_of_text({"id": "ann", "price": "0.05", "limit": "3", "rating": ""}).limit
    3
    """
    given = _given(fields, Worker, "worker", ("id", "price"))
    return Worker(**{name: _number(name, text, given["id"]) for name, text in given.items()})


def task_of_text(fields: Mapping[str, str]) -> Task:
    """Build a task from fields given as text; empty ones count as not given."""
    given = _given(fields, Task, "task", ("id",))
    if "workers" in given:
        given["workers"] = [name.strip() for name in given["workers"].split(";") if name.strip()]
    return Task(**given)


def read_text(path: Path) -> str:
    """Read a file as UTF-8, with or without a byte order mark."""
    return as_text(path, path.read_bytes())


@contextmanager
def placed(place: str) -> Iterator[None]:
    """Say of an error where in a file it is."""
    try:
        yield
    except InvalidProblem as error:
        raise InvalidProblem(f"{place}: {error}", field=error.field, reason=error.reason) from None


def read_toml(path: Path) -> dict[str, Any]:
    """Read a file as TOML."""
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InvalidProblem(f"{path} is not TOML: {error}", field="file") from None


def as_text(path: Path, raw: bytes) -> str:
    """Decode what a file holds."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InvalidProblem(
            f"{path}, line {line}: byte 0x{raw[error.start]:02x} is not UTF-8; "
            "save the file with the encoding UTF-8",
            field="file",
        ) from None


def _read(
    path: Path, noun: type[T], make: Callable[[Mapping[str, str]], T], needed: tuple[str, ...]
) -> list[T]:
    found: list[T] = []
    lines: dict[str, int] = {}
    for line, fields in _records(path, noun, needed):
        with placed(f"{path}, line {line}"):
            made = make(fields)
        if made.id in lines:
            raise InvalidProblem(
                f"{path}, line {line}: {noun.__name__.lower()} {made.id!r} is in line "
                f"{lines[made.id]} already",
                field="id",
            )
        lines[made.id] = line
        found.append(made)
    return found


def _records(
    path: Path, noun: type, needed: tuple[str, ...]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Each line of the table that is not empty, by column, with its number in the file."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    columns: list[str] | None = None
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise InvalidProblem(
                f"{path}, line {line}: {error}; separate columns by commas and put text with "
                'commas, quotes or line breaks into "quotes"',
                field="file",
            ) from None
        if cells is None:
            break
        if not any(cell.strip() for cell in cells):
            continue
        if columns is None:
            columns = _check_columns(path, [cell.strip() for cell in cells], noun, needed)
            continue
        if len(cells) != len(columns):
            raise InvalidProblem(
                f"{path}, line {line}: {len(cells)} values for the {len(columns)} columns "
                f"{', '.join(columns)}",
                field="file",
            )
        yield line, dict(zip(columns, cells, strict=True))
    if columns is None:
        raise InvalidProblem(
            f"{path} is empty: the first line names the columns ({', '.join(noun.__slots__)})",  # type: ignore[attr-defined]
            field="file",
        )


def _check_columns(
    path: Path, columns: list[str], noun: type, needed: tuple[str, ...]
) -> list[str]:
    known: tuple[str, ...] = noun.__slots__  # type: ignore[attr-defined]
    for column in needed:
        if column not in columns:
            raise InvalidProblem(
                f"{path} has no column {column!r}: its first line is {','.join(columns)!r}, "
                f"it must name columns out of {','.join(known)}",
                field=column,
            )
    for column in columns:
        if column not in known:
            raise InvalidProblem(
                f"{path} has a column {column!r}: {nearest(column, known)}", field=column
            )
        if columns.count(column) > 1:
            raise InvalidProblem(f"{path} has two columns {column!r}", field=column)
    return columns


def _given(
    fields: Mapping[str, str], noun: type, kind: str, needed: tuple[str, ...]
) -> dict[str, Any]:
    known: tuple[str, ...] = noun.__slots__  # type: ignore[attr-defined]
    given = {}
    for name, text in fields.items():
        if name not in known:
            raise InvalidProblem(
                f"a {kind} has no field {name!r}: {nearest(name, known)}", field=name
            )
        if text.strip():
            given[name] = text if name == "payload" else text.strip()
    for name in needed:
        if name not in given:
            raise InvalidProblem(f"{kind} {fields.get('id', '')!r} lacks {name!r}", field=name)
    return given


def _number(name: str, text: str, worker: str) -> Any:
    if name == "trusted":
        if text.lower() not in _FLAGS:
            raise InvalidProblem(
                f"trusted of worker {worker!r} is {text!r}: give true or false", field=name
            )
        return _FLAGS[text.lower()]
    kind = _NUMBERS.get(name)
    if kind is None:
        return text
    try:
        return kind(text)
    except ValueError:
        wanted = "a whole number" if kind is int else "a number"
        raise InvalidProblem(
            f"{name} of worker {worker!r} is {text!r}: give {wanted}", field=name
        ) from None
