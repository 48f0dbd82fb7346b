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
    assert len(programs) == 5
    assert all(len(each.code.splitlines()) <= 24 for each in programs)


def files_of(page: Path, folder: Path) -> None:
    for block in blocks_of(page.read_text(encoding="utf-8")):
        if block.title:
            (folder / block.title).write_text(block.code, encoding="utf-8")


@pytest.mark.parametrize("kind", OWN)
def test_the_entry_points_of_a_page_are_found_by_the_registry(kind: str, tmp_path: Path) -> None:
    page, name = OWN[kind]
    files_of(page, tmp_path)
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    group = f"askwise.{kind}"
    points = project["entry-points"][group]
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


def demo_in_readme() -> str:
    found = re.search(r"\$ make demo\n```.*?```text\n(.*?)```", README, re.S)
    assert found is not None
    return found[1]


def test_the_demo_table_in_the_readme_has_the_numbers_of_the_demo() -> None:
    import io

    import numpy as np
    from rich.console import Console

    from askwise.core.money import MICRO
    from askwise.lab import demo
    from askwise.lab.worlds import freelancer_market
    from askwise.store import MemoryStore

    market = freelancer_market(np.random.default_rng(demo.SEED), cap=30, candidates=12)
    best, _ = market.optimum(demo.BUDGET * MICRO)
    store = MemoryStore()
    logs = {
        policy: demo.run_campaign(policy, market, store, lambda amount: None)  # type: ignore[arg-type]
        for policy in demo.POLICIES
    }
    screen = io.StringIO()
    demo.print_table(Console(file=screen, width=100), demo.results_of(logs, market, best))
    assert screen.getvalue() in demo_in_readme(), "python -m docs.refresh writes it anew"


@pytest.mark.slow
def test_the_demo_prints_what_the_readme_shows(tmp_path: Path) -> None:
    from docs.refresh import demo_text

    assert demo_text(tmp_path) == demo_in_readme()


def test_the_picture_is_small() -> None:
    assert (DOCS / "assets" / "demo.png").stat().st_size < 150_000
