"""Writing the ledger's arrays: only the ledger and the lab's loop call these kernels."""

from __future__ import annotations

import numpy as np

from askwise.core.arrays import Array
from askwise.core.compiling import kernel, step
from askwise.ledger import columns as c
from askwise.ledger.columns import Book
from askwise.ledger.proposals import Proposal
from askwise.ledger.queries import ahead, new_cell_of, tasks_left


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
def take_plan(book: Book, rows: Array, odds: Array, first: int, length: int) -> None:
    """Take rows as the current decision: reserve their money as a whole."""
    totals, workers, plan, chances = book.totals, book.workers, book.plan, book.odds
    planned = 0
    for row in range(length):
        at = first + row
        plan[row, c.PLAN_TASK] = rows[at, c.PLAN_TASK]
        plan[row, c.PLAN_WORKER] = rows[at, c.PLAN_WORKER]
        plan[row, c.PLAN_COUNT] = rows[at, c.PLAN_COUNT]
        chances[row] = odds[at]
        planned += workers[rows[at, c.PLAN_WORKER], c.PRICE] * rows[at, c.PLAN_COUNT]
    totals[c.PLAN_ROWS] = length
    totals[c.PLANNED] = planned
    totals[c.DECISIONS] += 1


@step
def decide(book: Book, out: Proposal) -> None:
    """Take a proposal as the current decision."""
    take_plan(book, out.rows, out.odds, 0, out.head[0])


@kernel
def drop_row(book: Book, row: int) -> None:
    """Give up what is left of a plan's row."""
    plan = book.plan
    price = book.workers[plan[row, c.PLAN_WORKER], c.PRICE]
    book.totals[c.PLANNED] -= price * plan[row, c.PLAN_COUNT]
    plan[row, c.PLAN_COUNT] = 0


@step
def open_cell(book: Book, task: int, worker: int) -> int:
    """Count one more assignment as out in the cell of its pair, a new cell if need be."""
    totals, tasks, cells = book.totals, book.tasks, book.cells
    at = new_cell_of(book, task, worker)
    if at < 0:
        at = totals[c.CELLS]
        totals[c.CELLS] = at + 1
        for column in range(cells.shape[1]):
            cells[at, column] = 0
        cells[at, c.CELL_WORKER] = worker
        cells[at, c.NEXT_CELL] = tasks[task, c.FIRST_CELL]
        tasks[task, c.FIRST_CELL] = at
    cells[at, c.CELL_OUT] += 1
    return at


@step
def hand_out(book: Book, row: int, task: int, seq: int, expires: float) -> int:
    """Turn one unit of a plan's row into an assignment; returns its index."""
    totals, workers, tasks, assignments = book.totals, book.workers, book.tasks, book.assignments
    plan, marks = book.plan, book.marks
    worker = plan[row, c.PLAN_WORKER]
    price = workers[worker, c.PRICE]
    at = totals[c.ASSIGNMENTS]
    assignments[at, c.TASK] = task
    assignments[at, c.WORKER] = worker
    assignments[at, c.COST] = price
    assignments[at, c.STATUS] = c.OUT
    assignments[at, c.DECISION] = totals[c.DECISIONS] - 1
    assignments[at, c.SEQ] = seq
    assignments[at, c.BEFORE_OF_TASK] = tasks[task, c.TASK_LAST]
    assignments[at, c.BEFORE_OF_WORKER] = workers[worker, c.LAST]
    assignments[at, c.CELL] = open_cell(book, task, worker) if totals[c.OPTIONS] > 0 else -1
    marks[at, c.VALUE] = np.nan
    marks[at, c.PROPENSITY] = book.odds[row]
    marks[at, c.EXPIRES] = expires
    plan[row, c.PLAN_COUNT] -= 1
    totals[c.PLANNED] -= price
    totals[c.HELD] += price
    totals[c.ASSIGNMENTS] = at + 1
    totals[c.PENDING] += 1
    workers[worker, c.ASKED] += 1
    workers[worker, c.LAST] = at
    tasks[task, c.TASK_ASKED] += 1
    tasks[task, c.TASK_LAST] = at
    requeue(tasks, book.queue, task)
    return at


@step
def settle(book: Book, at: int, value: float) -> None:
    """Book an answer: what was held for it is spent; a late one was released before."""
    totals, workers, tasks, assignments = book.totals, book.workers, book.tasks, book.assignments
    worker, task, cost = assignments[at, c.WORKER], assignments[at, c.TASK], assignments[at, c.COST]
    cells, cell = book.cells, assignments[at, c.CELL]
    if assignments[at, c.STATUS] == c.OUT:
        totals[c.HELD] -= cost
        totals[c.PENDING] -= 1
        if totals[c.OPTIONS] > 0:
            cells[cell, c.CELL_OUT] -= 1
    else:
        workers[worker, c.ASKED] += 1
        workers[worker, c.ON_CLOSED] += tasks[task, c.CLOSED]
        tasks[task, c.TASK_ASKED] += 1
        requeue(tasks, book.queue, task)
    assignments[at, c.STATUS] = c.SETTLED
    book.marks[at, c.VALUE] = value
    totals[c.SPENT] += cost
    tasks[task, c.TASK_SPENT] += cost
    totals[c.ANSWERS] += 1
    workers[worker, c.ANSWERED] += 1
    tasks[task, c.TASK_ANSWERED] += 1
    if totals[c.OPTIONS] > 0:
        book.votes[task, int(value)] += 1
        cells[cell, c.CELL_ANSWERS] += 1
        cells[cell, c.VOTES + int(value)] += 1
        tasks[task, c.VOICE] = cell


@step
def find_assignment(assignments: Array, count: int, seq: int) -> int:
    """Index of the assignment whose ASKED has a sequence number; -1 if there is none."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if assignments[middle, c.SEQ] < seq:
            low = middle + 1
        else:
            high = middle
    return low if low < count and assignments[low, c.SEQ] == seq else -1


@step
def ask(book: Book, task: int, worker: int, seq: int, expires: float) -> int:
    """Hand out by the first row of the plan that fits; the assignment, -1 if none was planned."""
    plan = book.plan
    for row in range(book.totals[c.PLAN_ROWS]):
        fits = plan[row, c.PLAN_TASK] == task or plan[row, c.PLAN_TASK] == -1
        if plan[row, c.PLAN_WORKER] == worker and plan[row, c.PLAN_COUNT] > 0 and fits:
            return hand_out(book, row, task, seq, expires)
    return -1


@step
def answer(book: Book, seq: int, value: float) -> int:
    """Settle the assignment of a sequence number; returns it, -1 if there is none."""
    at = find_assignment(book.assignments, book.totals[c.ASSIGNMENTS], seq)
    if at >= 0:
        settle(book, at, value)
    return at


@kernel
def trim_plan(book: Book) -> None:
    """Give up what the plan holds for workers beyond the tasks that are left for them."""
    totals, workers, plan = book.totals, book.workers, book.plan
    if totals[c.REPEAT] == 1 and totals[c.OPEN_NAMED] == 0:
        return
    for row in range(totals[c.PLAN_ROWS]):
        worker, count = plan[row, c.PLAN_WORKER], plan[row, c.PLAN_COUNT]
        left = tasks_left(book, worker)
        if plan[row, c.PLAN_TASK] < 0 and count > left:
            excess = count - left
            plan[row, c.PLAN_COUNT] -= excess
            totals[c.PLANNED] -= excess * workers[worker, c.PRICE]


@kernel
def release(book: Book, at: int, status: int) -> None:
    """Take an assignment back (EXPIRED or DECLINED): its money and its place are free again."""
    totals, workers, tasks, assignments = book.totals, book.workers, book.tasks, book.assignments
    worker, task = assignments[at, c.WORKER], assignments[at, c.TASK]
    assignments[at, c.STATUS] = status
    workers[worker, c.REFUSED] += status == c.DECLINED
    if status == c.EXPIRED:
        workers[worker, c.ON_CLOSED] -= tasks[task, c.CLOSED]
    totals[c.HELD] -= assignments[at, c.COST]
    totals[c.PENDING] -= 1
    workers[worker, c.ASKED] -= 1
    tasks[task, c.TASK_ASKED] -= 1
    tasks[task, c.TASK_LOST] += 1
    if totals[c.OPTIONS] > 0:
        book.cells[assignments[at, c.CELL], c.CELL_OUT] -= 1
    requeue(tasks, book.queue, task)
    if status == c.DECLINED:
        trim_plan(book)


@step
def take_back(book: Book, seq: int, status: int) -> int:
    """Release the assignment of a sequence number; returns it, -1 if there is none."""
    at = find_assignment(book.assignments, book.totals[c.ASSIGNMENTS], seq)
    if at >= 0:
        release(book, at, status)
    return at


@kernel
def close_task(book: Book, task: int) -> None:
    """Close a task; rows of the plan that ask about it (or about any, when none is left) go."""
    totals, tasks, plan = book.totals, book.tasks, book.plan
    if tasks[task, c.CLOSED] == 1:
        return
    tasks[task, c.CLOSED] = 1
    totals[c.OPEN] -= 1
    at = tasks[task, c.TASK_LAST]
    while at >= 0:
        if book.assignments[at, c.STATUS] != c.EXPIRED:
            book.workers[book.assignments[at, c.WORKER], c.ON_CLOSED] += 1
        at = book.assignments[at, c.BEFORE_OF_TASK]
    if tasks[task, c.NAMED] >= 0:
        totals[c.OPEN_NAMED] -= 1
        first = tasks[task, c.FIRST_OFFER]
        for offer in range(first, first + tasks[task, c.NAMED]):
            book.workers[book.offers[offer], c.OPEN_TO] -= 1
    requeue(tasks, book.queue, task)
    for row in range(totals[c.PLAN_ROWS]):
        if plan[row, c.PLAN_TASK] == task or totals[c.OPEN] == 0:
            drop_row(book, row)
    trim_plan(book)


@kernel
def leave(book: Book, worker: int) -> None:
    """Let a worker go: he is not asked again; what he still has out may be answered."""
    book.workers[worker, c.JOINED] = 0
    for row in range(book.totals[c.PLAN_ROWS]):
        if book.plan[row, c.PLAN_WORKER] == worker:
            drop_row(book, row)


@kernel
def drop_plan(book: Book) -> None:
    """Give up the rest of the current decision."""
    for row in range(book.totals[c.PLAN_ROWS]):
        drop_row(book, row)
