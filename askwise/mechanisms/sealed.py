"""What mechanisms with sealed bids share: a highest bid, and a policy that they are proved for."""

from dataclasses import dataclass
from typing import Any, ClassVar

from askwise.core.allocation import Allocation, TakesBids
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.money import Amount, from_micro, to_micro
from askwise.core.problem import Problem
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.mechanisms.base import Mechanism


@dataclass(frozen=True)
class SealedBids(Mechanism):
    """Workers bid up to ``c_max`` before the first ask; a policy for which nothing is proved is
    refused.
    """

    c_max: Amount | None = None
    outcomes: ClassVar[tuple[str, ...]] = ("options",)
    bidding: ClassVar[bool] = True
    truthful: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.c_max is None:
            raise InvalidParameter(
                f"c_max is missing: mechanism {self.name!r} needs the highest bid that you take",
                field="c_max",
            )
        micro = to_micro(self.c_max, "c_max")
        if micro == 0:
            raise InvalidParameter("c_max is 0: give an amount above 0", field="c_max")
        object.__setattr__(self, "c_max", str(from_micro(micro)))

    @property
    def highest(self) -> int:
        """The highest bid, in micro-units."""
        return to_micro(self.c_max, "c_max")

    def check(self, problem: Problem, policy: Any) -> None:
        """Refuse a policy for which truthfulness is not proved, and prices above ``c_max``."""
        allocation = policy.allocation() if isinstance(policy, TakesBids) else None
        if allocation is None:
            raise self._unproved(policy, "nothing is proved of how its choices depend on bids")
        self.check_allocation(policy, allocation)
        for worker in problem.workers:
            if worker.micro > self.highest:
                raise InvalidProblem(
                    f"price of worker {worker.id!r} is {worker.price}: it is their first bid, and "
                    f"c_max is {self.c_max}",
                    field="price",
                )

    def check_allocation(self, policy: Any, allocation: Allocation) -> None:
        """Refuse a rule of choosing for which truthfulness is not proved."""
        raise NotImplementedError

    def check_bid(self, worker: str, bid: int) -> None:
        """Refuse a bid above ``c_max``."""
        if bid > self.highest:
            raise InvalidProblem(
                f"amount is {from_micro(bid)}: a bid of worker {worker!r} may be c_max, "
                f"{self.c_max}, at most",
                field="amount",
                reason="invalid_amount",
            )

    def reason(self, ledger: Ledger, worker: int) -> str:
        """Say how the price came about; before the bidding has closed no bid is shown."""
        if not ledger.total(c.QUOTED):
            return "the bidding is open"
        row = ledger.book.workers[worker]
        return self.settled(int(row[c.BID]), int(row[c.RANKED_AT]), int(row[c.PRICE]))

    def settled(self, bid: int, ranked_at: int, price: int) -> str:
        """How a price came about, once the bidding has closed."""
        raise NotImplementedError

    def _unproved(self, policy: Any, why: str) -> InvalidProblem:
        """Say why a policy is refused, and what to use."""
        return InvalidProblem(
            f"mechanism {self.name!r} is not proved truthful with policy {policy.name!r}: {why}; "
            f"use {self.goes_with}, or mechanism 'pay-price'",
            field="mechanism",
        )
