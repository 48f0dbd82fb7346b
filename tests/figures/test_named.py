"""Figures of things with names: dots with intervals, and a heat map."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

pytest.importorskip("matplotlib")

from askwise.core.errors import InvalidParameter
from askwise.figures import Dot, draw_dots, draw_heat, svg_text

DOTS = [
    Dot("gpt-4", "accuracy", 0.9, 0.8, 0.95),
    Dot("gpt-4", "kappa", 0.7, 0.6, 0.8),
    Dot("a <b> & $c_1$", "accuracy", 0.5, 0.4, 0.6),
]


def words(svg: str) -> str:
    return " ".join(ElementTree.fromstring(svg).itertext())


def test_dots_show_names_series_and_lines() -> None:
    figure = draw_dots(DOTS, title="Judges", x_label="share", lines={"a person": 0.85})
    svg = svg_text(figure)
    assert 'aria-label="Judges"' in svg
    for word in ("gpt-4", "a <b> & $c_1$", "accuracy", "kappa", "a person", "share"):
        assert word in words(svg)


def test_a_heat_map_is_made_of_paths_and_shows_its_numbers() -> None:
    svg = svg_text(draw_heat(["x", "y"], [[1.0, -0.25], [-0.25, None]], title="Pairs", label="r"))
    assert "<image" not in svg
    assert "1.00" in words(svg)
    assert "\N{MINUS SIGN}0.25" in words(svg)


def test_a_large_heat_map_has_colours_alone() -> None:
    names = [f"j{at}" for at in range(20)]
    svg = svg_text(draw_heat(names, [[0.5] * 20] * 20, title="Pairs", label="r"))
    assert "0.50 0.50" not in words(svg)
    assert "j19" in words(svg)


def test_the_same_numbers_give_the_same_picture() -> None:
    one, other = (svg_text(draw_dots(DOTS, title="t", x_label="x")) for _ in range(2))
    assert one == other


def test_what_can_not_be_drawn_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="one dot at least"):
        draw_dots([], title="t", x_label="x")
    with pytest.raises(InvalidParameter, match="one dot a name and series"):
        draw_dots([DOTS[0], DOTS[0]], title="t", x_label="x")
    with pytest.raises(InvalidParameter, match="a row and a column for each name"):
        draw_heat(["x", "y"], [[1.0]], title="t", label="r")
