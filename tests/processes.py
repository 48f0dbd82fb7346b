"""Processes that a test starts, and that say line by line what they have done."""

from __future__ import annotations

import subprocess


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
