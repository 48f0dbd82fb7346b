"""What a campaign says about its tasks."""

from dataclasses import dataclass

from askwise.campaign.state import CampaignState
from askwise.core.jsonable import Jsonable
from askwise.ledger import columns as c


@dataclass(frozen=True, slots=True)
class Answer(Jsonable):
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


def answers(state: CampaignState) -> list[Answer]:
    """Every task's answer: the rule's where it closed the task or came to no end, else the
    aggregator's.
    """
    ledger = state.ledger
    ran_out = state.ran_out()
    total = ledger.total(c.TASKS)
    named = []
    for task in range(total):
        value, outcome, sure = ledger.closings.get(task, (None, ran_out, None))
        if value is None and outcome in ("over_budget", "low_confidence"):
            value, sure = state.guess(task)
        named.append((value, outcome, sure))
    # All at once: an aggregator may have to learn from every answer there is.
    rest = [task for task, (value, _, _) in enumerate(named) if value is None]
    for task, (value, sure) in zip(rest, state.labels(rest), strict=True):
        named[task] = (value, named[task][1], sure)
    assured = state.assurances(list(range(total)))
    counts = ledger.book.tasks[:total, c.TASK_ANSWERED].tolist()
    found = []
    for task, (value, outcome, sure) in enumerate(named):
        worth = None if assured is None or counts[task] == 0 else assured[task]
        found.append(
            Answer(
                task=ledger.task_id(task),
                value=state.named(value),
                confidence=sure,
                outcome=worth.outcome if worth is not None and outcome == "open" else outcome,
                count=counts[task],
                assured_error=None if worth is None else worth.error,
                majority_error=None if worth is None else worth.majority,
            )
        )
    return found
