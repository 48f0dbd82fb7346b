"""Epsilon-t-greedy with sets: the benchmark of section 6.3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from askwise.core.checks import real
from askwise.policies.assured.base import AssuredPolicy
from askwise.policies.assured.common import GREEDY, Params
from askwise.policies.base import policies


@policies.register("epsilon-t-greedy")
@dataclass(frozen=True)
class EpsilonTGreedy(AssuredPolicy):
    """Ask everybody with a probability that falls, else the set that looks cheapest.

    Task t goes to everybody with probability min(1, explore / t), else to the cheapest set that
    reaches the target if the shares of right answers so far are the qualities.

    Parameters
    ----------
    alpha, error, solver, floor, ahead
        As in ``ccb-ns``. A worker who was asked and never told right or wrong counts at the
        floor.
    explore : float
        0 or more; 100 in the paper. As long as somebody was never asked, everybody is.

    Assumes two options, workers who err independently and equally often on every task, and the
    truth of each task, always. Where the money is short of everybody, the set is asked.

    Not where accuracy is to be assured: it takes estimates at face value and misses the target
    at times, by the error function it plans with.

    References
    ----------
    Paper 000, section 6.3.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("ann", 2), Worker("bob", 1)],
    ...     tasks=["a", "b"],
    ...     options=["no", "yes"],
    ...     policy="epsilon-t-greedy",
    ... )
    >>> [each.worker for each in campaign.ask(limit=3)]
    ['ann', 'bob']
    """

    explore: float = 100.0

    kind: ClassVar[int] = GREEDY
    rule: ClassVar[str] = (
        "everybody with probability min(1, explore / t) for the t-th task, else the cheapest set "
        "that reaches the target by the shares of right answers"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        real(self.explore, "explore", "a number of 0 or more", least=0)

    def params(self) -> Params:
        """As plain numbers."""
        return super().params()._replace(explore=float(self.explore))
