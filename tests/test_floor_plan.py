"""The script that prints the house's rooms: what it counts, and that it finds every circle."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scripts import floor_plan

SOURCE = '''"""A docstring
of two lines."""

import os  # a comment

# Another.
NAMES = (
    "one",

    "two",
)
"""What stands above."""


def read() -> str:
    """Say it."""
    return """not
a docstring"""
'''


def test_lines_of_code_leave_out_blanks_comments_and_docstrings() -> None:
    # import, NAMES with its two names and brackets, def, and a return of two lines.
    assert floor_plan.code_lines(SOURCE) == 1 + 4 + 1 + 2


def write(folder: Path, **modules: str) -> Path:
    package = folder / "house"
    for name, source in {"__init__": "", **modules}.items():
        path = package / f"{name.replace('__of__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return package


def plan(package: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.chdir(package.parent)
    monkeypatch.setattr(sys, "argv", ["floor_plan.py", *words, package.name])
    return floor_plan.main()


def test_a_circle_through_an_import_inside_a_function_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = write(
        tmp_path,
        upper="from house import lower",
        lower="def late() -> None:\n    from house.upper import lower",
    )
    assert plan(package, monkeypatch) == 1
    assert "cycle of modules: house.lower, house.upper" in capsys.readouterr().out


def test_rooms_that_import_each_other_are_a_circle_though_their_modules_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = write(
        tmp_path,
        hall__of__door="from house.attic import roof",
        hall__of__mat="",
        attic__of__roof="",
        attic__of__stairs="from house.hall.mat import __name__",
    )
    assert plan(package, monkeypatch) == 1
    assert "cycle of folders: attic, hall" in capsys.readouterr().out


def test_a_house_without_circles_is_printed_with_its_lines_and_edges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = write(tmp_path, attic__of__roof="import house.hall.mat", hall__of__mat="X = 1\nY = 2")
    assert plan(package, monkeypatch) == 0
    out = capsys.readouterr().out
    assert "attic     1 files       1 lines  -> hall 1" in out
    assert out.endswith("no cycles\n")
    assert plan(package, monkeypatch, "--lines-only") == 0
    assert capsys.readouterr().out == "3\n"


def test_two_classes_of_one_name_and_three_files_of_one_word_are_out_of_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = write(
        tmp_path,
        hall__of__door="class Lock: ...\nclass State: ...",
        attic__of__hatch="class _Lock: ...\nclass State: ...",
        attic__of__roof="",
        attic__of__roof_tiles="",
    )
    assert plan(package, monkeypatch) == 1
    shared = "one name for several classes: Lock in house/attic/hatch.py, house/hall/door.py\n"
    assert capsys.readouterr().out.endswith(f"no cycles\n{shared}")
    write(tmp_path, hall__of__door="", attic__of__roof_beams="")
    assert plan(package, monkeypatch) == 1
    files = "roof.py, roof_beams.py, roof_tiles.py"
    assert capsys.readouterr().out.endswith(f"could be the folder house/attic/roof: {files}\n")
