"""What the ledger can be asked: who may be asked about what, how often, and why nobody can."""

import numpy as np

from askwise.core.choices import Done, Wait
from askwise.core.money import SHARE_UNIT
from askwise.core.problem import UNLIMITED
from askwise.kernels import Array, kernel, step
from askwise.ledger import columns as c
from askwise.ledger.columns import Book

PRIOR_ANSWERS = 2
"""Answers that a worker's price counts as, beside what their calls have cost."""


@step
def money_left(totals: Array) -> int:
    """Money that a new decision may use: a plan that was not handed out gives way to it."""
    return totals[c.BUDGET] - totals[c.SPENT] - totals[c.HELD]


@step
def likely_cost(book: Book, worker: int) -> float:
    """What an answer of a worker is likely to cost, in micro-units: their failures are part of it.

    Before anything is known it is the price, which is a ceiling and counts as two answers; where
    all calls cost their price and none has failed, it stays the price to the last bit.
    """
    workers = book.workers
    known = PRIOR_ANSWERS + workers[worker, c.ANSWERED]
    return (PRIOR_ANSWERS * workers[worker, c.PRICE] + workers[worker, c.PAID]) / known


@step
def part_of(money: int, share: int) -> int:
    """Part of an amount of money: a share in thousand-millionths of it, rounded down."""
    # In two parts: the product of both may not fit 64 bits.
    return money // SHARE_UNIT * share + money % SHARE_UNIT * share // SHARE_UNIT


@step
def scaled(scale: Array, value: float) -> float:
    """Value of an answer on the scale 0 to 1."""
    return (value - scale[c.LOW]) / (scale[c.HIGH] - scale[c.LOW])


@step
def asked_before(book: Book, task: int, worker: int) -> bool:
    """Whether this pair was asked (and not released by an expiry)."""
    tasks, assignments = book.tasks, book.assignments
    at = tasks[task, c.TASK_LAST]
    while at >= 0:
        if assignments[at, c.WORKER] == worker and assignments[at, c.STATUS] != c.EXPIRED:
            return True
        at = assignments[at, c.BEFORE_OF_TASK]
    return False


@step
def may_answer(book: Book, task: int, worker: int) -> bool:
    """Whether a task is open to a worker at all: it names nobody, or them."""
    tasks, offers = book.tasks, book.offers
    count = tasks[task, c.NAMED]
    if count < 0:
        return True
    low = tasks[task, c.FIRST_OFFER]
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
    """Whether a task may be put to a worker: open to them, and not asked before unless repeats."""
    if not may_answer(book, task, worker):
        return False
    return bool(book.workers[worker, c.ONCE] == 0 or not asked_before(book, task, worker))


@step
def may_repeat(book: Book, task: int) -> bool:
    """Whether a task may be put to somebody again: a crowd is among those who may be asked."""
    totals, tasks = book.totals, book.tasks
    if totals[c.REPEAT] == 0:
        return False
    if totals[c.ASKED_ONCE] == 0:
        return True
    if tasks[task, c.NAMED] < 0:
        return bool(totals[c.ASKED_ONCE] < totals[c.WORKERS])
    first = tasks[task, c.FIRST_OFFER]
    for offer in range(first, first + tasks[task, c.NAMED]):
        if book.workers[book.offers[offer], c.ONCE] == 0:
            return True
    return False


@step
def tasks_for(book: Book, worker: int) -> int:
    """How many open tasks a worker may be asked about at all, asked already or not."""
    totals = book.totals
    return totals[c.OPEN] - totals[c.OPEN_NAMED] + book.workers[worker, c.OPEN_TO]


@step
def cell_of(book: Book, task: int, worker: int) -> int:
    """Row of `cells` of a pair; -1 if it was never asked."""
    cells = book.cells
    at = book.tasks[task, c.FIRST_CELL]
    while at >= 0 and cells[at, c.CELL_WORKER] != worker:
        at = cells[at, c.NEXT_CELL]
    return at


@step
def new_cell_of(book: Book, task: int, worker: int) -> int:
    """As ``cell_of``, for a pair that may be asked now: without a walk where it must be new."""
    if book.workers[worker, c.ONCE] == 1 and book.tasks[task, c.TASK_LOST] == 0:
        return -1
    return cell_of(book, task, worker)


@step
def tasks_left(book: Book, worker: int) -> int:
    """How many assignments the open tasks still hold for a worker."""
    workers = book.workers
    left = tasks_for(book, worker)
    if left > 0 and workers[worker, c.ONCE] == 0:
        return UNLIMITED
    put = workers[worker, c.ASKED] + workers[worker, c.REFUSED]
    return left - (put - workers[worker, c.ON_CLOSED])


@step
def has_task(book: Book, worker: int) -> bool:
    """Whether some open task may be put to a worker."""
    return tasks_left(book, worker) > 0


@step
def room(book: Book, worker: int, money: int) -> int:
    """How often a worker can still be asked: joined, within limit, money and tasks."""
    workers = book.workers
    if workers[worker, c.JOINED] == 0:
        return 0
    most = workers[worker, c.LIMIT] - workers[worker, c.ASKED]
    price = workers[worker, c.PRICE]
    if price > 0:
        most = min(most, money // price)
    if most <= 0:
        return 0
    if workers[worker, c.ONCE] == 0:
        return most if tasks_for(book, worker) > 0 else 0
    return min(most, tasks_left(book, worker))


@step
def can_be_asked(book: Book, worker: int) -> bool:
    """Whether a worker is in the campaign and within their limit."""
    workers = book.workers
    within = workers[worker, c.ASKED] < workers[worker, c.LIMIT]
    return bool(workers[worker, c.JOINED] == 1 and within)


@step
def at_hand(book: Book, worker: int, money: int, available: Array) -> bool:
    """Whether a worker is there, within their limit and affordable."""
    if available[worker] == 0 or not can_be_asked(book, worker):
        return False
    return bool(book.workers[worker, c.PRICE] <= money)


@step
def may_come(book: Book, task: int, worker: int) -> bool:
    """Whether an answer of a worker to a task may still come: there, within limit, may be asked."""
    return can_be_asked(book, worker) and may_put(book, task, worker)


@step
def at_limit(book: Book, worker: int) -> bool:
    """Whether a worker has reached their limit.

    Where pairs may repeat, a person or model who was asked about all open tasks has as well: others
    are asked on, and this is what keeps them from it.
    """
    workers = book.workers
    if workers[worker, c.ASKED] >= workers[worker, c.LIMIT]:
        return True
    if book.totals[c.REPEAT] == 0 or workers[worker, c.ONCE] == 0:
        return False
    return bool(tasks_for(book, worker) > 0 and not has_task(book, worker))


@step
def idle(book: Book, available: Array) -> int:
    """Why nobody can be asked now: what to wait for, or that it is over."""
    totals, workers = book.totals, book.workers
    if totals[c.OPEN] == 0:
        return c.DONE_TASKS
    money = money_left(totals)
    joined = False
    short = False
    limited = False
    for worker in range(totals[c.WORKERS]):
        if workers[worker, c.JOINED] == 0:
            continue
        joined = True
        if at_limit(book, worker):
            limited = True
        elif has_task(book, worker):
            if workers[worker, c.PRICE] <= money:
                return c.WAIT_WORKERS
            short = True
    if totals[c.PENDING] > 0:
        return c.WAIT_ANSWERS
    if not joined:
        return c.WAIT_WORKERS
    if short:
        return c.DONE_BUDGET
    return c.DONE_LIMITS if limited else c.DONE_TASKS


# The queue is a tournament over tasks: the open task that was asked least, then the first.


@step
def ahead(tasks: Array, one: int, other: int) -> bool:
    """Whether a task comes before another (-1 is none and comes last)."""
    if one < 0 or other < 0:
        return one >= 0
    if tasks[one, c.CLOSED] != tasks[other, c.CLOSED]:
        return bool(tasks[one, c.CLOSED] == 0)
    if tasks[one, c.TASK_ASKED] != tasks[other, c.TASK_ASKED]:
        return bool(tasks[one, c.TASK_ASKED] < tasks[other, c.TASK_ASKED])
    return one < other


@kernel
def next_task(book: Book, worker: int) -> int:
    """Find the open task asked least (then first) that may be put to a worker; -1 if none."""
    tasks, queue = book.tasks, book.queue
    if book.totals[c.OPEN] == 0:
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
        if task < 0 or tasks[task, c.CLOSED] == 1 or (best >= 0 and not ahead(tasks, task, best)):
            continue
        # A subtree's winner that may be put to the worker is the best it has for them.
        if may_put(book, task, worker):
            best = task
        elif node < half:
            stack[depth] = 2 * node + 1
            stack[depth + 1] = 2 * node
            depth += 2
    return best


@step
def bad_task(book: Book, task: int, worker: int, count: int) -> bool:
    """Whether a named task is unknown, closed, or may not be put to this worker (again)."""
    if task >= book.totals[c.TASKS] or book.tasks[task, c.CLOSED] == 1:
        return True
    return bool(count > 1 and book.workers[worker, c.ONCE] == 1) or not may_put(book, task, worker)


@kernel
def next_row(book: Book, available: Array) -> tuple[int, int, bool]:
    """Find the first row of the plan that can be handed out, and its task (-1 both: none).

    Also tells whether any row could be, to somebody available or not.
    """
    totals, workers, plan = book.totals, book.workers, book.plan
    alive = False
    for row in range(totals[c.PLAN_ROWS]):
        task, worker = plan[row, c.PLAN_TASK], plan[row, c.PLAN_WORKER]
        if plan[row, c.PLAN_COUNT] <= 0 or workers[worker, c.JOINED] == 0:
            continue
        if workers[worker, c.ASKED] >= workers[worker, c.LIMIT] or (
            alive and available[worker] == 0
        ):
            continue
        if task < 0:
            task = next_task(book, worker)
        elif bad_task(book, task, worker, 1):
            task = -1
        if task >= 0:
            alive = True
            if available[worker] != 0:
                return row, task, True
    return -1, -1, alive


IDLE: dict[int, Wait | Done] = {
    c.WAIT_TRUTH: Wait("truth"),
    c.WAIT_ANSWERS: Wait("answers"),
    c.WAIT_WORKERS: Wait("workers"),
    c.DONE_BUDGET: Done("budget"),
    c.DONE_LIMITS: Done("limits"),
    c.DONE_TASKS: Done("tasks"),
    c.DONE_TARGET: Done("target"),
    c.DONE_AGREEMENT: Done("agreement"),
    c.DONE_WORTHLESS: Done("worthless"),
}
"""What the codes that kernels return mean."""

CODES = {choice: code for code, choice in IDLE.items()}
"""The codes of what choosing may say instead of a proposal."""
