"""Requests that wait for a campaign to go on, and are woken when its log has grown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from askwise.store import Store, TellsNews

LOOKS = {"store": 5.0, "process": 1.0}
"""Seconds after which a request looks for itself: news may be lost with the process that sends it,
and some stores tell only of what was written in this process."""

PACE = 0.2
"""The fewest seconds between two looks of a request, however fast a log grows."""

MOST_WAITING = 10_000
"""Requests that wait in a process; further ones are answered at once."""


class LogWatch:
    """Wakes those who wait for the log of a campaign.

    Its methods are for the thread of the event loop, but for ``tell`` and ``end_soon``.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        tells = store.reach if isinstance(store, TellsNews) else "process"
        self._look = LOOKS[tells]
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: dict[str, set[Waiter]] = {}
        self._count = 0
        self._ending = False
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Begin to listen, in the event loop that runs."""
        self._loop = asyncio.get_running_loop()
        if isinstance(self._store, TellsNews):
            self._unsubscribe = self._store.subscribe(self.tell)

    def end_soon(self) -> None:
        """Let nobody wait any more; for any thread, and for signal handlers."""
        self._ending = True
        self.tell(None)

    def close(self) -> None:
        """Listen no more."""
        self._unsubscribe()

    def tell(self, name: str | None) -> None:
        """Wake those who wait for a campaign, or for any; for any thread."""
        if self._count and self._loop is not None and (name is None or name in self._waiting):
            with suppress(RuntimeError):  # the loop was closed meanwhile
                self._loop.call_soon_threadsafe(self._wake, name)

    @contextmanager
    def waiter(self, name: str) -> Iterator[Waiter]:
        """Lend what waits for news from now on: made before a look, it misses none after it."""
        made = Waiter(self, self._look)
        self._waiting.setdefault(name, set()).add(made)
        self._count += 1
        try:
            yield made
        finally:
            self._count -= 1
            self._waiting[name].discard(made)
            if not self._waiting[name]:
                del self._waiting[name]

    @property
    def takes_more(self) -> bool:
        """Whether a request may wait."""
        return not self._ending and self._count <= MOST_WAITING

    def _wake(self, name: str | None) -> None:
        for each in list(self._waiting) if name is None else [name]:
            for waiter in self._waiting.get(each, ()):
                waiter.woken.set()


class Waiter:
    """One request that waits."""

    def __init__(self, watch: LogWatch, look: float) -> None:
        self.woken = asyncio.Event()
        self._watch = watch
        self._seconds = look

    async def wait(self, left: float, gone: asyncio.Task[None]) -> bool:
        """Wait for news, or until it is time to look; False if it is not worth another look.

        ``left`` are the seconds left; ``gone`` ends when the caller has gone away.
        """
        loop = asyncio.get_running_loop()
        begun = loop.time()
        until = begun + min(left, self._seconds)
        heard = asyncio.ensure_future(self.woken.wait())
        try:
            await asyncio.wait(
                {heard, gone}, timeout=until - begun, return_when=asyncio.FIRST_COMPLETED
            )
            early = PACE - (loop.time() - begun)
            if heard.done() and early > 0 and self._watch.takes_more:
                await asyncio.wait({gone}, timeout=min(early, left))
        finally:
            heard.cancel()
        self.woken.clear()
        return self._watch.takes_more and not gone.done() and loop.time() - begun < left
