"""Whom ``hem`` asks: the worker who tells most, whom it tests, and when it buys an expert."""

import math

from askwise.core.money import NO_CAP
from askwise.kernels import Array, step
from askwise.kernels.hem import HIGH, LOW, SURE_OF_SIDE, mean_accuracy, strength
from askwise.ledger import Book, may_put
from askwise.ledger import columns as c
from askwise.ledger.queries import at_hand, likely_cost
from askwise.policies.labels.hem import state as s
from askwise.policies.labels.hem.ranking import (
    PURSUING,
    Params,
    expert_is_out,
    nothing_left,
    ordinary_workers,
)
from askwise.policies.labels.hem.state import State

MOST_TESTS, TEST_SHARE = 15, 0.05
"""Known tasks that a worker is asked about at most, or their part of this share of all answers
that the budget buys, if that is more."""

SETTLED_BY = 3
"""Truths that are enough to settle which way round a context is."""

SETTLING_SHARE = 0.25
"""Share of the money that may go to settling contexts."""

SIDE_ANSWERS = 20
"""Answers that a context must have before it is said that they do not settle its side."""


@step
def answers_in_store(book: Book) -> float:
    """How many answers the budget buys for each task."""
    count, price = ordinary_workers(book)
    budget = book.totals[c.BUDGET]
    if budget >= NO_CAP or price == 0.0:
        return float(count)
    return min(float(count), budget / (price * max(1, book.totals[c.TASKS])))


@step
def optimism(book: Book, state: State, context: int, worker: int) -> float:
    """Accuracy of a worker in a context, mean over classes, with a bonus for what is not known.

    Who was asked about contested tasks alone is not the worse for it.
    """
    row = state.skill_of[context, worker] - 1
    totals, shown, crowd = state.totals, state.shown, state.crowd
    out = book.workers[worker, c.ASKED] - book.workers[worker, c.ANSWERED]
    p = mean_accuracy(totals, shown, crowd, state.lift[worker], worker, row) - state.ease[worker]
    p = min(HIGH, max(LOW, p))
    n = strength(totals, shown, crowd, worker, row) + out
    return p + math.sqrt(p * (1.0 - p) / (n + 1.0))


@step
def worth(book: Book, state: State, context: int, worker: int, unit: float) -> float:
    """What a worker is ranked by: what they tell for their price.

    An answer that is right a little more often than by chance tells in proportion to the square of
    that little; with equal prices that ranks workers by their accuracy alone.
    """
    edge = optimism(book, state, context, worker) - 1.0 / book.totals[c.OPTIONS]
    price = likely_cost(book, worker) / unit if unit > 0.0 else 1.0
    return edge * edge / max(price, 0.01) if edge > 0.0 else edge * max(price, 0.01)


@step
def unit_price(book: Book) -> float:
    """The lowest cost of an answer above 0; 0 if there is none."""
    unit = math.inf
    for worker in range(book.totals[c.WORKERS]):
        if book.workers[worker, c.JOINED] == 1 and book.workers[worker, c.PRICE] > 0:
            unit = min(unit, likely_cost(book, worker))
    return unit if unit < math.inf else 0.0


@step
def known_task_for(book: Book, state: State, worker: int, full: float) -> int:
    """A task whose truth is known, for a worker to be tested on; -1 if there is none.

    Those that others were tested on come first until they have as many answers as tasks will have
    on average (``full``), for only then do they show what a confidence is worth; then those with
    the fewest.
    """
    best = -1
    least = math.inf
    for at in range(state.meta[s.KNOWN]):
        task = state.told[at]
        if book.tasks[task, c.CLOSED] == 1:
            continue
        asked = book.tasks[task, c.TASK_ASKED]
        rank = -float(asked) if asked < full else float(asked)
        if rank < least and may_put(book, task, worker):
            best, least = task, rank
    return best


@step
def tests_of(book: Book, state: State, worker: int) -> int:
    """How many known tasks a worker was asked about, those that are out among them."""
    workers, assignments = book.workers, book.assignments
    count = state.tested[worker]
    out = workers[worker, c.ASKED] - workers[worker, c.ANSWERED]
    at = workers[worker, c.LAST]
    while at >= 0 and out > 0:
        if assignments[at, c.STATUS] == c.OUT:
            out -= 1
            count += state.known[assignments[at, c.TASK]] > 0
        at = assignments[at, c.BEFORE_OF_WORKER]
    return count


@step
def test_question(
    book: Book, state: State, params: Params, money: int, available: Array
) -> tuple[int, int]:
    """The most promising worker who is not tested enough, and a known task; -1 if there is none."""
    best = task = -1
    if state.meta[s.KNOWN] == 0 or state.meta[s.MODE] != PURSUING or nothing_left(state):
        return task, best
    if params.target > 0.0:
        # Tests by many would show what a confidence is worth with many answers.
        return task, best
    top = -math.inf
    unit, full = unit_price(book), answers_in_store(book)
    most = max(MOST_TESTS, TEST_SHARE * full * book.totals[c.TASKS] / book.totals[c.WORKERS])
    for worker in range(book.totals[c.WORKERS]):
        if book.workers[worker, c.TRUSTED] == 1 or not at_hand(book, worker, money, available):
            continue
        if tests_of(book, state, worker) >= most:
            continue
        found = worth(book, state, 0, worker, unit)
        if found > top:
            put = known_task_for(book, state, worker, full)
            if put >= 0:
                best, task, top = worker, put, found
    return task, best


@step
def best_worker(book: Book, state: State, task: int, money: int, available: Array) -> int:
    """The ordinary worker who tells most about a task for their price; -1 if there is none."""
    workers = book.workers
    unit = unit_price(book)
    best = -1
    top = -math.inf
    context = book.tasks[task, c.CONTEXT]
    for worker in range(book.totals[c.WORKERS]):
        if workers[worker, c.TRUSTED] == 1 or not at_hand(book, worker, money, available):
            continue
        if may_put(book, task, worker):
            found = worth(book, state, context, worker, unit)
            if found > top:
                best, top = worker, found
    return best


@step
def entropy(p: float) -> float:
    """Contribution of a probability to an entropy, in nats."""
    return -p * math.log(p) if p > 0.0 else 0.0


@step
def information(book: Book, state: State, task: int, worker: int) -> float:
    """What one answer of a worker may be expected to tell about a task, in nats.

    With the bonus for what is not known of them: else an expert would be bought before anybody has
    shown what they can do.
    """
    count = book.totals[c.OPTIONS]
    right = min(HIGH, optimism(book, state, book.tasks[task, c.CONTEXT], worker))
    told = 0.0
    for a in range(count):
        seen = 0.0
        for option in range(count):
            p = right if a == option else (1.0 - right) / (count - 1.0)
            q = believed(book, state, task, option)
            told -= q * entropy(p)
            seen += q * p
        told += entropy(seen)
    return max(0.0, told)


@step
def believed(book: Book, state: State, task: int, option: int) -> float:
    """Probability of a class, also for a task that was not heard of."""
    if book.tasks[task, c.TASK_ANSWERED] > 0:
        return state.posterior[task, option]
    return 1.0 / book.totals[c.OPTIONS]


@step
def cheapest_expert(book: Book, task: int, money: int, available: Array) -> int:
    """The cheapest trusted worker who can be asked about a task; -1 if there is none."""
    workers = book.workers
    best = -1
    for worker in range(book.totals[c.WORKERS]):
        if workers[worker, c.TRUSTED] == 0 or not at_hand(book, worker, money, available):
            continue
        if may_put(book, task, worker) and (
            best < 0 or workers[worker, c.PRICE] < workers[best, c.PRICE]
        ):
            best = worker
    return best


@step
def expert_for(
    book: Book, state: State, task: int, other: int, money: int, available: Array
) -> int:
    """The expert to ask instead of another worker, if they tell more for their price; else -1."""
    expert = cheapest_expert(book, task, money, available)
    if expert < 0 or other < 0:
        return expert
    all_there_is = 0.0
    for option in range(book.totals[c.OPTIONS]):
        all_there_is += entropy(believed(book, state, task, option))
    told = information(book, state, task, other)
    prices = likely_cost(book, expert), likely_cost(book, other)
    # A free one tells all there is for nothing.
    return expert if prices[0] == 0 or all_there_is * prices[1] > told * prices[0] else -1


@step
def is_open_side(state: State, context: int) -> bool:
    """Whether answers and truths leave open which way round a context is."""
    sides = state.sides
    if sides[context, s.FITTED] < SIDE_ANSWERS or sides[context, s.GOLD] >= SETTLED_BY:
        return False
    if sides[context, s.TOLD] >= SURE_OF_SIDE:
        return False
    return bool(sides[context, s.MARGIN] < SURE_OF_SIDE or state.meta[s.CLASH] == 1)


@step
def task_to_settle(book: Book, state: State, money: int, available: Array) -> tuple[int, int]:
    """A task, and the expert whose answer settles which way round its context is; -1 if none."""
    trusted = False
    for worker in range(book.totals[c.WORKERS]):
        if book.workers[worker, c.TRUSTED] == 1 and at_hand(book, worker, money, available):
            trusted = True
    if not trusted:
        return -1, -1
    for context in range(book.totals[c.CONTEXTS]):
        if not is_open_side(state, context):
            continue
        for at in range(s.SUGGESTED):
            task = state.settling[context, at] - 1
            if task < 0 or state.known[task] > 0 or book.tasks[task, c.CLOSED] == 1:
                continue
            if expert_is_out(book, task):
                continue
            expert = cheapest_expert(book, task, money, available)
            if expert >= 0 and SETTLED_BY * book.workers[expert, c.PRICE] <= SETTLING_SHARE * money:
                return task, expert
    return -1, -1
