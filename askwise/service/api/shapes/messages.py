"""What a service posts to webhooks: a message for each event."""

from decimal import Decimal
from typing import Any, Literal, TypedDict

from askwise.core.choices import DoneWhy
from askwise.core.event_fields import ClosedFor
from askwise.core.json_types import AssignmentId, Count, Id, Positive, Share
from askwise.core.labels import RestsOn
from askwise.service.api.shapes.replies import said, shape_of


class AnswerSettled(TypedDict):
    """An answer was taken and paid.

    Attributes
    ----------
    assignment : str
        The assignment.
    task : str or None
        The task; None where units of work are bought.
    worker : str
        Who answered.
    value : str or float
        The answer: an option, or a number.
    price : Decimal
        What was booked for it.
    """

    assignment: AssignmentId
    task: Id | None
    worker: Id
    value: str | float
    price: Decimal


class AnswerRevised(TypedDict):
    """An answer was changed or withdrawn.

    Attributes
    ----------
    assignment : str
        The assignment.
    task : str or None
        The task; None where units of work are bought.
    worker : str
        Who had answered.
    value : str or float or None
        The answer now: an option, or a number; None if it was withdrawn.
    why : str or None
        Why it was withdrawn; None if it was changed.
    by : str or None
        Who did it; None if it was the worker.
    """

    assignment: AssignmentId
    task: Id | None
    worker: Id
    value: str | float | None
    why: str | None
    by: Id | None


class TaskClosed(TypedDict):
    """A task is closed, by its stopping rule or by hand; once more if an answer was changed then.

    Attributes
    ----------
    task : str
        The task.
    value : str or float or None
        The answer at that moment; None while there is none.
    outcome : str
        Why it was closed.
    confidence : float or None
        How sure the answer is; None where nothing is known.
    rests_on : str or None
        What that confidence is; None without one.
    """

    task: Id
    value: str | float | None
    outcome: ClosedFor
    confidence: Share | None
    rests_on: RestsOn | None


class BudgetUsed(TypedDict):
    """An answer, or a call that failed, brought what is spent to a share of the budget.

    Attributes
    ----------
    percent : int
        That share, in percent.
    spent : Decimal
        What is spent.
    budget : Decimal or None
        The budget.
    """

    percent: Positive
    spent: Decimal
    budget: Decimal | None


class CampaignDone(TypedDict):
    """Nothing more can be asked and nothing is out.

    Attributes
    ----------
    why : str
        Why nothing more can be asked.
    answers : int
        Answers received.
    spent : Decimal
        What is spent.
    budget : Decimal or None
        The budget; None without a cap.
    """

    why: DoneWhy
    answers: Count
    spent: Decimal
    budget: Decimal | None


class NothingTold(TypedDict):
    """A test tells nothing."""


DATA: dict[str, Any] = {
    "answer.settled": AnswerSettled,
    "answer.revised": AnswerRevised,
    "task.closed": TaskClosed,
    "budget.used": BudgetUsed,
    "campaign.done": CampaignDone,
    "ping": NothingTold,
}
"""What each event tells."""


def message_of(event: str) -> Any:
    """The shape of the message that tells of an event."""
    ping = event == "ping"
    return shape_of(
        DATA[event].__name__ + "Message",
        "You asked for a test." if ping else DATA[event].__doc__.partition("\n")[0],
        id=said(str, "The id of the delivery, the same at every attempt."),
        event=said(Literal[event], "What it tells of."),
        campaign=said(None if ping else Id, "The campaign; null for a test."),
        seq=said(None if ping else Positive, "The event of the log; null for a test."),
        time=said(float, "When it happened, in seconds since 1970."),
        data=said(DATA[event], "What has happened."),
    )
