"""What is a worker's own in a campaign, and what they are to do next. Of others, of the policy, of
the budget and of what is thought to be true their page knows nothing.
"""

from dataclasses import dataclass, replace
from decimal import Decimal

from askwise.campaign import Campaign
from askwise.campaign.state import CampaignState
from askwise.campaign.views import OwnStanding, own_standing
from askwise.campaign.views.assignments import assignment_at
from askwise.campaign.views.payments import earned_by
from askwise.campaign.views.workers import mean_money, pay_an_hour
from askwise.core.choices import Assignment, Done, Wait
from askwise.core.money import from_micro
from askwise.core.problem import Worker
from askwise.ledger import columns as c
from askwise.service.work.sides import is_swapped


@dataclass(frozen=True)
class Bidding:
    """Their bid while the bidding is open, and the highest that is taken, where there is one."""

    bid: Decimal
    highest: Decimal | None


@dataclass(frozen=True)
class Inbox:
    """What is a worker's own, at one position of the log.

    ``question`` is what they have out, ``left`` the seconds for it, if there is an end; ``number``
    counts what they were ever asked. ``ran_out`` tells that the time for the last question was over
    before they answered. ``earned`` is all that they have earned, ``bonus`` a part of it.
    """

    position: int
    joined: bool
    title: str
    """What the campaign is called."""
    stopped: bool
    paused: bool
    answers: int
    earned: Decimal
    paid_out: Decimal
    bonus: Decimal
    question: Assignment | None
    number: int
    left: float | None
    ran_out: bool
    bidding: Bidding | None
    options: tuple[str, ...]
    range: tuple[float, float]
    standing: OwnStanding
    pay_an_hour: Decimal | None = None
    """What they earn in an hour, by their latest answers; None after little work."""
    swapped: bool = False
    """Whether they see the sides of their question's pair in the other order."""
    source: str = ""
    """Where they come from, if that was said."""

    @property
    def is_free(self) -> bool:
        """Whether the answer to their question is not paid."""
        return self.standing.state == "qualifying" and not self.standing.paid


def inbox(campaign: Campaign, worker: str, now: float) -> Inbox:
    """Look up what is a worker's own."""
    with campaign.reading() as state:
        ledger = state.ledger
        place = ledger.worker_at(worker)
        row = ledger.book.workers[place]
        assignments, marks = ledger.book.assignments, ledger.book.marks
        number = 0
        oldest: int | None = None
        ran_out = False
        at = int(row[c.LAST])
        while at >= 0:
            asked = assignments[at].tolist()
            status = asked[c.STATUS]
            number += 1
            # Past its lease it is as good as released: the next write says so in the log.
            is_late = status == c.OUT and marks[at, c.EXPIRES] <= now
            if number == 1:
                ran_out = is_late or status == c.EXPIRED
            if status == c.OUT and not is_late:
                oldest = at
            at = asked[c.BEFORE_OF_WORKER]
        problem = state.spec.problem
        question = None if oldest is None else assignment_at(campaign.name, ledger, oldest)
        expires = None if question is None else question.expires
        earned, bonus = earned_by(state, place), int(row[c.BONUS])
        found = Inbox(
            position=state.seq,
            joined=ledger.is_here(place),
            title=state.title or campaign.name,
            # An archived campaign may be taken up again; until then it is over for workers.
            stopped=bool(ledger.total(c.STOPPED)) or ledger.archived,
            paused=bool(ledger.total(c.PAUSED)),
            answers=int(row[c.ANSWERED]),
            earned=from_micro(earned),
            paid_out=from_micro(int(row[c.PAID_OUT])),
            bonus=from_micro(bonus),
            question=question,
            number=number,
            left=None if expires is None else expires - now,
            ran_out=ran_out,
            bidding=_bidding(state, int(row[c.BID])),
            options=tuple(problem.options),
            range=(0.0, 1.0) if problem.options else problem.range,
            standing=own_standing(state, worker),
            pay_an_hour=None,
            swapped=question is not None and is_swapped(state, question.task, worker),
            source=ledger.workers[place].source or "",
        )
        about, paid = ledger.workers[place], mean_money(earned - bonus, found.answers)
    seconds = campaign.paces(found.position).seconds(worker)
    return replace(found, pay_an_hour=pay_an_hour(about, paid, seconds, found.answers))


def askable(campaign: Campaign, worker: str, now: float) -> Worker | None:
    """The worker, if they are to be asked: they are there, have nothing out, no bidding is open."""
    with campaign.reading() as state:
        ledger = state.ledger
        place = ledger.worker_at(worker)
        row = ledger.book.workers[place]
        if not ledger.is_here(place) or _bidding(state, 0) is not None:
            return None
        out, at = int(row[c.ASKED] - row[c.ANSWERED]), int(row[c.LAST])
        while out:
            if ledger.book.assignments[at, c.STATUS] == c.OUT:
                out -= 1
                if ledger.book.marks[at, c.EXPIRES] > now:
                    return None
            at = int(ledger.book.assignments[at, c.BEFORE_OF_WORKER])
        return ledger.workers[place]


def _bidding(state: CampaignState, bid: int) -> Bidding | None:
    if not state.bidding:
        return None
    highest = getattr(state.spec.mechanism, "highest", None)
    return Bidding(from_micro(bid), None if highest is None else from_micro(highest))


def state_of(own: Inbox, *, away: bool, said: Wait | Done | None) -> str:
    """What their page shows: question, left, over, suspended, away, bidding, wait or start.

    ``said`` is what asking for them has just come to, if it did not come to a question.
    """
    if own.question is not None:
        return "question"
    if not own.joined:
        return "left"
    if own.stopped:
        return "over"
    if own.standing.state == "suspended":
        return "suspended"
    if away:
        return "away"
    if own.bidding is not None:
        return "bidding"
    if own.paused or isinstance(said, Wait):
        return "wait"
    return "start" if said is None else "over"
