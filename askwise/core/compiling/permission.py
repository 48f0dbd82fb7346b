"""What calls of a thread may compile, how long they wait before, and who is told of it."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PLAIN = os.environ.get("ASKWISE_JIT") == "0" or os.environ.get("NUMBA_DISABLE_JIT") == "1"
"""Whether nothing is ever compiled."""

NEVER, WHEN_IT_PAYS, IN_BULK, AT_ONCE = range(4)
"""Whether calls from Python may start the compiler."""

LOOK = 0.1
"""Seconds of plain work after which a kernel is looked for in the cache: about what loading it
costs."""

PATIENCE, LONG_PATIENCE = 2.0, 60.0
"""Seconds of plain work after which compiling pays: of most kernels, and of heavy ones."""

LOOP_PATIENCE = 10.0
"""The same of a loop of the lab: about what a policy's kernels take to compile."""

LOOP_LOOK = 1.0
"""Seconds of plain work on a campaign in the lab after which one foresees how long it will take."""

Watcher = Callable[[str, bool], None]
"""Called with what is compiled, and whether it begins (or has ended)."""

watchers: list[Watcher] = []


class Mode(threading.local):
    """What the calls of a thread may do, and what for."""

    level = AT_ONCE if os.environ.get("ASKWISE_JIT") == "1" else NEVER
    what = ""
    to_spend = 0


mode = Mode()
"""That of this thread."""


def allowed(what: str = "", to_spend: int = 0) -> Any:
    """Let this thread compile kernels, each once that pays: for work in bulk, never for live calls.

    Parameters
    ----------
    what : str
        What it is for, as those who watch are told; the name of a policy, say.
    to_spend : int
        What campaigns of one policy will spend from the one that is simulated next on, in
        millionths: a loop of the lab foresees by it how long they would take. 0 if nobody can tell.

    Returns
    -------
    A context manager, which decorates functions too.
    """
    return _at_least(WHEN_IT_PAYS, what, to_spend)


def in_bulk(what: str = "") -> Any:
    """For so much work that the lab's loops are compiled at their first call; see `allowed`."""
    return _at_least(IN_BULK, what)


def is_bulk() -> bool:
    """Whether this thread's loops are to be compiled at once."""
    return mode.level >= IN_BULK


def still_to_spend() -> int:
    """What this campaign and those after it will spend, as :func:`allowed` was told."""
    return mode.to_spend


def forced(what: str = "") -> Any:
    """Let this thread compile every kernel that it calls, at the first call; see `allowed`."""
    return _at_least(AT_ONCE, what)


@contextmanager
def _at_least(level: int, what: str, to_spend: int = 0) -> Iterator[None]:
    before = mode.level, mode.what, mode.to_spend
    mode.level, mode.what = max(level, mode.level), what or mode.what
    mode.to_spend = to_spend or mode.to_spend
    try:
        yield
    finally:
        mode.level, mode.what, mode.to_spend = before


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Have somebody told when the compiler starts (not when code is loaded from disk) and ends."""
    watchers.append(watcher)
    try:
        yield
    finally:
        watchers.remove(watcher)


def tell_watchers(name: str, begins: bool) -> None:
    """Tell those who watch that a kernel is compiled, or was."""
    for watcher in tuple(watchers):
        watcher(mode.what or name, begins)
