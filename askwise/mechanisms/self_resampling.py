"""Truthful payments from one run of any monotone choice: bids are sometimes raised at random."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from askwise.core.allocation import Allocation
from askwise.core.checks import between
from askwise.core.draws import Draw, uniform
from askwise.core.errors import InvalidParameter
from askwise.core.money import LARGEST, from_micro
from askwise.core.problem import Problem
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.mechanisms.base import Quote, mechanisms
from askwise.mechanisms.sealed import SealedBids


@mechanisms.register("self-resampling")
@dataclass(frozen=True)
class SelfResampling(SealedBids):
    """Raise each bid at random with probability ``gamma``, and pay a bonus for raised ones.

    A bid b is kept with probability 1 - ``gamma``; the worker is then paid b per answer. Otherwise
    their bid counts as x = c_max - (c_max - b) U^(1/(1-gamma)), U uniform, and paid b + (c_max - b)
    / gamma per answer. In expectation over their own draw that is what Myerson's formula asks for,
    although the tasks are given out only once.

    x is rounded down to a micro-unit: the work as a function of the rounded bid falls in x as it
    does in the bid itself, and a kept bid is not rounded, so that nothing of the proof is lost.
    The bonus is rounded up, so that a lie gains less than ``gamma`` micro-units per answer (nothing
    if 1/``gamma`` is whole), and nobody is paid below their bid.

    Parameters
    ----------
    c_max : amount
        Highest bid that you accept; required.
    gamma : float
        Probability that a bid is raised. The smaller it is, the more often the cheapest workers get
        the work, and the rarer and larger the bonus: a worker's payment has a standard deviation of
        about sqrt(1/``gamma``) times the expected bonus.

    Assumes a policy in which a lower bid never brings a worker less work, whatever the answers
    and the bids of others: ``ccb-s`` with the exact solver, or ``ccb-fixed``. Assumes that workers
    care about what they are paid on average, and do not know the campaign's seed, from which the
    draws follow, when they bid.

    Not for ``ccb-s`` with the greedy solver or ``ccb-se``, which are not monotone (a loser's bid
    can change who is chosen, and with it when exploration ends). Truthfulness is promised only
    without limits, absences, tasks that name their workers, a stopping rule, or a budget that
    binds; and not to somebody who minds that their pay is a lottery.

    References
    ----------
    M. Babaioff, R. Kleinberg, A. Slivkins, *Truthful mechanisms with implicit payment
    computation*, EC 2010. Paper 000, theorem 5.1.

    Examples
    --------
    >>> from askwise.mechanisms import mechanisms
    >>> made = mechanisms.make({"name": "self-resampling", "c_max": 20, "gamma": 0.1})
    >>> made.settled(bid=3_000_000, ranked_at=7_200_000, price=173_000_000)
    'bid 3 resampled to 7.2: 3 + (20 - 3)/0.1 an answer'
    """

    gamma: float = 0.1
    paper: ClassVar[str] = "000"
    promise: ClassVar[str] = (
        "Truthful in expectation over the worker's own draw, whatever the answers and the bids of "
        "others; nobody is paid below their bid."
    )
    goes_with: ClassVar[str] = "'ccb-s' or 'ccb-fixed' with solver 'exact' or 'classes'"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gamma", between(self.gamma, "gamma", 0, 1))
        if self.bonus(0) > LARGEST:
            raise InvalidParameter(
                f"gamma is {self.gamma!r}: an answer may be paid c_max/gamma, which at c_max "
                f"{self.c_max} exceeds {from_micro(LARGEST)}; give a larger gamma",
                field="gamma",
            )

    def bonus(self, bid: int) -> int:
        """What a raised bid is paid beyond the bid: (c_max - b)/gamma, rounded up."""
        # A float is taken at its decimal writing, as money is: 0.1 means one tenth.
        return math.ceil((self.highest - bid) / Fraction(repr(self.gamma)))

    def check_allocation(self, policy: Any, allocation: Allocation) -> None:
        """Only what is proved monotone."""
        if allocation.monotone:
            return
        if allocation.explores_all and allocation.minimiser == "greedy":
            why = (
                "unless it solves exactly a lower bid may bring less work, as a loser's bid can "
                "change who is chosen and so when exploration ends"
            )
        else:
            why = "a lower bid may bring a worker less work"
        raise self._unproved(policy, why)

    def quote(self, problem: Problem, ledger: Ledger, draw: Draw) -> list[Quote]:
        """Keep or raise each bid by draws of its own: two for each worker, by their place."""
        found = []
        for at, worker in enumerate(ledger.workers):
            bid = int(ledger.book.workers[at, c.BID])
            if uniform(draw, 2 * at) >= self.gamma:
                found.append(Quote(worker.id, bid, bid, bid))
                continue
            share = uniform(draw, 2 * at + 1) ** (1.0 / (1.0 - self.gamma))
            ranked_at = self.highest - math.ceil((self.highest - bid) * share)
            found.append(Quote(worker.id, bid, ranked_at, bid + self.bonus(bid)))
        return found

    def expected_gain(self, bid: int, cost: int, work: Sequence[tuple[int, int]]) -> float:
        """What a worker gains by a bid on average over their own draw, exactly; in micro-units.

        Parameters
        ----------
        bid, cost : int
            What they ask for, and what an answer costs them, in micro-units.
        work : pairs of int
            How many answers they are asked for, as a function of what they are counted at, with all
            else fixed: from each of these on (ascending, the first at most ``bid``), this many.

        Notes
        -----
        A raised bid is counted at y or more with probability ((c_max - y) / (c_max - b))**(1 -
        gamma), on the grid of micro-units too, as what it is raised to is rounded down.
        """
        kept = next(answers for start, answers in reversed(work) if start <= bid)
        gained = (1.0 - self.gamma) * kept * (bid - cost)
        if bid == self.highest:
            return gained + self.gamma * kept * (bid - cost)
        raised, room = 0.0, self.highest - bid
        ends = [start for start, _ in work[1:]] + [self.highest]
        for (start, answers), end in zip(work, ends, strict=True):
            low, high = max(bid, start), max(bid, end)
            at_least = ((self.highest - low) / room) ** (1.0 - self.gamma)
            beyond = ((self.highest - high) / room) ** (1.0 - self.gamma)
            raised += answers * (at_least - beyond)
        return gained + self.gamma * raised * (bid + self.bonus(bid) - cost)

    def settled(self, bid: int, ranked_at: int, price: int) -> str:
        """Whether the bid was kept, and what that comes to."""
        shown = from_micro(bid)
        if price == bid:
            return f"bid {shown} kept: {shown} an answer"
        return (
            f"bid {shown} resampled to {from_micro(ranked_at)}: "
            f"{shown} + ({self.c_max} - {shown})/{self.gamma!r} an answer"
        )
