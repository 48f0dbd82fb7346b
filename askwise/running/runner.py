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
from askwise.core.calls import LONGEST_RATIONALE, LONGEST_REFERENCE, check_failure
from askwise.core.choices import Assignment, Batch, Done, Wait
from askwise.core.content import Content
from askwise.core.errors import (
    AskwiseError,
    Conflict,
    InvalidAnswer,
    InvalidProblem,
    OverBudget,
    StoreError,
)
from askwise.core.money import from_micro, to_micro
from askwise.core.text import flaw
from askwise.running.counts import CallCounts, RunProgress, RunResult
from askwise.sources import Question, Response, Source

log = logging.getLogger(__name__)

T = TypeVar("T")

WRITERS = 8
"""Threads that write to the campaign: writes that wait for one another share a commit."""

TRIES, FIRST_PAUSE = 6, 0.1
"""A write that finds the store busy is tried so often, after pauses that double."""

LONGEST_REST = 60.0
"""Seconds for which a source is left alone that is not there and does not say for how long."""

POLL = 1.0
"""Seconds between two looks at a campaign that waits for people."""

UNUSABLE = ("invalid_answer", "invalid_value", "invalid_amount", "unstorable")
"""Why an answer is refused that no later try would mend: it is a failure of its source."""

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
    refusals: int = 0
    """How often in a row it was not available, and gave no outage."""
    resting: float = 0.0
    """Until when (of the loop's clock) it is left alone after that."""

    def pause(self) -> float:
        """Seconds for which it can't be asked: 0 if it can, ``inf`` if it won't be back."""
        try:
            out = self.source.outage()
        except Exception as error:
            log.warning("source %r can't say whether it is there: %s", self.source.name, error)
            return math.inf
        rest = max(0.0, self.resting - asyncio.get_running_loop().time())
        return rest if out is None else max(out.seconds, rest)

    @property
    def free(self) -> int:
        """How many more questions it takes now."""
        room = self.source.slots - self.busy
        return room if room > 0 and self.pause() == 0.0 else 0

    def was_unavailable(self) -> None:
        """Leave it alone for a while, longer each time, if it does not say itself for how long."""
        self.refusals += 1
        pause = min(LONGEST_REST, FIRST_PAUSE * 2.0**self.refusals)
        self.resting = asyncio.get_running_loop().time() + pause


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
        self.calls: set[asyncio.Task[None]] = set()
        self.backlog: list[Assignment] = []
        """What was out when the run began, and waits for its source."""
        self.unsettled: dict[str, Assignment] = {}
        """What was taken on, and is neither settled nor given back."""
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
        lease = self.campaign.spec.get("lease")
        for worker, desk in self.desks.items():
            desk.source.check()
            longest = getattr(desk.source, "timeout", 0.0)
            if lease is not None and longest >= lease:
                raise InvalidProblem(
                    f"lease is {lease:g}: a call of worker {worker!r} may take {longest:g} s, and "
                    "would be made again; give a longer lease, or none",
                    field="lease",
                )

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
        out = await self._write(self.campaign.assignments)
        self.backlog = [each for each in out if each.worker in self.desks]
        while not self.stopping.is_set():
            said = await self._fill()
            if self.calls:
                await self._until_something()
                continue
            if isinstance(said, Done) and not self.backlog:
                return said
            pause = self._pause()
            if pause is None:
                return Wait("workers") if isinstance(said, Done) else said
            await self._rest(pause)
        return None

    async def _fill(self) -> Done | Wait:
        """Ask for as much as the sources take; returns why no more was handed out."""
        for assignment in list(self.backlog):
            if self.desks[assignment.worker].free:
                self.backlog.remove(assignment)
                self._start(assignment)
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
        self.unsettled[assignment.id] = assignment
        self.calls.add(asyncio.create_task(self._call(assignment)))

    async def _until_something(self) -> None:
        """Wait for a call to end, a source to be back, or the run to be stopped."""
        stopped = asyncio.create_task(self.stopping.wait())
        ended, _ = await asyncio.wait(
            {*self.calls, stopped}, timeout=self._pause(), return_when=asyncio.FIRST_COMPLETED
        )
        stopped.cancel()
        for call in self.calls & ended:
            self.calls.discard(call)
            if not call.cancelled():
                # What is wrong with the campaign or the store ends the run.
                call.result()

    def _pause(self) -> float | None:
        """Seconds after which somebody may be there again; None if nobody is to be waited for."""
        ends = [pause for desk in self.desks.values() if (pause := desk.pause()) > 0.0]
        if self.wait:
            ends.append(POLL)
        soonest = min(ends, default=math.inf)
        return max(soonest, 0.001) if math.isfinite(soonest) else None

    async def _rest(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self.stopping.wait(), seconds)
        except TimeoutError:
            return

    async def _finish(self) -> None:
        """Finish what is under way, then give back what was not put to anybody."""
        if self.calls and self.stops < 2:
            await asyncio.wait(self.calls, timeout=self.grace)
        for call in self.calls:
            call.cancel()
        if self.calls:
            await asyncio.wait(self.calls)
        for call in self.calls:
            if not call.cancelled() and call.exception() is not None:
                log.warning("a call failed while the run ended: %s", call.exception())
        for assignment in list(self.unsettled.values()):
            await self._give_back(assignment)

    # One call.

    async def _call(self, assignment: Assignment) -> None:
        desk = self.desks[assignment.worker]
        try:
            question = await self._write(self._question, assignment)
            response = await self._response(desk.source, question, assignment)
        finally:
            # It takes the next question while this answer is written down.
            desk.busy -= 1
        if response.failure == "unavailable":
            desk.was_unavailable()
            await self._give_back(assignment)
        else:
            desk.refusals = 0
            # From here on it is paid: not to be lost by a second Ctrl-C.
            await asyncio.shield(self._settle(assignment, response))
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
        except Exception as error:
            log.exception("source of worker %r has no ceiling for it", question.worker)
            return Response(failure="error", detail=str(error))
        if ceiling > most:
            return Response(
                failure="too_long",
                detail=f"it may cost {from_micro(ceiling)}, and {assignment.price} is reserved",
            )
        try:
            response = await source.answer(question)
            if not isinstance(response, Response):
                raise TypeError(f"it answered with a {type(response).__name__}")
        except asyncio.CancelledError:
            # Put, and cut off: it may have been paid, so it is booked as if it was.
            lost = Response(failure="lost", cost=ceiling, estimated=True)
            await asyncio.shield(self._settle(assignment, lost))
            raise
        except Exception as error:
            # A source of others that breaks its word: what was paid is not known.
            log.exception("source of worker %r broke on task %r", question.worker, question.task)
            return Response(failure="error", cost=most, estimated=True, detail=str(error))
        return response

    async def _settle(self, assignment: Assignment, response: Response) -> None:
        cost, reference = from_micro(response.cost), _usable(response.reference, LONGEST_REFERENCE)
        if response.value is not None:
            settle = partial(
                self.campaign.tell,
                assignment.id,
                response.value,
                cost=cost,
                probabilities=response.probabilities,
                rationale=_usable(response.rationale, LONGEST_RATIONALE),
                reference=reference,
            )
        else:
            why = check_failure(response.failure)
            settle = partial(self.campaign.fail, assignment.id, why, cost=cost, reference=reference)
        counts = self.counts[assignment.worker]
        try:
            await self._write(settle, key=f"run:{assignment.id}")
        except (InvalidAnswer, OverBudget, Conflict) as refused:
            if refused.reason in UNUSABLE:
                log.warning("the answer to %s can't be used: %s", assignment.id, refused)
                response = Response(failure="unreadable", cost=response.cost)
                fail = partial(self.campaign.fail, assignment.id, "unreadable", cost=cost)
                await self._write(fail, key=f"run:{assignment.id}")
                counts.count(response)
            else:
                counts.untaken += 1
                log.warning("the answer to %s was not taken: %s", assignment.id, refused)
        else:
            counts.count(response)
        self.unsettled.pop(assignment.id, None)

    async def _give_back(self, assignment: Assignment) -> None:
        self.unsettled.pop(assignment.id, None)
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


def _usable(text: str | None, longest: int) -> str | None:
    """What a source says beside its answer, as far as a campaign can keep it."""
    return None if text is None or flaw(text) is not None else text[:longest]
