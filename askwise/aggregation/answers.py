"""Answers as whole numbers, sorted by task: what every aggregator computes on."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from askwise.core.arrays import Array
from askwise.core.compiling import hurry
from askwise.core.problem import Worker
from askwise.kernels import grouping
from askwise.kernels.calibration import count_evidence
from askwise.kernels.grouping import counted
from askwise.ledger import columns as c
from askwise.ledger import vectors
from askwise.ledger.ledger import Ledger

_ROOM = 2**62

_LARGE = 100_000
"""Answers from which on counting them is compiled at once, where compiling is allowed."""


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
    kinds : array of int
        What each worker is: ``UNSAID``, ``PERSON``, ``MODEL`` or ``CROWD`` of
        :mod:`askwise.ledger.columns`.
    families : array of int
        The family of each worker, 0, 1, ... without gaps; -1 without one.
    weights : array of float
        What each answer counts: less than one beside others of its family, or of the same
        person or model, to the same task.
    """

    starts: Array
    workers: Array
    labels: Array
    truths: Array
    contexts: Array
    crowd: int
    classes: int
    kinds: Array
    families: Array
    weights: Array

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
        return counted(self.workers, self.crowd)

    @property
    def evidence(self) -> Array:
        """How many answers those to each task count for."""
        return np.add.reduceat(self.weights, self.starts[:-1])

    @property
    def evidence_of_workers(self) -> Array:
        """How many answers those of each worker count for."""
        return counted(self.workers, self.crowd, self.weights)

    @property
    def even(self) -> bool:
        """Whether all answers count the same: nobody errs with others, or has one opinion."""
        return bool((self.families < 0).all()) and not self.once.any()

    @property
    def once(self) -> Array:
        """Who has one opinion of a task, however often they are asked."""
        return (self.kinds == c.PERSON) | (self.kinds == c.MODEL)


class Kin(NamedTuple):
    """What is said of a worker, where anything is."""

    kind: str | None = None
    family: str | None = None


KINDS = {None: c.UNSAID, "person": c.PERSON, "model": c.MODEL, "crowd": c.CROWD}
"""Numbers of the kinds of workers."""


def kin_of(name: Any, kind: Any, family: Any) -> Kin:
    """Take what is said of a worker; what is empty says nothing."""
    made = Worker(str(name), 0, kind=kind or None, family=family or None)
    return Kin(made.kind, made.family)


def code_workers(names: Sequence[Any], said: Mapping[Any, Kin]) -> tuple[Array, Array]:
    """Numbers of the kinds and of the families of workers, for :func:`code_answers`."""
    families: dict[str, int] = {}
    kin = [said.get(name, Kin()) for name in names]
    of = [-1 if each.family is None else families.setdefault(each.family, len(families))
          for each in kin]  # fmt: skip
    return np.array([KINDS[each.kind] for each in kin]), np.array(of)


def code_answers(
    tasks: Array,
    workers: Array,
    labels: Array,
    *,
    truths: Array | None = None,
    contexts: Array | None = None,
    classes: int | None = None,
    kinds: Array | None = None,
    families: Array | None = None,
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
    kinds, families : arrays of int, optional
        For each worker what they are, and their family or -1; see :class:`Answers`.

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
    starts, sorted_workers, sorted_labels = _sorted(tasks, workers, labels, count, crowd, options)
    answers = Answers(
        starts=starts,
        workers=sorted_workers,
        labels=sorted_labels,
        truths=np.full(count, -1, np.int32) if truths is None else truths.astype(np.int32),
        contexts=np.zeros(count, np.int32) if contexts is None else contexts.astype(np.int32),
        crowd=crowd,
        classes=options,
        kinds=np.full(crowd, c.UNSAID, np.int32) if kinds is None else kinds.astype(np.int32),
        families=np.full(crowd, -1, np.int32) if families is None else _dense(families),
        weights=np.ones(len(sorted_labels)),
    )
    _weigh(answers)
    return answers


def _sorted(
    tasks: Array, workers: Array, labels: Array, count: int, crowd: int, options: int
) -> tuple[Array, Array, Array]:
    """Where the answers to each task begin; workers and labels by task, worker and label.

    Many answers are first dealt into buckets of tasks, and then sorted one bucket at a time.
    """
    if len(tasks) <= grouping.MANY:
        each, ends = count, np.array([0, len(tasks)])
        by_worker, by_label = np.empty((2, len(tasks)), np.int32)
    else:
        each, ends, (tasks, by_worker, by_label) = grouping.dealt(tasks, workers, labels, count)
        workers, labels = by_worker, by_label
    starts = np.zeros(count + 1, np.int64)
    for bucket, first in enumerate(range(0, count, each)):
        here, last = slice(int(ends[bucket]), int(ends[bucket + 1])), min(first + each, count)
        some, who, said = tasks[here] - first, workers[here], labels[here]
        starts[first + 1 : last + 1] = np.bincount(some, minlength=last - first)
        cells = (last - first) * crowd * options
        if cells < _ROOM:
            # One number per answer: sorting those is several times faster than sorting rows, and
            # numbers of half the size take half the time.
            keys: Array = some.astype(np.uint32 if cells < 2**32 else np.int64)
            keys *= crowd
            keys += who.astype(keys.dtype, copy=False)
            keys *= options
            keys += said.astype(keys.dtype, copy=False)
            # Tables are often in the order of their tasks: a stable sort, which merges runs, then
            # takes a seventh of the time. On shuffled ones it is slower.
            in_order = bool((some[1:] >= some[:-1]).all())
            keys.sort(kind="stable" if in_order else None)
            keys, by_label[here] = np.divmod(keys, options)
            by_worker[here] = keys % crowd
        else:
            by_all = np.lexsort((said, who, some))
            by_worker[here], by_label[here] = who[by_all], said[by_all]
    np.cumsum(starts, out=starts)
    return starts, by_worker, by_label


def _dense(families: Array) -> Array:
    """Renumber families without gaps."""
    known, codes = np.unique(families, return_inverse=True)
    return (codes - int((known < 0).sum())).clip(min=-1).astype(np.int32)


def _weigh(answers: Answers) -> None:
    """Count evidence once, where there is any to count more than once."""
    if answers.even:
        return
    room = np.zeros(int(answers.families.max(initial=-1)) + 1)
    count = hurry(count_evidence) if len(answers.labels) > _LARGE else count_evidence
    count(answers.starts, answers.workers, answers.once, answers.families, room, answers.weights)


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
    asked, workers = np.unique(book.assignments[settled, c.WORKER], return_inverse=True)
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
        kinds=vectors.kinds(ledger)[asked],
        families=vectors.families(ledger)[asked],
    )
    return answers, known, options
