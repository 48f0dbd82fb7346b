"""Run all benchmarks, or those named: ``python -m benchmarks [--quick] [NAME ...]``.

Every figure is a quotient of two things timed in turns in the same run. Nothing here fails:
what is wanted stands beside what was measured.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import time
from importlib.metadata import version

from askwise.core.compiling import in_bulk

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
    options = parser.parse_args()
    sizes = _sizes(parser, options.labels)
    for name in options.names:
        if name not in NAMES:
            parser.error(f"there is no benchmark {name!r}: give any of {', '.join(NAMES)}")
    print(
        f"Python {platform.python_version()}, NumPy {version('numpy')}, "
        f"Numba {version('numba')}, askwise {version('askwise')}, {os.cpu_count()} cores"
    )
    for name in options.names or NAMES:
        begun = time.perf_counter()
        print(f"\n== {name}: ", end="", flush=True)
        with in_bulk(name):
            importlib.import_module(f"benchmarks.{name}").main(
                options.quick, **({"labels": sizes} if name == "scale" else {})
            )
        print(f"  ({time.perf_counter() - begun:.0f} s)", flush=True)


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
