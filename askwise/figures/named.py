"""Figures of things that have names, not places on an axis: dots with intervals, and a heat map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from askwise.figures.looks import (
    INK,
    add_legend,
    as_text,
    dashed,
    lay_out,
    settings,
    styles_of,
)
from askwise.figures.picture import new_figure
from askwise.figures.rows import refuse

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 9.0
_LONGEST = 34


@dataclass(frozen=True, slots=True)
class Dot:
    """An estimate of something named, with its interval, as one of several series sees it."""

    name: str
    series: str
    value: float
    low: float
    high: float


def draw_dots(
    dots: Sequence[Dot],
    *,
    title: str,
    x_label: str,
    lines: Mapping[str, float] | None = None,
) -> Figure:
    """Draw estimates with intervals, a line of the figure for each name, in the order given.

    Parameters
    ----------
    dots : sequence of Dot
        Names and series keep the order in which they first appear; one dot of each pair.
    lines : mapping of name to value, optional
        Dashed lines from top to bottom, to hold the dots against.
    """
    if not dots:
        refuse("dots", "empty", "one dot at least")
    if len({(dot.name, dot.series) for dot in dots}) < len(dots):
        refuse("dots", "two of one name and series", "one dot a name and series")
    names = list(dict.fromkeys(dot.name for dot in dots))
    series = list(dict.fromkeys(dot.series for dot in dots))
    looks = styles_of(series)
    with settings():
        figure, ax = _sheet(title, (0.2 + 0.16 * len(series)) * len(names) + 0.7)
        apart = 0.7 / len(series)
        handles, said = [], []
        for at, one in enumerate(series):
            shift = (at - (len(series) - 1) / 2) * apart
            mine = [dot for dot in dots if dot.series == one]
            pen: dict[str, Any] = looks[one].pen(bold=True) | {"linestyle": "none"}
            spans = [
                [max(0.0, dot.value - dot.low) for dot in mine],
                [max(0.0, dot.high - dot.value) for dot in mine],
            ]
            places = [names.index(dot.name) + shift for dot in mine]
            look = {**pen, "ecolor": looks[one].colour, "elinewidth": 1.8, "zorder": 4}
            ax.errorbar([dot.value for dot in mine], places, xerr=spans, **look)
            handles.append(_handle(pen))
            said.append(one)
        for number, (name, value) in enumerate((lines or {}).items()):
            pen = dashed(INK, number)
            ax.axvline(value, **pen, zorder=2)
            handles.append(_handle(pen))
            said.append(name)
        _name_rows(ax, names)
        ax.set_xlabel(as_text(x_label, 90), parse_math=False)
        if len(said) > 1:
            where = {"loc": "outside lower center", "ncols": min(4, len(said))}
            add_legend(figure, handles, [as_text(name, 40) for name in said], **where)
        return lay_out(figure)


def draw_bars(
    bars: Mapping[str, Mapping[str, float]], *, title: str, x_label: str, most: int = 40
) -> Figure:
    """Draw a bar for each name, put together of parts.

    Parameters
    ----------
    bars : mapping of name to parts
        Each part by its name, 0 or more; names and parts keep the order in which they first appear.
    most : int
        How many bars there may be; what is beyond is counted in the label of the axis.
    """
    if not bars:
        refuse("bars", "empty", "one bar at least")
    names = list(bars)[:most]
    left_out = len(bars) - len(names)
    parts = list(dict.fromkeys(part for name in names for part in bars[name]))
    looks = styles_of(parts)
    with settings():
        figure, ax = _sheet(title, 0.36 * len(names) + 1.0)
        begin = [0.0] * len(names)
        for part in parts:
            sizes = [float(bars[name].get(part, 0.0)) for name in names]
            ax.barh(range(len(names)), sizes, 0.7, left=begin, color=looks[part].colour)
            begin = [at + size for at, size in zip(begin, sizes, strict=True)]
        _name_rows(ax, names)
        ax.set_xlim(0, 1.05 * max(begin) or 1.0)
        more = f" ({left_out} more not shown)" if left_out else ""
        ax.set_xlabel(as_text(x_label + more, 90), parse_math=False)
        if len(parts) > 1:
            from matplotlib.patches import Patch

            handles = [Patch(color=looks[part].colour) for part in parts]
            where = {"loc": "outside lower center", "ncols": min(4, len(parts))}
            add_legend(figure, handles, [as_text(part, 40) for part in parts], **where)
        return lay_out(figure)


def draw_heat(
    names: Sequence[str], values: Sequence[Sequence[float | None]], *, title: str, label: str
) -> Figure:
    """Draw a square table of numbers from -1 to 1, each as a colour and, if there is room, as text.

    Parameters
    ----------
    names : sequence of str
        Of rows and columns.
    values : square of float or None
        A cell without a value stays empty.
    label : str
        What the numbers are.
    """
    import numpy as np

    size = len(names)
    if size == 0 or any(len(row) != size for row in (values, *values)):
        refuse("values", f"not {size} x {size}", "a row and a column for each name")
    table = np.array([[np.nan if each is None else each for each in row] for row in values], float)
    with settings({"axes.grid": False}):
        figure, ax = _sheet(title, min(7.5, 0.5 * size + 1.0) + 0.9)
        # Paths, not a picture, which a page that loads nothing would not show.
        edges = np.arange(size + 1) - 0.5
        drawn = ax.pcolormesh(edges, edges, table, cmap="RdBu_r", vmin=-1.0, vmax=1.0)
        ax.set_ylim(size - 0.5, -0.5)
        ax.set_aspect("equal")
        short = [as_text(name, _LONGEST).split("\n")[0] for name in names]
        ax.set_xticks(range(size), short, rotation=90 if size > 6 else 30, parse_math=False)
        for text in ax.get_xticklabels():
            text.set_horizontalalignment("center" if size > 6 else "right")
        ax.set_yticks(range(size), short, parse_math=False)
        ax.spines[:].set_visible(False)
        if size <= 14:
            for (row, column), value in np.ndenumerate(table):
                if not np.isnan(value):
                    colour = "white" if abs(value) > 0.6 else INK
                    said = f"{value:.2f}".replace("-", "\N{MINUS SIGN}")
                    ax.text(column, row, said, ha="center", va="center", color=colour, size=9)
        bar = figure.colorbar(drawn, ax=ax, fraction=0.04, pad=0.02, use_gridspec=False)
        bar.set_label(label)
        if bar.solids is not None:
            bar.solids.set_rasterized(False)
        bar.outline.set_visible(False)
        return lay_out(figure)


def _sheet(title: str, height: float) -> tuple[Figure, Axes]:
    figure = new_figure(_WIDTH, height + 0.6)
    look = {"x": 0.012, "ha": "left", "weight": "bold", "size": 12, "parse_math": False}
    figure.suptitle(as_text(title, 80), **look)
    return figure, figure.add_subplot()


def _name_rows(ax: Axes, names: Sequence[str]) -> None:
    ax.set_yticks(range(len(names)), [as_text(name, _LONGEST) for name in names], parse_math=False)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")


def _handle(pen: Mapping[str, Any]) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], **pen)
