"""The tasks that workers disagree about most."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from askwise.campaign.state import CampaignState
from askwise.campaign.views.answers import Answer
from askwise.core.arrays import Array
from askwise.core.checks import whole
from askwise.core.jsonable import Jsonable
from askwise.core.labels import RestsOn
from askwise.ledger import columns as c


@dataclass(frozen=True, slots=True)
class Contested(Jsonable):
    """A task and its votes; ``lead`` is by how many the first option leads the second.

    ``rests_on`` says what the confidence is, as it does of an ``Answer``.
    """

    task: str
    value: str | None
    confidence: float | None
    outcome: str
    answers: int
    lead: int
    votes: dict[str, int]
    truth: str | None
    rests_on: RestsOn | None = None


def contested(state: CampaignState, answers: Sequence[Answer], limit: int = 20) -> list[Contested]:
    """The tasks that are least sure, with their votes; open ones and closed ones.

    By confidence (tasks without one come last), then by the lead of the first option over the
    second, then those with more answers first, then as they were added. Tasks that nobody has
    answered are left out; with utilities there are no votes and the list is empty.
    """
    whole(limit, "limit", least=1)
    ledger, options = state.ledger, state.spec.problem.options
    if not options:
        return []
    votes = ledger.book.votes[: ledger.total(c.TASKS)]
    counts = ledger.book.tasks[: len(votes), c.TASK_ANSWERED]
    ahead, order = leads(votes), least_sure(answers, votes)
    found = []
    for at in order[counts[order] > 0][:limit].tolist():
        answer, truth = answers[at], int(ledger.book.tasks[at, c.TRUTH])
        found.append(
            Contested(
                task=str(answer.task),
                value=None if answer.value is None else str(answer.value),
                confidence=answer.confidence,
                outcome=answer.outcome,
                answers=answer.count,
                lead=int(ahead[at]),
                votes=dict(zip(options, votes[at].tolist(), strict=True)),
                truth=None if truth < 0 else options[truth],
                rests_on=answer.rests_on,
            )
        )
    return found


def least_sure(answers: Sequence[Answer], votes: Array) -> Array:
    """Places of the tasks in order, the least sure first; ``votes`` has a row per task.

    By confidence, then by the lead of the first option over the second, then those with more
    answers first, then as they were added. Tasks without a confidence or an answer come last.
    """
    counts = np.array([each.count for each in answers], np.int64)
    return np.lexsort((-counts, leads(votes), confidences(answers)))


def confidences(answers: Sequence[Answer]) -> Array:
    """The confidence in each task's answer; NaN, which sorts last, without one."""
    sure = (each.confidence if each.count else None for each in answers)
    return np.array([np.nan if each is None else each for each in sure])


def leads(votes: Array) -> Array:
    """By how many votes each task's first option leads its second; 0 where there is one column."""
    second = -min(2, votes.shape[1])
    best = np.partition(votes, second, axis=1)
    return best[:, -1] - best[:, second]
