"""What is to be labelled: a file, a list or a data frame, as tasks with what is shown of each."""

import hashlib
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from askwise.core.content import Content
from askwise.core.errors import InvalidProblem, nearest
from askwise.core.problem import Task
from askwise.data.columns import Columns, read_columns
from askwise.data.tables import HeldFile

ID = "id"

LIKELY_TEXTS = (
    *("text", "content", "body", "message", "comment", "review", "sentence", "document"),
    *("question", "prompt", "input", "description", "title", "tweet", "post", "abstract"),
)
"""Names of columns that hold what is to be judged, the likeliest first."""

FAR_LONGER = 3.0
"""A column is taken for the text if its cells are this many times longer than any other's."""


_JSON = (str, int, list, dict, type(None))
"""Kinds of value that stay as they are."""


@dataclass(frozen=True, eq=False)
class Items:
    """Things to be labelled.

    Attributes
    ----------
    source : str
        What messages call them: the file's name, or "items".
    ids : tuple of str
        Their names, all different.
    columns : mapping of str to sequence
        All that was given with them, the column of ids left out.
    shown : tuple of str
        The columns that are put to judges and people.
    truths : mapping of an id to an option
        What is known beforehand.
    kinds : mapping of an id to a context
        What kind of item each is, where that was said.
    """

    source: str
    ids: tuple[str, ...]
    columns: Mapping[str, Sequence[Any]]
    shown: tuple[str, ...]
    truths: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def payload(self, at: int) -> Any:
        """What is shown of one of them: its text, or an object of the columns shown."""
        if len(self.shown) == 1:
            return self.columns[self.shown[0]][at]
        return {name: self.columns[name][at] for name in self.shown}

    def tasks(self, content: Content | None) -> list[Task]:
        """As tasks; what can't be shown as the content says is refused by name."""
        made = []
        # Content that names fields wants an object, also of one field.
        whole = content is not None and bool(content.fields)
        for at, id in enumerate(self.ids):
            payload = self.payload(at)
            if whole and not isinstance(payload, dict):
                payload = {self.shown[0]: payload}
            try:
                if content is not None:
                    content.parts(payload)
            except InvalidProblem as error:
                raise InvalidProblem(
                    f"{self.source}, item {id!r}: {error}", field=error.field
                ) from None
            made.append(Task(id, context=self.kinds.get(id), payload=payload))
        return made

    def digest(self) -> str:
        """What a campaign was begun with, in 16 hexadecimal digits."""
        shown = [self.payload(at) for at in range(len(self))]
        written = json.dumps([self.ids, shown], sort_keys=True, default=str)
        return hashlib.sha256(written.encode()).hexdigest()[:16]


def read_items(
    given: Any,
    *,
    text: str | Sequence[str] | None = None,
    id: str | None = None,
    truth: str | None = None,
    kind: str | None = None,
    options: Sequence[str] = (),
) -> Items:
    """Read items from a file, a list of texts or mappings, or a data frame.

    Parameters
    ----------
    given : path, HeldFile, iterable or data frame
        A file that ends in .csv, .tsv, .jsonl (these also .gz) or .parquet.
    text : str or sequence of str, optional
        The columns that are shown. If not given, the column is found: by its name, as the only one
        there is, or as the one with by far the longest text.
    id : str, optional
        The column of ids; by default ``id`` if there is one and it is nothing else. Without (or
        with an empty name), ids are made.
    truth : str, optional
        The column that holds the truth of some items; empty cells are unknown.
    kind : str, optional
        The column that says of which kind an item is; empty cells are of no kind.
    options : sequence of str
        What a truth may be.

    Raises
    ------
    InvalidProblem
        A name appears twice, a text is empty, a column is missing; the message says where.

    Examples
    --------
    >>> items = read_items(["It broke.", "Lovely!"])
    >>> items.ids, items.payload(1)
    (('item-1', 'item-2'), 'Lovely!')
    """
    source, columns, places = columns_of_items(given)
    names, listed = list(columns), _listed(text)
    for place, named in (
        ("id", id),
        ("truth", truth),
        ("kind", kind),
        *(("text", each) for each in listed),
    ):
        if named and named not in columns:
            raise InvalidProblem(
                f"{source} has no column {named!r}: {nearest(named, names)}", field=place
            )
    key = (ID if ID in columns and ID not in (truth, kind) else None) if id is None else id
    ids = _ids(source, columns.pop(key), places) if key else made_ids(len(places))
    shown = tuple(listed) or (text_column(source, columns, (truth, kind)),)
    for name in shown:
        if name == key:
            raise InvalidProblem(
                f"{source}: column {name!r} holds ids and can't be the text: name another",
                field="text",
            )
    _refuse_empty(source, columns, shown, places)
    _refuse_unwritable(columns, places)
    truths = {} if truth is None else _truths(source, columns[truth], ids, places, options)
    kinds = {} if kind is None else _kinds(columns[kind], ids)
    return Items(source, ids, columns, shown, truths, kinds)


def _listed(text: str | Sequence[str] | None) -> list[str]:
    return [] if text is None else [text] if isinstance(text, str) else list(text)


def columns_of_items(given: Any) -> tuple[str, dict[str, Sequence[Any]], list[str]]:
    """Columns, what messages call their source, and the place of each row in it."""
    if isinstance(given, Items):
        columns = {ID: given.ids, **given.columns}
        return given.source, columns, [f"item {each!r}" for each in given.ids]
    if isinstance(given, str | os.PathLike | HeldFile):
        path = Path(given.name if isinstance(given, HeldFile) else given)
        raw = given.raw if isinstance(given, HeldFile) else None
        found = read_columns(path, (), every=True, raw=raw)
        return found.source.name, dict(found.cells), _places(found)
    if hasattr(given, "to_dict") and hasattr(given, "columns"):
        rows = given.to_dict("records")
        return _rows_to_columns([{str(name): row[name] for name in row} for row in rows])
    if isinstance(given, Mapping) or not isinstance(given, Iterable):
        raise InvalidProblem(
            f"items is {type(given).__name__}: give a file, a list of texts or of mappings, or a "
            "data frame",
            field="items",
        )
    return _rows_to_columns([{"text": each} if isinstance(each, str) else each for each in given])


def _places(found: Columns) -> list[str]:
    return [found.place(at) for at in range(len(found.lines))]


def _rows_to_columns(rows: list[Any]) -> tuple[str, dict[str, Sequence[Any]], list[str]]:
    if not rows:
        raise InvalidProblem("items is empty: give at least one", field="items")
    names: dict[str, None] = {}
    for at, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InvalidProblem(
                f"items[{at}] is {row!r}: give a text or a mapping of its fields", field="items"
            )
        names |= dict.fromkeys(map(str, row))
    columns: dict[str, Sequence[Any]] = {
        name: [_plain(row.get(name)) for row in rows] for name in names
    }
    return "items", columns, [f"items[{at}]" for at in range(len(rows))]


def _plain(value: Any) -> Any:
    """What JSON can hold: scalars of NumPy as their own, what is missing as nothing, else text."""
    if hasattr(value, "item") and not isinstance(value, str):
        value = value.item()
    if isinstance(value, float):
        return None if math.isnan(value) else value if math.isfinite(value) else str(value)
    if hasattr(value, "isoformat"):
        # Pandas has a time that is none; it is not equal to itself.
        return value.isoformat() if value == value else None
    return value if isinstance(value, _JSON) else str(value)


def _ids(source: str, cells: Sequence[Any], places: Sequence[str]) -> tuple[str, ...]:
    found: dict[str, int] = {}
    for at, cell in enumerate(cells):
        name = "" if cell is None else str(cell).strip()
        if not name:
            raise InvalidProblem(f"{places[at]}: the id is empty; fill it", field=ID)
        if name in found:
            raise InvalidProblem(
                f"{places[at]}: the id {name!r} is that of {places[found[name]]} too; give each "
                "item its own",
                field=ID,
            )
        found[name] = at
    return tuple(found)


def made_ids(count: int) -> tuple[str, ...]:
    width = len(str(count))
    return tuple(f"item-{number:0{width}}" for number in range(1, count + 1))


def text_column(
    source: str, columns: Mapping[str, Sequence[Any]], others: Sequence[str | None]
) -> str:
    candidates = [name for name in columns if name not in others]
    if len(candidates) == 1:
        return candidates[0]
    by_name = {name.strip().lower(): name for name in candidates}
    for likely in LIKELY_TEXTS:
        if likely in by_name:
            return by_name[likely]
    lengths = sorted(
        ((_length(columns[name]), name) for name in candidates), key=lambda each: -each[0]
    )
    if len(lengths) > 1 and lengths[0][0] > FAR_LONGER * lengths[1][0]:
        return lengths[0][1]
    raise InvalidProblem(
        f"{source} has the columns {', '.join(candidates) or 'none'}: say which one holds the "
        "text (--text)",
        field="text",
    )


def _length(cells: Sequence[Any]) -> float:
    return sum(len(str(cell)) for cell in cells if cell is not None) / max(1, len(cells))


def _refuse_empty(
    source: str,
    columns: Mapping[str, Sequence[Any]],
    shown: Sequence[str],
    places: Sequence[str],
) -> None:
    """Refuse rows that show nothing: a judge would be paid for an answer about it."""
    for at, place in enumerate(places):
        cells = [columns[name][at] for name in shown]
        if all(cell is None or not str(cell).strip() for cell in cells):
            column = f"column {shown[0]!r} is" if len(shown) == 1 else "its text is"
            raise InvalidProblem(
                f"{place}: {column} empty; fill it or take the row out", field=shown[0]
            )


def _refuse_unwritable(columns: Mapping[str, Sequence[Any]], places: Sequence[str]) -> None:
    """Refuse text that no file can hold: it would be found after all labels are paid for."""
    for name, cells in columns.items():
        for at, cell in enumerate(cells):
            try:
                str(cell).encode()
            except UnicodeEncodeError:
                raise InvalidProblem(
                    f"{places[at]}: column {name!r} has half a character; leave it out", field=name
                ) from None


def _kinds(cells: Sequence[Any], ids: Sequence[str]) -> dict[str, str]:
    said = ("" if cell is None else str(cell).strip() for cell in cells)
    return {id: word for id, word in zip(ids, said, strict=True) if word}


def _truths(
    source: str,
    cells: Sequence[Any],
    ids: Sequence[str],
    places: Sequence[str],
    options: Sequence[str],
) -> dict[str, str]:
    found = {}
    for at, cell in enumerate(cells):
        said = "" if cell is None else str(cell).strip()
        if not said:
            continue
        if said not in options:
            raise InvalidProblem(
                f"{places[at]}: the truth is {said!r}: {nearest(said, list(options))}",
                field="truth",
            )
        found[ids[at]] = said
    return found
