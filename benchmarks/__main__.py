"""Run all benchmarks, or those named: ``python -m benchmarks [--quick] [NAME ...]``.

Every figure is a quotient of two things timed in turns in the same run. Nothing here fails:
what is wanted stands beside what was measured.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
import time
from importlib.metadata import version

from askwise.core.compiling import in_bulk
from benchmarks import slow_disk

NAMES = (
    *("simulation", "survey", "labels", "aggregation", "knapsack", "live", "growth", "start"),
    *("memory", "accuracy", "assured", "cycles", "running", "service", "hosts", "cold"),
    *("cold_start", "scale", "logs", "changes", "dashboard"),
)


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, smaller sizes")
    parser.add_argument(
        "--labels", metavar="N[,N]", help="how many labels scale aggregates: 1e6,1e7 say"
    )
    parser.add_argument(
        "--sync-ms", type=_delay, metavar="MS", help="delay each sync of the disk (Linux, with cc)"
    )
    options = parser.parse_args()
    sizes = _sizes(parser, options.labels)
    for name in options.names:
        if name not in NAMES:
            parser.error(f"there is no benchmark {name!r}: give any of {', '.join(NAMES)}")
    if options.sync_ms and slow_disk.delay() != options.sync_ms:
        sys.exit(slow_disk.run_again(options.sync_ms, sys.argv[1:]))
    print(
        f"Python {platform.python_version()}, NumPy {version('numpy')}, "
        f"Numba {version('numba')}, askwise {version('askwise')}, {os.cpu_count()} cores"
    )
    if slow_disk.delay():
        slow_disk.describe()
    for name in options.names or NAMES:
        begun = time.perf_counter()
        print(f"\n== {name}: ", end="", flush=True)
        with in_bulk(name):
            importlib.import_module(f"benchmarks.{name}").main(
                options.quick, **({"labels": sizes} if name == "scale" else {})
            )
        print(f"  ({time.perf_counter() - begun:.0f} s)", flush=True)


def _delay(text: str) -> float:
    """Milliseconds, above 0 and up to ten seconds."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= 10_000:
        raise argparse.ArgumentTypeError(f"{text!r}: give milliseconds, above 0 and up to 10,000")
    return found


def _sizes(parser: argparse.ArgumentParser, text: str | None) -> tuple[int, ...]:
    """Numbers of labels, the fewest first."""
    try:
        found = sorted(int(float(each)) for each in text.split(",")) if text else []
    except (ValueError, OverflowError):
        parser.error(f"labels is {text!r}: give whole numbers separated by commas, 1e6,1e7 say")
    if found and found[0] < 1000:
        parser.error(f"labels is {text!r}: give 1,000 or more")
    return tuple(found)


if __name__ == "__main__":
    main()
