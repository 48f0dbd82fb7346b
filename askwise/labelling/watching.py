"""How far a job is, looked at while it runs; and an end to one that can't begin."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal

from askwise.campaign import Campaign
from askwise.campaign.views import PilotReport
from askwise.core.money import from_micro
from askwise.ledger import columns as c
from askwise.running import RunProgress
from askwise.sources import Source

EVERY = 0.5
"""Seconds between two looks."""

PATIENCE = 3
"""Looks in a row at which all judges are out before a job that has no answer is given up."""

Phase = Literal["pilot", "labelling", "auditing"]


@dataclass(frozen=True, slots=True)
class LabelProgress:
    """A job at one moment.

    Attributes
    ----------
    phase : "pilot", "labelling" or "auditing"
        What is being asked for.
    items, labelled, certified : int
        All of them; those that have an answer; those whose label is certified.
    answers, failures, in_flight : int
        Answers so far, calls that brought none, and calls under way.
    spent : Decimal
        Money so far.
    left : Decimal or None
        What is left of the budget.
    outages : mapping of a judge to the reason
        Judges that can't be asked at the moment.
    waits : bool
        Whether no call is under way, and people are waited for.
    """

    phase: Phase
    items: int
    labelled: int
    certified: int
    answers: int
    failures: int
    in_flight: int
    spent: Decimal
    left: Decimal | None
    outages: Mapping[str, str] = field(default_factory=dict)
    waits: bool = False


LabelWatch = Callable[[LabelProgress], None]


def outages_of(sources: Mapping[str, Source]) -> dict[str, str]:
    """Who of those that are called can't be asked now, and why."""
    found = {}
    for worker, source in sources.items():
        out = source.outage() if source.called else None
        if out is not None:
            found[worker] = out.why
    return found


def progress_of(
    campaign: Campaign, sources: Mapping[str, Source], in_flight: int = 0
) -> LabelProgress:
    """How far a campaign is."""
    with campaign.reading() as state:
        ledger = state.ledger
        total = ledger.total
        tasks = ledger.book.tasks[: total(c.TASKS)]
        labelled = int(((tasks[:, c.TASK_ANSWERED] > 0) | (tasks[:, c.TRUTH] >= 0)).sum())
        budget, spent = ledger.budget, ledger.spent
        audits = state.certification
        certified = 0
        phase: Phase = "labelling"
        if state.spec.pilot is not None and (ledger.pilot is None or not ledger.pilot.over):
            phase = "pilot"
        if audits is not None and audits.blocks:
            phase = "auditing"
            certified = sum(int(block.certified().sum()) for block in audits.blocks)
        return LabelProgress(
            phase=phase,
            items=len(tasks),
            labelled=labelled,
            certified=certified,
            answers=total(c.ANSWERS),
            failures=int(ledger.book.workers[: total(c.WORKERS), c.FAILURES].sum()),
            in_flight=in_flight,
            spent=from_micro(spent),
            left=None if budget is None else from_micro(budget - spent - ledger.reserved),
            outages=outages_of(sources),
        )


class JobWatch:
    """Looks at a job from a thread of its own while a block lasts.

    Parameters
    ----------
    campaign : Campaign
        The campaign that is run.
    sources : mapping of a worker to a Source
        Who answers in it.
    watch, on_pilot : callables
        Told how far it is, and what the pilot has shown once that is over.
    pilot_only : bool
        Whether the run ends with the pilot.
    may_wait : bool
        Whether people may answer while no judge can be asked.
    """

    def __init__(
        self,
        campaign: Campaign,
        sources: Mapping[str, Source],
        watch: LabelWatch | None,
        on_pilot: Callable[[PilotReport], None] | None,
        *,
        pilot_only: bool = False,
        may_wait: bool = False,
    ) -> None:
        self.stop = threading.Event()
        """Set when the run is to end."""
        self.hopeless: dict[str, str] = {}
        """Why no judge could be asked, if the run was given up for that."""
        self._campaign, self._sources = campaign, sources
        self._watch, self._on_pilot = watch, on_pilot
        self._pilot_only, self._may_wait = pilot_only, may_wait
        self._in_flight = 0
        self._out = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep_looking, name="watch", daemon=True)
        self._piloting = progress_of(campaign, sources).phase == "pilot"

    def hear(self, progress: RunProgress) -> None:
        """Take in what a runner tells of its calls."""
        self._in_flight = progress.in_flight

    def __enter__(self) -> JobWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._look()

    def _keep_looking(self) -> None:
        while not self._over.wait(EVERY):
            self._look()

    def _ends_piloted(self) -> bool:
        """Whether the run ends here: no decision of the policy will show that the pilot is over."""
        return self._pilot_only and self._campaign.pilot().phase == "done"

    def _look(self) -> None:
        found = progress_of(self._campaign, self._sources, self._in_flight)
        if self._piloting and (found.phase != "pilot" or self._ends_piloted()):
            self._piloting = False
            if self._on_pilot is not None:
                self._on_pilot(self._campaign.pilot())
            if self._pilot_only:
                self.stop.set()
        if self._watch is not None:
            self._watch(replace(found, waits=self._may_wait and not self._in_flight))
        called = [worker for worker, source in self._sources.items() if source.called]
        # Failures that cost nothing are no beginning: a request that is refused fails in that way.
        stuck = not found.answers and not found.spent and called and not self._may_wait
        self._out = self._out + 1 if stuck and len(found.outages) == len(called) else 0
        if self._out >= PATIENCE:
            self.hopeless = dict(found.outages)
            self.stop.set()
