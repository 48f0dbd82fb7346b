"""What events do to the ledger's arrays: one state machine for folding and simulating."""

import numpy as np

from askwise.core.money import NO_CAP
from askwise.core.problem import UNLIMITED
from askwise.kernels import Array, Fact, kernel, step
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.ledger.columns import Book
from askwise.ledger.plan_rows import drop_plan, drop_row, fitting_row, trim_plan, trim_to_limit
from askwise.ledger.queries import new_cell_of, part_of
from askwise.ledger.task_queue import requeue

MISFIT = -2
"""An event that does not follow from those before it."""

AT_PRICE = -1
"""Stands for the cost of what is settled at the price it was asked at."""


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
    workers[worker, c.ON_CLOSED] += tasks[task, c.CLOSED]
    workers[worker, c.LAST] = at
    tasks[task, c.TASK_ASKED] += 1
    tasks[task, c.TASK_LAST] = at
    requeue(tasks, book.queue, task)
    return at


@kernel
def bill(book: Book, at: int, cost: int) -> None:
    """Take what a call cost in place of the price that was reserved for it."""
    assignments = book.assignments
    if assignments[at, c.STATUS] == c.OUT:
        book.totals[c.HELD] += cost - assignments[at, c.COST]
    assignments[at, c.COST] = cost


@step
def settle(book: Book, at: int, value: float) -> None:
    """Book an answer: what was held for it is spent; a late one was released before."""
    totals, workers, tasks, assignments = book.totals, book.workers, book.tasks, book.assignments
    worker, task, cost = assignments[at, c.WORKER], assignments[at, c.TASK], assignments[at, c.COST]
    cells, cell = book.cells, assignments[at, c.CELL]
    late = assignments[at, c.STATUS] != c.OUT
    if not late:
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
    workers[worker, c.PAID] += cost
    totals[c.ANSWERS] += 1
    workers[worker, c.ANSWERED] += 1
    tasks[task, c.TASK_ANSWERED] += 1
    if totals[c.OPTIONS] > 0:
        book.votes[task, int(value)] += 1
        if cells[cell, c.CELL_ANSWERS] == 0:
            cells[cell, c.FIRST_AT] = tasks[task, c.TASK_ANSWERED]
            cells[cell, c.FIRST_SAID] = int(value)
        cells[cell, c.CELL_ANSWERS] += 1
        cells[cell, c.VOTES + int(value)] += 1
        tasks[task, c.VOICE] = cell
    if late:
        trim_plan(book)
        trim_to_limit(book, worker)


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


@kernel
def release(book: Book, at: int, status: int) -> None:
    """Take an assignment back (EXPIRED, DECLINED or FAILED): its money and its place are free.

    A call that fails late was released before, by its expiry.
    """
    totals, workers, tasks, assignments = book.totals, book.workers, book.tasks, book.assignments
    worker, task = assignments[at, c.WORKER], assignments[at, c.TASK]
    if assignments[at, c.STATUS] == c.OUT:
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
    else:
        workers[worker, c.ON_CLOSED] += tasks[task, c.CLOSED]
    assignments[at, c.STATUS] = status
    if status != c.EXPIRED:
        workers[worker, c.REFUSED] += 1
        trim_plan(book)


@kernel
def fail(book: Book, at: int) -> None:
    """Book a call that failed: its cost is spent, a place under the limit used, and no vote."""
    totals, workers, assignments = book.totals, book.workers, book.assignments
    worker, cost = assignments[at, c.WORKER], assignments[at, c.COST]
    release(book, at, c.FAILED)
    totals[c.SPENT] += cost
    book.tasks[assignments[at, c.TASK], c.TASK_SPENT] += cost
    workers[worker, c.PAID] += cost
    workers[worker, c.FAILURE_COST] += cost
    workers[worker, c.FAILURES] += 1
    if workers[worker, c.LIMIT] != UNLIMITED:
        workers[worker, c.LIMIT] -= 1
        trim_to_limit(book, worker)


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
    """Let a worker go: they are not asked again; what they still have out may be answered."""
    book.workers[worker, c.JOINED] = 0
    if book.workers[worker, c.AUDITS] > 0:
        book.workers[worker, c.AUDITS] = 2
    for row in range(book.totals[c.PLAN_ROWS]):
        if book.plan[row, c.PLAN_WORKER] == worker:
            drop_row(book, row)


@step
def set_price(book: Book, worker: int, amount: int) -> None:
    """Take what a worker asks for as what they are paid and ranked at; a mechanism may differ."""
    workers = book.workers
    workers[worker, c.BID] = amount
    workers[worker, c.PRICE] = amount
    workers[worker, c.RANKED_AT] = amount


@step
def top_up(totals: Array, amount: int) -> None:
    """Take money in; as much of it as of the budget is kept back for audits."""
    kept = part_of(amount, totals[c.KEPT_SHARE])
    totals[c.KEPT] += kept
    totals[c.BUDGET] += amount - kept


def free_kept(book: Book, amount: int) -> None:
    """Let money that was kept back be spent; nothing more is kept back once nothing is left."""
    totals = book.totals
    totals[c.KEPT] -= amount
    totals[c.BUDGET] += amount
    if totals[c.KEPT] == 0:
        totals[c.KEPT_SHARE] = 0


@step
def give_bonus(book: Book, worker: int, amount: int) -> None:
    """Take money out of the budget, for a worker and apart from their calls."""
    totals = book.totals
    totals[c.BONUSES] += amount
    if totals[c.BUDGET] != NO_CAP:
        totals[c.BUDGET] -= amount
    book.workers[worker, c.BONUS] += amount


@step
def pay_out(workers: Array, worker: int, amount: int) -> None:
    """Note that a worker was paid; what they are paid was spent before."""
    workers[worker, c.PAID_OUT] += amount
    workers[worker, c.PAID_UP_TO] = workers[worker, c.ANSWERED]


@kernel
def change(book: Book, kind: int, task: int, worker: int, number: int, value: float) -> int:
    """The rarer events of ``advance``: compiled once, where those of every step are inlined."""
    totals = book.totals
    if kind == k.EXPIRED or kind == k.DECLINED or kind == k.FAILED:
        if number < 0 or number >= totals[c.ASSIGNMENTS]:
            return MISFIT
        if kind == k.FAILED:
            fail(book, number)
        else:
            release(book, number, c.EXPIRED if kind == k.EXPIRED else c.DECLINED)
        return number
    if kind == k.RENEWED:
        if number < 0 or number >= totals[c.ASSIGNMENTS]:
            return MISFIT
        book.marks[number, c.EXPIRES] = value
        return number
    if kind == k.BONUS or kind == k.PAID:
        if worker < 0:
            return MISFIT
        if kind == k.BONUS:
            give_bonus(book, worker, number)
        else:
            pay_out(book.workers, worker, number)
    elif kind == k.LEFT:
        leave(book, worker)
    elif kind == k.BID:
        set_price(book, worker, number)
    elif kind == k.TOPPED_UP:
        top_up(totals, number)
    elif kind == k.PAUSED or kind == k.RESUMED:
        totals[c.PAUSED] = 1 if kind == k.PAUSED else 0
    elif kind == k.STOPPED:
        totals[c.STOPPED] = 1
        drop_plan(book)
    return -1


@step
def proceed(book: Book, kind: int, task: int, number: int, value: float, seq: int) -> int:
    """The events of a simulation, as ``advance`` takes them in: ASKED, ANSWER, TRUTH and CLOSED.

    ``number`` is of an ASKED the plan's row, of an ANSWER the assignment. Returns the assignment,
    or -1.
    """
    if kind == k.ASKED:
        return hand_out(book, number, max(task, 0), seq, value)
    if kind == k.ANSWER:
        settle(book, number, value)
        return number
    if kind == k.TRUTH:
        book.tasks[task, c.TRUTH] = int(value)
    elif kind == k.CLOSED:
        close_task(book, task)
    return -1


@step
def advance(
    book: Book, kind: int, task: int, worker: int, number: int, cost: int, value: float, seq: int
) -> int:
    """Do to the book what one event does; returns the assignment it is about, or -1.

    The one state machine: folding an event and folding a long log come here, the lab's loop comes
    to the part of it that a simulation needs (``proceed``).
    ``number`` is of an ASKED the plan's row (-1: the first that fits), of an ANSWER, EXPIRED,
    DECLINED, FAILED or RENEWED the assignment, of a TOPPED_UP, BID, BONUS or PAID the amount.
    ``cost`` is what an ANSWER or FAILED is settled at, AT_PRICE elsewhere. ``value`` is an answer
    or a truth, of an ASKED or RENEWED when it expires. Returns MISFIT where the event does not
    follow from those before it.

    A DECIDED brings rows (``take_plan``); ADDED, JOINED, QUOTED and DRAWN bring names, and are
    the ledger's own.
    """
    if cost != AT_PRICE and 0 <= number < book.totals[c.ASSIGNMENTS]:
        bill(book, number, cost)
    if kind == k.ASKED and number < 0:
        number = fitting_row(book, max(task, 0), worker)
        if number < 0:
            return MISFIT
    if kind == k.ANSWER and (number < 0 or number >= book.totals[c.ASSIGNMENTS]):
        return MISFIT
    if kind == k.ASKED or kind == k.ANSWER or kind == k.TRUTH or kind == k.CLOSED:
        return proceed(book, kind, task, number, value, seq)
    return change(book, kind, task, worker, number, value)


@step
def as_fact(
    book: Book, kind: int, task: int, worker: int, value: float, note: int, at: int
) -> Fact:
    """An event that ``advance`` has taken in, as policies learn from it."""
    if kind == k.FAILED:
        kind = k.DECLINED
    if kind == k.ANSWER or kind == k.EXPIRED or kind == k.DECLINED:
        task = book.assignments[at, c.TASK]
    return Fact(kind, task, worker, np.nan if kind == k.ASKED else value, note, at)
