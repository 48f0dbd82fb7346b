"""What assuring the accuracy is measured against: sets chosen without a check."""

from dataclasses import dataclass
from typing import ClassVar

from askwise.core.checks import real
from askwise.policies.assured.base import AssuredPolicy, BoundingPolicy
from askwise.policies.assured.common import BOUNDS, BY_UCB1, CUCB, GREEDY, Params
from askwise.policies.base import policies


@policies.register("cucb")
@dataclass(frozen=True)
class Cucb(BoundingPolicy):
    """For each task, ask the cheapest set that reaches the target at the upper bounds.

    Nobody is added to be safe, and learning never ends.

    Parameters
    ----------
    alpha, error, solver, floor, ahead, earlier, mu
        As in ``ccb-ns``.
    bounds : str
        As in ``ccb-ns``, but ``"ucb1"`` by default, as in the literature.

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


@policies.register("epsilon-t-greedy")
@dataclass(frozen=True)
class EpsilonTGreedy(AssuredPolicy):
    """Ask everybody with a falling probability, otherwise the set that looks cheapest.

    Task t goes to everybody with probability min(1, explore / t), else to the cheapest set that
    reaches the target if the shares of right answers so far are the qualities.

    Parameters
    ----------
    alpha, error, solver, floor, ahead, earlier
        As in ``ccb-ns``. A worker who was asked but never judged right or wrong counts at the
        floor.
    explore : float
        Task t goes to everybody with probability min(1, explore / t). 0 or more; 100 in the paper.
        As long as somebody was never asked, everybody is asked.

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
