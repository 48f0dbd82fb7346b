"""Worlds as they may turn out: drawn from guesses, or from answers that were recorded."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from askwise.core import draws
from askwise.core.arrays import Array
from askwise.core.checks import whole
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.problem import Worker
from askwise.data.guesses import GuessedWorker
from askwise.data.recorded_workers import OF_WORKERS
from askwise.kernels.calibration.evidence import WITHIN_FAMILY
from askwise.lab.worlds import Recording

GUESS_WORTH = 20
"""Known answers that one number for an accuracy is worth: that guess of 0.8 lies between 0.68 and
0.91 in eight cases of ten."""

OFF_TOGETHER = 0.5
"""Which part of what guesses are off by is common to all: tasks are harder than was thought, or
easier."""

CORRELATION = (0.0, 0.4)
"""Between these the correlation of any two workers' errors lies, evenly; in the median of 20
recorded sets it is 0.19."""

MOST_OPTIONS = 1000


class PossibleWorlds(ABC):
    """What may turn out to be the case: each draw is the campaign's tasks with all answers."""

    tasks: int
    options: int
    staff: tuple[Worker, ...]

    @abstractmethod
    def draw(self, seed: int, number: int) -> Recording:
        """The ``number``-th world of a seed."""

    @property
    def about(self) -> tuple[Mapping[str, Any], ...]:
        """What a recording says of workers beyond their prices."""
        return tuple({name: getattr(each, name) for name in OF_WORKERS} for each in self.staff)

    def peopled(self, world: Recording) -> Recording:
        """A world with what is known of its workers."""
        return replace(
            world,
            prices=tuple(each.price for each in self.staff),
            trusted=tuple(at for at, each in enumerate(self.staff) if each.trusted),
            about=self.about,
        )


@dataclass(frozen=True)
class GuessedWorlds(PossibleWorlds):
    """Worlds in which workers are about as good as somebody guesses.

    In each world every worker has an accuracy of their own, drawn from the guess; in part guesses
    are off together. On a task a worker speaks with a voice: their own or, if they belong to a
    family, often the family's. Any voice says on some tasks what everybody's common sense says. So
    errors come together as the correlations have it, and accuracies stay what they are.

    Parameters
    ----------
    workers : sequence of GuessedWorker
        Who may be asked.
    tasks, options : int
        How many there are.
    correlation : two numbers
        Between which the correlation of any two workers' errors lies.
    family_correlation : number
        That of workers of one family.
    """

    workers: Sequence[GuessedWorker]
    tasks: int
    options: int = 2
    correlation: tuple[float, float] = CORRELATION
    family_correlation: float = WITHIN_FAMILY

    def __post_init__(self) -> None:
        whole(self.tasks, "tasks", least=1)
        whole(self.options, "options", least=2, most=MOST_OPTIONS)
        low, high = self.correlation
        if not 0 <= low <= high < 1:
            raise InvalidParameter(
                f"correlation is {low:g}-{high:g}: give a number from 0 to below 1, or a range of "
                "two such as 0-0.4",
                field="correlation",
            )
        if not 0 <= self.family_correlation < 1:
            raise InvalidParameter(
                f"family_correlation is {self.family_correlation:g}: give a number from 0 to "
                "below 1",
                field="family_correlation",
            )
        if not self.workers:
            raise InvalidProblem("workers is empty: give at least one", field="workers")
        for each in self.workers:
            if each.accuracy is None and not each.worker.trusted:
                raise InvalidProblem(
                    f"accuracy of worker {each.worker.id!r} is missing: guess it", field="accuracy"
                )

    @property
    def staff(self) -> tuple[Worker, ...]:  # type: ignore[override]
        """The workers as a campaign has them."""
        return tuple(each.worker for each in self.workers)

    def draw(self, seed: int, number: int) -> Recording:
        """Everybody's answer to every task."""
        rng = np.random.default_rng([*draws.stream(seed, draws.MARKET, number)])
        accuracy = self._accuracies(rng)
        r = rng.uniform(*self.correlation)
        of_family = max(0.0, (self.family_correlation - r) / (1.0 - r))
        count, tasks = len(self.workers), self.tasks
        families = [each.worker.family for each in self.workers]
        voices = np.tile(np.arange(count), (tasks, 1))
        for name in set(families) - {None}:
            members = np.array([at for at, family in enumerate(families) if family == name])
            joins = rng.random((tasks, len(members))) < math.sqrt(of_family)
            voices[:, members] = np.where(joins, members[0] + count, voices[:, members])
        # A column for each own voice, for each family's, and the last for what all would say.
        luck = rng.random((tasks, 2 * count + 1))
        slips = rng.integers(1, self.options, (tasks, 2 * count + 1))
        common = rng.random((tasks, 2 * count)) < math.sqrt(r)
        luck[:, :-1] = np.where(common, luck[:, -1:], luck[:, :-1])
        slips[:, :-1] = np.where(common, slips[:, -1:], slips[:, :-1])
        rows = np.arange(tasks)[:, None]
        right = luck[rows, voices] < accuracy
        truth = rng.integers(0, self.options, tasks)
        labels = (truth[:, None] + np.where(right, 0, slips[rows, voices])) % self.options
        return self.peopled(Recording.complete(labels, truth, self.options))

    def _accuracies(self, rng: np.random.Generator) -> Array:
        """What each worker's accuracy turns out to be."""
        shared, own = rng.standard_normal(), rng.standard_normal(len(self.workers))
        where = scipy.stats.norm.cdf(
            math.sqrt(OFF_TOGETHER) * shared + math.sqrt(1 - OFF_TOGETHER) * own
        )
        found = np.ones(len(self.workers))
        for at, each in enumerate(self.workers):
            said = each.accuracy
            if each.worker.trusted or said is None:
                continue
            if isinstance(said, tuple):
                found[at] = said[0] + (said[1] - said[0]) * where[at]
            else:
                hits, misses = GUESS_WORTH * said, GUESS_WORTH * (1 - said)
                found[at] = scipy.stats.beta.ppf(where[at], hits, misses)
        return found


@dataclass(frozen=True)
class RecordedWorlds(PossibleWorlds):
    """Worlds of tasks like those that were answered before, by the same workers.

    Each world resamples tasks from the recorded ones, with all answers that they have, so errors
    come together as they did. How often each recorded task comes up is drawn first (a Bayesian
    bootstrap): a short record is less to go by than a long one.

    Parameters
    ----------
    recording : Recording
        Who answered what; of tasks whose truth is not known it is drawn by ``beliefs``.
    staff : tuple of Worker
        The workers.
    tasks : int
        Of the campaign.
    beliefs : array, optional
        How probable each option of each recorded task is.
    """

    recording: Recording
    staff: tuple[Worker, ...]
    tasks: int
    beliefs: Array | None = None

    def __post_init__(self) -> None:
        whole(self.tasks, "tasks", least=1)
        if self.beliefs is None and (self.recording.truth < 0).any():
            raise InvalidProblem("truth of a task is not known", field="gold")

    @property
    def options(self) -> int:  # type: ignore[override]
        """How many options a task has."""
        return self.recording.options

    def draw(self, seed: int, number: int) -> Recording:
        """Tasks drawn from those of the record."""
        rng = np.random.default_rng([*draws.stream(seed, draws.MARKET, number)])
        source = self.recording
        weights = rng.standard_exponential(source.tasks)
        drawn = rng.choice(source.tasks, self.tasks, p=weights / weights.sum())
        order = np.argsort(source.task, kind="stable")
        starts = np.searchsorted(source.task[order], np.arange(source.tasks + 1))
        counts = (starts[1:] - starts[:-1])[drawn]
        ends = np.cumsum(counts)
        places = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
        rows = order[np.repeat(starts[drawn], counts) + places]
        truth = source.truth.copy()
        if self.beliefs is not None:
            unknown = np.flatnonzero(truth < 0)
            reaches = np.cumsum(self.beliefs[unknown], axis=1)
            chances = rng.random((len(unknown), 1)) * reaches[:, -1:]
            truth[unknown] = (chances >= reaches[:, :-1]).sum(axis=1)
        world = replace(
            source,
            task=np.repeat(np.arange(self.tasks), counts),
            worker=source.worker[rows],
            label=source.label[rows],
            tasks=self.tasks,
            truth=truth[drawn],
            contexts=None if source.contexts is None else source.contexts[drawn],
        )
        return self.peopled(world)
