"""Epsilon-first policies for labelling: everyone on the same tasks first, then one assignment."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from askwise.core.checks import one_of
from askwise.core.money import MICRO
from askwise.core.problem import Problem
from askwise.core.records import by_reference
from askwise.kernels import Array, Draw, Fact, kernel, step
from askwise.ledger import Book, Ledger, Proposal, propose
from askwise.ledger import columns as c
from askwise.ledger.queries import idle, may_put, money_left, next_task, room
from askwise.policies.base import Axes, Kernels, policies
from askwise.policies.bounded import common as bounded
from askwise.policies.bounded.common import EXPLOIT, PASSES, ROUNDS, STAGE
from askwise.policies.capabilities import PlansForAll, Score
from askwise.policies.crowds.common import may_ask, next_question
from askwise.policies.limited.common import AGREED, COUNT, LimitedPolicy, learn

TRIAL = -1
"""Instead of a share of the budget: one task each on trial."""

KNAPSACK, SINGLE_BY_DENSITY, SINGLE_BY_TOTAL = range(3)


@by_reference
class State(NamedTuple):
    """Records of the workers, tables of f_k, and the stage."""

    beliefs: Array
    given: Array
    phase: Array


class Params(NamedTuple):
    """Share of the budget for exploration (or TRIAL), the inference function, who gets the rest."""

    share: int
    inference: int
    exploitation: int


@kernel
def explore(book: Book, phase: Array, share: int, available: Array, out: Proposal) -> bool:
    """One task to everyone, while that fits in the share; then to the cheapest who fit.

    From the cheapest up in either case: an answer is judged by those before it, so order matters.
    """
    task = next_question(book, available)
    if task < 0:
        return False
    budget = book.totals[c.BUDGET]
    allowance = min(bounded.exploration_left(book, share), money_left(book.totals))
    cost = 0
    for worker in range(book.totals[c.WORKERS]):
        if may_ask(book, task, worker, budget, available):
            cost += book.workers[worker, c.PRICE]
    out.head[1] = ROUNDS if phase[STAGE] == ROUNDS and cost <= allowance else PASSES
    for worker in bounded.cheapest_first(book, out):
        if may_ask(book, task, worker, budget, available):
            price = book.workers[worker, c.PRICE]
            if price > allowance:
                break
            allowance -= price
            propose(out, task, worker, 1, 1.0)
    return bool(out.head[0] > 0)


@kernel
def try_everyone(book: Book, out: Proposal) -> bool:
    """One task to everyone who had none yet, from the cheapest up while there is money."""
    money = money_left(book.totals)
    task = -1
    for worker in bounded.cheapest_first(book, out):
        if book.workers[worker, c.ASKED] > 0 or room(book, worker, money) <= 0:
            continue
        if task < 0:
            task = next_task(book, worker)
        # A worker who may not be asked about this task has their trial on another, next time.
        if may_put(book, task, worker):
            propose(out, task, worker, 1, 1.0)
            money -= book.workers[worker, c.PRICE]
    out.head[1] = PASSES
    return bool(out.head[0] > 0)


@kernel
def choose(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Explore, wait for all answers, then assign what the money buys in one step (section 6)."""
    if params.exploitation != KNAPSACK:
        code = bounded.go_on_with_the_one(book, bounded.State(state.beliefs, state.phase), out)
        if code != bounded.NOBODY:
            return code
    if params.share == TRIAL:
        # At any stage: newcomers get their trial.
        if try_everyone(book, out):
            return c.PROPOSED
    elif state.phase[STAGE] < EXPLOIT and explore(book, state.phase, params.share, available, out):
        return c.PROPOSED
    if book.totals[c.PENDING] > 0:
        return c.WAIT_ANSWERS
    if params.exploitation == KNAPSACK:
        if bounded.propose_by_density(book, state.beliefs, money_left(book.totals), out):
            return c.PROPOSED
    else:
        best = bounded.best_worker(book, state.beliefs, params.exploitation == SINGLE_BY_TOTAL)
        if best >= 0 and bounded.give_all_to(book, best, out):
            return c.PROPOSED
    return idle(book, available)


@step
def absorb(book: Book, state: State, params: Params, fact: Fact, draw: Draw) -> None:
    """Judge an answer by the vote; follow the stages."""
    learn(book, state.beliefs, state.given, params.inference, fact, draw)
    bounded.keep_stage(book, bounded.State(state.beliefs, state.phase), fact)


@dataclass(frozen=True)
class _EpsilonFirst(LimitedPolicy, PlansForAll):
    exploitation: str = "knapsack"
    pick: str = "density"
    axes: ClassVar[Axes] = {"worker": "beliefs given"}
    notes: ClassVar[tuple[str, ...]] = ("explore: round", "explore: pass", "exploit")
    kernels: ClassVar[Kernels] = Kernels(choose, absorb)

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.exploitation, "exploitation", ("knapsack", "single"))
        one_of(self.pick, "pick", ("density", "total"))
        self.share()

    def share(self) -> int:
        """Of the budget, for exploration, in exact parts; checks what it is made of."""
        return TRIAL

    def params(self) -> Params:
        """As plain numbers."""
        ending = KNAPSACK
        if self.exploitation == "single":
            ending = SINGLE_BY_TOTAL if self.pick == "total" else SINGLE_BY_DENSITY
        return Params(self.share(), self.code, ending)

    def start(self, problem: Problem, ledger: Ledger) -> State:
        """Nobody known, exploration not begun."""
        return State(
            np.zeros((len(ledger.book.workers), 3)),
            self.tables(problem, ledger),
            np.zeros(4, np.int64),
        )

    def scores(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw, available: Array
    ) -> list[Score]:
        """Value contribution per price: the order in which plans are filled."""
        found = []
        for at, worker in enumerate(ledger.workers):
            count, price = float(state.beliefs[at, COUNT]), worker.micro / MICRO
            value = float(bounded.mean(state.beliefs, at))
            details = {"answers": count, "value": value, "price": price}
            if count > 0:
                details["accuracy"] = float(state.beliefs[at, AGREED]) / count
            found.append(Score(worker.id, value / price, details))
        return found


@policies.register("label-bounded-epsilon-first")
@dataclass(frozen=True)
class LabelBoundedEpsilonFirst(_EpsilonFirst):
    """Have everyone label the same few tasks, then assign the rest by value per price.

    Each round of exploration is one task that everyone labels; rounds go on while they fit in a
    share of the budget, then the cheapest label further tasks, as many as fit. In a round the
    cheapest is asked first. How often a worker agreed with the
    vote as it stood after each answer gives their value contribution (11). What money is left is
    planned in one step, most value per price first within the limits, and spread evenly over the
    tasks: each worker takes those with the fewest labels.

    Parameters
    ----------
    epsilon : float
        Share of the budget for exploration, rounded to nine decimals.
    inference : "majority", "weighted-majority", "map" or a table
        How answers are weighed; see ``b-kube``.
    label_prior : sequence of float, optional
        With ``map``: the prior probability of each label, in the order of the options; equal by
        default.
    exploitation : "knapsack" or "single"
        Whether the rest is planned over all workers, or goes to one.
    pick : "density" or "total"
        With ``single``, which worker: the one with the best value per price, or with the largest
        total within limit and money.

    Assumes answers that are right with a fixed probability per worker, and a vote that is right
    more often than not. Needs options, prices above 0 and a budget; works without a stopping
    rule.

    Not where answers come one by one anyway: nothing is learnt after exploration, and a task
    that is hard gets no more labels than an easy one.

    References
    ----------
    Paper 001, section 6 (benchmark Bounded eps-F), after paper 003.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 1), Worker("c", 2)],
    ...     tasks=["t1", "t2", "t3"],
    ...     options=["no", "yes"],
    ...     budget=10,
    ...     policy={"name": "label-bounded-epsilon-first", "epsilon": 0.4},
    ... )
    >>> batch = campaign.ask(limit=9)
    >>> [(each.task, each.worker) for each in batch]
    [('t1', 'a'), ('t1', 'b'), ('t1', 'c')]
    >>> for each, answer in zip(batch, ["yes", "yes", "no"]):
    ...     campaign.tell(each.id, answer)
    >>> [(each.task, each.worker) for each in campaign.ask(limit=9)]
    [('t2', 'a'), ('t3', 'a'), ('t2', 'b'), ('t3', 'b'), ('t2', 'c')]
    """

    epsilon: float = 0.15
    rule: ClassVar[str] = (
        "everyone labels the same tasks with a share of the budget, then the rest by value "
        "contribution per price within the limits, on the tasks with the fewest labels"
    )

    def share(self) -> int:
        """Of the budget, for exploration, in exact parts."""
        return bounded.share_of(self.epsilon, "epsilon")


@policies.register("label-epsilon-first")
@dataclass(frozen=True)
class LabelEpsilonFirst(LabelBoundedEpsilonFirst):
    """Have everyone label the same few tasks, then give the rest to the most efficient worker.

    Explores as ``label-bounded-epsilon-first`` does; then one worker labels as many tasks as their
    limit and the money allow, and the campaign ends.

    Parameters
    ----------
    epsilon : float
        Share of the budget for exploration, rounded to nine decimals.
    inference : "majority", "weighted-majority", "map" or a table
        How answers are weighed; see ``b-kube``.
    label_prior : sequence of float, optional
        With ``map``: the prior probability of each label, in the order of the options; equal by
        default.
    exploitation : "single" or "knapsack"
        Whether the rest goes to one worker, or is planned over all.
    pick : "density" or "total"
        Which worker: the one with the best value per price (001), or with the largest total within
        limit and money (003).

    Assumes what ``label-bounded-epsilon-first`` assumes.

    Not for use where limits are below the number of tasks: most tasks have one label, or none. It
    is the benchmark that others improve on.

    References
    ----------
    Paper 001, section 6 (benchmark eps-F).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 1), Worker("c", 2)],
    ...     tasks=["t1", "t2", "t3"],
    ...     options=["no", "yes"],
    ...     budget=10,
    ...     policy={"name": "label-epsilon-first", "epsilon": 0.4},
    ... )
    >>> for each, answer in zip(campaign.ask(limit=9), ["yes", "yes", "no"]):
    ...     campaign.tell(each.id, answer)
    >>> [(each.task, each.worker) for each in campaign.ask(limit=9)]
    [('t2', 'a'), ('t3', 'a')]
    """

    exploitation: str = "single"
    rule: ClassVar[str] = (
        "everyone labels the same tasks with a share of the budget, then all work goes to the "
        "one worker who promises most"
    )


@policies.register("label-trialsourcing")
@dataclass(frozen=True)
class LabelTrialsourcing(_EpsilonFirst):
    """Have everyone label one task on trial, then assign the rest by value per price.

    The trial is a single task, for everyone from the cheapest up while there is money; a worker
    who may not be asked about it has another. What follows is as in
    ``label-bounded-epsilon-first``.

    Parameters
    ----------
    inference : "majority", "weighted-majority", "map" or a table
        How answers are weighed; see ``b-kube``.
    label_prior : sequence of float, optional
        With ``map``: the prior probability of each label, in the order of the options; equal by
        default.
    exploitation : "knapsack" or "single"
        Whether the rest is planned over all workers (001), or goes to one (003).
    pick : "density" or "total"
        With ``single``, which worker: the one with the best value per price, or with the largest
        total within limit and money.

    Assumes that one label tells a worker's accuracy, which is 0 or 1 after it. Needs options,
    prices above 0 and a budget.

    Not for use where more than one task can be spared: a single label tells little.

    References
    ----------
    Paper 001, section 6 (benchmark Trailsourcing).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 2), Worker("b", 1)],
    ...     tasks=["t1", "t2", "t3"],
    ...     options=["no", "yes"],
    ...     budget=10,
    ...     policy="label-trialsourcing",
    ... )
    >>> [(each.task, each.worker) for each in campaign.ask(limit=9)]
    [('t1', 'b'), ('t1', 'a')]
    """

    notes: ClassVar[tuple[str, ...]] = ("none", "trial", "exploit")
    rule: ClassVar[str] = (
        "everyone labels one task on trial, then the rest by value contribution per price within "
        "the limits, on the tasks with the fewest labels"
    )
