"""Reading what is new in the logs and making deliveries of it: the log is the outbox.

Each hook has a cursor for each campaign. It moves in the same change of records that makes the
deliveries of what it moves over: none is missed or made twice, whatever crashes and however many
processes look at once. All is derived from the log, so that it does not matter who looks or when,
but for the end of a campaign, which is not an event: it is looked for when the log has moved.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from askwise.campaign.views import assignment_id, over
from askwise.core.errors import AskwiseError, StoreError
from askwise.core.events import Event, Kind
from askwise.core.labels import as_label
from askwise.core.money import NO_CAP, from_micro
from askwise.ledger import Ledger
from askwise.ledger import columns as c
from askwise.ledger.entries import REVISES
from askwise.service.open_campaigns import OpenCampaigns
from askwise.service.webhooks import records as r
from askwise.service.webhooks.webhooks import Webhooks
from askwise.store import Change

log = logging.getLogger("askwise.service")

SHARE = 80
"""Per cent of a budget whose use is told."""

MOST_WAITING = 1000
"""With this many deliveries waiting, a hook's cursor stays where it is until some are settled."""

CHUNK = 500
"""Events read at a time."""

LAZY = 256
"""Events over which a cursor moves in memory alone while nothing is to be told."""

REST = 60.0
"""Seconds for which a campaign is left alone whose policy failed."""

RARELY = 20.0
"""A look for the end of a campaign waits this many times as long as the last one took."""


@dataclass(frozen=True)
class Notice:
    """Something to tell those who subscribed."""

    event: r.EventName
    seq: int
    time: float
    data: dict[str, Any]


@dataclass
class BudgetUse:
    """Spent and budgeted at one point of a log, in micro-units."""

    spent: int
    budget: int

    @classmethod
    def of(cls, ledger: Ledger) -> Self:
        """Of now."""
        budget = ledger.budget
        return cls(ledger.spent, NO_CAP if budget is None else budget)

    @property
    def used(self) -> bool:
        """Whether as much is spent as is worth telling."""
        return self.budget != NO_CAP and 100 * self.spent >= SHARE * self.budget

    def take(self, event: Event) -> bool:
        """Go on by an event; tells whether it is the one that used up the share."""
        before = self.used
        self.spent += _paid(event)
        self.budget += _added(event)
        return self.used and not before

    def shown(self) -> dict[str, str | None]:
        """As JSON."""
        return {
            "spent": str(from_micro(self.spent)),
            "budget": None if self.budget == NO_CAP else str(from_micro(self.budget)),
        }


@dataclass
class _Listener:
    """One hook at one campaign."""

    hook: r.Webhook
    id: str
    kept: str | None
    """The cursor as the store has it."""
    cursor: r.Cursor

    def wants(self, event: str) -> bool:
        return event in self.hook.events

    @property
    def unchecked(self) -> bool:
        return self.wants("campaign.done") and self.cursor.checked < self.cursor.seq


class HookWatcher:
    """Makes the deliveries that the logs call for.

    Parameters
    ----------
    timer : callable
        Seconds that only go forward.
    """

    def __init__(
        self, campaigns: OpenCampaigns, hooks: Webhooks, timer: Callable[[], float] = time.monotonic
    ) -> None:
        self._campaigns = campaigns
        self._store = campaigns.store
        self._hooks = hooks
        self._timer = timer
        self._ahead: dict[str, tuple[str | None, r.Cursor]] = {}
        self._next_check: dict[str, float] = {}
        self._resting: dict[str, float] = {}

    def look(self, hooks: Sequence[r.Webhook] | None = None) -> int:
        """Look at every campaign that ``hooks`` are told of; tells how many deliveries it made.

        All hooks by default.
        """
        hooks = self._hooks.active() if hooks is None else hooks
        known = {hook.id for hook in hooks}
        for id in [id for id in self._ahead if id.partition("/")[0] not in known]:
            del self._ahead[id]
        kept = {record.id: record.body for record in self._store.records(r.CURSOR)}
        names = {hook.campaign for hook in hooks if hook.campaign is not None}
        if any(hook.campaign is None for hook in hooks):
            names.update(self._store.names())
        made = 0
        for name in sorted(names):
            if self._timer() < self._resting.get(name, 0.0):
                continue
            listeners = [self._listener(hook, name, kept) for hook in hooks if hook.hears(name)]
            try:
                made += self._look_at(name, listeners)
            except Exception as error:
                # Others are told none the later for it.
                if not isinstance(error, StoreError):
                    self._resting[name] = self._timer() + REST
                fields = {"campaign": name, "message": str(error)}
                ours = isinstance(error, AskwiseError)
                log.warning("hooks", exc_info=not ours, extra={"fields": fields})
        return made

    def _listener(self, hook: r.Webhook, name: str, kept: dict[str, str]) -> _Listener:
        id = f"{hook.id}/{name}"
        body = kept.get(id)
        known, cursor = self._ahead.get(id, (None, None))
        if cursor is None or known != body:
            cursor = r.Cursor.read(body)
        return _Listener(hook, id, body, cursor)

    def _look_at(self, name: str, listeners: Sequence[_Listener]) -> int:
        position = self._store.position(name)
        for listener in listeners:
            if listener.cursor.seq > position:
                # The log was restored from a backup, and the cursor was read a moment later.
                back = replace(
                    listener.cursor, seq=position, checked=min(position, listener.cursor.checked)
                )
                self._keep(listener, back, [r.unchanged(listener.hook)])
        behind = [each for each in listeners if each.cursor.seq < position]
        made = self._walk(name, behind, position) if behind else 0
        unchecked = [
            listener
            for listener in listeners
            if listener.unchecked and listener.cursor.seq >= position
        ]
        if unchecked and self._timer() >= self._next_check.get(name, 0.0):
            made += self._check_end(name, unchecked)
        return made

    # Events.

    def _walk(self, name: str, listeners: list[_Listener], end: int) -> int:
        """Take hooks along the log, up to ``end``."""
        at = min(listener.cursor.seq for listener in listeners)
        wanted = {event for listener in listeners for event in listener.hook.events}
        money = self._money_at(name, at) if "budget.used" in wanted else None
        made = 0
        for events in self._chunks(name, at, end):
            notices = [
                notice
                for event in events
                for notice in noticed(name, event, money)
                if notice.event in wanted
            ]
            for listener in list(listeners):
                told = self._tell_events(listener, events, notices)
                if told is None:
                    listeners.remove(listener)
                else:
                    made += told
            if not listeners:
                break
        return made

    def _tell_events(
        self, listener: _Listener, events: Sequence[Event], notices: Sequence[Notice]
    ) -> int | None:
        """Take a hook over a chunk; None if it can't go on now."""
        start = listener.cursor.seq
        new = [event for event in events if event.seq > start]
        if not new:
            return 0
        mine = [each for each in notices if each.seq > start and listener.wants(each.event)]
        if mine and self._hooks.waiting(listener.hook.id, MOST_WAITING) >= MOST_WAITING:
            return None
        # Who is asked again was not done in between, whether or not somebody looked.
        went_on = any(event.kind == Kind.ASKED for event in new)
        done = None if went_on else listener.cursor.done
        moved = replace(listener.cursor, seq=new[-1].seq, done=done)
        return len(mine) if self._advance(listener, moved, mine) else None

    def _advance(self, listener: _Listener, cursor: r.Cursor, notices: Sequence[Notice]) -> bool:
        """Move a hook's cursor and make its deliveries; False if another process was first."""
        campaign = listener.id.partition("/")[2]
        kept = r.Cursor.read(listener.kept)
        idle = not notices and cursor.done == kept.done and cursor.seq - kept.seq < LAZY
        if idle:
            # Derived from the log, it is derived again should this process end.
            listener.cursor = cursor
            self._ahead[listener.id] = listener.kept, cursor
            return True
        changes = [r.unchanged(listener.hook)]
        made = cursor.made
        for notice in notices:
            made = max(int(self._hooks.clock() * 1e6), made + 1)
            about = {"seq": notice.seq, "time": notice.time, "data": notice.data}
            unique = f"{notice.event}/{notice.seq}/{campaign}"
            told = r.make_delivery(listener.hook, notice.event, campaign, about, made, unique)
            changes.append(r.creation(told))
        return self._keep(listener, replace(cursor, made=made), changes)

    def _keep(self, listener: _Listener, cursor: r.Cursor, changes: list[Change]) -> bool:
        """Write a hook's cursor, with what goes with it."""
        self._ahead.pop(listener.id, None)
        moved = Change(r.CURSOR, listener.id, listener.kept, cursor.body)
        if not self._store.change([*changes, moved]):
            return False
        listener.cursor, listener.kept = cursor, cursor.body
        return True

    def _money_at(self, name: str, seq: int) -> BudgetUse:
        """Spent and budgeted at a point of the log: of now, less what happened since."""
        with self._campaigns.get(name).reading() as state:
            now, ledger = state.seq, state.ledger
            money = BudgetUse.of(ledger)
        for events in self._chunks(name, seq, now):
            money.spent -= sum(map(_paid, events))
            money.budget -= sum(map(_added, events))
        return money

    def _chunks(self, name: str, after: int, upto: int) -> Iterator[list[Event]]:
        while after < upto:
            events = self._store.read(name, after, min(upto, after + CHUNK))
            yield events
            after = events[-1].seq

    # The end.

    def _check_end(self, name: str, listeners: Sequence[_Listener]) -> int:
        """Look whether a campaign is done; the policy is asked, so not too often."""
        begun = self._timer()
        try:
            with self._campaigns.get(name).reading() as state:
                seq, end = state.seq, over(state)
                ledger = state.ledger
                money = BudgetUse.of(ledger)
                answers = ledger.total(c.ANSWERS)
        finally:
            took = self._timer() - begun
            self._next_check[name] = begun + max(1.0, RARELY * took)
        why = None if end is None else end.why
        data = {"why": why, "answers": answers, **money.shown()}
        made = 0
        for listener in listeners:
            if listener.cursor.seq != seq:
                continue
            notices = []
            if why is not None and why != listener.cursor.done:
                notices.append(Notice("campaign.done", seq, self._hooks.clock(), data))
            moved = replace(listener.cursor, checked=seq, done=why)
            if self._advance(listener, moved, notices):
                made += len(notices)
        return made


def noticed(campaign: str, event: Event, money: BudgetUse | None) -> Iterator[Notice]:
    """What an event of the log gives to tell; goes on with ``money``, if somebody counts it."""
    if event.kind == Kind.ANSWER:
        assert event.assignment is not None
        data = {
            "assignment": assignment_id(campaign, event.assignment),
            "task": event.task,
            "worker": event.worker,
            "value": event.value,
            "price": str(from_micro(_paid(event))),
        }
        yield Notice("answer.settled", event.seq, event.time, data)
    if event.kind in REVISES:
        assert event.assignment is not None
        names = ("task", "worker", "value", "why", "by")
        data = {name: getattr(event, name) for name in names}
        data["assignment"] = assignment_id(campaign, event.assignment)
        yield Notice("answer.revised", event.seq, event.time, data)
    if event.kind == Kind.CLOSED:
        told = ("task", "value", "outcome", "confidence")
        data = {name: getattr(event, name) for name in told}
        data["rests_on"] = as_label((None, event.confidence, event.rests_on)).rests_on
        yield Notice("task.closed", event.seq, event.time, data)
    if money is not None and money.take(event):
        data = {"percent": SHARE, **money.shown()}
        yield Notice("budget.used", event.seq, event.time, data)


def _paid(event: Event) -> int:
    return (event.price or 0) if event.kind in (Kind.ANSWER, Kind.FAILED, Kind.BONUS) else 0


def _added(event: Event) -> int:
    return (event.price or 0) if event.kind == Kind.TOPPED_UP else 0
