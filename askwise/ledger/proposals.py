"""What a policy proposes, and what may be wrong with it."""

from typing import NamedTuple

import numpy as np

from askwise.core.records import by_reference
from askwise.kernels import Array, kernel, step
from askwise.ledger import columns as c
from askwise.ledger.columns import Book
from askwise.ledger.queries import bad_task, money_left, tasks_left


@by_reference
class Proposal(NamedTuple):
    """Room for what ``choose`` proposes: rows as in ``plan``, odds, and (length, note, truth).

    ``truth`` is for the lab: if the choice is to wait for the truth of a task, the task's number
    plus one, or 0 if any task will do.

    ``whole`` and ``real`` are scratch space, four rows of one cell per worker: choosing may
    write nothing else, and allocating in every step would cost more than deciding.
    """

    rows: Array
    odds: Array
    head: Array
    whole: Array
    real: Array


def new_proposal(workers: int) -> Proposal:
    """Room for one row per worker."""
    size = max(1, workers)
    return Proposal(
        rows=np.zeros((size, 3), np.int64),
        odds=np.full(size, np.nan),
        head=np.zeros(3, np.int64),
        whole=np.zeros((4, size), np.int64),
        real=np.zeros((4, size)),
    )


def ask_one(
    worker: int, task: int = -1, *, propensity: float = 1.0, count: int = 1, note: int = 0
) -> Proposal:
    """Propose to ask one worker, about one task or any, for policies in plain Python."""
    out = new_proposal(1)
    propose(out, task, worker, count, propensity)
    out.head[1] = note
    return out


@step
def propose(out: Proposal, task: int, worker: int, count: int, odds: float) -> None:
    """Add a row to a proposal."""
    rows, chances, head = out.rows, out.odds, out.head
    at = head[0]
    rows[at, c.PLAN_TASK] = task
    rows[at, c.PLAN_WORKER] = worker
    rows[at, c.PLAN_COUNT] = count
    chances[at] = odds
    head[0] = at + 1


@step
def fault(book: Book, out: Proposal, available: Array) -> int:
    """Check a proposal against limits, money, presence and open tasks, whatever the policy."""
    totals, workers = book.totals, book.workers
    rows, odds, head = out.rows, out.odds, out.head
    if head[0] <= 0:
        return c.EMPTY
    money = money_left(totals)
    cost = 0
    for row in range(head[0]):
        task, worker = rows[row, c.PLAN_TASK], rows[row, c.PLAN_WORKER]
        count = rows[row, c.PLAN_COUNT]
        if worker < 0 or worker >= totals[c.WORKERS]:
            return c.ABSENT
        if workers[worker, c.JOINED] == 0 or available[worker] == 0:
            return c.ABSENT
        if count < 1 or count > workers[worker, c.LIMIT] - workers[worker, c.ASKED]:
            return c.OVER_LIMIT
        if task >= 0 and bad_task(book, task, worker, count):
            return c.BAD_TASK
        if task < 0 and tasks_left(book, worker) < count:
            return c.BAD_TASK
        if not np.isnan(odds[row]) and not 0.0 < odds[row] <= 1.0:
            return c.BAD_ODDS
        # In floats first: a wild count must not overflow its way past the check.
        if float(workers[worker, c.PRICE]) * count > money:
            return c.OVER_MONEY
        cost += workers[worker, c.PRICE] * count
        if cost > money:
            return c.OVER_MONEY
    return c.FINE if head[0] == 1 else over_limit(totals, workers, rows, head[0])


@kernel
def over_limit(totals: Array, workers: Array, rows: Array, length: int) -> int:
    """Check limits over all rows of a worker together."""
    wanted = np.zeros(totals[c.WORKERS], np.int64)
    for row in range(length):
        worker = rows[row, c.PLAN_WORKER]
        wanted[worker] += rows[row, c.PLAN_COUNT]
        if wanted[worker] > workers[worker, c.LIMIT] - workers[worker, c.ASKED]:
            return c.OVER_LIMIT
    return c.FINE
