"""Clarke's payments where qualities are known and the cheapest set is found exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from askwise.core.allocation import Allocation
from askwise.mechanisms.base import mechanisms
from askwise.mechanisms.critical import CriticalBids


@mechanisms.register("clarke")
@dataclass(frozen=True)
class Clarke(CriticalBids):
    """Pay each of the cheapest set his bid and what the cheapest set without him costs more.

    That is the cost of the cheapest set without him, less what the others of the chosen set bid:
    the highest bid at which he were still chosen. It is ``c_max`` at most, and ``c_max`` where no
    set without him reaches the target.

    Parameters
    ----------
    c_max : amount
        The highest bid that you take, and the most that an answer is paid; must be given. This
        is what ``ask`` reserves before a set is chosen.

    Assumes known qualities and the exact solver: ``ccb-fixed`` with ``qualities`` and solver
    ``exact``.

    Not where qualities are learned: without answers of those not chosen nobody knows what the
    cheapest set without a worker would have been. Truthfulness is promised only without limits,
    absences, tasks that name their workers, a stopping rule, or a budget that binds.

    References
    ----------
    E. H. Clarke, *Multipart pricing of public goods*, Public Choice 11 (1971). Paper 000,
    section 5.3, on why it needs known qualities.

    Examples
    --------
    >>> from askwise.mechanisms import mechanisms
    >>> mechanisms.make({"name": "clarke", "c_max": "20.00"}).c_max
    '20'
    """

    paper: ClassVar[str] = "beyond 000"
    promise: ClassVar[str] = (
        "Truthful: no other bid than his cost ever serves a worker better, whatever others bid; "
        "nobody is paid below his bid."
    )
    goes_with: ClassVar[str] = "'ccb-fixed' with known qualities and solver 'exact'"
    amount: ClassVar[str] = "Clarke payment"

    def unfit(self, allocation: Allocation) -> str:
        """Known qualities, exact solver."""
        if allocation.exploration != "none":
            return "it learns the qualities, and Clarke's payments need them known"
        if allocation.minimiser != "exact":
            return "its set may not be the cheapest, which Clarke's payments need"
        return ""
