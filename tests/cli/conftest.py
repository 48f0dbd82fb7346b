"""A command line to call in this process, and one to run as a program."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from askwise.cli import progress
from tests.cli.helpers import OPTIONS, RATED, UTILITY, askwise, environment, in_this_process

Call = Callable[..., Result]


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to work in, and an environment without settings of ours."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ASKWISE_STORE", raising=False)
    # Set, so that no command sets it, but to nothing: other tests in this process may compile.
    monkeypatch.setenv("ASKWISE_JIT", "")
    # No test that does not ask for it gets lines on what is going on, however slow the machine.
    monkeypatch.setattr(progress, "EVERY", 600.0)
    return tmp_path


@pytest.fixture
def call() -> Call:
    """Run a command in this process; fails the test if the exit code is another."""

    def run(*words: str, code: int = 0) -> Result:
        result = in_this_process(*words)
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return result

    return run


@pytest.fixture
def call_json(call: Call) -> Callable[..., Any]:
    """Run a command with --json and read what it prints."""

    def run(*words: str, code: int = 0) -> Any:
        return json.loads(call(*words, "--json", code=code).stdout)

    return run


@pytest.fixture
def refusal(call: Call) -> Callable[..., str]:
    """Run a command that must fail, with one line on stderr and nothing else; gives the line."""

    def run(*words: str) -> str:
        result = call(*words, code=2)
        assert result.stdout == ""
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        return result.stderr.removeprefix("error: ").rstrip("\n")

    return run


@pytest.fixture
def shop(workplace: Path, call: Call) -> str:
    """A utility campaign without tasks."""
    return _made(workplace, call, UTILITY)


@pytest.fixture
def rated(workplace: Path, call: Call) -> str:
    """A utility campaign with tasks and a range of its own."""
    return _made(workplace, call, RATED)


@pytest.fixture
def cats(workplace: Path, call: Call) -> str:
    """A campaign with options, tasks and no cap."""
    return _made(workplace, call, OPTIONS)


def _made(workplace: Path, call: Call, text: str) -> str:
    (workplace / "spec.toml").write_text(text)
    return call("new", "spec.toml").stdout.strip()


Program = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def program(workplace: Path) -> Program:
    """Run askwise as a program, without the compiler unless told otherwise."""

    def run(*words: str, **changes: str | None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            askwise(*words),
            cwd=workplace,
            env=environment(**changes),
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run
