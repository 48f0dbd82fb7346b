"""What a call is settled at: whether it can still be, and how much of its cost the budget takes."""

from numbers import Real
from typing import NamedTuple

from askwise.campaign.certifying import may_audit
from askwise.campaign.refusals import invalid_answer
from askwise.campaign.state import CampaignState
from askwise.campaign.views import assignments as handed
from askwise.core.errors import OverBudget
from askwise.core.money import from_micro
from askwise.core.reasons import Reason
from askwise.ledger import columns as c
from askwise.ledger import queries

SETTLED: dict[int, Reason] = {
    c.SETTLED: "assignment_answered",
    c.EXPIRED: "assignment_expired",
    c.DECLINED: "assignment_declined",
    c.FAILED: "assignment_failed",
}
"""Why an assignment that is not out can't be released."""

ENDS = {c.SETTLED: "is answered already", c.DECLINED: "was declined", c.FAILED: "has failed"}
"""What has become of an assignment to which no answer is taken any more."""


class PendingCall(NamedTuple):
    """An assignment that is about to be settled: its place in the book, and whose it is."""

    seq: int
    status: int
    worker: int
    task: int
    ceiling: int


class Bill(NamedTuple):
    """What is booked for a call, what it was said to have cost, and whether that is too much."""

    price: int
    cost: int | None
    over_ceiling: bool | None


def call_of(name: str, state: CampaignState, seq: int) -> PendingCall:
    """The call that is to be settled; refused if it has been."""
    row = state.ledger.book.assignments[handed.place_of(name, state.ledger, seq)].tolist()
    call = PendingCall(seq, row[c.STATUS], row[c.WORKER], row[c.TASK], row[c.COST])
    if seq in state.ledger.withdrawn:
        message = f"the answer to assignment {handed.assignment_id(name, seq)!r} was withdrawn"
        raise invalid_answer("assignment_withdrawn", "assignment", message)
    if call.status in ENDS:
        message = f"assignment {handed.assignment_id(name, seq)!r} {ENDS[call.status]}"
        raise invalid_answer(SETTLED[call.status], "assignment", message)
    return call


def is_unpaid(state: CampaignState, call: PendingCall) -> bool:
    """Whether an answer is one of a qualification that is not paid."""
    terms = state.spec.screening
    if terms is None or terms.paid:
        return False
    return call.seq in state.ledger.standings.of(call.worker).qualifying


def bill_for(name: str, state: CampaignState, call: PendingCall, said: int | None) -> Bill:
    """What to book for a call: its price, or what it was said to cost.

    Above the ceiling the budget pays as far as it has money that is not reserved. A call that is
    settled late needs what its expiry gave back: money, the worker's limit, the pair.
    """
    ledger = state.ledger
    left = ledger.unspent
    due = call.ceiling if said is None else min(said, call.ceiling)
    most = left + call.ceiling
    if call.status == c.EXPIRED:
        _check_late(name, state, call)
        most = left
        if due > left:
            raise OverBudget(
                f"assignment {handed.assignment_id(name, call.seq)!r} has expired and the budget "
                f"has {from_micro(max(0, left))} left, it costs {from_micro(due)}",
                field="assignment",
            )
    if said is None:
        return Bill(due, None, None)
    return Bill(min(said, most), said, True if said > call.ceiling else None)


def _check_late(name: str, state: CampaignState, call: PendingCall) -> None:
    ledger, book, worker = state.ledger, state.ledger.book, call.worker
    late = f"assignment {handed.assignment_id(name, call.seq)!r} has expired and"
    # Anything already planned keeps its money and its place under the limit.
    plan = book.plan[: ledger.total(c.PLAN_ROWS)]
    planned = plan[plan[:, c.PLAN_WORKER] == worker, c.PLAN_COUNT].sum()
    full = book.workers[worker, c.ASKED] + planned >= book.workers[worker, c.LIMIT]
    # An audit is about a closed task, as a rule, and does not depend on whom the task is open to.
    audits = bool(book.workers[worker, c.AUDITS])
    # So is a gold question.
    on_closed = audits or call.seq in ledger.standings.of(worker).gold
    again = not (may_audit if audits else queries.may_put)(book, call.task, worker)
    refusals: dict[Reason, tuple[bool, str]] = {
        "task_removed": (call.task in ledger.removed, "its task was removed"),
        "task_closed": (book.tasks[call.task, c.CLOSED] and not on_closed, "its task is closed"),
        "campaign_stopped": (ledger.total(c.STOPPED) > 0, "the campaign was stopped"),
        "worker_limit_reached": (full, "its worker has reached their limit"),
        "pair_asked_again": (again, "the pair has been asked again"),
    }
    for reason, (holds, why) in refusals.items():
        if holds:
            raise invalid_answer(reason, "assignment", f"{late} {why}")


def valid_answer(state: CampaignState, value: float | str) -> float | str:
    """An answer that the campaign can take: one of its options, or a number in its range."""
    problem = state.spec.problem
    if problem.options:
        if isinstance(value, str) and value in problem.options:
            return value
        valid = f"give one of {', '.join(problem.options)}"
    else:
        low, high = problem.range
        valid = f"give a number from {low:g} to {high:g}"
        if isinstance(value, Real) and not isinstance(value, bool):
            if low <= value <= high:
                return float(value)
            valid = f"the campaign's range is {low:g} to {high:g}"
    raise invalid_answer("invalid_value", "value", f"answer is {value!r}: {valid}")
