from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("matplotlib")

from matplotlib import rc_context, rcParams
from matplotlib.colors import same_color

from askwise.core.errors import InvalidParameter
from askwise.figures import ReferenceRow, Row, draw, save, svg_text
from askwise.figures.looks import ACCENT, COLOURS, accented, compact, spread, styles_of
from askwise.figures.plots import _apart
from askwise.figures.svg import on_dark

NAMES = [
    "bounded-epsilon-first(epsilon=0.15)",
    "budget-limited-epsilon-first(epsilon=0.05)",
    "budget-limited-epsilon-first(epsilon=0.1)",
    "budget-limited-epsilon-first(epsilon=0.15)",
    *("trialsourcing", "random", "uniform", "bounded-kube", "simplified-bounded-kube"),
    *("thompson-knapsack", "knowledge-gradient", "optimum"),
]


def rows_of(names: list[str], panels: tuple[str, ...] = ("",), scale: float = 1.0) -> list[Row]:
    return [
        Row(panel, name, x, "utility", mean, mean - 0.2, mean + 0.2, 30)
        for panel in panels
        for at, name in enumerate(names)
        for x in (1, 10, 100)
        for mean in [scale * (at + 1) + x / 50]
    ]


def drawn(rows: list[Row], **options: Any) -> Any:
    words = {"title": "A title", "x_label": "budget ($)", "y_label": "utility of $ and $"}
    return draw(rows, metric="utility", **{**words, **options})


def test_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    rows = rows_of(NAMES[:4], ("A", "B"))
    for kind in ("line", "bars"):
        first, second = (
            save(drawn(rows, kind=kind), tmp_path / part, "figure") for part in ("1", "2")
        )
        assert [path.name for path in first] == ["figure.png", "figure.svg"]
        for left, right in zip(first, second, strict=True):
            assert left.read_bytes() == right.read_bytes()
        assert b"<dc:date>" not in first[1].read_bytes()


def test_saving_again_changes_nothing(tmp_path: Path) -> None:
    figure = drawn(rows_of(NAMES[:3], ("A", "B")))
    before = svg_text(figure)
    save(figure, tmp_path)
    assert svg_text(figure) == before


def test_settings_of_the_user_neither_matter_nor_change() -> None:
    rows = rows_of(NAMES[:3])
    plain = svg_text(drawn(rows))
    with rc_context({"font.size": 30, "lines.linewidth": 9, "svg.hashsalt": "other"}):
        assert svg_text(drawn(rows)) == plain
        assert rcParams["font.size"] == 30


def test_importing_is_cheap_and_pyplot_is_never_used() -> None:
    program = (
        "import sys; from askwise import figures;"
        "assert 'matplotlib' not in sys.modules;"
        "f = figures.draw([figures.Row('', 'a', 1, 'm', 1, 1, 1, 1)], title='t', metric='m',"
        " x_label='x', y_label='y');"
        "figures.svg_text(f); assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_series_looks_the_same_in_every_figure() -> None:
    together = styles_of(NAMES)
    for name in ("bounded-kube", "uniform", "thompson-knapsack"):
        assert styles_of([name])[name] == together[name]
    assert styles_of(NAMES[::-1]) == together
    assert styles_of([name for name in NAMES if name != "optimum"]).items() <= together.items()


def test_looks_of_many_series_are_distinct() -> None:
    names = [*NAMES, *(f"policy-{at}" for at in range(20))]
    looks = styles_of(names)
    assert len({(look.colour, look.marker, str(look.line)) for look in looks.values()}) == 32
    few = styles_of(NAMES)
    assert len({look.marker for look in few.values()}) == 12
    variants = [few[name] for name in NAMES[1:4]]
    assert len({look.colour for look in variants}) == 1
    assert len({str(look.line) for look in variants}) == 3


def test_a_sweep_of_one_policy_gets_many_colours() -> None:
    looks = styles_of(f"bounded-epsilon-first(epsilon=0.{at})" for at in range(1, 7))
    assert len({look.colour for look in looks.values()}) == 6


def test_each_panel_is_a_subplot_and_there_is_one_legend_below_them() -> None:
    figure = drawn(rows_of(NAMES, ("A", "B", "C", "D")))
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["A", "B", "C", "D"]
    assert all(ax.get_legend() is None for ax in figure.axes)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == NAMES
    lowest = min(ax.get_tightbbox().y0 for ax in figure.axes)
    label = next(text for text in figure.texts if text.get_text() == "budget ($)")
    assert legend.get_window_extent().y1 <= label.get_window_extent().y0 <= lowest + 1
    assert legend.get_window_extent().x0 >= 0
    assert legend.get_window_extent().x1 <= figure.bbox.width


@pytest.mark.parametrize("panels", [("",), ("A", "B")], ids=["labels", "legend"])
def test_highlighted_series_are_bolder_and_alone_have_the_accent(panels: tuple[str, ...]) -> None:
    figure = drawn(rows_of(["uniform", "random"], panels), highlight=["random"])
    plain, bold = figure.axes[0].lines
    assert bold.get_linewidth() > 2 * plain.get_linewidth()
    assert bold.get_zorder() > plain.get_zorder()
    assert same_color(bold.get_color(), ACCENT)
    assert not same_color(plain.get_color(), ACCENT)
    named = figure.axes[0].texts if len(panels) == 1 else figure.legends[0].get_texts()
    weights = {text.get_text(): text.get_fontweight() for text in named}
    assert weights == {"uniform": "normal", "random": "bold"}


def test_no_other_series_has_the_accent() -> None:
    looks = accented(NAMES, ["thompson-knapsack", "knowledge-gradient"])
    ours = [name for name in NAMES if looks[name].colour == ACCENT]
    assert ours == ["thompson-knapsack", "knowledge-gradient"]
    assert looks[ours[0]].line != looks[ours[1]].line
    assert ACCENT not in COLOURS


def test_lines_of_one_panel_have_their_names_at_their_ends() -> None:
    figure = drawn(rows_of(["uniform", "random", "trialsourcing"], scale=0.001))
    (ax,) = figure.axes
    assert figure.legends == []
    assert {text.get_text() for text in ax.texts} == {"uniform", "random", "trialsourcing"}
    boxes = sorted((text.get_window_extent() for text in ax.texts), key=lambda box: box.y0)
    assert all(low.y1 <= high.y0 + 1 for low, high in pairwise(boxes))
    assert all(ax.bbox.x1 < box.x0 and box.x1 <= figure.bbox.width for box in boxes)


def test_lines_that_end_apart_have_a_legend() -> None:
    rows = [row for row in rows_of(["uniform", "random"]) if (row.series, row.x) != ("random", 100)]
    figure = drawn(rows)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["uniform", "random"]


@given(
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0.02, 0.05, 0.1])), min_size=1, max_size=9)
)
def test_labels_never_overlap_and_stay_beside_the_axes(wanted: list[tuple[float, float]]) -> None:
    sizes = {str(at): size for at, (_, size) in enumerate(wanted)}
    places = _apart({str(at): place for at, (place, _) in enumerate(wanted)}, sizes)
    spans = sorted(
        (places[name] - size / 2, places[name] + size / 2) for name, size in sizes.items()
    )
    assert all(low[1] <= high[0] + 1e-5 for low, high in pairwise(spans))
    assert spans[0][0] >= -1e-5
    assert spans[-1][1] <= 1 + 1e-5


def test_a_picture_has_other_colours_on_dark_ground_and_keeps_its_words() -> None:
    text = svg_text(drawn(rows_of(["fill: #222222", "b"]), highlight=["b"]))
    assert "prefers-color-scheme: dark" in text
    assert "fill: #222222; fill: var(--on-dark-222222, #222222)" in text
    assert ">fill: #222222</text>" in text
    for colour in re.findall(r"--on-dark-([0-9a-f]{6}):", text):
        assert on_dark(f"#{colour}") in text


def test_values_of_the_paper_are_hollow_and_bounds_are_dashed() -> None:
    reference = [
        ReferenceRow.at("uniform", 10, "utility", 1.5, half_width=0.1),
        ReferenceRow.at("bound", 1, "utility", 2.5, style="line"),
        ReferenceRow.at("bound", 100, "utility", 2.6, style="line"),
        ReferenceRow.at("uniform", 10, "regret", 99.0),
    ]
    figure = drawn(rows_of(["uniform"]), reference=reference)
    _, hollow, bound = (line for line in figure.axes[0].lines if len(line.get_xdata()))
    assert bound.is_dashed()
    assert hollow.get_markerfacecolor() == "white"
    assert same_color(hollow.get_markeredgecolor(), styles_of(["uniform"])["uniform"].colour)
    said = [text.get_text() for text in figure.legends[0].get_texts()]
    assert said == ["uniform", "bound", "hollow: the paper's values"]


def test_a_bound_far_away_does_not_flatten_the_curves() -> None:
    reference = [ReferenceRow.at("bound", x, "utility", 1e6, style="line") for x in (1, 100)]
    figure = drawn(rows_of(["uniform"]), reference=reference)
    assert figure.axes[0].get_ylim()[1] < 10
    assert figure.legends[0].get_texts()[1].get_text() == "bound (off the scale)"


def test_bars_of_very_different_height_get_an_axis_for_each_x() -> None:
    far = [Row("", "uniform", x, "utility", x, x, x, 1) for x in (1, 10, 100)]
    assert len(drawn(far, kind="bars").axes) == 3
    near = [Row("", "uniform", x, "utility", 5, 4, 6, 1) for x in (1, 10, 100)]
    (ax,) = drawn(near, kind="bars").axes
    assert [bar.get_height() for bar in ax.patches] == [5, 5, 5]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "10", "100"]


def test_bars_show_the_papers_values_and_policies_that_only_the_paper_has() -> None:
    reference = [
        ReferenceRow.at("uniform", 10, "utility", 1.5, style="line"),
        ReferenceRow.at("elsewhere", 10, "utility", 2.5),
    ]
    figure = drawn(rows_of(["uniform"]), kind="bars", reference=reference)
    said = [text.get_text() for text in figure.legends[0].get_texts()]
    assert said == ["uniform", "elsewhere", "hollow: the paper's values"]


def test_hostile_names_stay_text() -> None:
    names = ["<script>alert(1)</script>", "_hidden", "$\\frac{", ' id="x" & \x00 url(#x)', "y" * 99]
    figure = drawn(rows_of(names, ("<b>&", "")), title='"><script>', highlight=names)
    text = svg_text(figure)
    assert "<script" not in text
    root = ElementTree.fromstring(text)
    assert root.get("aria-label") == '"><script>'
    shown = "".join(root.itertext())
    for name in ("<script>alert(1)</script>", "_hidden", "$\\frac{", 'id="x" &', "url(#x)", "<b>&"):
        assert name in shown


def test_svg_for_a_page_refers_to_nothing_outside_and_has_ids_of_its_own() -> None:
    first = svg_text(drawn(rows_of(["uniform"])))
    second = svg_text(drawn(rows_of(["random"])))
    assert first.startswith("<svg ")
    assert first.endswith("</svg>")
    assert "<text" in first
    bare = first.replace("http://www.w3.org/2000/svg", "").replace(
        "http://www.w3.org/1999/xlink", ""
    )
    assert "http" not in bare
    ids = [{e.get("id") for e in ElementTree.fromstring(t).iter()} for t in (first, second)]
    assert ids[0] & ids[1] == {None}
    links = {
        e.get("{http://www.w3.org/1999/xlink}href") for e in ElementTree.fromstring(first).iter()
    }
    assert {link[1:] for link in links if link} <= ids[0]


def test_what_can_not_be_drawn_is_refused() -> None:
    rows = rows_of(["uniform"])
    with pytest.raises(InvalidParameter, match="regret"):
        draw(rows, title="t", metric="regret", x_label="x", y_label="y")
    with pytest.raises(InvalidParameter, match="two values"):
        drawn(rows + rows[:1])
    with pytest.raises(InvalidParameter, match="kind"):
        drawn(rows, kind="pie")


@pytest.mark.parametrize("axis", ["x", "y"])
def test_what_is_not_above_0_is_left_off_a_log_axis_which_says_so(axis: str) -> None:
    points = [(0, 1), (1, 1), (10, 2)] if axis == "x" else [(1, 0), (2, 1), (3, 2)]
    rows = [Row("", "a", x, "utility", y, y, y, 1) for x, y in points]
    figure = drawn(rows, **{f"log_{axis}": True})
    assert len(figure.axes[0].lines[0].get_xdata()) == 2
    written = " ".join(re.findall(r">\s*([^<>\s][^<>]*)<", svg_text(figure)))
    assert "values of 0 are not shown" in written
    # Nothing is above 0: the axis is linear.
    flat = drawn([Row("", "a", 0, "utility", 0, 0, 0, 1)], **{f"log_{axis}": True})
    assert getattr(flat.axes[0], f"get_{axis}scale")() == "linear"


def test_a_log_axis_says_that_values_below_0_are_left_off_too() -> None:
    rows = [Row("", "a", x, "utility", y, y, y, 1) for x, y in ((1, -1), (2, 0), (3, 2))]
    written = " ".join(re.findall(r">\s*([^<>\s][^<>]*)<", svg_text(drawn(rows, log_y=True))))
    assert "values of 0 or less are not shown" in written


def test_a_single_point_and_a_log_axis_can_be_drawn() -> None:
    svg_text(drawn([Row("", "a", 5, "utility", 0, 0, 0, 1)], log_x=True))
    figure = drawn(rows_of(["uniform"]), log_x=True)
    assert figure.axes[0].get_xscale() == "log"
    assert list(figure.axes[0].get_xticks()) == [1, 10, 100]


def test_numbers_on_axes_are_short_and_far_enough_apart() -> None:
    assert [compact(2_000_000)(x) for x in (0, 500, 1500, 30_000, 2e6)] == [
        *("0", "500", "1.5k", "30k", "2M")
    ]
    assert [compact(1000)(x) for x in (0.1 + 0.2, 1000)] == ["0.3", "1000"]
    assert spread([500, 510, 5000, 100_000]) == [500, 5000, 100_000]
