"""The dashboard's chart of quality against price."""

from collections.abc import Sequence

from askwise.figures.canvas import (
    BLUE,
    CHART_SETTINGS,
    Mark,
    figure_of,
    ring_pen,
    with_marks,
)
from askwise.figures.live import Skill, short_name
from askwise.figures.looks import compact, settings
from askwise.figures.svg import bare, render_svg

MOST_NAMED = 8
"""Workers whose names are drawn beside their marks: those with most of the answers."""

_BOX = (50.0, 16.0, 366.0, 220.0)
_HEIGHT = 284


def price_chart(skills: Sequence[Skill], low: float = 0.0, high: float = 1.0) -> str:
    """Quality against the cost of an answer, with intervals; marks grow with the share.

    Empty with fewer than two prices: then there is nothing to compare.
    """
    known = [each for each in skills if each.value is not None and each.price is not None]
    prices = sorted({each.price for each in known if each.price is not None})
    if len(prices) < 2:
        return ""
    left, top, wide, tall = _BOX
    end = 1.08 * prices[-1]
    named = sorted(known, key=lambda each: -each.share)[:MOST_NAMED]
    marks: list[Mark] = []
    taken: list[tuple[float, float]] = []
    with settings(CHART_SETTINGS):
        figure, (ax,) = figure_of(_HEIGHT, [_BOX])
        for each in known:
            assert each.value is not None
            assert each.price is not None
            bottom = each.value if each.low is None else each.low
            ceiling = each.value if each.high is None else each.high
            ax.vlines(each.price, bottom, ceiling, color=BLUE, linewidth=1.8, alpha=0.5)
            size = 5 + 9 * min(1.0, each.share) ** 0.5
            pen = ring_pen(BLUE, filled=each.basis != "agreement")
            ax.plot([each.price], [each.value], markersize=size, clip_on=False, **pen)
            x = left + wide * each.price / end
            y = top + tall * (high - each.value) / (high - low)
            marks.append(Mark(x - 9, y - 9, 18, 18, each.words))
            # A name that would run into another is left to the pointer.
            if each in named and all(abs(x - a) > 90 or abs(y - b) > 14 for a, b in taken):
                taken.append((x, y))
                right = each.price > 0.7 * end
                ax.annotate(
                    short_name(each.name),
                    (each.price, each.value),
                    xytext=(-8 if right else 8, 0),
                    textcoords="offset points",
                    ha="right" if right else "left",
                    va="center",
                    parse_math=False,
                )
        ax.set_xlim(0, end)
        ax.set_ylim(low, high)
        ax.xaxis.set_major_formatter(compact(prices[-1]))
        ax.set_xlabel("cost of an answer")
        drawn = render_svg(figure)
    told = ", ".join(f"{short_name(each.name)} {each.value:.2f}" for each in named[:5])
    said = f"Quality against the cost of an answer, {len(known)} workers: {told}"
    return with_marks(bare(drawn, said), marks)
