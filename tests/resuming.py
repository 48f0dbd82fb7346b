"""A plug-in of pytest for runs of hours: what passed is on record, and is not run once more.

``pytest -p tests.resuming --record FILE`` notes each test that passes. Started again with the same
record it leaves those out, as long as not a byte of the sources has changed; else it begins anew.
``python -m tests.resuming FILE...`` says what the records come to.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import pytest

CACHES = (".hypothesis", ".import_linter_cache", ".mypy_cache", ".pytest_cache", ".ruff_cache")
MADE = ("__pycache__", "build", "demo-out", "dist", "lab-out", "site")
IGNORED = frozenset({".git", ".venv", *CACHES, *MADE})
"""What is installed and made, not what it is made of."""


def sources_sum(root: Path) -> str:
    """A digest of all files that tests may read, and of the interpreter."""
    digest = hashlib.sha256(sys.version.encode())
    for path in _sources(root):
        name, content = str(path.relative_to(root)).encode(), path.read_bytes()
        digest.update(b"%d %s %d\n" % (len(name), name, len(content)))
        digest.update(content)
    return digest.hexdigest()[:16]


def _sources(directory: Path) -> Iterator[Path]:
    for path in sorted(directory.iterdir()):
        if path.name in IGNORED or path.suffix == ".egg-info":
            continue
        if path.is_dir():
            yield from _sources(path)
        elif path.is_file():
            yield path


def commit_of(root: Path) -> str:
    """The commit that is checked out, for people to read; what counts is the digest."""
    asked = ["git", "-C", str(root), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "no commit"


@dataclass
class PassRecord:
    """What passed at one state of the sources, and how long it took.

    A file of lines of JSON: the first says what the sources were, each of the others what passed,
    or how long a run took. A line that was cut short when the run was killed is left out.
    """

    sources: str
    commit: str = ""
    passed: dict[str, float] = field(default_factory=dict)
    """Seconds of each test, by its id."""
    runs: list[float] = field(default_factory=list)
    """Seconds of each run; one that was killed has none."""

    @classmethod
    def read(cls, path: Path) -> PassRecord | None:
        """What a file has on record; None if there is nothing."""
        found: PassRecord | None = None
        text = path.read_text() if path.exists() else ""
        for line in text.splitlines():
            try:
                entry: dict[str, Any] = json.loads(line)
            except ValueError:
                continue
            if "sources" in entry:
                found = cls(entry["sources"], entry["commit"])
            elif found is not None and "test" in entry:
                found.passed[entry["test"]] = entry["seconds"]
            elif found is not None:
                found.runs.append(entry["run"])
        return found

    def __str__(self) -> str:
        tests = f"{len(self.passed):,} tests passed in {clock(sum(self.passed.values()))} of tests"
        runs = f"{len(self.runs)} run{'' if len(self.runs) == 1 else 's'}"
        return f"{tests}, {runs} of {clock(sum(self.runs))} together, at {self.commit}"


def clock(seconds: float) -> str:
    """A time as people read it."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"


class Resuming:
    """Leaves out what is on record, and adds to it."""

    def __init__(self, path: Path, root: Path) -> None:
        self.path = path
        self.begun = time.monotonic()
        self.sources = sources_sum(root)
        self.reason = "there is no record"
        known = PassRecord.read(path)
        if known is not None:
            self.reason = f"the sources are those of {known.commit}"
            if known.sources != self.sources:
                self.reason, known = f"the sources have changed since {known.commit}", None
        self.known = known or PassRecord(self.sources, commit_of(root))
        self.now: dict[str, float] = {}
        self._seconds: dict[str, float] = {}
        self._file: TextIO | None = None
        if known is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            self._write(sources=self.sources, commit=self.known.commit)

    def _write(self, **entry: Any) -> None:
        if self._file is None:
            self._file = self.path.open("a")
            if self._file.tell() and not self.path.read_bytes().endswith(b"\n"):
                self._file.write("\n")  # after a line that was cut short
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a process of xdist what to leave out: all of them have to agree on it."""
        node.workerinput["passed_before"] = list(self.known.passed)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out what passed before."""
        leave_out(config, items, self.known.passed)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that passed to its end."""
        self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0.0) + report.duration
        if report.outcome != "passed":
            self._seconds[report.nodeid] = float("nan")
        elif report.when == "teardown":
            seconds = self._seconds.pop(report.nodeid)
            if seconds == seconds:
                self.now[report.nodeid] = round(seconds, 3)
                self._write(test=report.nodeid, seconds=self.now[report.nodeid])

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Note how long it took; that all tests passed before is no failure."""
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.known.passed:
            session.exitstatus = pytest.ExitCode.OK
        self._write(run=round(time.monotonic() - self.begun, 1))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was left out and why, and how long it took."""
        seconds = clock(time.monotonic() - self.begun)
        before, total = self.known.passed, {**self.known.passed, **self.now}
        terminalreporter.write_line(
            f"{self.reason}: {len(before):,} tests that passed before were left out "
            f"(they took {clock(sum(before.values()))}); {len(self.now):,} more passed in {seconds}"
        )
        terminalreporter.write_line(f"on record in {self.path}: {len(total):,} tests")


def leave_out(config: pytest.Config, items: list[pytest.Item], passed: Any) -> None:
    """Deselect tests by their ids."""
    known = set(passed)
    gone = [item for item in items if item.nodeid in known]
    if gone:
        items[:] = [item for item in items if item.nodeid not in known]
        config.hook.pytest_deselected(items=gone)


class ToldWhatPassed:
    """In a process of xdist: leaves out what the process that started it has on record."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out what passed before."""
        leave_out(config, items, config.workerinput["passed_before"])  # type: ignore[attr-defined]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption(
        "--record", metavar="FILE", help="leave out what passed before at the same sources"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin or go on with a record."""
    path = config.getoption("--record")
    if path is not None:
        told = hasattr(config, "workerinput")
        config.pluginmanager.register(
            ToldWhatPassed()
            if told
            else Resuming(config.invocation_params.dir / path, config.rootpath)
        )


def main(paths: list[str]) -> int:
    """Print what records come to."""
    for path in map(Path, paths):
        print(f"{path.stem:10} {PassRecord.read(path) or 'nothing on record'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
