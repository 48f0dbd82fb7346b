"""Events: the facts of a campaign, in the order in which they happened."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, make_dataclass
from decimal import Decimal
from enum import IntEnum
from typing import Annotated, Any, ClassVar, NamedTuple

from askwise.core.calls import LONGEST_RATIONALE, LONGEST_REFERENCE, LONGEST_REMARK
from askwise.core.json_types import (
    MONEY_SCHEMA,
    Chance,
    Count,
    Day,
    Id,
    JsonLimits,
    Positive,
    Share,
)
from askwise.core.labels import RestsOn
from askwise.core.money import from_micro, to_micro

PlannedRow = tuple[Id | None, Id, Positive, Chance | None]
"""A line of a decision in JSON: a task, a worker, how often they are asked, the propensity."""

Written = Annotated[int | None, MONEY_SCHEMA]
"""Money in micro-units, written as a string."""

HANDED_OVER = "handed over"
"""The note of a decision by which a question goes from the worker it was put to to another."""


class Kind(IntEnum):
    """What happened."""

    DECIDED = 1
    ASKED = 2
    ANSWER = 3
    TRUTH = 4
    EXPIRED = 5
    DECLINED = 6
    CLOSED = 7
    ADDED = 8
    JOINED = 9
    LEFT = 10
    BID = 11
    QUOTED = 12
    PAID = 13
    TOPPED_UP = 14
    PAUSED = 15
    RESUMED = 16
    STOPPED = 17
    DRAWN = 18
    FAILED = 19
    RENEWED = 20
    LABELLED = 21
    FLAGGED = 22
    COMMENTED = 23
    BONUS = 24
    WARNED = 25
    SUSPENDED = 26
    REINSTATED = 27
    QUALIFIED = 28
    ARCHIVED = 30
    UNARCHIVED = 31
    RETITLED = 32
    RENAMED = 33
    REVISED = 34
    WITHDRAWN = 35


class Fact(NamedTuple):
    """An event as kernels see it: numbers only, tasks and workers by index (-1: none).

    ``note``: of a DECIDED which of the policy's notes, of a CLOSED whether it is confident. A
    FAILED is a DECLINED to them: the pair is closed without a vote, and the ledger has its cost.
    """

    kind: int
    task: int
    worker: int
    value: float
    note: int
    assignment: int


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One line of a decision: ask ``worker`` about ``task``, ``count`` times.

    ``task`` is None where the policy leaves the task to the campaign (the open one that was
    asked least, then the first); ``propensity`` is None where it has no closed form.
    """

    worker: str
    task: str | None = None
    count: int = 1
    propensity: float | None = None

    json_kind: ClassVar = PlannedRow

    def to_json(self) -> list[Any]:
        """As a JSON list: compact, as a plan may be long."""
        return [self.task, self.worker, self.count, self.propensity]


MONEY = ("price", "cost")
"""The fields of an event that are money: micro-units, a string in JSON."""


@dataclass(frozen=True, slots=True)
class Event:
    """One fact. Which fields are set depends on the kind: :mod:`askwise.core.event_fields` says
    which.

    Attributes
    ----------
    kind : Kind
        What happened.
    seq : int
        The place of the event in the log, from 1.
    time : float
        When it happened, in seconds since 1970.
    key : str or None
        The key of the write that it belongs to, if that had one.
    decision : int or None
        The number of the decision.
    assignment : int or None
        The ``seq`` of the ASKED that it is about.
    task : str or None
        The task; not set where units of work are bought.
    worker : str or None
        The worker.
    value : float or str or None
        An answer: an option, or a number. Of a CLOSED the answer at that moment, not set while
        there is none.
    propensity : float or None
        The probability of this choice; not set where it has no closed form.
    price : Written
        The money that the event moves: of an ASKED what is reserved, of an ANSWER or FAILED what
        was booked (the cost that was said, as far as the budget had room, or else the price of its
        ASKED), of a BID the price asked for, of a DRAWN what is kept back for audits, of a PAID
        what was paid out.
    expires : float or None
        When the lease ends, in seconds since 1970; not set without a lease.
    note : str or None
        What a decision or a draw is for, or what somebody was suspended for, in a word.
    outcome : str or None
        Why a task was closed: the word of the stopping rule, ``closed`` by hand, ``frozen`` for
        an audit, or ``removed`` from the campaign.
    confidence : float or None
        How sure the answer was when the task was closed.
    rests_on : RestsOn or None
        What that confidence is; agreement where it is not said.
    rows : tuple of PlanRow or None
        Whom to ask about what, as decided. Each row holds a task (or null), a worker, how often
        they are asked, and the propensity (or null).
    available : tuple of str or None
        The workers who could be asked when it was decided.
    tasks : tuple of dict of str to Any or None
        The tasks that were added.
    workers : tuple of dict of str to Any or None
        The workers who joined, or whose prices were quoted.
    draw : dict of str to Any or None
        What was drawn, as put on record beforehand.
    cost : Written
        What the call was said to have cost; not set where nothing was said.
    over_ceiling : bool or None
        True if the call cost more than the price that was reserved for it; not set where it did
        not.
    why : str or None
        Why a call gave no answer, why a label was set, why a task can't be answered, why a bonus
        was given, why an answer was withdrawn, or what a worker was warned, suspended, reinstated
        or qualified for.
    probabilities : dict of str to float or None
        How sure the source was, by option; they sum to 1, and options that are not named have 0.
        They are not part of the vote.
    rationale : str or None
        The reasons that the source gave.
    reference : str or None
        Where the reply comes from, such as a model's request id; or the reference of a payout, such
        as the bank's.
    by : str or None
        Who set the label, wrote the comment, paid a worker, gave them a bonus, suspended or
        reinstated them, or changed an answer in place of its worker.
    text : str or None
        The comment, or the title of the campaign.
    on : str or None
        The day on which a worker was paid, as ``2026-11-18``.
    """

    kind: Kind
    seq: Positive = 0
    time: float = 0.0
    key: Id | None = None
    decision: Count | None = None
    assignment: Positive | None = None
    task: Id | None = None
    worker: Id | None = None
    value: float | str | None = None
    propensity: Chance | None = None
    price: Written = None
    expires: float | None = None
    note: str | None = None
    outcome: str | None = None
    confidence: Share | None = None
    rests_on: RestsOn | None = None
    rows: Annotated[tuple[PlanRow, ...] | None, JsonLimits(minItems=1)] = None
    available: tuple[Id, ...] | None = None
    tasks: tuple[dict[str, Any], ...] | None = None
    workers: tuple[dict[str, Any], ...] | None = None
    draw: dict[str, Any] | None = None
    cost: Written = None
    over_ceiling: bool | None = None
    why: str | None = None
    probabilities: dict[str, Share] | None = None
    rationale: Annotated[str | None, JsonLimits(maxLength=LONGEST_RATIONALE)] = None
    reference: Annotated[str | None, JsonLimits(maxLength=LONGEST_REFERENCE)] = None
    by: Id | None = None
    text: Annotated[str | None, JsonLimits(maxLength=LONGEST_REMARK)] = None
    on: Day | None = None

    def said(self) -> dict[str, Any]:
        """What is set, as people read it: the kind by name, money as a Decimal.

        Examples
        --------
        >>> Event(Kind.ASKED, seq=2, worker="ann", price=50_000).said()
        {'kind': 'ASKED', 'seq': 2, 'time': 0.0, 'worker': 'ann', 'price': Decimal('0.05')}
        """
        set_ = {name: getattr(self, name) for name in _FIELDS if getattr(self, name) is not None}
        set_ |= {name: from_micro(set_[name]) for name in MONEY if name in set_}
        return {**set_, "kind": self.kind.name}

    def __repr__(self) -> str:
        shown = (
            f"{name}={value if name == 'kind' else repr(value)}"
            for name, value in self.said().items()
        )
        return f"Event({', '.join(shown)})"

    def to_json(self) -> dict[str, Any]:
        """As JSON: kind by name, money as a string, what is not set left out."""
        raw: dict[str, Any] = {}
        for name in _FIELDS:
            value = getattr(self, name)
            if value is not None:
                raw[name] = value
        raw["kind"] = self.kind.name
        for name in MONEY:
            if name in raw:
                raw[name] = str(from_micro(raw[name]))
        if self.rows is not None:
            raw["rows"] = [row.to_json() for row in self.rows]
        for name in ("available", "tasks", "workers"):
            if name in raw:
                raw[name] = list(raw[name])
        return raw

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Event:
        """Read back what ``to_json`` wrote."""
        read = dict(raw)
        read["kind"] = Kind[read["kind"]]
        for name in MONEY:
            if name in read:
                read[name] = to_micro(Decimal(read[name]), name)
        if "rows" in read:
            read["rows"] = tuple(
                PlanRow(worker, task, count, propensity)
                for task, worker, count, propensity in read["rows"]
            )
        for name in ("available", "tasks", "workers"):
            if name in read:
                read[name] = tuple(read[name])
        return cls(**read)


_FIELDS = tuple(each.name for each in fields(Event))

_Draft: Any = make_dataclass(
    "_Draft",
    [(each.name, each.type, field(default=each.default)) for each in fields(Event)],
    slots=True,
)
"""An event that can be written to."""


def new_event(kind: Kind, seq: int, time: float, key: str | None, **fields: Any) -> Event:
    """As ``Event``, in a third of the time: for the millions that a log is made of.

    What can't be changed afterwards is written through a function, field by field. This writes to
    an object that can be, and then makes that the event: both have the same slots.

    Examples
    --------
    >>> new_event(Kind.LEFT, 7, 0.0, None, worker="ann") == Event(Kind.LEFT, seq=7, worker="ann")
    True
    """
    made: Any = _Draft(kind, seq, time, key, **fields)
    made.__class__ = Event
    event: Event = made
    return event
