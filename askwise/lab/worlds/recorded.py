"""A world of answers that are all known beforehand: recorded ones, or drawn as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from askwise.core import draws
from askwise.core.money import Amount
from askwise.core.problem import Problem, make_problem
from askwise.core.records import by_reference
from askwise.kernels import Array, step

NOW, LATER = range(2)


@by_reference
class RecordedWorld(NamedTuple):
    """Answers by task, then by worker: those of a task are ``starts[task]`` to the next start.

    ``labels`` has two columns: what a worker answers before and after the share of the budget
    in ``changes`` is spent. ``truths`` has -1 where a task's truth is not known.
    """

    starts: Array
    workers: Array
    labels: Array
    changes: Array
    truths: Array


@step
def recorded_truth(world: RecordedWorld, task: int) -> int:
    """Reveal what is true of a task; -1 if it is unknown."""
    return int(world.truths[task])


@step
def recorded_reply(world: RecordedWorld, task: int, worker: int, k: int, elapsed: float) -> float:
    """What was recorded for the pair, also when it is asked again."""
    workers = world.workers
    low = world.starts[task]
    high = world.starts[task + 1]
    while low < high:
        middle = (low + high) // 2
        if workers[middle] < worker:
            low = middle + 1
        else:
            high = middle
    return float(world.labels[low, LATER if elapsed >= world.changes[worker] else NOW])


@dataclass(frozen=True)
class Recording:
    """Tasks with contexts and truth, and who answered what.

    Parameters
    ----------
    task, worker, label : int arrays
        One entry per answer; a pair at most once.
    tasks, workers, options : int
        How many there are.
    truth : int array
        Of each task; -1 where it is not known.
    contexts : int array, optional
        Of each task; one context for all if not given.
    prices : amounts, optional
        Of the workers; 1 each if not given.
    later, changes : arrays, optional
        Labels after a change, and the share of the budget at which each worker changes.
    trusted : int array, optional
        Workers whose answers are the truth.
    about : mappings, optional
        What else is said of each worker: ``limit``, ``kind``, ``family``.
    """

    task: Array
    worker: Array
    label: Array
    tasks: int
    workers: int
    options: int
    truth: Array
    contexts: Array | None = None
    prices: Sequence[Amount] = ()
    later: Array | None = None
    changes: Array | None = None
    trusted: Sequence[int] = ()
    about: Sequence[Mapping[str, Any]] = ()

    @classmethod
    def complete(
        cls, labels: Array, truth: Array, options: int, contexts: Array | None = None
    ) -> Recording:
        """Everybody's answer to every task: a row per task, a column per worker."""
        tasks, workers = labels.shape
        task, worker = np.divmod(np.arange(tasks * workers), workers)
        label = labels.ravel().astype(np.int64)
        return cls(task, worker, label, tasks, workers, options, truth, contexts)

    @property
    def is_complete(self) -> bool:
        """Whether everybody answered everything."""
        return len(self.task) == self.tasks * self.workers

    def problem(self, budget: Amount | None, *, repeat: bool = False) -> Problem:
        """The campaign that a requester with this budget sees: recorded pairs only."""
        prices = self.prices or (1,) * self.workers
        about = self.about or ({},) * self.workers
        order, starts = self._by_task()
        tasks = []
        for at, named in enumerate(np.split(self.worker[order], starts[1:-1])):
            context = None if self.contexts is None else f"c{self.contexts[at]}"
            workers = None if self.is_complete else [f"w{each}" for each in named]
            tasks.append({"id": f"t{at}", "context": context, "workers": workers})
        return make_problem(
            workers=[
                {"id": f"w{at}", "price": price, "trusted": at in self.trusted, **said}
                for at, (price, said) in enumerate(zip(prices, about, strict=True))
            ],
            tasks=tasks,
            options=[f"o{at}" for at in range(self.options)],
            budget=budget,
            repeat=repeat,
        )

    def answering(self) -> RecordedWorld:
        """The world in which these answers are given."""
        order, starts = self._by_task()
        later = self.label if self.later is None else self.later
        changes = np.full(self.workers, np.inf) if self.changes is None else self.changes
        labels = np.stack([self.label[order], later[order]], axis=1)
        truths = np.asarray(self.truth, np.int64)
        return RecordedWorld(starts, self.worker[order], labels, changes, truths)

    def accuracy(self, answers: Array) -> float:
        """Share of the tasks with known truth that are answered right; -1 is no answer.

        No answer counts as a guess, right once in as many options as there are.
        """
        known = self.truth >= 0
        right = (answers == self.truth)[known].astype(np.float64)
        right[answers[known] < 0] = 1.0 / self.options
        return float(right.mean())

    def majority_accuracy(self) -> float:
        """Accuracy of all answers by majority; a tie of k options is right once in k times."""
        votes = np.zeros((self.tasks, self.options))
        np.add.at(votes, (self.task, self.label), 1.0)
        known = np.flatnonzero(self.truth >= 0)
        leads = votes[known] == votes[known].max(axis=1, keepdims=True)
        right = leads[np.arange(len(known)), self.truth[known]] / leads.sum(axis=1)
        return float(right.mean())

    def _by_task(self) -> tuple[Array, Array]:
        order = np.lexsort((self.worker, self.task))
        starts = np.searchsorted(self.task[order], np.arange(self.tasks + 1))
        return order, starts


def shuffled(recording: Recording, seed: int, run: int) -> Recording:
    """The same answers with tasks and workers in another order.

    Ties go by order, and some policies draw nothing: without this, every run would be the same.
    """
    rng = np.random.default_rng(draws.stream(seed, draws.MARKET, run))
    tasks, workers = rng.permutation(recording.tasks), rng.permutation(recording.workers)
    place = np.argsort(workers)
    return replace(
        recording,
        task=np.argsort(tasks)[recording.task],
        worker=place[recording.worker],
        truth=recording.truth[tasks],
        contexts=None if recording.contexts is None else recording.contexts[tasks],
        prices=tuple(recording.prices[at] for at in workers) if recording.prices else (),
        changes=None if recording.changes is None else recording.changes[workers],
        trusted=tuple(int(place[at]) for at in recording.trusted),
        about=tuple(recording.about[at] for at in workers) if recording.about else (),
    )
