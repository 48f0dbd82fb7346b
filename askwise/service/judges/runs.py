"""The runs of a service: campaigns with the operator's judges are asked and told by themselves."""

import asyncio
import json
import logging
import random
import threading
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from askwise.campaign import Campaign
from askwise.core.errors import AskwiseError, Conflict, StoreError
from askwise.core.events import Kind
from askwise.ledger import columns as c
from askwise.running import RunProgress, arun, last_run
from askwise.service.judges.panel import JudgePanel
from askwise.service.open_campaigns import OpenCampaigns
from askwise.sources import Source

log = logging.getLogger("askwise.service")

PAUSE = 1.0
"""Seconds between looks for campaigns that can go on."""

PAUSE_FACTOR = 20.0
"""A look is followed by a pause of this many times its length, if that is longer."""

MOST_RUNS = 64
"""Campaigns that a process runs at a time."""

TAKEN = 5.0
"""Seconds for which a campaign is left alone that another process runs, or whose store is busy."""

TROUBLE = 60.0
"""Seconds for which a campaign is left alone that can't be run."""

GRACE = 10.0
"""Seconds that calls have to end once the service is told to stop, beside the requests."""


@dataclass
class _Followed:
    """What is known of a campaign that has content, so that it need not be opened to look at it."""

    read: int = 0
    """Position of the log up to which workers who joined were looked at."""
    sources: set[str] = field(default_factory=set)
    """The sources that its workers were ever created with."""
    idle_at: int = -1
    """Position of the log at which there was nothing to do."""
    again: float = 0.0
    """Not before then, by the clock that nobody sets."""


class JudgeRuns:
    """Runs campaigns in an event loop of its own, beside the requests.

    Each is run by one process of all that share the store; when that one is gone, another takes
    over. A campaign that waits for people is run again when its log has moved.
    """

    def __init__(self, campaigns: OpenCampaigns, panel: JudgePanel) -> None:
        self._campaigns = campaigns
        self._panel = panel
        self._watched: dict[str, _Followed | None] = {}
        self._runs: dict[str, asyncio.Task[None]] = {}
        self._reports: dict[str, dict[str, Any]] = {}
        """What runs of this process said last."""
        self._told: dict[tuple[str, str], str] = {}
        """Outages that are in the service's log."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending = threading.Event()
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._live, name="judges", daemon=True)

    def start(self) -> None:
        """Begin to look for campaigns to run, if there are judges."""
        if self._panel:
            self._thread.start()

    def stop_soon(self) -> None:
        """Hand out no more; what is under way may end."""
        self._ending.set()
        if self._loop is not None and self._stop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop.set)

    def close(self) -> None:
        """End all runs, and wait for that."""
        self.stop_soon()
        if self._thread.is_alive():
            self._thread.join()

    def may_serve(self, campaign: Campaign) -> bool:
        """Whether the service may answer for workers of a campaign; no look at its state."""
        return bool(self._panel) and campaign.content is not None

    def served(self, campaign: Campaign) -> frozenset[str]:
        """The workers of a campaign that the service answers for."""
        return frozenset(self._sources(campaign))

    def report(self, name: str) -> dict[str, Any]:
        """Who runs a campaign, or did last, and how that goes; as JSON."""
        found = last_run(self._campaigns.store, name)
        if found is None:
            return {"running": False, "host": None, "pid": None, "since": None, "outages": []}
        said = {"in_flight": 0, "outages": []} | self._reports.get(name, found.report)
        running = not found.is_over(time.time())
        if not running:
            # What was reported last may be from before its calls had ended.
            said["in_flight"] = 0
        return {
            "running": running,
            "host": found.host,
            "pid": found.pid,
            "since": found.since,
            **said,
        }

    # Looking.

    def _sources(self, campaign: Campaign) -> dict[str, Source]:
        if not self.may_serve(campaign):
            return {}
        known = self._panel.by_signature
        with campaign.reading() as state:
            ledger = state.ledger
            return {
                worker.id: known[worker.source]
                for at, worker in enumerate(ledger.workers)
                if worker.source in known and ledger.is_here(at)
            }

    def due(self) -> list[tuple[str, dict[str, Source]]]:
        """Campaigns that may have something to ask the judges, each with their sources."""
        store = self._campaigns.store
        found: list[tuple[str, dict[str, Source]]] = []
        now = time.monotonic()
        for name in store.names():
            if len(self._runs) + len(found) >= MOST_RUNS:
                break
            if name in self._runs:
                continue
            try:
                sources = self._due(name, now)
            except Exception as error:
                self._trouble(name, error)
                continue
            if sources:
                found.append((name, sources))
        return found

    def _due(self, name: str, now: float) -> dict[str, Source]:
        store = self._campaigns.store
        if name not in self._watched:
            spec = json.loads(store.spec(name))
            signed = {str(worker.get("source")) for worker in spec["workers"]}
            # What is asked is said when a campaign is created, or never.
            self._watched[name] = _Followed(sources=signed) if "content" in spec else None
        watched = self._watched[name]
        if watched is None or watched.again > now:
            return {}
        position = store.position(name)
        if watched.idle_at == position:
            return {}
        for event in store.read(name, watched.read, position):
            if event.kind == Kind.JOINED:
                watched.sources |= {str(raw.get("source")) for raw in event.workers or ()}
        watched.read = position
        if not watched.sources & set(self._panel.by_signature):
            watched.idle_at = position
            return {}
        campaign = self._campaigns.get(name)
        if campaign.busy:
            return {}
        with campaign.reading() as state:
            halted = state.ledger.total(c.PAUSED) or state.ledger.total(c.STOPPED)
            out = state.ledger.total(c.PENDING)
        sources = self._sources(campaign)
        if not sources or (halted and not out):
            watched.idle_at = position
            return {}
        return sources

    # Running.

    def _live(self) -> None:
        asyncio.run(self._main())

    async def _main(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        try:
            while not self._ending.is_set():
                begun = time.monotonic()
                await self._look()
                took = time.monotonic() - begun
                # Not in step with other processes, which would look at the same at the same time.
                await self._rest(max(PAUSE, PAUSE_FACTOR * took) * random.uniform(0.8, 1.2))
        finally:
            self._stop.set()
            if self._runs:
                await asyncio.wait(self._runs.values())
            for source in self._panel.by_signature.values():
                await source.aclose()

    async def _look(self) -> None:
        assert self._loop is not None
        try:
            due = await asyncio.to_thread(self.due)
        except AskwiseError as error:
            log.warning("judges", extra={"fields": {"message": str(error)}})
            return
        for name, sources in due:
            if self._ending.is_set():
                return
            run = self._loop.create_task(self._run(name, sources))
            self._runs[name] = run
            run.add_done_callback(partial(self._ended, name))

    async def _rest(self, seconds: float) -> None:
        assert self._stop is not None
        try:
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        except TimeoutError:
            return

    async def _run(self, name: str, sources: dict[str, Source]) -> None:
        watched = self._watched[name]
        assert watched is not None
        campaign = await asyncio.to_thread(self._campaigns.get, name)
        before = await asyncio.to_thread(self._campaigns.store.position, name)
        found = await arun(
            campaign, sources, watch=partial(self._watch, name), grace=GRACE, stop=self._stop
        )
        self._watch(name, found.progress)
        # If anything was written it is run once more: somebody may have answered at the very end.
        watched.idle_at = before

    def _watch(self, name: str, progress: RunProgress) -> None:
        """Keep what a run says, and write outages to the log when they begin."""
        self._reports[name] = progress.to_json()
        for worker in progress.workers:
            why = progress.outages.get(worker)
            if why is None:
                self._told.pop((name, worker), None)
            elif self._told.get((name, worker)) != why:
                self._told[name, worker] = why
                log.warning(
                    "judges", extra={"fields": {"campaign": name, "worker": worker, "message": why}}
                )

    def _ended(self, name: str, run: asyncio.Task[None]) -> None:
        self._runs.pop(name, None)
        self._reports.pop(name, None)
        error = None if run.cancelled() else run.exception()
        if error is not None:
            self._trouble(name, error)

    def _trouble(self, name: str, error: BaseException) -> None:
        """Leave a campaign alone that can't be run now."""
        watched = self._watched.setdefault(name, _Followed())
        taken = isinstance(error, Conflict) and error.reason == "already_running"
        if watched is not None:
            soon = taken or isinstance(error, StoreError)
            watched.again = time.monotonic() + (TAKEN if soon else TROUBLE)
        if taken:
            return
        fields = {"campaign": name, "message": str(error)}
        if isinstance(error, AskwiseError):
            log.warning("judges", extra={"fields": fields})
        else:
            log.error("judges", extra={"fields": fields}, exc_info=error)
