"""The ledger's arrays and the kernels that read and write them.

Everything is kept in a few wide arrays (one row a worker, a task, an assignment) because a
compiled call pays for each array it is handed. Answers are threaded per task and per worker,
so memory is O(answers + tasks + workers).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from askwise.core.compiling import kernel, step
from askwise.core.problem import UNLIMITED

Array = npt.NDArray[Any]

# Columns of `totals`; money in micro-units. HELD is reserved for assignments that are out,
# PLANNED for the part of the current decision that was not handed out yet. OPEN_NAMED counts the
# open tasks that name who may be asked; QUOTED is 1 once the bidding is closed.
(BUDGET, SPENT, HELD, PLANNED, TASKS, WORKERS, ASSIGNMENTS, ANSWERS, PENDING, DECISIONS, OPEN,
 PLAN_ROWS, REPEAT, TASKLESS, OPTIONS, PAUSED, STOPPED, CELLS, CONTEXTS, OPEN_NAMED,
 OFFERS, QUOTED) = range(22)  # fmt: skip

# Columns of `workers`. ASKED counts what is pending or answered: what his limit is about.
# REFUSED counts what he declined: those tasks are not put to him again.
# OPEN_TO counts the open tasks that name him. PRICE is what an answer of his is paid, BID what he
# asks for, RANKED_AT what a choice by cost counts him at: the three are one unless a mechanism
# sets them apart. ON_CLOSED counts what was put to him, and did not expire, about tasks that are
# closed now.
(PRICE, LIMIT, JOINED, ASKED, ANSWERED, LAST, REFUSED, TRUSTED, OPEN_TO, BID, RANKED_AT,
 ON_CLOSED) = range(12)  # fmt: skip

# Columns of `ratings`: prior mean, scaled to 0..1, and how many answers it is worth.
RATING, WEIGHT = range(2)

# Columns of `tasks`. TRUTH is the option's index, -1 while unknown; FIRST_CELL and VOICE are
# cells (-1: none): the newest, and that of the last answer. NEXT_ALIKE is the next task of the
# same context; FIRST_OFFER and NAMED are the stretch of `offers` that names who may be asked
# (NAMED is -1 where anyone may). TASK_LOST counts assignments that expired or were declined.
(CLOSED, TASK_ASKED, TASK_ANSWERED, TASK_LAST, TRUTH, TASK_SPENT, FIRST_CELL, VOICE, CONTEXT,
 NEXT_ALIKE, FIRST_OFFER, NAMED, TASK_LOST) = range(13)  # fmt: skip

# Columns of `contexts`: how many tasks, and the ends of their chain.
CONTEXT_TASKS, FIRST_TASK, LAST_TASK = range(3)

# Columns of `cells`: one row for each pair of task and worker ever asked (options only); the
# votes, one column an option, begin at VOTES.
CELL_WORKER, NEXT_CELL, CELL_OUT, CELL_ANSWERS, VOTES = range(5)

# Columns of `assignments` and of `marks`.
TASK, WORKER, COST, STATUS, DECISION, SEQ, BEFORE_OF_TASK, BEFORE_OF_WORKER, CELL = range(9)
VALUE, PROPENSITY, EXPIRES = range(3)

# Status of an assignment.
OUT, SETTLED, EXPIRED, DECLINED = range(4)

# Columns of `plan` (and of a proposal's rows).
PLAN_TASK, PLAN_WORKER, PLAN_COUNT = range(3)

# What choosing may say.
PROPOSED = 0
WAIT_TRUTH, WAIT_ANSWERS, WAIT_WORKERS = -1, -2, -3
DONE_BUDGET, DONE_LIMITS, DONE_TASKS, DONE_TARGET = -11, -12, -13, -14
TOO_LARGE = -99

# What is wrong with a proposal.
FINE, EMPTY, ABSENT, OVER_LIMIT, OVER_MONEY, BAD_TASK, BAD_ODDS = range(7)


class Book(NamedTuple):
    """The folded log as arrays; rows beyond the counts in ``totals`` are spare capacity."""

    totals: Array
    scale: Array
    workers: Array
    ratings: Array
    tasks: Array
    queue: Array
    votes: Array
    cells: Array
    assignments: Array
    marks: Array
    plan: Array
    odds: Array
    contexts: Array
    offers: Array


class Proposal(NamedTuple):
    """Room for what ``choose`` proposes: rows as in ``plan``, odds, and (length, note).

    ``whole`` and ``real`` are scratch space, four rows of one cell a worker: choosing may
    write nothing else, and allocating in every step would cost more than deciding.
    """

    rows: Array
    odds: Array
    head: Array
    whole: Array
    real: Array


def new_proposal(workers: int) -> Proposal:
    """Room for one row a worker."""
    size = max(1, workers)
    return Proposal(
        rows=np.zeros((size, 3), np.int64),
        odds=np.full(size, np.nan),
        head=np.zeros(2, np.int64),
        whole=np.zeros((4, size), np.int64),
        real=np.zeros((4, size)),
    )


@step
def propose(out: Proposal, task: int, worker: int, count: int, odds: float) -> None:
    """Add a row to a proposal."""
    rows, chances, head = out.rows, out.odds, out.head
    at = head[0]
    rows[at, PLAN_TASK] = task
    rows[at, PLAN_WORKER] = worker
    rows[at, PLAN_COUNT] = count
    chances[at] = odds
    head[0] = at + 1


@step
def money_left(totals: Array) -> int:
    """Money that a new decision may use: a plan that was not handed out gives way to it."""
    return totals[BUDGET] - totals[SPENT] - totals[HELD]


@step
def scaled(scale: Array, value: float) -> float:
    """Value of an answer on the scale 0 to 1."""
    return (value - scale[0]) / (scale[1] - scale[0])


@step
def asked_before(book: Book, task: int, worker: int) -> bool:
    """Whether this pair was asked (and not released by an expiry)."""
    tasks, assignments = book.tasks, book.assignments
    at = tasks[task, TASK_LAST]
    while at >= 0:
        if assignments[at, WORKER] == worker and assignments[at, STATUS] != EXPIRED:
            return True
        at = assignments[at, BEFORE_OF_TASK]
    return False


@step
def may_answer(book: Book, task: int, worker: int) -> bool:
    """Whether a task is open to a worker at all: it names nobody, or him."""
    tasks, offers = book.tasks, book.offers
    count = tasks[task, NAMED]
    if count < 0:
        return True
    low = tasks[task, FIRST_OFFER]
    end = low + count
    high = end
    while low < high:
        middle = (low + high) // 2
        if offers[middle] < worker:
            low = middle + 1
        else:
            high = middle
    return bool(low < end and offers[low] == worker)


@step
def may_put(book: Book, task: int, worker: int) -> bool:
    """Whether a task may be put to a worker: open to him, and not asked before unless repeats."""
    if not may_answer(book, task, worker):
        return False
    return bool(book.totals[REPEAT] == 1 or not asked_before(book, task, worker))


@step
def tasks_for(book: Book, worker: int) -> int:
    """How many open tasks a worker may be asked about at all, also those he was asked already."""
    totals = book.totals
    return totals[OPEN] - totals[OPEN_NAMED] + book.workers[worker, OPEN_TO]


@step
def cell_of(book: Book, task: int, worker: int) -> int:
    """Row of `cells` of a pair; -1 if it was never asked."""
    cells = book.cells
    at = book.tasks[task, FIRST_CELL]
    while at >= 0 and cells[at, CELL_WORKER] != worker:
        at = cells[at, NEXT_CELL]
    return at


@step
def new_cell_of(book: Book, task: int, worker: int) -> int:
    """As ``cell_of``, for a pair that may be asked now: without a walk where it must be new."""
    if book.totals[REPEAT] == 0 and book.tasks[task, TASK_LOST] == 0:
        return -1
    return cell_of(book, task, worker)


@step
def tasks_left(book: Book, worker: int) -> int:
    """How many assignments the open tasks still hold for a worker."""
    workers = book.workers
    left = tasks_for(book, worker)
    if left > 0 and book.totals[REPEAT] == 1:
        return UNLIMITED
    put = workers[worker, ASKED] + workers[worker, REFUSED]
    return left - (put - workers[worker, ON_CLOSED])


@step
def has_task(book: Book, worker: int) -> bool:
    """Whether some open task may be put to a worker."""
    return tasks_left(book, worker) > 0


@step
def room(book: Book, worker: int, money: int) -> int:
    """How often a worker can still be asked: joined, within limit, money and tasks."""
    workers = book.workers
    if workers[worker, JOINED] == 0:
        return 0
    most = workers[worker, LIMIT] - workers[worker, ASKED]
    price = workers[worker, PRICE]
    if price > 0:
        most = min(most, money // price)
    if most <= 0:
        return 0
    if book.totals[REPEAT] == 1:
        return most if tasks_for(book, worker) > 0 else 0
    return min(most, tasks_left(book, worker))


@step
def idle(book: Book, available: Array) -> int:
    """Why nobody can be asked now: what to wait for, or that it is over."""
    totals, workers = book.totals, book.workers
    if totals[OPEN] == 0:
        return DONE_TASKS
    money = money_left(totals)
    joined = False
    short = False
    limited = False
    for worker in range(totals[WORKERS]):
        if workers[worker, JOINED] == 0:
            continue
        joined = True
        if workers[worker, ASKED] >= workers[worker, LIMIT]:
            limited = True
        elif has_task(book, worker):
            if workers[worker, PRICE] <= money:
                return WAIT_WORKERS
            short = True
    if totals[PENDING] > 0:
        return WAIT_ANSWERS
    if not joined:
        return WAIT_WORKERS
    if short:
        return DONE_BUDGET
    return DONE_LIMITS if limited else DONE_TASKS


# The queue is a tournament over tasks: the open task that was asked least, then the first.


@step
def ahead(tasks: Array, one: int, other: int) -> bool:
    """Whether a task comes before another (-1 is none and comes last)."""
    if one < 0 or other < 0:
        return one >= 0
    if tasks[one, CLOSED] != tasks[other, CLOSED]:
        return bool(tasks[one, CLOSED] == 0)
    if tasks[one, TASK_ASKED] != tasks[other, TASK_ASKED]:
        return bool(tasks[one, TASK_ASKED] < tasks[other, TASK_ASKED])
    return one < other


@kernel
def next_task(book: Book, worker: int) -> int:
    """Find the open task asked least (then first) that may be put to a worker; -1 if none."""
    tasks, queue = book.tasks, book.queue
    if book.totals[OPEN] == 0:
        return -1
    first = queue[1]
    if may_put(book, first, worker):
        return first
    best = -1
    half = len(queue) // 2
    stack = np.empty(128, np.int64)
    stack[0] = 1
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        task = queue[node]
        if task < 0 or tasks[task, CLOSED] == 1 or (best >= 0 and not ahead(tasks, task, best)):
            continue
        # A subtree's winner that may be put to him is the best that the subtree has for him.
        if may_put(book, task, worker):
            best = task
        elif node < half:
            stack[depth] = 2 * node + 1
            stack[depth + 1] = 2 * node
            depth += 2
    return best
