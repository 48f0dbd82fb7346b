"""The live demonstration: a service, judges and people who answer, an end by Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from askwise.campaign.spec import make_spec
from askwise.demo.live import described
from askwise.demo.messages import make_messages
from askwise.demo.stand_ins import judges_file, serving
from askwise.sources.judges import read_judges

PROGRAM = [sys.executable, "-c", "from askwise.cli.main import run; run()", "demo-live"]


def test_the_campaign_can_be_made_and_names_judges_people_expert_and_you(tmp_path: Path) -> None:
    with serving() as servers:
        path = tmp_path / "judges.toml"
        path.write_text(judges_file(servers))
        spec = make_spec(described(make_messages(20), read_judges(path), lease=90))
    named = [worker.id for worker in spec.problem.workers]
    assert named[4:] == ["ida", "max", "expert", "you"]
    assert len(named) == 8


def watch(*options: str, until: str) -> tuple[list[str], str, int]:
    """The lines up to one, what is written to standard error, and how it ends by Ctrl-C."""
    running = subprocess.Popen(
        [*PROGRAM, "--port", "0", "--tasks", "20", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "ASKWISE_JIT": "0", "PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    lines: list[str] = []
    try:
        assert running.stdout is not None
        for line in running.stdout:
            lines.append(line)
            if line.startswith(until):
                break
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    finally:
        running.kill()
    return lines, errors, running.returncode


def test_ctrl_c_in_the_middle_of_it_ends_it_cleanly() -> None:
    lines, errors, code = watch("--speed", "20", until="Ctrl-C")
    assert lines[0].startswith("dashboard:       http://127.0.0.1:")
    assert lines[2].startswith("answer yourself: http://127.0.0.1:")
    assert (code, "Traceback" in errors) == (0, False), errors


@pytest.mark.slow
def test_it_goes_on_to_a_certificate() -> None:
    lines, errors, code = watch("--speed", "400", until="done: ")
    assert lines[-1].startswith("done: ")
    assert (code, "Traceback" in errors) == (0, False), errors
