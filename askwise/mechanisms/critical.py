"""Paying each of those chosen the highest bid at which he were still chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from askwise.core.allocation import Allocation, SetsCriticalBids
from askwise.core.draws import Draw
from askwise.core.money import from_micro
from askwise.core.problem import Problem
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.ledger.queries import money_left
from askwise.mechanisms.base import Quote
from askwise.mechanisms.sealed import SealedBids


@dataclass(frozen=True)
class CriticalBids(SealedBids):
    """Pay ``c_max`` until a set is chosen by what is known, then the critical bids of its members.

    A critical bid does not depend on the worker's own. Rounded up to a micro-unit it is no less
    than any bid that would have been chosen, and no more than any other, so that on the grid of
    money nothing of the proof is lost.
    """

    amount: ClassVar[str] = "critical bid"
    """What the payment is called."""

    def check_allocation(self, policy: Any, allocation: Allocation) -> None:
        """Only a set that depends on a worker's bid through his critical bid alone."""
        why = self.unfit(allocation)
        if why or not allocation.monotone or not allocation.explores_all:
            raise self._unproved(policy, why or "a lower bid may bring a worker less work")
        if not isinstance(policy, SetsCriticalBids):
            raise self._unproved(policy, "it does not say up to which bid a worker is chosen")

    def unfit(self, allocation: Allocation) -> str:
        """Why the rule of choosing is not the one that the payments are made for, or nothing."""
        raise NotImplementedError

    def quote(self, problem: Problem, ledger: Ledger, draw: Draw) -> list[Quote]:
        """Count everybody at his bid, and reserve the most that may be owed."""
        return [
            Quote(worker.id, bid, bid, self.highest)
            for worker, bid in zip(ledger.workers, _bids(ledger), strict=True)
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


def _bids(ledger: Ledger) -> list[int]:
    bids: list[int] = ledger.book.workers[: len(ledger.workers), c.BID].tolist()
    return bids
