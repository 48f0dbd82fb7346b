from __future__ import annotations

import os
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

import askwise
from askwise.core.errors import InvalidParameter
from askwise.figures import ReferenceRow, Row, draw, svg_text
from askwise.lab.report import estimate, grouped, tables_of, write_report
from askwise.lab.results import Results

ROWS = [
    Row(panel, series, x, metric, mean, mean - 0.348, mean + 0.348, 10_000)
    for metric in ("utility", "share_of_optimum")
    for panel in ("A", "B")
    for series in ("bounded-epsilon-first(epsilon=0.15)", "uniform")
    for x, mean in ((500, 59.8812), (100_000, 11065.2))
]
PAPER = [
    ReferenceRow.at("uniform", 500, "utility", 24.91, panel="A", half_width=0.08),
    ReferenceRow.at("only-theirs", 500, "utility", 3.25, panel="A"),
]
HOSTILE = "<script>alert('&')</script>"


class Page(HTMLParser):
    """Tags with their attributes, and the text that a reader sees."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@cache
def svg_of(*rows: Row) -> str:
    figure = draw(rows, title="T", metric="utility", x_label="budget", y_label="utility")
    return svg_text(figure)


def written(directory: Path, rows: list[Row], **options: Any) -> str:
    words: dict[str, Any] = {
        "title": "Table 1",
        "summary": "First paragraph.\n\nSecond & last.",
        "figures": [("A caption", svg_of(*rows))],
        "differences": ["The market is another."],
        "command": "askwise lab run bounded.table1 --seed 7",
        "x_label": lambda metric: "budget",
    }
    results = Results("bounded.table1", 7, 10_000, {"price_caps": [30, 50]}, rows)
    path = write_report(directory, results, **{**words, **options})
    assert path == directory / "report.html"
    return path.read_text(encoding="utf-8")


def test_the_report_says_what_was_asked_found_and_how_to_run_it_again(tmp_path: Path) -> None:
    page = Page(written(tmp_path, ROWS, paper_rows=PAPER))
    text = re.sub(r"[ \n]+", " ", page.text)
    for part in (
        *("First paragraph.", "Second & last.", "A caption", "59.88 [59.53, 60.23]"),
        *("paper 24.91 ± 0.08", "The market is another.", "[30, 50]", askwise.__version__),
        *("askwise lab run bounded.table1 --seed 7", "10\u202f000 replications", "seed 7"),
    ):
        assert part in text
    assert len(page.all("svg")) == 1


def test_the_report_loads_nothing_from_anywhere(tmp_path: Path) -> None:
    text = written(tmp_path, ROWS, paper_rows=PAPER)
    bare = re.sub(r'xmlns(:xlink)?="http://www\.w3\.org/[^"]*"', "", text)
    assert not re.search(r"https?:|\bsrc=|@import|url\((?!#)", bare)
    page = Page(text)
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    for _, attributes in page.tags:
        for name in ("href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#")


def test_links_inside_the_report_lead_somewhere_and_ids_are_unique(tmp_path: Path) -> None:
    svg = svg_of(*ROWS)
    other = svg_of(*ROWS[:4])
    page = Page(written(tmp_path, ROWS, figures=[("one", svg), ("two", other)]))
    ids = [attributes["id"] for _, attributes in page.tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    for attributes in page.all("a"):
        assert (attributes["href"] or "").removeprefix("#") in ids


def test_hostile_names_are_escaped_everywhere(tmp_path: Path) -> None:
    rows = [Row(HOSTILE, HOSTILE, 1, "utility", 1.0, 0.5, 1.5, 9)]
    rows += [Row("", HOSTILE, 1, HOSTILE, 1.0, 0.5, 1.5, 9)]
    results = Results(HOSTILE, 1, 9, {HOSTILE: HOSTILE, "list": [HOSTILE]}, rows)
    path = write_report(
        tmp_path,
        results,
        title=HOSTILE,
        summary=HOSTILE,
        figures=[(HOSTILE, svg_of(*rows))],
        paper_rows=[ReferenceRow.at(HOSTILE, 1, "utility", 1.0, panel=HOSTILE)],
        differences=[HOSTILE],
        command=HOSTILE,
        x_label=lambda metric: HOSTILE,
    )
    text = path.read_text(encoding="utf-8")
    assert "<script" not in text
    assert Page(text).text.count("alert(") > 12


def test_a_figure_that_is_more_than_a_drawing_is_refused(tmp_path: Path) -> None:
    for svg in ("<p>no</p>", "<svg><script>1</script></svg>", "<svg><foreignObject/></svg>"):
        with pytest.raises(InvalidParameter, match=r"figures\.svg_text"):
            written(tmp_path, ROWS, figures=[("c", svg)])
    assert os.listdir(tmp_path) == []


def test_tables_have_captions_scopes_and_can_be_scrolled_by_keyboard(tmp_path: Path) -> None:
    page = Page(written(tmp_path, ROWS))
    assert len(page.all("table")) == len(page.all("caption")) == 4
    assert {attributes.get("scope") for attributes in page.all("th")} == {"col", "row"}
    regions = [attributes for attributes in page.all("div") if attributes.get("role") == "region"]
    assert len(regions) == 4
    assert all(attributes["tabindex"] == "0" for attributes in regions)
    assert page.all("html") == [{"lang": "en"}]


def test_without_a_paper_nothing_is_said_of_differences(tmp_path: Path) -> None:
    text = written(tmp_path, ROWS, differences=[], figures=[])
    assert "differs from the paper" not in text
    text = written(tmp_path, ROWS, differences=["Half of it."], figures=[])
    assert "differs from the paper" not in text
    assert "What the results say" in text
    text = written(tmp_path, ROWS, differences=[], figures=[], paper_rows=PAPER)
    assert "No difference was noted." in text


def test_tables_keep_the_order_of_rows_and_add_what_only_the_paper_has() -> None:
    tables = tables_of(ROWS, PAPER)
    assert [(table.metric, table.panel) for table in tables] == [
        *(("utility", "A"), ("utility", "B")),
        *(("share_of_optimum", "A"), ("share_of_optimum", "B")),
    ]
    first = tables[0]
    assert first.columns == ("500", "100\u202f000")
    assert [line.name for line in first.lines] == [
        "bounded-epsilon-first",
        "uniform",
        "only-theirs",
    ]
    assert [line.parameters for line in first.lines] == ["(epsilon=0.15)", "", ""]
    theirs = first.lines[2].cells
    assert theirs[0] is not None
    assert (theirs[0].mean, theirs[0].paper) == ("", "3.25")
    assert theirs[1] is None


@pytest.mark.parametrize(
    ("mean", "half", "shown"),
    [
        (59.8812, 0.348, ("59.88", "[59.53, 60.23]")),
        (11065.2, 54.07, ("11\u202f065", "[11\u202f011, 11\u202f119]")),
        (0.82731, 0.0031, ("0.8273", "[0.8242, 0.8304]")),
        (-0.001, 0.05, ("−0.001", "[−0.051, 0.049]")),
        (2.0, 150.0, ("2", "[−148, 152]")),
        (1.0, 0.0, ("1", "[1, 1]")),
        (98.7654, 0.0, ("98.77", "[98.77, 98.77]")),
        (1234567.0, 0.0, ("1\u202f234\u202f567", "[1\u202f234\u202f567, 1\u202f234\u202f567]")),
    ],
)
def test_digits_follow_the_width_of_the_interval(
    mean: float, half: float, shown: tuple[str, str]
) -> None:
    assert estimate(Row("", "a", 1, "m", mean, mean - half, mean + half, 5)) == shown


def test_thousands_are_grouped_from_five_digits_up() -> None:
    assert [grouped(text) for text in ("5000", "10000", "-1234567.5", "0.12345")] == [
        *("5000", "10\u202f000", "−1\u202f234\u202f567.5", "0.12345")
    ]


def test_a_report_that_fails_half_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        written(tmp_path, ROWS, figures=[])
    assert os.listdir(tmp_path) == []
