"""What a campaign shows of itself: plain data, each with its JSON."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from askwise.core.choices import Assignment


@dataclass(frozen=True, slots=True)
class NeedsGold:
    """A context in which answers alone can't tell who is right, and tasks whose truth would."""

    context: str | None
    tasks: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {"context": self.context, "tasks": list(self.tasks)}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> NeedsGold:
        """Read back what ``to_json`` wrote."""
        return cls(raw["context"], tuple(raw["tasks"]))


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

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Status:
        """Read back what ``to_json`` wrote."""
        read = _with_money(raw, "budget", "spent", "reserved", "left")
        read["needs_gold"] = tuple(NeedsGold.from_json(each) for each in raw["needs_gold"])
        return cls(**read)


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

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Answer:
        """Read back what ``to_json`` wrote."""
        return cls(**raw)


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

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Payment:
        """Read back what ``to_json`` wrote."""
        return cls(**_with_money(raw, "paid", "reserved"))


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

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Explanation:
        """Read back what ``to_json`` wrote."""
        read = _with_money(raw, "price", "budget_left")
        read["rows"] = tuple(tuple(row) for row in raw["rows"])
        read["candidates"] = tuple(Candidate(**each) for each in raw["candidates"])
        return cls(**read)


@dataclass(frozen=True, slots=True)
class Handed:
    """An assignment and what has become of it: ``out``, ``answered``, ``expired``, ``declined``.

    ``value`` is the answer, once there is one.
    """

    assignment: Assignment
    state: str
    value: str | float | None

    def to_json(self) -> dict[str, Any]:
        """As JSON, money as a string."""
        return {**self.assignment.to_json(), "state": self.state, "value": self.value}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Handed:
        """Read back what ``to_json`` wrote, and the payload where a service has added it."""
        return cls(Assignment.from_json(raw), raw["state"], raw["value"])


def _plain(view: Any) -> dict[str, Any]:
    raw: dict[str, Any] = {}
    for name in view.__slots__:
        value = getattr(view, name)
        raw[name] = str(value) if isinstance(value, Decimal) else value
    return raw


def _with_money(raw: dict[str, Any], *names: str) -> dict[str, Any]:
    money = {name: None if raw[name] is None else Decimal(raw[name]) for name in names}
    return {**raw, **money}
