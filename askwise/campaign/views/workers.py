"""The workers of a campaign: their work, their money, how good they seem."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from askwise.campaign.state import CampaignState
from askwise.campaign.views.answers import Answer
from askwise.campaign.views.answers import answers as answers_of
from askwise.campaign.views.assignments import STATES
from askwise.campaign.views.pace import Paces
from askwise.campaign.views.quality import Quality, judged, rated
from askwise.campaign.views.standing import WorkerStanding, standing
from askwise.core.json_types import Count, Id, Positive, Share
from askwise.core.jsonable import Jsonable
from askwise.core.money import from_micro
from askwise.core.problem import Worker, WorkerKind
from askwise.ledger import columns as c
from askwise.ledger.entries import Overrun


@dataclass(frozen=True, slots=True)
class WorkerSummary(Jsonable):
    """One worker: their work, their money, how good they seem.

    ``asked`` is the sum of ``answered``, ``out``, ``expired``, ``declined`` and ``failed``.

    Attributes
    ----------
    id : str
        The worker.
    joined : bool
        Whether they are in the campaign; false once they have left.
    trusted : bool
        Whether their answer counts as the truth.
    price : Decimal or None
        The most that is reserved for one answer; None while sealed bids are taken.
    limit : int or None
        The most answers they can give; None without a limit.
    asked : int
        All assignments that were ever handed to them.
    answered : int
        Assignments that they answered.
    out : int
        Their open assignments.
    expired : int
        Assignments that were released because nobody answered in time.
    declined : int
        Assignments that they turned down.
    paid : Decimal
        What their calls were settled at, failures included.
    share : float
        Their share of all answers of the campaign.
    agreement : float or None
        The share of their answers that are the task's present answer, among tasks that
        somebody else answered too; None where there is no such task, and for utilities.
    quality : Quality or None
        How good they seem; None before an answer that can be judged.
    kind : WorkerKind or None
        Whether they are a person, a model or a crowd; None where nothing was said.
    family : str or None
        A name shared by workers that err together; None where nothing was said.
    failed : int
        Assignments whose call gave no answer.
    failures : dict of str to int
        How often calls failed, by reason; ``withdrawn`` stands for answers that were taken back.
    paid_for_failures : Decimal
        The part of ``paid`` that bought no answer.
    cost_an_answer : Decimal or None
        ``paid`` for each answer, failures included; None without an answer.
    over_ceiling : int
        Calls that cost more than was reserved for them.
    unbooked : Decimal
        What such calls cost beyond what the budget had room for.
    source : str or None
        What answers for them, by name and digest; None where nothing was said.
    standing : WorkerStanding or None
        Whether they have to qualify, were warned or are suspended, and what gold questions show;
        None for workers who are not screened and were never suspended.
    seconds_an_answer : float or None
        The median time that their latest answers took; None before five of them, and where times
        are not looked at.
    pay_an_hour : Decimal or None
        What a person earns in an hour at that pace and at ``cost_an_answer``, an estimate; None for
        models and crowds, without a pace, and before three minutes of work at that pace.
    """

    id: Id
    joined: bool
    trusted: bool
    price: Decimal | None
    limit: Positive | None
    asked: Count
    answered: Count
    out: Count
    expired: Count
    declined: Count
    paid: Decimal
    share: Share
    agreement: Share | None
    quality: Quality | None
    kind: WorkerKind | None = None
    family: str | None = None
    failed: Count = 0
    failures: dict[str, Positive] = field(default_factory=dict)
    paid_for_failures: Decimal = Decimal(0)
    cost_an_answer: Decimal | None = None
    over_ceiling: Count = 0
    unbooked: Decimal = Decimal(0)
    source: str | None = None
    standing: WorkerStanding | None = None
    seconds_an_answer: float | None = None
    pay_an_hour: Decimal | None = None


def workers(
    state: CampaignState, answers: Sequence[Answer] | None = None, paces: Paces | None = None
) -> list[WorkerSummary]:
    """Every worker who ever joined, in that order.

    Workers are judged by the truth where that is known for ``ENOUGH_TRUTHS`` of their answers, or
    for some if nothing else is there: the share of right ones, with Clopper and Pearson's
    interval. Otherwise by agreement: the share of their answers that are what most of the *other*
    workers said about the task, their own votes left out and ties among the others passed over,
    with the same interval. That is not their accuracy. Where the others err it pulls everyone
    towards chance, so it understates the good and flatters the bad, and those who share the
    others' mistakes look better than they are; the interval is about agreeing and knows nothing of
    this. The two are never mixed, and ``basis`` says which it is. Utilities: the mean of their
    answers with Chernoff's interval, which holds for any answers in the range. All treat a
    worker's answers as independent and equally good, whatever they were asked and how often.

    Parameters
    ----------
    answers : sequence of Answer, optional
        What ``Campaign.answers()`` says at the same point of the log; worked out if not given.
    paces : Paces, optional
        How long workers take, from the log's times; not given, nothing is said of that.
    """
    ledger, problem = state.ledger, state.spec.problem
    size, total = ledger.total(c.WORKERS), ledger.total(c.ANSWERS)
    rows = ledger.book.assignments[: ledger.total(c.ASSIGNMENTS)]
    width = len(STATES)
    tally = np.bincount(width * rows[:, c.WORKER] + rows[:, c.STATUS], minlength=width * size)
    states = tally.reshape(size, width).tolist()
    paid = [each.paid for each in state.spec.mechanism.settle(problem, ledger)]
    sealed = state.bidding
    agreement: list[float | None] = [None] * size
    if problem.options:
        agreement, quality = judged(state, answers_of(state) if answers is None else answers)
    else:
        quality = rated(state, rows)
    found = []
    for at, worker in enumerate(ledger.workers):
        row = ledger.book.workers[at]
        out, answered, expired, declined, failed = states[at]
        overrun = ledger.overruns.get(at, Overrun(0, 0))
        seconds = None if paces is None else paces.seconds(worker.id)
        each = mean_money(paid[at], answered)
        found.append(
            WorkerSummary(
                id=worker.id,
                joined=ledger.is_here(at),
                trusted=bool(row[c.TRUSTED]),
                price=None if sealed else from_micro(int(row[c.PRICE])),
                limit=worker.limit,
                asked=out + answered + expired + declined + failed,
                answered=answered,
                out=out,
                expired=expired,
                declined=declined,
                paid=from_micro(paid[at]),
                share=answered / total if total else 0.0,
                agreement=agreement[at],
                quality=quality[at],
                kind=worker.kind,
                family=worker.family,
                source=worker.source,
                failed=failed,
                failures=dict(ledger.failures.get(at, ())),
                paid_for_failures=from_micro(int(row[c.FAILURE_COST])),
                cost_an_answer=each,
                standing=standing(state, at),
                seconds_an_answer=seconds,
                pay_an_hour=pay_an_hour(worker, each, seconds, answered),
                over_ceiling=overrun.calls,
                unbooked=from_micro(overrun.unbooked),
            )
        )
    return found


ENOUGH_WORK = 180.0
"""Seconds of work below which nothing is said of what an hour pays: a burst of quick answers would
come to thousands.
"""


def pay_an_hour(
    worker: Worker, each: Decimal | None, seconds: float | None, answers: int
) -> Decimal | None:
    """What a person earns in an hour who is paid ``each`` for an answer and takes ``seconds``."""
    if worker.kind not in (None, "person") or each is None or seconds is None:
        return None
    if seconds * answers < ENOUGH_WORK:
        return None
    return (each * 3600 / Decimal(str(seconds))).quantize(Decimal("0.01"))


def mean_money(money: int, count: int) -> Decimal | None:
    """Money by count, rounded to a micro-unit."""
    return from_micro((2 * money + count) // (2 * count)) if count else None
