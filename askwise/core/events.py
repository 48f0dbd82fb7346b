"""Events: the facts of a campaign, in the order in which they happened."""

from __future__ import annotations

from dataclasses import dataclass, fields
from decimal import Decimal
from enum import IntEnum
from typing import Any, NamedTuple

from askwise.core.labels import RestsOn
from askwise.core.money import from_micro, to_micro


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

    def to_json(self) -> list[Any]:
        """As a JSON list: compact, as a plan may be long."""
        return [self.task, self.worker, self.count, self.propensity]


MONEY = ("price", "cost")
"""The fields of an event that are money: micro-units, a string in JSON."""


@dataclass(frozen=True, slots=True)
class Event:
    """One fact. Which fields are set depends on the kind; see ``docs/reference/json.md``.

    ``price`` is the money that the event moves: of an ANSWER or FAILED what was booked. ``cost`` is
    what the call was said to have cost; ``over_ceiling`` marks one above the price it was asked at.
    """

    kind: Kind
    seq: int = 0
    time: float = 0.0
    key: str | None = None
    decision: int | None = None
    assignment: int | None = None
    task: str | None = None
    worker: str | None = None
    value: float | str | None = None
    propensity: float | None = None
    price: int | None = None
    expires: float | None = None
    note: str | None = None
    outcome: str | None = None
    confidence: float | None = None
    rests_on: RestsOn | None = None
    rows: tuple[PlanRow, ...] | None = None
    available: tuple[str, ...] | None = None
    tasks: tuple[dict[str, Any], ...] | None = None
    workers: tuple[dict[str, Any], ...] | None = None
    draw: dict[str, Any] | None = None
    cost: int | None = None
    over_ceiling: bool | None = None
    why: str | None = None
    probabilities: dict[str, float] | None = None
    rationale: str | None = None
    reference: str | None = None

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


_FIELDS = tuple(field.name for field in fields(Event))
