"""Tables of any length, a chunk at a time: CSV and JSON Lines (also gzipped), and Parquet.

A chunk of CSV is parsed by Arrow where that is installed, the file is long and the chunk is plain.
Whatever Arrow does not take, or would take differently, is parsed in Python. So a row means the
same, and a bad one is refused with the same words, in a short file and in chunk 900 of a long one.
"""

import gzip
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from askwise.core.errors import InvalidProblem
from askwise.data.columns import (
    Columns,
    arrow_modules,
    as_written,
    ending_of,
    json_rows,
    parquet_file,
    refuse_empty,
    said,
)
from askwise.data.tables import columns_of, decoded, parsed_rows, separator_of

BLOCK = 2**24
"""Bytes of text that are parsed together."""

ROWS = 2**20
"""Rows of Parquet, or of JSON Lines, that are."""

LONG = 2**20
"""Bytes from which on it pays to load Arrow."""

Cells = Mapping[str, Any]
"""Columns of a chunk: lists of text, or dictionary-encoded arrays of Arrow."""


def text_chunks(path: str | os.PathLike[str], needed: Sequence[str]) -> Iterator[Columns]:
    """Chunks of the needed columns, parsed in Python, with the lines of their rows."""
    file = Path(path)
    if ending_of(file) == ".parquet":
        for first, batch in _batches(file, needed):
            cells = {
                name: [
                    said(value, name, file, "row", row)
                    for row, value in enumerate(batch.column(name).to_pylist(), first)
                ]
                for name in needed
            }
            yield _filled(Columns(file, cells, range(first, first + batch.num_rows)))
    elif ending_of(file).startswith(".jsonl"):
        yield from _json_chunks(file, needed)
    else:
        with _opened(file) as text:
            for chunk in _csv_chunks(text, needed, arrow=False):
                assert isinstance(chunk, Columns)
                yield chunk


def chunks(path: str | os.PathLike[str], needed: Sequence[str]) -> Iterator[Cells]:
    """Chunks of the needed columns, as fast as can be: see the module.

    Raises
    ------
    InvalidProblem
        The file is no such table; the message names the line.
    OSError
        The file can't be read.
    """
    file = Path(path)
    ending = ending_of(file)
    if ending == ".parquet":
        for first, batch in _batches(file, needed):
            yield {name: _encoded(file, name, batch.column(name), first) for name in needed}
    elif ending.startswith(".csv") and has_arrow(file):
        with _opened(file) as text:
            for chunk in _csv_chunks(text, needed, arrow=True):
                yield chunk.cells if isinstance(chunk, Columns) else chunk
    else:
        for read in text_chunks(file, needed):
            yield read.cells


def has_arrow(path: Path) -> bool:
    """Whether columns of a file are arrays of Arrow: of a long one, where Arrow is installed."""
    if ending_of(path) != ".parquet" and path.stat().st_size < LONG:
        return False
    try:
        import pyarrow  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True


class _Text:
    """The text of a file, a block of whole lines at a time."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path = path
        self._file = file
        self.block = b""
        self.line = 1
        """Where the block begins."""
        self.used_up = True
        """Whether ``lines`` has given all lines of the block."""

    def fill(self) -> bool:
        """Go on to the next block; false at the end of the file."""
        first = not self.block and self.line == 1
        self.line += _line_ends(self.block)
        try:
            # The first line alone: Arrow takes no header.
            self.block = self._file.readline() if first else self._file.read(BLOCK)
            if self.block and not self.block.endswith(b"\n"):
                self.block += self._file.readline()
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InvalidProblem(
                f"{self.path} can't be unpacked ({error}): compress it again", field="file"
            ) from None
        if first:
            self.block = self.block.removeprefix(b"\xef\xbb\xbf")
        self.used_up = not self.block
        return bool(self.block)

    def beginning(self) -> str:
        """The block as text; what is not UTF-8 is complained of when its line is read."""
        return self.block.decode("utf-8", "replace")

    def lines(self) -> Iterator[str]:
        """All lines from the beginning of the block on, to the end of the file."""
        while True:
            raw = self.block.splitlines(keepends=True)
            for at, line in enumerate(raw):
                self.used_up = at == len(raw) - 1
                yield decoded(self.path, line, self.line + at)
            if not self.fill():
                return


def _line_ends(block: bytes) -> int:
    """How many lines end in a block: by a line feed, a carriage return, or both."""
    return block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")


@contextmanager
def _opened(path: Path) -> Iterator[_Text]:
    zipped = path.name.lower().endswith(".gz")
    with gzip.open(path) if zipped else open(path, "rb") as file:
        yield _Text(path, file)  # type: ignore[arg-type]


def _csv_chunks(text: _Text, needed: Sequence[str], *, arrow: bool) -> Iterator[Columns | Cells]:
    """Chunks, each of one block or a few; the first line names the columns."""
    text.fill()
    separator = separator_of(text.beginning())
    rows = parsed_rows(text.path, text.lines(), needed, text.line, separator=separator)
    _, head = next(rows)
    columns_of(text.path, head, needed, ())
    places = {name: head.index(name) for name in needed}
    while True:
        cells: dict[str, list[str]] = {name: [] for name in needed}
        lines: list[int] = []
        while not text.used_up:
            # Asked for one row at a time: a row in quotes may end in a later block.
            line, found = next(rows, (0, []))
            if not found:
                break
            lines.append(line)
            for name, at in places.items():
                cells[name].append(as_written(found[at]))
        if lines:
            yield _filled(Columns(text.path, cells, lines))
        if not text.fill():
            return
        while arrow:
            parsed = _by_arrow(text.block, len(head), places, separator)
            if parsed is None:
                break
            yield parsed
            if not text.fill():
                return
        rows = parsed_rows(text.path, text.lines(), needed, text.line, head, separator)


def _by_arrow(block: bytes, width: int, places: Mapping[str, int], separator: str) -> Cells | None:
    """The columns of a block without the header; None if it has to be parsed in Python."""
    if b'"' in block or block.count(b"\r") != block.count(b"\r\n"):
        return None
    arrow, _ = arrow_modules()
    from pyarrow import compute, csv

    names = [str(at) for at in range(width)]
    read = [names[at] for at in places.values()]
    text = arrow.dictionary(arrow.int32(), arrow.string())
    try:
        table = csv.read_csv(
            arrow.BufferReader(block),
            csv.ReadOptions(column_names=names, block_size=len(block) + 1, use_threads=False),
            csv.ParseOptions(quote_char=False, delimiter=separator),
            csv.ConvertOptions(
                include_columns=read,
                column_types=dict.fromkeys(read, text),
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except arrow.ArrowInvalid:
        return None
    cells = {}
    for name, column in zip(places, table.columns, strict=True):
        found = column.combine_chunks()
        trimmed = compute.utf8_trim_whitespace(found.dictionary)
        odd = compute.or_(compute.equal(trimmed, ""), compute.starts_with(trimmed, "'"))
        if compute.any(odd).as_py():
            # Empty cells, blank rows, and apostrophes before what a spreadsheet could run.
            return None
        cells[name] = arrow.DictionaryArray.from_arrays(found.indices, trimmed)
    return cells


def _json_chunks(path: Path, needed: Sequence[str]) -> Iterator[Columns]:
    with _opened(path) as text:
        text.fill()
        cells: dict[str, list[str]] = {name: [] for name in needed}
        lines: list[int] = []
        first = True
        for number, record in json_rows(path, text.lines(), needed):
            if first:
                columns_of(path, list(record), needed, ())
                first = False
            lines.append(number)
            for name in needed:
                cells[name].append(said(record.get(name), name, path, "line", number))
            if len(lines) == ROWS:
                yield _filled(Columns(path, cells, lines))
                cells, lines = {name: [] for name in needed}, []
        if lines:
            yield _filled(Columns(path, cells, lines))


def _filled(chunk: Columns) -> Columns:
    refuse_empty(chunk, tuple(chunk.cells))
    return chunk


def _batches(path: Path, needed: Sequence[str]) -> Iterator[tuple[int, Any]]:
    """Rows of Parquet, with the number of the first of them."""
    first = 1
    with parquet_file(path) as file:
        columns_of(path, list(file.schema_arrow.names), needed, ())
        for batch in file.iter_batches(ROWS, columns=list(needed)):
            yield first, batch
            first += batch.num_rows


def _encoded(path: Path, name: str, column: Any, first: int) -> Any:
    """A column of a batch as codes of text; only what occurs is turned into text, once."""
    arrow, _ = arrow_modules()
    types = arrow.types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_nested(column.type):
        # Refused, with its row.
        for row, value in enumerate(column.to_pylist(), first):
            said(value, name, path, "row", row)
    found = column.dictionary_encode(null_encoding="encode")
    if types.is_string(column.type) or types.is_large_string(column.type):
        from pyarrow import compute

        trimmed = compute.utf8_trim_whitespace(found.dictionary)
        empty = compute.or_kleene(compute.is_null(trimmed), compute.equal(trimmed, ""))
        if not compute.any(empty).as_py():
            return arrow.DictionaryArray.from_arrays(found.indices, trimmed)
    try:
        names = [said(value, name, path, "row", 0) for value in found.dictionary.to_pylist()]
    except InvalidProblem:
        names = [""]
    if "" in names:
        # Once more, value by value, to name the row.
        values = column.to_pylist()
        cells = [said(value, name, path, "row", row) for row, value in enumerate(values, first)]
        _filled(Columns(path, {name: cells}, range(first, first + len(cells))))
    return arrow.DictionaryArray.from_arrays(found.indices, arrow.array(names, arrow.string()))
