"""Tasks in parts: what a method does to each part, and what is added up over them.

An iteration of EM reads the parameters, goes over the tasks once, and returns sums. So tasks may be
kept in one part in this process, or in many parts on many machines: a method is written once, for a
part, and the place where parts are kept adds up what they return.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from askwise.aggregation.answers import Answers
from askwise.core.arrays import Array


@dataclass(frozen=True, eq=False)
class TaskPart:
    """Some of the tasks, with all their answers.

    Parameters
    ----------
    answers : Answers
        Those to the tasks of this part; workers and classes are numbered as in all answers.
    codes : array of int
        What a method has numbered each answer with; empty where it has not.
    """

    answers: Answers
    codes: Array

    @cached_property
    def evidence(self) -> Array:
        """How many answers those to each task count for."""
        return self.answers.evidence


class Tally(NamedTuple):
    """What a pass over a part returns.

    Attributes
    ----------
    sums : tuple of arrays and numbers
        To be added up over the parts.
    most : float
        The largest of all parts counts: how far a probability has moved, say.
    """

    sums: tuple[Any, ...]
    most: float = 0.0


Pass = Callable[..., Tally]
"""Called with a part, its table (tasks x classes, which it may write) and what all parts share."""


def added(tallies: Iterable[Tally]) -> Tally:
    """Add up, in order: so the sums depend on how tasks are divided, and on nothing else."""
    rest = iter(tallies)
    total = next(rest)
    for each in rest:
        sums = tuple(a + b for a, b in zip(total.sums, each.sums, strict=True))
        total = Tally(sums, max(total.most, each.most))
    return total


class Parts(ABC):
    """All tasks, in parts, wherever they are kept."""

    @abstractmethod
    def run(self, function: Pass, *shared: Any) -> Tally:
        """Go over all parts once; returns what they return, added up."""

    @abstractmethod
    def table(self) -> Array:
        """The tables of all parts, one below the other."""


class OnePart(Parts):
    """All tasks in one part, in this process."""

    def __init__(self, answers: Answers, codes: Array) -> None:
        self._part = TaskPart(answers, codes)
        self._table = np.zeros((answers.tasks, answers.classes))

    def run(self, function: Pass, *shared: Any) -> Tally:
        """Call it."""
        return function(self._part, self._table, *shared)

    def table(self) -> Array:
        """The table."""
        return self._table


Split = Callable[[Answers, Array], Parts]
"""Divides answers, and the codes that a method has given them."""

NO_CODES = np.zeros(0, np.int32)


class _WatchedParts(Parts):
    """Parts that tell how often they were gone over."""

    def __init__(self, parts: Parts, tell: Callable[[int], None]) -> None:
        self._parts, self._tell, self._passes = parts, tell, 0

    def run(self, function: Pass, *shared: Any) -> Tally:
        """Tell that another pass begins, and go over them."""
        self._passes += 1
        self._tell(self._passes)
        return self._parts.run(function, *shared)

    def table(self) -> Array:
        """Their tables."""
        return self._parts.table()


def watched(split: Split, tell: Callable[[int], None]) -> Split:
    """Divide answers as ``split`` does, and tell the number of each pass over them."""
    return lambda answers, codes: _WatchedParts(split(answers, codes), tell)


def part_of(answers: Answers, codes: Array, first: int, last: int) -> TaskPart:
    """The part of the tasks from ``first`` to before ``last``."""
    here = slice(int(answers.starts[first]), int(answers.starts[last]))
    some = answers._replace(
        starts=answers.starts[first : last + 1] - answers.starts[first],
        workers=answers.workers[here],
        labels=answers.labels[here],
        weights=answers.weights[here],
        truths=answers.truths[first:last],
        contexts=answers.contexts[first:last],
    )
    return TaskPart(some, codes[here] if len(codes) else codes)
