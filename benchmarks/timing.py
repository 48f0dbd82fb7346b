"""Timing in turns: machines are noisy, so only what ran side by side is compared."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence

Contender = Callable[[], float]
"""Does some work and returns how many units of it were done."""


def in_turns(
    contenders: Mapping[str, Contender],
    rounds: int,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, list[float]]:
    """Time the contenders A B C, A B C, ...; returns seconds per unit, one entry per round.

    ``clock`` is the process's CPU time, which a loaded machine distorts least; give
    ``time.perf_counter`` where waiting (for a disk) is part of the work.
    """
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, work in contenders.items():
            begun = clock()
            units = work()
            found[name].append((clock() - begun) / units)
    return found


def cpu_of(process: int) -> float:
    """CPU seconds of a process so far, with all its threads (Linux).

    By its clock, which counts nanoseconds, and not in ticks of the kernel.
    """
    return time.clock_gettime(~process << 3 | 2)


def spread(dividend: Sequence[float], divisor: Sequence[float]) -> str:
    """The quotients of the rounds, from the least to the greatest."""
    found = [a / b for a, b in zip(dividend, divisor, strict=True)]
    return f"{min(found):.2f} to {max(found):.2f}"


def ratio(dividend: Sequence[float], divisor: Sequence[float]) -> float:
    """Median over the rounds of the quotient of two contenders' times."""
    return statistics.median(a / b for a, b in zip(dividend, divisor, strict=True))


def want(value: float, *, least: float | None = None, most: float | None = None) -> list[str]:
    """Two cells for a table: what is wanted of a figure, and whether it is met."""
    if least is not None:
        return [f">= {least:g}", "yes" if value >= least else "NO"]
    assert most is not None
    return [f"<= {most:g}", "yes" if value <= most else "NO"]


def quantity(value: float) -> str:
    """A number in three digits, thousands separated."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a plain table: the first column to the left, figures to the right."""
    widths = [max(len(row[at]) for row in [header, *rows]) for at in range(len(header))]
    for row in [header, ["-" * width for width in widths], *rows]:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        cells[0] = row[0].ljust(widths[0])
        print("  " + "  ".join(cells).rstrip())
