"""What BBTA keeps of workers and tasks: losses, weights, votes, and the tasks' ranking."""

import math
from typing import NamedTuple

import numpy as np

from askwise.core.records import by_reference
from askwise.kernels import Array, Draw, Fact, kernel, step
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.ledger.columns import Book
from askwise.ledger.queries import may_repeat
from askwise.policies.labels.common import everyone_asked, is_over, majority, out_for
from askwise.policies.labels.tournament import build_tree, rekey

# Columns of `contexts`: t^s; t^s when its tasks were scored last; the newest task with an answer
# (its number plus one: 0 is none); how many of the tasks to explore are over.
STEPS, SCORED, LAST_HEARD, EXPLORED = range(4)

# Columns of `heard`: the task with an answer before this one in its context (plus one), and
# whether the task is explored.
BEFORE, EXPLORES = range(2)

LATER = 1e6
"""Added to the key of tasks that come after all others."""


@by_reference
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
def weigh(book: Book, state: State, context: int, t: int, weights: Array) -> float:
    """Weights w_js of all workers at step t into ``weights``; returns their sum.

    All are divided by the largest, which cancels wherever they are used.
    """
    losses, K = state.losses, float(book.totals[c.WORKERS])
    eta = math.sqrt(math.log(K) / (t * K))  # Alg. 1, line 19
    least = math.inf
    for worker in range(book.totals[c.WORKERS]):
        least = min(least, losses[context, worker])
    total = 0.0
    for worker in range(book.totals[c.WORKERS]):
        weights[worker] = math.exp(-eta * (losses[context, worker] - least))
        total += weights[worker]
    return total


@step
def weight_for(book: Book, weights: Array, task: int, option: int) -> float:
    """Weight of the answers that name an option."""
    cells = book.cells
    total = 0.0
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        votes = cells[cell, c.VOTES + option]
        if votes > 0:
            total += weights[cells[cell, c.CELL_WORKER]] * votes
        cell = cells[cell, c.NEXT_CELL]
    return total


@kernel
def score(book: Book, weights: Array, total: float, task: int) -> float:
    """Confidence score of Eqn. 1: the lead of the first option over the second.

    With two options that is the paper's |y_i|; the denominator is over all workers.
    """
    top = second = 0.0
    for option in range(book.totals[c.OPTIONS]):
        weight = weight_for(book, weights, task, option)
        if weight > top:
            second, top = top, weight
        elif weight > second:
            second = weight
    return (top - second) / total


@kernel
def is_loss(book: Book, weights: Array, task: int, answer: int) -> bool:
    """Whether an answer differs from the weighted vote; a tied vote agrees with nobody."""
    mine = weight_for(book, weights, task, answer)
    for option in range(book.totals[c.OPTIONS]):
        if option != answer and weight_for(book, weights, task, option) >= mine:
            return True
    return False


@step
def is_explored(book: Book, task: int) -> bool:
    """Whether a task is closed or was put to everyone."""
    return bool(book.tasks[task, c.CLOSED] == 1) or everyone_asked(book, task)


@step
def key_of(book: Book, state: State, weights: Array, total: float, task: int) -> float:
    """Rank of a task: lowest first, infinite for one that is not to be asked about.

    Answers that are out put a task behind all with fewer out: its score will change. Explored
    tasks are done with (line 14); where a crowd may be asked again, they come after all others.
    """
    explored = state.heard[task, EXPLORES] == 1
    if is_over(book, task) or (explored and not may_repeat(book, task)):
        return math.inf
    lead = score(book, weights, total, task)
    return lead + out_for(book, task) + (LATER if explored else 0.0)


@step
def place(book: Book, state: State, total: float, task: int) -> None:
    """Bring a task's place among those to ask about up to date."""
    rekey(state.tree, state.keys, task, key_of(book, state, state.weights, total, task))


@kernel
def place_all(book: Book, state: State, context: int, total: float) -> None:
    """Bring all tasks of a context that have answers up to date (Alg. 1, line 23)."""
    last = state.contexts[context, LAST_HEARD]
    while last > 0:
        place(book, state, total, last - 1)
        last = state.heard[last - 1, BEFORE]


@kernel
def place_again(book: Book, state: State, task: int) -> None:
    """Bring one task up to date after something else than an answer happened to it."""
    context = book.tasks[task, c.CONTEXT]
    t = max(1, state.contexts[context, STEPS])
    place(book, state, weigh(book, state, context, t, state.weights), task)


@kernel
def learn_exploring(book: Book, state: State, task: int, worker: int, answer: int) -> None:
    """Losses by majority (Alg. 1, lines 12 and 13), as each answer comes in.

    The majority may change with an answer; then all who answered are judged again.
    """
    cells, losses = book.cells, state.losses
    context = book.tasks[task, c.CONTEXT]
    before, after = majority(book, task, answer), majority(book, task, -1)
    losses[context, worker] += 1.0 if answer != after else 0.0
    if before != after:
        cell = book.tasks[task, c.FIRST_CELL]
        while cell >= 0:
            for option in range(book.totals[c.OPTIONS]):
                count = cells[cell, c.VOTES + option]
                if cells[cell, c.CELL_WORKER] == worker and option == answer:
                    count -= 1
                if count > 0:
                    change = (option != after) - (option != before)
                    losses[context, cells[cell, c.CELL_WORKER]] += float(count * change)
            cell = cells[cell, c.NEXT_CELL]


@kernel
def learn(book: Book, state: State, params: Params, fact: Fact) -> None:
    """Judge an answer by the weighted vote and book its loss (Alg. 1, lines 21 to 23)."""
    contexts, weights = state.contexts, state.weights
    task, worker, answer = fact.task, fact.worker, int(fact.value)
    context = book.tasks[task, c.CONTEXT]
    t = contexts[context, STEPS] + 1
    contexts[context, STEPS] = t
    total = weigh(book, state, context, t, weights)
    loss = is_loss(book, weights, task, answer)
    if params.refresh <= 0.0 or t >= (1.0 + params.refresh) * contexts[context, SCORED]:
        contexts[context, SCORED] = t
        place_all(book, state, context, total)
    else:
        place(book, state, total, task)
    if loss:
        state.losses[context, worker] += 1.0 / book.marks[fact.assignment, c.PROPENSITY]


@kernel
def take_stock(book: Book, state: State, params: Params) -> None:
    """See which tasks are explored, and rank all, after tasks or workers came."""
    for context in range(book.totals[c.CONTEXTS]):
        count_explored(book, state, params, context)
    for task in range(book.totals[c.TASKS]):
        # Nobody was heard about these: no weight matters.
        if book.tasks[task, c.TASK_ANSWERED] == 0:
            state.keys[task] = key_of(book, state, state.weights, 1.0, task)
    build_tree(state.tree, state.keys, book.totals[c.TASKS])
    for context in range(book.totals[c.CONTEXTS]):
        t = max(1, state.contexts[context, STEPS])
        place_all(book, state, context, weigh(book, state, context, t, state.weights))


@step
def count_explored(book: Book, state: State, params: Params, context: int) -> None:
    """Mark a context's tasks to explore, and count how many of them are over."""
    done = 0
    task = book.contexts[context, c.FIRST_TASK]
    for _ in range(params.explore):
        if task < 0:
            break
        state.heard[task, EXPLORES] = 1
        done += is_explored(book, task)
        task = book.tasks[task, c.NEXT_ALIKE]
    state.contexts[context, EXPLORED] = done


@kernel
def absorb(book: Book, state: State, params: Params, fact: Fact, draw: Draw) -> None:
    """Learn from answers; keep tasks that are over out of the ranking."""
    contexts, heard, kind, task = state.contexts, state.heard, fact.kind, fact.task
    context = book.tasks[task, c.CONTEXT] if task >= 0 else -1
    if kind == k.ANSWER:
        if book.tasks[task, c.TASK_ANSWERED] == 1:
            # Its first: thread it into its context.
            heard[task, BEFORE] = contexts[context, LAST_HEARD]
            contexts[context, LAST_HEARD] = task + 1
        if heard[task, EXPLORES] == 1:
            learn_exploring(book, state, task, fact.worker, int(fact.value))
        else:
            learn(book, state, params, fact)
    elif kind == k.ASKED:
        over = is_over(book, task)
        rekey(state.tree, state.keys, task, math.inf if over else state.keys[task] + 1.0)
        if heard[task, EXPLORES] == 1:
            count_explored(book, state, params, context)
    elif kind in (k.EXPIRED, k.DECLINED, k.CLOSED):
        count_explored(book, state, params, context)
        place_again(book, state, task)
    elif kind in (k.ADDED, k.JOINED):
        take_stock(book, state, params)


@kernel
def weigh_votes(book: Book, state: State, tasks: Array, votes: Array) -> None:
    """Weight of each option's answers by the losses so far."""
    weights = np.zeros(book.totals[c.WORKERS])
    current = -1
    for at in range(len(tasks)):
        context = book.tasks[tasks[at], c.CONTEXT]
        if context != current:
            weigh(book, state, context, max(1, state.contexts[context, STEPS]), weights)
            current = context
        cell = book.tasks[tasks[at], c.FIRST_CELL]
        while cell >= 0:
            weight = max(weights[book.cells[cell, c.CELL_WORKER]], 1e-300)
            for option in range(book.totals[c.OPTIONS]):
                votes[at, option] += weight * book.cells[cell, c.VOTES + option]
            cell = book.cells[cell, c.NEXT_CELL]
