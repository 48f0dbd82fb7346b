"""The rows of the current decision: taken, cut and given up, with the money that they hold."""

from askwise.kernels import Array, kernel, step
from askwise.ledger import columns as c
from askwise.ledger.columns import Book
from askwise.ledger.queries import tasks_left


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


@kernel
def drop_row(book: Book, row: int) -> None:
    """Give up what is left of a plan's row."""
    plan = book.plan
    price = book.workers[plan[row, c.PLAN_WORKER], c.PRICE]
    book.totals[c.PLANNED] -= price * plan[row, c.PLAN_COUNT]
    plan[row, c.PLAN_COUNT] = 0


@kernel
def drop_plan(book: Book) -> None:
    """Give up the rest of the current decision."""
    for row in range(book.totals[c.PLAN_ROWS]):
        drop_row(book, row)


@kernel
def trim_plan(book: Book) -> None:
    """Give up what the plan holds for workers beyond the tasks that are left for them."""
    totals, workers, plan = book.totals, book.workers, book.plan
    if totals[c.ASKED_ONCE] == 0 and totals[c.OPEN_NAMED] == 0:
        return
    for row in range(totals[c.PLAN_ROWS]):
        worker, count = plan[row, c.PLAN_WORKER], plan[row, c.PLAN_COUNT]
        left = tasks_left(book, worker)
        if plan[row, c.PLAN_TASK] < 0 and count > left:
            excess = count - left
            plan[row, c.PLAN_COUNT] -= excess
            totals[c.PLANNED] -= excess * workers[worker, c.PRICE]


@kernel
def trim_to_limit(book: Book, worker: int) -> None:
    """Give up what the plan holds for a worker beyond their limit, the last rows first."""
    totals, workers, plan = book.totals, book.workers, book.plan
    left = max(0, workers[worker, c.LIMIT] - workers[worker, c.ASKED])
    for row in range(totals[c.PLAN_ROWS]):
        if plan[row, c.PLAN_WORKER] == worker:
            excess = max(0, plan[row, c.PLAN_COUNT] - left)
            plan[row, c.PLAN_COUNT] -= excess
            totals[c.PLANNED] -= excess * workers[worker, c.PRICE]
            left -= plan[row, c.PLAN_COUNT]


@step
def fitting_row(book: Book, task: int, worker: int) -> int:
    """The first row of the plan that asks a worker about a task, or about any; -1 if none does."""
    plan = book.plan
    for row in range(book.totals[c.PLAN_ROWS]):
        fits = plan[row, c.PLAN_TASK] == task or plan[row, c.PLAN_TASK] == -1
        if plan[row, c.PLAN_WORKER] == worker and plan[row, c.PLAN_COUNT] > 0 and fits:
            return row
    return -1
