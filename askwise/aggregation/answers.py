"""Answers as whole numbers, sorted by task: what every aggregator computes on."""

from typing import NamedTuple

import numpy as np

from askwise.core.arrays import Array
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger

_ROOM = 2**62


class Answers(NamedTuple):
    """Answers to options, coded 0, 1, ... and sorted by task, then worker, then label.

    The order does not depend on the order in which they were given, so neither does what is
    computed from them, to the last bit. Every task has an answer, every worker gave one, and
    every class was given or is a truth.

    Attributes
    ----------
    starts : array of int
        Where the answers to each task begin; one entry more than there are tasks.
    workers, labels : arrays of int
        Of each answer.
    truths : array of int
        The known class of each task, -1 where it is not known.
    contexts : array of int
        The kind of each task; all 0 where there is only one.
    crowd, classes : int
        How many workers, and how many classes.
    """

    starts: Array
    workers: Array
    labels: Array
    truths: Array
    contexts: Array
    crowd: int
    classes: int

    @property
    def tasks(self) -> int:
        """How many tasks."""
        return len(self.starts) - 1

    @property
    def per_task(self) -> Array:
        """How many answers each task has."""
        return np.diff(self.starts)

    @property
    def per_worker(self) -> Array:
        """How many answers each worker gave."""
        return np.bincount(self.workers, minlength=self.crowd)


def code_answers(
    tasks: Array,
    workers: Array,
    labels: Array,
    *,
    truths: Array | None = None,
    contexts: Array | None = None,
    classes: int | None = None,
) -> Answers:
    """Sort answers whose tasks, workers and labels are coded 0, 1, ... without gaps.

    Parameters
    ----------
    tasks, workers, labels : arrays of int
        Of each answer, in any order.
    truths : array of int, optional
        For each task its known class or -1.
    contexts : array of int, optional
        For each task its kind.
    classes : int, optional
        How many classes; needed where a truth is a class that nobody gave.

    Examples
    --------
    >>> import numpy as np
    >>> one = code_answers(np.array([1, 0, 1]), np.array([0, 0, 1]), np.array([1, 0, 0]))
    >>> one.starts, one.workers, one.labels
    (array([0, 1, 3]), array([0, 0, 1], dtype=int32), array([0, 1, 0], dtype=int32))
    """
    count = int(tasks.max()) + 1
    crowd = int(workers.max()) + 1
    options = int(labels.max()) + 1 if classes is None else classes
    if count * crowd * options < _ROOM:
        # One number an answer: sorting those is several times faster than sorting rows.
        keys = (tasks.astype(np.int64) * crowd + workers) * options + labels
        keys.sort()
        keys, sorted_labels = np.divmod(keys, options)
        sorted_tasks, sorted_workers = np.divmod(keys, crowd)
    else:
        order = np.lexsort((labels, workers, tasks))
        sorted_tasks, sorted_workers = tasks[order], workers[order]
        sorted_labels = labels[order]
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(sorted_tasks, minlength=count), out=starts[1:])
    return Answers(
        starts=starts,
        workers=sorted_workers.astype(np.int32),
        labels=sorted_labels.astype(np.int32),
        truths=np.full(count, -1, np.int32) if truths is None else truths.astype(np.int32),
        contexts=np.zeros(count, np.int32) if contexts is None else contexts.astype(np.int32),
        crowd=crowd,
        classes=options,
    )


def answers_in(ledger: Ledger) -> tuple[Answers, Array, Array] | None:
    """Read what a campaign was told so far; with the tasks and the options behind the codes.

    Tasks without an answer, and options that nobody gave and no truth names, are left out:
    they would tell an aggregator of classes that are not there. None without any answer.
    """
    book = ledger.book
    count = ledger.total(c.ASSIGNMENTS)
    settled = np.flatnonzero(book.assignments[:count, c.STATUS] == c.SETTLED)
    if len(settled) == 0:
        return None
    given = book.marks[settled, c.VALUE].astype(np.int64)
    known, tasks = np.unique(book.assignments[settled, c.TASK], return_inverse=True)
    _, workers = np.unique(book.assignments[settled, c.WORKER], return_inverse=True)
    truths = book.tasks[: ledger.total(c.TASKS), c.TRUTH][known]
    options = np.unique(np.concatenate([given, truths[truths >= 0]]))
    contexts = None
    if ledger.tasks:
        kinds = [ledger.tasks[task].context or "" for task in known]
        _, contexts = np.unique(kinds, return_inverse=True)
    answers = code_answers(
        tasks,
        workers,
        np.searchsorted(options, given),
        truths=np.where(truths >= 0, np.searchsorted(options, truths), -1),
        contexts=contexts,
        classes=len(options),
    )
    return answers, known, options
