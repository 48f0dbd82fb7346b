"""Where workers stand: who has to qualify, who was warned or suspended, and on what answers."""

from dataclasses import dataclass
from typing import Literal

from askwise.auditing.intervals import Interval
from askwise.campaign.screening import is_below, tally_of
from askwise.campaign.state import CampaignState
from askwise.core.json_types import Count
from askwise.core.jsonable import Jsonable

StandingState = Literal["qualifying", "good", "warned", "suspended"]
SuspendedFor = Literal["qualification", "gold", "decision"]


@dataclass(frozen=True, slots=True)
class WorkerStanding(Jsonable):
    """Where a worker stands, and what their answers to gold questions show.

    Attributes
    ----------
    state : "qualifying", "good", "warned" or "suspended"
        Whether they have to qualify before ordinary work, are asked as others are, were warned and
        are still below that line, or are handed nothing.
    suspended_for : "qualification", "gold", "decision" or None
        Why they are suspended: they did not qualify, their accuracy on gold questions is below the
        line, or somebody decided so. None while they are not.
    questions : int
        How many gold questions they have to answer to qualify; 0 where nobody has to.
    needed : int
        How many of these must be right.
    qualifying_answers : int
        How many of these they have answered.
    gold_answers : int
        All gold questions that they have answered, without those before a suspension was lifted.
    gold_right : int
        How many of these are right.
    accuracy : Interval or None
        The share that is right, with a 95% interval that holds at all times at once, however often
        you look; None before the first.
    """

    state: StandingState
    suspended_for: SuspendedFor | None
    questions: Count
    needed: Count
    qualifying_answers: Count
    gold_answers: Count
    gold_right: Count
    accuracy: Interval | None


@dataclass(frozen=True, slots=True)
class OwnStanding(Jsonable):
    """Where a worker stands, as they may know.

    It changes with answers of the qualification, and with warnings and suspensions, but not with
    each gold question: nothing here tells which they are.

    Attributes
    ----------
    state : "qualifying", "good", "warned" or "suspended"
        Whether they have to qualify before ordinary work, are asked as others are, were warned and
        are still below that line, or are handed nothing.
    suspended_for : "qualification", "gold", "decision" or None
        Why they are suspended: they did not qualify, too many answers were wrong, or somebody
        decided so. None while they are not.
    questions : int
        How many questions they have to answer to qualify; 0 where nobody has to.
    qualifying_answers : int
        How many of these they have answered.
    paid : bool
        Whether the answers of the qualification are paid.
    """

    state: StandingState
    suspended_for: SuspendedFor | None
    questions: Count
    qualifying_answers: Count
    paid: bool


def own_standing(state: CampaignState, worker: str) -> OwnStanding:
    """Where a worker stands, as they may know."""
    found = standing(state, state.ledger.worker_at(worker))
    terms = state.spec.screening
    paid = terms is None or terms.paid
    if found is None:
        return OwnStanding("good", None, 0, 0, paid)
    counts = found.questions, found.qualifying_answers
    return OwnStanding(found.state, found.suspended_for, *counts, paid)


def standing(state: CampaignState, worker: int) -> WorkerStanding | None:
    """Where a worker stands; None of one who is not screened and was never suspended."""
    ledger, terms = state.ledger, state.spec.screening
    screened = terms is not None and terms.screens(ledger.workers[worker])
    if not screened and worker not in ledger.standings.workers:
        return None
    own = ledger.standings.of(worker)
    tally = tally_of(ledger, own.gold)
    now: StandingState = "good"
    if own.suspended:
        now = "suspended"
    elif terms is not None and screened and terms.qualify and not own.qualified:
        now = "qualifying"
    elif terms is not None and own.warned and is_below(tally, terms.warn_below):
        now = "warned"
    cause: SuspendedFor | None = None
    if own.suspended:
        cause = "qualification" if own.note == "qualification" else "gold"
        cause = "decision" if own.note is None else cause
    return WorkerStanding(
        state=now,
        suspended_for=cause,
        questions=terms.qualify if terms is not None and screened else 0,
        needed=terms.needed if terms is not None and screened else 0,
        qualifying_answers=tally_of(ledger, own.qualifying).answered,
        gold_answers=tally.answered,
        gold_right=tally.right,
        accuracy=tally.accuracy,
    )
