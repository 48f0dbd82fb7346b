"""Workers and tasks as tables: one per line; the first line names the columns."""

import csv
import gzip
import io
import os
import re
import tomllib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from askwise.core.errors import InvalidProblem, nearest
from askwise.core.fields import refuse_unknown
from askwise.core.problem import Task, Worker

T = TypeVar("T", Task, Worker)
V = TypeVar("V")

_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

_KINDS: dict[str, tuple[Callable[[str], Any], str]] = {
    "limit": (int, "a whole number"),
    "rating": (float, "a number"),
    "rating_weight": (float, "a number"),
    "trusted": (lambda text: _FLAGS[text.lower()], "true or false"),
}
"""Fields of a worker that are not text; the price stays text, as money is read exactly."""

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
"""What may separate the columns of a table, and what messages call it."""

_PAYLOAD_HINT = "; name the column that workers are shown 'payload', and leave other columns out"


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
    given = _given(fields, Worker, ("id", "price"))
    for name, text in given.items():
        if name in _KINDS:
            given[name] = value_of(text, *_KINDS[name], f"{name} of worker {given['id']!r}", name)
    return Worker(**given)


def task_of_text(fields: Mapping[str, str]) -> Task:
    """Build a task from fields given as text; empty ones count as not given."""
    given = _given(fields, Task, ("id",))
    if "workers" in given:
        given["workers"] = [name.strip() for name in given["workers"].split(";") if name.strip()]
    return Task(**given)


def value_of(text: str, kind: Callable[[str], V], wanted: str, label: str, field: str) -> V:
    """What a text says; refuses one that says nothing of the kind that is wanted."""
    try:
        return kind(text)
    except (ValueError, KeyError, ArithmeticError):
        raise InvalidProblem(f"{label} is {text!r}: give {wanted}", field=field) from None


@dataclass(frozen=True, eq=False)
class HeldFile:
    """A file that is held in memory, such as one that a browser has sent.

    Attributes
    ----------
    name : str
        What messages call it; its ending names the format.
    raw : bytes
        What is in it.
    """

    name: str
    raw: bytes


def read_text(path: Path, raw: bytes | None = None) -> str:
    """Read a file as UTF-8, with or without a byte order mark; ``.gz`` is unpacked.

    If its bytes are given, only its name is used.
    """
    raw = path.read_bytes() if raw is None else raw
    if path.name.lower().endswith(".gz"):
        try:
            raw = gzip.decompress(raw)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InvalidProblem(
                f"{path} can't be unpacked ({error}): compress it again", field="file"
            ) from None
    return decoded(path, raw.removeprefix(b"\xef\xbb\xbf"))


def decoded(path: Path, raw: bytes, line: int = 1) -> str:
    """Bytes of a file, from a line on, as UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line += raw.count(b"\n", 0, error.start)
        raise InvalidProblem(
            f"{path}, line {line}: byte 0x{raw[error.start]:02x} is not UTF-8; "
            "save the file with the encoding UTF-8",
            field="file",
        ) from None


@contextmanager
def placed(place: str) -> Iterator[None]:
    """Say of an error where in a file it is."""
    try:
        yield
    except InvalidProblem as error:
        raise InvalidProblem(f"{place}: {error}", field=error.field, reason=error.reason) from None


def read_toml(path: Path, noun: str, known: Sequence[str]) -> dict[str, Any]:
    """Read a file as TOML; refuses fields at the top that such a file does not have."""
    try:
        raw = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InvalidProblem(f"{path} is not TOML: {error}", field="file") from None
    refuse_unknown(raw, known, f"{path}: {noun}")
    return raw


def csv_rows(
    path: Path, names: Sequence[str], raw: bytes | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, each with the line it begins in; the first names the columns.

    Columns are separated by commas, by semicolons as spreadsheets write them where the comma is
    the decimal point, or by tabs. ``names`` are the columns that a file should have, for those who
    gave an empty one.
    """
    text = read_text(path, raw)
    separator = separator_of(text)
    return parsed_rows(path, io.StringIO(text, newline=""), names, separator=separator)


def separator_of(text: str) -> str:
    """What separates the columns of a table: what its first line has most of, outside quotes.

    Examples
    --------
    >>> separator_of('id;"text, as written"\\n1;Fine')
    ';'
    """
    first = next((line for line in text.splitlines() if line.strip()), "")
    plain = re.sub(r'"[^"]*"', "", first)
    # The first of the most frequent: a comma where there is none of the others.
    return max(SEPARATORS, key=plain.count)


def parsed_rows(
    path: Path,
    lines: Iterable[str],
    names: Sequence[str],
    line: int = 1,
    head: Sequence[str] = (),
    separator: str = ",",
) -> Iterator[tuple[int, list[str]]]:
    """The same of lines of a file, the first of which is ``line``.

    If ``head`` has its columns already, no line names them.
    """
    reader = csv.reader(lines, strict=True, delimiter=separator)
    word = SEPARATORS[separator]
    before = line
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                if not head:
                    cells = head = [cell.strip() for cell in cells]
                if len(cells) != len(head):
                    raise InvalidProblem(
                        f"{path}, line {line}: {len(cells)} values for the {len(head)} columns "
                        f"{', '.join(head)}; give one for each, text with {word} in quotes",
                        field="file",
                    )
                yield line, cells
            line = before + reader.line_num
    except csv.Error as error:
        raise InvalidProblem(
            f"{path}, line {line}: {error}; separate columns by {word} and put text with {word}, "
            'quotes or line breaks into "quotes"',
            field="file",
        ) from None
    if not head:
        known = f" ({', '.join(names)})" if names else ""
        raise InvalidProblem(
            f"{path} is empty: its first line must name the columns{known}", field="file"
        )


def columns_of(
    path: Path,
    names: Sequence[str],
    needed: Sequence[str],
    optional: Sequence[str],
    *,
    only: bool = False,
) -> list[str]:
    """Those of a table's columns that are read, in the order of asking.

    With ``only``, a table that has any other is refused.
    """
    for name in needed:
        if name not in names:
            raise InvalidProblem(
                f"{path} has no column {name!r}: it has {', '.join(names) or 'none'}, "
                f"and needs {', '.join(needed)}",
                field=name,
            )
    wanted = [name for name in (*needed, *optional) if name in names]
    for name in wanted:
        if names.count(name) > 1:
            raise InvalidProblem(f"{path} has two columns {name!r}: rename one", field=name)
    if only:
        refuse_other_columns(path, names, (*needed, *optional))
    return wanted


def refuse_other_columns(
    path: Path, names: Sequence[str], known: Sequence[str], hint: str = ""
) -> None:
    """Refuse columns that a table of its kind does not have; ``hint`` says what else helps."""
    for name in names:
        if name not in known:
            raise InvalidProblem(
                f"{path} has a column {name!r}: {nearest(name, known)}{hint}", field=name
            )


def _read(
    path: Path, noun: type[T], make: Callable[[Mapping[str, str]], T], needed: tuple[str, ...]
) -> list[T]:
    known = [field.name for field in fields(noun)]
    rows = csv_rows(path, known)
    _, names = next(rows)
    columns_of(path, names, needed, known)
    refuse_other_columns(path, names, known, _PAYLOAD_HINT if noun is Task else "")
    found: list[T] = []
    lines: dict[str, int] = {}
    for line, cells in rows:
        with placed(f"{path}, line {line}"):
            made = make(dict(zip(names, cells, strict=True)))
            if made.id in lines:
                raise InvalidProblem(
                    f"{noun.__name__.lower()} {made.id!r} is in line {lines[made.id]} already",
                    field="id",
                )
        lines[made.id] = line
        found.append(made)
    return found


def _given(text: Mapping[str, str], noun: type[T], needed: tuple[str, ...]) -> dict[str, Any]:
    kind, known = noun.__name__.lower(), [field.name for field in fields(noun)]
    refuse_unknown(text, known, f"a {kind}")
    given = {
        name: cell if name == "payload" else cell.strip()
        for name, cell in text.items()
        if cell.strip()
    }
    for name in needed:
        if name not in given:
            raise InvalidProblem(f"{kind} {text.get('id', '')!r} lacks {name!r}", field=name)
    return given
