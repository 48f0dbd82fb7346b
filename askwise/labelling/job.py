"""One job of labelling: its campaign made or found again, run to its end, and what came of it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from askwise.campaign import Campaign
from askwise.core.choices import Done, Wait
from askwise.core.errors import Conflict, UnknownName
from askwise.core.money import from_micro, to_micro
from askwise.labelling.costs import CostForecast, forecast
from askwise.labelling.orders import LabelOrder
from askwise.labelling.result import LabelResult
from askwise.ledger import columns as c
from askwise.running import RunProgress, run
from askwise.store import Change, Store, open_store

NAME = "label"
"""What the campaign is called, if not said otherwise."""

RECORD = "labelling"
"""The kind of record that a job keeps beside its campaign."""

EVERY = 0.5
"""Seconds between two looks at a campaign that is being run."""

Phase = Literal["pilot", "labelling", "auditing", "done"]


@dataclass(frozen=True, slots=True)
class LabelProgress:
    """A job at one moment.

    Attributes
    ----------
    phase : "pilot", "labelling", "auditing" or "done"
        What is being asked for.
    items, labelled, certified : int
        All of them; those that have an answer; those whose label is certified.
    answers, failures, in_flight : int
        Answers so far, calls that brought none, and calls under way in this run.
    spent : Decimal
        Money so far.
    left : Decimal or None
        What is left of the budget.
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


Watch = Callable[[LabelProgress], None]


class LabelJob:
    """Labels items in a campaign of its own.

    Nothing is spent before :meth:`run`.

    Parameters
    ----------
    order : LabelOrder
        What is labelled, by whom, for how much.
    store : str or Store
        Where the campaign is kept.
    name : str
        What it is called there.
    resume : bool
        Whether to go on with a campaign that is there already.
    command : mapping, optional
        What a command was given, to be found again by :func:`kept_command`.

    Raises
    ------
    Conflict
        The store has a campaign of this name and ``resume`` is not set, or has one about other
        items.
    UnknownName
        ``resume`` is set, and there is none.
    """

    def __init__(
        self,
        order: LabelOrder,
        store: str | Store = "memory",
        *,
        name: str = NAME,
        resume: bool = False,
        command: dict[str, Any] | None = None,
    ) -> None:
        self.order = order
        self.store = open_store(store)
        self.name = name
        self.campaign = self._resumed() if resume else self._created(command)

    @property
    def forecast(self) -> CostForecast:
        """What it is likely to cost."""
        return forecast(self.order)

    def raise_budget(self) -> None:
        """Add what the order's budget is above the campaign's; a lower one is refused."""
        if self.order.budget is None:
            return
        wanted, budget = to_micro(self.order.budget, "budget"), self.campaign.status().budget
        if budget is None or wanted == to_micro(budget, "budget"):
            return
        more = wanted - to_micro(budget, "budget")
        if more < 0:
            raise Conflict(
                f"budget is {self.order.budget}, but the campaign was given {budget} already: give "
                "as much or more",
                field="budget",
            )
        self.campaign.top_up(from_micro(more), key=f"budget:{wanted}")

    def run(
        self,
        *,
        watch: Watch | None = None,
        wait: bool = False,
        grace: float = 30.0,
        pilot_only: bool = False,
    ) -> LabelResult:
        """Ask until there is nobody more to ask, or until Ctrl-C.

        Parameters
        ----------
        watch : callable
            Told a :class:`LabelProgress` now and then.
        wait : bool
            Whether to go on while only people, who are not called, can answer.
        grace : float
            Seconds for calls that are under way when it is stopped.
        pilot_only : bool
            Whether to stop when the pilot is over.
        """
        for item, option in self.order.items.truths.items():
            # Told before, the same truth changes nothing.
            self.campaign.truth(item, option)
        found = run(
            self.campaign,
            self.order.sources,
            watch=None if watch is None else _Throttled(self, watch),
            wait=wait,
            grace=grace,
        )
        return self.result(found.end)

    def result(self, end: Done | Wait | None = None) -> LabelResult:
        """What has come of it so far."""
        return LabelResult(self.campaign, self.order.items, end)

    def progress(self, in_flight: int = 0) -> LabelProgress:
        """How far it is."""
        with self.campaign.reading() as state:
            ledger = state.ledger
            total = ledger.total
            tasks = ledger.book.tasks[: total(c.TASKS)]
            labelled = int(((tasks[:, c.TASK_ANSWERED] > 0) | (tasks[:, c.TRUTH] >= 0)).sum())
            budget, spent = ledger.budget, total(c.SPENT)
            audits = state.certification
            certified = 0
            phase: Phase = "labelling"
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
            )

    def _created(self, command: dict[str, Any] | None) -> Campaign:
        if self.name in self.store.names():
            raise Conflict(
                f"campaign {self.name!r} is there already: resume it, or choose another name or "
                "store",
                field="resume",
                reason="campaign_exists",
            )
        before = self.store.record(RECORD, self.name)
        body = json.dumps({"items": self.order.items.digest(), "command": command})
        # First, so that there is no campaign without it. A record without a campaign is of one
        # that was refused or never begun, and gives way.
        self.store.change(
            [Change(RECORD, self.name, None if before is None else before.body, body)]
        )
        return Campaign.create(store=self.store, name=self.name, **self.order.campaign_fields())

    def _resumed(self) -> Campaign:
        kept = _record(self.store, self.name)
        if kept is None:
            raise UnknownName(
                f"there is no job {self.name!r} to resume: begin one without resume",
                field="resume",
                reason="unknown_campaign",
            )
        if kept["items"] != self.order.items.digest():
            raise Conflict(
                f"{self.order.items.source} has other items than the campaign {self.name!r} was "
                "begun with: restore them, or begin another campaign",
                field="items",
            )
        if self.name not in self.store.names():
            return self._created(kept["command"])
        return Campaign.open(self.store, self.name)


class _Throttled:
    """Tells how far a job is, but not more often than somebody looks."""

    def __init__(self, job: LabelJob, watch: Watch) -> None:
        self._job, self._watch = job, watch
        self._next = 0.0

    def __call__(self, progress: RunProgress) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + EVERY
            self._watch(self._job.progress(progress.in_flight))


def kept_command(store: Store, name: str = NAME) -> dict[str, Any] | None:
    """What the command was given that began a job; None if there is no such job."""
    kept = _record(store, name)
    return None if kept is None else kept["command"]


def _record(store: Store, name: str) -> dict[str, Any] | None:
    found = store.record(RECORD, name)
    return None if found is None else json.loads(found.body)
