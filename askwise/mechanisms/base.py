"""What a mechanism is, and the registry of mechanisms."""

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from askwise.core.draws import Draw
from askwise.core.money import from_micro
from askwise.core.problem import Problem
from askwise.core.registry import Registry
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger

AT_COST = "cost of each call"
"""Why a worker is paid what they are, if the cost of a call of theirs was said."""


class Owed(NamedTuple):
    """What a worker is owed so far: answers, money paid, money still reserved, and why.

    ``failures`` are calls that brought no answer; what they cost is part of what is paid.
    """

    worker: str
    answers: int
    paid: int
    reserved: int
    why: str
    failures: int = 0


class Quote(NamedTuple):
    """What a mechanism makes of a bid, in micro-units.

    ``ranked_at`` is the cost at which workers are chosen, ``price`` what each of their answers
    is paid from now on: the most that may be owed for it, which is what ``ask`` reserves.
    """

    worker: str
    bid: int
    ranked_at: int
    price: int

    def to_json(self) -> dict[str, str]:
        """As a QUOTED keeps it, money as a string."""
        return {
            "id": self.worker,
            "bid": str(from_micro(self.bid)),
            "ranked_at": str(from_micro(self.ranked_at)),
            "price": str(from_micro(self.price)),
        }


@dataclass(frozen=True)
class Mechanism(ABC):  # noqa: B024 - abstract so that the registry knows instances by it
    """What to pay for the work that is done.

    What an answer is paid is settled before it is asked: a QUOTED says so in the log, and the
    assignment reserves it.
    """

    name: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    """Where it comes from: a paper's number, ``beyond`` one, or words."""
    outcomes: ClassVar[tuple[str, ...]] = ("utility", "options")
    """The outcome spaces in which it can pay."""
    truthful: ClassVar[bool] = False
    """Whether it is proved that a worker's best bid is their cost, as far as ``promise`` says."""
    promise: ClassVar[str] = "Promises nothing."
    """What exactly is proved."""
    goes_with: ClassVar[str] = "any policy"
    """The policies with which it may be used."""
    bidding: ClassVar[bool] = False
    """Whether workers name their price by ``bid``; the price they joined with is their first bid.
    Bidding closes at the first ask."""
    why: ClassVar[str] = "price per answer"
    """What a payment is made of, in a few words."""

    def check(self, problem: Problem, policy: Any) -> None:
        """Refuse a campaign for which the mechanism's promises are not proved."""
        return None

    def check_bid(self, worker: str, bid: int) -> None:
        """Refuse a bid: raise InvalidProblem with the reason ``invalid_amount``."""
        return None

    def quote(self, problem: Problem, ledger: Ledger, draw: Draw) -> list[Quote]:
        """Turn the bids into prices, once, when the bidding closes; only if ``bidding``."""
        raise NotImplementedError(f"mechanism {self.name!r} takes no bids")

    def requote(
        self, problem: Problem, ledger: Ledger, policy: Any, beliefs: Any, members: Sequence[int]
    ) -> list[Quote]:
        """Set new prices for those that a decision is to ask, where what was learned sets them.

        Called before each decision of a policy that has learned enough (its note is
        ``exploit``); empty where nothing changes. The policy has seen that the money suffices at
        the present prices: a rise must not exceed what is left.
        """
        return []

    def settle(self, problem: Problem, ledger: Ledger) -> list[Owed]:
        """What each worker is owed, in the order in which they joined."""
        size = len(ledger.workers)
        workers = ledger.book.workers[:size]
        # The ledger keeps these sums, so that no campaign is walked through for them; what is out
        # is summed up here, as integers: a float weight would round beyond 2**53 micro-units.
        reserved = np.zeros(size, np.int64)
        if ledger.total(c.PENDING):
            rows = ledger.book.assignments[: ledger.total(c.ASSIGNMENTS)]
            out = rows[rows[:, c.STATUS] == c.OUT]
            np.add.at(reserved, out[:, c.WORKER], out[:, c.COST])
        columns = (*(workers[:, at] for at in (c.ANSWERED, c.FAILURES, c.PAID)), reserved)
        at_cost = set() if self.bidding else ledger.at_cost
        return [
            Owed(
                worker.id,
                answered,
                money,
                held,
                AT_COST if at in at_cost else self.reason(ledger, at),
                failed,
            )
            for at, (worker, answered, failed, money, held) in enumerate(
                zip(ledger.workers, *(column.tolist() for column in columns), strict=True)
            )
        ]

    def earned(self, problem: Problem, ledger: Ledger, worker: int) -> int:
        """What one worker has earned so far, in micro-units: what ``settle`` says is paid."""
        if type(self).settle is Mechanism.settle:
            return int(ledger.book.workers[worker, c.PAID])
        return self.settle(problem, ledger)[worker].paid

    def reason(self, ledger: Ledger, worker: int) -> str:
        """Why a worker is paid what they are paid."""
        return self.why


mechanisms: Registry[Mechanism] = Registry("mechanism", "askwise.mechanisms")
"""All mechanisms by name."""
