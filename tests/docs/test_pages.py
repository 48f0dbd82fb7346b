"""README and the pages show what the code does."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from docs.blocks import DOCS, EXECUTED, ROOT, blocks_of, run_page
from docs.refresh import DEMO_PAGE, demo_text, excerpt_of
from tests.distributions import install

OWN = {
    "policies": (DOCS / "write-your-own-policy.md", "optimist"),
    "stopping": (DOCS / "write-your-own-rule.md", "clear-majority"),
    "aggregation": (DOCS / "write-your-own-aggregator.md", "second-vote"),
    "mechanisms": (DOCS / "write-your-own-mechanism.md", "tip"),
    "sources": (DOCS / "write-your-own-source.md", "keywords"),
}
"""Pages on writing one's own: by registry, with a name that the page registers."""

README = (ROOT / "README.md").read_text(encoding="utf-8")


def check_outputs(page: Path, folder: Path, **environment: str) -> None:
    for run in run_page(page, folder, **environment):
        shown = run.shown.code if run.shown is not None else ""
        same = doctest.OutputChecker().check_output(shown, run.printed, doctest.ELLIPSIS)
        assert same, (
            f"{page.name}, line {run.block.line} shows\n{shown}\nand prints\n{run.printed}\n"
            "(if it should: python -m docs.refresh)"
        )


@pytest.mark.parametrize("page", EXECUTED, ids=lambda page: page.name)
def test_the_code_of_a_page_prints_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    check_outputs(page, tmp_path, ASKWISE_JIT="0")


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.parametrize("page", EXECUTED, ids=lambda page: page.name)
def test_compiled_it_prints_the_same(page: Path, tmp_path: Path) -> None:
    check_outputs(page, tmp_path)


def test_the_programs_in_the_readme_are_short() -> None:
    programs = [block for block in blocks_of(README) if block.language == "python"]
    assert len(programs) == 2
    assert all(len(each.code.splitlines()) <= 26 for each in programs)


def files_of(page: Path, folder: Path) -> None:
    for block in blocks_of(page.read_text(encoding="utf-8")):
        if block.title:
            (folder / block.title).write_text(block.code, encoding="utf-8")


@pytest.mark.parametrize("kind", OWN)
def test_the_entry_points_of_a_page_are_found_by_the_registry(kind: str, tmp_path: Path) -> None:
    page, name = OWN[kind]
    files_of(page, tmp_path)
    written = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))
    project, group = written["project"], f"askwise.{kind}"
    points = project["entry-points"][group]
    # Beside the page's test file they have to be named, or pip refuses to install them.
    modules = {point.partition(":")[0] for point in points.values()}
    assert modules == set(written["tool"]["setuptools"]["py-modules"])
    install(tmp_path, project["name"], project["version"], points, group=group)
    code = f"from askwise.{kind} import {kind}; print({kind}.get({name!r}).__module__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path}:{ROOT}", "ASKWISE_JIT": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == name.replace("-", "_") + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("kind", OWN)
def test_the_test_file_of_a_page_passes(kind: str, tmp_path: Path) -> None:
    files_of(OWN[kind][0], tmp_path)
    (tests,) = tmp_path.glob("test_*.py")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", tests.name, "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


# The demonstration.


def shown_demo() -> str:
    """What the page of the demonstration shows."""
    (block,) = (each for each in blocks_of(DEMO_PAGE.read_text("utf-8")) if each.language == "text")
    return block.code


def first_cells(text: str) -> list[str]:
    """The first cell of each row of the tables in a text."""
    return re.findall(r"^│ (.*?) +│", text, re.M)


def test_the_tables_of_the_page_have_the_rows_of_the_demo() -> None:
    from askwise.demo.people import EXPERT, PEOPLE
    from askwise.demo.stand_ins import STAND_INS

    cells = first_cells(shown_demo())
    assert cells[:7] == [each.id for each in (*STAND_INS, *PEOPLE, EXPERT)]
    assert cells[7] == "askwise"
    assert len(cells) == 12


def test_the_readme_shows_a_part_of_the_page() -> None:
    assert f"```text\n{excerpt_of(shown_demo())}```" in README


@pytest.mark.slow
def test_the_demo_prints_what_its_page_shows_but_for_figures(tmp_path: Path) -> None:
    # Answers come back in another order each time, so that other messages go to people.
    printed, shown = demo_text(tmp_path), shown_demo()
    assert first_cells(printed) == first_cells(shown)
    assert printed.partition("┏")[0] == shown.partition("┏")[0]
    try_next = printed.partition("Try next:")[2]
    assert re.sub(r":\d+", ":N", try_next) == re.sub(r":\d+", ":N", shown.partition("Try next:")[2])


def test_the_picture_is_small() -> None:
    assert (DOCS / "assets" / "demo.png").stat().st_size < 150_000
