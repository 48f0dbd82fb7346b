"""The page on statistics says what was measured, and shows every figure that is kept."""

from __future__ import annotations

import json

from docs.blocks import DOCS
from docs.statistics import certified

FOLDER = DOCS / "assets" / "statistics"
PAGE = " ".join((DOCS / "statistics.md").read_text(encoding="utf-8").split())
KEPT = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))


def right(panel: str, series: str, answers: int) -> str:
    (row,) = (
        each
        for each in KEPT["bandits"]
        if (each["panel"], each["series"], each["x"]) == (panel, series, answers)
    )
    return f"{100 * row['mean']:.0f}%"


def test_every_figure_that_is_kept_is_on_the_page() -> None:
    for figure in FOLDER.glob("*.svg"):
        assert f"](assets/statistics/{figure.name})" in PAGE


def test_the_page_quotes_what_bandits_were_measured_at() -> None:
    much, some, alike, skill = (
        "they differ much",
        "they differ",
        "all alike",
        "uniform with one-coin",
    )
    for words in (
        f"`hem` ({right(much, 'hem', 2)} right) beat eight put to a vote"
        f" ({right(much, 'uniform', 8)})",
        f"in a vote ({right(some, 'hem', 3)} and {right(some, 'uniform', 8)})",
        f"in turn ({right(alike, 'hem', 3)} and {right(alike, 'uniform', 3)})",
        f"{right(some, skill, 8)} and {right(much, skill, 8)} where workers differ, and"
        f" {right(some, 'uniform', 8)} and {right(much, 'uniform', 8)} by a vote",
    ):
        assert words in PAGE


def test_the_page_quotes_how_sure_labels_are_said_to_be() -> None:
    found, tempered, _ = KEPT["reliability"].values()
    (said, share, _), (close, close_right, _) = found[-1], tempered[0]
    assert f"says {100 * said:.0f}% on average where {100 * share:.0f}% of the labels" in PAGE
    assert f"it says {100 * tempered[-1][0]:.0f}% on average" in PAGE
    assert (
        f"said to be {100 * close:.0f}% and is right {100 * close_right:.0f}% of the time" in PAGE
    )


def test_the_page_quotes_how_often_labels_get_their_certificate() -> None:
    """Forty of 2,000 labels are wrong, which is 2%."""
    few, many = (f"{100 * certified(40, audits):.0f}%" for audits in (50, 400))
    assert f"with 50, labels of which 2% are wrong get their certificate in {few}" in PAGE
    assert f"of all draws, with 400 in {many}." in PAGE
