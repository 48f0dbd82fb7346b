"""What is owed to whom."""

from dataclasses import dataclass
from decimal import Decimal

from askwise.campaign.state import CampaignState
from askwise.core.json_types import Count, Id
from askwise.core.jsonable import Jsonable
from askwise.core.money import from_micro


@dataclass(frozen=True, slots=True)
class Payment(Jsonable):
    """What a worker has earned, what is reserved for the work they have out, and why.

    Attributes
    ----------
    worker : str
        The worker.
    answers : int
        The number of their answers that were paid.
    paid : Decimal
        What their calls were settled at, failures included.
    reserved : Decimal
        What is reserved for the assignments they have out.
    why : str
        How the amount comes about, in words.
    failures : int
        Calls that brought no answer, and answers that were withdrawn; what they cost is in
        ``paid``.
    """

    worker: Id
    answers: Count
    paid: Decimal
    reserved: Decimal
    why: str
    failures: Count = 0


def payments(state: CampaignState) -> list[Payment]:
    """What the mechanism owes each worker."""
    return [
        Payment(
            each.worker,
            each.answers,
            from_micro(each.paid),
            from_micro(each.reserved),
            each.why,
            each.failures,
        )
        for each in state.spec.mechanism.settle(state.spec.problem, state.ledger)
    ]
