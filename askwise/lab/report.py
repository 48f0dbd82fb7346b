"""One page that says what was asked, what came out, and how to run it again.

The page is a single file that opens without a network: figures are inline SVG, fonts are the
reader's own, and a content policy in its head forbids it to load anything.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from askwise import figures as plots
from askwise.core.errors import InvalidParameter
from askwise.core.files import write_atomic
from askwise.core.version import __version__
from askwise.figures import ReferenceRow, Row, source_of
from askwise.lab.results import Results

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"

_ACTIVE = re.compile(r"<\s*(script|foreignobject|iframe|image|use[^>]*href=\"[^#])", re.IGNORECASE)


class TableCell(NamedTuple):
    """One cell of a table, as it is printed."""

    mean: str
    interval: str
    paper: str


class Line(NamedTuple):
    """One row of a table: a series and its cells."""

    name: str
    parameters: str
    cells: tuple[TableCell | None, ...]


class Table(NamedTuple):
    """One metric in one panel."""

    metric: str
    panel: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]


def write_report(
    directory: str | Path,
    results: Results,
    *,
    title: str,
    summary: str,
    figures: Sequence[tuple[str, str]],
    paper_rows: Iterable[Row] | None = None,
    differences: Sequence[str] = (),
    command: str,
    x_label: Callable[[str], str] = lambda metric: "x",
) -> Path:
    """Write ``report.html`` into the directory, whole or not at all.

    Parameters
    ----------
    summary : str
        What was asked, in plain words; an empty line starts a new paragraph.
    figures : sequence of (caption, svg)
        The second of each as `askwise.figures.svg_text` makes it. It goes into the page
        as it is; anything that could run or load something is refused.
    paper_rows : iterable of Row, optional
        The paper's values, printed beside ours where panel, series, x and metric agree; a
        series that only the paper has gets a line of its own.
    differences : sequence of str
        Where the results differ from the paper and why.
    command : str
        The exact command that runs the experiment again.
    x_label : callable
        Says of a metric what the columns of its tables are.
    """
    paper = None if paper_rows is None else tuple(paper_rows)
    return write_page(
        directory,
        "report.html",
        title=title,
        experiment=results.experiment,
        paragraphs=[part.strip() for part in re.split(r"\n\s*\n", summary) if part.strip()],
        figures=figures,
        tables=tables_of(results.rows, paper or ()),
        compared=paper is not None,
        source=source_of(paper or ()),
        differences=differences,
        parameters={name: _shown(value) for name, value in results.params.items()},
        seed=results.seed,
        reps=grouped(str(results.reps)),
        counts=_counts(results.rows),
        command=command,
        x_label=x_label,
    )


def write_json(directory: Path, name: str, found: Any) -> None:
    """Write what was found as JSON, in a directory that is made if there is none."""
    text = json.dumps(found.to_json(), indent=2, ensure_ascii=False, allow_nan=False)
    write_atomic(directory / name, text + "\n")


def draw(
    directory: Path, caption: str, rows: Iterable[Row], stem: str = "figure", **how: Any
) -> tuple[str, str]:
    """Draw rows, save the figure beside the page, and hand caption and picture back for the page.

    ``how`` is said as to `askwise.figures.draw`.
    """
    return caption, plots.save_and_embed(plots.draw(rows, **how), directory, stem)


def dashed(series: str, metric: str, *points: tuple[float, float]) -> list[ReferenceRow]:
    """A line to hold a figure's rows against."""
    return [ReferenceRow.at(series, x, metric, y, style="line") for x, y in points]


def write_page(
    directory: str | Path,
    template: str,
    *,
    figures: Sequence[tuple[str, str]],
    name: str = "report.html",
    **facts: Any,
) -> Path:
    """Fill a template and write it, whole or not at all.

    ``figures`` go into the page as they are, so each has to be a plain picture; all other text
    is escaped.
    """
    for caption, svg in figures:
        if not svg.startswith("<svg") or _ACTIVE.search(svg):
            raise InvalidParameter(
                f"the figure {caption!r} is not a plain <svg> element; use figures.svg_text",
                field="figures",
            )
    facts |= {"figures": figures, "version": __version__}
    page = _environment().get_template(template).render(facts)
    return write_atomic(Path(directory) / name, page)


def tables_of(rows: Sequence[Row], paper: Sequence[Row] = ()) -> list[Table]:
    """One table per metric and panel, in the order of the rows; series down, x across."""
    measured = {(row.metric, row.panel, row.series, row.x): row for row in rows}
    published = {(row.metric, row.panel, row.series, row.x): row for row in paper}
    tables = []
    for metric, panel in dict.fromkeys((row.metric, row.panel) for row in rows):
        here = [row for row in (*rows, *paper) if (row.metric, row.panel) == (metric, panel)]
        xs = sorted({row.x for row in here})
        lines = []
        for series in dict.fromkeys(row.series for row in here):
            keys = [(metric, panel, series, x) for x in xs]
            cells = tuple(_cell(measured.get(key), published.get(key)) for key in keys)
            name, bracket, rest = series.partition("(")
            lines.append(Line(name, bracket + rest, cells))
        tables.append(Table(metric, panel, tuple(_number(x) for x in xs), tuple(lines)))
    return tables


def _cell(ours: Row | None, theirs: Row | None) -> TableCell | None:
    if ours is None and theirs is None:
        return None
    mean, interval = estimate(ours) if ours else ("", "")
    paper = _number(theirs.mean) if theirs else ""
    if theirs and theirs.ci_high > theirs.ci_low:
        paper += f" ± {_number((theirs.ci_high - theirs.ci_low) / 2)}"
    return TableCell(mean, interval, paper)


def estimate(row: Row) -> tuple[str, str]:
    """Mean and interval with as many digits as the interval's width makes meaningful.

    The half width keeps two significant digits, which is what a reader can use; without a
    width (one replication, an exact value) the mean keeps four.

    Examples
    --------
    >>> estimate(Row("", "a", 500, "utility", 59.8812, 59.5333, 60.2291, 10_000))
    ('59.88', '[59.53, 60.23]')
    """
    half = (row.ci_high - row.ci_low) / 2
    # Rounding in the sums behind an exact value is not a width.
    if half <= 1e-12 * max(abs(row.ci_low), abs(row.ci_high)):
        text = _number(float(f"{row.mean:.4g}")) if abs(row.mean) < 1e4 else _fixed(row.mean, 0)
        return text, "" if row.n == 1 else f"[{text}, {text}]"
    places = min(12, max(0, 1 - math.floor(math.log10(half))))
    low, high = _fixed(row.ci_low, places), _fixed(row.ci_high, places)
    return _fixed(row.mean, places), f"[{low}, {high}]"


def _fixed(value: float, places: int) -> str:
    text = f"{value:.{places}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return grouped(text)


def _number(value: float) -> str:
    """A number as its author wrote it, not in powers of ten unless it is extreme."""
    if value and not 1e-6 <= abs(value) < 1e15:
        return f"{value:g}".replace("-", "−")
    # Twelve digits hide what binary fractions add to a decimal (60.23 - 59.88).
    text = f"{value:.12g}"
    return grouped(text if "e" not in text else f"{value:.12f}".rstrip("0").rstrip("."))


def grouped(text: str) -> str:
    """Thin spaces between thousands from 10,000 up (commas separate the ends of intervals)."""
    sign, digits = ("−", text[1:]) if text.startswith("-") else ("", text)
    whole, point, fraction = digits.partition(".")
    if len(whole) > 4:
        whole = f"{int(whole):,}".replace(",", "\u202f")
    return sign + whole + point + fraction


def _counts(rows: Sequence[Row]) -> str:
    """How many replications stand behind a cell."""
    counts = sorted({row.n for row in rows})
    if counts == [1]:
        return "one replication"
    ends = dict.fromkeys(grouped(str(each)) for each in (*counts[:1], *counts[-1:]))
    return f"{' to '.join(ends)} replications" if counts else ""


def _shown(value: Any) -> str:
    def plain(other: Any) -> Any:
        return dict(other) if isinstance(other, Mapping) else str(other)

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=plain)


def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["drawing"] = Markup
    environment.filters["words"] = lambda name: name.replace("_", " ")
    return environment
