"""Bandit-based task assignment: paper 002, algorithm 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from askwise.core.book import (
    CELL_WORKER,
    CLOSED,
    CONTEXT,
    CONTEXT_TASKS,
    CONTEXTS,
    FIRST_CELL,
    FIRST_TASK,
    NEXT_ALIKE,
    NEXT_CELL,
    OPTIONS,
    PRICE,
    PROPENSITY,
    PROPOSED,
    REPEAT,
    TASK_ANSWERED,
    TASK_ASKED,
    TASKS,
    VOTES,
    WORKERS,
    Array,
    Book,
    Proposal,
    asked_before,
    idle,
    may_answer,
    may_put,
    money_left,
    propose,
)
from askwise.core.checks import real, whole
from askwise.core.compiling import kernel, step
from askwise.core.draws import Draw, uniform
from askwise.core.events import Fact
from askwise.core.ledger import Ledger
from askwise.core.money import MICRO
from askwise.core.problem import Problem
from askwise.core.tournament import at_hand, build_tree, first_task, new_tree, rekey
from askwise.policies.base import Kernels, Score, policies
from askwise.policies.labels.common import (
    ADDED,
    ANSWER,
    ASKED_FACT,
    CLOSED_FACT,
    DECLINED,
    EXPIRED,
    JOINED_FACT,
    RankedPolicy,
    everyone_asked,
    is_over,
)

# Columns of `contexts`: t^s; t^s when its tasks were scored last; the newest task with an answer
# (its number plus one: 0 is none); how many of the tasks to explore are over.
STEPS, SCORED, LAST_HEARD, EXPLORED = range(4)

# Columns of `heard`: the task with an answer before this one in its context (plus one), and
# whether the task is explored.
BEFORE, EXPLORES = range(2)

EXPLORATION, ADAPTIVE = range(2)

LATER = 1e6
"""Added to the key of tasks that come after all others."""


class State(NamedTuple):
    """Losses L_js, counts of contexts, confidence scores of tasks and their tournament.

    ``weights`` is room for one step's weights and holds nothing between facts.
    """

    losses: Array
    contexts: Array
    heard: Array
    keys: Array
    tree: Array
    weights: Array


class Params(NamedTuple):
    """N', and the growth of t^s after which all scores of a context are brought up to date."""

    explore: int
    refresh: float


@step
def rate(book: Book, t: int) -> float:
    """Learning rate of a context at its t-th step (Alg. 1, line 19)."""
    K = float(book.totals[WORKERS])
    return math.sqrt(math.log(K) / (t * K))


@step
def weigh(book: Book, state: State, context: int, t: int, weights: Array) -> float:
    """Weights w_js of all workers at step t into ``weights``; returns their sum.

    All are divided by the largest, which cancels wherever they are used.
    """
    losses = state.losses
    eta = rate(book, t)
    least = math.inf
    for worker in range(book.totals[WORKERS]):
        least = min(least, losses[context, worker])
    total = 0.0
    for worker in range(book.totals[WORKERS]):
        weights[worker] = math.exp(-eta * (losses[context, worker] - least))
        total += weights[worker]
    return total


@step
def weight_for(book: Book, weights: Array, task: int, option: int) -> float:
    """Weight of the answers that name an option."""
    cells = book.cells
    total = 0.0
    cell = book.tasks[task, FIRST_CELL]
    while cell >= 0:
        votes = cells[cell, VOTES + option]
        if votes > 0:
            total += weights[cells[cell, CELL_WORKER]] * votes
        cell = cells[cell, NEXT_CELL]
    return total


@kernel
def score(book: Book, weights: Array, total: float, task: int) -> float:
    """Confidence score of Eqn. 1: the lead of the first option over the second.

    With two options that is the paper's |y_i|; the denominator is over all workers.
    """
    top = 0.0
    second = 0.0
    for option in range(book.totals[OPTIONS]):
        weight = weight_for(book, weights, task, option)
        if weight > top:
            second = top
            top = weight
        elif weight > second:
            second = weight
    return (top - second) / total


@kernel
def is_loss(book: Book, weights: Array, task: int, answer: int) -> bool:
    """Whether an answer differs from the weighted vote; a tied vote agrees with nobody."""
    mine = weight_for(book, weights, task, answer)
    for option in range(book.totals[OPTIONS]):
        if option != answer and weight_for(book, weights, task, option) >= mine:
            return True
    return False


@step
def is_explored(book: Book, task: int) -> bool:
    """Whether a task is closed or was put to everyone."""
    return bool(book.tasks[task, CLOSED] == 1) or everyone_asked(book, task)


@step
def key_of(book: Book, state: State, weights: Array, total: float, task: int) -> float:
    """Rank of a task: lowest first, infinite for one that is not to be asked about.

    Answers that are out put a task behind all with fewer out: its score will change. Explored
    tasks are done with (line 14); where pairs may repeat, they come after all others.
    """
    explored = state.heard[task, EXPLORES] == 1
    if is_over(book, task) or (explored and book.totals[REPEAT] == 0):
        return math.inf
    out = book.tasks[task, TASK_ASKED] - book.tasks[task, TASK_ANSWERED]
    return score(book, weights, total, task) + out + (LATER if explored else 0.0)


@step
def place(book: Book, state: State, weights: Array, total: float, task: int) -> None:
    """Bring a task's place among those to ask about up to date."""
    rekey(state.tree, state.keys, task, key_of(book, state, weights, total, task))


@kernel
def place_all(book: Book, state: State, context: int, total: float) -> None:
    """Bring all tasks of a context that have answers up to date (Alg. 1, line 23)."""
    last = state.contexts[context, LAST_HEARD]
    while last > 0:
        place(book, state, state.weights, total, last - 1)
        last = state.heard[last - 1, BEFORE]


@kernel
def place_again(book: Book, state: State, task: int) -> None:
    """Bring one task up to date after something else than an answer happened to it."""
    context = book.tasks[task, CONTEXT]
    t = max(1, state.contexts[context, STEPS])
    total = weigh(book, state, context, t, state.weights)
    place(book, state, state.weights, total, task)


@step
def hear(state: State, context: int, task: int) -> None:
    """Thread a task's first answer into its context."""
    contexts, heard = state.contexts, state.heard
    heard[task, BEFORE] = contexts[context, LAST_HEARD]
    contexts[context, LAST_HEARD] = task + 1


@kernel
def learn_exploring(book: Book, state: State, task: int, worker: int, answer: int) -> None:
    """Losses by majority (Alg. 1, lines 12 and 13), as each answer comes in.

    The majority may change with an answer; then all who answered are judged anew.
    """
    votes, cells, losses = book.votes, book.cells, state.losses
    context = book.tasks[task, CONTEXT]
    before = majority(votes, task, book.totals[OPTIONS], answer)
    after = majority(votes, task, book.totals[OPTIONS], -1)
    losses[context, worker] += 1.0 if answer != after else 0.0
    if before != after:
        cell = book.tasks[task, FIRST_CELL]
        while cell >= 0:
            for option in range(book.totals[OPTIONS]):
                count = cells[cell, VOTES + option]
                if cells[cell, CELL_WORKER] == worker and option == answer:
                    count -= 1
                if count > 0:
                    change = (option != after) - (option != before)
                    losses[context, cells[cell, CELL_WORKER]] += float(count * change)
            cell = cells[cell, NEXT_CELL]


@step
def majority(votes: Array, task: int, options: int, less: int) -> int:
    """Option with the most votes, those of one answer ``less`` left out; -1 if there is a tie."""
    best = -1
    top = -1
    for option in range(options):
        count = votes[task, option] - (option == less)
        if count > top:
            best, top = option, count
        elif count == top:
            best = -1
    return best


@kernel
def learn(book: Book, state: State, params: Params, fact: Fact) -> None:
    """Judge an answer by the weighted vote and book its loss (Alg. 1, lines 21 to 23)."""
    contexts, weights = state.contexts, state.weights
    task, worker, answer = fact.task, fact.worker, int(fact.value)
    context = book.tasks[task, CONTEXT]
    t = contexts[context, STEPS] + 1
    contexts[context, STEPS] = t
    total = weigh(book, state, context, t, weights)
    loss = is_loss(book, weights, task, answer)
    if params.refresh <= 0.0 or t >= (1.0 + params.refresh) * contexts[context, SCORED]:
        contexts[context, SCORED] = t
        place_all(book, state, context, total)
    else:
        place(book, state, weights, total, task)
    if loss:
        state.losses[context, worker] += 1.0 / book.marks[fact.assignment, PROPENSITY]


@kernel
def take_stock(book: Book, state: State, params: Params) -> None:
    """See which tasks are explored, and rank all, after tasks or workers came."""
    tasks, heard, contexts = book.tasks, state.heard, state.contexts
    for context in range(book.totals[CONTEXTS]):
        contexts[context, EXPLORED] = 0
        task = book.contexts[context, FIRST_TASK]
        for _ in range(params.explore):
            if task < 0:
                break
            heard[task, EXPLORES] = 1
            contexts[context, EXPLORED] += is_explored(book, task)
            task = tasks[task, NEXT_ALIKE]
    for task in range(book.totals[TASKS]):
        # Nobody was heard about these: no weight matters.
        if tasks[task, TASK_ANSWERED] == 0:
            state.keys[task] = key_of(book, state, state.weights, 1.0, task)
    build_tree(state.tree, state.keys, book.totals[TASKS])
    for context in range(book.totals[CONTEXTS]):
        t = max(1, contexts[context, STEPS])
        place_all(book, state, context, weigh(book, state, context, t, state.weights))


@kernel
def explore(book: Book, params: Params, state: State, available: Array, out: Proposal) -> bool:
    """Propose all workers for the first task that is still to be explored (line 12)."""
    tasks = book.tasks
    money = money_left(book.totals)
    for context in range(book.totals[CONTEXTS]):
        due = min(params.explore, book.contexts[context, CONTEXT_TASKS])
        if state.contexts[context, EXPLORED] >= due:
            continue
        task = book.contexts[context, FIRST_TASK]
        for _ in range(due):
            if not is_explored(book, task):
                left = money
                for worker in range(book.totals[WORKERS]):
                    if not at_hand(book, worker, left, available):
                        continue
                    # Once each, also where pairs may repeat.
                    if may_answer(book, task, worker) and not asked_before(book, task, worker):
                        propose(out, task, worker, 1, 1.0)
                        left -= book.workers[worker, PRICE]
                if out.head[0] > 0:
                    return True
            task = tasks[task, NEXT_ALIKE]
    return False


@kernel
def choose(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Explore; then the least confident task, and a worker drawn by his weight."""
    if params.explore > 0 and explore(book, params, state, available, out):
        out.head[1] = EXPLORATION
        return PROPOSED
    money = money_left(book.totals)
    task = first_task(book, state.tree, state.keys, money, available)
    if task < 0:
        return idle(book, available)
    context = book.tasks[task, CONTEXT]
    weights = out.real[0]
    weigh(book, state, context, state.contexts[context, STEPS] + 1, weights)
    total = 0.0
    for worker in range(book.totals[WORKERS]):
        # No pair twice: the rest is renormalised (p~ of the notes).
        if at_hand(book, worker, money, available) and may_put(book, task, worker):
            # A weight that is too small to be told from 0 still has its chance.
            weights[worker] = max(weights[worker], 1e-300)
            total += weights[worker]
        else:
            weights[worker] = 0.0
    mark = uniform(draw, 0) * total
    passed = 0.0
    picked = -1
    for worker in range(book.totals[WORKERS]):
        if weights[worker] > 0.0:
            passed += weights[worker]
            picked = worker
            if mark < passed:
                break
    out.head[1] = ADAPTIVE
    propose(out, task, picked, 1, weights[picked] / total)
    return PROPOSED


@kernel
def absorb(book: Book, state: State, params: Params, fact: Fact, draw: Draw) -> None:
    """Learn from answers; keep tasks that are over out of the ranking."""
    kind, task = fact.kind, fact.task
    if kind == ANSWER:
        context = book.tasks[task, CONTEXT]
        if book.tasks[task, TASK_ANSWERED] == 1:
            hear(state, context, task)
        if state.heard[task, EXPLORES] == 1:
            learn_exploring(book, state, task, fact.worker, int(fact.value))
        else:
            learn(book, state, params, fact)
    elif kind == ASKED_FACT:
        over = is_over(book, task)
        rekey(state.tree, state.keys, task, math.inf if over else state.keys[task] + 1.0)
        if state.heard[task, EXPLORES] == 1:
            count_explored(book, state, params, book.tasks[task, CONTEXT])
    elif kind in (EXPIRED, DECLINED, CLOSED_FACT):
        count_explored(book, state, params, book.tasks[task, CONTEXT])
        place_again(book, state, task)
    elif kind in (ADDED, JOINED_FACT):
        take_stock(book, state, params)


@step
def count_explored(book: Book, state: State, params: Params, context: int) -> None:
    """Count how many of a context's tasks to explore are over."""
    done = 0
    task = book.contexts[context, FIRST_TASK]
    for _ in range(params.explore):
        if task < 0:
            break
        done += is_explored(book, task)
        task = book.tasks[task, NEXT_ALIKE]
    state.contexts[context, EXPLORED] = done


@policies.register("bbta")
@dataclass(frozen=True)
class Bbta(RankedPolicy):
    """Ask about the least confident task, of a worker drawn by his record in its context.

    First ``explore`` tasks of each context are put to everyone and judged by majority. Then each
    step takes the task whose weighted vote is closest, draws a worker with probability in
    proportion to exp(-eta * losses) among those not asked about it, and books a loss, divided by
    that probability, when his answer differs from the weighted vote. The answers are the votes
    weighted by all losses in the end.

    Parameters
    ----------
    explore : int
        Tasks of each context (the first ones) that everyone is asked about: N' of the paper.
    refresh : float
        0 scores all tasks of a context again after each answer, as the paper has it, which costs
        as much as the context has answers. 0.05 does so when the context's answers have grown by
        5% and otherwise scores the task that was answered: a decision then costs O(workers +
        log tasks), with no loss of accuracy seen.

    Assumes that most workers are right more often than not in each context (nobody knows the
    truth: a worker is judged by the others). Two or more options; tasks without a context share
    one. Prices are respected and not weighed: a dear worker is drawn as often as a cheap one.

    Not for budgets that exploration would eat: it takes explore * contexts * workers answers.
    Where accuracy per answer counts, ``hem`` needs a third of the answers.

    References
    ----------
    Paper 002, algorithm 1; several options by its section 6.

    Examples
    --------
    >>> from askwise import Campaign, Task, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker(name, 1) for name in ("ann", "bob", "eve")],
    ...     tasks=[Task("a", context="birds"), Task("b", context="birds")],
    ...     options=["no", "yes"],
    ...     budget=6,
    ...     policy="bbta",
    ...     seed=1,
    ... )
    >>> [each.worker for each in campaign.ask(limit=3)]
    ['ann', 'bob', 'eve']
    """

    explore: int = 1
    refresh: float = 0.0

    notes: ClassVar[tuple[str, ...]] = ("exploration", "least confident task")
    rule: ClassVar[str] = (
        "everyone on the first tasks of each context; then the task whose weighted vote is "
        "closest, and a worker drawn in proportion to exp(-eta * his losses in its context)"
    )
    labels_itself: ClassVar[bool] = True
    kernels: ClassVar[Kernels] = Kernels(choose, absorb)
    per_skill: ClassVar[tuple[str, ...]] = ("losses",)
    per_context: ClassVar[tuple[str, ...]] = ("contexts",)
    per_task: ClassVar[tuple[str, ...]] = ("heard", "keys")
    per_worker: ClassVar[tuple[str, ...]] = ("weights",)

    def __post_init__(self) -> None:
        whole(self.explore, "explore", least=0)
        real(self.refresh, "refresh", "a share of 0 or more, such as 0.05", least=0)

    def params(self) -> Params:
        """As plain numbers."""
        return Params(int(self.explore), float(self.refresh))

    def start(self, problem: Problem, ledger: Ledger) -> State:
        """No losses; the tasks to explore are set aside."""
        book = ledger.book
        state = State(
            losses=np.zeros((len(book.contexts), len(book.workers))),
            contexts=np.zeros((len(book.contexts), 4), np.int64),
            heard=np.zeros((len(book.tasks), 2), np.int64),
            keys=np.zeros(len(book.tasks)),
            tree=new_tree(len(book.tasks)),
            weights=np.zeros(len(book.workers)),
        )
        take_stock(book, state, self.params())
        return state

    def used(self, state: State, ledger: Ledger) -> dict[str, Array]:
        """What is only room for a step's weights does not count."""
        kept = super().used(state, ledger)
        del kept["weights"]
        return kept

    def labels(
        self, problem: Problem, state: State, ledger: Ledger, tasks: Sequence[int], draw: Draw
    ) -> list[tuple[float | None, float | None]]:
        """The weighted vote by the last weights; its share of the answers' weight.

        A tie is broken by a draw declared for the task.
        """
        votes = np.zeros((len(tasks), max(1, len(problem.options))))
        weigh_votes(ledger.book, state, np.asarray(tasks, np.int64), votes)
        found: list[tuple[float | None, float | None]] = []
        for task, row in zip(tasks, votes, strict=True):
            total = float(row.sum())
            if total == 0.0:
                found.append((None, None))
                continue
            leaders = np.flatnonzero(row == row.max())
            option = leaders[int(uniform(draw, task) * len(leaders))]
            found.append((float(option), float(row[option]) / total))
        return found

    def scores(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw, available: Array
    ) -> list[Score]:
        """Losses and weight of each worker in the context of the task that is next."""
        book = ledger.book
        task = int(first_task(book, state.tree, state.keys, money_left(book.totals), available))
        if task < 0:
            return []
        context = int(book.tasks[task, CONTEXT])
        weights = np.zeros(len(book.workers))
        total = weigh(book, state, context, int(state.contexts[context, STEPS]) + 1, weights)
        return [
            Score(
                worker.id,
                float(weights[at] / total) if may_put(book, task, at) else None,
                {
                    "losses": float(state.losses[context, at]),
                    "weight": float(weights[at]),
                    "price": int(book.workers[at, PRICE]) / MICRO,
                },
            )
            for at, worker in enumerate(ledger.workers)
        ]


@kernel
def weigh_votes(book: Book, state: State, tasks: Array, votes: Array) -> None:
    """Weight of each option's answers by the losses so far."""
    weights = np.zeros(book.totals[WORKERS])
    current = -1
    for at in range(len(tasks)):
        context = book.tasks[tasks[at], CONTEXT]
        if context != current:
            weigh(book, state, context, max(1, state.contexts[context, STEPS]), weights)
            current = context
        cell = book.tasks[tasks[at], FIRST_CELL]
        while cell >= 0:
            weight = max(weights[book.cells[cell, CELL_WORKER]], 1e-300)
            for option in range(book.totals[OPTIONS]):
                votes[at, option] += weight * book.cells[cell, VOTES + option]
            cell = book.cells[cell, NEXT_CELL]
