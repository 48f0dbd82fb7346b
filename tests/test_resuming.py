"""A long run goes on where it was: in test runs of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.resuming import PassRecord, clock, main, sources_sum

ROOT = Path(__file__).parent.parent

RECORD = Path(".pytest_cache") / "slow" / "plain.jsonl"

TESTS = """
import os
import pytest

@pytest.fixture
def breaks_after():
    yield
    assert os.environ.get("MENDED")

def test_one(): pass
def test_two(): pass
def test_that_fails(): assert os.environ.get("MENDED")
def test_whose_end_fails(breaks_after): pass
"""


def run(folder: Path, *options: str, **env: str) -> tuple[int, str]:
    """Run the tests in a folder with a record; the exit status, and what was printed."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.resuming", "--record", RECORD]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "--rootdir", folder, *options, "test_some.py"],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "test_some.py").write_text(TESTS)
    return tmp_path


def on_record(folder: Path) -> set[str]:
    found = PassRecord.read(folder / RECORD)
    assert found is not None
    return {name.partition("::")[2] for name in found.passed}


@pytest.mark.parametrize("spread", [(), ("-p", "xdist", "-n", "2")], ids=["alone", "spread"])
def test_what_passed_is_left_out_until_the_sources_change(
    folder: Path, spread: tuple[str, ...]
) -> None:
    status, said = run(folder, *spread)
    assert status == 1, said
    assert "there is no record: 0 tests that passed before were left out" in said
    assert on_record(folder) == {"test_one", "test_two"}

    status, said = run(folder, *spread, MENDED="1")
    assert status == 0, said
    assert "the sources are those of no commit: 2 tests that passed before were left out" in said
    assert "2 more passed" in said
    assert len(on_record(folder)) == 4

    # Everything passed before: that is no failure.
    status, said = run(folder, *spread)
    assert status == 0, said
    assert "4 tests that passed before were left out" in said

    (folder / "used_by_a_test.txt").write_text("another")
    status, said = run(folder, *spread)
    assert status == 1, said
    assert "the sources have changed since no commit: 0 tests" in said
    assert on_record(folder) == {"test_one", "test_two"}


def test_a_run_that_was_killed_leaves_a_record_to_go_on_from(folder: Path) -> None:
    run(folder)
    with (folder / RECORD).open("a") as file:
        file.write('{"test": "test_some.py::test_that_f')
    status, said = run(folder, MENDED="1")
    assert status == 0, said
    assert "2 tests that passed before were left out" in said
    assert len(on_record(folder)) == 4


def test_sources_are_what_tests_may_read_and_not_what_is_made(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.py").write_text("1")
    before = sources_sum(tmp_path)
    for made in (".pytest_cache", "a/__pycache__", "x.egg-info"):
        (tmp_path / made).mkdir()
        (tmp_path / made / "some").write_text("made")
    assert sources_sum(tmp_path) == before
    (tmp_path / "a" / "b.py").rename(tmp_path / "a" / "c.py")
    moved = sources_sum(tmp_path)
    (tmp_path / "a" / "c.py").write_text("2")
    assert len({before, moved, sources_sum(tmp_path)}) == 3


def test_the_summary_has_what_passed_and_how_long_it_took(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "plain.jsonl"
    lines = ['{"sources": "s", "commit": "abc"}', '{"test": "t::a", "seconds": 3661.2}']
    record.write_text("\n".join([*lines, '{"run": 59.6}', '{"run": 0.4}', ""]))
    assert main([str(record), str(tmp_path / "bounds.jsonl")]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "plain      1 tests passed in 1:01:01 of tests, 2 runs of 0:01:00 together, at abc",
        "bounds     nothing on record",
    ]
    assert clock(59.9) == "0:01:00"
