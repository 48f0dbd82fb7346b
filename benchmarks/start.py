"""How long it takes until something happens: imports and the command line."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from functools import partial

from benchmarks.timing import in_turns, ratio, table

BARE = "python -c pass"


def children_cpu() -> float:
    """CPU seconds of the processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(quick: bool) -> None:
    """Print the table."""
    commands = {
        BARE: ["-c", "pass"],
        'python -c "import numpy"': ["-c", "import numpy"],
        'python -c "import askwise"': ["-c", "import askwise"],
        'python -c "from askwise import Campaign"': ["-c", "from askwise import Campaign"],
        "  the same with ASKWISE_JIT=0": ["-c", "from askwise import Campaign"],
        "askwise --help": ["-c", "from askwise.cli.main import run; run()", "--help"],
        "askwise policies": ["-c", "from askwise.cli.main import run; run()", "policies"],
    }

    def start(name: str) -> int:
        plain = {"ASKWISE_JIT": "0"} if "ASKWISE_JIT=0" in name else {}
        subprocess.run(
            [sys.executable, *commands[name]],
            env={**os.environ, **plain},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return 1

    contenders = {name: partial(start, name) for name in commands}
    for work in contenders.values():
        work()  # to write .pyc files and fill the disk's cache
    found = in_turns(contenders, rounds=3 if quick else 9, clock=children_cpu)
    print("CPU time of the process")
    rows = [
        [name, f"{1e3 * statistics.median(times):.0f}", f"{ratio(times, found[BARE]):.1f}x"]
        for name, times in found.items()
    ]
    table(["", "ms", "of bare Python"], rows)
