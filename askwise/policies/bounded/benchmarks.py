"""The benchmarks of paper 003, section 6.2: what bounded epsilon-first is compared with."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from askwise.core.checks import one_of
from askwise.core.money import MICRO, SHARE_UNIT
from askwise.kernels import Array, Draw, Fact, kernel, step, uniform
from askwise.ledger import Book, Proposal, idle, money_left, propose, room
from askwise.ledger import columns as c
from askwise.policies.base import Kernels, NoSettings, policies
from askwise.policies.bounded import common
from askwise.policies.bounded.common import BoundedPolicy, State
from askwise.policies.capabilities import PlansForAll


class Params(NamedTuple):
    """Share of the budget for exploration."""

    share: int


@step
def absorb(book: Book, state: State, params: Params | NoSettings, fact: Fact, draw: Draw) -> None:
    """Add up what exploration showed, and remember the stage."""
    common.learn(book, state, fact)
    common.keep_stage(book, state, fact)


@kernel
def choose_largest_total(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Explore uniformly; then the worker who promises the largest total, to the end."""
    code = common.go_on_with_the_one(book, state, out)
    if code != common.NOBODY:
        return code
    exploring = state.phase[common.STAGE] < common.EXPLOIT
    if exploring and common.explore_uniformly(book, state, params.share, out):
        return c.PROPOSED
    if book.totals[c.PENDING] > 0:
        return c.WAIT_ANSWERS
    best = common.best_worker(book, state.beliefs, True)
    if best >= 0 and common.give_all_to(book, best, out):
        return c.PROPOSED
    return common.at_end(book, available)


@policies.register("budget-limited-epsilon-first")
@dataclass(frozen=True)
class BudgetLimitedEpsilonFirst(BoundedPolicy, PlansForAll):
    """Explore with a share of the budget, then give the rest to the single best worker.

    Best is the largest total that limit and money left allow: estimated utility times
    min(limit left, money left / price). When that worker can take no more, the campaign ends.

    Parameters
    ----------
    epsilon : float
        Share of the budget for uniform exploration, rounded to nine decimals.

    Assumes utilities from a fixed distribution per worker; needs a utility after each answer.

    Not for workers with limits: it is the budget-limited bandit's answer, the rival that the
    bounded one improves on.

    References
    ----------
    Paper 003, section 6.2 (benchmark 1).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1, limit=3), Worker("b", 2)],
    ...     outcome="utility",
    ...     budget=30,
    ...     policy="budget-limited-epsilon-first",
    ... )
    >>> [each.worker for each in campaign.ask(limit=9)]
    ['a', 'b']
    """

    epsilon: float = 0.10
    notes: ClassVar[tuple[str, ...]] = ("explore: round", "explore: pass", "all to one")
    rule: ClassVar[str] = (
        "explore everyone with a share of the budget, then all work to the largest estimated total"
    )
    kernels: ClassVar[Kernels] = Kernels(choose_largest_total, absorb)

    def __post_init__(self) -> None:
        common.share_of(self.epsilon, "epsilon")

    def params(self) -> Params:
        """The share in exact parts."""
        return Params(common.share_of(self.epsilon, "epsilon"))


@kernel
def propose_trials(book: Book, out: Proposal) -> bool:
    """One unit to everyone who had none yet, from the cheapest up while there is money."""
    money = money_left(book.totals)
    for worker in common.cheapest_first(book, out):
        if book.workers[worker, c.ASKED] == 0 and room(book, worker, money) > 0:
            propose(out, -1, worker, 1, 1.0)
            money -= book.workers[worker, c.PRICE]
    out.head[1] = common.PASSES
    return bool(out.head[0] > 0)


@kernel
def choose_best_trial(
    book: Book, state: State, params: NoSettings, draw: Draw, available: Array, out: Proposal
) -> int:
    """Trials first, cheapest up; then the best density to the worker's limit."""
    code = common.go_on_with_the_one(book, state, out)
    if code != common.NOBODY:
        return code
    # Also when the one worker has left: newcomers get their trial.
    if propose_trials(book, out):
        return c.PROPOSED
    if book.totals[c.PENDING] > 0:
        return c.WAIT_ANSWERS
    best = -1
    best_density = -math.inf
    money = money_left(book.totals)
    for worker in range(book.totals[c.WORKERS]):
        if common.worth(book, state.beliefs, worker) < 0.0:
            continue
        if state.beliefs[worker, common.COUNT] > 0.0 and room(book, worker, money) > 0:
            density = common.worth(book, state.beliefs, worker) / book.workers[worker, c.PRICE]
            if density > best_density:
                best, best_density = worker, density
    if best >= 0 and common.give_all_to(book, best, out):
        return c.PROPOSED
    return common.at_end(book, available)


@policies.register("trialsourcing")
@dataclass(frozen=True)
class Trialsourcing(BoundedPolicy, PlansForAll):
    """Give everyone one unit of work on trial, then everything to the best utility per price.

    The trials go from the cheapest worker up while there is money; the worker with the best
    observed density then works to their limit, and the campaign ends, money left or not.

    Assumes that a single sample tells a worker's quality. Needs a utility after each answer.

    Not for campaigns in which the best worker's limit is far below the budget.

    References
    ----------
    Paper 003, section 6.2 (benchmark 2); an existing practice on expert sites.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1, limit=3), Worker("b", 2)],
    ...     outcome="utility",
    ...     budget=9,
    ...     policy="trialsourcing",
    ... )
    >>> [each.worker for each in campaign.ask(limit=9)]
    ['a', 'b']
    """

    notes: ClassVar[tuple[str, ...]] = ("none", "trial", "all to one")
    rule: ClassVar[str] = "one trial each, then all work to the best observed utility per price"
    kernels: ClassVar[Kernels] = Kernels(choose_best_trial, absorb)


class Lottery(NamedTuple):
    """Which prior the one worker is drawn from."""

    prior: int


PRIORS = ("uniform", "cheap", "expensive")
UNIFORM, CHEAP, EXPENSIVE = range(3)


@step
def weight_of(book: Book, worker: int, prior: int) -> float:
    """A worker's weight in the draw: all alike, or by price."""
    price = max(book.workers[worker, c.PRICE], 1) / MICRO
    if prior == CHEAP:
        return 1.0 / price
    return price if prior == EXPENSIVE else 1.0


@kernel
def choose_one(
    book: Book, state: State, params: Lottery, draw: Draw, available: Array, out: Proposal
) -> int:
    """Draw once; then the same worker to the end."""
    code = common.go_on_with_the_one(book, state, out)
    if code != common.NOBODY:
        return code
    money = money_left(book.totals)
    total = 0.0
    for worker in range(book.totals[c.WORKERS]):
        if room(book, worker, money) > 0:
            total += weight_of(book, worker, params.prior)
    if total == 0.0:
        return idle(book, available)
    mark, passed, picked = uniform(draw, 0) * total, 0.0, -1
    for worker in range(book.totals[c.WORKERS]):
        if room(book, worker, money) > 0:
            picked = worker
            passed += weight_of(book, worker, params.prior)
            if mark < passed:
                break
    common.give_all_to(book, picked, out)
    out.odds[0] = weight_of(book, picked, params.prior) / total
    return c.PROPOSED


@step
def keep_stage(
    book: Book, state: State, params: Lottery | NoSettings, fact: Fact, draw: Draw
) -> None:
    """Remember the stage; answers teach nothing here."""
    common.keep_stage(book, state, fact)


@policies.register("random")
@dataclass(frozen=True)
class RandomWorker(BoundedPolicy, PlansForAll):
    """Draw one worker and give them all the work they can take; then stop.

    Parameters
    ----------
    prior : "uniform", "cheap" or "expensive"
        How the worker is drawn: uniformly, or in proportion to 1 / price or to the price.

    Assumes nothing about quality and learns nothing, so it also works on tasks with options.

    Not for saving money: it is how an employer without information picks an applicant, the
    benchmark of 003, section 6.2.

    References
    ----------
    Paper 003, section 6.2 (benchmark 3).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 1)],
    ...     seed=1,
    ...     outcome="utility",
    ...     budget=3,
    ...     policy="random",
    ... )
    >>> batch = campaign.ask(limit=9)
    >>> len(batch), len({each.worker for each in batch}), batch[0].propensity
    (3, 1, 0.5)
    """

    prior: str = "uniform"
    outcomes: ClassVar[tuple[str, ...]] = ("utility", "options")
    notes: ClassVar[tuple[str, ...]] = ("none", "none", "all to one")
    rule: ClassVar[str] = "one worker, drawn at random, gets all the work"
    kernels: ClassVar[Kernels] = Kernels(choose_one, keep_stage)

    def __post_init__(self) -> None:
        one_of(self.prior, "prior", PRIORS)

    def params(self) -> Lottery:
        """The prior by its number."""
        return Lottery(PRIORS.index(self.prior))


@kernel
def choose_everyone(
    book: Book, state: State, params: NoSettings, draw: Draw, available: Array, out: Proposal
) -> int:
    """Explore with the whole budget."""
    if common.explore_uniformly(book, state, SHARE_UNIT, out):
        return c.PROPOSED
    return idle(book, available)


@policies.register("uniform")
@dataclass(frozen=True)
class Uniform(BoundedPolicy, PlansForAll):
    """Ask everyone equally often until the budget is used up.

    Whole rounds of all workers while a round fits, then passes from the cheapest worker up.

    Assumes nothing about quality and learns nothing, so it also works on tasks with options.

    Not for saving money: it is the yardstick for pure exploration (003, section 6.2).

    References
    ----------
    Paper 003, sections 4.1 and 6.2 (benchmark 4).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 2)], outcome="utility", budget=7, policy="uniform"
    ... )
    >>> [each.worker for each in campaign.ask(limit=9)]
    ['a', 'b', 'a', 'b', 'a']
    """

    outcomes: ClassVar[tuple[str, ...]] = ("utility", "options")
    needs_budget: ClassVar[bool] = False
    notes: ClassVar[tuple[str, ...]] = ("round", "pass")
    rule: ClassVar[str] = (
        "one unit to every worker in each round; when a round no longer fits, from the cheapest up"
    )
    kernels: ClassVar[Kernels] = Kernels(choose_everyone, keep_stage)
