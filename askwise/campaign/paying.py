"""Money out: payouts of what is owed, and bonuses. Emits their events."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from askwise.campaign.refusals import conflict
from askwise.campaign.views.payments import Payout, balances, currency_of, day_of
from askwise.campaign.write import Write
from askwise.core.errors import InvalidAnswer, InvalidProblem, OverBudget
from askwise.core.events import Kind
from askwise.core.money import from_micro
from askwise.ledger import columns as c

_DAY = timedelta(days=1)


def check_day(on: object) -> str:
    """Check a day: a date, or its text.

    Examples
    --------
    >>> check_day("2026-11-18"), check_day(date(2026, 11, 18))
    ('2026-11-18', '2026-11-18')
    """
    if isinstance(on, date):
        return (on.date() if isinstance(on, datetime) else on).isoformat()
    try:
        if isinstance(on, str) and date.fromisoformat(on).isoformat() == on:
            return on
    except ValueError:
        pass
    raise _bad_day(f"on is {on!r}: give the day as 2026-11-18")


def pay(
    write: Write,
    amounts: Sequence[tuple[str, int | None]] | None,
    by: str,
    reference: str | None = None,
    on: str | None = None,
) -> list[Payout]:
    """Note that workers were paid, all of them or none.

    ``amounts`` says who and how much in micro-units, None for all that they are owed; without,
    everybody who is owed something is paid that.
    """
    state, ledger = write.state, write.ledger
    today = date.fromisoformat(day_of(write.now))
    day = today if on is None else date.fromisoformat(on)
    # Where the requester is, tomorrow may have begun.
    if day > today + _DAY:
        raise _bad_day(f"on is {day}, which is still to come: give the day on which it was paid")
    owed = balances(state)
    if amounts is None:
        paid = [(ledger.workers[at].id, left) for at, left in enumerate(owed) if left > 0]
        if not paid:
            raise conflict("not_owed", "amounts", "nobody is owed anything")
    else:
        paid = [
            (worker, _due(write, worker, owed[ledger.worker_at(worker)], amount))
            for worker, amount in amounts
        ]
    fields = {"by": by, "reference": reference, "on": day.isoformat()}
    events = [
        write.emit(Kind.PAID, worker=worker, price=amount, **fields) for worker, amount in paid
    ]
    return [Payout.of(event, currency_of(state)) for event in events]


def _due(write: Write, worker: str, owed: int, amount: int | None) -> int:
    """What to pay a worker; refused if it is more than they are owed."""
    if amount == 0:
        raise _no_amount()
    if owed <= 0:
        ledger = write.ledger
        out = int(ledger.book.workers[ledger.worker_at(worker), c.PAID_OUT])
        message = (
            f"worker {worker!r} is owed nothing: they have earned {from_micro(owed + out)} and "
            f"were paid {from_micro(out)}"
        )
        raise conflict("not_owed", "amount", message)
    if amount is not None and amount > owed:
        message = (
            f"amount is {from_micro(amount)}, but worker {worker!r} is owed {from_micro(owed)}: "
            "pay up to that; what goes beyond is a bonus"
        )
        raise conflict("not_owed", "amount", message)
    return owed if amount is None else amount


def bonus(write: Write, worker: str, amount: int, why: str, by: str) -> None:
    """Give a worker money, apart from what their answers are paid."""
    ledger = write.ledger
    ledger.worker_at(worker)
    if amount == 0:
        raise _no_amount()
    left = max(0, ledger.unspent)
    if amount > left:
        raise OverBudget(
            f"amount is {from_micro(amount)}, and the budget has {from_micro(left)} left that is "
            "neither reserved nor kept back: give less, or top it up first",
            field="amount",
        )
    write.emit(Kind.BONUS, worker=worker, price=amount, why=why, by=by)


def _no_amount() -> InvalidProblem:
    return InvalidProblem("amount is 0: give more than 0", field="amount", reason="invalid_amount")


def _bad_day(message: str) -> InvalidAnswer:
    return InvalidAnswer(message, field="on", reason="invalid_value")
