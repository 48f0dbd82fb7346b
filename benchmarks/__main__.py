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

from askwise.core.compiling import allowed

NAMES = (
    *("simulation", "survey", "labels", "aggregation", "knapsack", "live", "growth", "start"),
    *("memory", "accuracy", "assured", "cycles", "running", "service", "cold", "cold_start"),
)


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, smaller sizes")
    options = parser.parse_args()
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
        with allowed(name):
            importlib.import_module(f"benchmarks.{name}").main(options.quick)
        print(f"  ({time.perf_counter() - begun:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
