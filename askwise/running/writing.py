"""Writing to a campaign from an event loop: in threads, with patience for a store that is busy."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from askwise.core.errors import StoreError

T = TypeVar("T")

WRITERS = 8
"""Threads that write to the campaign: writes that wait for one another share a commit."""

TRIES, FIRST_PAUSE = 6, 0.1
"""How often a write is tried that finds the store busy; the pauses between tries double."""

MENDABLE = ("store_busy", "store_unreachable")
"""Why a store fails that may work in a moment."""


class WriteThreads:
    """The threads of one run."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(WRITERS, thread_name_prefix="askwise-run")

    async def do(self, act: Callable[..., T], *given: Any, **named: Any) -> T:
        """Call something in another thread, again while the store is busy."""
        loop, pause = asyncio.get_running_loop(), FIRST_PAUSE
        for _ in range(TRIES - 1):
            try:
                return await loop.run_in_executor(self._pool, partial(act, *given, **named))
            except StoreError as error:
                if error.reason not in MENDABLE:
                    raise
                await asyncio.sleep(pause)
                pause *= 2
        return await loop.run_in_executor(self._pool, partial(act, *given, **named))

    def close(self) -> None:
        """Wait for the threads to end."""
        self._pool.shutdown()
