"""Tables on a terminal."""

from __future__ import annotations

import pytest

from askwise.cli import output


def test_a_number_is_never_cut_however_narrow_the_terminal_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    columns = ("judge", ">tasks", ">accuracy", ">95% interval", ">kappa")
    output.show(output.table(columns, [("a-long-name", 25520, "0.796", "[0.780, 0.811]", "0.578")]))
    shown = capsys.readouterr().out
    for cell in ("a-long-name", "25520", "0.796", "[0.780, 0.811]", "0.578"):
        assert cell in shown


def test_long_words_of_a_table_are_folded_where_they_are_too_wide(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    output.show(output.table(("name", "what it says"), [("ann", "a sentence " * 6)]))
    assert max(len(line) for line in capsys.readouterr().out.splitlines()) <= 30
