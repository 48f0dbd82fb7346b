"""What OptKG believes, and how it finds the best pair without looking at all of them.

A gain depends on the task and on the strength of the worker, and grows with the latter. So the
best worker for a task is the strongest one left for it, and a task's gain with a strength that
nobody left for it exceeds is a bound. Tasks are kept in a tournament by that bound, and a search
looks only at those whose bound is above the best gain found.

Each worker has a ceiling, a little above their strength; it moves only when they outgrow it or fall
far below it, and only then are the bounds of tasks renewed that they are (or were) the strongest
for.

One pool for all tasks, or one for each context: each has workers, order and tournament of its own.
"""

import math
from typing import NamedTuple

import numpy as np

from askwise.core.records import by_reference
from askwise.kernels import Array, Draw, Fact, kernel, step
from askwise.kernels.knapsack.ordering import ascending
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.ledger.columns import Book
from askwise.ledger.queries import at_hand, can_be_asked, may_answer, may_put
from askwise.policies.labels.common import out_for
from askwise.policies.labels.optkg.moments import doubt, gain, strength, task_after, worker_after
from askwise.policies.labels.tournament import play, wins

POSITIVE = 1
"""Index of the option that stands for the paper's +1; index 0 stands for -1."""

SLACK = 0.02
"""A ceiling is so far above the strength when it is set, and is renewed when thrice as far."""

# Columns of `shapes`, of `skills` and of `roots`.
A, B, DOUBT = range(3)
C, D, CEILING = range(3)
OFFSET, HALF = range(2)

# Columns of `counts`: how many there are of each in the derived arrays; money accounted for.
IN_TASKS, IN_WORKERS, IN_POOLS, MONEY = range(4)


@by_reference
class State(NamedTuple):
    """Beliefs, the money that went into each pool, and what is derived from them.

    ``shapes`` has a, b and the doubt of each task; ``skills`` c, d and the ceiling of each worker
    in each pool (-1: can't be asked). Derived: the order of workers by ceiling, of each task
    the bound (``keys``), the ceiling it is made with and its leaf, and the tournaments.
    """

    shapes: Array
    skills: Array
    paid: Array
    counts: Array
    order: Array
    keys: Array
    tops: Array
    leaves: Array
    roots: Array
    tree: Array


class Params(NamedTuple):
    """Whether workers are modelled, and whether each context is a pool of its own."""

    workers: int
    multi: int


@step
def pool_of(book: Book, params: Params, task: int) -> int:
    """The pool that a task is in."""
    return book.tasks[task, c.CONTEXT] if params.multi == 1 else 0


@step
def first_in(book: Book, params: Params, pool: int) -> int:
    """The first task of a pool; -1 if there is none."""
    if params.multi == 1:
        return book.contexts[pool, c.FIRST_TASK] if pool < book.totals[c.CONTEXTS] else -1
    return 0 if book.totals[c.TASKS] > 0 else -1


@step
def next_in(book: Book, params: Params, task: int) -> int:
    """The task after another in its pool; -1 at the end."""
    if params.multi == 1:
        return book.tasks[task, c.NEXT_ALIKE]
    return task + 1 if task + 1 < book.totals[c.TASKS] else -1


@step
def strength_of(state: State, params: Params, pool: int, worker: int) -> float:
    """Strength of a worker; without a model of workers all are taken at their word."""
    if params.workers == 0:
        return 1.0
    return strength(state.skills[pool, worker, C], state.skills[pool, worker, D])


@kernel
def top_ceiling(book: Book, state: State, pool: int, task: int) -> float:
    """The highest ceiling of those left for a task; -1 if nobody is."""
    order, skills = state.order, state.skills
    for at in range(book.totals[c.WORKERS]):
        worker = order[pool, at]
        ceiling = skills[pool, worker, CEILING]
        if ceiling < 0.0:
            break
        if may_put(book, task, worker):
            return float(ceiling)
    return -1.0


@kernel
def bound(book: Book, state: State, pool: int, task: int) -> float:
    """Key of a task: answers that are out less its gain with the highest ceiling."""
    tops, shapes = state.tops, state.shapes
    tops[task] = -1.0
    if book.tasks[task, c.CLOSED] == 1:
        return math.inf
    top = top_ceiling(book, state, pool, task)
    if top < 0.0:
        return math.inf
    tops[task] = top
    return out_for(book, task) - gain(shapes[task, A], shapes[task, B], shapes[task, DOUBT], top)


@kernel
def renew(book: Book, state: State, params: Params, task: int) -> None:
    """Bring a task's bound and its place in the tournament up to date."""
    keys = state.keys
    pool = pool_of(book, params, task)
    key = bound(book, state, pool, task)
    if key == keys[task]:
        return
    keys[task] = key
    node = (state.roots[pool, HALF] + state.leaves[task]) // 2
    while node >= 1:
        play(state.tree, keys, state.roots[pool, OFFSET], node)
        node //= 2


@step
def comes_first(skills: Array, pool: int, one: int, other: int) -> bool:
    """Whether a worker is before another in the order: by ceiling, then by number."""
    mine, theirs = skills[pool, one, CEILING], skills[pool, other, CEILING]
    return bool(mine > theirs or (mine == theirs and one < other))


@kernel
def reorder(state: State, pool: int, worker: int, count: int) -> None:
    """Move a worker whose ceiling changed to their place."""
    order, skills = state.order, state.skills
    at = 0
    while order[pool, at] != worker:
        at += 1
    while at > 0 and comes_first(skills, pool, worker, order[pool, at - 1]):
        order[pool, at] = order[pool, at - 1]
        at -= 1
    while at < count - 1 and comes_first(skills, pool, order[pool, at + 1], worker):
        order[pool, at] = order[pool, at + 1]
        at += 1
    order[pool, at] = worker


@step
def new_ceiling(book: Book, state: State, params: Params, pool: int, worker: int) -> float:
    """Where a worker's ceiling is to be."""
    if not can_be_asked(book, worker):
        return -1.0
    old = state.skills[pool, worker, CEILING]
    s = strength_of(state, params, pool, worker)
    if old < 0.0:
        return s
    if s > old or s < old - 3.0 * SLACK:
        return min(1.0, s + SLACK)
    return float(old)


@kernel
def lift(book: Book, state: State, params: Params, pool: int, worker: int) -> None:
    """Bring a worker's ceiling up to date, and the bounds that depend on it."""
    skills, tops = state.skills, state.tops
    old = skills[pool, worker, CEILING]
    new = new_ceiling(book, state, params, pool, worker)
    if new == old:
        return
    skills[pool, worker, CEILING] = new
    reorder(state, pool, worker, book.totals[c.WORKERS])
    task = first_in(book, params, pool)
    while task >= 0:
        if (tops[task] == old or tops[task] < new) and may_put(book, task, worker):
            renew(book, state, params, task)
        task = next_in(book, params, task)


@kernel
def lift_everywhere(book: Book, state: State, params: Params, worker: int) -> None:
    """The same in all pools."""
    for pool in range(state.counts[IN_POOLS]):
        lift(book, state, params, pool, worker)


@kernel
def derive(book: Book, state: State, params: Params) -> None:
    """Work out order, bounds and tournaments from ledger and beliefs."""
    skills, order, keys, tree = state.skills, state.order, state.keys, state.tree
    workers = book.totals[c.WORKERS]
    for pool in range(state.counts[IN_POOLS]):
        order[pool, :workers] = ascending(-skills[pool, :workers, CEILING])
        offset, half = state.roots[pool, OFFSET], state.roots[pool, HALF]
        tree[offset : offset + 2 * half] = -1
        place = 0
        task = first_in(book, params, pool)
        while task >= 0:
            keys[task] = bound(book, state, pool, task)
            state.leaves[task] = place
            tree[offset + half + place] = task
            place += 1
            task = next_in(book, params, task)
        for node in range(half - 1, 0, -1):
            play(tree, keys, offset, node)


@step
def learn(state: State, params: Params, pool: int, task: int, worker: int, option: int) -> None:
    """Match the moments of the task's and the worker's beliefs after an answer.

    An answer of the other option is the same with the task's two sides swapped.
    """
    shapes, skills = state.shapes, state.skills
    mine, others = (A, B) if option == POSITIVE else (B, A)
    a, b = shapes[task, mine], shapes[task, others]
    if params.workers == 1:
        right, wrong = skills[pool, worker, C], skills[pool, worker, D]
        skills[pool, worker, C], skills[pool, worker, D] = worker_after(a, b, right, wrong)
        a, b = task_after(a, b, right, wrong)
    else:
        a += 1.0
    shapes[task, mine], shapes[task, others] = a, b
    shapes[task, DOUBT] = doubt(a, b)


@step
def account(book: Book, state: State, pool: int) -> None:
    """Book what the last fact reserved or released, whatever it was, to its pool."""
    now = book.totals[c.SPENT] + book.totals[c.HELD]
    state.paid[pool] += now - state.counts[MONEY]
    state.counts[MONEY] = now


@kernel
def absorb(book: Book, state: State, params: Params, fact: Fact, draw: Draw) -> None:
    """Update beliefs, money and bounds."""
    kind, task, worker = fact.kind, fact.task, fact.worker
    if kind in (k.ASKED, k.ANSWER, k.EXPIRED, k.DECLINED):
        pool = pool_of(book, params, task)
        if kind == k.ANSWER:
            learn(state, params, pool, task, worker, int(fact.value))
        account(book, state, pool)
        renew(book, state, params, task)
        if can_be_asked(book, worker) == (state.skills[pool, worker, CEILING] >= 0.0):
            lift(book, state, params, pool, worker)
        else:
            lift_everywhere(book, state, params, worker)
    elif kind == k.CLOSED:
        renew(book, state, params, task)
    elif kind == k.LEFT:
        lift_everywhere(book, state, params, worker)
    elif kind == k.JOINED:
        for each in range(book.totals[c.WORKERS]):
            lift_everywhere(book, state, params, each)


@step
def mark_asked(book: Book, task: int, marks: Array) -> None:
    """Mark who was asked about a task, and is not again, with the task's number plus one."""
    assignments, workers = book.assignments, book.workers
    if book.totals[c.ASKED_ONCE] == 0:
        return
    at = book.tasks[task, c.TASK_LAST]
    while at >= 0:
        worker = assignments[at, c.WORKER]
        if assignments[at, c.STATUS] != c.EXPIRED and workers[worker, c.ONCE] == 1:
            marks[worker] = task + 1
        at = assignments[at, c.BEFORE_OF_TASK]


@kernel
def strongest(
    book: Book, state: State, params: Params, task: int, money: int, available: Array, marks: Array
) -> int:
    """The strongest worker at hand for a task; -1 if there is none.

    Ties: who was asked least, then the first. By number alone, the first worker would give every
    first answer, and mislead all tasks if they are a bad one.
    """
    order, skills, workers = state.order, state.skills, book.workers
    pool = pool_of(book, params, task)
    mark_asked(book, task, marks)
    best = -1
    best_s = -1.0
    for at in range(book.totals[c.WORKERS]):
        worker = order[pool, at]
        ceiling = skills[pool, worker, CEILING]
        if ceiling < best_s:
            break
        if marks[worker] == task + 1 or not at_hand(book, worker, money, available):
            continue
        if may_answer(book, task, worker):
            s = strength_of(state, params, pool, worker)
            more = workers[worker, c.ASKED] - workers[best, c.ASKED]
            if s > best_s or (s == best_s and (more < 0 or (more == 0 and worker < best))):
                best, best_s = worker, s
    return best


@kernel
def best_pair(
    book: Book, state: State, params: Params, pool: int, money: int, available: Array, marks: Array
) -> tuple[int, int]:
    """The pair of a pool with the largest gain, of tasks with fewest answers out; (-1, -1) if none.

    Ties: the first task, then as :func:`strongest` has it. ``marks`` is scratch space, one cell per
    worker.
    """
    keys, tree, shapes = state.keys, state.tree, state.shapes
    offset, half = state.roots[pool, OFFSET], state.roots[pool, HALF]
    best, best_worker, best_cost = -1, -1, math.inf
    # Tasks with as many answers of workers alike have the same gain: work it out once.
    last_a, last_b, last_s, last_gain = -1.0, -1.0, -1.0, 0.0
    for worker in range(book.totals[c.WORKERS]):
        marks[worker] = 0
    stack = np.empty(128, np.int64)
    stack[0] = 1
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        task = tree[offset + node]
        if task < 0 or keys[task] == math.inf or keys[task] > best_cost:
            continue
        if keys[task] == best_cost and task > best:
            continue
        if node == 1 or tree[offset + node // 2] != task:
            worker = strongest(book, state, params, task, money, available, marks)
            if worker >= 0:
                a = max(shapes[task, A], shapes[task, B])
                b = min(shapes[task, A], shapes[task, B])
                s = strength_of(state, params, pool, worker)
                if a != last_a or b != last_b or s != last_s:
                    last_a, last_b, last_s = a, b, s
                    last_gain = gain(a, b, shapes[task, DOUBT], s)
                cost = out_for(book, task) - last_gain
                if cost < best_cost or (cost == best_cost and task < best):
                    best, best_worker, best_cost = task, worker, cost
        if node < half:
            left, right = tree[offset + 2 * node], tree[offset + 2 * node + 1]
            first = wins(keys, left, right)
            stack[depth] = 2 * node + 1 if first else 2 * node
            stack[depth + 1] = 2 * node if first else 2 * node + 1
            depth += 2
    return best, best_worker
