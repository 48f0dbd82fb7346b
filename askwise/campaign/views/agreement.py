"""How far the answers of a campaign agree with each other."""

from dataclasses import dataclass

from askwise.auditing.intervals import Interval
from askwise.auditing.reliability import reliability
from askwise.campaign.state import CampaignState
from askwise.core.json_types import Count
from askwise.core.jsonable import Jsonable
from askwise.ledger import columns as c


@dataclass(frozen=True, slots=True)
class Agreement(Jsonable):
    """How far answers to the same tasks agree. That is not how often they are right.

    Attributes
    ----------
    tasks : int
        Tasks with two answers or more: only these count.
    answers : int
        The answers to them.
    agreement : Interval or None
        The probability that another answer to the same task says the same. None without such a
        task, and in utility campaigns.
    alpha : Interval or None
        Krippendorff's alpha for names: 1 where all agree, 0 where they agree as often as by
        chance, below 0 where they agree less often. None also where only one option was named.
    """

    tasks: Count
    answers: Count
    agreement: Interval | None
    alpha: Interval | None


def agreement(state: CampaignState) -> Agreement:
    """Raw agreement and Krippendorff's alpha, with 95% intervals over tasks.

    All answers count alike. A policy that asks again where answers differ makes contested tasks
    count for more, so compare campaigns of one policy only.
    """
    ledger = state.ledger
    if not state.spec.problem.options:
        return Agreement(0, 0, None, None)
    return Agreement(*reliability(ledger.book.votes[: ledger.total(c.TASKS)]))
