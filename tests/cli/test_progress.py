"""What a long command says in a pipe while something is compiled."""

from __future__ import annotations

import threading

import pytest

from askwise.cli import progress
from askwise.core.compiling import permission


class Spoken:
    """Standard error, and an event for each line that was waited for."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.came = threading.Condition()

    def isatty(self) -> bool:
        return False

    def write(self, text: str) -> int:
        with self.came:
            self.lines += filter(None, text.splitlines())
            self.came.notify_all()
        return len(text)

    def flush(self) -> None:
        pass

    def wait_for(self, line: str, times: int = 1) -> None:
        with self.came:
            assert self.came.wait_for(lambda: self.lines.count(line) >= times, 20), self.lines


def tell(what: str, begins: bool) -> None:
    for watcher in permission.watchers:
        watcher(what, begins)


def test_a_pipe_is_told_again_and_again_what_is_compiled_and_which_kernel_of_it_that_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spoken = Spoken()
    monkeypatch.setattr("sys.stderr", spoken)
    monkeypatch.setattr(progress, "EVERY", 0.01)
    with progress.progress() as said:
        said("replayed", 1, 8)
        tell("hem", True)
        assert spoken.lines[-1] == "compiling hem, kernel 1"
        tell("hem", False)
        # The second kernel is only told at the next interval, and again as long as it takes.
        tell("hem", True)
        spoken.wait_for("compiling hem, kernel 2", 2)
        tell("hem", False)
        spoken.wait_for("replayed: 1 of 8")
        tell("bbta", True)
        assert "compiling bbta, kernel 1" in spoken.lines
        tell("bbta", False)


def test_a_command_with_words_of_its_own_says_only_what_is_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spoken = Spoken()
    monkeypatch.setattr("sys.stderr", spoken)
    monkeypatch.setattr(progress, "EVERY", 0.01)
    with progress.progress(aloud=False) as said:
        said("replayed", 1, 8)
        tell("hem", True)
        spoken.wait_for("compiling hem, kernel 1", 3)
        tell("hem", False)
    assert set(spoken.lines) == {"compiling hem, kernel 1"}
