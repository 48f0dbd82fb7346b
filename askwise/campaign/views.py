"""What a campaign shows of itself: plain data, each with its JSON."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True)
class NeedsGold:
    """A context in which answers alone can't tell who is right, and tasks whose truth would."""

    context: str | None
    tasks: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {"context": self.context, "tasks": list(self.tasks)}


@dataclass(frozen=True, slots=True)
class Status:
    """A campaign at a glance. Money in whole units; ``budget`` and ``left`` None without a cap."""

    name: str
    state: str
    policy: str
    budget: Decimal | None
    spent: Decimal
    reserved: Decimal
    left: Decimal | None
    workers: int
    tasks: int
    open_tasks: int
    decisions: int
    answers: int
    pending: int
    utility: float | None
    seq: int
    needs_gold: tuple[NeedsGold, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As JSON, money as a string."""
        return {**_plain(self), "needs_gold": [each.to_json() for each in self.needs_gold]}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the campaign says about a task so far.

    ``value`` is an option, or the mean utility; None while there is no answer. ``outcome`` is
    ``open`` or, once closed, the stopping rule's word (``closed`` when closed by hand); under a
    policy that assures an accuracy also ``assured``, ``everyone_asked``, ``not_assured`` or
    ``target_not_reachable``. ``assured_error`` is then the probability of a wrong answer at the
    lower bounds of the qualities of those who answered, by the policy's error function, and
    ``majority_error`` the same by the exact error of the majority; None elsewhere.
    """

    task: str | None
    value: str | float | None
    confidence: float | None
    outcome: str
    count: int
    assured_error: float | None = None
    majority_error: float | None = None

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return _plain(self)


@dataclass(frozen=True, slots=True)
class Payment:
    """What a worker has earned, what is reserved for work he has out, and why."""

    worker: str
    answers: int
    paid: Decimal
    reserved: Decimal
    why: str

    def to_json(self) -> dict[str, Any]:
        """As JSON, money as a string."""
        return _plain(self)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One worker as the policy saw him. ``index`` is what it ranks by, where it does."""

    worker: str
    available: bool
    room: int | None
    index: float | None
    details: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an assignment was made, recomputed from the log.

    ``reproduced`` tells that choosing again, at the same place of the log with the same
    draws, gave the same decision.
    """

    assignment: str
    task: str | None
    worker: str
    price: Decimal
    propensity: float | None
    decision: int
    purpose: str
    policy: str
    rule: str
    budget_left: Decimal | None
    rows: tuple[tuple[str | None, str, int, float | None], ...]
    candidates: tuple[Candidate, ...]
    reproduced: bool

    def to_json(self) -> dict[str, Any]:
        """As JSON, money as a string."""
        raw = _plain(self)
        raw["rows"] = [list(row) for row in self.rows]
        raw["candidates"] = [_plain(candidate) for candidate in self.candidates]
        return raw


def _plain(view: Any) -> dict[str, Any]:
    raw: dict[str, Any] = {}
    for name in view.__slots__:
        value = getattr(view, name)
        raw[name] = str(value) if isinstance(value, Decimal) else value
    return raw
