"""The pytest plug-in, in test runs of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from askwise import pytest_plugin
from askwise.core.errors import AskwiseError
from askwise.pytest_plugin import hold_to_people
from docs.blocks import DOCS, run_page

ROOT = Path(__file__).parent.parent
EXPORTS = Path(__file__).parent / "data" / "evaluations" / "exports"


def run(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    """Run the tests in a file with the plug-in and no other."""
    (folder / "test_judges.py").write_text(source)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "askwise.pytest_plugin"]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", "test_judges.py"],
        cwd=folder,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    head = "task,worker,label\n"
    rows = [(f"t{at}", "pass" if at % 3 else "fail") for at in range(60)]
    (tmp_path / "people.csv").write_text(head + "".join(f"{t},ann,{x}\n" for t, x in rows))
    (tmp_path / "verdicts.csv").write_text(
        head + "".join(f"{t},gpt,{x}\n{t},mini,pass\n" for t, x in rows)
    )
    return tmp_path


def test_a_judge_who_agrees_passes_and_another_fails_with_one_sentence(tables: Path) -> None:
    found = run(
        tables,
        """
def test_gpt(judge_check):
    (found,) = judge_check("verdicts.csv", human="people.csv", judge="gpt", at_least=0.9)
    assert found.agreed == found.tasks == 60

def test_mini(judge_check):
    judge_check("verdicts.csv", human="people.csv", judge="mini", at_least=0.8)
""",
    )
    assert found.returncode == 1
    assert "1 failed, 1 passed" in found.stdout
    assert (
        "mini agrees with people on 66.7% of 60 tasks, and with 95% confidence on at least 55.3%: "
        "80.0% is not reached; it agrees less often than that" in found.stdout
    )
    assert "Traceback" not in found.stdout


def test_the_tests_that_the_page_shows_pass(tmp_path: Path) -> None:
    run_page(DOCS / "how-to" / "evaluations.md", tmp_path, ASKWISE_JIT="0")
    found = run(tmp_path, (tmp_path / "test_judges.py").read_text())
    assert "2 passed" in found.stdout, found.stdout


def test_a_run_without_the_fixture_imports_next_to_nothing(tables: Path) -> None:
    found = run(
        tables,
        """
import sys

def test_nothing_was_imported():
    ours = {name for name in sys.modules if name.startswith("askwise")}
    assert ours == {"askwise", "askwise.core", "askwise.core.version", "askwise.pytest_plugin"}
    assert not {"numba", "numpy", "scipy"} & set(sys.modules)
""",
    )
    assert found.returncode == 0, found.stdout


def test_pytest_finds_the_plug_in_where_askwise_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"askwise": pytest_plugin.__name__}


def test_an_export_brings_its_people_along() -> None:
    (found,) = hold_to_people(
        EXPORTS / "langfuse.csv",
        tool="langfuse",
        metric="correctness",
        threshold=0.7,
        at_least=0.3,
    )
    assert (found.judge, found.tasks) == ("correctness", 9)


def test_tables_may_be_columns_in_memory() -> None:
    said = {"task": ["a"], "worker": ["gpt"], "label": ["yes"]}
    told = {"task": ["a"], "worker": ["ann"], "label": ["yes"]}
    with pytest.raises(
        pytest.fail.Exception, match=r"gpt agrees with people on 100\.0% of 1 task,"
    ):
        hold_to_people(said, human=told, at_least=0.8)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(AskwiseError, match="human is not given"):
        hold_to_people({"task": ["a"], "worker": ["gpt"], "label": ["yes"]}, at_least=0.8)
    with pytest.raises(AskwiseError, match="human is not given"):
        hold_to_people(EXPORTS / "deepeval.json", tool="deepeval", metric="Bias", at_least=0.8)
    with pytest.raises(AskwiseError, match="give the path of its export"):
        hold_to_people({"task": []}, tool="deepeval", at_least=0.8)
