"""Stopping the service: the first signal sets a time by which it has ended, the second ends it."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uvicorn.supervisors import Multiprocess

log = logging.getLogger("askwise.service")

GRACE = 20
"""Seconds after which the service has ended, once it is told to stop, whatever is in progress."""

FOR_REQUESTS = 15
"""Seconds of these that requests in progress have to end; the rest is for snapshots."""

_SIGNALS = (signal.SIGTERM, signal.SIGINT)

SignalHandler = signal.Handlers | Callable[[int, FrameType | None], Any]


_serves = False
"""Whether this process is there to serve, and for nothing else."""


def own_process() -> None:
    """Note that this process does nothing but serve."""
    global _serves
    _serves = True


def heed_signals(told: Callable[[], None] = lambda: None) -> None:
    """Let the first signal to stop also set the time by which the process has ended.

    ``told`` is called at that signal, for work that ends beside the requests.

    A decision or a store that does not answer may hold threads for longer. Called once the server
    has its own handlers in place, which still do their part.
    """
    if not _serves:
        return
    if multiprocessing.parent_process() is None:
        end_in_time(lambda: os._exit(1), GRACE, again=signal.SIG_DFL, told=told)
        return
    # A signal to a group of processes reaches each, and then the parent tells its children: what
    # they hear twice is one stop. At a second one the parent ends them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_in_time(lambda: os._exit(1), GRACE, again=signal.SIG_IGN, told=told)


def end_in_time(
    end: Callable[[], None],
    grace: float,
    again: SignalHandler,
    told: Callable[[], None] = lambda: None,
) -> None:
    """Call ``end`` this many seconds after the first stop signal; ``again`` is for the second."""
    before = {each: signal.getsignal(each) for each in _SIGNALS}

    def stop(number: int, frame: FrameType | None) -> None:
        for each in _SIGNALS:
            signal.signal(each, again)
        last = threading.Timer(grace, _give_up, [end])
        last.daemon = True
        last.start()
        told()
        first = before[signal.Signals(number)]
        if callable(first):
            first(number, frame)

    for each, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(each, stop)


def _give_up(end: Callable[[], None]) -> None:
    log.warning("ended with work in progress, which is lost; nothing of it was written")
    end()


def end_all(supervisor: Multiprocess) -> None:
    """End all processes of a service at once."""
    for each in supervisor.processes:
        each.process.kill()
    os._exit(1)


def end_quietly(*_: object) -> None:
    """Handle a signal by ending; another one of its kind ends at once."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.exit(0)


def end_with_parent() -> None:
    """Let this process stop, as if told to, once the one that started it is gone.

    It would serve on otherwise, and keep the port from the next service.
    """
    parent = multiprocessing.parent_process()

    def wait() -> None:
        assert parent is not None
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    if parent is not None:
        threading.Thread(target=wait, name="parent", daemon=True).start()
