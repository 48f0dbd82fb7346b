"""What a participant has done and earned in a campaign, by its log."""

from dataclasses import dataclass

from askwise.campaign import Campaign
from askwise.campaign.state import CampaignState
from askwise.campaign.views.payments import balances, earned_by
from askwise.ledger import columns as c
from askwise.running.prolific.records import StudySession


@dataclass(frozen=True, slots=True)
class ParticipantStanding:
    """Where a worker stands.

    Attributes
    ----------
    here : bool
        Whether they have joined and not left.
    answered, handed : int
        Their answers, and all that they were ever handed.
    committed : int
        Millionths that they have earned or that are reserved for them.
    """

    here: bool
    answered: int
    handed: int
    committed: int


def standing_of(state: CampaignState, worker: str) -> ParticipantStanding | None:
    """Where a worker stands; None if they are not in the campaign."""
    ledger = state.ledger
    if not ledger.has_worker(worker):
        return None
    place = ledger.worker_at(worker)
    row, assignments = ledger.book.workers[place], ledger.book.assignments
    answered = handed = out = 0
    at = int(row[c.LAST])
    while at >= 0:
        status = int(assignments[at, c.STATUS])
        handed += 1
        answered += status == c.SETTLED
        out += status == c.OUT
        at = int(assignments[at, c.BEFORE_OF_WORKER])
    reserved = out * int(row[c.PRICE])
    return ParticipantStanding(
        ledger.is_here(place), answered, handed, earned_by(state, place) + reserved
    )


def has_worked(session: StudySession, found: ParticipantStanding) -> bool:
    """Whether they have done what they came for.

    They have answered something, and at least half of what was put to them. Where nothing was put
    to them, which need not be their fault, a person decides.
    """
    answered, handed = found.answered - session.answered, found.handed - session.handed
    return answered > 0 and 2 * answered >= handed


def owed_to(campaign: Campaign) -> dict[str, int]:
    """What each worker has earned and was not paid, in millionths."""
    with campaign.reading() as state:
        owed = balances(state)
        return {worker.id: owed[at] for at, worker in enumerate(state.ledger.workers)}
