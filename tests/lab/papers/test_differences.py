"""What reports say of results: also of results in which something is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from askwise.figures import Row
from askwise.lab.experiment import Experiment, experiments
from askwise.lab.results import Results

KEPT = Path(__file__).parents[3] / "docs" / "assets" / "reproductions"

MANY_ROWS = {"labels-calibration", "labels-real", "labels-uci", "survey-single"}
"""Going over these takes half a minute and more."""

NAMES = [
    pytest.param(path.stem, marks=pytest.mark.slow if path.stem in MANY_ROWS else ())
    for path in sorted(KEPT.glob("*.json"))
]


def kept(name: str) -> tuple[Experiment, Sequence[Row]]:
    """An experiment with the parameters of its kept results, and their rows."""
    results = Results.read_json(KEPT / f"{name}.json")
    given: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in results.params.items()
    }
    return experiments.get(name)(**given), results.rows


def lacking(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Rows without one panel, one x, one cell or one series, and without any."""
    parts = {
        "panel": lambda row: row.panel,
        "x": lambda row: row.x,
        "cell": lambda row: (row.panel, row.x),
        "series": lambda row: row.series,
    }
    for name, part in parts.items():
        for value in dict.fromkeys(map(part, rows)):
            yield f"{name} {value!r}", [row for row in rows if part(row) != value]
    yield "anything", []


@pytest.mark.parametrize("name", NAMES)
def test_a_report_can_say_what_was_found_where_a_cell_has_failed(name: str) -> None:
    experiment, rows = kept(name)
    for what, rest in lacking(rows):
        try:
            said = experiment.differences(rest)
        except (LookupError, StopIteration, ValueError) as error:
            pytest.fail(f"without {what}: {type(error).__name__}: {error}")
        assert not re.search(r"\bnan\b", " ".join(said)), what


def test_what_audits_found_is_told_of_the_cells_that_were_run() -> None:
    experiment, rows = kept("assured-audited")
    whole = experiment.differences(rows)
    assert len(whole) == 8
    some = [row for row in rows if (row.panel, row.x) != (rows[0].panel, rows[0].x)]
    assert experiment.differences(some) == whole[1:]


def test_only_what_a_paper_prints_is_called_the_papers() -> None:
    ours = [
        entry
        for entry in map(experiments.get, experiments.names())
        if entry.__module__.startswith("askwise.")
    ]
    found = {(entry.name, row.source) for entry in ours for row in entry().paper_rows()}
    assert found == {
        ("assured-audited", "the target"),
        ("assured-cost", "an independent reading"),
        ("assured-payments", "an independent reading"),
        ("assured-regret", "an independent reading"),
        ("assured-workers", "an independent reading"),
        ("bounded-table1", "the paper"),
        ("survey-competitive", "Theorem 5's bound"),
        ("survey-guarantee", "the target"),
        ("survey-single", "the exact calculation"),
    }
