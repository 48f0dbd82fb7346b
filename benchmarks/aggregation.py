"""Aggregation of a million labels: dawid-skene beside crowd-kit's, and our other methods."""

from __future__ import annotations

import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.timing import in_turns, quantity, ratio, table, want

TASKS, EACH, WORKERS, CLASSES = 200_000, 5, 2_000, 4
OURS, THEIRS = "askwise", "crowd-kit"
LEAST = 15.0


def answers_of(tasks: int) -> Any:
    """Labels of workers who are right 30 to 90 times of a hundred."""
    rng = np.random.default_rng(1)
    truths = np.repeat(rng.integers(CLASSES, size=tasks), EACH)
    workers = rng.integers(WORKERS, size=tasks * EACH)
    right = rng.random(tasks * EACH) < rng.uniform(0.3, 0.9, WORKERS)[workers]
    labels = np.where(right, truths, (truths + rng.integers(1, CLASSES, tasks * EACH)) % CLASSES)
    return pd.DataFrame(
        {"task": np.repeat(np.arange(tasks), EACH), "worker": workers, "label": labels}
    )


def fit_ours(data: Any) -> Any:
    """Our dawid-skene as it is."""
    from askwise.aggregation import aggregation

    method: Any = aggregation.make("dawid-skene")
    return method.fit(data)


def fit_theirs(data: Any) -> Any:
    """crowd-kit's as it is: both stop at the same iteration."""
    crowd_kit: Any = importlib.import_module("crowdkit.aggregation")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return crowd_kit.DawidSkene().fit(data)


FITS = {OURS: fit_ours, THEIRS: fit_theirs}


def main(quick: bool) -> None:
    """Print the tables."""
    tasks = TASKS // 10 if quick else TASKS
    data = answers_of(tasks)
    mine, other = fit_ours(data), fit_theirs(data)  # also loads or compiles the kernels
    same = (mine.labels_ == other.labels_.sort_index()).mean()
    found = in_turns(
        {OURS: lambda: _once(fit_ours, data), THEIRS: lambda: _once(fit_theirs, data)},
        rounds=3,
    )
    faster = ratio(found[THEIRS], found[OURS])
    print(
        f"dawid-skene on {len(data):,} labels of {tasks:,} tasks by {WORKERS:,} workers, "
        f"{CLASSES} classes,\n  {mine.iterations_} and {len(other.loss_history_)} iterations, "
        f"DataFrame to labels, CPU time; the same label on {same:.2%} of the tasks"
    )
    peaks = {name: _child(name, tasks) for name in FITS}
    rows = []
    for name, times in found.items():
        seconds = statistics.median(times)
        peak = peaks[name]["peak"] / 2**20
        added = peaks[name]["added"] / 2**20
        cells = [name, f"{seconds:.2f}", quantity(len(data) / seconds)]
        cells += [f"{faster:.1f}x", *want(faster, least=LEAST)] if name == THEIRS else [""] * 3
        rows.append([*cells, f"{peak:.0f}", f"{added:.0f}"])
    table(
        ["", "seconds", "labels/s", "askwise is", "wanted", "met", "peak, MiB", "for the fit"], rows
    )
    whole = peaks[OURS]["peak"] / peaks[THEIRS]["peak"]
    print(
        f"  peak memory of a process of its own, askwise to crowd-kit: {whole:.2f}, wanted "
        f"{' met '.join(want(whole, most=1.0))}; {peaks[OURS]['first']:.1f} s more for the first "
        "fit where kernels were never compiled\n"
    )
    _others(data)


def _once(fit: Any, data: Any) -> int:
    fit(data)
    return 1


def _others(data: Any) -> None:
    from askwise.aggregation import LabelAggregator, aggregation
    from askwise.aggregation.frames import code_frame

    answers, _ = code_frame(data)
    rows = []
    for name in aggregation.names():
        method = aggregation.make(name)
        if not isinstance(method, LabelAggregator):
            continue
        if name == "mace":
            # One beginning of its ten: they take the same time each.
            method = aggregation.make({"name": name, "restarts": 1})
            assert isinstance(method, LabelAggregator)
        method.solve(answers)
        begun = time.process_time()
        fitted = method.solve(answers)
        seconds = time.process_time() - begun
        rows.append([name, f"{seconds:.2f}", str(fitted.iterations), str(fitted.converged)])
    print("every method until it settles, coded arrays to probabilities (mace: one beginning)")
    table(["", "seconds", "iterations", "settled"], rows)


def _child(name: str, tasks: int) -> dict[str, float]:
    """Fit in a process of its own, without kernels compiled before."""
    with tempfile.TemporaryDirectory() as cache:
        ran = subprocess.run(
            [sys.executable, "-m", "benchmarks.aggregation", name, str(tasks)],
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            check=True,
        )
    found: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    return found


def _measure(name: str, tasks: int) -> None:
    """In the child: peak memory, what the fit added to it, and the first fit's extra time."""
    data = answers_of(tasks)
    FITS[name](data.head(1000))  # imports are no part of the fit
    # Sets the peak to what is in use now.
    Path("/proc/self/clear_refs").write_text("5")
    before = _peak()
    times = []
    for _ in range(2 if name == OURS else 1):
        begun = time.perf_counter()
        FITS[name](data)
        times.append(time.perf_counter() - begun)
    peak = _peak()
    print(json.dumps({"peak": peak, "added": peak - before, "first": times[0] - times[-1]}))


def _peak() -> int:
    """Bytes. Linux only: what getrusage says includes the parent of a process."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


if __name__ == "__main__":
    _measure(sys.argv[1], int(sys.argv[2]))
