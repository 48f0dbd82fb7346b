"""Truthful payments without a lottery: learn for a number of tasks that no bid can change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from askwise.core.allocation import Allocation
from askwise.core.money import from_micro
from askwise.mechanisms.base import mechanisms
from askwise.mechanisms.critical import CriticalBids


@mechanisms.register("fixed-exploration")
@dataclass(frozen=True)
class FixedExploration(CriticalBids):
    """Pay everybody ``c_max`` an answer while exploring, then those chosen their critical bids.

    Everybody is asked about the first tasks whatever he bids, so that neither what is learned nor
    what is paid for it depends on bids. Then each of the chosen set is paid the highest bid at
    which he were still chosen, given what was learned: ``c_max`` at most, and ``c_max`` where the
    target is not reached without him.

    Parameters
    ----------
    c_max : amount
        The highest bid that you take, and what an answer is paid while exploring; must be given.
        This is what ``ask`` reserves until a set is chosen.

    Assumes a number of tasks for exploration that is fixed beforehand: ``ccb-fixed``, with the
    greedy or the exact solver.

    Not where exploration ends when enough is known (``ccb-s``): bids would decide when.
    Truthfulness is promised only without limits, absences, tasks that name their workers, a
    stopping rule, or a budget that binds.

    References
    ----------
    Ours. That exploration must not depend on bids: M. Babaioff, Y. Sharma, A. Slivkins,
    *Characterizing truthful multi-armed bandit mechanisms*, EC 2009. Paper 000, lemma 6.2: the
    greedy set is monotone in bids.

    Examples
    --------
    >>> from askwise.mechanisms import mechanisms
    >>> made = mechanisms.make({"name": "fixed-exploration", "c_max": 20})
    >>> made.settled(bid=3_000_000, ranked_at=3_000_000, price=6_210_000)
    'exploration at c_max 20, then critical bid 6.21 an answer'
    """

    paper: ClassVar[str] = "beyond 000"
    promise: ClassVar[str] = (
        "Truthful: no other bid than his cost ever serves a worker better, whatever the answers "
        "and the bids of others; nobody is paid below his bid."
    )
    goes_with: ClassVar[str] = (
        "'ccb-fixed' without known qualities, with solver 'exact' or with 'hoeffding-linear'"
    )

    def unfit(self, allocation: Allocation) -> str:
        """Exploration of a fixed length, any solver."""
        if allocation.exploration == "adaptive":
            return "how long it explores depends on bids"
        if allocation.exploration == "none":
            return (
                "it explores nothing, as the qualities are known; mechanism 'clarke' (exact "
                "solver) or 'critical-bid' (greedy) pays for that"
            )
        return ""

    def settled(self, bid: int, ranked_at: int, price: int) -> str:
        """What is paid while exploring, and after."""
        if price == self.highest:
            return f"c_max {self.c_max} an answer"
        return f"exploration at c_max {self.c_max}, then critical bid {from_micro(price)} an answer"
