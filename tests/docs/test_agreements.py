"""What an agreement rests on: the code that a study can import, and what is kept."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import askwise
from askwise.lab.experiment import experiments
from docs import agreements
from docs.reproduce import KEPT
from tests.paths import ROOT


def test_a_record_is_of_the_code_that_a_study_can_import_and_not_of_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "askwise"
    studies = package / "lab" / "papers"
    for folder in (studies, package / "cli", package / "core"):
        folder.mkdir(parents=True)
    mine, shared, other = (studies / f"{name}.py" for name in ("mine", "shared", "other"))
    core, command = package / "core" / "money.py", package / "cli" / "lab.py"
    text = '"""Words."""\n\ndef run():\n    from askwise.lab.papers import shared  # later\n'
    mine.write_text(text)
    for file in (shared, other, core, command):
        file.write_text("X = 1\n")
    monkeypatch.setattr(askwise, "__file__", str(package / "__init__.py"))

    def digest() -> str:
        return agreements.sources_of("askwise.lab.papers.mine", agreements.code_now())

    before = digest()
    mine.write_text(text.replace("Words", "Other words").replace("  # later", ""))
    command.write_text("X = 2\n")
    other.write_text("X = 2\n")
    assert digest() == before
    shared.write_text("X = 2\n")
    assert digest() != before
    shared.write_text("X = 1\n")
    assert digest() == before
    core.write_text("X = 2\n")
    assert digest() != before


def test_studies_know_what_they_import() -> None:
    code = agreements.code_now()
    needed = {each for name, module in code.items() if "papers" in name for each in module.imports}
    assert "askwise.lab.papers.labels.studies.common" in needed & code.keys()
    assert agreements.Foundation.now(KEPT).sources.keys() == set(experiments.names())


def test_no_study_imports_what_stands_beside_the_lab() -> None:
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (floors,) = (each["layers"] for each in layers["contracts"] if each["id"] == "house")
    rooms = [re.findall(r"\w+", floor) for floor in floors]
    until = next(at for at, floor in enumerate(rooms) if "lab" in floor)
    above = {room for floor in rooms[: until + 1] for room in floor} - {"lab"}
    assert {name.removesuffix(".py") for name in agreements.BESIDE} == above
