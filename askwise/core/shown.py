"""How results show themselves in a notebook: as a small table, or as a data frame.

Pandas is imported when a frame is asked for.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, SupportsIndex, TypeVar, overload

from askwise.core.errors import InvalidParameter

T = TypeVar("T")

MOST_ROWS = 20
"""Rows that a notebook shows; a data frame has them all."""

LONGEST_CELL = 80
"""Characters of a cell that a notebook shows."""


def load_pandas() -> Any:
    """Pandas, or the sentence that says how to get it."""
    try:
        import pandas
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "pandas":
            raise
        raise InvalidParameter(
            "tables need pandas: pip install 'askwise[tables]'", field="tables"
        ) from None
    return pandas


class ShownResult:
    """A result that shows itself: ``_headline`` is its sentence, ``_records`` are its rows."""

    __slots__ = ()

    def _headline(self) -> str:
        raise NotImplementedError

    def _records(self) -> Sequence[Mapping[str, Any]]:
        raise NotImplementedError

    def to_frame(self) -> Any:
        """As a pandas DataFrame; needs the extra ``askwise[tables]``."""
        return load_pandas().DataFrame(list(self._records()))

    def _repr_html_(self) -> str:
        return as_html(self._headline(), self._records())


class ShownList(list[T], Generic[T]):
    """A list that shows itself as a table: in all else it is a list.

    Parameters
    ----------
    rows : iterable
        What it holds: each has ``json_types``, or says by ``said`` what it shows.
    kind : type, optional
        What its rows are, so that an empty table has columns too.

    Examples
    --------
    >>> from askwise.core.choices import Assignment
    >>> from decimal import Decimal
    >>> table = ShownList([Assignment("cats:1", "t1", "ann", Decimal("0.1"), None, None)])
    >>> table == list(table), table.columns()[:4]
    (True, ['id', 'task', 'worker', 'price'])
    """

    shown: ClassVar[tuple[str, ...]] = ()
    """The columns that a notebook shows; all in which something is said if empty."""

    def __init__(self, rows: Iterable[T] = (), kind: type | None = None) -> None:
        super().__init__(rows)
        self._kind = kind

    def columns(self) -> list[str]:
        """The names of its columns."""
        if not self and self._kind is not None and hasattr(self._kind, "json_types"):
            return list(self._kind.json_types())
        return list(dict.fromkeys(name for each in self for name in _cells(each)))

    def to_records(self) -> list[dict[str, Any]]:
        """Each row as a mapping of columns to values; money is a Decimal."""
        return [_cells(each) for each in self]

    def to_frame(self) -> Any:
        """As a pandas DataFrame, a row for each; needs the extra ``askwise[tables]``."""
        return load_pandas().DataFrame(self.to_records(), columns=self.columns())

    def _repr_html_(self) -> str:
        names = self.shown or self.columns()
        return as_html("", self[:MOST_ROWS].to_records(), len(self), names)

    @overload
    def __getitem__(self, place: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> ShownList[T]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> T | ShownList[T]:
        found = super().__getitem__(place)
        return type(self)(found, self._kind) if isinstance(place, slice) else found  # type: ignore[arg-type, return-value]

    def __reduce__(self) -> Any:
        return type(self), (list(self), self._kind)


def _cells(row: Any) -> dict[str, Any]:
    if hasattr(row, "said"):
        return dict(row.said())
    return {name: getattr(row, name) for name in row.json_types()}


def as_html(
    headline: str,
    records: Sequence[Mapping[str, Any]],
    total: int | None = None,
    columns: Sequence[str] | None = None,
) -> str:
    """A sentence and a small table, in the colours of the page that shows them.

    Columns in which nothing is said are left out, and rows beyond `MOST_ROWS`.

    Examples
    --------
    >>> as_html("Two & three", [{"a": 1, "b": None}])
    '<div><p>Two &amp; three</p><table><thead><tr><th>a</th></tr></thead>...
    """
    total = len(records) if total is None else total
    rows = records[:MOST_ROWS]
    names = columns or list(dict.fromkeys(name for each in rows for name in each))
    said = [name for name in names if any(_tells(each.get(name)) for each in rows)] or names
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in said)
    body = "".join(
        f"<tr>{''.join(f'<td>{_cell(each.get(name))}</td>' for name in said)}</tr>" for each in rows
    )
    words = f"<p>{html.escape(headline)}</p>" if headline else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if said else ""
    more = f"<p>{total - len(rows):,} more rows: to_frame() has them all</p>"
    return f"<div>{words}{table}{more if total > len(rows) else ''}</div>"


def _tells(value: object) -> bool:
    return value is not None and value not in ("", (), [])


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return html.escape(text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…")
