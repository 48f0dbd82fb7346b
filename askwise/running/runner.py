"""The one loop that asks: those who are free are asked, and what comes back is told.

The campaign is the state. Killed anywhere and started again, a run first puts what is out to the
sources once more; a source that keeps its replies answers for free what was paid before.
"""

import asyncio
import logging
import math
from collections.abc import Callable, Mapping
from typing import Literal

from askwise.campaign import Campaign
from askwise.core.checks import one_of
from askwise.core.choices import Assignment, Batch, Done, Wait
from askwise.core.content import Content
from askwise.core.errors import AskwiseError, Conflict, InvalidProblem
from askwise.running.calls import Calls
from askwise.running.claims import RENEWAL, RunClaim
from askwise.running.counts import CallCounts, RunProgress, RunResult
from askwise.running.leases import LeaseKeeper
from askwise.running.source_load import SourceLoad, check_source, soonest_back
from askwise.running.writing import WriteThreads
from askwise.sources import Question, Source

log = logging.getLogger(__name__)

POLL = 1.0
"""Seconds between two looks at a campaign that waits for people, or is run by another."""

RunWatch = Callable[[RunProgress], None]

OnClaimed = Literal["refuse", "wait"]
"""What to do about a campaign that another runs."""


class Runner:
    """One run of a campaign.

    Parameters
    ----------
    campaign : Campaign
        Its state is all that a run needs.
    sources : mapping of a worker's id to the source that answers for them
        Workers who are not named are not asked.
    content : Content, optional
        What is asked; by default what the campaign was created with.
    watch : callable, optional
        Called with a :class:`RunProgress` when something came back.
    wait : bool
        Whether to go on while only people, who are not called, can answer.
    grace : float
        Seconds for what is under way when the run is stopped.
    claim : "refuse" or "wait"
        What to do if another runs the campaign: raise a Conflict, or wait until it ends.
    until : callable, optional
        Asked before anything is handed out; when it says true, the run is stopped.
    """

    def __init__(
        self,
        campaign: Campaign,
        sources: Mapping[str, Source],
        *,
        content: Content | None = None,
        watch: RunWatch | None = None,
        wait: bool = False,
        grace: float = 30.0,
        claim: OnClaimed = "refuse",
        until: Callable[[], bool] | None = None,
    ) -> None:
        one_of(claim, "claim", ("refuse", "wait"))
        self._campaign = campaign
        asked = campaign.content if content is None else content
        if asked is None:
            raise InvalidProblem(
                "content is missing: say what is asked, here or when the campaign is created",
                field="content",
            )
        self._content = asked
        self._watch = watch
        self._wait = wait
        self._grace = grace
        self._on_claimed = claim
        self._until = until
        self._claim = RunClaim(campaign.store, campaign.name)
        loads = {id(source): SourceLoad(source) for source in sources.values() if source.called}
        self._loads = {
            worker: loads[id(source)] for worker, source in sources.items() if source.called
        }
        self._slots = sum(load.source.slots for load in loads.values())
        self._counts = {worker: CallCounts() for worker in self._loads}
        self._under_way: set[asyncio.Task[None]] = set()
        self._offered: set[str] = set()
        """Who could be asked when the campaign was last asked."""
        self._dry = False
        """Whether the campaign had nothing to hand out, when it was last asked."""
        self._backlog: list[Assignment] = []
        """What was out when the run began, and waits for its source."""
        self._stopping = asyncio.Event()
        self._stops = 0
        self._news = asyncio.Event()
        """Set when a slot is free again, a call has ended, or the run is to stop."""
        self._failure: BaseException | None = None
        """What is wrong with the campaign, the store or the claim, and ends the run."""
        self._threads = WriteThreads()
        self._calls = Calls(campaign, asked, self._counts, self._threads)
        self._leases = LeaseKeeper(campaign, self._held, self._threads)
        self._check()

    def _held(self) -> list[str]:
        """The ids of what the run has out."""
        return [*self._calls.unsettled, *(each.id for each in self._backlog)]

    def _check(self) -> None:
        """Refuse what can't work before anything is asked."""
        options = self._campaign.spec.get("options", [])
        if sorted(self._content.names()) != sorted(options):
            raise InvalidProblem(
                f"content has the options {', '.join(self._content.names())}, the campaign "
                f"{', '.join(options)}: give the same",
                field="content",
            )
        with self._campaign.reading() as state:
            ledger = state.ledger
            for id, load in self._loads.items():
                check_source(ledger.workers[ledger.worker_at(id)], load.source)
        for load in self._loads.values():
            load.source.check()

    def stop(self) -> None:
        """Ask no more, and finish what is under way; the second time, cut it off at once."""
        self._stops += 1
        self._stopping.set()
        self._news.set()
        if self._stops > 1:
            for call in self._under_way:
                call.cancel()

    @property
    def progress(self) -> RunProgress:
        """The calls so far."""
        outages = {
            worker: out.why
            for worker, load in self._loads.items()
            if (out := load.outage()) is not None
        }
        # A call that is settled is over, though its task may have a step to go.
        return RunProgress(self._counts, len(self._calls.unsettled), outages)

    async def run(self) -> RunResult:
        """Ask and tell until the campaign is done, waits for others, or the run is stopped.

        Raises
        ------
        Conflict
            Another runs the campaign, or has taken over after this run was stalled.
        """
        try:
            if not await self._take_claim():
                return RunResult(None, self.progress)
            keepers = [
                asyncio.create_task(self._keep_claim()),
                asyncio.create_task(self._leases.keep()),
            ]
            try:
                end = await self._loop()
            finally:
                await self._finish()
                for keeper in keepers:
                    keeper.cancel()
                await self._threads.do(self._claim.release, self.progress.to_json())
        finally:
            self._threads.close()
        return RunResult(end, self.progress)

    # The claim.

    async def _take_claim(self) -> bool:
        """Claim the campaign; false if the run was stopped while it waited for that."""
        while not self._stopping.is_set():
            try:
                await self._threads.do(self._claim.take)
                return True
            except Conflict:
                if self._on_claimed == "refuse":
                    raise
            await self._rest(POLL)
        return False

    async def _keep_claim(self) -> None:
        """Renew the claim while the run goes on."""
        while True:
            await asyncio.sleep(RENEWAL)
            try:
                await self._threads.do(self._claim.renew, self.progress.to_json())
            except Conflict as lost:
                self._fail(lost)
                return
            except AskwiseError as error:
                log.warning("the claim to campaign %r: %s", self._campaign.name, error)

    async def _hold_claim(self) -> None:
        """Make certain that the claim is ours, after however long a stall."""
        if not self._claim.is_held:
            await self._threads.do(self._claim.renew)

    def _fail(self, error: BaseException) -> None:
        self._failure = self._failure or error
        self._news.set()

    # The loop.

    async def _loop(self) -> Done | Wait | None:
        out = await self._threads.do(self._campaign.assignments)
        ours = [each for each in out if each.worker in self._loads]
        self._backlog = [each for each in ours if await self._leases.renew(each.id)]
        while not self._stopping.is_set():
            self._news.clear()
            said = await self._fill()
            if self._failure is not None:
                raise self._failure
            if self._stopping.is_set():
                break
            # What was told while the campaign was asked may have changed what it would say.
            if self._under_way or self._news.is_set():
                await self._until_news()
                continue
            if isinstance(said, Done) and not self._backlog:
                return said
            if any(load.free and id not in self._offered for id, load in self._loads.items()):
                continue  # they came back while others were asked
            pause = self._pause()
            if math.isinf(pause):
                return Wait("workers") if isinstance(said, Done) else said
            await self._rest(pause)
        return None

    async def _fill(self) -> Done | Wait:
        """Ask for as much as the sources take; returns why no more was handed out."""
        for assignment in list(self._backlog):
            if self._loads[assignment.worker].free:
                self._backlog.remove(assignment)
                question = await self._threads.do(self._calls.question, assignment)
                self._start(assignment, question)
        while True:
            free = {worker: room for worker, load in self._loads.items() if (room := load.free)}
            self._offered = set(free)
            if not free or self._stopping.is_set() or self._failure is not None:
                return Wait("workers")
            if self._until is not None and await self._threads.do(self._until):
                self.stop()
                return Wait("workers")
            await self._hold_claim()
            # No more than any of them takes: all of a batch may be for one.
            choice, questions = await self._threads.do(self._ask, min(free.values()), list(free))
            self._dry = not isinstance(choice, Batch)
            if not isinstance(choice, Batch):
                return choice
            for assignment, question in zip(choice, questions, strict=True):
                self._start(assignment, question)

    def _ask(self, limit: int, workers: list[str]) -> tuple[Batch | Wait | Done, list[Question]]:
        choice = self._campaign.ask(limit, workers)
        return choice, [self._calls.question(assignment) for assignment in choice]

    def _start(self, assignment: Assignment, question: Question) -> None:
        self._loads[assignment.worker].busy += 1
        self._calls.unsettled[assignment.id] = assignment
        call = asyncio.create_task(self._call(assignment, question))
        self._under_way.add(call)
        call.add_done_callback(self._ended)

    def _ended(self, call: asyncio.Task[None]) -> None:
        self._under_way.discard(call)
        if not call.cancelled() and (error := call.exception()) is not None:
            if self._failure is not None or self._stopping.is_set():
                log.warning("a call failed while the run ended: %s", error)
            self._fail(error)
        self._news.set()

    async def _call(self, assignment: Assignment, question: Question) -> None:
        load = self._loads[assignment.worker]
        try:
            if self._stopping.is_set() or self._failure is not None:
                return
            await self._hold_claim()
            response = await self._calls.put(load.source, question, assignment)
        finally:
            # It takes the next question while this answer is written down.
            load.busy -= 1
            if self._slots > 1 and not self._dry:
                # One call at a time is decided on with all that was told before. And where nothing
                # was handed out, nothing will be before this answer is told.
                self._news.set()
        if response.failure == "unavailable":
            load.was_unavailable()
            await self._calls.give_back(assignment)
        else:
            load.answered()
            # From here on it is paid: not to be lost by a second Ctrl-C.
            await asyncio.shield(self._calls.settle(assignment, response))
        if self._watch is not None:
            self._watch(self.progress)

    async def _until_news(self) -> None:
        """Wait for a slot, the end of a call, a source that is back, or the end of the run."""
        pause = self._pause()
        try:
            async with asyncio.timeout(None if math.isinf(pause) else pause):
                await self._news.wait()
        except TimeoutError:
            return

    def _pause(self) -> float:
        """Seconds after which somebody may be there again; ``inf`` if nobody is waited for."""
        soonest = soonest_back(list(self._loads.values()))
        return max(min(soonest, POLL) if self._wait else soonest, 0.001)

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return

    async def _finish(self) -> None:
        """Finish what is under way, then give back what was not put to anybody."""
        if self._under_way and self._stops < 2:
            await asyncio.wait(self._under_way, timeout=self._grace)
        for call in self._under_way:
            call.cancel()
        if self._under_way:
            await asyncio.wait(self._under_way)
        if isinstance(self._failure, Conflict) and self._failure.reason == "already_running":
            return  # what is out is the other run's by now
        for assignment in list(self._calls.unsettled.values()):
            await self._calls.give_back(assignment)
