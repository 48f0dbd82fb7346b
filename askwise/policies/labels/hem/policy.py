"""Hierarchical EM with context sharing: ask where it pays, whoever is believed to know."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from askwise.core.checks import real
from askwise.core.labels import NO_LABEL, Label
from askwise.core.money import MICRO, NO_CAP
from askwise.core.problem import Problem
from askwise.kernels import Array, Draw, Fact, kernel
from askwise.ledger import Book, Ledger, Proposal, idle, may_put, money_left, propose
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.ledger.queries import at_limit
from askwise.policies.base import Axes, Kernels, policies
from askwise.policies.capabilities import GoldRequest, LabelsItself, LimitsSize, Score, SuggestsGold
from askwise.policies.labels.common import RankedPolicy, is_over
from askwise.policies.labels.hem.beliefs import (
    MODE,
    ROUNDS,
    State,
    fit,
    is_due,
    learn,
    learn_truth,
    new_state,
    trust_changed,
)
from askwise.policies.labels.hem.ranking import (
    Params,
    best_worker,
    expert_for,
    is_open_side,
    mode,
    optimism,
    place,
    place_all,
    place_heard,
    place_if_due,
    task_to_settle,
    worth,
)
from askwise.policies.labels.tournament import build_tree, first_task, new_tree

MOST_WORK = 3_000_000
"""The most that options**3 * workers may be: what a decision looks at, 2 to 3 s without the
compiler.
"""

LAST_ROUNDS = 6
"""Rounds of EM before answers are given."""

ASK, EXPERT, SETTLE = range(3)


@kernel
def choose(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """The task that is next, and whoever tells most about it for his price."""
    money = money_left(book.totals)
    task, expert = task_to_settle(book, state, money, available)
    if expert >= 0:
        out.head[1] = SETTLE
        propose(out, task, expert, 1, 1.0)
        return c.PROPOSED
    task = first_task(book, state.tree, state.keys, money, available)
    if task < 0:
        return why_nothing(book, state, money, available, out)
    worker = best_worker(book, state, task, money, available)
    expert = expert_for(book, state, task, worker, money, available)
    out.head[1] = ASK if expert < 0 else EXPERT
    propose(out, task, worker if expert < 0 else expert, 1, 1.0)
    return c.PROPOSED


@kernel
def why_nothing(book: Book, state: State, money: int, available: Array, out: Proposal) -> int:
    """Why nobody is asked: tasks that are settled count as done though they are open."""
    everyone = out.whole[0]
    for worker in range(book.totals[c.WORKERS]):
        everyone[worker] = 1
    if first_task(book, state.tree, state.keys, money, everyone) >= 0:
        return c.WAIT_WORKERS
    if book.totals[c.PENDING] > 0:
        return c.WAIT_ANSWERS
    if first_task(book, state.tree, state.keys, NO_CAP, everyone) >= 0:
        return c.DONE_BUDGET
    settled = False
    unsettled = False
    for task in range(book.totals[c.TASKS]):
        if state.keys[task] < math.inf:
            unsettled = True
        elif not is_over(book, task):
            settled = True
    if not settled:
        return idle(book, available)
    if unsettled:
        # Not to be mistaken for done: nobody is left who could be asked about the rest.
        joined = False
        for worker in range(book.totals[c.WORKERS]):
            if book.workers[worker, c.JOINED] == 1:
                joined = True
                if at_limit(book, worker):
                    return c.DONE_LIMITS
        if not joined:
            return c.WAIT_WORKERS
    return c.DONE_TARGET


@kernel
def absorb(book: Book, state: State, params: Params, fact: Fact, draw: Draw) -> None:
    """Learn from answers and truths, refit when there is news enough, and rank."""
    kind = fact.kind
    if kind in (k.ADDED, k.JOINED):
        build_tree(state.tree, state.keys, book.totals[c.TASKS])
        if kind == k.JOINED and trust_changed(book, state):
            fit(book, state, ROUNDS)
        place_all(book, state, params)
    elif fact.task >= 0:
        if kind == k.ANSWER:
            learn(book, state, fact)
        elif kind == k.TRUTH:
            learn_truth(book, state, fact)
        place(book, state, params, fact.task)
    if is_due(book, state):
        fit(book, state, ROUNDS)
        place_heard(book, state, params)
    place_if_due(book, state, params)


@policies.register("hem")
@dataclass(frozen=True)
class Hem(RankedPolicy, LabelsItself, SuggestsGold, LimitsSize):
    """Learn who is right on what by EM that shares between contexts, and ask where it pays.

    Each worker has soft counts of right and wrong answers for each context and class; what is
    little known of one borrows from his other classes and contexts, as much as the answers
    themselves support. In the first half of the budget a task is pursued until it is fairly sure,
    then the least sure comes first. The worker asked is the one believed to tell most for his
    price: by the square of his lead over chance, with a bonus for what is not known of him. A
    trusted worker is asked where he tells more for his price than others do, or where his answer
    settles who is right in a context. The answers are those of EM in the end, with their
    probability.

    Parameters
    ----------
    target : float
        The probability of being wrong at which a task is done: easy tasks end early, and the
        campaign may end with money left. It is held by what is believed while asking; the last
        rounds of EM may still move it a little. 0: spend the budget.

    Assumes that answers are independent given the truth, and that most workers are right more
    often than not in most contexts. Takes several options, prices, limits, known truths
    (``truth``) and trusted workers; tasks without a context share one. Where answers can't tell
    who is right in a context, ``needs_gold`` says so and names tasks whose truth would.

    Not for workers who agree on what is wrong: no method sees that without some truth. Not for
    many options: a decision goes over options cubed for each worker, so options**3 * workers may
    be 3,000,000 at most (20 options and 375 workers, 50 and 24); a larger campaign is refused, and
    so are workers who would make it larger.

    References
    ----------
    Beyond paper 002: information sharing among contexts and experts are the future work that its
    section 6 names. The model is that of A. Dawid, A. Skene, "Maximum likelihood estimation of
    observer error-rates using the EM algorithm", 1979, with borrowed counts.

    Examples
    --------
    >>> from askwise import Campaign, Task, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("ann", "0.05"), Worker("bob", "0.05"), Worker("vet", 2, trusted=True)],
    ...     tasks=[Task("a", context="birds"), Task("b", context="cats")],
    ...     options=["no", "yes"],
    ...     budget=1,
    ...     policy="hem",
    ...     seed=1,
    ... )
    >>> campaign.ask()[0].worker
    'ann'
    """

    target: float = 0.0

    paper: ClassVar[str] = "beyond 002"
    notes: ClassVar[tuple[str, ...]] = ("most telling worker", "expert", "expert to settle")
    rule: ClassVar[str] = (
        "pursue a task until it is fairly sure, in the second half of the budget the least sure "
        "first; ask the worker who is believed to tell most for his price"
    )
    kernels: ClassVar[Kernels] = Kernels(choose, absorb)
    axes: ClassVar[Axes] = {
        "task": "keys order known posterior",
        "context worker": "skill_of",
        "cell": "worker_of place_of counts",
        "worker": "totals",
        "context": "classes sides settling",
    }

    def __post_init__(self) -> None:
        real(self.target, "target", "a probability from 0 to below 1", least=0, most=0.999)

    def check_size(self, options: int, workers: int) -> None:
        """Refuse more options and workers than a decision can go over."""
        self.refuse_size(
            f"options**3 * workers with {options} options and {workers} workers",
            options**3 * workers, MOST_WORK, "options" if options > 2 else "workers",
            "use 'crowdsense' or 'random-pairs', or fewer options",
        )  # fmt: skip

    def params(self) -> Params:
        """As plain numbers."""
        return Params(float(self.target))

    def start(self, problem: Problem, ledger: Ledger) -> State:
        """Nothing believed yet."""
        book = ledger.book
        state = new_state(book, max(1, len(problem.options)), new_tree(len(book.tasks)))
        build_tree(state.tree, state.keys, ledger.total(c.TASKS))
        state.meta[MODE] = mode(book)
        return state

    def used(self, state: State, ledger: Ledger) -> dict[str, Array]:
        """What is only room for a posterior does not count."""
        kept = super().used(state, ledger)
        del kept["scratch"]
        return kept

    def labels(
        self, problem: Problem, state: State, ledger: Ledger, tasks: Sequence[int], draw: Draw
    ) -> list[Label]:
        """The most probable option after some more rounds of EM, and its probability."""
        final = self.fitted(state, ledger)
        found: list[Label] = []
        for task in tasks:
            if ledger.book.tasks[task, c.TASK_ANSWERED] == 0 and final.known[task] == 0:
                found.append(NO_LABEL)
                continue
            option = int(np.argmax(final.posterior[task]))
            found.append(Label(float(option), float(final.posterior[task, option]), "agreement"))
        return found

    def fitted(self, state: State, ledger: Ledger) -> State:
        """Beliefs after the last rounds of EM, in arrays of their own."""
        final = State(*(array.copy() for array in state))
        fit(ledger.book, final, LAST_ROUNDS)
        return final

    def needs_gold(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw
    ) -> list[GoldRequest]:
        """Contexts whose answers fit nearly as well with right and wrong swapped."""
        names = {number: name for name, number in ledger.contexts.items()}
        found = []
        for at in range(ledger.total(c.CONTEXTS)):
            tasks = [
                ledger.tasks[task - 1].id
                for task in state.settling[at]
                if task > 0 and state.known[task - 1] == 0
            ]
            # Where all truths are known there is nothing more to ask for.
            if tasks and is_open_side(state, at):
                found.append(GoldRequest(names[at], tasks, "side"))
        return found

    def scores(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw, available: Array
    ) -> list[Score]:
        """Accuracy with its bonus, and what each worker is ranked by, on the task that is next."""
        book = ledger.book
        task = int(first_task(book, state.tree, state.keys, money_left(book.totals), available))
        if task < 0:
            return []
        context = int(book.tasks[task, c.CONTEXT])
        prices = [int(price) for price in book.workers[: len(ledger.workers), c.PRICE] if price > 0]
        unit = float(min(prices, default=0))
        found = []
        for at, worker in enumerate(ledger.workers):
            details: dict[str, Any] = {
                "optimistic_accuracy": float(optimism(book, state, context, at)),
                "answers_here": float(state.totals[at].sum()),
                "price": int(book.workers[at, c.PRICE]) / MICRO,
            }
            index = None
            if not worker.trusted and may_put(book, task, at):
                index = float(worth(book, state, context, at, unit))
            found.append(Score(worker.id, index, details))
        return found
