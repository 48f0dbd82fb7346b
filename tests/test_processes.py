"""What a killed process had said is not lost."""

from __future__ import annotations

import subprocess
import sys

from tests.processes import kill

TALKS = """
import sys, time
for number in range(100):
    print(number)
print("cut sh", end="", flush=True)
print("ready", file=sys.stderr, flush=True)
time.sleep(600)
"""


def test_lines_that_came_together_are_all_read_after_a_kill() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", TALKS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert process.stdout is not None
    assert process.stderr.readline() == "ready\n"
    assert process.stdout.readline() == "0\n"
    assert kill(process) == [str(number) for number in range(1, 100)]
    process.stderr.close()
