"""What is owed to whom, what was paid out, and what was given as a bonus."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Self

from askwise.campaign.state import CampaignState
from askwise.core.calls import LONGEST_REFERENCE, LONGEST_REMARK
from askwise.core.events import Event
from askwise.core.json_types import Count, Day, Id, JsonLimits, Positive
from askwise.core.jsonable import Jsonable
from askwise.core.money import from_micro
from askwise.ledger import columns as c


@dataclass(frozen=True, slots=True)
class Payment(Jsonable):
    """What a worker has earned, what of it was paid out, what is reserved for them, and why.

    Attributes
    ----------
    worker : str
        The worker.
    answers : int
        The number of their answers that were paid.
    paid : Decimal
        What their calls were settled at, failures included.
    reserved : Decimal
        What is reserved for the assignments they have out.
    why : str
        How the amount comes about, in words.
    failures : int
        Calls that gave no answer, and answers that were withdrawn; what they cost is in ``paid``.
    bonus : Decimal
        What they were given as bonuses, apart from their calls.
    earned : Decimal
        ``paid`` and ``bonus`` together.
    paid_out : Decimal
        What was marked as paid to them.
    owed : Decimal
        What they have earned and was not paid out; never below 0.
    overpaid : Decimal
        What was paid out beyond what they have earned: 0 unless a mechanism has lowered that.
    answers_since : int
        Their answers since the last payout; all of them before the first.
    last_paid : str or None
        The last day on which they were paid; None before the first payout.
    currency : str
        What the money is in, as the campaign's content says; empty where it does not.
    """

    worker: Id
    answers: Count
    paid: Decimal
    reserved: Decimal
    why: str
    failures: Count = 0
    bonus: Decimal = Decimal(0)
    earned: Decimal = Decimal(0)
    paid_out: Decimal = Decimal(0)
    owed: Decimal = Decimal(0)
    overpaid: Decimal = Decimal(0)
    answers_since: Count = 0
    last_paid: Day | None = None
    currency: str = ""


@dataclass(frozen=True, slots=True)
class Payout(Jsonable):
    """A worker was paid.

    Attributes
    ----------
    seq : int
        The number of the event.
    time : float
        When it was noted, in seconds since 1970.
    worker : str
        The worker.
    amount : Decimal
        What they were paid.
    currency : str
        What the money is in, as the campaign's content says; empty where it does not.
    on : str
        The day on which they were paid.
    reference : str or None
        What the payment is known by, such as the bank's reference.
    by : str
        Who marked it as paid.
    """

    seq: Positive
    time: float
    worker: Id
    amount: Decimal
    currency: str
    on: Day
    reference: Annotated[str, JsonLimits(maxLength=LONGEST_REFERENCE)] | None
    by: Id

    @classmethod
    def of(cls, event: Event, currency: str) -> Self:
        """The payout that a PAID is about."""
        worker, amount = event.worker or "", from_micro(event.price or 0)
        said = (event.on or "", event.reference, event.by or "")
        return cls(event.seq, event.time, worker, amount, currency, *said)


@dataclass(frozen=True, slots=True)
class Bonus(Jsonable):
    """A worker was given money apart from what their answers are paid.

    Attributes
    ----------
    seq : int
        The number of the event.
    time : float
        When it was given, in seconds since 1970.
    worker : str
        The worker.
    amount : Decimal
        What they were given.
    currency : str
        What the money is in, as the campaign's content says; empty where it does not.
    why : str
        The reason, as the worker reads it.
    by : str
        Who gave it.
    """

    seq: Positive
    time: float
    worker: Id
    amount: Decimal
    currency: str
    why: Annotated[str, JsonLimits(maxLength=LONGEST_REMARK)]
    by: Id

    @classmethod
    def of(cls, event: Event, currency: str) -> Self:
        """The bonus that a BONUS is about."""
        worker, amount = event.worker or "", from_micro(event.price or 0)
        return cls(event.seq, event.time, worker, amount, currency, event.why or "", event.by or "")


@dataclass(frozen=True, slots=True)
class DuePayout(Jsonable):
    """What is to be paid to a worker who is owed something.

    Attributes
    ----------
    worker : str
        The worker.
    owed : Decimal
        What they have earned and was not paid out.
    currency : str
        What the money is in, as the campaign's content says; empty where it does not.
    answers : int
        Their answers since the last payout; all of them before the first.
    since : str
        The last day on which they were paid; before the first payout, when the campaign began.
    until : str
        The day up to which it is counted: today.
    """

    worker: Id
    owed: Decimal
    currency: str
    answers: Count
    since: Day
    until: Day


def currency_of(state: CampaignState) -> str:
    """What the money of a campaign is in; empty if nobody has said."""
    return "" if state.spec.content is None else state.spec.content.currency


def day_of(time: float) -> str:
    """The day of a moment, in UTC.

    Examples
    --------
    >>> day_of(0.0)
    '1970-01-01'
    """
    return datetime.fromtimestamp(time, UTC).date().isoformat()


def earned_by(state: CampaignState, worker: int) -> int:
    """What a worker has earned, by the mechanism and as bonuses, in micro-units."""
    earned = state.spec.mechanism.earned(state.spec.problem, state.ledger, worker)
    return earned + int(state.ledger.book.workers[worker, c.BONUS])


def balances(state: CampaignState) -> list[int]:
    """What each worker has earned less what they were paid, in micro-units."""
    rows = state.ledger.book.workers[: len(state.ledger.workers)]
    apart = (rows[:, c.BONUS] - rows[:, c.PAID_OUT]).tolist()
    settled = state.spec.mechanism.settle(state.spec.problem, state.ledger)
    return [each.paid + more for each, more in zip(settled, apart, strict=True)]


def payments(state: CampaignState) -> list[Payment]:
    """What each worker has earned, by the mechanism and as bonuses, and what is owed of it."""
    ledger, currency = state.ledger, currency_of(state)
    columns = (c.BONUS, c.PAID_OUT, c.PAID_UP_TO)
    given = ledger.book.workers[: len(ledger.workers), columns].tolist()
    settled = state.spec.mechanism.settle(state.spec.problem, ledger)
    found = []
    for at, (each, (bonus, paid_out, up_to)) in enumerate(zip(settled, given, strict=True)):
        earned = each.paid + bonus
        found.append(
            Payment(
                each.worker,
                each.answers,
                from_micro(each.paid),
                from_micro(each.reserved),
                each.why,
                each.failures,
                bonus=from_micro(bonus),
                earned=from_micro(earned),
                paid_out=from_micro(paid_out),
                owed=from_micro(max(0, earned - paid_out)),
                overpaid=from_micro(max(0, paid_out - earned)),
                answers_since=each.answers - up_to,
                last_paid=ledger.given.last_paid.get(at),
                currency=currency,
            )
        )
    return found


def due(found: Iterable[Payment], began: str, today: str) -> list[DuePayout]:
    """What is to be paid to those who are owed something."""
    return [
        DuePayout(
            each.worker,
            each.owed,
            each.currency,
            each.answers_since,
            each.last_paid or began,
            today,
        )
        for each in found
        if each.owed
    ]


def seqs_of(by_worker: dict[int, list[int]], worker: int | None) -> list[int]:
    """The events of one worker, or of all, in the order of the log."""
    if worker is None:
        return sorted(seq for seqs in by_worker.values() for seq in seqs)
    return list(by_worker.get(worker, ()))
