"""Who joins and what is added: the rows of workers and tasks, and the prices that are quoted."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from askwise.core.arrays import Array
from askwise.core.compiling import hurry
from askwise.core.money import to_micro
from askwise.core.problem import KINDS, UNLIMITED, Problem, Task, Worker
from askwise.ledger import columns as c
from askwise.ledger import plan_rows, task_queue, transitions
from askwise.ledger.capacity import grown
from askwise.ledger.columns import Book

NAMELESS = Task("unit")
"""The one task of a campaign that buys units of work; it has a row and no name."""

MANY = 20_000
"""Tasks whose queue takes a tenth of a second in plain Python: compiled code is looked for."""

_KINDS = (None, *KINDS)
"""What a worker may be said to be, in the order of its numbers in the columns."""


class Members(Protocol):
    """What a ledger has of tasks and workers; the ledger itself says what each part is."""

    problem: Problem
    book: Book
    workers: list[Worker]
    tasks: list[Task]
    worker_places: dict[str, int]
    task_places: dict[str, int]
    contexts: dict[str | None, int]
    families: dict[str, int]
    passed_over: set[int]

    def worker_at(self, worker: str) -> int:
        """Index of a worker."""


def join(ledger: Members, workers: Sequence[Worker]) -> None:
    """Give each worker a row, or set that of one who comes back."""
    low, high = ledger.problem.range
    for worker in workers:
        at = ledger.worker_places.get(worker.id, len(ledger.workers))
        if at == len(ledger.workers):
            ledger.book = grown(ledger.book, ("workers", "ratings"), at + 1)
            ledger.workers.append(worker)
            ledger.worker_places[worker.id] = at
            ledger.book.workers[at, c.LAST] = -1
            ledger.book.totals[c.WORKERS] = at + 1
        ledger.workers[at] = worker
        _set_kind(ledger, at, worker)
        row = ledger.book.workers[at]
        transitions.set_price(ledger.book, at, worker.micro)
        row[c.LIMIT] = UNLIMITED
        if worker.limit is not None:
            row[c.LIMIT] = worker.limit - row[c.FAILURES]
        row[c.AUDITS] = ledger.problem.audits(worker.id)
        row[c.JOINED] = 1 - row[c.AUDITS]
        row[c.TRUSTED] = worker.trusted
        ledger.book.ratings[at] = 0.0
        if worker.rating is not None and worker.rating_weight is not None:
            ledger.book.ratings[at] = (worker.rating - low) / (high - low), worker.rating_weight
        ledger.passed_over.discard(at)


def _set_kind(ledger: Members, at: int, worker: Worker) -> None:
    """Note whether they are asked once, what they are said to be and whom they err with."""
    row = ledger.book.workers[at]
    ledger.book.totals[c.ASKED_ONCE] -= row[c.ONCE]
    row[c.ONCE] = ledger.problem.asks_once(worker)
    ledger.book.totals[c.ASKED_ONCE] += row[c.ONCE]
    row[c.KIND] = _KINDS.index(worker.kind)
    row[c.FAMILY] = -1
    if worker.family is not None:
        row[c.FAMILY] = ledger.families.setdefault(worker.family, len(ledger.families))


def quote(ledger: Members, quotes: Sequence[Mapping[str, str]]) -> None:
    """Take a mechanism's prices for the bids; what is out keeps the price it was asked at."""
    # A plan reserves by the price: a new price finds no plan, as it precedes the decision.
    plan_rows.drop_plan(ledger.book)
    ledger.book.totals[c.QUOTED] = 1
    for each in quotes:
        row = ledger.book.workers[ledger.worker_at(each["id"])]
        row[c.BID] = to_micro(each["bid"], "bid")
        row[c.PRICE] = to_micro(each["price"], "price")
        row[c.RANKED_AT] = to_micro(each["ranked_at"], "ranked_at")


def add(ledger: Members, tasks: Sequence[Task]) -> None:
    """Give each task a row, a place in the queue and one among those of its context."""
    before = int(ledger.book.totals[c.TASKS])
    after = before + len(tasks)
    ledger.book = grown(ledger.book, ("tasks", "votes"), after)
    unknown = [c.TASK_LAST, c.TRUTH, c.FIRST_CELL, c.VOICE, c.NEXT_ALIKE, c.NAMED]
    ledger.book.tasks[before:after, unknown] = -1
    ledger.book.totals[c.TASKS] = after
    ledger.book.totals[c.OPEN] += len(tasks)
    named = sum(len(task.workers or ()) for task in tasks)
    ledger.book = grown(ledger.book, ("offers",), int(ledger.book.totals[c.OFFERS]) + named)
    if not ledger.problem.taskless:
        ledger.tasks += tasks
        ledger.task_places.update((task.id, at) for at, task in enumerate(tasks, before))
    _put_in_contexts(ledger, before, [task.context for task in tasks])
    for at, task in enumerate(tasks, before):
        if task.workers is not None:
            _name(ledger, at, task.workers)
    if before and after <= len(ledger.book.queue) // 2:
        task_queue.enter_queue(ledger.book.tasks, ledger.book.queue, before, after)
    else:
        ledger.book = ledger.book._replace(queue=queue_of(ledger.book.tasks, after))


def queue_of(tasks: Array, count: int) -> Array:
    """A tournament of tasks, with room for as many as a power of two."""
    queue = np.full(2 << max(0, count - 1).bit_length(), -1, np.int64)
    build = task_queue.build_queue
    (hurry(build) if count > MANY else build)(tasks, queue, count)
    return queue


def _put_in_contexts(ledger: Members, first: int, contexts: Sequence[str | None]) -> None:
    """Append tasks, from ``first`` on, to the chains of their contexts."""
    known, tasks = ledger.contexts, ledger.book.tasks
    places = np.array([known.setdefault(each, len(known)) for each in contexts], np.int64)
    ledger.book = grown(ledger.book, ("contexts",), len(known))
    rows = ledger.book.contexts
    tasks[first : first + len(places), c.CONTEXT] = places
    order = np.argsort(places, kind="stable")
    sorted_places, chain = places[order], first + order
    alike = sorted_places[1:] == sorted_places[:-1]
    tasks[chain[:-1][alike], c.NEXT_ALIKE] = chain[1:][alike]
    begins = np.flatnonzero(np.concatenate(([True], ~alike))) if len(chain) else order
    ends = np.append(begins[1:], len(chain)) - 1 if len(chain) else order
    at = sorted_places[begins]
    new = at >= ledger.book.totals[c.CONTEXTS]
    rows[at[new], c.FIRST_TASK] = chain[begins[new]]
    tasks[rows[at[~new], c.LAST_TASK], c.NEXT_ALIKE] = chain[begins[~new]]
    rows[at, c.LAST_TASK] = chain[ends]
    rows[at, c.CONTEXT_TASKS] += ends - begins + 1
    ledger.book.totals[c.CONTEXTS] = len(known)


def _name(ledger: Members, task: int, workers: Sequence[str]) -> None:
    """Note the workers that a task is for."""
    book = ledger.book
    first = int(book.totals[c.OFFERS])
    named = sorted(ledger.worker_places[worker] for worker in workers)
    book.offers[first : first + len(named)] = named
    book.workers[named, c.OPEN_TO] += 1
    book.tasks[task, c.FIRST_OFFER] = first
    book.tasks[task, c.NAMED] = len(named)
    book.totals[c.OFFERS] += len(named)
    book.totals[c.OPEN_NAMED] += 1
