"""Writing the ledger's arrays: only the ledger and the lab's loop call these kernels."""

from __future__ import annotations

import numpy as np

from askwise.core.book import (
    ABSENT,
    ANSWERED,
    ANSWERS,
    ASKED,
    ASSIGNMENTS,
    BAD_ODDS,
    BAD_TASK,
    BEFORE_OF_TASK,
    BEFORE_OF_WORKER,
    CELL,
    CELL_ANSWERS,
    CELL_OUT,
    CELL_WORKER,
    CELLS,
    CLOSED,
    COST,
    DECISION,
    DECISIONS,
    DECLINED,
    EMPTY,
    EXPIRED,
    EXPIRES,
    FINE,
    FIRST_CELL,
    FIRST_OFFER,
    HELD,
    JOINED,
    LAST,
    LIMIT,
    NAMED,
    NEXT_CELL,
    ON_CLOSED,
    OPEN,
    OPEN_NAMED,
    OPEN_TO,
    OPTIONS,
    OUT,
    OVER_LIMIT,
    OVER_MONEY,
    PENDING,
    PLAN_COUNT,
    PLAN_ROWS,
    PLAN_TASK,
    PLAN_WORKER,
    PLANNED,
    PRICE,
    PROPENSITY,
    REFUSED,
    REPEAT,
    SEQ,
    SETTLED,
    SPENT,
    STATUS,
    TASK,
    TASK_ANSWERED,
    TASK_ASKED,
    TASK_LAST,
    TASK_LOST,
    TASK_SPENT,
    TASKS,
    VALUE,
    VOICE,
    VOTES,
    WORKER,
    WORKERS,
    Array,
    Book,
    Proposal,
    ahead,
    may_put,
    money_left,
    new_cell_of,
    next_task,
    tasks_left,
)
from askwise.core.compiling import kernel, step


@step
def requeue(tasks: Array, queue: Array, task: int) -> None:
    """Mend the tournament after a task's row changed."""
    half = len(queue) // 2
    node = (half + task) // 2
    while node >= 1:
        left, right = queue[2 * node], queue[2 * node + 1]
        winner = left if ahead(tasks, left, right) else right
        if winner == queue[node] and winner != task:
            # Neither who wins here nor the winner's row has changed: nor has anything above.
            return
        queue[node] = winner
        node //= 2


@kernel
def build_queue(tasks: Array, queue: Array, count: int) -> None:
    """Fill the tournament for ``count`` tasks; its length is twice a power of two."""
    half = len(queue) // 2
    for task in range(half):
        queue[half + task] = task if task < count else -1
    for node in range(half - 1, 0, -1):
        left, right = queue[2 * node], queue[2 * node + 1]
        queue[node] = left if ahead(tasks, left, right) else right


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
        if task < 0 and tasks_left(book, worker) < count:
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
    return bool(count > 1 and book.totals[REPEAT] == 0) or not may_put(book, task, worker)


@kernel
def next_row(book: Book, available: Array) -> tuple[int, int, bool]:
    """Find the first row of the plan that can be handed out, and its task (-1 both: none).

    Also tells whether any row could be, to somebody available or not.
    """
    totals, workers, plan = book.totals, book.workers, book.plan
    alive = False
    for row in range(totals[PLAN_ROWS]):
        task, worker = plan[row, PLAN_TASK], plan[row, PLAN_WORKER]
        if plan[row, PLAN_COUNT] <= 0 or workers[worker, JOINED] == 0:
            continue
        if workers[worker, ASKED] >= workers[worker, LIMIT] or (alive and available[worker] == 0):
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


@step
def take_plan(book: Book, rows: Array, odds: Array, first: int, length: int) -> None:
    """Take rows as the current decision: reserve their money as a whole."""
    totals, workers, plan, chances = book.totals, book.workers, book.plan, book.odds
    planned = 0
    for row in range(length):
        at = first + row
        plan[row, PLAN_TASK] = rows[at, PLAN_TASK]
        plan[row, PLAN_WORKER] = rows[at, PLAN_WORKER]
        plan[row, PLAN_COUNT] = rows[at, PLAN_COUNT]
        chances[row] = odds[at]
        planned += workers[rows[at, PLAN_WORKER], PRICE] * rows[at, PLAN_COUNT]
    totals[PLAN_ROWS] = length
    totals[PLANNED] = planned
    totals[DECISIONS] += 1


@step
def decide(book: Book, out: Proposal) -> None:
    """Take a proposal as the current decision."""
    take_plan(book, out.rows, out.odds, 0, out.head[0])


@kernel
def drop_row(book: Book, row: int) -> None:
    """Give up what is left of a plan's row."""
    plan = book.plan
    price = book.workers[plan[row, PLAN_WORKER], PRICE]
    book.totals[PLANNED] -= price * plan[row, PLAN_COUNT]
    plan[row, PLAN_COUNT] = 0


@step
def open_cell(book: Book, task: int, worker: int) -> int:
    """Count one more assignment as out in the cell of its pair, a new cell if need be."""
    totals, tasks, cells = book.totals, book.tasks, book.cells
    at = new_cell_of(book, task, worker)
    if at < 0:
        at = totals[CELLS]
        totals[CELLS] = at + 1
        for column in range(cells.shape[1]):
            cells[at, column] = 0
        cells[at, CELL_WORKER] = worker
        cells[at, NEXT_CELL] = tasks[task, FIRST_CELL]
        tasks[task, FIRST_CELL] = at
    cells[at, CELL_OUT] += 1
    return at


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
    assignments[at, CELL] = open_cell(book, task, worker) if totals[OPTIONS] > 0 else -1
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
    cells, cell = book.cells, assignments[at, CELL]
    if assignments[at, STATUS] == OUT:
        totals[HELD] -= cost
        totals[PENDING] -= 1
        if totals[OPTIONS] > 0:
            cells[cell, CELL_OUT] -= 1
    else:
        workers[worker, ASKED] += 1
        workers[worker, ON_CLOSED] += tasks[task, CLOSED]
        tasks[task, TASK_ASKED] += 1
        requeue(tasks, book.queue, task)
    assignments[at, STATUS] = SETTLED
    book.marks[at, VALUE] = value
    totals[SPENT] += cost
    tasks[task, TASK_SPENT] += cost
    totals[ANSWERS] += 1
    workers[worker, ANSWERED] += 1
    tasks[task, TASK_ANSWERED] += 1
    if totals[OPTIONS] > 0:
        book.votes[task, int(value)] += 1
        cells[cell, CELL_ANSWERS] += 1
        cells[cell, VOTES + int(value)] += 1
        tasks[task, VOICE] = cell


@step
def find_assignment(assignments: Array, count: int, seq: int) -> int:
    """Index of the assignment whose ASKED has a sequence number; -1 if there is none."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if assignments[middle, SEQ] < seq:
            low = middle + 1
        else:
            high = middle
    return low if low < count and assignments[low, SEQ] == seq else -1


@step
def ask(book: Book, task: int, worker: int, seq: int, expires: float) -> int:
    """Hand out by the first row of the plan that fits; the assignment, -1 if none was planned."""
    plan = book.plan
    for row in range(book.totals[PLAN_ROWS]):
        fits = plan[row, PLAN_TASK] == task or plan[row, PLAN_TASK] == -1
        if plan[row, PLAN_WORKER] == worker and plan[row, PLAN_COUNT] > 0 and fits:
            return hand_out(book, row, task, seq, expires)
    return -1


@step
def answer(book: Book, seq: int, value: float) -> int:
    """Settle the assignment of a sequence number; returns it, -1 if there is none."""
    at = find_assignment(book.assignments, book.totals[ASSIGNMENTS], seq)
    if at >= 0:
        settle(book, at, value)
    return at


@kernel
def trim_plan(book: Book) -> None:
    """Give up what the plan holds for workers beyond the tasks that are left for them."""
    totals, workers, plan = book.totals, book.workers, book.plan
    if totals[REPEAT] == 1 and totals[OPEN_NAMED] == 0:
        return
    for row in range(totals[PLAN_ROWS]):
        worker, count = plan[row, PLAN_WORKER], plan[row, PLAN_COUNT]
        left = tasks_left(book, worker)
        if plan[row, PLAN_TASK] < 0 and count > left:
            excess = count - left
            plan[row, PLAN_COUNT] -= excess
            totals[PLANNED] -= excess * workers[worker, PRICE]


@kernel
def release(book: Book, at: int, status: int) -> None:
    """Take an assignment back (EXPIRED or DECLINED): its money and its place are free again."""
    totals, workers, tasks, assignments = book.totals, book.workers, book.tasks, book.assignments
    worker, task = assignments[at, WORKER], assignments[at, TASK]
    assignments[at, STATUS] = status
    workers[worker, REFUSED] += status == DECLINED
    if status == EXPIRED:
        workers[worker, ON_CLOSED] -= tasks[task, CLOSED]
    totals[HELD] -= assignments[at, COST]
    totals[PENDING] -= 1
    workers[worker, ASKED] -= 1
    tasks[task, TASK_ASKED] -= 1
    tasks[task, TASK_LOST] += 1
    if totals[OPTIONS] > 0:
        book.cells[assignments[at, CELL], CELL_OUT] -= 1
    requeue(tasks, book.queue, task)
    if status == DECLINED:
        trim_plan(book)


@step
def take_back(book: Book, seq: int, status: int) -> int:
    """Release the assignment of a sequence number; returns it, -1 if there is none."""
    at = find_assignment(book.assignments, book.totals[ASSIGNMENTS], seq)
    if at >= 0:
        release(book, at, status)
    return at


@kernel
def close_task(book: Book, task: int) -> None:
    """Close a task; rows of the plan that ask about it (or about any, when none is left) go."""
    totals, tasks, plan = book.totals, book.tasks, book.plan
    if tasks[task, CLOSED] == 1:
        return
    tasks[task, CLOSED] = 1
    totals[OPEN] -= 1
    at = tasks[task, TASK_LAST]
    while at >= 0:
        if book.assignments[at, STATUS] != EXPIRED:
            book.workers[book.assignments[at, WORKER], ON_CLOSED] += 1
        at = book.assignments[at, BEFORE_OF_TASK]
    if tasks[task, NAMED] >= 0:
        totals[OPEN_NAMED] -= 1
        first = tasks[task, FIRST_OFFER]
        for offer in range(first, first + tasks[task, NAMED]):
            book.workers[book.offers[offer], OPEN_TO] -= 1
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
