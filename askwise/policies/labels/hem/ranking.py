"""How ``hem`` ranks tasks."""

import math
from typing import NamedTuple

from askwise.core.money import NO_CAP
from askwise.kernels import kernel, step
from askwise.ledger import Book
from askwise.ledger import columns as c
from askwise.ledger.queries import likely_cost
from askwise.policies.labels.common import is_over
from askwise.policies.labels.hem import state as s
from askwise.policies.labels.hem.confidence import confidence_in, judged
from askwise.policies.labels.hem.state import State
from askwise.policies.labels.tournament import rekey

PURSUING, SPREADING = range(2)
"""How tasks are ranked: first few are pursued, so that workers are judged by each other; then all
get an answer, and the least sure come first."""

MOST_PURSUED, LEAST_PURSUED = 0.4, 0.05
"""The share of the budget that goes into the former: what is not needed for one answer to each
task, within these bounds."""

ANSWERS_WITHOUT_CAP = 8
"""Answers for each worker that go into it where there is no budget."""

ENOUGH, MOST_ANSWERS = 3.0, 15
"""Log-odds (with .1 an answer), or answers, up to which a task is pursued."""

PER_ANSWER = 0.1
PER_PENDING = 0.7
"""What an answer that is out is expected to add to the log-odds, or a little less."""

LATER = 1e6
"""Added to the key of tasks that come after all others."""


class Params(NamedTuple):
    """The error at which a task is done."""

    target: float


@step
def ordinary_workers(book: Book) -> tuple[int, float]:
    """How many there are who are not trusted, and what an answer of theirs costs on average."""
    count = 0
    prices = 0.0
    for worker in range(book.totals[c.WORKERS]):
        if book.workers[worker, c.JOINED] == 1 and book.workers[worker, c.TRUSTED] == 0:
            count += 1
            prices += likely_cost(book, worker)
    return count, prices / max(1, count)


@step
def mode(book: Book) -> int:
    """How tasks are ranked now: ``PURSUING`` or ``SPREADING``."""
    totals = book.totals
    count, price = ordinary_workers(book)
    budget, used = totals[c.BUDGET], totals[c.SPENT] + totals[c.HELD]
    if budget >= NO_CAP or price == 0.0:
        asked = totals[c.ANSWERS] + totals[c.PENDING]
        return PURSUING if asked < ANSWERS_WITHOUT_CAP * count else SPREADING
    spare = 1.0 - totals[c.TASKS] * price / budget
    share = max(LEAST_PURSUED, min(MOST_PURSUED, spare))
    return PURSUING if used < share * budget else SPREADING


@step
def expert_is_out(book: Book, task: int) -> bool:
    """Whether a trusted worker has the task at hand: then its truth is under way."""
    assignments = book.assignments
    at = book.tasks[task, c.TASK_LAST]
    while at >= 0:
        if (
            assignments[at, c.STATUS] == c.OUT
            and book.workers[assignments[at, c.WORKER], c.TRUSTED] == 1
        ):
            return True
        at = assignments[at, c.BEFORE_OF_TASK]
    return False


@step
def calibrates(book: Book, params: Params, task: int) -> bool:
    """Whether a known task is asked about as if it were not: that shows what a confidence is worth.

    With a target, and if its truth was told: an expert is asked where answers leave doubts, so what
    experts said would show too little.
    """
    return bool(params.target > 0.0 and book.tasks[task, c.TRUTH] >= 0)


@step
def key_of(book: Book, state: State, params: Params, task: int) -> float:
    """Rank of a task: lowest first, infinite for one that is not to be asked about."""
    tasks = book.tasks
    if is_over(book, task) or (state.known[task] > 0 and not calibrates(book, params, task)):
        return math.inf
    asked, pursuing = tasks[task, c.TASK_ASKED], state.meta[s.MODE] == PURSUING
    if asked == 0 and tasks[task, c.TASK_ANSWERED] == 0:
        return 0.0 if pursuing else -1.0
    pending = asked - tasks[task, c.TASK_ANSWERED]
    if pending > 0 and expert_is_out(book, task):
        return math.inf
    score = PER_ANSWER * asked + PER_PENDING * pending
    if tasks[task, c.TASK_ANSWERED] > 0:
        if params.target > 0.0 and confidence_in(book, state, task) >= 1.0 - params.target:
            return math.inf
        score += judged(state, task)
    if not pursuing:
        return score
    # What was begun is brought to its end first.
    return -asked - 0.001 * score if score < ENOUGH and asked < MOST_ANSWERS else LATER + score


@step
def place(book: Book, state: State, params: Params, task: int) -> None:
    """Bring a task's place up to date."""
    rekey(state.tree, state.keys, task, key_of(book, state, params, task))


@kernel
def place_heard(book: Book, state: State, params: Params) -> None:
    """Bring all tasks that were heard of up to date: beliefs about others do not change."""
    for at in range(state.meta[s.HEARD]):
        place(book, state, params, state.order[at])


@kernel
def place_all(book: Book, state: State, params: Params) -> None:
    """Bring all tasks up to date, also those that are out without an answer so far."""
    for task in range(book.totals[c.TASKS]):
        place(book, state, params, task)


@step
def place_if_due(book: Book, state: State, params: Params) -> None:
    """Rank again when tasks are ranked in another way from now on."""
    now = mode(book)
    if now != state.meta[s.MODE]:
        state.meta[s.MODE] = now
        place_all(book, state, params)


@step
def nothing_left(state: State) -> bool:
    """Whether no task is ranked to be asked about."""
    winner = state.tree[1]
    return bool(winner < 0 or state.keys[winner] == math.inf)
