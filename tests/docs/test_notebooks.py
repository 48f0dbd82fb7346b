"""The notebook runs from a clean kernel, and is stored with what it shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from docs.notebooks import FOLDER, execute

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def pages(notebook: Any) -> list[list[str]]:
    """What each cell shows, as HTML."""
    return [
        [each.get("data", {}).get("text/html", "") for each in cell.get("outputs", ())]
        for cell in notebook.cells
    ]


def kinds(notebook: Any) -> list[list[str]]:
    """What each cell shows: a picture or a table. Judges answer side by side, so the order of
    their answers, and with it a figure here and there, differs from run to run."""
    return [
        ["picture" if "<svg" in page else "table" if "<table" in page else "text" for page in each]
        for each in pages(notebook)
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_of_a_stored_notebook_shows_something(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs for cell in code)
    assert all(each.output_type != "error" for cell in code for each in cell.outputs)
    assert sum("picture" in each for each in kinds(notebook)) >= 4
    text = path.read_text(encoding="utf-8")
    assert "<script" not in text
    assert str(Path.home()) not in text
    assert len(text) < 300_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_from_a_clean_kernel_it_shows_what_is_stored(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Plain and compiled runs show the same; plain ones need not wait for the compiler.
    monkeypatch.setenv("ASKWISE_JIT", "0")
    again = execute(path, tmp_path)
    stored = nbformat.read(path, as_version=4)
    assert kinds(again) == kinds(stored), "if it should: python -m docs.notebooks"
    for notebook in (again, stored):
        told = "".join(page for each in pages(notebook) for page in each)
        assert "60 yes, 20 no" in told
        assert "At most 10% of" in told
        assert "hem(target=0.05) would have been right on" in told
