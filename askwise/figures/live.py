"""The dashboard's charts, as ``<svg>`` elements for a page that forbids inline styles.

Each is drawn for a width of 440 units with text of 13, scales with its place, takes the page's
font and colour of text and has colours that can be told from light and from dark ground. Every
function may be called from any thread; one draws at a time. Times are seconds since 1970, shown
in UTC; money is in micro-units. Where there is nothing to draw the result is empty.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from askwise.core.arrays import Array
from askwise.core.money import MICRO, from_micro
from askwise.figures.canvas import (
    BLUE,
    CHART_SETTINGS,
    DASHED,
    GREY,
    ORANGE,
    WIDTH,
    Mark,
    count_axis,
    draw_legend,
    figure_of,
    last_of,
    ring_pen,
    steps_of,
    thinned,
    time_axis,
    time_marks,
    with_marks,
    with_times,
)
from askwise.figures.clock import bucket, moment
from askwise.figures.looks import as_text, compact, settings
from askwise.figures.svg import PAGE_INK, bare, render_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_WORKERS = 20

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
    price: float | None = None
    """What an answer cost, or its price; None where that is not known."""

    @property
    def words(self) -> str:
        """All of it in a line."""
        told = f"{as_text(self.name, 400)}: {self.share:.1%} of the answers"
        if self.price is not None:
            told += f", {_plain(self.price)} per answer"
        if self.value is None:
            return f"{told}, no quality yet"
        low, high = self.value if self.low is None else self.low, self.high or self.value
        by = _BASES.get(self.basis, self.basis)
        return f"{told}; quality {self.value:.3g} ({low:.3g} to {high:.3g}), {by}"


def money_chart(
    times: Array,
    spent: Array,
    reserved: Array,
    budget: Array | None,
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
    at, (paid, held, cap) = steps_of(
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
    with settings(CHART_SETTINGS):
        figure, (ax,) = figure_of(250, [(50, 34, 366, 180)])
        ax.fill_between(at, paid, step="post", color=BLUE, alpha=0.3, linewidth=0)
        ax.step(at, held, where="post", color=ORANGE, linewidth=1.4)
        ax.step(at, paid, where="post", color=BLUE, linewidth=1.8)
        top = float(held.max())
        if budget is not None:
            ax.step(at, cap, where="post", color=PAGE_INK, linewidth=1.2)
            top = max(top, float(cap.max()))
        last = last_of(at)
        if end is not None and end[0] > at[-1]:
            line = ([at[-1], end[0]], [paid[-1], end[1] / MICRO])
            ax.plot(*line, color=BLUE, linestyle=DASHED, linewidth=1.8)
            last = min(end[0], max(last, at[-1] + (last - at[0])))
            top = max(top, float(np.interp(last, *line)))
        time_axis(ax, at[0], last)
        count_axis(ax, top)
        draw_legend(figure, entries, 250)
        drawn = render_svg(figure)
    some = thinned(len(at))
    words = [
        f"{_amount(paid[each])} spent, {_amount(held[each] - paid[each])} reserved"
        + ("" if budget is None else f" of {_amount(cap[each])}")
        for each in some
    ]
    marks = time_marks((50, 34, 366, 180), at[some], last, words)
    return with_marks(with_times(bare(drawn, said), at[0], last), marks)


def answers_chart(times: Array, answers: Array) -> str:
    """How many answers came in each stretch of time."""
    if len(times) == 0 or answers[-1] == 0:
        return ""
    first, last = float(times[0]), last_of(np.asarray(times, float))
    stretch, edges, words = bucket(first, last)
    reached = np.searchsorted(times, edges, side="right") - 1
    count = np.where(reached < 0, 0, answers[np.maximum(reached, 0)])
    came = np.diff(count)
    said = f"Answers over time: {int(answers[-1])}, at most {int(came.max())} in {words}"
    box = (50.0, 30.0, 366.0, 184.0)
    with settings(CHART_SETTINGS):
        figure, (ax,) = figure_of(250, [box])
        some = came > 0
        ax.bar(edges[:-1][some], came[some], 0.86 * stretch, align="edge", color=BLUE)
        count_axis(ax, float(came.max()))
        time_axis(ax, float(edges[0]), float(edges[-1]))
        figure.text(50 / WIDTH, 1 - 20 / 250, f"answers in {words}")
        drawn = render_svg(figure)
    told = [
        f"{each} answers in {words}, {all} so far"
        for each, all in zip(came, count[1:], strict=True)
    ]
    marks = time_marks(box, edges[:-1], float(edges[-1]), told)
    return with_marks(with_times(bare(drawn, said), edges[0], edges[-1]), marks)


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
    with settings(CHART_SETTINGS):
        figure, axes = figure_of(height, boxes)
        _strip(axes[0], tasks)
        if known:
            _histogram(axes[1], edges, bins, tasks)
            based = f" ({', '.join(rests_on)})" if rests_on else ""
            axes[1].set_xlabel(f"confidence{based}")
        entries = [(f"{words[name]}: {tasks[name]}", _colour(name), "box") for name in tasks]
        draw_legend(figure, entries, height, columns=2, top=height - legend)
        drawn = render_svg(figure)
    marks = _outcome_marks(strip, boxes[1] if known else None, edges, bins, tasks, words)
    return with_marks(bare(drawn, f"{total} tasks by outcome: {said}"), marks)


def _outcome_marks(
    strip: tuple[float, float, float, float],
    histogram: tuple[float, float, float, float] | None,
    edges: Sequence[float],
    bins: Mapping[str, Sequence[int]],
    tasks: Mapping[str, int],
    words: Mapping[str, str],
) -> list[Mark]:
    """A place for each outcome in the bar, and for each bin of confidence."""
    total, before, marks = sum(tasks.values()), 0, []
    left, top, wide, high = strip
    for name, count in tasks.items():
        told = f"{words[name]}: {count} of {total} tasks"
        marks.append(Mark(left + wide * before / total, top, wide * count / total, high, told))
        before += count
    if histogram is not None:
        left, top, wide, high = histogram
        for at, (low, end) in enumerate(itertools.pairwise(edges)):
            inside = {name: bins[name][at] for name in tasks if name in bins and bins[name][at]}
            told = ", ".join(f"{count} {words[name]}" for name, count in inside.items())
            told = f"confidence {low:.0%} to {end:.0%}: {told or 'no task'}"
            span = edges[-1] - edges[0]
            x = left + wide * (low - edges[0]) / span
            marks.append(Mark(x, top, wide * (end - low) / span, high, told))
    return marks


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
    said += (
        ": " + ", ".join(f"{short_name(s.name)} {s.value:.2f}" for s in known[:5]) if known else ""
    )
    said += f" and others; {left_out}" if rest else " and others" if len(known) > 5 else ""
    with settings(CHART_SETTINGS):
        figure, (ax,) = figure_of(height, [(136, top, 190, 22 * len(shown))])
        _skills(ax, shown)
        ax.set_yticks(
            range(len(shown)), [short_name(skill.name) for skill in shown], parse_math=False
        )
        ax.set_ylim(len(shown) - 0.5, -0.5)
        ax.set_xlim(low, high)
        ax.set_xticks(np.linspace(low, high, 5))
        ax.xaxis.set_major_formatter(compact(max(abs(low), abs(high))))
        ax.grid(visible=False, axis="y")
        if rest:
            figure.text(14 / WIDTH, 9 / height, left_out)
        if entries:
            draw_legend(figure, entries, height)
        drawn = render_svg(figure)
    marks = [Mark(0, top + 22 * at, WIDTH, 22, each.words) for at, each in enumerate(shown)]
    return with_marks(bare(drawn, said), marks)


_BASES = {
    "truth": "by known truths",
    "agreement": "by agreement with others",
    "utility": "mean utility",
}


def _plain(price: float) -> str:
    """A price in plain decimals, of few digits where they come late: the column is narrow."""
    digits = 3 if price >= 0.001 else 2
    return np.format_float_positional(price, precision=digits, fractional=False, trim="-")


def _skills(ax: Axes, shown: Sequence[Skill]) -> None:
    for at, skill in enumerate(shown):
        share = f"{skill.share:.0%}" if skill.share >= 0.005 or skill.share == 0 else "<1%"
        ax.text(1.19, at, share, va="center", ha="right", transform=ax.get_yaxis_transform())
        if skill.price is not None:
            price = _plain(skill.price)
            ax.text(1.56, at, price, va="center", ha="right", transform=ax.get_yaxis_transform())
        if skill.value is None:
            continue
        pen = ring_pen(BLUE, filled=skill.basis != "agreement")
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
    count_axis(ax, float(under.max()))


def _colour(outcome: str) -> str:
    return OUTCOMES.get(outcome, OTHER)


def short_name(name: str) -> str:
    """A name in one line; of a long one its ends, as names of one kind often begin alike."""
    plain = as_text(name, 400)
    return plain if len(plain) <= 14 else f"{plain[:8].rstrip()}…{plain[-5:].lstrip()}"


def _amount(money: float) -> str:
    return f"{money:,.2f}"
