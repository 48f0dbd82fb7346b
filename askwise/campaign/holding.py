"""What a worker who asks for themselves may hold: how many questions, and for how long."""

from dataclasses import dataclass

from askwise.core.errors import InvalidParameter
from askwise.ledger import Ledger
from askwise.ledger import columns as c


@dataclass(frozen=True)
class Holding:
    """Keeps one worker from reserving a whole campaign.

    Parameters
    ----------
    most_out : int
        Assignments that a worker may have out at a time.
    lease : float, optional
        Seconds until what is handed out is released, in campaigns that have no lease.
    """

    most_out: int
    lease: float | None = None

    def __post_init__(self) -> None:
        if self.most_out < 1:
            raise InvalidParameter(
                f"most_out is {self.most_out}: give a whole number from 1", field="most_out"
            )
        if self.lease is not None and not 0 < self.lease < 1e10:
            raise InvalidParameter(
                f"lease is {self.lease!r}: give seconds above 0, or nothing", field="lease"
            )

    def room(self, ledger: Ledger, worker: str) -> int:
        """How many more a worker may be handed now."""
        row = ledger.book.workers[ledger.worker_at(worker)]
        return max(0, self.most_out - int(row[c.ASKED] - row[c.ANSWERED]))
