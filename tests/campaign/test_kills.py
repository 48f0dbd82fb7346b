"""A process that runs a campaign is killed; the next one goes on as if nothing had happened."""

from __future__ import annotations

import importlib.util
import os
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from askwise import Campaign
from askwise.core.events import Event, Kind
from askwise.store import SqliteStore
from askwise.testing.sessions import comparable
from tests.processes import kill

RUNNER = Path(__file__).with_name("runner.py")


def runner_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("campaign_runner", RUNNER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def uninterrupted(directory: Path, mode: str = "resume") -> list[Event]:
    runner = runner_module()
    campaign = runner.create(str(directory / "whole.sqlite"))
    runner.run(campaign, alone=True, revises=mode == "revise")
    log: list[Event] = campaign.log()
    return log


def start(file: Path, mode: str = "resume") -> subprocess.Popen[str]:
    runner = subprocess.Popen(
        [sys.executable, str(RUNNER), str(file), mode],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "ASKWISE_JIT": "0"},
    )
    assert runner.stdin is not None
    assert runner.stdout is not None
    assert runner.stdout.readline() == "ready\n"
    runner.stdin.write("go\n")
    runner.stdin.flush()
    return runner


def acknowledged(lines: list[str]) -> set[tuple[Kind, int]]:
    kinds = {"asked": Kind.ASKED, "told": Kind.ANSWER}
    kinds |= {"revised": Kind.REVISED, "withdrawn": Kind.WITHDRAWN}
    found = set()
    for line in lines:
        word, _, name = line.partition(" ")
        if word in kinds:
            found.add((kinds[word], int(name.rpartition(":")[2])))
    return found


def check_file(file: Path, said: set[tuple[Kind, int]]) -> list[Event]:
    """Every acknowledged write is there, nothing is half-written."""
    with closing(sqlite3.connect(file)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with closing(SqliteStore(file)) as store:
        log = Campaign.open(store, "cats").log()
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    there = {(Kind.ASKED, event.seq) for event in log if event.kind == Kind.ASKED}
    there |= {(event.kind, event.assignment) for event in log if event.assignment is not None}
    assert said <= there
    # A decision and its first question are one write.
    if log:
        assert log[-1].kind != Kind.DECIDED
    return log


def run_with_kills(
    file: Path, kills: int, chance: random.Random, mode: str = "resume"
) -> list[Event]:
    said: set[tuple[Kind, int]] = set()
    steps = 150 // (kills + 1) + 1
    for _ in range(kills):
        runner = start(file, mode)
        assert runner.stdout is not None
        lines = [runner.stdout.readline().strip() for _ in range(chance.randrange(steps))]
        time.sleep(chance.uniform(0.0, 0.01))
        said |= acknowledged(lines + kill(runner))
        check_file(file, said)
    runner = start(file, mode)
    rest, _ = runner.communicate(timeout=120)
    assert runner.returncode == 0
    assert rest.endswith("done\n")
    return check_file(file, said | acknowledged(rest.splitlines()))


def test_a_campaign_that_was_killed_goes_on_to_the_same_log(tmp_path: Path) -> None:
    log = run_with_kills(tmp_path / "killed.sqlite", 1, random.Random(5))
    assert comparable(log) == comparable(uninterrupted(tmp_path))


def test_answers_that_were_changed_are_so_after_a_kill(tmp_path: Path) -> None:
    log = run_with_kills(tmp_path / "killed.sqlite", 1, random.Random(6), "revise")
    assert comparable(log) == comparable(uninterrupted(tmp_path, "revise"))
    assert {Kind.REVISED, Kind.WITHDRAWN} <= {event.kind for event in log}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_campaign_outlives_many_kills(seed: int, tmp_path: Path) -> None:
    log = run_with_kills(tmp_path / "killed.sqlite", 15, random.Random(seed))
    assert comparable(log) == comparable(uninterrupted(tmp_path))
