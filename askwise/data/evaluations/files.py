"""Exports as they are on disk: JSON, or rows of a table in any format."""

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from askwise.core.errors import InvalidProblem
from askwise.data.columns import ENDINGS, ending_of, json_rows, parquet_file
from askwise.data.tables import csv_rows, read_text

JSON = (".json", ".json.gz")

LARGEST_CELL = 2**30
"""Characters of a cell: tools put whole records, with all that was retrieved, into one."""

JsonRecord = dict[str, Any]


def is_json(path: Path) -> bool:
    """Whether a file holds one JSON value, by its ending."""
    return path.name.lower().endswith(JSON)


def read_json(path: Path) -> Any:
    """The one JSON value of a file."""
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InvalidProblem(
            f"{path} is not JSON ({error}): export it again", field="file"
        ) from None


def read_records(path: Path, needed: Sequence[str], within: Sequence[str] = ()) -> list[JsonRecord]:
    """The rows of a table; of JSON the list, or the first list that has a name in ``within``."""
    if is_json(path):
        found = read_json(path)
        if isinstance(found, dict):
            found = next((found[name] for name in within if name in found), found)
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise InvalidProblem(
                f"{path} has no list of objects: give one object for each row, with "
                f"{', '.join(needed)}",
                field="file",
            )
        rows = found
    elif _table_ending(path) == ".parquet":
        with parquet_file(path) as file:
            rows = file.read().to_pylist()
    elif _table_ending(path).startswith(".jsonl"):
        rows = [row for _, row in json_rows(path, read_text(path).split("\n"), needed)]
    else:
        with _large_cells():
            lines = csv_rows(path, needed)
            _, head = next(lines)
            rows = [dict(zip(head, cells, strict=True)) for _, cells in lines]
    if not rows:
        raise InvalidProblem(f"{path} has no rows: export at least one", field="file")
    return rows


@contextmanager
def _large_cells() -> Iterator[None]:
    before = csv.field_size_limit(LARGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _table_ending(path: Path) -> str:
    try:
        return ending_of(path)
    except InvalidProblem:
        raise InvalidProblem(
            f"{path} has an ending that is not known: give a file that ends in "
            f"{', '.join((*JSON, *ENDINGS))}",
            field="file",
        ) from None


def refuse_other_format(path: Path, tool: str, wanted: str) -> InvalidProblem:
    """The error for a file that is not an export of the tool."""
    return InvalidProblem(f"{path} is not an export of {tool}: give {wanted}", field="file")
