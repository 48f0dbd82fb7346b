"""Combinatorial UCB without a check: what assuring the accuracy is measured against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from askwise.policies.assured.base import BoundingPolicy
from askwise.policies.assured.common import BOUNDS, BY_UCB1, CUCB
from askwise.policies.base import policies


@policies.register("cucb")
@dataclass(frozen=True)
class Cucb(BoundingPolicy):
    """Ask for each task the cheapest set that reaches the target at the upper bounds.

    Nobody is added to be safe, and learning never ends.

    Parameters
    ----------
    alpha, error, solver, floor, ahead, mu
        As in ``ccb-ns``.
    bounds : str
        As in ``ccb-ns``; here ``"ucb1"`` unless said otherwise, as in the literature.

    Assumes two options, workers who err independently and equally often on every task, and the
    truth of each task, always.

    Not where each answer has to be accurate: sets are chosen for what they might be worth, and
    early ones miss the target more often than not.

    References
    ----------
    W. Chen, Y. Wang, Y. Yuan, "Combinatorial multi-armed bandit", ICML 2013; cited by paper 000.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("ann", 2), Worker("bob", 1)],
    ...     tasks=["a", "b"],
    ...     options=["no", "yes"],
    ...     policy="cucb",
    ... )
    >>> [each.worker for each in campaign.ask(limit=3)]
    ['bob']
    """

    bounds: str = BOUNDS[BY_UCB1]

    kind: ClassVar[int] = CUCB
    notes: ClassVar[tuple[str, ...]] = ("explore", "optimistic", "unreachable", "mend")
    rule: ClassVar[str] = (
        "the cheapest set that reaches the target at the upper bounds of the qualities"
    )
