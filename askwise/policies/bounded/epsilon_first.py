"""Bounded epsilon-first: explore with a share of the budget, then fill a bounded knapsack."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from askwise.core.checks import between, flag, one_of
from askwise.core.money import MICRO, SHARE_UNIT
from askwise.kernels import Array, Draw, Fact, kernel, step
from askwise.ledger import Book, Proposal, money_left
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.policies.base import Kernels, policies
from askwise.policies.bounded import common, races
from askwise.policies.bounded.common import EXPLOIT, STAGE, BoundedPolicy, State
from askwise.policies.capabilities import PlansForAll

EXPLORATIONS = ("uniform", "successive-rejects", "hoeffding-races", "bernstein-races")
UNIFORM, REJECTS, HOEFFDING, BERNSTEIN = range(4)


class Params(NamedTuple):
    """Hyper-parameters as numbers; a negative share stands for ``auto``."""

    share: int
    carry: int
    exploration: int
    by_density: int
    beta: float
    confidence: float


@kernel
def auto_share(book: Book, state: State, confidence: float) -> int:
    """Eq. (18) with d_max as estimated so far, at most one.

    The equation depends on the unit of money; it is taken in whole units, as in the paper.
    Before everyone was tried once, a share for one round is granted.
    """
    budget = book.totals[c.BUDGET] / MICRO
    total, n = 0.0, 0
    low, high = math.inf, -math.inf
    untried = False
    for worker in range(book.totals[c.WORKERS]):
        if book.workers[worker, c.JOINED] == 0:
            continue
        price = book.workers[worker, c.PRICE] / MICRO
        total += price
        n += 1
        if state.beliefs[worker, common.COUNT] == 0.0:
            untried = True
        else:
            density = common.worth(book, state.beliefs, worker) / price
            low, high = min(low, density), max(high, density)
    if untried or n == 0:
        # One part more than the division says: rounding must not cost the round.
        return min(SHARE_UNIT, math.ceil(total / budget * SHARE_UNIT) + 1)
    d_max = high - low
    if d_max <= 0.0:
        return SHARE_UNIT
    spread = -math.log((1.0 - math.exp(math.log(confidence) / n)) / 2.0)
    cube = n * n / (d_max * d_max * budget) * spread * total
    return int(min(1.0, math.exp(math.log(cube) / 3.0)) * SHARE_UNIT)


@kernel
def choose(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Algorithm 1: exploration (section 4.1 or a race), then the plan of section 4.2."""
    share = params.share if params.share >= 0 else auto_share(book, state, params.confidence)
    if state.phase[STAGE] < EXPLOIT:
        waits = params.exploration != UNIFORM or params.share < 0
        if waits and book.totals[c.PENDING] > 0:
            return c.WAIT_ANSWERS
        if params.exploration == REJECTS:
            found = races.explore_by_rejects(book, state, share, params.by_density, out)
        elif params.exploration >= HOEFFDING:
            bernstein = int(params.exploration == BERNSTEIN)
            found = races.explore_by_races(
                book, state, share, params.beta, params.by_density, bernstein, out
            )
        else:
            found = common.explore_uniformly(book, state, share, out)
        if found:
            return c.PROPOSED
        if book.totals[c.PENDING] > 0:
            return c.WAIT_ANSWERS
    capacity = money_left(book.totals)
    if params.carry == 0:
        capacity -= saved(book, state, share)
    if capacity > 0 and common.propose_by_density(book, state.beliefs, capacity, out):
        return c.PROPOSED
    if params.carry == 0 and common.best_worker(book, state.beliefs, False) >= 0:
        # There is money, but it was set aside.
        return c.WAIT_ANSWERS if book.totals[c.PENDING] > 0 else c.DONE_BUDGET
    return common.at_end(book, available)


@kernel
def saved(book: Book, state: State, share: int) -> int:
    """What exploration left of its share (set aside when it does not carry over)."""
    if state.phase[STAGE] == EXPLOIT:
        return state.phase[common.SAVED]
    return max(0, common.share_of_budget(book, share) - book.totals[c.SPENT])


@step
def absorb(book: Book, state: State, params: Params, fact: Fact, draw: Draw) -> None:
    """Learn from answers; follow the stages and the rejections of what was decided."""
    common.learn(book, state, fact)
    if fact.kind != k.DECIDED:
        return
    share = params.share if params.share >= 0 else auto_share(book, state, params.confidence)
    if fact.note == EXPLOIT:
        if state.phase[STAGE] < EXPLOIT:
            state.phase[common.SAVED] = saved(book, state, share)
    elif fact.note == common.PHASE:
        races.absorb_rejects(book, state, share, params.by_density)
        return
    elif params.exploration >= HOEFFDING:
        bernstein = int(params.exploration == BERNSTEIN)
        races.reject_beaten(book, state.beliefs, params.beta, params.by_density, bernstein)
    common.keep_stage(book, state, fact)


@policies.register("bounded-epsilon-first")
@dataclass(frozen=True)
class BoundedEpsilonFirst(BoundedPolicy, PlansForAll):
    """Explore all workers with a share of the budget, then buy the best plan of the rest.

    Exploration asks everyone equally often; exploitation fills the remaining budget by
    estimated utility per price within each worker's limit (bounded greedy).

    Parameters
    ----------
    epsilon : float or "auto"
        Share of the budget for exploration, rounded to nine decimals. ``auto`` uses Eq. (18) with
        its inputs estimated during the run; with realistic budgets the equation gives more than
        one, and the share is then the whole budget (see the reproduction page).
    exploration : "uniform", "successive-rejects", "hoeffding-races" or "bernstein-races"
        How to explore (sections 4.1, 5.2, 6.4; Bernstein races are named in section 2).
    by : "mean" or "density"
        What races compare: utility (the paper) or utility per price.
    carry : bool
        Whether money that exploration could not use goes into exploitation.
    beta : float
        Probability that a bound of the Hoeffding or Bernstein races fails (.05 in the paper).
    confidence : float
        With ``auto``: the probability beta with which Theorem 1 holds, in Eq. (18).

    Assumes utilities from a fixed distribution per worker; needs a utility after each answer.

    Not for workers whose quality drifts: nothing is learnt after exploration. Where answers
    come one by one, ``thompson-knapsack`` and ``knowledge-gradient`` earn more.

    References
    ----------
    Paper 003, Algorithm 1, Algorithm 2, sections 4, 5.2 and 6.4. V. Mnih, C. Szepesvari, J.-Y.
    Audibert, "Empirical Bernstein stopping", ICML 2008.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 2)],
    ...     outcome="utility",
    ...     budget=20,
    ...     policy={"name": "bounded-epsilon-first", "epsilon": 0.2},
    ... )
    >>> batch = campaign.ask(limit=9)
    >>> [each.worker for each in batch]
    ['a', 'b', 'a']
    >>> for each, value in zip(batch, [0.3, 0.9, 0.1]):
    ...     campaign.tell(each.id, value)
    >>> {each.worker for each in campaign.ask(limit=8)}
    {'b'}
    """

    epsilon: float | Literal["auto"] = 0.15
    exploration: str = "uniform"
    by: str = "mean"
    carry: bool = True
    beta: float = 0.05
    confidence: float = 0.95
    notes: ClassVar[tuple[str, ...]] = (
        "explore: round",
        "explore: pass",
        "exploit: plan",
        "explore: phase",
    )
    rule: ClassVar[str] = (
        "explore everyone with a share of the budget, then fill the rest by estimated utility "
        "per price within the limits"
    )
    kernels: ClassVar[Kernels] = Kernels(choose, absorb)

    def __post_init__(self) -> None:
        if self.epsilon != "auto":
            common.share_of(self.epsilon, "epsilon")
        one_of(self.exploration, "exploration", EXPLORATIONS)
        one_of(self.by, "by", ("mean", "density"))
        flag(self.carry, "carry")
        between(self.beta, "beta", 0, 1)
        between(self.confidence, "confidence", 0, 1)

    def params(self) -> Params:
        """Choices as numbers, the share in exact parts."""
        return Params(
            -1 if self.epsilon == "auto" else common.share_of(self.epsilon, "epsilon"),
            int(self.carry),
            EXPLORATIONS.index(self.exploration),
            int(self.by == "density"),
            float(self.beta),
            float(self.confidence),
        )
