"""What the dashboard counts of a campaign, worked out of a copy of its state."""

import copy
import time
from dataclasses import dataclass

from askwise.campaign import views
from askwise.campaign.state import CampaignState
from askwise.core.arrays import Array
from askwise.ledger import columns as c


@dataclass(frozen=True)
class Facts:
    """What takes a walk over all tasks and answers, at the event ``seq``."""

    seq: int
    time: float
    """When it was worked out."""
    answers: list[views.Answer]
    workers: list[views.WorkerSummary]
    outcomes: views.Outcomes
    contested: list[views.Contested]
    options: tuple[str, ...]
    range: tuple[float, float]
    """Of utilities; 0 to 1 where there are options."""
    votes: Array
    """One row per task, one column per option."""
    results: views.CampaignResults
    agreement: views.Agreement
    judges: views.JudgesReport
    currency: str = ""
    """What money is in, if that was said."""


def copied(state: CampaignState) -> CampaignState:
    """A copy to be read while the campaign goes on: copying takes a tenth of what reading does."""
    made = copy.copy(state)
    made.beliefs, made.rule_state = copy.deepcopy((state.beliefs, state.rule_state))
    ledger = made.ledger = copy.copy(state.ledger)
    ledger.book = c.Book(*(array.copy() for array in ledger.book))
    ledger.workers, ledger.tasks = ledger.workers.copy(), ledger.tasks.copy()
    ledger.closings, ledger.contexts = ledger.closings.copy(), ledger.contexts.copy()
    ledger.labels, ledger.flags = ledger.labels.copy(), ledger.flags.copy()
    ledger.standings = copy.deepcopy(ledger.standings)
    ledger.removed = ledger.removed.copy()
    return made


def facts_of(state: CampaignState, kept: views.KeptAnswers, paces: views.Paces) -> Facts:
    """What a state comes to; ``kept`` has the answers of the last time."""
    answers = kept.of(state)
    ledger, workers = state.ledger, views.workers(state, answers, paces)
    return Facts(
        seq=state.seq,
        time=time.time(),
        answers=answers,
        workers=workers,
        outcomes=views.outcomes(answers),
        contested=views.contested(state, answers, 10),
        options=state.spec.problem.options,
        range=state.spec.problem.range,
        votes=ledger.book.votes[: ledger.total(c.TASKS)],
        results=views.results(state, answers),
        agreement=views.agreement(state),
        judges=views.judges(state, workers),
        currency="" if state.spec.content is None else state.spec.content.currency,
    )
