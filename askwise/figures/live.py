"""The dashboard's charts, as ``<svg>`` elements for a page that forbids inline styles.

Each is drawn for a width of 440 units with text of 13, scales with its place, takes the page's
font and colour of text and has colours that can be told from light and from dark ground. Every
function may be called from any thread; one draws at a time. Times are seconds since 1970, shown
in UTC; money is in micro-units. Where there is nothing to draw the result is empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from askwise.core.money import MICRO, from_micro
from askwise.figures.clock import bucket, clock_ticks, moment
from askwise.figures.looks import add_legend, as_text, compact, settings
from askwise.figures.svg import PAGE_INK, bare, render_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Numbers = npt.NDArray[Any]

WIDTH = 440
"""Of every chart, in units."""

MOST_WORKERS = 20

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#808080"

OUTCOMES = {
    "confident": "#009E73",
    "assured": BLUE,
    "sure_enough": "#5E9C2F",
    "labelled": "#A05EB5",
    "everyone_asked": "#2A8FA8",
    "not_assured": "#B8860B",
    "low_confidence": ORANGE,
    "assurance_failed": "#D6478A",
    "target_not_reachable": "#B0522D",
    "over_budget": "#CC79A7",
    "closed": "#8A8A2B",
    "open": GREY,
}
"""A colour for each outcome; words of other rules share `OTHER`."""

OTHER = "#7B68C8"

_SETTINGS = {
    **dict.fromkeys(("font.size", "legend.fontsize", "axes.labelsize"), 13),
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "grid.color"), PAGE_INK),
    **{f"{axis}tick.{part}": PAGE_INK for axis in "xy" for part in ("color", "labelcolor")},
    **{"legend.handlelength": 1.3, "legend.handletextpad": 0.5, "legend.columnspacing": 1.3},
    **{"legend.borderpad": 0.0, "legend.borderaxespad": 0.0},
    **{"axes.spines.left": False, "grid.alpha": 0.18, "ytick.major.size": 0},
}

_DASHED = (0, (4, 3))

_MOST_POINTS = 180
"""Of a curve: one for every two units of its width."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A worker to draw: estimate with interval (None: no answers yet) and share of all answers.

    ``basis`` says what the estimate rests on; a mark is filled unless that is ``agreement``.
    """

    name: str
    share: float
    value: float | None
    low: float | None = None
    high: float | None = None
    basis: str = "truth"


def money_chart(
    times: Numbers,
    spent: Numbers,
    reserved: Numbers,
    budget: Numbers | None,
    *,
    now: float | None = None,
    end: tuple[float, int] | None = None,
) -> str:
    """Spent, spent and reserved, and the budget over time, with a forecast.

    Parameters
    ----------
    times, spent, reserved, budget : arrays
        Each value holds from its time to the next; no budget is no cap.
    now : float, optional
        The present, to which the last values hold.
    end : (time, micro-units), optional
        When the campaign is expected to end and what will be spent by then. If that is farther
        away than the campaign is old, only the first part is drawn.
    """
    if len(times) == 0:
        return ""
    at, (paid, held, cap) = _steps(
        times, now, [spent, spent + reserved, spent * 0 if budget is None else budget]
    )
    paid, held, cap = paid / MICRO, held / MICRO, cap / MICRO
    said = f"Money over time: {from_micro(int(spent[-1]))} spent"
    said += f" and {from_micro(int(reserved[-1]))} reserved"
    said += "" if budget is None else f" of a budget of {from_micro(int(budget[-1]))}"
    entries = [("spent", BLUE, "-"), ("with reserved", ORANGE, "-")]
    if budget is not None:
        entries.append(("budget", PAGE_INK, "-"))
    if end is not None:
        entries.append(("forecast", BLUE, "--"))
        said += f"; at this pace it ends {moment(end[0])} with {from_micro(end[1])} spent"
    with settings(_SETTINGS):
        figure, (ax,) = _figure(250, [(50, 34, 366, 180)])
        ax.fill_between(at, paid, step="post", color=BLUE, alpha=0.3, linewidth=0)
        ax.step(at, held, where="post", color=ORANGE, linewidth=1.4)
        ax.step(at, paid, where="post", color=BLUE, linewidth=1.8)
        top = float(held.max())
        if budget is not None:
            ax.step(at, cap, where="post", color=PAGE_INK, linewidth=1.2)
            top = max(top, float(cap.max()))
        last = _last(at)
        if end is not None and end[0] > at[-1]:
            line = ([at[-1], end[0]], [paid[-1], end[1] / MICRO])
            ax.plot(*line, color=BLUE, linestyle=_DASHED, linewidth=1.8)
            last = min(end[0], max(last, at[-1] + (last - at[0])))
            top = max(top, float(np.interp(last, *line)))
        _time_axis(ax, at[0], last)
        _count_axis(ax, top)
        _legend(figure, entries, 250)
        drawn = render_svg(figure)
    return bare(drawn, said)


def answers_chart(times: Numbers, answers: Numbers) -> str:
    """The number of answers over time, and below it how many came in each stretch of time."""
    if len(times) == 0 or answers[-1] == 0:
        return ""
    at, (count,) = _steps(times, None, [answers])
    stretch, edges, words = bucket(at[0], _last(at))
    reached = np.searchsorted(times, edges, side="right") - 1
    came = np.diff(np.where(reached < 0, 0, answers[np.maximum(reached, 0)]))
    said = f"Answers over time: {int(answers[-1])}, at most {int(came.max())} in {words}"
    with settings(_SETTINGS):
        figure, (above, below) = _figure(280, [(50, 12, 366, 140), (50, 184, 366, 60)])
        above.fill_between(at, count, step="post", color=BLUE, alpha=0.3, linewidth=0)
        above.step(at, count, where="post", color=BLUE, linewidth=1.8)
        _count_axis(above, float(answers[-1]))
        above.set_xticks([])
        above.set_xlim(at[0], _last(at))
        some = came > 0
        below.bar(edges[:-1][some], came[some], 0.86 * stretch, align="edge", color=BLUE)
        _count_axis(below, float(came.max()), few=True)
        _time_axis(below, at[0], _last(at))
        figure.text(50 / WIDTH, 1 - 176 / 280, f"answers in {words}")
        drawn = render_svg(figure)
    return bare(drawn, said)


def outcomes_chart(
    edges: Sequence[float],
    bins: Mapping[str, Sequence[int]],
    tasks: Mapping[str, int],
    rests_on: Sequence[str] = (),
) -> str:
    """Tasks by outcome in one bar, and by confidence in a histogram stacked by outcome.

    Parameters
    ----------
    edges : sequence of float
        Of the bins of confidence, one more than bins.
    bins : mapping
        For each outcome the tasks in each bin.
    tasks : mapping
        All tasks of each outcome, with or without a confidence, in the order to draw them.
    rests_on : sequence of str
        What the confidences rest on, in words.
    """
    total = sum(tasks.values())
    if total == 0:
        return ""
    known = any(any(row) for row in bins.values())
    rows = (len(tasks) + 1) // 2
    legend = 20 * rows + 8
    strip = (14, 10, 412, 22)
    boxes = [strip, (50, 52, 366, 150)] if known else [strip]
    height = (244 if known else 40) + legend
    words = {name: as_text(name.replace("_", " "), 24).split("\n")[0] for name in tasks}
    said = ", ".join(f"{tasks[name]} {words[name]}" for name in tasks)
    with settings(_SETTINGS):
        figure, axes = _figure(height, boxes)
        _strip(axes[0], tasks)
        if known:
            _histogram(axes[1], edges, bins, tasks)
            based = f" ({', '.join(rests_on)})" if rests_on else ""
            axes[1].set_xlabel(f"confidence{based}")
        entries = [(f"{words[name]}: {tasks[name]}", _colour(name), "box") for name in tasks]
        _legend(figure, entries, height, columns=2, top=height - legend)
        drawn = render_svg(figure)
    return bare(drawn, f"{total} tasks by outcome: {said}")


def workers_chart(skills: Sequence[Skill], low: float = 0.0, high: float = 1.0) -> str:
    """Estimates with intervals, those with most of the work first; marks grow with the share.

    At most ``MOST_WORKERS`` are drawn, and the chart says how many are not.

    Parameters
    ----------
    skills : sequence of Skill
        In any order.
    low, high : float
        The ends of the scale: 0 and 1, or the range of a utility.
    """
    if not skills:
        return ""
    ranked = sorted(skills, key=lambda skill: -skill.share)
    shown, rest = ranked[:MOST_WORKERS], ranked[MOST_WORKERS:]
    left_out = ""
    if rest:
        share = sum(skill.share for skill in rest)
        left_out = f"not shown: {len(rest)} more with {share:.0%} of the answers"
    bases = {skill.basis for skill in shown if skill.value is not None}
    entries = [
        (_BASES.get(basis, basis), BLUE, "O" if basis == "agreement" else "o")
        for basis in sorted(bases, reverse=True)
    ]
    top = 12 + (22 if entries else 0)
    height = top + 22 * len(shown) + 34 + (20 if rest else 0)
    said = f"Workers by share of the answers, {len(shown)} of {len(skills)}"
    known = [skill for skill in shown if skill.value is not None]
    said += ": " + ", ".join(f"{_short(s.name)} {s.value:.2f}" for s in known[:5]) if known else ""
    said += f" and others; {left_out}" if rest else " and others" if len(known) > 5 else ""
    with settings(_SETTINGS):
        figure, (ax,) = _figure(height, [(136, top, 246, 22 * len(shown))])
        _skills(ax, shown)
        ax.set_yticks(range(len(shown)), [_short(skill.name) for skill in shown], parse_math=False)
        ax.set_ylim(len(shown) - 0.5, -0.5)
        ax.set_xlim(low, high)
        ax.set_xticks(np.linspace(low, high, 5))
        ax.xaxis.set_major_formatter(compact(max(abs(low), abs(high))))
        ax.grid(visible=False, axis="y")
        if rest:
            figure.text(14 / WIDTH, 9 / height, left_out)
        if entries:
            _legend(figure, entries, height)
        drawn = render_svg(figure)
    return bare(drawn, said)


_BASES = {
    "truth": "by known truths",
    "agreement": "by agreement with others",
    "utility": "mean utility",
}


def _skills(ax: Axes, shown: Sequence[Skill]) -> None:
    for at, skill in enumerate(shown):
        share = f"{skill.share:.0%}" if skill.share >= 0.005 or skill.share == 0 else "<1%"
        ax.text(1.04, at, share, va="center", transform=ax.get_yaxis_transform())
        if skill.value is None:
            continue
        pen = _ring(BLUE, filled=skill.basis != "agreement")
        size = 5 + 9 * min(1.0, skill.share) ** 0.5
        ax.plot([skill.value], [at], markersize=size, clip_on=False, **pen)
    spans = [(at, one.low, one.high) for at, one in enumerate(shown) if one.value is not None]
    if spans:
        ax.hlines(*zip(*spans, strict=True), color=BLUE, linewidth=1.8, alpha=0.8)


def _strip(ax: Axes, tasks: Mapping[str, int]) -> None:
    total, before = sum(tasks.values()), 0
    for name, count in tasks.items():
        ax.barh(0, count / total, left=before / total, height=1, color=_colour(name))
        before += count
    ax.set_xlim(0, 1)
    ax.set_ylim(-0.5, 0.5)
    ax.set_axis_off()


def _histogram(
    ax: Axes, edges: Sequence[float], bins: Mapping[str, Sequence[int]], tasks: Mapping[str, int]
) -> None:
    low, widths = np.asarray(edges[:-1]), np.diff(edges)
    under = np.zeros(len(widths))
    for name in tasks:
        counts = np.asarray(bins.get(name, [0] * len(widths)), float)
        some = counts > 0
        ax.bar(
            (low + 0.04 * widths)[some], counts[some], 0.92 * widths[some], under[some],
            align="edge", color=_colour(name),
        )  # fmt: skip
        under += counts
    ax.set_xlim(edges[0], edges[-1])
    ax.set_xticks(np.linspace(edges[0], edges[-1], 6))
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    ax.grid(visible=False, axis="x")
    _count_axis(ax, float(under.max()))


def _figure(
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


def _legend(
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
            pen = {**_ring(colour, filled=form == "o"), "markersize": 8, "linestyle": "none"}
            handles.append(Line2D([], [], **pen))
        else:
            line: Any = _DASHED if form == "--" else "-"
            handles.append(Line2D([], [], color=colour, linestyle=line, linewidth=2))
    names, corner = [name for name, _, _ in entries], (14 / WIDTH, 1 - top / height)
    columns = columns or len(entries)
    add_legend(figure, handles, names, loc="upper left", bbox_to_anchor=corner, ncols=columns)


def _steps(
    times: Numbers, now: float | None, columns: Sequence[Numbers]
) -> tuple[Numbers, list[Numbers]]:
    """Times and values of curves, at most so many points of each, the last at the present."""
    times = np.asarray(times, float)
    if now is not None and now > times[-1]:
        times = np.append(times, now)
        columns = [np.append(column, column[-1]) for column in columns]
    if len(times) > _MOST_POINTS:
        grid = np.linspace(times[0], times[-1], _MOST_POINTS)
        kept = np.unique(np.append(np.searchsorted(times, grid, side="right") - 1, len(times) - 1))
        times, columns = times[kept], [column[kept] for column in columns]
    return times, list(columns)


def _last(at: Numbers) -> float:
    """The end of the axis; a moment has a length too."""
    return float(at[-1]) if at[-1] > at[0] else float(at[0]) + max(1.0, abs(float(at[0])) * 1e-9)


def _time_axis(ax: Axes, first: float, last: float) -> None:
    places, words = clock_ticks(first, last, 4)
    ax.set_xlim(first, last)
    ax.set_xticks(places, words)
    for place, text in zip(places, ax.get_xticklabels(), strict=True):
        # Words at the ends would be cut off.
        part = (place - first) / (last - first)
        text.set_horizontalalignment(
            "left" if part < 0.05 else "right" if part > 0.95 else "center"
        )
    ax.grid(visible=False, axis="x")


def _count_axis(ax: Axes, top: float, *, few: bool = False) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.set_ylim(0, 1.06 * top or 1.0)
    ax.yaxis.set_major_locator(MaxNLocator(2 if few else 4, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_formatter(compact(top))


def _ring(colour: str, *, filled: bool) -> dict[str, Any]:
    face = colour if filled else "none"
    look = {"marker": "o", "markeredgewidth": 1.6}
    return {**look, "markeredgecolor": colour, "markerfacecolor": face}


def _colour(outcome: str) -> str:
    return OUTCOMES.get(outcome, OTHER)


def _short(name: str) -> str:
    """A name in one line; of a long one its ends, as names of one kind often begin alike."""
    plain = as_text(name, 400)
    return plain if len(plain) <= 14 else f"{plain[:8].rstrip()}…{plain[-5:].lstrip()}"
