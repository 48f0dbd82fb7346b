"""What is owed to whom."""

from dataclasses import dataclass
from decimal import Decimal

from askwise.campaign.state import CampaignState
from askwise.core.jsonable import Jsonable
from askwise.core.money import from_micro


@dataclass(frozen=True, slots=True)
class Payment(Jsonable):
    """What a worker has earned, what is reserved for the work they have out, and why.

    ``paid`` is what their calls were settled at: ``answers`` of them, and ``failures`` that
    brought none.
    """

    worker: str
    answers: int
    paid: Decimal
    reserved: Decimal
    why: str
    failures: int = 0


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
