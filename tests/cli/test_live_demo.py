"""The live demonstration: a service, a crowd that answers over HTTP, an end by Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter

from askwise.campaign.spec import make_spec
from askwise.cli.live_demo import CROWD, OPTIONS, comments, described


def test_comments_are_of_all_kinds_and_the_same_each_time() -> None:
    made = comments(90, seed=1)
    assert made == comments(90, seed=1)
    kinds = Counter(kind for _, kind in made.values())
    assert set(kinds) == set(OPTIONS)
    assert min(kinds.values()) > 15


def test_the_campaign_can_be_made_and_names_the_crowd_and_you() -> None:
    fields = described(comments(5, seed=1), lease=10)
    spec = make_spec(fields)
    assert [worker.id for worker in spec.problem.workers] == [*(each.id for each in CROWD), "you"]


def test_the_crowd_answers_over_http_until_ctrl_c() -> None:
    program = [sys.executable, "-c", "from askwise.cli.main import run; run()"]
    running = subprocess.Popen(
        [*program, "demo-live", "--port", "0", "--speed", "2000", "--tasks", "6"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "ASKWISE_JIT": "0", "PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        assert running.stdout is not None
        lines = [running.stdout.readline() for _ in range(5)]
        running.send_signal(signal.SIGINT)
        rest, errors = running.communicate(timeout=60)
    finally:
        running.kill()
    assert lines[0].startswith("dashboard:       http://127.0.0.1:")
    assert lines[2].startswith("answer yourself: http://127.0.0.1:")
    assert lines[4].startswith("the crowd is done: ")
    assert (rest, running.returncode) == ("", 0)
    assert "Traceback" not in errors
