"""Paying each of those chosen the highest bid at which they were still chosen: critical bids."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from askwise.core.allocation import Allocation, SetsCriticalBids
from askwise.core.draws import Draw
from askwise.core.money import from_micro
from askwise.core.problem import Problem
from askwise.ledger import Ledger, money_left
from askwise.ledger import columns as c
from askwise.mechanisms.base import Quote, mechanisms
from askwise.mechanisms.sealed import SealedBids


@dataclass(frozen=True)
class CriticalBids(SealedBids):
    """Pay ``c_max`` until a set is chosen by what is known, then the critical bids of its members.

    A critical bid does not depend on the worker's own. Rounded up to a micro-unit it is no less
    than any bid that would have been chosen, and no more than any other, so that on the grid of
    money nothing of the proof is lost.
    """

    paper: ClassVar[str] = "beyond 000"
    promise: ClassVar[str] = (
        "Truthful: no bid ever serves a worker better than their cost, whatever others bid; "
        "nobody is paid below their bid."
    )
    amount: ClassVar[str] = "critical bid"
    """What the payment is called."""

    def check_allocation(self, policy: Any, allocation: Allocation) -> None:
        """Only a set that depends on a worker's bid through their critical bid alone."""
        why = self.unfit(allocation)
        if why or not allocation.monotone or not allocation.explores_all:
            raise self._unproved(policy, why or "a lower bid may bring a worker less work")
        if not isinstance(policy, SetsCriticalBids):
            raise self._unproved(policy, "it does not say up to which bid a worker is chosen")

    def unfit(self, allocation: Allocation) -> str:
        """Why the rule of choosing is not the one that the payments are made for, or nothing."""
        raise NotImplementedError

    def quote(self, problem: Problem, ledger: Ledger, draw: Draw) -> list[Quote]:
        """Count everybody at their bid, and reserve the most that may be owed."""
        bids = ledger.book.workers[: len(ledger.workers), c.BID].tolist()
        return [
            Quote(worker.id, bid, bid, self.highest)
            for worker, bid in zip(ledger.workers, bids, strict=True)
        ]

    def requote(
        self, problem: Problem, ledger: Ledger, policy: Any, beliefs: Any, members: Sequence[int]
    ) -> list[Quote]:
        """Set the prices of those chosen to their critical bids."""
        critical = policy.critical_bids(problem, beliefs, ledger, members)
        rows = ledger.book.workers
        due = {
            at: max(int(rows[at, c.BID]), self._rounded(bid))
            for at, bid in zip(members, critical, strict=True)
        }
        if sum(due.values()) > int(money_left(ledger.book.totals)):
            # Where the budget binds, what the policy has found to be affordable is not exceeded.
            due = {at: min(price, int(rows[at, c.PRICE])) for at, price in due.items()}
        return [
            Quote(ledger.workers[at].id, int(rows[at, c.BID]), int(rows[at, c.RANKED_AT]), price)
            for at, price in due.items()
            if price != rows[at, c.PRICE]
        ]

    def settled(self, bid: int, ranked_at: int, price: int) -> str:
        """The critical bid, once there is one."""
        if price == self.highest:
            return f"c_max {self.c_max} an answer"
        return f"{self.amount} {from_micro(price)} an answer"

    def _rounded(self, critical: float) -> int:
        if critical >= self.highest:
            return self.highest
        # What the last bits of a ratio add to a whole number of micro-units is no bid.
        return math.ceil(critical - 4.0 * math.ulp(critical))


@mechanisms.register("clarke")
@dataclass(frozen=True)
class Clarke(CriticalBids):
    """Pay each chosen worker their bid plus the extra cost of the cheapest set without them.

    That is the cost of the cheapest set without the worker, less what the others of the chosen set
    bid: the highest bid at which the worker would still be chosen. It is ``c_max`` at most, and
    ``c_max`` where no set without the worker reaches the target.

    Parameters
    ----------
    c_max : amount
        Highest bid that you accept, and maximum paid for an answer; required. ``ask`` reserves this
        much before a set is chosen.

    Assumes known qualities and the exact solver: ``ccb-fixed`` with ``qualities`` and solver
    ``exact``; or ``classes``; then the cheapest set of a range that does not depend on bids
    replaces the cheapest, with the worker and without.

    Not where qualities are learned: without answers of those not chosen it is unknown what the
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

    goes_with: ClassVar[str] = "'ccb-fixed' with known qualities and solver 'exact' or 'classes'"
    amount: ClassVar[str] = "Clarke payment"

    def unfit(self, allocation: Allocation) -> str:
        """Known qualities, exact solver."""
        if allocation.exploration != "none":
            return "it learns the qualities, and Clarke's payments need them known"
        if allocation.minimiser == "greedy":
            return "its set may not be the cheapest, which Clarke's payments need"
        return ""


@mechanisms.register("critical-bid")
@dataclass(frozen=True)
class CriticalBid(CriticalBids):
    """Pay each worker of the greedy set the highest bid at which it still includes them.

    It is ``c_max`` at most, and ``c_max`` where the target is not reached without them.

    Parameters
    ----------
    c_max : amount
        Highest bid that you accept, and maximum paid for an answer; required. ``ask`` reserves this
        much before a set is chosen.

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


@mechanisms.register("fixed-exploration")
@dataclass(frozen=True)
class FixedExploration(CriticalBids):
    """Pay everybody ``c_max`` per answer while exploring, then the chosen their critical bids.

    Everybody is asked about the first tasks whatever they bid, so that neither what is learned nor
    what is paid for it depends on bids. Then each of the chosen set is paid the highest bid at
    which they would still be chosen, given what was learned: ``c_max`` at most, and ``c_max`` where
    the target is not reached without them.

    Parameters
    ----------
    c_max : amount
        Highest bid that you accept, and what is paid for an answer while exploring; required.
        ``ask`` reserves this much until a set is chosen.

    Assumes a number of tasks for exploration that is fixed beforehand: ``ccb-fixed``, with the
    exact solver, with ``classes``, or with the greedy one for the linear form.

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

    promise: ClassVar[str] = (
        "Truthful: no bid ever serves a worker better than their cost, whatever the answers "
        "and the bids of others; nobody is paid below their bid."
    )
    goes_with: ClassVar[str] = (
        "'ccb-fixed' without known qualities, with solver 'exact' or 'classes', or with "
        "'hoeffding-linear'"
    )

    def unfit(self, allocation: Allocation) -> str:
        """Exploration of a fixed length, any solver."""
        if allocation.exploration == "adaptive":
            return "how long it explores depends on bids"
        if allocation.exploration == "none":
            return (
                "it explores nothing, because the qualities are known; mechanism 'clarke' (exact "
                "solver) or 'critical-bid' (greedy) pays for that"
            )
        return ""

    def settled(self, bid: int, ranked_at: int, price: int) -> str:
        """What is paid while exploring, and after."""
        paid = super().settled(bid, ranked_at, price)
        return paid if price == self.highest else f"exploration at c_max {self.c_max}, then {paid}"
