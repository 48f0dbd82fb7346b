"""Processes that a test starts, and that say line by line what they have done."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.paths import ROOT


def start(module: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a module that says when it is ready. No compiler: it starts at once."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "ASKWISE_JIT": "0"},
    )


def wait_until_ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"


def let_go(process: subprocess.Popen[str]) -> None:
    """Let a process begin, now or once it is ready."""
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def kill(process: subprocess.Popen[str]) -> list[str]:
    """Kill a process; the lines that it had printed and nobody has read yet.

    A last line may be cut short: only what was printed whole was acknowledged. All of it is read
    as lines are, not by ``communicate``, which passes over what reading a line has put by.
    """
    assert process.stdout is not None
    process.kill()
    rest = process.stdout.read()
    process.stdout.close()
    if process.stdin is not None:
        process.stdin.close()
    process.wait(60)
    return rest.rpartition("\n")[0].splitlines()
