"""Processes that run the campaign of ``runner.py``, and are killed."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Callable

from askwise.core.events import Event, Kind
from tests.processes import kill, let_go, start, wait_until_ready

Said = set[tuple[Kind, int]]
"""What was acknowledged: the kind of a write, and the number of its assignment."""


def start_running(url: str, mode: str = "resume") -> subprocess.Popen[str]:
    """Start a process that runs the campaign, and let it begin."""
    runner = start("tests.campaign.runner", url, mode)
    wait_until_ready(runner)
    let_go(runner)
    return runner


def acknowledged(lines: list[str]) -> Said:
    kinds = {"asked": Kind.ASKED, "told": Kind.ANSWER}
    kinds |= {"revised": Kind.REVISED, "withdrawn": Kind.WITHDRAWN}
    found = set()
    for line in lines:
        word, _, name = line.partition(" ")
        if word in kinds:
            found.add((kinds[word], int(name.rpartition(":")[2])))
    return found


def check_log(log: list[Event], said: Said) -> None:
    """Every acknowledged write is there, nothing is half-written."""
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    there = {(Kind.ASKED, event.seq) for event in log if event.kind == Kind.ASKED}
    there |= {(event.kind, event.assignment) for event in log if event.assignment is not None}
    assert said <= there
    # A decision and its first question are one write.
    assert not log or log[-1].kind != Kind.DECIDED


def run_with_kills(
    url: str,
    kills: int,
    chance: random.Random,
    checked: Callable[[str, Said], list[Event]],
    mode: str = "resume",
) -> list[Event]:
    """Run the campaign to its end; the log, checked after every kill."""
    said: Said = set()
    steps = 150 // (kills + 1) + 1
    for _ in range(kills):
        runner = start_running(url, mode)
        assert runner.stdout is not None
        lines = [runner.stdout.readline().strip() for _ in range(chance.randrange(steps))]
        time.sleep(chance.uniform(0.0, 0.01))
        said |= acknowledged(lines + kill(runner))
        checked(url, said)
    runner = start_running(url, mode)
    rest, _ = runner.communicate(timeout=120)
    assert runner.returncode == 0
    assert rest.endswith("done\n")
    return checked(url, said | acknowledged(rest.splitlines()))
