"""Where each task stands in a cascade, and who of a stage is still to be asked."""

from typing import NamedTuple

import numpy as np

from askwise.kernels import Array
from askwise.ledger import Book, Ledger, vectors
from askwise.ledger import columns as c

# Columns of `meta`: tasks that the sample is drawn from (0: nothing has happened yet), tasks in the
# sample, stages of judges, whether weights and threshold are set.
POPULATION, SAMPLED, STAGES, CALIBRATED = range(4)

# Columns of `record`, a row a stage: tasks of the sample that it settles, and how many rightly.
SETTLED, RIGHT = range(2)


class State(NamedTuple):
    """Stages are numbered from 1; the trusted come after the last.

    ``stage`` is the stage of a worker, 0 for who takes no part as a judge; ``lost`` is 1 once they
    left or reached their limit: from then on their stage is not heard in full. ``at`` is the stage
    that a task is with (0: none yet), ``unasked`` how many there are still to be asked about it (of
    the trusted 1 at most, -1 while one is asked), ``complete`` how many stages have spoken on it,
    ``place`` its place in the sample (from 1). ``said`` is the option plus one that stands, ``by``
    whose word that is; ``score`` is a task's after the last stage that spoke.
    """

    stage: Array
    lost: Array
    weights: Array
    record: Array
    at: Array
    unasked: Array
    complete: Array
    place: Array
    said: Array
    by: Array
    score: Array
    threshold: Array
    meta: Array


def new_state(book: Book, options: int) -> State:
    """Nothing has happened yet."""
    tasks, workers = len(book.tasks), len(book.workers)
    return State(
        stage=np.zeros(workers, np.int64),
        lost=np.zeros(workers, np.int64),
        weights=np.zeros((workers, options)),
        record=np.zeros((workers, 2), np.int64),
        **{
            name: np.zeros(tasks, np.int64)
            for name in ("at", "unasked", "complete", "place", "said", "by")
        },
        score=np.zeros(tasks),
        threshold=np.full(1, np.inf),
        meta=np.zeros(4, np.int64),
    )


def stages_of(ledger: Ledger) -> Array:
    """The stage of each worker: those of the lowest price are the first; 0 for the trusted."""
    prices, trusted = vectors.prices(ledger), vectors.trusted(ledger)
    judges = vectors.joined(ledger) & ~trusted
    found = np.zeros(len(prices), np.int64)
    found[judges] = np.unique(prices[judges], return_inverse=True)[1] + 1
    return found


def members(ledger: Ledger, stage: Array, task: int, at: int) -> Array:
    """Judges of a stage whom a task may be put to at all."""
    return about(ledger, task, stage == at)


def experts(ledger: Ledger, task: int) -> Array:
    """Trusted workers whom a task may be put to at all."""
    return about(ledger, task, vectors.trusted(ledger))


def about(ledger: Ledger, task: int, chosen: Array) -> Array:
    """Which of the chosen workers a task is open to."""
    book = ledger.book
    row = book.tasks[task]
    if row[c.NAMED] < 0:
        return np.flatnonzero(chosen)
    named = book.offers[row[c.FIRST_OFFER] : row[c.FIRST_OFFER] + row[c.NAMED]]
    return named[chosen[named]]


def put_to(book: Book, task: int) -> dict[int, int]:
    """The result of putting a task to each worker: an assignment's status, unless it expired."""
    found: dict[int, int] = {}
    at = int(book.tasks[task, c.TASK_LAST])
    while at >= 0:
        row = book.assignments[at]
        worker, status = int(row[c.WORKER]), int(row[c.STATUS])
        if status != c.EXPIRED:
            found[worker] = status
        at = int(row[c.BEFORE_OF_TASK])
    return found


def first_stage(ledger: Ledger, stage: Array, lost: Array, task: int, at: int) -> int:
    """The first stage from ``at`` on that a task may be put to; after the last, the trusted.

    A stage that has nobody whom the task is open to says nothing and is passed over. One that
    can't be heard in full can't speak: the task is then for the trusted.
    """
    last = int(stage.max())
    while at <= last:
        who = members(ledger, stage, task, at)
        if len(who) > 0:
            return last + 1 if lost[who].any() else at
        at += 1
    return at


def can_be_asked(ledger: Ledger) -> Array:
    """Who is in the campaign and within their limit."""
    return vectors.joined(ledger) & (vectors.asked(ledger) < vectors.limits(ledger))


def votes_on(book: Book, stage: Array, task: int, stages: int, options: int) -> Array:
    """Answers to a task by stage and option."""
    found = np.zeros((stages, options), np.int64)
    cell = int(book.tasks[task, c.FIRST_CELL])
    while cell >= 0:
        row = book.cells[cell]
        at = stage[row[c.CELL_WORKER]]
        if at > 0 and row[c.CELL_ANSWERS] > 0:
            found[at - 1, row[c.FIRST_SAID]] += 1
        cell = int(row[c.NEXT_CELL])
    return found
