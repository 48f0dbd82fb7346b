"""CPU time that first uses of the lab spend on the compiler.

Each case runs in a process of its own with an empty cache of kernels: an experiment, a replay of
one policy, or one simulated campaign. A replay runs in plain Python until compiling pays, so one of
a few answers compiles nothing, and one of many shows what compiling costs. Compiling is timed by
those who are told of it (``askwise.core.compiling.watched``), for each policy, as one loop is
compiled for each policy.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.timing import quantity, table, want

REPLAYED = ("hem", "bbta", "random-pairs")
SIMULATED = ("ccb-ns", "lp-thompson", "b-kube")
TABLE_1 = ("lab", "run", "bounded-table1", "--reps")
MOST_OF_A_REPLAY = 15.0
"""CPU seconds of a process that replays one policy."""

ROOT = Path(__file__).resolve().parents[1]


def main(quick: bool) -> None:
    """Print the table."""
    print("first use on an empty cache, CPU seconds")
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        _write_answers(place, tasks=40, each=6)
        cases = {"bounded-table1": [*TABLE_1, "1" if quick else "20", "--out", str(place / "out")]}
        files = [str(place / "labels.csv"), "--gold", str(place / "gold.csv")]
        for name in REPLAYED[:1] if quick else REPLAYED:
            options = ["--budget", "60", "--runs", "1", "--against", "", "--policy", name]
            cases[f"replay {name}"] = ["replay", *files, *options]
        if not quick:
            many = place / "many"
            many.mkdir()
            _write_answers(many, tasks=2_000, each=10)
            files = [str(many / "labels.csv"), "--gold", str(many / "gold.csv")]
            options = ["--budget", "6000", "--runs", "3", "--against", "", "--policy", REPLAYED[0]]
            cases[f"replay {REPLAYED[0]}, 20,000 answers"] = ["replay", *files, *options]
        for name in () if quick else SIMULATED:
            cases[f"simulate {name}"] = ["simulate", name]
        for case, arguments in cases.items():
            found = _measured(arguments)
            for what, spent in found["compiling"].items():
                rows.append([f"{case}: {what}", quantity(spent), "", "", ""])
            compiling = sum(found["compiling"].values())
            wanted = ["", ""]
            if case.startswith("replay"):
                wanted = want(found["total"], most=MOST_OF_A_REPLAY)
            rows.append([case, quantity(compiling), quantity(found["total"]), *wanted])
    table(["", "compiling", "whole process", "wanted", "met"], rows)


def _write_answers(place: Path, tasks: int, each: int) -> None:
    """Recorded answers of this many workers to each task."""
    with (place / "labels.csv").open("w", newline="") as file:
        write = csv.writer(file)
        write.writerow(["task", "worker", "label"])
        write.writerows(
            [f"t{task}", f"w{worker}", "yes" if (task + task * worker) % 3 else "no"]
            for task in range(tasks)
            for worker in range(each)
        )
    with (place / "gold.csv").open("w", newline="") as file:
        write = csv.writer(file)
        write.writerow(["task", "label"])
        write.writerows([f"t{task}", "yes" if task % 3 else "no"] for task in range(tasks))


def _measured(arguments: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as cache:
        left_out = ("ASKWISE_JIT", "NUMBA_DISABLE_JIT")
        kept = {name: value for name, value in os.environ.items() if name not in left_out}
        changed = {"NUMBA_CACHE_DIR": cache, "PYTHONPATH": str(ROOT)}
        subprocess.run(
            [sys.executable, "-m", "benchmarks.cold_start", f"{cache}/found.json", *arguments],
            cwd=ROOT,
            env={**kept, **changed},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        found: dict[str, Any] = json.loads(Path(cache, "found.json").read_text())
    return found


def run(arguments: list[str]) -> dict[str, Any]:
    """Run a command, or simulate one campaign; returns the CPU time of it and of the compiler."""
    from askwise.core.compiling import watched

    compiling: Counter[str] = Counter()
    begun = [0.0]

    def note(what: str, begins: bool) -> None:
        if begins:
            begun[0] = time.process_time()
        else:
            compiling[what] += time.process_time() - begun[0]

    with watched(note):
        if arguments[0] == "simulate":
            _simulate(arguments[1])
        else:
            from askwise.cli.app import app

            with contextlib.suppress(SystemExit):
                app(arguments)
    return {"compiling": compiling, "total": time.process_time()}


def _simulate(name: str) -> None:
    from askwise.lab.contract import lab_cases, lab_run
    from askwise.policies import policies

    policy = policies.make(name)
    lab_run(policy, lab_cases(policy)[-1], 0)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(run(sys.argv[2:])))
