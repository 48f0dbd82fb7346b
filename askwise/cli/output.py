"""Tables and bars for people, plain lines for pipes, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from askwise.auditing import Interval

NONE = "-"
"""What stands for "none" in a table or a line."""


MOST_WIDE = 10_000
"""Characters of a line, where a table may be as wide as it needs."""


def for_people() -> bool:
    """Whether a person is looking: tables and colours, rather than lines."""
    return sys.stdout.isatty()


def console(*, stderr: bool = False, width: int | None = None) -> Console:
    """A console that prints what it is given: no markup, no guessed colours.

    It is as wide as the terminal unless it is given another width.
    """
    from rich.console import Console

    return Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False)


def cell(value: Any) -> str:
    """One value as text.

    Examples
    --------
    >>> [cell(each) for each in (None, True, 0.5, 1 / 3, "ann")]
    ['-', 'yes', '0.5', '0.333333', 'ann']
    """
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def ends_of(interval: Interval | None) -> tuple[float | None, ...]:
    """An estimate and the ends of its interval."""
    return (None,) * 3 if interval is None else (interval.value, interval.low, interval.high)


def line(*values: Any) -> None:
    """Print one line, its values separated by tabs."""
    sys.stdout.write("\t".join(cell(value) for value in values) + "\n")


def show_json(value: Any) -> None:
    """Print JSON: indented for people, one line for programs."""
    indent = 2 if for_people() else None
    sys.stdout.write(json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False) + "\n")


def show_records(columns: Sequence[str], records: Iterable[Sequence[Any]]) -> None:
    """Print records as a table with these columns, or as lines without a heading.

    A column whose name begins with ``>`` holds numbers and is set flush right.
    """
    if not for_people():
        for record in records:
            line(*record)
        return
    console().print(table(columns, records))


Headings = Mapping[str, str | Callable[[Any], Any]]
"""What is shown of each object, by heading: a field, or what is made of the object."""


def show_objects(
    found: Sequence[Any], as_json: bool, columns: Headings, *, nothing: str = ""
) -> None:
    """Print objects, or dicts of JSON, as JSON or as records; to people also that there is none."""
    if as_json:
        show_json([each if isinstance(each, dict) else each.to_json() for each in found])
    elif nothing and not found and for_people():
        print(nothing)
    else:
        show_records(
            tuple(columns), ([value_of(each, of) for of in columns.values()] for each in found)
        )


def value_of(found: Any, field: str | Callable[[Any], Any]) -> Any:
    """A field of an object or a dict (None where that lacks it), or what is made of it."""
    if not isinstance(field, str):
        return field(found)
    return found.get(field) if isinstance(found, dict) else getattr(found, field)


def show_found(
    found: Any,
    as_json: bool,
    *,
    screen: Callable[[Any], None],
    lines: Callable[[Any], None],
    files: Iterable[Path] = (),
) -> None:
    """Print what was found, as JSON or for a screen or in lines, and where its files are."""
    if as_json:
        show_json(found.to_json())
        return
    (screen if for_people() else lines)(found)
    for path in files:
        print(path)


def say(raw: Any, as_json: bool, text: str) -> None:
    """Print JSON, or a line."""
    if as_json:
        show_json(raw)
    else:
        print(text)


def table(columns: Sequence[str], records: Iterable[Sequence[Any]]) -> Any:
    """A table for the terminal."""
    from rich.table import Table
    from rich.text import Text

    rows = [
        [
            each
            if isinstance(each, Text)
            else Text(f"{each:.4g}" if isinstance(each, float) else cell(each))
            for each in record
        ]
        for record in records
    ]
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for at, column in enumerate(columns):
        whole = at == 0 or column.startswith(">")
        name = Text(column.removeprefix(">"))
        made.add_column(
            name.plain,
            justify="right" if column.startswith(">") else "left",
            overflow="fold",
            no_wrap=whole,
            min_width=max(each.cell_len for each in (name, *(row[at] for row in rows)))
            if whole
            else None,
        )
    for row in rows:
        made.add_row(*row)
    return made


def show_facts(facts: Iterable[tuple[str, Any]], text: str) -> None:
    """Print names and values below each other, and then a text."""
    if not for_people():
        for fact in facts:
            line(*fact)
        print(f"\n{text}")
        return
    show(grid(facts), "", text)


def show(*parts: Any) -> None:
    """Print tables, texts and sentences below each other, on a terminal."""
    from rich.measure import Measurement
    from rich.table import Table

    screen = console()
    for part in parts:
        if isinstance(part, Table):
            # A number that is cut is another number: rather lines that the terminal breaks.
            room = screen.options.update(width=MOST_WIDE)
            needed = Measurement.get(screen, room, part).minimum
            if needed > screen.width:
                console(width=needed).print(part)
                continue
        screen.print(part)


def fits(screen: Console, shown: Any) -> bool:
    """Whether a table has room on the screen without folding its cells."""
    from rich.measure import Measurement

    wide = screen.options.update(max_width=10_000)
    return Measurement.get(screen, wide, shown).maximum <= screen.width


def grid(facts: Iterable[tuple[str, Any]]) -> Any:
    """Names and values below each other, for the terminal."""
    from rich.table import Table
    from rich.text import Text

    made = Table.grid(padding=(0, 2, 0, 0))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in facts:
        made.add_row(Text(name), value if isinstance(value, Text) else Text(cell(value)))
    return made


def bar(share: float, width: int = 20, *, second: float = 0.0) -> Any:
    """A bar for the terminal: a share of the width, and a second share after it."""
    from rich.text import Text

    first = round(max(0.0, min(1.0, share)) * width)
    both = max(first, round(max(0.0, min(1.0, share + second)) * width))
    full, half, empty = ("#", "+", ".") if _ascii_only() else ("█", "▒", "·")
    made = Text()
    made.append(full * first, style="cyan")
    made.append(half * (both - first), style="yellow")
    made.append(empty * (width - both), style="dim")
    return made


def _ascii_only() -> bool:
    return not (sys.stdout.encoding or "").lower().startswith("utf")
