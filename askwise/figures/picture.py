"""The class of all figures: one that a notebook shows without further ado."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from askwise.figures.looks import load_matplotlib, settings
from askwise.figures.svg import element, render_svg, themed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches, that a notebook shows by itself, with or without pyplot."""
    load_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure: Figure = _picture()((width, height), dpi=100)
    FigureCanvasAgg(figure)
    return figure


@cache
def _picture() -> Any:
    """A class of its own: Matplotlib is imported when something is drawn."""
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A figure of Matplotlib that a notebook shows; ``savefig`` writes it to a file."""

        def _repr_html_(self) -> str:
            with settings():
                drawn = render_svg(self)
            return (
                f'<div style="max-width: 56em">{element(themed(drawn), self.get_suptitle())}</div>'
            )

    return Picture
