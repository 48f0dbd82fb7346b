"""The dashboard's chart of one worker's quality over time."""

from collections.abc import Sequence
from typing import Protocol

from askwise.figures.canvas import BLUE, CHART_SETTINGS, Mark, figure_of, ring_pen, with_marks
from askwise.figures.looks import compact, settings
from askwise.figures.svg import bare, render_svg

_BOX = (50.0, 12.0, 366.0, 150.0)
_HEIGHT = 206


class QualityEstimate(Protocol):
    """A value and the ends of its interval."""

    @property
    def value(self) -> float:
        """The estimate."""

    @property
    def low(self) -> float:
        """The lower end."""

    @property
    def high(self) -> float:
        """The upper end."""


def quality_chart(
    blocks: Sequence[tuple[int, int, QualityEstimate]], low: float = 0.0, high: float = 1.0
) -> str:
    """The estimate of each stretch of answers (first, last) with its interval."""
    if not blocks:
        return ""
    left, top, wide, tall = _BOX
    last = blocks[-1][1]
    marks = []
    with settings(CHART_SETTINGS):
        figure, (ax,) = figure_of(_HEIGHT, [_BOX])
        middles = [(begin + end) / 2 for begin, end, _ in blocks]
        for middle, (begin, end, each) in zip(middles, blocks, strict=True):
            ax.vlines(middle, each.low, each.high, color=BLUE, linewidth=1.8, alpha=0.8)
            told = f"answers {begin} to {end}: {each.value:.3g} ({each.low:.3g} to {each.high:.3g})"
            width = wide * (end - begin + 1) / last
            marks.append(Mark(left + wide * (begin - 1) / last, top, width, tall, told))
        values = [each.value for _, _, each in blocks]
        pen = ring_pen(BLUE, filled=True)
        ax.plot(middles, values, color=BLUE, linewidth=1.0, markersize=7, clip_on=False, **pen)
        ax.set_xlim(0.5, last + 0.5)
        ax.set_ylim(low, high)
        ax.yaxis.set_major_formatter(compact(max(abs(low), abs(high))))
        ax.set_xlabel("their answers that can be judged, in order")
        ax.grid(visible=False, axis="x")
        drawn = render_svg(figure)
    said = f"Quality over time: from {values[0]:.2f} to {values[-1]:.2f} in {len(blocks)} stretches"
    return with_marks(bare(drawn, said), marks)
