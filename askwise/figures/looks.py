"""How things look: a colour, marker and dash pattern for each series, and the house settings.

Apart from `plots`, which says what is drawn where, because this is what changes when a
palette or a font does.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import re
import textwrap
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from askwise.core.errors import InvalidParameter

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK = "#222222"
"""Text, error bars and bounds."""

ACCENT = "#0072B2"
"""What a picture is about: the policy that is recommended, tried or ours. Nothing else has it."""

COLOURS = (
    *("#8C5A2B", "#D55E00", "#009E73", "#CC79A7", "#E69F00"),
    *("#17A2A2", "#882255", "#6A4FA3", "#8A8A2B", "#707070"),
)
"""Okabe and Ito's palette without its blues, which are the accent's, and without its yellow, which
vanishes on white; with dark tones."""

MUTING = 0.35
"""How far the colours of others are drawn towards grey, beside what has the accent."""

OPTIMUM = "optimum"
"""The series drawn in black, which no policy gets."""

MARKERS = ("o", "s", "^", "D", "v", "X", "P", "<", ">", "p", "h", "d")

HATCHES = ("", "//", "\\\\", "--", "xx", "||", "++", "////", "\\\\\\\\", "----", "||||", "xxxx")

LINES: tuple[Any, ...] = ("-", (0, (5, 1.2, 1, 1.2)), (0, (1, 1.1)), (0, (5, 1, 1, 1, 1, 1)))
"""Plain dashes are not among them: they say that a line is a bound or another's result."""

_PINNED = {
    "bounded-epsilon-first": 0,
    "bounded-kube": 1,
    "trialsourcing": 2,
    "simplified-bounded-kube": 3,
    "budget-limited-epsilon-first": 4,
    "thompson-knapsack": 6,
    "gittins-knapsack": 5,
    "knowledge-gradient": 7,
    "uniform": 8,
    "random": 9,
}
"""Places of policies that share most figures; any other name gets one by its hash."""

SETTINGS: dict[str, Any] = {
    **{"font.family": ["DejaVu Sans"], "axes.titleweight": "bold", "legend.fontsize": 9},
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize"), 10),
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), INK),
    **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), "#555555"),
    **dict.fromkeys(("axes.axisbelow", "axes.grid"), True),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
    **{"grid.color": "#dddddd", "grid.linewidth": 0.6, "hatch.linewidth": 0.8},
    **{"legend.handlelength": 3.2, "svg.fonttype": "none", "svg.hashsalt": "askwise"},
}
"""What differs from Matplotlib's defaults; the salt makes the ids inside an SVG repeatable."""

_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Style:
    """How a series looks wherever it appears."""

    colour: str
    marker: str
    line: Any
    hatch: str

    def pen(self, *, bold: bool) -> dict[str, Any]:
        """Arguments of a line."""
        return {
            "color": self.colour,
            "linestyle": self.line,
            "linewidth": 2.8 if bold else 1.3,
            "marker": self.marker,
            "markersize": 7.5 if bold else 5.5,
            "markeredgecolor": "white",
            "markeredgewidth": 0.5,
        }

    def brush(self, *, bold: bool) -> dict[str, Any]:
        """Arguments of a bar."""
        return {
            "facecolor": self.colour,
            "edgecolor": INK if bold else (1, 1, 1, 0.6),
            "hatch": "" if bold else self.hatch,
            "linewidth": 1.4 if bold else 0.4,
            "zorder": 3 if bold else 2,
        }


_DASHES = ((5, 2.5), (1.5, 1.5), (9, 3), (7, 2, 1.5, 2))
"""Patterns for lines that were not measured here, so that several bounds can be told apart."""


def dashed(colour: str, number: int = 0) -> dict[str, Any]:
    """A line that was not measured here; ``number`` tells several of them apart."""
    pattern = _DASHES[number % len(_DASHES)]
    return {"color": colour, "linestyle": (0, pattern), "linewidth": 1.5, "marker": ""}


def ring(marker: str, colour: str) -> dict[str, Any]:
    """A point that was not measured here."""
    return {
        "linestyle": "none",
        "marker": marker,
        "markersize": 7,
        "markerfacecolor": "white",
        "markeredgecolor": colour,
        "markeredgewidth": 1.3,
    }


def styles_of(names: Iterable[str]) -> dict[str, Style]:
    """A look for each series: colour by policy, marker and dashes by policy and parameters.

    Looks come from the names, not from their order, so a series looks the same in every
    figure. Only when two names of one figure want the same colour (or marker) does the later
    in the alphabet take the next free one. Up to three variants of a policy share its colour;
    in a sweep of more, each gets its own.

    Examples
    --------
    >>> looks = styles_of(["uniform", "bounded-kube", "optimum"])
    >>> looks["uniform"] == styles_of(["uniform"])["uniform"]
    True
    """
    labels = sorted(set(names), key=_precedence)
    variants = Counter(_policy(label) for label in labels)
    colours: dict[str, int] = {}
    given: list[tuple[int, int, int]] = []
    looks: dict[str, Style] = {}
    for label in labels:
        key = _policy(label) if variants[_policy(label)] <= 3 else label
        if key == OPTIMUM:
            colours[key] = len(COLOURS)
        if key not in colours:
            wanted = _PINNED.get(key, _digest(key))
            colours[key] = _free(wanted, len(COLOURS), colours.values())
        colour = colours[key]
        beside = [look for look in given if look[0] == colour]
        taken = [look[1] for look in beside], [look[1] for look in given]
        marker = _free(_PINNED.get(label, _digest(label)), len(MARKERS), *taken)
        line = _free(_digest(label) >> 16, len(LINES), (look[2] for look in beside))
        given.append((colour, marker, line))
        ink = (*COLOURS, "#000000")[colour]
        looks[label] = Style(ink, MARKERS[marker], LINES[line], HATCHES[marker])
    return looks


def accented(names: Iterable[str], about: Collection[str]) -> dict[str, Style]:
    """Looks where some series are what the picture is about: these alone have the accent.

    The first of them is a plain line, and the others are muted. Without such series, looks are
    as `styles_of` gives them.

    Examples
    --------
    >>> looks = accented(["hem", "uniform"], ["hem"])
    >>> looks["hem"].colour == ACCENT, looks["uniform"].colour == ACCENT
    (True, False)
    """
    names = list(dict.fromkeys(names))
    looks = styles_of(names)
    ours = [name for name in names if name in about]
    if not ours:
        return looks
    for at, name in enumerate(ours):
        looks[name] = replace(looks[name], colour=ACCENT, line=LINES[at % len(LINES)])
    return {
        name: look if name in ours else replace(look, colour=muted(look.colour))
        for name, look in looks.items()
    }


def muted(colour: str, towards: str = "#8b919a") -> str:
    """A colour on its way to grey.

    Examples
    --------
    >>> muted("#8b919a")
    '#8b919a'
    """
    parts = ((int(each[at : at + 2], 16) for each in (colour, towards)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(own + MUTING * (grey - own)):02x}" for own, grey in parts)


def as_text(name: str, width: int) -> str:
    """A name fit to be drawn: no control characters (invalid in SVG), long ones in lines."""
    plain = re.sub(r"[\x00-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]", " ", name)
    return "\n".join(textwrap.wrap(plain, width)) or " "


def compact(largest: float) -> Callable[..., str]:
    """How to write the numbers of an axis that goes up to `largest`.

    Examples
    --------
    >>> [compact(100_000)(x) for x in (500, 5_000, 100_000)]
    ['500', '5k', '100k']
    """

    def form(value: float, position: int | None = None) -> str:
        size = abs(value)
        if largest >= 1e4 and size >= 1e6:
            return f"{value / 1e6:g}M"
        if largest >= 1e4 and size >= 1e3:
            return f"{value / 1e3:g}k"
        return f"{value:g}"

    return form


def spread(xs: Sequence[float]) -> list[float]:
    """Those of the values whose labels do not run into each other on a log axis."""
    apart = (math.log(xs[-1]) - math.log(xs[0])) / 6
    kept: list[float] = []
    for x in xs:
        if not kept or math.log(x) - math.log(kept[-1]) >= apart:
            kept.append(x)
    return kept


def add_legend(
    figure: Figure, handles: Sequence[Any], names: Sequence[str], **where: Any
) -> list[Any]:
    """A legend of names that are shown as they are; returns its texts."""
    legend = figure.legend(handles, [str(at) for at in range(len(names))], **where)
    # Set afterwards: Matplotlib drops labels that start with an underscore.
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(name)
    return list(legend.get_texts())


@contextmanager
def settings(more: Mapping[str, Any] | None = None) -> Iterator[None]:
    """House settings over Matplotlib's defaults, whatever the user's own settings are.

    They are global in Matplotlib and drawing is not safe in threads: one figure at a time.
    """
    load_matplotlib()
    from matplotlib.style import context

    with _LOCK, context(["default", {**SETTINGS, **(more or {})}]):
        yield


def load_matplotlib() -> None:
    """Have Matplotlib, or the sentence that says how to get it."""
    if importlib.util.find_spec("matplotlib") is None:
        raise InvalidParameter(
            "pictures need matplotlib: pip install 'askwise[lab]'", field="pictures"
        )


def lay_out(figure: Figure) -> Figure:
    """Give everything its place, once: the PNG and the SVG show the same figure.

    The figure keeps no layout engine, for which Matplotlib would draw it twice for each file.
    """
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    ConstrainedLayoutEngine().execute(figure)
    figure.draw_without_rendering()
    return figure


def _policy(label: str) -> str:
    return label.partition("(")[0]


def _precedence(label: str) -> tuple[bool, bool, bool, str]:
    """Who keeps the wanted look when two want the same: the pinned, then by alphabet."""
    return label == OPTIMUM, label not in _PINNED, _policy(label) not in _PINNED, label


def _digest(text: str) -> int:
    # Python's own hash changes from one process to the next.
    return int.from_bytes(hashlib.sha256(text.encode(errors="replace")).digest()[:8], "big")


def _free(wanted: int, count: int, *taken: Iterable[int]) -> int:
    """The wanted one of `count`, or the next that is free; if none is, the least used.

    Where several lists are given, to be free in an earlier one counts for more.
    """
    candidates = [(wanted + step) % count for step in range(count)]
    uses = [Counter(each) for each in taken]
    return min(candidates, key=lambda candidate: [each[candidate] for each in uses])
