"""A look at a table before it is read: its first rows, and which column seems to be what."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askwise.core.errors import InvalidProblem
from askwise.data.items import ID, columns_of_items, text_column
from askwise.data.tables import parsed_rows, separator_of

LIKELY_TRUTHS = ("truth", "gold")
LIKELY_KINDS = ("kind", "context")
"""Names of columns that hold what is known of an item, and what kind of item it is."""


@dataclass(frozen=True, eq=False)
class TablePreview:
    """The first rows of a table, and which of its columns seem to be what.

    Attributes
    ----------
    source : str
        The file's name.
    names : tuple of str
        Its columns.
    rows : list of list of str
        The first rows, a cell for each column.
    count : int
        How many rows there are.
    id, text, truth, kind : str or None
        The columns that seem to hold the ids, the text, the truth and the kind of each item.
    """

    source: str
    names: tuple[str, ...]
    rows: list[list[str]]
    count: int
    id: str | None
    text: str | None
    truth: str | None
    kind: str | None


def preview_table(given: Any, rows: int = 5) -> TablePreview:
    """Look at the first rows of a table, and guess which column is what.

    Examples
    --------
    >>> from askwise.data.tables import HeldFile
    >>> seen = preview_table(HeldFile("a.csv", b"id,review\\n7,Lovely\\n8,It broke\\n"), rows=1)
    >>> seen.rows, seen.count, seen.id, seen.text
    ([['7', 'Lovely']], 2, 'id', 'review')
    """
    source, columns, places = columns_of_items(given)
    by_name = {name.strip().lower(): name for name in reversed(columns)}

    def named(words: Sequence[str]) -> str | None:
        return next((by_name[word] for word in words if word in by_name), None)

    id, truth, kind = named((ID,)), named(LIKELY_TRUTHS), named(LIKELY_KINDS)
    rest = {name: cells for name, cells in columns.items() if name != id}
    try:
        text = text_column(source, rest, (truth, kind))
    except InvalidProblem:
        text = None
    first = [
        ["" if cells[at] is None else str(cells[at]) for cells in columns.values()]
        for at in range(min(rows, len(places)))
    ]
    return TablePreview(source, tuple(columns), first, len(places), id, text, truth, kind)


def looks_like_table(text: str) -> bool:
    """Whether a text that somebody pasted is a table with a header, and no list of lines.

    Examples
    --------
    >>> looks_like_table("id,text\\n1,Fine\\n2,Broken"), looks_like_table("t1\\nt2")
    (True, False)
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or lines[0].lstrip().startswith("{"):
        return False
    separator = separator_of(text)
    head = [cell.strip().lower() for cell in lines[0].split(separator)]
    if len(head) < 2:
        return False
    if ID in head:
        return True
    try:
        rows = parsed_rows(Path("text"), io.StringIO(text, newline=""), (), separator=separator)
        return sum(1 for _ in rows) > 1
    except InvalidProblem:
        return False
