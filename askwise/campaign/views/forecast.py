"""When a campaign will end, by the pace of its recent past."""

from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from askwise.campaign.state import CampaignState
from askwise.campaign.views.status import over
from askwise.campaign.views.timeline import Timeline
from askwise.core.jsonable import Jsonable
from askwise.core.money import from_micro
from askwise.core.problem import UNLIMITED
from askwise.ledger import columns as c
from askwise.ledger import queries
from askwise.policies.capabilities import Settles

RECENT = 5
"""The pace is that of the last fifth of the answers,"""

FEWEST = 20
"""but of at least this many; with fewer there is no forecast."""

_HOUR = 3600.0

_BY_CLOSING = "tasks continue to be closed at the recent pace"
_BY_ASKING = "everything that may be asked is asked"
_BY_TARGET = "the other tasks take as many answers as those that are sure enough"


@dataclass(frozen=True, slots=True)
class Forecast(Jsonable):
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


def forecast(timeline: Timeline, state: CampaignState, now: float | None = None) -> Forecast | None:
    """When money or work runs out at the pace of the recent past; None while nothing moves.

    The pace is that of the last fifth of the answers (at least 20, or all since the first was
    asked for), up to ``now``, so that it falls while nobody answers. The money ends when what is
    left of the budget is spent at that pace. The work ends when the open tasks are closed, at the
    pace at which tasks were closed in that time; without a stopping rule, when every worker has
    answered all that they may be asked within their limit, or, if that is sooner, when each task
    has had as many answers as those took on average that are as sure as the policy was told to make
    them. It assumes that workers, prices and
    habits stay as they are, that nothing is added, and of closings that they come evenly: a policy
    that asks about all tasks in turn closes them late and all at once, which shows only when it
    happens.

    None before 20 answers, while paused, and once the campaign is done or stopped.

    Parameters
    ----------
    timeline : Timeline
        Fed up to the state's place in the log, or nearly so.
    now : float, optional
        The present time; that of the last event if not given.
    """
    ledger, series = state.ledger, timeline.series()
    if timeline.answers < FEWEST or _stands(state):
        return None
    now = max(timeline.now, timeline.now if now is None else now)
    came, closed, since = timeline.answers, timeline.closed, timeline.began
    # What calls cost: a bonus says nothing about what is to come.
    spent = timeline.spent - timeline.bonuses
    before = came - max(came // RECENT, FEWEST)
    if before > 0:
        first = int(np.searchsorted(series.answers, before))
        # Where that point was thinned out, from the one before it: never from too few answers.
        first -= int(series.answers[first] > before)
        came -= int(series.answers[first])
        spent -= int(series.spent[first] - series.bonuses[first])
        closed -= int(series.closed[first])
        since = float(series.times[first])
    passed = now - since
    if passed <= 0.0:
        return None
    budget = ledger.budget
    money_ends = work_ends = None
    if budget is not None and spent:
        money_ends = now + (budget - ledger.spent) * (passed / spent)
    assumes = _BY_CLOSING if state.spec.rule else _BY_ASKING
    if state.spec.rule is None:
        work, wanted = _answers_left(state), _answers_to_target(state)
        if wanted is not None and (work is None or wanted < work):
            work, assumes = wanted, _BY_TARGET
        work_ends = None if work is None else now + work * (passed / came)
    elif closed:
        work_ends = now + ledger.total(c.OPEN) * (passed / closed)
    ends = min((at for at in (money_ends, work_ends) if at is not None), default=None)
    by_then = None
    if ends is not None:
        coming = round(spent * ((ends - now) / passed))
        by_then = ledger.spent + coming
        by_then = by_then if budget is None else min(budget, by_then)
    return Forecast(
        now=now,
        since=since,
        answers=came,
        answers_an_hour=came / passed * _HOUR,
        spent_an_hour=from_micro(round(spent * (_HOUR / passed))),
        money_ends=money_ends,
        work_ends=work_ends,
        ends=ends,
        why=None if ends is None else "money" if ends == money_ends else "work",
        spent=None if by_then is None else from_micro(by_then),
        assumes=f"the pace of the last {came} answers, no change of workers or prices; {assumes}",
    )


def _stands(state: CampaignState) -> bool:
    """Whether nothing is to be asked: paused, stopped, done, or nothing and nobody left."""
    ledger = state.ledger
    if ledger.total(c.STOPPED) or ledger.total(c.PAUSED) or over(state) is not None:
        return True
    return int(queries.idle(ledger.book, state.available())) <= c.DONE_BUDGET


def _answers_to_target(state: CampaignState) -> int | None:
    """How many more answers bring every task to the target; None while nothing tells.

    A task that is not there takes what those took that are, and one answer at least.
    """
    if not isinstance(state.spec.policy, Settles) or state.spec.problem.taskless:
        return None
    ledger = state.ledger
    answered = ledger.book.tasks[: ledger.total(c.TASKS), c.TASK_ANSWERED]
    settled = state.settled()
    there = answered[settled & (answered > 0)]
    if len(there) == 0:
        return None
    return int(np.ceil(np.maximum(there.mean() - answered[~settled], 1.0)).sum())


def _answers_left(state: CampaignState) -> int | None:
    """How many more answers those who joined may give, whatever the money; None without end."""
    ledger = state.ledger
    book, total = ledger.book, ledger.total
    workers = book.workers[: total(c.WORKERS)]
    there = workers[:, c.JOINED] == 1
    left = workers[:, c.LIMIT] - workers[:, c.ASKED]
    once = workers[:, c.ONCE] == 1
    if (there & ~once & (workers[:, c.LIMIT] == UNLIMITED)).any():
        return None
    if once.any():
        rows = book.assignments[: total(c.ASSIGNMENTS)]
        on = (rows[:, c.STATUS] != c.EXPIRED) & (book.tasks[rows[:, c.TASK], c.CLOSED] == 0)
        taken = np.bincount(rows[on, c.WORKER], minlength=len(workers))
        here = total(c.OPEN) - total(c.OPEN_NAMED) + workers[:, c.OPEN_TO]
        left = np.where(once, np.minimum(left, here - taken), left)
    return int(np.maximum(left[there], 0).sum()) + total(c.PENDING)
