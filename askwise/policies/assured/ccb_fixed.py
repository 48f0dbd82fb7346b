"""A fixed number of tasks to learn from, whatever is bid: beyond paper 000."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from askwise.core.allocation import Allocation, SetsCriticalBids
from askwise.core.checks import real, whole
from askwise.core.errors import InvalidParameter
from askwise.core.problem import Problem
from askwise.kernels.knapsack import cover_greedy
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.ledger.queries import can_be_asked
from askwise.policies.assured.base import BoundingPolicy
from askwise.policies.assured.choosing import find_task
from askwise.policies.assured.common import FIXED, FRESH, Params, State
from askwise.policies.assured.sets import (
    cheapest_set,
    critical_bids,
    critical_bids_by_classes,
    critical_bids_exact,
)
from askwise.policies.base import policies

ROUNDS = 100
"""Tasks that are learned from, if nothing else is said."""


@policies.register("ccb-fixed")
@dataclass(frozen=True)
class CcbFixed(BoundingPolicy, SetsCriticalBids):
    """Ask everybody about the first tasks, then the cheapest set that the lower bounds allow.

    How many tasks are learned from is fixed beforehand and everybody is asked about them; then
    the cheapest set that reaches the target at the lower bounds answers all others. So no bid
    has a bearing on what is learned.

    Parameters
    ----------
    alpha, error, solver, floor, ahead, earlier, mu, bounds
        As in ``ccb-ns``.
    rounds : int, optional
        Number of tasks to learn from; 100 by default. With too few, the lower bounds don't reach
        the target, and everybody is asked about every task.
    qualities : list of float
        Each worker's quality, in the order of the workers, if you know them; nothing is learned
        then. Empty: qualities are learned.

    Assumes what ``ccb-ns`` assumes; the truth is waited for after the first ``rounds`` tasks
    only.

    Not where prices are known: ``ccb-ns`` ends exploration when it has learned enough.

    References
    ----------
    Beyond paper 000; exploration that is separated and of fixed length is that of M. Babaioff,
    Y. Sharma, A. Slivkins, "Characterizing truthful multi-armed bandit mechanisms", 2009.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("ann", 2), Worker("bob", 1)],
    ...     tasks=["a", "b"],
    ...     options=["no", "yes"],
    ...     policy={"name": "ccb-fixed", "qualities": [0.95, 0.7]},
    ... )
    >>> [each.worker for each in campaign.ask(limit=3)]
    ['ann', 'ann']
    """

    rounds: int | None = None
    qualities: Sequence[float] = ()

    kind: ClassVar[int] = FIXED
    rule: ClassVar[str] = (
        "everybody for a fixed number of tasks, then always the cheapest set that reaches the "
        "target at the lower bounds of the qualities"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rounds is not None:
            whole(self.rounds, "rounds", least=0)
        if isinstance(self.qualities, np.ndarray):
            object.__setattr__(self, "qualities", tuple(self.qualities.tolist()))
        if isinstance(self.qualities, str | bytes) or not isinstance(self.qualities, Sequence):
            raise InvalidParameter(
                f"qualities is {self.qualities!r}: give a list of numbers from 0 to 1, one a "
                "worker",
                field="qualities",
            )
        valid = "numbers from 0 to 1, one per worker"
        known = tuple(real(q, "qualities", valid, least=0, most=1) for q in self.qualities)
        object.__setattr__(self, "qualities", known)
        if known and self.rounds:
            raise InvalidParameter(
                f"rounds is {self.rounds}: leave it out, because the qualities are known",
                field="rounds",
            )

    def params(self) -> Params:
        """As plain numbers."""
        return super().params()._replace(rounds=self.learned_from)

    @property
    def learned_from(self) -> int:
        """How many tasks are learned from."""
        if self.rounds is not None:
            return self.rounds
        return 0 if self.qualities else ROUNDS

    def check(self, problem: Problem) -> None:
        """Refuse qualities that are not one per worker."""
        super().check(problem)
        if self.qualities and len(self.qualities) != len(problem.workers):
            raise InvalidParameter(
                f"qualities has {len(self.qualities)} numbers for {len(problem.workers)} workers: "
                "give one per worker, in their order",
                field="qualities",
            )

    def start(self, problem: Problem, ledger: Ledger) -> State:
        """What is known of the workers."""
        state = super().start(problem, ledger)
        state.known[: len(self.qualities)] = self.qualities
        return state

    def allocation(self) -> Allocation:
        """No bid has a bearing on exploration; then monotone as the solver is.

        The cheapest set is, that of a range of sets that bids have no bearing on, and GA (Lemma
        6.2); the greedy solver of other error functions is not proved to be.
        """
        return Allocation(
            "none" if self.qualities else "fixed",
            True,
            self.minimiser,
            monotone=self.minimiser != "greedy" or self.is_linear,
        )

    def critical_bids(
        self, problem: Problem, state: State, ledger: Ledger, members: Sequence[int]
    ) -> list[float]:
        """The highest bid at which each of the set were still in it, by the present bounds.

        Among those who may be asked about the next task, or, if all were begun, who have room.
        Infinite for one who is indispensable, and for one who is not in the cheapest set of
        these: they were chosen among others.
        """
        size, book = ledger.total(c.WORKERS), ledger.book
        allowed = np.zeros(size, np.bool_)
        if find_task(book, state.tasks, int(state.tally[FRESH]), allowed) < 0:
            allowed[:] = [can_be_asked(book, at) for at in range(size)]
        pool = np.flatnonzero(allowed)
        lower, _ = self.interval(state, ledger)
        costs, qualities = book.workers[pool, c.RANKED_AT], lower[pool]
        chosen, bids = _critical(self, tuple(costs.tolist()), tuple(qualities.tolist()))
        found = {int(pool[at]): float(bid) for at, bid in zip(chosen, bids, strict=True)}
        return [found.get(member, math.inf) for member in members]


@lru_cache(maxsize=64)
def _critical(
    policy: CcbFixed, costs: tuple[int, ...], qualities: tuple[float, ...]
) -> tuple[list[int], list[float]]:
    """The set and its critical bids; once known they are asked for task by task."""
    if policy.solves_exactly:
        chosen, _, _ = cheapest_set(costs, qualities, policy.alpha, policy.error, "exact")
        return chosen, critical_bids_exact(costs, qualities, policy.alpha, policy.error)
    if policy.solver == "classes":
        chosen, _, _ = cheapest_set(costs, qualities, policy.alpha, policy.error, "classes")
        return chosen, critical_bids_by_classes(costs, qualities, policy.alpha, policy.error)
    if not policy.is_linear:
        raise NotImplementedError(
            f"policy {policy.name!r} has no critical bids for error {policy.error!r} with the "
            "greedy solver"
        )
    gains = 2.0 * np.array(qualities) - 1.0
    demand = policy.params().check.demand
    chosen, _, _ = cover_greedy(costs, gains, demand)
    return chosen, critical_bids(costs, gains, demand)
