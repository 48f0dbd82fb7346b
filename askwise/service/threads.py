"""Threads for what would hold up the event loop: stores, decisions, views, long bodies."""

import asyncio
import logging
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar

from askwise.campaign import Campaign
from askwise.campaign.requests import Crew, PreparedWrite, Request

log = logging.getLogger("askwise.service")

P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    """Threads that are made when they are needed, up to ``most``, and kept.

    They end with the process, whatever they do: a decision that takes minutes holds up no stop.
    """

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._most = most
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._made = 0
        self._free = 0

    def start(self, work: Callable[[], None]) -> None:
        """Do ``work`` in a thread, once one is free."""
        with self._lock:
            if self._free > 0:
                self._free -= 1
            elif self._made < self._most:
                self._made += 1
                threading.Thread(target=self._go_on, name=self._name, daemon=True).start()
            else:
                self._free -= 1  # owed: the next to be free takes it at once
        self._work.put(work)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do ``work`` in a thread and wait for what it returns, or raises."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def do() -> None:
            found: Any = None
            error: BaseException | None = None
            try:
                found = work(*args, **kwargs)
            except BaseException as raised:
                error = raised
            _call_soon(loop, _settle, done, found, error)

        self.start(do)
        return await done

    def _go_on(self) -> None:
        while True:
            work = self._work.get()
            try:
                work()
            except Exception:
                log.exception("thread")
            del work
            with self._lock:
                self._free += 1


class LoopCrew(Crew):
    """Commits for requests that an event loop waits for: one thread a campaign that is written to,
    a second one where commits take long, and one call into the loop a transaction.
    """

    def __init__(self, writers: Threads, committers: Threads) -> None:
        self._writers = writers
        self._committers = committers

    def start(self, work: Callable[[], None]) -> None:
        self._writers.start(work)

    def commit(self, work: Callable[[], None]) -> None:
        # Writers wait for them: were they of one kind, all might wait for one more.
        self._committers.start(work)

    def wake(self, requests: Sequence[Request]) -> None:
        loops = {request.waiter.get_loop() for request in requests}
        for loop in loops:
            own = [request for request in requests if request.waiter.get_loop() is loop]
            _call_soon(loop, _tell, own)


async def written(campaign: Campaign, write: PreparedWrite[T]) -> T:
    """Let a campaign do a prepared write, and wait for its commit without a thread."""
    done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    campaign.submit(write, done)
    return await done


def _call_soon(loop: asyncio.AbstractEventLoop, call: Callable[..., None], *args: Any) -> None:
    # A loop that was closed meanwhile has nobody left to be told.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(call, *args)


def _settle(done: asyncio.Future[T], found: T, error: BaseException | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(found)
    else:
        done.set_exception(error)


def _tell(requests: Sequence[Request]) -> None:
    for request in requests:
        _settle(request.waiter, request.found, request.error)
