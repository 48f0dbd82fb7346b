"""One write to a campaign: the events that it makes, and what all verbs do alike."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from askwise.campaign.loading import Loaded
from askwise.campaign.refusals import conflict
from askwise.campaign.state import CampaignState
from askwise.campaign.views import assignments as handed
from askwise.core.choices import Assignment
from askwise.core.events import Event, Kind, new_event
from askwise.core.labels import Label, as_label
from askwise.ledger import Ledger
from askwise.ledger import columns as c
from askwise.stopping.base import Verdict

Refold = Callable[[Sequence[Event], list[Loaded]], CampaignState]
"""Takes the events of a write, the last of which changes an answer, and what was prepared."""


class Write:
    """One write on a state that is up to date: emits events and folds them."""

    def __init__(self, name: str, state: CampaignState, now: float, key: str | None) -> None:
        self.name = name
        self.state = state
        self.now = now
        self.key = key
        self.lease = state.spec.lease
        """Seconds until what is handed out in this write is released; None: it is not."""
        self.events: list[Event] = []
        self.refold: Refold | None = None
        """Folds the log again with a change of an answer; only a writer, who has the log, can."""

    @property
    def ledger(self) -> Ledger:
        """The state's ledger."""
        return self.state.ledger

    def emit(self, kind: Kind, **fields: Any) -> Event:
        """Make an event the next of the log, and fold it."""
        self._refuse_archived(kind)
        event = self._next(kind, **fields)
        self.state.fold(event)
        self.events.append(event)
        return event

    def emit_change(self, kind: Kind, prepared: list[Loaded], **fields: Any) -> Event:
        """Make a change of an answer the next event of the log, and fold the log again."""
        assert self.refold is not None, "only a writer can fold the log again"
        self._refuse_archived(kind)
        event = self._next(kind, **fields)
        self.state.become(self.refold([*self.events, event], prepared))
        self.events.append(event)
        return event

    def _refuse_archived(self, kind: Kind) -> None:
        if self.ledger.archived and kind != Kind.UNARCHIVED:
            message = f"campaign {self.name!r} is archived: unarchive it before you change it"
            raise conflict("campaign_archived", "name", message)

    def _next(self, kind: Kind, **fields: Any) -> Event:
        return new_event(kind, self.state.seq + 1, self.now, self.key, **fields)

    def hand_out(self, row: int, task: int) -> Assignment:
        """Hand out one unit of a row of the current decision."""
        ledger = self.ledger
        worker = int(ledger.book.plan[row, c.PLAN_WORKER])
        chance = float(ledger.book.odds[row])
        self.emit(
            Kind.ASKED,
            decision=ledger.total(c.DECISIONS) - 1,
            task=ledger.task_id(task),
            worker=ledger.workers[worker].id,
            price=int(ledger.book.workers[worker, c.PRICE]),
            propensity=None if math.isnan(chance) else chance,
            expires=None if self.lease is None else self.now + self.lease,
        )
        return handed.assignment_at(self.name, ledger, ledger.total(c.ASSIGNMENTS) - 1)

    def close_by(self, task: int, verdict: Verdict | None) -> None:
        """Close a task if its rule says so."""
        if verdict is not None:
            label = as_label((verdict.option, verdict.confidence))
            self.close_ruled(task, label, verdict.outcome)

    def close_ruled(self, task: int, label: Label, outcome: str) -> None:
        """Close a task as its rule says."""
        # Without an option of the rule's the answer stays as it is at this moment.
        self.close_with(task, self.state.label(task) if label.value is None else label, outcome)

    def close_with(self, task: int, label: Label, outcome: str) -> None:
        """Close a task; what is answered later changes nothing about its answer."""
        self.emit(
            Kind.CLOSED,
            task=self.ledger.task_id(task),
            value=self.state.named(label.value),
            outcome=outcome,
            confidence=label.confidence,
            # As in every log so far, a confidence of which nothing is said rests on agreement.
            rests_on=None if label.rests_on == "agreement" else label.rests_on,
        )
