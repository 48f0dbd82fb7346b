"""Running a campaign: from a program, and in an event loop."""

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from askwise.campaign import Campaign
from askwise.core.content import Content
from askwise.running.counts import RunResult
from askwise.running.runner import OnClaimed, Runner, RunWatch
from askwise.sources import Source

LOOK = 0.1
"""Seconds between two looks at an event that stops a run."""


def run(
    campaign: Campaign,
    sources: Mapping[str, Source],
    *,
    content: Content | None = None,
    watch: RunWatch | None = None,
    wait: bool = False,
    grace: float = 30.0,
    claim: OnClaimed = "refuse",
    stop: threading.Event | None = None,
    until: Callable[[], bool] | None = None,
) -> RunResult:
    """Run a campaign until there is nobody more to ask.

    On the main thread Ctrl-C ends it: what is under way is finished, for ``grace`` seconds
    at most, and the rest is given back. A second Ctrl-C gives it back at once.

    Parameters
    ----------
    campaign : Campaign
        Its state is all that a run needs: run it again to go on.
    sources : mapping of a worker's id to the source that answers for them
        Workers who are not named are not asked. Sources are closed at the end.
    content : Content, optional
        What is asked; by default what the campaign was created with.
    watch : callable, optional
        Called with a :class:`RunProgress` when something came back.
    wait : bool
        Whether to go on while only people, who are not called, can answer.
    grace : float
        Seconds for what is under way when the run is stopped.
    claim : "refuse" or "wait"
        What to do if another process, on whatever machine, runs the campaign: refuse, or wait
        until it has ended.
    stop : threading.Event, optional
        Ends it when it is set, as Ctrl-C does.
    until : callable, optional
        Asked before anything is handed out; when it says true, the run ends as with Ctrl-C.

    Raises
    ------
    Conflict
        Another runs the campaign (``already_running``).

    Examples
    --------
    >>> from askwise import Worker
    >>> from askwise.core.content import Content
    >>> from askwise.sources.function import Function
    >>> campaign = Campaign.create(
    ...     workers=[Worker("length", 0, kind="model")],
    ...     tasks=[{"id": "t1", "payload": "hello"}, {"id": "t2", "payload": "hi"}],
    ...     content=Content("How long is it?", options=["short", "long"]),
    ...     policy="random-pairs",
    ... )
    >>> judge = Function(lambda question: "long" if len(question.payload) > 3 else "short")
    >>> run(campaign, {"length": judge}).end
    Done(why='tasks')
    >>> [answer.value for answer in campaign.answers()]
    ['long', 'short']
    """

    async def whole() -> RunResult:
        runner = Runner(
            campaign,
            sources,
            content=content,
            watch=watch,
            wait=wait,
            grace=grace,
            claim=claim,
            until=until,
        )
        stopper = None if stop is None else asyncio.create_task(_stopped_by(_polled(stop), runner))
        with _interrupts(runner):
            try:
                return await runner.run()
            finally:
                if stopper is not None:
                    stopper.cancel()
                for source in set(sources.values()):
                    await source.aclose()

    return _from_anywhere(whole)


def _from_anywhere(whole: Callable[[], Coroutine[Any, Any, RunResult]]) -> RunResult:
    """Run to the end, also from a notebook, whose own event loop is running on this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(whole())
    with ThreadPoolExecutor(1, thread_name_prefix="askwise-run") as beside:
        return beside.submit(asyncio.run, whole()).result()


async def arun(
    campaign: Campaign,
    sources: Mapping[str, Source],
    *,
    content: Content | None = None,
    watch: RunWatch | None = None,
    wait: bool = False,
    grace: float = 30.0,
    claim: OnClaimed = "refuse",
    stop: asyncio.Event | None = None,
) -> RunResult:
    """Run a campaign in an event loop; see :func:`run`.

    ``stop`` ends it when it is set, as Ctrl-C does. Sources stay open: they are the caller's.
    """
    runner = Runner(
        campaign, sources, content=content, watch=watch, wait=wait, grace=grace, claim=claim
    )
    if stop is None:
        return await runner.run()
    stopper = asyncio.create_task(_stopped_by(stop.wait(), runner))
    try:
        return await runner.run()
    finally:
        stopper.cancel()


async def _stopped_by(signal: Awaitable[object], runner: Runner) -> None:
    await signal
    runner.stop()


async def _polled(event: threading.Event) -> None:
    """Wait for an event of other threads, without a thread that waits."""
    while not event.is_set():
        await asyncio.sleep(LOOK)


class _interrupts:  # noqa: N801
    """Lets Ctrl-C stop a runner, on the main thread."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._on = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> None:
        if self._on:
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._runner.stop)

    def __exit__(self, *_: object) -> None:
        if self._on:
            asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
