"""The one loop that asks: whoever is free is asked, and what comes back is told.

The campaign is the state. Killed anywhere and started again, a run first puts what is out to the
sources once more; a source that keeps its replies answers for free what was paid before.
"""

from __future__ import annotations

import asyncio
import logging
import math
import signal
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from askwise.campaign import Campaign
from askwise.campaign.views.assignments import times_asked
from askwise.core.calls import check_failure
from askwise.core.choices import Assignment, Batch, Done, Wait
from askwise.core.content import Content
from askwise.core.errors import AskwiseError, InvalidAnswer, InvalidProblem, StoreError
from askwise.core.money import from_micro, to_micro
from askwise.running.counts import CallCounts, RunProgress, RunResult
from askwise.sources import Question, Response, Source

log = logging.getLogger(__name__)

T = TypeVar("T")

WRITERS = 8
"""Threads that write to the campaign: writes that wait for one another share a commit."""

TRIES, FIRST_PAUSE = 6, 0.1
"""A write that finds the store busy is tried so often, after pauses that double."""

POLL = 1.0
"""Seconds between two looks at a campaign that waits for people."""

Watch = Callable[[RunProgress], None]


def run(
    campaign: Campaign,
    sources: Mapping[str, Source],
    *,
    content: Content | None = None,
    watch: Watch | None = None,
    wait: bool = False,
    grace: float = 30.0,
) -> RunResult:
    """Run a campaign until there is nobody more to ask.

    On the main thread Ctrl-C ends it: what is under way is finished, for ``grace`` seconds at the
    most, and the rest is given back. A second Ctrl-C gives it back at once.

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
        runner = _Runner(campaign, sources, content, watch, wait, grace)
        with _interrupts(runner):
            try:
                return await runner.run()
            finally:
                for source in set(sources.values()):
                    await source.aclose()

    return asyncio.run(whole())


async def arun(
    campaign: Campaign,
    sources: Mapping[str, Source],
    *,
    content: Content | None = None,
    watch: Watch | None = None,
    wait: bool = False,
    grace: float = 30.0,
    stop: asyncio.Event | None = None,
) -> RunResult:
    """Run a campaign in an event loop; see :func:`run`.

    ``stop`` ends it when it is set, as Ctrl-C does. Sources stay open: they are the caller's.
    """
    runner = _Runner(campaign, sources, content, watch, wait, grace)
    if stop is None:
        return await runner.run()
    stopper = asyncio.create_task(_stopped_by(stop, runner))
    try:
        return await runner.run()
    finally:
        stopper.cancel()


async def _stopped_by(event: asyncio.Event, runner: _Runner) -> None:
    await event.wait()
    runner.stop()


class _interrupts:  # noqa: N801
    """Lets Ctrl-C stop a runner, on the main thread."""

    def __init__(self, runner: _Runner) -> None:
        self._runner = runner
        self._on = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> None:
        if self._on:
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._runner.stop)

    def __exit__(self, *_: object) -> None:
        if self._on:
            asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)


@dataclass
class _Desk:
    """A source, and how much it has to do."""

    source: Source
    busy: int = 0

    @property
    def free(self) -> int:
        """How many more questions it takes now."""
        return 0 if self.source.outage() is not None else max(0, self.source.slots - self.busy)


class _Runner:
    """One run of a campaign."""

    def __init__(
        self,
        campaign: Campaign,
        sources: Mapping[str, Source],
        content: Content | None,
        watch: Watch | None,
        wait: bool,
        grace: float,
    ) -> None:
        self.campaign = campaign
        asked = campaign.content if content is None else content
        if asked is None:
            raise InvalidProblem(
                "content is missing: say what is asked, here or when the campaign is created",
                field="content",
            )
        self.content = asked
        self.watch = watch
        self.wait = wait
        self.grace = grace
        desks = {id(source): _Desk(source) for source in sources.values() if source.called}
        self.desks = {
            worker: desks[id(source)] for worker, source in sources.items() if source.called
        }
        self.counts = {worker: CallCounts() for worker in self.desks}
        self.calls: dict[asyncio.Task[None], Assignment] = {}
        self.stopping = asyncio.Event()
        self.stops = 0
        self._check()

    def _check(self) -> None:
        """Refuse what can't work before anything is asked."""
        options = self.campaign.spec.get("options", [])
        if sorted(self.content.names()) != sorted(options):
            raise InvalidProblem(
                f"content has the options {', '.join(self.content.names())}, the campaign "
                f"{', '.join(options)}: give the same",
                field="content",
            )
        with self.campaign.reading() as state:
            for worker in self.desks:
                state.ledger.worker_at(worker)
        for desk in self.desks.values():
            desk.source.check()

    def stop(self) -> None:
        """Ask no more, and finish what is under way; the second time, give it back at once."""
        self.stops += 1
        self.stopping.set()
        if self.stops > 1:
            for call in self.calls:
                call.cancel()

    @property
    def progress(self) -> RunProgress:
        """The calls so far."""
        return RunProgress(self.counts, len(self.calls))

    async def run(self) -> RunResult:
        """Ask and tell until the campaign is done, waits for others, or the run is stopped."""
        self._pool = ThreadPoolExecutor(WRITERS, thread_name_prefix="askwise-run")
        try:
            end = await self._loop()
        finally:
            await self._finish()
            self._pool.shutdown()
        return RunResult(end, self.progress)

    async def _loop(self) -> Done | Wait | None:
        for assignment in await self._write(self.campaign.assignments):
            if assignment.worker in self.desks:
                self._start(assignment)
        while not self.stopping.is_set():
            said = await self._fill()
            if self.calls:
                await self._until_something()
                continue
            if isinstance(said, Done):
                return said
            pause = self._pause()
            if pause is None:
                return said
            await self._rest(pause)
        return None

    async def _fill(self) -> Done | Wait:
        """Ask for as much as the sources take; returns why no more was handed out."""
        while True:
            free = {worker: desk.free for worker, desk in self.desks.items() if desk.free}
            if not free or self.stopping.is_set():
                return Wait("workers")
            # No more than any of them takes: all of a batch may be for one.
            choice = await self._write(self.campaign.ask, min(free.values()), list(free))
            if not isinstance(choice, Batch):
                return choice
            for assignment in choice:
                self._start(assignment)

    def _start(self, assignment: Assignment) -> None:
        self.desks[assignment.worker].busy += 1
        call = asyncio.create_task(self._call(assignment))
        self.calls[call] = assignment
        call.add_done_callback(partial(self._ended, assignment.worker))

    def _ended(self, worker: str, call: asyncio.Task[None]) -> None:
        self.desks[worker].busy -= 1

    async def _until_something(self) -> None:
        """Wait for a call to end, or for the run to be stopped."""
        stopped = asyncio.create_task(self.stopping.wait())
        ended, _ = await asyncio.wait({*self.calls, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        self._collect(ended)

    def _collect(self, ended: set[asyncio.Task[Any]]) -> None:
        for call in ended:
            if call in self.calls:
                del self.calls[call]
                if not call.cancelled():
                    # What is wrong with the campaign or the store ends the run.
                    call.result()

    def _pause(self) -> float | None:
        """Seconds after which somebody may be there again; None if nobody is to be waited for."""
        outages = [desk.source.outage() for desk in self.desks.values()]
        ends = [
            each.seconds for each in outages if each is not None and math.isfinite(each.seconds)
        ]
        if self.wait:
            ends.append(POLL)
        soonest = min(ends, default=math.inf)
        return soonest if math.isfinite(soonest) else None

    async def _rest(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self.stopping.wait(), max(seconds, 0.001))
        except TimeoutError:
            return

    async def _finish(self) -> None:
        """Finish what is under way, then give the rest back."""
        if self.calls and self.stops < 2:
            ended, _ = await asyncio.wait(self.calls, timeout=self.grace)
            for call in ended:
                self.calls.pop(call)
                if not call.cancelled() and call.exception() is not None:
                    log.warning("a call failed while the run ended: %s", call.exception())
        for call in self.calls:
            call.cancel()
        if self.calls:
            await asyncio.wait(self.calls)

    # One call.

    async def _call(self, assignment: Assignment) -> None:
        source, counts = self.desks[assignment.worker].source, self.counts[assignment.worker]
        question = await self._write(self._question, assignment)
        try:
            response = await self._response(source, question, assignment)
        except asyncio.CancelledError:
            await self._give_back(assignment)
            raise
        if response.failure == "unavailable":
            await self._give_back(assignment)
        else:
            # From here on it is paid: not to be lost by a second Ctrl-C.
            await asyncio.shield(self._settle(assignment, response))
            counts.count(response)
        if self.watch is not None:
            self.watch(self.progress)

    def _question(self, assignment: Assignment) -> Question:
        with self.campaign.reading() as state:
            before = times_asked(self.campaign.name, state, assignment.id)
        return Question(
            content=self.content,
            task=assignment.task or "",
            payload=assignment.payload,
            assignment=assignment.id,
            worker=assignment.worker,
            draw=before,
        )

    async def _response(
        self, source: Source, question: Question, assignment: Assignment
    ) -> Response:
        most = to_micro(assignment.price, "price")
        try:
            ceiling = source.ceiling(question)
        except AskwiseError as error:
            return Response(failure="rejected", detail=str(error))
        if ceiling > most:
            return Response(
                failure="too_long",
                detail=f"it may cost {from_micro(ceiling)}, and {assignment.price} is reserved",
            )
        try:
            return await source.answer(question)
        except Exception as error:
            # A source of others that breaks its word: what was paid is not known.
            log.exception("source of worker %r broke on task %r", question.worker, question.task)
            return Response(failure="error", cost=most, estimated=True, detail=str(error))

    async def _settle(self, assignment: Assignment, response: Response) -> None:
        cost, reference = from_micro(response.cost), response.reference
        if response.value is not None:
            settle = partial(
                self.campaign.tell,
                assignment.id,
                response.value,
                cost=cost,
                probabilities=response.probabilities,
                rationale=response.rationale,
                reference=reference,
            )
        else:
            why = check_failure(response.failure)
            settle = partial(self.campaign.fail, assignment.id, why, cost=cost, reference=reference)
        try:
            await self._write(settle, key=f"run:{assignment.id}")
        except InvalidAnswer as late:
            self.counts[assignment.worker].untaken += 1
            log.warning("the answer to %s was not taken: %s", assignment.id, late)

    async def _give_back(self, assignment: Assignment) -> None:
        self.counts[assignment.worker].returned += 1
        try:
            await asyncio.shield(self._write(self.campaign.expire, assignment.id))
        except AskwiseError as error:
            log.warning("%s could not be given back: %s", assignment.id, error)

    async def _write(self, act: Callable[..., T], *given: Any, **named: Any) -> T:
        """Call the campaign in another thread; wait while its store is busy."""
        loop, pause = asyncio.get_running_loop(), FIRST_PAUSE
        for attempt in range(1, TRIES + 1):
            try:
                return await loop.run_in_executor(self._pool, partial(act, *given, **named))
            except StoreError as error:
                if error.reason not in ("store_busy", "store_unreachable") or attempt == TRIES:
                    raise
                await asyncio.sleep(pause)
                pause *= 2
        raise AssertionError("the last try returns or raises")
