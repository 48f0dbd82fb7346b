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
# PLANNED for the part of the current decision that was not handed out yet.
(BUDGET, SPENT, HELD, PLANNED, TASKS, WORKERS, ASSIGNMENTS, ANSWERS, PENDING, DECISIONS, OPEN,
 PLAN_ROWS, REPEAT, TASKLESS, OPTIONS, PAUSED, STOPPED) = range(17)  # fmt: skip

# Columns of `workers`. ASKED counts what is pending or answered: what his limit is about.
# REFUSED counts what he declined: those tasks are not put to him again.
PRICE, LIMIT, JOINED, ASKED, ANSWERED, LAST, REFUSED = range(7)

# Columns of `ratings`: prior mean, scaled to 0..1, and how many answers it is worth.
RATING, WEIGHT = range(2)

# Columns of `tasks`. TRUTH is the option's index, -1 while unknown.
CLOSED, TASK_ASKED, TASK_ANSWERED, TASK_LAST, TRUTH = range(5)

# Columns of `assignments` and of `marks`.
TASK, WORKER, COST, STATUS, DECISION, SEQ, BEFORE_OF_TASK, BEFORE_OF_WORKER = range(8)
VALUE, PROPENSITY, EXPIRES = range(3)

# Status of an assignment.
OUT, SETTLED, EXPIRED, DECLINED = range(4)

# Columns of `plan` (and of a proposal's rows).
PLAN_TASK, PLAN_WORKER, PLAN_COUNT = range(3)

# What choosing may say.
PROPOSED = 0
WAIT_TRUTH, WAIT_ANSWERS, WAIT_WORKERS = -1, -2, -3
DONE_BUDGET, DONE_LIMITS, DONE_TASKS = -11, -12, -13
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
    assignments: Array
    marks: Array
    plan: Array
    odds: Array


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
def tasks_left(book: Book, worker: int) -> int:
    """How many assignments the open tasks still hold for a worker."""
    totals, workers, tasks, assignments = book.totals, book.workers, book.tasks, book.assignments
    if totals[OPEN] == 0:
        return 0
    if totals[REPEAT] == 1:
        return UNLIMITED
    left = totals[OPEN]
    at = workers[worker, LAST]
    while at >= 0:
        if assignments[at, STATUS] != EXPIRED and tasks[assignments[at, TASK], CLOSED] == 0:
            left -= 1
        at = assignments[at, BEFORE_OF_WORKER]
    return left


@step
def has_task(book: Book, worker: int) -> bool:
    """Whether some open task may be put to a worker; cheap unless he has done nearly all."""
    totals, workers = book.totals, book.workers
    if totals[REPEAT] == 1 or totals[OPEN] > workers[worker, ASKED] + workers[worker, REFUSED]:
        return bool(totals[OPEN] > 0)
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
        return most if book.totals[OPEN] > 0 else 0
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
def _ahead(tasks: Array, one: int, other: int) -> bool:
    if one < 0 or other < 0:
        return one >= 0
    if tasks[one, CLOSED] != tasks[other, CLOSED]:
        return bool(tasks[one, CLOSED] == 0)
    if tasks[one, TASK_ASKED] != tasks[other, TASK_ASKED]:
        return bool(tasks[one, TASK_ASKED] < tasks[other, TASK_ASKED])
    return one < other


@step
def requeue(tasks: Array, queue: Array, task: int) -> None:
    """Mend the tournament after a task's row changed."""
    half = len(queue) // 2
    node = (half + task) // 2
    while node >= 1:
        left, right = queue[2 * node], queue[2 * node + 1]
        queue[node] = left if _ahead(tasks, left, right) else right
        node //= 2


@kernel
def build_queue(tasks: Array, queue: Array, count: int) -> None:
    """Fill the tournament for ``count`` tasks; its length is twice a power of two."""
    half = len(queue) // 2
    for task in range(half):
        queue[half + task] = task if task < count else -1
    for node in range(half - 1, 0, -1):
        left, right = queue[2 * node], queue[2 * node + 1]
        queue[node] = left if _ahead(tasks, left, right) else right


@kernel
def next_task(book: Book, worker: int) -> int:
    """Find the open task asked least (then first) that may be put to a worker; -1 if none."""
    tasks, queue = book.tasks, book.queue
    if book.totals[OPEN] == 0:
        return -1
    first = queue[1]
    if book.totals[REPEAT] == 1 or not asked_before(book, first, worker):
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
        if task < 0 or tasks[task, CLOSED] == 1 or (best >= 0 and not _ahead(tasks, task, best)):
            continue
        # A subtree's winner that he was not asked is the best that the subtree has for him.
        if not asked_before(book, task, worker):
            best = task
        elif node < half:
            stack[depth] = 2 * node + 1
            stack[depth + 1] = 2 * node
            depth += 2
    return best


# Writing: only the ledger and the lab's loop call these.


@step
def fault(book: Book, out: Proposal, available: Array) -> int:
    """Check a proposal against limits, money, presence and open tasks, whatever the policy."""
    totals, workers = book.totals, book.workers
    rows, odds, head = out.rows, out.odds, out.head
    if head[0] <= 0:
        return EMPTY
    money = money_left(totals)
    cost = 0
    for row in range(head[0]):
        task, worker, count = rows[row, PLAN_TASK], rows[row, PLAN_WORKER], rows[row, PLAN_COUNT]
        if worker < 0 or worker >= totals[WORKERS] or workers[worker, JOINED] == 0:
            return ABSENT
        if available[worker] == 0:
            return ABSENT
        if count < 1 or count > workers[worker, LIMIT] - workers[worker, ASKED]:
            return OVER_LIMIT
        if task >= 0 and bad_task(book, task, worker, count):
            return BAD_TASK
        if task < 0 and totals[REPEAT] == 0 and tasks_left(book, worker) < count:
            return BAD_TASK
        if not np.isnan(odds[row]) and not 0.0 < odds[row] <= 1.0:
            return BAD_ODDS
        # In floats first: a wild count must not overflow its way past the check.
        if float(workers[worker, PRICE]) * count > money:
            return OVER_MONEY
        cost += workers[worker, PRICE] * count
        if cost > money:
            return OVER_MONEY
    return FINE if head[0] == 1 else over_limit(totals, workers, rows, head[0])


@kernel
def over_limit(totals: Array, workers: Array, rows: Array, length: int) -> int:
    """Check limits over all rows of a worker together."""
    wanted = np.zeros(totals[WORKERS], np.int64)
    for row in range(length):
        worker = rows[row, PLAN_WORKER]
        wanted[worker] += rows[row, PLAN_COUNT]
        if wanted[worker] > workers[worker, LIMIT] - workers[worker, ASKED]:
            return OVER_LIMIT
    return FINE


@step
def bad_task(book: Book, task: int, worker: int, count: int) -> bool:
    """Whether a named task is unknown, closed, or may not be put to this worker (again)."""
    if task >= book.totals[TASKS] or book.tasks[task, CLOSED] == 1:
        return True
    return bool(book.totals[REPEAT] == 0 and (count > 1 or asked_before(book, task, worker)))


@step
def decide(book: Book, out: Proposal) -> None:
    """Take a proposal as the current decision: reserve its money as a whole."""
    totals, workers, plan, chances = book.totals, book.workers, book.plan, book.odds
    rows, odds, head = out.rows, out.odds, out.head
    planned = 0
    for row in range(head[0]):
        plan[row, PLAN_TASK] = rows[row, PLAN_TASK]
        plan[row, PLAN_WORKER] = rows[row, PLAN_WORKER]
        plan[row, PLAN_COUNT] = rows[row, PLAN_COUNT]
        chances[row] = odds[row]
        planned += workers[rows[row, PLAN_WORKER], PRICE] * rows[row, PLAN_COUNT]
    totals[PLAN_ROWS] = head[0]
    totals[PLANNED] = planned
    totals[DECISIONS] += 1


@kernel
def drop_row(book: Book, row: int) -> None:
    """Give up what is left of a plan's row."""
    plan = book.plan
    price = book.workers[plan[row, PLAN_WORKER], PRICE]
    book.totals[PLANNED] -= price * plan[row, PLAN_COUNT]
    plan[row, PLAN_COUNT] = 0


@step
def hand_out(book: Book, row: int, task: int, seq: int, expires: float) -> int:
    """Turn one unit of a plan's row into an assignment; returns its index."""
    totals, workers, tasks, assignments = book.totals, book.workers, book.tasks, book.assignments
    plan, marks = book.plan, book.marks
    worker = plan[row, PLAN_WORKER]
    price = workers[worker, PRICE]
    at = totals[ASSIGNMENTS]
    assignments[at, TASK] = task
    assignments[at, WORKER] = worker
    assignments[at, COST] = price
    assignments[at, STATUS] = OUT
    assignments[at, DECISION] = totals[DECISIONS] - 1
    assignments[at, SEQ] = seq
    assignments[at, BEFORE_OF_TASK] = tasks[task, TASK_LAST]
    assignments[at, BEFORE_OF_WORKER] = workers[worker, LAST]
    marks[at, VALUE] = np.nan
    marks[at, PROPENSITY] = book.odds[row]
    marks[at, EXPIRES] = expires
    plan[row, PLAN_COUNT] -= 1
    totals[PLANNED] -= price
    totals[HELD] += price
    totals[ASSIGNMENTS] = at + 1
    totals[PENDING] += 1
    workers[worker, ASKED] += 1
    workers[worker, LAST] = at
    tasks[task, TASK_ASKED] += 1
    tasks[task, TASK_LAST] = at
    requeue(tasks, book.queue, task)
    return at


@step
def settle(book: Book, at: int, value: float) -> None:
    """Book an answer: what was held for it is spent; a late one was released before."""
    totals, workers, tasks, assignments = book.totals, book.workers, book.tasks, book.assignments
    worker, task, cost = assignments[at, WORKER], assignments[at, TASK], assignments[at, COST]
    if assignments[at, STATUS] == OUT:
        totals[HELD] -= cost
        totals[PENDING] -= 1
    else:
        workers[worker, ASKED] += 1
        tasks[task, TASK_ASKED] += 1
        requeue(tasks, book.queue, task)
    assignments[at, STATUS] = SETTLED
    book.marks[at, VALUE] = value
    totals[SPENT] += cost
    totals[ANSWERS] += 1
    workers[worker, ANSWERED] += 1
    tasks[task, TASK_ANSWERED] += 1
    if totals[OPTIONS] > 0:
        book.votes[task, int(value)] += 1


@kernel
def trim_plan(book: Book) -> None:
    """Give up what the plan holds for workers beyond the tasks that are left for them."""
    totals, workers, plan = book.totals, book.workers, book.plan
    if totals[REPEAT] == 1:
        return
    for row in range(totals[PLAN_ROWS]):
        worker, count = plan[row, PLAN_WORKER], plan[row, PLAN_COUNT]
        # Cheap first: more open tasks than he was ever asked are surely enough.
        sure = totals[OPEN] - workers[worker, ASKED] - workers[worker, REFUSED]
        if plan[row, PLAN_TASK] < 0 and count > sure:
            excess = count - min(count, tasks_left(book, worker))
            plan[row, PLAN_COUNT] -= excess
            totals[PLANNED] -= excess * workers[worker, PRICE]


@kernel
def release(book: Book, at: int, status: int) -> None:
    """Take an assignment back (EXPIRED or DECLINED): its money and its place are free again."""
    totals, workers, tasks, assignments = book.totals, book.workers, book.tasks, book.assignments
    worker, task = assignments[at, WORKER], assignments[at, TASK]
    assignments[at, STATUS] = status
    workers[worker, REFUSED] += status == DECLINED
    totals[HELD] -= assignments[at, COST]
    totals[PENDING] -= 1
    workers[worker, ASKED] -= 1
    tasks[task, TASK_ASKED] -= 1
    requeue(tasks, book.queue, task)
    if status == DECLINED:
        trim_plan(book)


@kernel
def close_task(book: Book, task: int) -> None:
    """Close a task; rows of the plan that ask about it (or about any, when none is left) go."""
    totals, tasks, plan = book.totals, book.tasks, book.plan
    if tasks[task, CLOSED] == 1:
        return
    tasks[task, CLOSED] = 1
    totals[OPEN] -= 1
    requeue(tasks, book.queue, task)
    for row in range(totals[PLAN_ROWS]):
        if plan[row, PLAN_TASK] == task or totals[OPEN] == 0:
            drop_row(book, row)
    trim_plan(book)


@kernel
def leave(book: Book, worker: int) -> None:
    """Let a worker go: he is not asked again; what he still has out may be answered."""
    book.workers[worker, JOINED] = 0
    for row in range(book.totals[PLAN_ROWS]):
        if book.plan[row, PLAN_WORKER] == worker:
            drop_row(book, row)


@kernel
def drop_plan(book: Book) -> None:
    """Give up the rest of the current decision."""
    for row in range(book.totals[PLAN_ROWS]):
        drop_row(book, row)
