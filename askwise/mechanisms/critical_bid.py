"""Critical bids where qualities are known and the set is found greedily."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from askwise.core.allocation import Allocation
from askwise.mechanisms.base import mechanisms
from askwise.mechanisms.critical import CriticalBids


@mechanisms.register("critical-bid")
@dataclass(frozen=True)
class CriticalBid(CriticalBids):
    """Pay each of the greedy set the highest bid at which the greedy solver still chooses him.

    It is ``c_max`` at most, and ``c_max`` where the target is not reached without him.

    Parameters
    ----------
    c_max : amount
        The highest bid that you take, and the most that an answer is paid; must be given. This
        is what ``ask`` reserves before a set is chosen.

    Assumes known qualities and the greedy solver: ``ccb-fixed`` with ``qualities``, error
    ``hoeffding-linear`` and solver ``greedy``.

    Not where qualities are learned, nor with the exact solver (``clarke`` is for that).
    Truthfulness is promised only without limits, absences, tasks that name their workers, a
    stopping rule, or a budget that binds.

    References
    ----------
    Paper 000, lemma 6.2: the greedy set is monotone in bids; R. B. Myerson, *Optimal auction
    design*, Mathematics of Operations Research 6 (1981), for the payments that follow.

    Examples
    --------
    >>> from askwise.mechanisms import mechanisms
    >>> mechanisms.make({"name": "critical-bid", "c_max": 20}).highest
    20000000
    """

    paper: ClassVar[str] = "beyond 000"
    promise: ClassVar[str] = (
        "Truthful: no other bid than his cost ever serves a worker better, whatever others bid; "
        "nobody is paid below his bid."
    )
    goes_with: ClassVar[str] = (
        "'ccb-fixed' with known qualities, error 'hoeffding-linear' and solver 'greedy'"
    )

    def unfit(self, allocation: Allocation) -> str:
        """Known qualities, greedy solver."""
        if allocation.exploration != "none":
            return "it learns the qualities; mechanism 'fixed-exploration' pays for that"
        if allocation.minimiser != "greedy":
            return "its set is not the greedy one; mechanism 'clarke' pays for the cheapest set"
        return ""
