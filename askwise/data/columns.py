"""Columns of text from and to files: CSV, TSV and JSON Lines (also gzipped), and Parquet."""

import csv
import gzip
import io
import json
import math
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.files import atomic_file
from askwise.data.tables import columns_of, csv_rows, placed, read_text

T = TypeVar("T")

ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".jsonl", ".jsonl.gz", ".parquet")

BATCH, FEW = 65_536, 16
"""Rows of Parquet that are unpacked at a time: of a file, and of one that was sent."""

LARGEST_HELD = 64 * 2**20
"""Characters that a file which was sent may unpack to."""

ColumnChoice = Callable[[Sequence[str]], list[str]]
"""Says which of a file's columns are read."""

Rows = Mapping[str, Sequence[Any]]
"""Rows to be written: the cells of each column."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_SUSPECT = frozenset((*_FORMULA, "'"))


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of a file, as text.

    Attributes
    ----------
    source : Path
        The file.
    cells : mapping of a column to its cells
        Without the space around them; those of needed columns are not empty, unless they may be.
    lines : sequence of int
        Where each row stands in the file: its line, or its row in Parquet.
    """

    source: Path
    cells: Mapping[str, list[str]]
    lines: Sequence[int]

    def place(self, row: int) -> str:
        """Name the place of a row, for messages."""
        word = "row" if ending_of(self.source) == ".parquet" else "line"
        return f"{self.source}, {word} {self.lines[row]}"

    def each(
        self, column: str, make: Callable[[str, dict[str, str]], T], *, noun: str = "worker"
    ) -> dict[str, T]:
        """What ``make`` makes of the name in a column and the rest of its row; each name once."""
        made: dict[str, T] = {}
        for row, values in enumerate(zip(*self.cells.values(), strict=True)):
            with placed(self.place(row)):
                rest = dict(zip(self.cells, values, strict=True))
                name = rest.pop(column)
                if name in made:
                    raise InvalidProblem(f"{noun} {name!r} appears twice", field=column)
                made[name] = make(name, rest)
        return made


def read_columns(
    path: str | os.PathLike[str],
    needed: Sequence[str],
    optional: Sequence[str] = (),
    *,
    only: bool = False,
    every: bool = False,
    blank: Sequence[str] = (),
    raw: bytes | None = None,
) -> Columns:
    """Read the named columns of a file; others are passed over, or refused with ``only``.

    With ``every``, all other columns are read as well. Of the needed columns, those in ``blank``
    may have empty cells. If the bytes of the file are given (``raw``), only its name is used.

    Raises
    ------
    InvalidProblem
        The file is no such table; the message names the line.
    OSError
        The file can't be read.
    """
    file = Path(path)
    ending = ending_of(file)

    def wanted(names: Sequence[str]) -> list[str]:
        more = [name for name in names if name not in needed] if every else optional
        return columns_of(file, names, needed, more, only=only)

    if ending == ".parquet":
        found = _read_parquet(file, wanted, raw)
    elif ending.startswith(".jsonl"):
        found = _read_json_lines(file, needed, wanted, raw, only=only, every=every)
    else:
        found = _read_csv(file, needed, wanted, raw)
    if not found.lines:
        raise InvalidProblem(
            f"{file} has no row below its columns: give at least one", field="file"
        )
    refuse_empty(found, [name for name in needed if name not in blank])
    return found


def refuse_empty(found: Columns, needed: Sequence[str]) -> None:
    """Refuse empty cells in needed columns."""
    for name in found.cells:
        if name in needed and "" in found.cells[name]:
            place = found.place(found.cells[name].index(""))
            raise InvalidProblem(
                f"{place}: {name} is empty; fill it or take the row out", field=name
            )


def ending_of(path: Path) -> str:
    """The ending of a file, which names its format."""
    name = path.name.lower()
    for ending in ENDINGS:
        if name.endswith(ending):
            return ending
    raise InvalidProblem(
        f"{path} has an ending that is not known: give a file that ends in {', '.join(ENDINGS)}",
        field="file",
    )


def _read_csv(
    path: Path, needed: Sequence[str], wanted: ColumnChoice, raw: bytes | None
) -> Columns:
    rows = csv_rows(path, needed, raw)
    _, names = next(rows)
    found: dict[str, list[str]] = {name: [] for name in wanted(names)}
    places = [(column.append, names.index(name)) for name, column in found.items()]
    lines = array("q")
    for line, cells in rows:
        for append, index in places:
            append(as_written(cells[index]))
        lines.append(line)
    return Columns(path, found, lines)


def _read_json_lines(
    path: Path,
    needed: Sequence[str],
    wanted: ColumnChoice,
    raw: bytes | None,
    *,
    only: bool,
    every: bool,
) -> Columns:
    lists: dict[str, list[str]] = {}
    lines = array("q")
    for number, record in json_rows(path, read_text(path, raw).split("\n"), needed):
        if not lists:
            # The first line says which of the optional fields there are.
            lists = {name: [] for name in wanted(list(record))}
        elif every:
            # Fields that only later lines have are empty in those before.
            for name in record:
                lists.setdefault(name, [""] * len(lines))
        elif only and (more := record.keys() - lists.keys()):
            raise InvalidProblem(
                f"{path}, line {number}: {min(more)!r} is not in the first line; give all lines "
                "the same fields",
                field=min(more),
            )
        lines.append(number)
        for name, column in lists.items():
            column.append(said(record.get(name), name, path, "line", number))
    return Columns(path, lists, lines)


def json_rows(
    path: Path, lines: Iterable[str], needed: Sequence[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects in lines that are not blank, each with its line."""
    empty = True
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidProblem(
                f"{path}, line {number}: not JSON ({error}); give one object per line", field="file"
            ) from None
        if not isinstance(record, dict):
            raise InvalidProblem(
                f"{path}, line {number}: give an object such as "
                f"{json.dumps(dict.fromkeys(needed, '...'))}",
                field="file",
            )
        empty = False
        yield number, record
    if empty:
        raise InvalidProblem(
            f"{path} is empty: give one object per line, with {', '.join(needed)}", field="file"
        )


def _read_parquet(path: Path, wanted: ColumnChoice, raw: bytes | None) -> Columns:
    rows = size = 0
    with parquet_file(path, raw) as file:
        read = wanted(list(file.schema_arrow.names))
        cells: dict[str, list[str]] = {name: [] for name in read}
        # What somebody has sent is unpacked a few rows at a time: it may be far larger than it is.
        for batch in file.iter_batches(BATCH if raw is None else FEW, columns=read):
            for name in read:
                column = cells[name]
                for row, value in enumerate(batch.column(name).to_pylist(), rows + 1):
                    column.append(said(value, name, path, "row", row))
                    size += len(column[-1])
            rows += batch.num_rows
            if raw is not None and size > LARGEST_HELD:
                raise InvalidProblem(
                    f"{path} unpacks to more than {LARGEST_HELD // 2**20} MB of text: give a "
                    "smaller file",
                    field="file",
                )
    return Columns(path, cells, range(1, rows + 1))


@contextmanager
def parquet_file(path: Path, raw: bytes | None = None) -> Iterator[Any]:
    """Open a file of Parquet, or its bytes; what can't be read of it is refused."""
    arrow, parquet = arrow_modules()
    try:
        with parquet.ParquetFile(path if raw is None else io.BytesIO(raw)) as file:
            yield file
    except arrow.lib.ArrowException as error:
        raise InvalidProblem(
            f"{path} can't be read as Parquet ({error}): write it again", field="file"
        ) from None


def arrow_modules() -> tuple[Any, Any]:
    """Arrow, and its module for Parquet."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "pyarrow":
            raise
        raise InvalidParameter(
            "Parquet needs pyarrow: pip install 'askwise[tables]'", field="tables"
        ) from None
    return pyarrow, pyarrow.parquet


def _arrow_cells(cells: Sequence[Any]) -> Any:
    """A column of Parquet: of one kind, or of text where its cells are of several."""
    arrow, _ = arrow_modules()
    try:
        return arrow.array(list(cells))
    except (arrow.ArrowInvalid, arrow.ArrowTypeError):
        return arrow.array([None if cell is None else str(cell) for cell in cells])


def said(value: Any, name: str, path: Path, unit: str, at: int) -> str:
    """A value as text; empty for none."""
    if isinstance(value, str):
        return value.strip()
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return str(value)
    raise InvalidProblem(
        f"{path}, {unit} {at}: {name} is {value!r}: give text or a number", field=name
    )


def write_columns(path: str | os.PathLike[str], columns: Rows) -> Path:
    """Write columns of equal length, in the format that the ending names, whole or not at all.

    In CSV, text that a spreadsheet would take for a formula (it begins with ``=``, ``+``,
    ``-``, ``@`` or a tab and is no number) gets an apostrophe before it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_columns(f"{folder}/a.csv", {"task": ["t", "=1+1", "-2"], "n": [1, 2, 3]})
    ...     print(file.read_text())
    task,n
    t,1
    '=1+1,2
    -2,3
    <BLANKLINE>
    """
    with column_writer(path) as add:
        add(columns)
    return Path(path)


@contextmanager
def column_writer(
    path: str | os.PathLike[str], types: Mapping[str, type] | None = None
) -> Iterator[Callable[[Rows], None]]:
    """Write columns, some rows at a time, as :func:`write_columns` does.

    What it yields takes the next rows of all columns. In Parquet ``types`` says of which type each
    column is (str, int, float or bool); without it, the first rows do.
    """
    file = Path(path)
    ending = ending_of(file)
    with ExitStack() as stack:
        raw: Any = stack.enter_context(atomic_file(file))
        if ending == ".parquet":
            yield _parquet_writer(raw, stack, types)
            return
        if ending.endswith(".gz"):
            raw = stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0))
        text = io.TextIOWrapper(raw, "utf-8", newline="")
        # Else it would close the file, which has still to be moved to its place.
        stack.callback(text.detach)
        if ending.startswith(".jsonl"):
            yield _json_writer(text)
        else:
            yield _csv_writer(text, "\t" if ending.startswith(".tsv") else ",")


def _json_writer(text: IO[str]) -> Callable[[Rows], None]:
    def add(columns: Rows) -> None:
        for row in zip(*columns.values(), strict=True):
            record = dict(zip(columns, row, strict=True))
            text.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")

    return add


def _csv_writer(text: IO[str], separator: str) -> Callable[[Rows], None]:
    writer = csv.writer(_UnixLines(text), delimiter=separator)
    begun = False

    def add(columns: Rows) -> None:
        nonlocal begun
        if not begun:
            writer.writerow(columns)
            begun = True
        writer.writerows(zip(*map(_harmless_cells, columns.values()), strict=True))

    return add


def _parquet_writer(
    raw: IO[bytes], stack: ExitStack, types: Mapping[str, type] | None
) -> Callable[[Rows], None]:
    arrow, parquet = arrow_modules()
    writer: Any = None
    named = {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}

    def add(columns: Rows) -> None:
        nonlocal writer
        table = arrow.table(
            {
                name: _arrow_cells(cells)
                if types is None
                else arrow.array(cells, named[types[name]])
                for name, cells in columns.items()
            }
        )
        if writer is None:
            writer = stack.enter_context(parquet.ParquetWriter(raw, table.schema))
        writer.write_table(table)

    return add


class _UnixLines:
    """Takes rows of a CSV writer that end in CR LF, and ends them in LF.

    The writer puts quotes around cells with a character of its line ends. A CR in a cell needs
    them as well: readers take it for the end of a row.
    """

    def __init__(self, text: IO[str]) -> None:
        self._text = text

    def write(self, row: str) -> None:
        self._text.write(row.removesuffix("\r\n") + "\n")


def check_written(path: str | os.PathLike[str]) -> None:
    """Refuse a file that :func:`write_columns` could not write, before the work for it is done.

    Raises
    ------
    InvalidParameter
        Its ending is not known, it is a directory, or it needs pyarrow, which is not there.
    """
    file = Path(path)
    try:
        ending = ending_of(file)
    except InvalidProblem as error:
        raise InvalidParameter(str(error), field="out") from None
    if file.is_dir():
        raise InvalidParameter(f"{file} is a directory: name a file in it", field="out")
    if ending == ".parquet":
        arrow_modules()


def _harmless_cells(cells: Sequence[Any]) -> list[Any]:
    """Cells that no spreadsheet takes for a formula; most begin with another character."""
    return [
        _harmless(cell) if isinstance(cell, str) and cell[:1] in _SUSPECT else cell
        for cell in cells
    ]


def _harmless(cell: Any) -> Any:
    """Put an apostrophe before what a spreadsheet would take for a formula; see `as_written`."""
    if not isinstance(cell, str) or not cell.lstrip("'").startswith(_FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def as_written(cell: str) -> str:
    """Take the apostrophe off again."""
    text = cell.strip()
    guarded = text.startswith("'") and text.lstrip("'").startswith(_FORMULA)
    return text[1:] if guarded else text
