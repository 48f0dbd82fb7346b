"""Figures: of the lab, of reports and of the dashboard. Matplotlib is imported when used."""

from askwise.figures.named import Dot, draw_bars, draw_dots, draw_heat
from askwise.figures.plots import draw, save, save_and_embed, svg_text
from askwise.figures.rows import ReferenceRow, Row, source_of

__all__ = [
    "Dot",
    "ReferenceRow",
    "Row",
    "draw",
    "draw_bars",
    "draw_dots",
    "draw_heat",
    "save",
    "save_and_embed",
    "source_of",
    "svg_text",
]
