"""Constrained confidence bounds: Algorithms 1 and 2, and GA with elimination (6.2.2)."""

import math
from dataclasses import dataclass
from typing import ClassVar

from askwise.core.allocation import Allocation, TakesBids
from askwise.core.checks import real
from askwise.core.money import LARGEST, MICRO
from askwise.policies.assured.audited import WatchedPolicy
from askwise.policies.assured.common import NS, SE, Params, S
from askwise.policies.base import policies

LEAST_SLACK = 0.01
"""With a price for misses exploration ends when the error is known this well, at the latest."""


@dataclass(frozen=True)
class Ccb(WatchedPolicy):
    """Base: plan with the upper bounds, end exploration when the lower bounds agree."""

    xi: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        valid = f"a number from 0, below alpha ({self.alpha:g})"
        real(self.xi, "xi", valid, least=0, most=math.nextafter(self.alpha, 0.0))

    def planned(self) -> float:
        """Section 6.3: the accuracy range."""
        return float(self.alpha - self.xi)


@dataclass(frozen=True)
class SoftCcb(Ccb):
    """Base of those that can also weigh misses against money."""

    miss: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.miss is not None:
            valid = "an amount of money above 0 for a unit of error, or none"
            real(self.miss, "miss", valid, least=math.ulp(0.0), most=LARGEST / MICRO)

    def params(self) -> Params:
        """As plain numbers."""
        params = super().params()
        if self.miss is None:
            return params
        return params._replace(miss=float(self.miss) * MICRO, slack=max(self.xi, LEAST_SLACK))


@policies.register("ccb-ns")
@dataclass(frozen=True)
class CcbNs(SoftCcb):
    """Ask the cheapest set that may be accurate enough, and enough others to be sure that it is.

    For each task it takes the cheapest set that reaches the target if every quality is as high as
    its upper bound. If the set reaches it at the lower bounds too, exploration is over: the same
    set answers all further tasks. Until then others are added until the whole set reaches the
    target at the lower bounds (everybody, if that is not enough), and what is true of the task
    is waited for: who was right is learned from it. The first task goes to everybody.

    Parameters
    ----------
    alpha : float
        Largest probability of error allowed for an answer; below 1/2.
    error : str
        Error function, which gives the probability that a set errs: ``"majority"`` or
        ``"hoeffding-linear(epsilon=0.2)"``, for example.
    solver : str
        How to find the cheapest set: ``"auto"``, ``"exact"``, ``"greedy"`` or ``"classes"``.
        ``"auto"`` uses the paper's greedy algorithm for ``hoeffding-linear`` and an exact search
        otherwise; where that takes too long (hundreds of weak workers), it takes the best set
        found. ``"exact"`` raises an error there, before anything is paid where that can be
        foreseen. ``"classes"`` always finishes: it divides workers into a few classes and takes the
        cheapest set if each worker has the lowest quality of their class.
    floor : float
        Lower limit of every quality: 1/2, or more if you know more. A worker whose record shows a
        lower quality counts by their record.
    ahead : int
        How many tasks may be under way before their truth is known. If the truth of a task will
        never come, close the task: nothing is learned from it, and nothing waits for it.
    earlier : list of [worker, right, count], optional
        How often workers were right in earlier campaigns with similar tasks, as returned by
        ``records_of(campaign)`` of :mod:`askwise.policies.assured.earlier`; or ``"campaign:NAME"``
        of a campaign in the same store, when a campaign is created. It counts as if it had
        been learned here, so the first task need not go to everybody.
    mu : float
        Probability with which some bound may fail to hold.
    bounds : str
        ``"anytime"`` bounds hold for all workers and all counts at once with probability 1 - mu,
        which guarantees that every answer is as accurate as promised. The others guarantee nothing:
        ``"paper"`` bounds hold for a count fixed beforehand, which the end of exploration is not;
        ``"ucb1"`` bounds are narrow at first.
    truth : str
        Which truths it needs. ``"told"``: that of each task, as long as it explores. ``"audited"``:
        only those of tasks drawn at random, but of all of these; the other tasks go on without, and
        nothing is learned from their truths if you tell them. The assured answers are then watched;
        see below.
    audits : float, optional
        With ``truth="audited"``, the share of tasks that are audited: 0.1 by default.
    alarm : float, optional
        With ``truth="audited"``, the largest probability that the watch ever raises an alarm
        although all bounds hold: 0.05 by default.
    xi : float
        Sets are planned for an error of alpha - xi and checked against alpha (section 6.3), so
        that exploration ends early where some set is close to alpha. Where no set reaches
        alpha - xi, they are planned for alpha.
    miss : float, optional
        Price of each unit of error beyond alpha, in money. The policy then minimizes cost + miss *
        max(0, error - alpha) instead of ruling misses out: it asks the set planned with the upper
        bounds as it is, from the first task on, until the bounds put its error within xi or 0.01,
        whichever is more. Where asking nobody is cheapest, nobody is asked, and it ends with
        ``Done("worthless")``.

    Assumes workers who err independently and equally often on every task, and that all workers
    together reach the target. Tasks may have more than two options: ``majority`` and the bounds of
    Hoeffding hold whatever the wrong answers are, ``"plurality(options=4)"`` is the error where
    these are even. All of them hold however frequent each option is; ``"majority-first"`` and
    ``"likeliest"`` make use of that for two options. The truth of a task is told once its answers
    are in, as long as it explores. A set that lost a member is completed.

    With audits these assumptions are tested on the audited answers that are assured, by a
    sequential test that may be looked at after each of them. It raises an alarm when more of them
    were wrong than the bounds allow. From then on the most by which their error exceeds the bounds
    is added to the error of every set, and sets are chosen again for each task; the watch goes on.

    Not for workers who name their own price: it pays to lie. Use ``ccb-s`` then.

    References
    ----------
    Paper 000, Algorithm 1 and section 6.3. A price for misses is its future work (section 7).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("ann", 2), Worker("bob", 1), Worker("eve", 1)],
    ...     tasks=["a", "b"],
    ...     options=["no", "yes"],
    ...     policy={"name": "ccb-ns", "alpha": 0.2},
    ... )
    >>> for each in campaign.ask(limit=3):
    ...     campaign.tell(each.id, "yes")
    >>> campaign.ask()
    Wait(what='truth')
    """

    kind: ClassVar[int] = NS
    rule: ClassVar[str] = (
        "the cheapest set that reaches the target at the upper bounds of the qualities, and others "
        "until it does at the lower bounds; once it does without them, always that set"
    )


@policies.register("ccb-s")
@dataclass(frozen=True)
class CcbS(SoftCcb, TakesBids):
    """Ask everybody until the cheapest set is known to be accurate enough, then that set.

    As ``ccb-ns``, but as long as it explores everybody is asked, whatever they cost. So, with the
    exact solver, a worker who asks for less never gets fewer tasks.

    Parameters
    ----------
    alpha, error, solver, floor, ahead, earlier, mu, bounds, truth, audits, alarm, xi
        As in ``ccb-ns``.
    miss : float, optional
        As in ``ccb-ns``, but everybody is asked while it explores.

    Assumes what ``ccb-ns`` assumes. With ``hoeffding-linear`` and the greedy solver a lower
    price of one worker can change the set and so prolong exploration for another: then it is
    not proved, and not true, that asking for less pays. Nor is it with audits.

    Not for large pools where prices are known: ``ccb-ns`` explores at a fraction of the cost.

    References
    ----------
    Paper 000, Algorithm 2.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("ann", 2), Worker("bob", 1)],
    ...     tasks=["a", "b"],
    ...     options=["no", "yes"],
    ...     policy="ccb-s",
    ... )
    >>> [each.worker for each in campaign.ask(limit=3)]
    ['ann', 'bob']
    """

    kind: ClassVar[int] = S
    rule: ClassVar[str] = (
        "everybody, until the cheapest set that reaches the target at the upper bounds of the "
        "qualities does so at the lower bounds; then always that set"
    )

    def allocation(self) -> Allocation | None:
        """Adaptive; monotone if the set is the cheapest there is (Theorem 5.2)."""
        if self.miss is not None or self.audited:
            return None
        # The proof is about the cheapest set of a family that bids have no bearing on.
        how = self.minimiser
        return Allocation("adaptive", True, how, monotone=how != "greedy")


@policies.register("ccb-se")
@dataclass(frozen=True)
class CcbSe(Ccb, TakesBids):
    """Like ``ccb-s``, but permanently drop workers whom the set will surely not need.

    With the linear form and the greedy solver it is the paper's rule. In the order of cost by lower
    bound, let k be the last worker of the greedy set on the lower bounds. A later worker is dropped
    if they cost no less than any up to k, and by their upper bound still no less than k by the
    lower.

    With every other error function or solver it is ours. Take the set that the solver finds on the
    lower bounds. A set that is cheaper and contains worker r has at most m members, those it can
    pay for. If m others cost no more than r and are no less able, their lower bounds against r's
    upper, one of them can replace r in any such set: r is dropped. So some cheapest set is kept if
    all bounds hold.

    Parameters
    ----------
    alpha, floor, ahead, earlier, mu, bounds, truth, audits, alarm, xi
        As in ``ccb-ns``.
    error : str
        As in ``ccb-ns``; here ``"hoeffding-linear"`` unless said otherwise, as in the paper.
    solver : str
        As in ``ccb-ns``.

    Assumes what ``ccb-ns`` assumes, and with ``hoeffding-linear`` qualities of at least
    1/2 + epsilon. It is not proved, and with the greedy solver not true, that asking for less never
    costs a worker tasks: who is dropped depends on bids. So no mechanism is accepted that promises
    it. Nobody is dropped at a task that names who may be asked.

    Not where prices are known: ``ccb-ns`` explores at a fraction of the cost.

    References
    ----------
    Paper 000, section 6.2.2. Elimination for other error functions is its future work (section 7).

    Examples
    --------
    >>> from askwise.policies import policies
    >>> policies.make({"name": "ccb-se", "xi": 0.05}).error
    'hoeffding-linear'
    """

    error: str = "hoeffding-linear"

    kind: ClassVar[int] = SE
    rule: ClassVar[str] = (
        "everybody who is not surely superfluous, until the cheapest set that reaches the target "
        "at the upper bounds of the qualities does so at the lower bounds; then always that set"
    )

    def allocation(self) -> Allocation | None:
        """Adaptive, and not proved to be monotone."""
        if self.audited:
            return None
        return Allocation("adaptive", False, self.minimiser, monotone=False)
