"""What can be made of a campaign: plain data, each with its JSON."""

from __future__ import annotations

from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any


class _View:
    """A frozen dataclass that is written as it is."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """As JSON, money as a string."""
        return {
            field.name: _plain(getattr(self, field.name))
            for field in fields(self)  # type: ignore[arg-type]
        }


@dataclass(frozen=True, slots=True)
class Estimate(_View):
    """How good a worker is, with a 95% interval, and what that rests on.

    ``basis`` is ``truth`` (share of right answers to tasks whose truth is known), ``agreement``
    (share of answers that the other workers' vote agrees with) or ``utility`` (mean of his
    answers, in the campaign's range); ``answers`` is how many answers were counted.
    """

    value: float
    low: float
    high: float
    basis: str
    answers: int


@dataclass(frozen=True, slots=True)
class WorkerInsight(_View):
    """One worker: his work, his money, how good he seems.

    ``asked`` counts all that was ever handed to him and is the sum of ``answered``, ``out``,
    ``expired`` and ``declined``. ``price`` is None while sealed bids are taken. ``share`` is of
    all answers. ``agreement`` is the share of his answers that are the task's present answer,
    among tasks that somebody else answered too; None where there is none, and for utilities.
    """

    id: str
    joined: bool
    trusted: bool
    price: Decimal | None
    limit: int | None
    asked: int
    answered: int
    out: int
    expired: int
    declined: int
    paid: Decimal
    share: float
    agreement: float | None
    quality: Estimate | None


@dataclass(frozen=True, slots=True)
class Contested(_View):
    """A task and its votes; ``lead`` is by how many the first option leads the second."""

    task: str
    value: str | None
    confidence: float | None
    outcome: str
    answers: int
    lead: int
    votes: dict[str, int]
    truth: str | None


@dataclass(frozen=True, slots=True)
class OutcomeCount(_View):
    """The tasks of one outcome: all, those nobody has answered, the rest by confidence.

    ``unknown`` counts answered tasks without a confidence.
    """

    outcome: str
    tasks: int
    unanswered: int
    unknown: int
    bins: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outcomes(_View):
    """Tasks by outcome and confidence. A bin holds its lower edge, and the last also its upper."""

    edges: tuple[float, ...]
    counts: tuple[OutcomeCount, ...]


@dataclass(frozen=True, slots=True)
class Savings(_View):
    """What the tasks settled so far cost, and what a fixed number of answers each would have.

    ``saved`` below 0 says that the fixed number would have been cheaper; ``share`` is of the
    fixed cost. ``why`` says which tasks are counted and where the fixed number comes from.
    """

    fixed: int
    tasks: int
    answers: int
    price: Decimal
    cost: Decimal
    fixed_cost: Decimal
    saved: Decimal
    share: float | None
    why: str


@dataclass(frozen=True, slots=True)
class Forecast(_View):
    """When a campaign ends if it goes on as of late. Times in seconds, as in the log.

    ``since`` is where the window begins that the pace is taken from, ``answers`` how many came
    in it. ``money_ends`` and ``work_ends`` are when the budget is used up and when there is
    nothing more to ask, None where that is not in sight; ``ends`` is the sooner of them, ``why``
    says which (``money`` or ``work``), and ``spent`` is what will be spent by then.
    """

    now: float
    since: float
    answers: int
    answers_an_hour: float
    spent_an_hour: Decimal
    money_ends: float | None
    work_ends: float | None
    ends: float | None
    why: str | None
    spent: Decimal | None
    assumes: str


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value.to_json() if isinstance(value, _View) else value
