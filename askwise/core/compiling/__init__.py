"""Numba, set up in one place: no call compiles by surprise, and what is compiled is kept on disk.

Kernels are plain functions with explicit loops that give the same result, to the last bit,
compiled or not. Called from Python they run compiled if the cache on disk has them, and as they
are if not: a live campaign never waits for the compiler. Work in bulk says so with :func:`allowed`,
and its kernels are compiled once that pays, the lab's loops too; a whole experiment
(:func:`in_bulk`) compiles its loops at once.
``ASKWISE_JIT=1`` compiles at once everywhere, in a live campaign too; ``ASKWISE_JIT=0`` (or
Numba's own ``NUMBA_DISABLE_JIT=1``) never does, and then Numba is not even imported.
"""

from askwise.core.compiling.binding import bind, in_plain_python
from askwise.core.compiling.code_cache import kept_in
from askwise.core.compiling.decorators import Function, heavy_kernel, hurry, kernel, routine, step
from askwise.core.compiling.inspecting import (
    PlainTime,
    entry_for,
    is_kept,
    plain_time,
    ready,
    unit_of,
)
from askwise.core.compiling.permission import (
    LOOP_LOOK,
    LOOP_PATIENCE,
    PLAIN,
    allowed,
    forced,
    in_bulk,
    is_bulk,
    still_to_spend,
    watched,
)

__all__ = [
    "LOOP_LOOK",
    "LOOP_PATIENCE",
    "PLAIN",
    "Function",
    "PlainTime",
    "allowed",
    "bind",
    "entry_for",
    "forced",
    "heavy_kernel",
    "hurry",
    "in_bulk",
    "in_plain_python",
    "is_bulk",
    "is_kept",
    "kept_in",
    "kernel",
    "plain_time",
    "ready",
    "routine",
    "step",
    "still_to_spend",
    "unit_of",
    "watched",
]
