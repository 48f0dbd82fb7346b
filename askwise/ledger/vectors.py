"""What the ledger knows as whole arrays, for policies and rules in plain Python.

One entry per worker or task, in the order of ``ledger.workers`` and ``ledger.tasks``; money in
micro-units. Arrays of counts are views that follow the ledger and can't be written to; masks are
new arrays of true and false, which combine: ``open_tasks(ledger) & (asked_about(ledger) < 3)``.

Examples
--------
>>> from askwise.core.problem import make_problem
>>> from askwise.ledger.ledger import Ledger
>>> ledger = Ledger(
...     make_problem(
...         workers=[{"id": "ann", "price": 2, "limit": 3}, {"id": "bob", "price": 1}],
...         tasks=["a", {"id": "b", "workers": ["bob"]}],
...         options=["no", "yes"],
...         budget=5,
...     )
... )
>>> prices(ledger).tolist()
[2000000, 1000000]
>>> rooms(ledger).tolist()
[1, 2]
>>> may_ask(ledger, 0).tolist()
[True, False]
>>> votes(ledger).tolist()
[[0, 0], [0, 0]]
"""

import numpy as np

from askwise.core.arrays import Array
from askwise.core.choices import Done, Wait
from askwise.ledger import columns as c
from askwise.ledger import queries
from askwise.ledger.columns import Book
from askwise.ledger.ledger import Ledger


def _worker(ledger: Ledger, column: int) -> Array:
    return _read_only(ledger.book.workers[: ledger.total(c.WORKERS), column])


def _task(ledger: Ledger, column: int) -> Array:
    return _read_only(ledger.book.tasks[: ledger.total(c.TASKS), column])


def _read_only(view: Array) -> Array:
    view.flags.writeable = False
    return view


# Workers.


def prices(ledger: Ledger) -> Array:
    """What is reserved for an answer of each worker: the most that it should cost."""
    return _worker(ledger, c.PRICE)


def limits(ledger: Ledger) -> Array:
    """How often each worker may be asked in all, less the calls that failed."""
    return _worker(ledger, c.LIMIT)


def asked(ledger: Ledger) -> Array:
    """How often each worker was asked: what is out, and what was answered."""
    return _worker(ledger, c.ASKED)


def answered(ledger: Ledger) -> Array:
    """How many answers each worker gave."""
    return _worker(ledger, c.ANSWERED)


def failures(ledger: Ledger) -> Array:
    """How many calls of each worker brought no answer."""
    return _worker(ledger, c.FAILURES)


def paid(ledger: Ledger) -> Array:
    """What the calls of each worker, ``answered`` and ``failures``, cost in all."""
    return _worker(ledger, c.PAID)


def joined(ledger: Ledger) -> Array:
    """Who is there: joined, and did not leave."""
    return _worker(ledger, c.JOINED) == 1


def trusted(ledger: Ledger) -> Array:
    """Whose answers are the truth."""
    return _worker(ledger, c.TRUSTED) == 1


def asked_once(ledger: Ledger) -> Array:
    """Who is asked at most once about a task: persons, models, and all where none may repeat."""
    return _worker(ledger, c.ONCE) == 1


def kinds(ledger: Ledger) -> Array:
    """What each worker was said to be: ``UNSAID``, ``PERSON``, ``MODEL`` or ``CROWD``.

    These are numbers of :mod:`askwise.ledger.columns`.
    """
    return _worker(ledger, c.KIND)


def families(ledger: Ledger) -> Array:
    """Number of each worker's family, -1 without one; ``ledger.families`` has them by name."""
    return _worker(ledger, c.FAMILY)


def rooms(ledger: Ledger) -> Array:
    """How often each worker can still be asked: by presence, limit, money and open tasks."""
    book = ledger.book
    workers, totals = book.workers[: ledger.total(c.WORKERS)], book.totals
    price = workers[:, c.PRICE]
    most = workers[:, c.LIMIT] - workers[:, c.ASKED]
    most = np.where(price > 0, np.minimum(most, money_left(ledger) // np.maximum(price, 1)), most)
    left = totals[c.OPEN] - totals[c.OPEN_NAMED] + workers[:, c.OPEN_TO]
    put = workers[:, c.ASKED] + workers[:, c.REFUSED] - workers[:, c.ON_CLOSED]
    once = np.minimum(most, left - put)
    most = np.where(workers[:, c.ONCE] == 1, once, np.where(left > 0, most, 0))
    return np.where(workers[:, c.JOINED] == 1, np.maximum(most, 0), 0)


# Tasks.


def open_tasks(ledger: Ledger) -> Array:
    """Which tasks are not closed."""
    return _task(ledger, c.CLOSED) == 0


def asked_about(ledger: Ledger) -> Array:
    """How often each task was asked about: what is out, and what was answered."""
    return _task(ledger, c.TASK_ASKED)


def votes(ledger: Ledger) -> Array:
    """Answers to each task by option, a row per task; their sum is how many there are."""
    return _read_only(ledger.book.votes[: ledger.total(c.TASKS)])


def contexts(ledger: Ledger) -> Array:
    """Number of each task's context; ``ledger.contexts`` has the numbers by name."""
    return _task(ledger, c.CONTEXT)


def truths(ledger: Ledger) -> Array:
    """The option that is true of each task; -1 where it is not known."""
    return _task(ledger, c.TRUTH)


# Who may be asked about what.


def may_ask(ledger: Ledger, worker: int) -> Array:
    """Tasks about which a worker can be asked now: a mask over tasks."""
    book, named = ledger.book, _task(ledger, c.NAMED)
    if queries.room(book, worker, money_left(ledger)) <= 0:
        return np.zeros(len(named), np.bool_)
    found = named < 0
    # The stretches of offers follow one another in the order of the tasks that they belong to.
    owners = np.repeat(np.arange(len(named)), np.maximum(named, 0))
    found[owners[book.offers[: len(owners)] == worker]] = True
    if book.workers[worker, c.ONCE] == 1:
        last = int(book.workers[worker, c.LAST])
        found[_asked_from(book, last, c.BEFORE_OF_WORKER, c.TASK)] = False
    return found & open_tasks(ledger)


def may_be_asked(ledger: Ledger, task: int) -> Array:
    """Workers who can be asked about a task now: a mask over workers."""
    book, found = ledger.book, rooms(ledger) > 0
    row = book.tasks[task]
    if row[c.CLOSED] == 1:
        found[:] = False
    if row[c.NAMED] >= 0:
        named = np.zeros(len(found), np.bool_)
        named[book.offers[row[c.FIRST_OFFER] : row[c.FIRST_OFFER] + row[c.NAMED]]] = True
        found &= named
    if ledger.total(c.ASKED_ONCE) > 0:
        before = _asked_from(book, int(row[c.TASK_LAST]), c.BEFORE_OF_TASK, c.WORKER)
        found[[worker for worker in before if book.workers[worker, c.ONCE] == 1]] = False
    return found


def may_ask_pairs(ledger: Ledger) -> Array:
    """Every pair that can be asked now: a row per task, a column per worker.

    Takes time and memory for all tasks by all workers; ``may_ask`` and ``may_be_asked`` do not.
    """
    book, named = ledger.book, _task(ledger, c.NAMED)
    found = np.repeat((named < 0)[:, None], ledger.total(c.WORKERS), axis=1)
    owners = np.repeat(np.arange(len(named)), np.maximum(named, 0))
    found[owners, book.offers[: len(owners)]] = True
    if ledger.total(c.ASKED_ONCE) > 0:
        rows = book.assignments[: ledger.total(c.ASSIGNMENTS)]
        once = book.workers[rows[:, c.WORKER], c.ONCE] == 1
        rows = rows[once & (rows[:, c.STATUS] != c.EXPIRED)]
        found[rows[:, c.TASK], rows[:, c.WORKER]] = False
    return found & open_tasks(ledger)[:, None] & (rooms(ledger) > 0)


def _asked_from(book: Book, last: int, before: int, other: int) -> list[int]:
    """The other side of the pairs that were asked, from an assignment back along its chain."""
    found = []
    while last >= 0:
        row = book.assignments[last]
        if row[c.STATUS] != c.EXPIRED:
            found.append(int(row[other]))
        last = int(row[before])
    return found


# The campaign.


def money_left(ledger: Ledger) -> int:
    """Money that a new decision may use."""
    return int(queries.money_left(ledger.book.totals))


def pending(ledger: Ledger) -> int:
    """How many questions are out."""
    return ledger.total(c.PENDING)


def nobody(ledger: Ledger, available: Array) -> Wait | Done:
    """What ``choose`` says where nobody can be asked: what to wait for, or why it is over."""
    return queries.IDLE[queries.idle(ledger.book, available)]
