"""Aggregation of 10^6 labels and more: seconds and memory, from a file to a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.aggregation import CLASSES, EACH, WORKERS, _peak
from benchmarks.timing import quantity, table, want

DEFAULT = (1_000_000, 3_000_000)
MOST_CSV = 20_000_000
"""Labels up to which they are also written, and read, as CSV."""
ENDINGS = ("parquet", "csv")
METHODS = ("majority", "one-coin", "dawid-skene", "hem")
CHUNK = 1_000_000
SLOWER = 1.2
"""How much longer a label may take from file to file, compared with the fewest labels."""


def chunks_of(labels: int) -> Iterator[Any]:
    """Answers as in the benchmark ``aggregation``, as Arrow tables of a million, each shuffled."""
    import pyarrow as pa
    from pyarrow import compute

    rng = np.random.default_rng(1)
    skill = rng.uniform(0.3, 0.9, WORKERS)
    for first in range(0, labels, CHUNK):
        count = min(CHUNK, labels - first)
        tasks = rng.permutation(np.arange(first, first + count) // EACH)
        truths = (tasks * 2_654_435_761 >> 7) % CLASSES
        workers = rng.integers(WORKERS, size=count)
        wrong = (truths + rng.integers(1, CLASSES, count)) % CLASSES
        given = np.where(rng.random(count) < skill[workers], truths, wrong)
        columns = {"task": ("t", tasks), "worker": ("w", workers), "label": ("c", given)}
        yield pa.table(
            {
                name: compute.binary_join_element_wise(letter, pa.array(codes).cast("string"), "")
                for name, (letter, codes) in columns.items()
            }
        )


def write(labels: int, folder: Path) -> list[Path]:
    """Write the same answers as Parquet and, if they are not too many, as CSV."""
    from pyarrow import csv, parquet

    made = chunks_of(labels)
    first = next(made)
    paths = [folder / f"labels.{ending}" for ending in ENDINGS[: 1 + (labels <= MOST_CSV)]]
    plain = csv.WriteOptions(quoting_style="none", quoting_header="none")
    with ExitStack() as stack:
        writers = [stack.enter_context(parquet.ParquetWriter(paths[0], first.schema))]
        for path in paths[1:]:
            made_csv = csv.CSVWriter(path, first.schema, write_options=plain)
            writers.append(stack.enter_context(made_csv))
        for chunk in chain((first,), made):
            for writer in writers:
                writer.write_table(chunk)
    return paths


def main(quick: bool, labels: tuple[int, ...] = ()) -> None:
    """Print the tables."""
    sizes = tuple(sorted(labels)) or (DEFAULT[:1] if quick else DEFAULT)
    print(
        f"labels of {WORKERS:,} workers, {CLASSES} classes, {EACH} a task, shuffled; a process of "
        "its own\n  for each size; CPU seconds, peak memory of the whole process"
    )
    first: dict[str, Any] = {}
    for size in sizes:
        found = _child(size)
        first = first or found
        _print(size, found, sizes[0], first)
    times = first["hem"]["seconds"] / first["dawid-skene"]["seconds"]
    print(
        f"  hem takes {times:.1f} times as long as dawid-skene on {sizes[0]:,} labels, wanted "
        f"{' met '.join(want(times, most=5.0))}"
    )


def _whole(found: dict[str, Any], name: str, size: int) -> float:
    """Seconds that a label takes from the file of answers to the file of labels."""
    ran = found[name]
    seconds: float = found[ENDINGS[0]]["seconds"] + ran["seconds"] + ran["written"]
    return seconds / size


def _print(size: int, found: dict[str, Any], smallest: int, first: dict[str, Any]) -> None:
    """Print what was found for a size, beside the smallest one."""
    print(f"\n  {size:,} labels", flush=True)
    rows = []
    for ending in ENDINGS:
        if ending in found:
            read = found[ending]
            cells = [f"{read['bytes'] / 2**20:,.0f}", f"{read['seconds']:.1f}"]
            cells += [quantity(size / read["seconds"]), f"{read['peak'] / 2**20:,.0f}"]
            rows.append([f"read {ending}", *cells, f"{read['kept'] / size:.1f}"])
    table(["", "file, MiB", "seconds", "labels/s", "peak, MiB", "codes, bytes/label"], rows)
    print()
    rows = []
    for name in METHODS:
        ran = found[name]
        longer = ran["nanoseconds"] / first[name]["nanoseconds"]
        slower = _whole(found, name, size) / _whole(first, name, smallest)
        cells = [name, str(ran["iterations"]), f"{ran['seconds']:.2f}", f"{ran['written']:.2f}"]
        cells += [f"{ran['nanoseconds']:.1f}"]
        cells += [f"{longer:.2f}", f"{slower:.2f}"]
        cells += want(slower, most=SLOWER) if found is not first else ["", ""]
        rows.append([*cells, f"{ran['peak'] / 2**20:,.0f}"])
    head = ["", "iterations", "seconds", "to write", "ns/label/iteration", "relative"]
    table([*head, "file to file *", "wanted", "met", "peak, MiB"], rows)
    print("  * seconds per label to read Parquet, aggregate and write CSV, relative")
    sys.stdout.flush()


def _child(labels: int) -> dict[str, Any]:
    """Measure in a process of its own; kernels are compiled before, by a small run."""
    with tempfile.TemporaryDirectory() as folder:
        write(labels, Path(folder))
        for size in (0, labels):
            ran = subprocess.run(
                [sys.executable, "-m", "benchmarks.scale", folder, str(size)],
                env={**os.environ, "ASKWISE_JIT": "1"},
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def _measured(work: Callable[[], Any]) -> tuple[Any, float, int]:
    """What it returns, CPU seconds, and the peak of the whole process meanwhile."""
    Path("/proc/self/clear_refs").write_text("5")
    begun = time.process_time()
    found = work()
    return found, time.process_time() - begun, _peak()


def _show(found: Any, path: Path) -> None:
    """What the command does with what was found."""
    from askwise.lab.aggregating.files import write_labels

    write_labels(found, path)
    found.to_json()


def _measure(folder: Path, labels: int) -> None:
    """In the child: read both files, then label the tasks of one by each method."""
    from askwise.aggregation.parts import OnePart, Parts, Pass, Tally
    from askwise.data import read_labels
    from askwise.lab.aggregating.labels import aggregate, make_method

    class Timed(OnePart):
        """All tasks in one part, and the time that passes over it take."""

        spent = 0.0

        def run(self, function: Pass, *shared: Any) -> Tally:
            begun = time.process_time()
            found = super().run(function, *shared)
            Timed.spent += time.process_time() - begun
            return found

    def split(*given: Any) -> Parts:
        return Timed(*given)

    with tempfile.TemporaryDirectory() as small:
        for path in write(10_000, Path(small)):
            read = read_labels(path)
        for name in METHODS:
            aggregate(read, make_method(name), split=split).to_json()
    if labels == 0:
        return
    found: dict[str, Any] = {}
    for ending in ENDINGS:
        path = folder / f"labels.{ending}"
        if not path.exists():
            continue
        read = None
        read, seconds, peak = _measured(partial(read_labels, path))
        kept = sum(each.nbytes for each in (read.tasks, read.workers, read.labels))
        found[ending] = {"seconds": seconds, "peak": peak, "kept": kept}
        found[ending]["bytes"] = path.stat().st_size
    for name in METHODS:
        Timed.spent = 0.0
        work = partial(aggregate, read, make_method(name), split=split)
        one, seconds, peak = _measured(work)
        spent = Timed.spent
        _, written, at_most = _measured(partial(_show, one, folder / "answers.csv"))
        found[name] = {
            "seconds": seconds,
            "written": written,
            "iterations": one.fitted.iterations,
            "nanoseconds": 1e9 * spent / one.fitted.iterations / labels,
            "peak": max(peak, at_most),
        }
        one = work = None
    print(json.dumps(found))


if __name__ == "__main__":
    _measure(Path(sys.argv[1]), int(sys.argv[2]))
