"""The one place that draws: figures of the lab, of reports and of the dashboard.

Matplotlib is imported when something is drawn, so importing this module costs nothing. Every
figure is an object of its own; pyplot, with its hidden list of open figures, is not used.
Figures are deterministic: the same rows give the same bytes, so a changed picture means
changed numbers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from askwise.core.files import write_atomic
from askwise.figures import looks
from askwise.figures.looks import (
    INK,
    as_text,
    compact,
    dashed,
    lay_out,
    ring,
    settings,
)
from askwise.figures.picture import new_figure
from askwise.figures.rows import ReferenceRow, Row, refuse, source_of
from askwise.figures.svg import element, render, render_svg, themed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 6.0
"""Inches: on a phone, 390 pixels wide, its text is then 9 pixels high."""

_LABEL_WIDTH = 18
"""Characters of a label at the end of a line."""

_LABEL_STEP = 0.052
"""The height of a line of such labels, as a share of the axes."""

_AnyRow = TypeVar("_AnyRow", bound=Row)


def draw(
    results_rows: Iterable[Row],
    *,
    title: str,
    metric: str,
    x_label: str,
    y_label: str,
    log_x: bool = False,
    log_y: bool = False,
    kind: Literal["line", "bars"] = "line",
    reference: Sequence[ReferenceRow] | None = None,
    highlight: Collection[str] | None = None,
) -> Figure:
    """Draw one metric of an experiment, a sub-figure a panel, with 95% intervals.

    Parameters
    ----------
    results_rows : iterable of Row
        Rows of other metrics are left out. Panels and series keep the order of the rows.
    metric : str
        Which rows to draw.
    log_x : bool
        Logarithmic horizontal axis, for lines. What is not above 0 has no place on such an axis
        and is left out, which the axis says; where nothing is above 0 the axis is linear.
    log_y : bool
        Logarithmic vertical axis, for lines: bounds far from the data then come into sight.
    kind : {"line", "bars"}
        Lines with shaded intervals, or bars grouped by x with error bars. Groups that differ
        in height more than eightfold get a vertical axis each, or the low ones would vanish.
    reference : sequence of ReferenceRow, optional
        Bounds (dashed) and values out of a paper (hollow markers); those that bear the name
        of a series take its colour. A bound far from what was measured does not stretch the
        axis; the legend says so if none of it is in sight. Over bars, references to a series
        are hollow markers and all others dashed lines. Rows of other metrics are left out.
    highlight : collection of str, optional
        Series to draw bolder and in the accent's colour, such as policies that go beyond the paper.
    """
    rows = [row for row in results_rows if row.metric == metric]
    references = [row for row in reference or () if row.metric == metric]
    _check(rows, references, metric, kind)
    if log_x:
        log_x, rows, references, x_label = _above_0("x", rows, references, x_label)
    if log_y:
        log_y, rows, references, y_label = _above_0("mean", rows, references, y_label)
    if kind == "bars":
        measured = {row.series for row in rows}
        references = [
            replace(row, style="points" if row.series in measured else "line") for row in references
        ]
    bold = frozenset(highlight or ())
    sketch = _Sketch(rows, references, bold, log_x, log_y, title, x_label, y_label)
    with settings():
        return sketch.bars() if kind == "bars" else sketch.lines()


def save(figure: Figure, directory: str | Path, stem: str = "figure") -> tuple[Path, Path]:
    """Write ``<stem>.png`` (150 dots an inch) and ``<stem>.svg`` (text as text)."""
    directory = Path(directory)
    with settings():
        png, svg = render(figure, "png", {"Software": None}, 150), themed(render_svg(figure))
    where = directory / f"{stem}.png", directory / f"{stem}.svg"
    return write_atomic(where[0], png), write_atomic(where[1], svg)


def save_and_embed(figure: Figure, directory: str | Path, stem: str = "figure") -> str:
    """Write both files and hand the picture back for a page, as `svg_text` does, drawn once."""
    _, svg = save(figure, directory, stem)
    return element(svg.read_bytes(), figure.get_suptitle())


def svg_text(figure: Figure) -> str:
    """The figure as an ``<svg>`` element to put into a page.

    Ids get a prefix of their own, so several figures may share a page; the title becomes the
    name that screen readers say.
    """
    with settings():
        drawn = themed(render_svg(figure))
    return element(drawn, figure.get_suptitle())


@dataclass
class _Sketch:
    """Rows sorted into panels and series, and the looks they share."""

    rows: Sequence[Row]
    references: Sequence[ReferenceRow]
    highlight: frozenset[str]
    log_x: bool
    log_y: bool
    title: str
    x_label: str
    y_label: str

    def __post_init__(self) -> None:
        rows, references = self.rows, self.references
        self.panels = list(dict.fromkeys(row.panel for row in rows))
        self.series = list(dict.fromkeys(row.series for row in rows))
        foreign = (row.series for row in references if row.series not in self.series)
        self.foreign = list(dict.fromkeys(foreign))
        self.looks = looks.styles_of(self.foreign)
        self.looks |= looks.accented(self.series, self.highlight)
        self.direct = False
        self.xs = sorted({row.x for row in rows})
        inside = {row.series for row in references if self._in_sight(row)}
        self.hidden = {row.series for row in references} - inside

    def lines(self) -> Figure:
        columns = min(len(self.panels), 2)
        self.direct = self._labels_fit()
        figure, axes = self._grid(columns, len(self.panels), 2.5 if columns > 1 else 3.8)
        for panel, ax in zip(self.panels, axes, strict=True):
            for at, name in enumerate(self.series):
                self._line(ax, _of(self.rows, panel, name), name, at)
            for name in dict.fromkeys(row.series for row in self.references):
                self._reference_line(ax, _of(self.references, panel, name), name)
            self._finish_lines(ax, panel)
            if self.direct:
                self._label_ends(ax)
            _head(ax, panel, columns)
        _level(axes)
        return self._finish(figure, axes, bars=False)

    def bars(self) -> Figure:
        peaks = [max(abs(row.mean) for row in self.rows if row.x == x) for x in self.xs]
        apart = 1 < len(self.xs) <= 6 and max(peaks) > 8 * min(peaks)
        groups = [[x] for x in self.xs] if apart else [self.xs]
        columns = len(groups) if len(groups) <= 3 else math.ceil(len(groups) / 2)
        figure, axes = self._grid(columns, len(groups) * len(self.panels), 3.2)
        for at, ax in enumerate(axes):
            panel, xs = self.panels[at // len(groups)], groups[at % len(groups)]
            self._group(ax, panel, xs)
            if at % len(groups) == 0:
                _head(ax, panel, columns)
        return self._finish(figure, axes, bars=True)

    def _grid(self, columns: int, count: int, height: float) -> tuple[Figure, list[Axes]]:
        down = math.ceil(count / columns)
        legend = 0.21 * math.ceil(len(self._legend_names()) / self._legend_columns())
        figure = new_figure(_WIDTH, down * height + legend + 0.9)
        look = {"x": 0.012, "ha": "left", "weight": "bold", "size": 12, "parse_math": False}
        figure.suptitle(as_text(self.title, 56), **look)
        return figure, [figure.add_subplot(down, columns, at + 1) for at in range(count)]

    def _line(self, ax: Axes, rows: Sequence[Row], name: str, at: int) -> None:
        if not rows:
            return
        look, bold = self.looks[name], name in self.highlight
        xs = [row.x for row in rows]
        # Markers of different series are staggered, or those that run together would hide.
        every = max(1, len(xs) // 10)
        pen = {**look.pen(bold=bold), "markevery": (at % every, every), "zorder": 4 if bold else 3}
        ax.plot(xs, [row.mean for row in rows], **pen)
        lows, highs = [row.ci_low for row in rows], [row.ci_high for row in rows]
        ax.fill_between(xs, lows, highs, color=look.colour, alpha=0.16, linewidth=0, zorder=2)

    def _reference_line(self, ax: Axes, rows: Sequence[ReferenceRow], name: str) -> None:
        colour = self.looks[name].colour if name in self.series else INK
        number = self.foreign.index(name) if name in self.foreign else 0
        points = [row for row in rows if row.style == "points"]
        line = [row for row in rows if row.style == "line"]
        if line:
            means = [row.mean for row in line]
            ax.plot([row.x for row in line], means, **dashed(colour, number), zorder=2.5)
        self._hollow(ax, [row.x for row in points], points, self.looks[name].marker, colour)

    def _hollow(
        self, ax: Axes, places: Sequence[float], rows: Sequence[Row], marker: str, colour: str
    ) -> None:
        if rows:
            look = {"ecolor": colour, "elinewidth": 0.9, "zorder": 5, **ring(marker, colour)}
            ax.errorbar(places, [row.mean for row in rows], yerr=_spans(rows), **look)

    def _finish_lines(self, ax: Axes, panel: str) -> None:
        from matplotlib.ticker import NullLocator

        if self.log_x:
            ax.set_xscale("log")
        if self.log_x and len(self.xs) <= 12:
            ax.set_xticks(looks.spread(self.xs))
            ax.xaxis.set_minor_locator(NullLocator())
        low, high = self._extent(panel)
        lines = [row.mean for row in self.references if row.panel == panel and self._in_sight(row)]
        low, high = min([low, *lines]), max([high, *lines])
        ax.xaxis.set_major_formatter(compact(max(abs(x) for x in self.xs)))
        if self.log_y:
            # An interval may reach below zero; the axis shows the estimates.
            low = min(row.mean for row in self.rows if row.panel == panel)
            ax.set_yscale("log")
            ax.set_ylim(low / 1.5, high * 1.5)
            return
        margin = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
        # An axis from zero shows sizes; it starts elsewhere only where zero is far away.
        ax.set_ylim(0 if 0 <= low < 0.5 * high else low - margin, high + margin)
        ax.yaxis.set_major_formatter(compact(max(map(abs, ax.get_ylim()))))

    def _extent(self, panel: str) -> tuple[float, float]:
        """From the lowest to the highest of what must be seen: all but bounds."""
        points = (row for row in self.references if row.style == "points")
        ends = [(row.ci_low, row.ci_high) for row in (*self.rows, *points) if row.panel == panel]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def _in_sight(self, row: ReferenceRow) -> bool:
        if row.style == "points" or self.log_y or row.panel not in self.panels:
            return row.panel in self.panels
        low, high = self._extent(row.panel)
        room = (high - low) / 2
        return (0 if low >= 0 else low - room) <= row.mean <= high + room

    def _group(self, ax: Axes, panel: str, xs: Sequence[float]) -> None:
        width = 0.84 / len(self.series)
        for at, name in enumerate(self.series):
            rows = [row for row in _of(self.rows, panel, name) if row.x in xs]
            shift = (at - (len(self.series) - 1) / 2) * width
            places = [xs.index(row.x) + shift for row in rows]
            heights = [row.mean for row in rows]
            ax.bar(places, heights, width, **self.looks[name].brush(bold=name in self.highlight))
            ax.errorbar(places, heights, yerr=_spans(rows), fmt="none", ecolor=INK, elinewidth=0.9)
            paper = [row for row in _of(self.references, panel, name) if row.x in xs]
            self._hollow(ax, [xs.index(row.x) + shift for row in paper], paper, "o", INK)
        for name in self.foreign:
            for row in _of(self.references, panel, name):
                if row.x in xs:
                    at = xs.index(row.x)
                    ax.hlines(row.mean, at - 0.46, at + 0.46, color=INK, linestyle=(0, (5, 2.5)))
        form = compact(max(map(abs, self.xs)))
        ax.set_xticks(range(len(xs)), [form(x) for x in xs])
        ax.set_xlim(-0.5, len(xs) - 0.5)
        ax.tick_params(axis="x", length=0)
        ax.grid(visible=False, axis="x")
        ax.axhline(0, color=INK, linewidth=0.8)
        ax.yaxis.set_major_formatter(compact(max(map(abs, ax.get_ylim()))))

    def _finish(self, figure: Figure, axes: Sequence[Axes], *, bars: bool) -> Figure:
        below = as_text(self.x_label, 60)
        # Matplotlib would put the label of the figure over the legend; so the last axes keep
        # room for it and it is written there, in the middle.
        room = axes[-1].set_xlabel("\n".join(" " for _ in below.split("\n")))
        beside = figure.supylabel(as_text(self.y_label, 44), size=10, parse_math=False)
        self._legend(figure, bars=bars)
        lay_out(figure)
        boxes = [ax.get_position() for ax in axes]
        beside.set_y((min(box.y0 for box in boxes) + max(box.y1 for box in boxes)) / 2)
        middle = (min(box.x0 for box in boxes) + max(box.x1 for box in boxes)) / 2
        top = room.get_window_extent().y1 / figure.bbox.height
        figure.text(middle, top, below, ha="center", va="top", parse_math=False)
        return figure

    def _legend(self, figure: Figure, *, bars: bool) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        handles: list[Any] = []
        for name in self._in_legend():
            look, bold = self.looks[name], name in self.highlight
            swatch = Patch(**look.brush(bold=bold))
            handles.append(swatch if bars else Line2D([], [], **look.pen(bold=bold)))
        pens = []
        for number, name in enumerate(self.foreign):
            lines = any(row.style == "line" for row in self.references if row.series == name)
            pens.append(dashed(INK, number) if lines else ring(self.looks[name].marker, INK))
        pens += [ring("o", INK) if style == "points" else dashed(INK) for style in self._echoes()]
        handles += [Line2D([], [], **pen) for pen in pens]
        if not handles:
            return
        where = {"loc": "outside lower center", "ncols": self._legend_columns()}
        texts = looks.add_legend(figure, handles, self._legend_names(), **where)
        for text, name in zip(texts, self._in_legend(), strict=False):
            text.set_fontweight("bold" if name in self.highlight else "normal")

    def _echoes(self) -> list[str]:
        """Styles of references that repeat a series: one legend entry for all of them."""
        return sorted({row.style for row in self.references if row.series in self.series})

    def _legend_names(self) -> list[str]:
        whose = source_of(self.references)
        said = {"points": f"hollow: {whose}'s values", "line": f"dashed: {whose}'s curves"}
        names = self._in_legend()
        names += [name + " (off the scale)" * (name in self.hidden) for name in self.foreign]
        return [as_text(name, 44) for name in names] + [said[style] for style in self._echoes()]

    def _legend_columns(self) -> int:
        lengths = (len(line) for name in self._legend_names() for line in name.split("\n"))
        return max(1, min(4, int(84 / (max(lengths, default=0) + 8))))

    def _in_legend(self) -> list[str]:
        """Series that a legend names: all, unless each has its name at its line."""
        return [] if self.direct else list(self.series)

    def _labels_fit(self) -> bool:
        """Whether every line can have its name at its end: they end together and leave room."""
        if len(self.panels) > 1 or len(self.series) < 2:
            return False
        ends = {max(row.x for row in self.rows if row.series == name) for name in self.series}
        names = [as_text(name, _LABEL_WIDTH).split("\n") for name in self.series]
        short = all(len(line) <= _LABEL_WIDTH + 3 for lines in names for line in lines)
        return len(ends) == 1 and short and sum(map(len, names)) * _LABEL_STEP <= 1

    def _label_ends(self, ax: Axes) -> None:
        """Write the name of each series beside the right end of its line, none over another."""
        end = self.xs[-1]
        (last,) = self.panels
        height = (ax.transData + ax.transAxes.inverted()).transform
        found = {
            name: float(height((end, _of(self.rows, last, name)[-1].mean))[1])
            for name in self.series
        }
        texts = {name: as_text(name, _LABEL_WIDTH) for name in self.series}
        sizes = {name: (text.count("\n") + 1) * _LABEL_STEP for name, text in texts.items()}
        for name, place in _apart(found, sizes).items():
            ax.annotate(
                texts[name],
                (1.0, place),
                (7, 0),
                xycoords="axes fraction",
                textcoords="offset points",
                va="center",
                color=self.looks[name].colour,
                fontsize=9,
                fontweight="bold" if name in self.highlight else "normal",
                parse_math=False,
                annotation_clip=False,
            )


def _above_0(
    field: str, rows: list[Row], references: list[ReferenceRow], label: str
) -> tuple[bool, list[Row], list[ReferenceRow], str]:
    """What a log axis can show, and its label; all of it on a linear one where that is nothing."""
    shown = [row for row in rows if getattr(row, field) > 0]
    if not shown:
        return False, rows, references, label
    if len(shown) < len(rows):
        below = any(getattr(row, field) < 0 for row in rows)
        label += f" (values of 0{' or less' if below else ''} are not shown)"
    return True, shown, [row for row in references if getattr(row, field) > 0], label


def _check(rows: Sequence[Row], references: Sequence[Row], metric: str, kind: str) -> None:
    if kind not in ("line", "bars"):
        refuse("kind", repr(kind), "line or bars")
    if not rows:
        refuse("metric", repr(metric), "the metric of at least one row")
    for every in (rows, references):
        for cell, count in Counter((row.panel, row.series, row.x) for row in every).items():
            if count > 1:
                refuse("rows", f"two values at {cell}", "one value a panel, series and x")


def _of(rows: Iterable[_AnyRow], panel: str, series: str) -> list[_AnyRow]:
    chosen = (row for row in rows if row.panel == panel and row.series == series)
    return sorted(chosen, key=lambda row: row.x)


def _spans(rows: Sequence[Row]) -> list[list[float]]:
    """Lengths of the error bars; an estimate may lie a rounding outside its interval."""
    below = [max(0.0, row.mean - row.ci_low) for row in rows]
    return [below, [max(0.0, row.ci_high - row.mean) for row in rows]]


def _apart(wanted: dict[str, float], sizes: dict[str, float]) -> dict[str, float]:
    """Places from 0 to 1 near those wanted, so that none of these sizes overlap.

    Those that touch form a block around the mean of what they want (pool adjacent violators).

    Examples
    --------
    >>> _apart({"a": 0.5, "b": 0.5}, {"a": 0.1, "b": 0.1})
    {'a': 0.45, 'b': 0.55}
    """
    blocks: list[tuple[float, float, list[str]]] = []
    for name in sorted(wanted, key=lambda each: (wanted[each], each)):
        middle, size, names = wanted[name], sizes[name], [name]
        middle = min(max(middle, size / 2), 1 - size / 2)
        while blocks and blocks[-1][0] + blocks[-1][1] / 2 > middle - size / 2:
            below, low, others = blocks.pop()
            middle = (below * low + middle * size) / (low + size)
            size, names = low + size, [*others, *names]
            middle = min(max(middle, size / 2), 1 - size / 2)
        blocks.append((middle, size, names))
    places = {}
    for middle, size, names in blocks:
        at = middle - size / 2
        for name in names:
            places[name] = round(at + sizes[name] / 2, 6)
            at += sizes[name]
    return places


def _level(axes: Sequence[Axes]) -> None:
    """One vertical scale for panels of similar height, so that they compare at a glance."""
    limits = [ax.get_ylim() for ax in axes]
    tops = [high for _, high in limits]
    if min(tops) > 0 and max(tops) <= 2 * min(tops):
        for ax in axes:
            ax.set_ylim(min(low for low, _ in limits), max(tops))


def _head(ax: Axes, panel: str, columns: int) -> None:
    if panel:
        ax.set_title(as_text(panel, 56 // columns), loc="left", parse_math=False)
