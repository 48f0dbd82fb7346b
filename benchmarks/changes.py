"""Changing the first answer of a long log, which is folded again from there.

Beside it stands what it takes to open the campaign without a snapshot, in the same process: the
same fold, once. With kernels that are not compiled it is measured in the shortest log only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from askwise.store import SqliteStore
from benchmarks.logs import NAME, record
from benchmarks.timing import quantity, table, want

POLICY = "hem"
SIZES = (10_000, 100_000)
MOST = 1.5
"""Times the opening that a change may take: it reads the log once more, for changes."""

_CHANGE = """
import sys, time
from askwise import Campaign
clock = time.process_time
begun = clock()
campaign = Campaign.open(f"sqlite:///{sys.argv[1]}", sys.argv[2])
campaign.status()
opened = clock() - begun
first = next(event for event in campaign.store.read(sys.argv[2], 0, 50) if event.value)
other = next(each for each in campaign.spec["options"] if each != first.value)
begun = clock()
campaign.revise(f"{sys.argv[2]}:{first.assignment}", other)
print(opened, clock() - begun)
"""


def changed(file: Path, **environment: str) -> tuple[float, float]:
    """CPU-seconds to open the campaign and to change its first answer, in a process of its own."""
    kept = {key: value for key, value in os.environ.items() if key != "ASKWISE_JIT"}
    made = subprocess.run(
        [sys.executable, "-c", _CHANGE, str(file), NAME],
        env={**kept, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    opened, taken = map(float, made.stdout.split())
    return opened, taken


def main(quick: bool) -> None:
    """Print the table."""
    rows = []
    directory = Path(tempfile.mkdtemp(prefix="askwise-bench-", dir=Path.cwd()))
    try:
        subprocess.run([sys.executable, "-m", "askwise.cli.main", "warm", POLICY], check=True)
        for size in SIZES[:1] if quick else SIZES:
            file = directory / f"{size}.db"
            store = SqliteStore(file)
            record(POLICY, size).write(store, size)
            store.close()
            kinds = {
                "compiled": {},
                **({"plain": {"ASKWISE_JIT": "0"}} if size == SIZES[0] else {}),
            }
            for how, environment in kinds.items():
                copied = shutil.copy(file, directory / "copy.db")
                opened, taken = changed(Path(copied), **environment)
                beside = taken / opened
                figures = [quantity(opened), quantity(taken), f"{beside:.2f}"]
                wanted = want(beside, most=MOST)
                rows.append([f"{POLICY}, first of {size:,} answers, {how}", *figures, *wanted])
    finally:
        shutil.rmtree(directory)
    print("CPU-seconds; without a snapshot, after `askwise warm`")
    table(["", "open", "change", "change / open", "wanted", "met"], rows)
