"""What the dashboard's charts are drawn with: axes, legends, times, and what a pointer shows."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from askwise.core.arrays import Array
from askwise.figures.clock import DAY, MINUTE, clock_ticks, moment
from askwise.figures.looks import ACCENT, add_legend, compact
from askwise.figures.svg import PAGE_INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 440
"""Of every chart, in units."""

BLUE, ORANGE, GREY = ACCENT, "#D55E00", "#808080"

CHART_SETTINGS = {
    **dict.fromkeys(("font.size", "legend.fontsize", "axes.labelsize"), 13),
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "grid.color"), PAGE_INK),
    **{f"{axis}tick.{part}": PAGE_INK for axis in "xy" for part in ("color", "labelcolor")},
    **{"legend.handlelength": 1.3, "legend.handletextpad": 0.5, "legend.columnspacing": 1.3},
    **{"legend.borderpad": 0.0, "legend.borderaxespad": 0.0},
    **{"axes.spines.left": False, "grid.alpha": 0.18, "ytick.major.size": 0},
}

DASHED = (0, (4, 3))

TICKS = 4
"""The most times on an axis."""

MOST_MARKS = 60
"""Moments of a curve that can be pointed at."""

MOST_POINTS = 180
"""Of a curve: one for every two units of its width."""


class Mark(NamedTuple):
    """A place in a chart that says something when it is pointed at, in units from the upper left.

    ``time`` is put before the words: pages show it in local time.
    """

    x: float
    y: float
    width: float
    height: float
    words: str
    time: float | None = None


def with_marks(svg: str, marks: Sequence[Mark]) -> str:
    """A chart with places that can be pointed at: each has its words as a ``<title>``."""
    made = []
    for each in marks:
        when = "" if each.time is None else f' data-t="{each.time:.0f}"'
        words = each.words if each.time is None else f"{moment(each.time)}: {each.words}"
        box = (
            f'x="{each.x:.1f}" y="{each.y:.1f}" width="{each.width:.1f}" height="{each.height:.1f}"'
        )
        title = f"<title>{html.escape(words)}</title>"
        made.append(f'<rect class="mark" {box} fill="transparent"{when}>{title}</rect>')
    return svg.replace("</svg>", f"<g>{''.join(made)}</g></svg>") if made else svg


def time_marks(
    box: tuple[float, float, float, float], times: Array, last: float, words: Sequence[str]
) -> list[Mark]:
    """A column for each moment of a chart whose axes are at ``box``: to the next moment."""
    left, top, wide, high = box
    first = float(times[0])
    at = left + wide * (np.append(times, last) - first) / (last - first)
    return [
        Mark(at[place], top, max(1.0, at[place + 1] - at[place]), high, each, float(times[place]))
        for place, each in enumerate(words)
    ]


def thinned(size: int) -> Array:
    """Places of up to `MOST_MARKS` of this many points, the first and the last among them."""
    return np.unique(np.linspace(0, size - 1, min(MOST_MARKS, size)).round().astype(int))


def with_times(svg: str, first: float, last: float) -> str:
    """A chart whose ticks of time say which moments they stand for: pages make them local."""
    places, words = clock_ticks(first, last, TICKS)
    step = places[1] - places[0] if len(places) > 1 else 0.0
    unit = "day" if step >= DAY else "minute" if step >= MINUTE else "second"
    for place, word in zip(places, words, strict=True):
        # Words may come twice, such as 12:00 of two days: the next that has no stamp yet.
        wanted = re.compile(rf"<text((?:(?! data-t)[^>])*)>({re.escape(word)})</text>")
        stamp = rf'<text\1 data-t="{place:.0f}" data-unit="{unit}">\2</text>'
        svg = wanted.sub(stamp, svg, count=1)
    return svg


def figure_of(
    height: float, boxes: Sequence[tuple[float, float, float, float]]
) -> tuple[Figure, list[Axes]]:
    """Axes at (left, top, width, height) in units from the upper left corner."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure((WIDTH / 72, height / 72), dpi=72)
    FigureCanvasSVG(figure)
    axes = [
        figure.add_axes((left / WIDTH, 1 - (top + high) / height, wide / WIDTH, high / height))
        for left, top, wide, high in boxes
    ]
    for patch in (figure.patch, *(ax.patch for ax in axes)):
        patch.set_visible(False)
    return figure, axes


def draw_legend(
    figure: Figure,
    entries: Sequence[tuple[str, str, str]],
    height: float,
    columns: int | None = None,
    top: float = 6,
) -> None:
    """Names with a line (``-`` or ``--``), a box or a point (``o`` or a hollow ``O``)."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    for _, colour, form in entries:
        if form == "box":
            handles.append(Patch(color=colour))
        elif form in ("o", "O"):
            pen = {**ring_pen(colour, filled=form == "o"), "markersize": 8, "linestyle": "none"}
            handles.append(Line2D([], [], **pen))
        else:
            line: Any = DASHED if form == "--" else "-"
            handles.append(Line2D([], [], color=colour, linestyle=line, linewidth=2))
    names, corner = [name for name, _, _ in entries], (14 / WIDTH, 1 - top / height)
    columns = columns or len(entries)
    add_legend(figure, handles, names, loc="upper left", bbox_to_anchor=corner, ncols=columns)


def steps_of(
    times: Array, now: float | None, columns: Sequence[Array]
) -> tuple[Array, list[Array]]:
    """Times and values of curves, at most this many points of each, the last at the present."""
    times = np.asarray(times, float)
    if now is not None and now > times[-1]:
        times = np.append(times, now)
        columns = [np.append(column, column[-1]) for column in columns]
    if len(times) > MOST_POINTS:
        grid = np.linspace(times[0], times[-1], MOST_POINTS)
        kept = np.unique(np.append(np.searchsorted(times, grid, side="right") - 1, len(times) - 1))
        times, columns = times[kept], [column[kept] for column in columns]
    return times, list(columns)


def last_of(at: Array) -> float:
    """The end of the axis; a moment has a length too."""
    return float(at[-1]) if at[-1] > at[0] else float(at[0]) + max(1.0, abs(float(at[0])) * 1e-9)


def time_axis(ax: Axes, first: float, last: float) -> None:
    places, words = clock_ticks(first, last, TICKS)
    ax.set_xlim(first, last)
    ax.set_xticks(places, words)
    for place, text in zip(places, ax.get_xticklabels(), strict=True):
        # Words at the ends would be cut off.
        part = (place - first) / (last - first)
        text.set_horizontalalignment(
            "left" if part < 0.05 else "right" if part > 0.95 else "center"
        )
    ax.grid(visible=False, axis="x")


def count_axis(ax: Axes, top: float, *, few: bool = False) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.set_ylim(0, 1.06 * top or 1.0)
    ax.yaxis.set_major_locator(MaxNLocator(2 if few else 4, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_formatter(compact(top))


def ring_pen(colour: str, *, filled: bool) -> dict[str, Any]:
    face = colour if filled else "none"
    look = {"marker": "o", "markeredgewidth": 1.6}
    return {**look, "markeredgecolor": colour, "markerfacecolor": face}
