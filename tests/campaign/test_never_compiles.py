"""A live campaign runs what was compiled before, or plain Python; it never compiles."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.campaign import slow_kernels
from askwise.core.compiling import PlainTime
from tests.cli.helpers import environment

# With others that compile the same policy, in one process of a run: so it is compiled once.
pytestmark = [pytest.mark.compiled, pytest.mark.xdist_group("round-robin")]

LIVE = """
import gc, json, sys
from numba.core import event
from numba.core.registry import CPUDispatcher

from askwise import Batch, Campaign, Worker
from askwise.campaign import folding
from askwise.store import MemoryStore

def without_patience():
    for each in gc.get_objects():
        if isinstance(each, CPUDispatcher) and hasattr(each, "_patience"):
            each._patience = each._due = 0.0

store = MemoryStore()
with event.install_recorder("numba:compile") as compiled:
    campaign = Campaign.create(
        workers=[Worker(f"w{at}", 1) for at in range(4)],
        tasks=[f"t{at}" for at in range(6)],
        options=["no", "yes"],
        policy="round-robin",
        stopping={"name": "lead", "lead": 3},
        budget=60,
        lease=60,
        store=store,
        name="live",
        seed=1,
        clock=lambda: 5.0,
    )
    for number in range(12):
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        without_patience()
        campaign.tell(batch[0].id, "yes" if number % 3 else "no")
    campaign.answers(), campaign.payments(), campaign.status(), campaign.over()
    campaign.explain(batch[0].id)
    alone = len(compiled.buffer)
    folding.LONG = folding.SHORT = 5
    again = Campaign.open(store, "live")
    assert again.status() == campaign.status()
policy = campaign.reading().__enter__().spec.policy
print(json.dumps({
    "while live": alone,
    "while folding": len(compiled.buffer) - alone,
    "loaded": bool(getattr(policy.kernels.choose, "overloads", ())),
    "fold loops loaded": len(getattr(folding, "_loaded", ())),
    "log": [str(event) for event in campaign.log()],
}))
"""


def live(**changes: str | None) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", LIVE],
        env=environment(**{"NUMBA_CACHE_DIR": None, **changes}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_neither_writing_nor_reading_nor_folding_starts_the_compiler(tmp_path: Path) -> None:
    found = live(ASKWISE_JIT=None, XDG_CACHE_HOME=str(tmp_path))
    assert (found["while live"], found["while folding"]) == (0, 0)
    assert not found["loaded"]


def test_what_was_compiled_before_is_used_and_the_log_is_the_same() -> None:
    warmed = subprocess.run(
        [sys.executable, "-c", "from askwise.cli.main import run; run()", "warm", "round-robin"],
        env=environment(ASKWISE_JIT=None, NUMBA_CACHE_DIR=None),
        capture_output=True,
        text=True,
        check=False,
    )
    assert warmed.returncode == 0, warmed.stderr
    found = live(ASKWISE_JIT=None)
    assert found["loaded"]
    assert found["fold loops loaded"] == 1
    assert (found["while live"], found["while folding"]) == (0, 0)
    assert found["log"] == live(ASKWISE_JIT="0")["log"]


def small_campaign() -> Campaign:
    return Campaign.create(
        workers=[Worker("ann", 1)], outcome="utility", budget=9, policy="uniform", seed=1
    )


@pytest.mark.parametrize(
    ("choosing", "absorbing", "told"),
    [
        (PlainTime(4.0, 100), PlainTime(1.5, 300), 1),
        (PlainTime(4.0, 100), PlainTime(0.5, 300), 0),
        (PlainTime(4.0, 400), PlainTime(3.5, 1200), 0),
    ],
    ids=["slow", "not for long", "often, but quickly"],
)
def test_slow_decisions_are_told_once(
    choosing: PlainTime,
    absorbing: PlainTime,
    told: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    campaign = small_campaign()
    with campaign.reading() as state:
        choose = state.spec.policy.kernels.choose  # type: ignore[attr-defined]
    spent = lambda kernel: choosing if kernel is choose else absorbing  # noqa: E731
    monkeypatch.setattr(slow_kernels, "plain_time", spent)
    monkeypatch.setattr(slow_kernels, "_told", set())
    with caplog.at_level(logging.WARNING):
        campaign.ask()
        campaign.ask()
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == told
    assert all("`askwise warm uniform` makes it faster" in each for each in said)
