"""Tallies of recorded answers: read from tables, and how far the leader is ahead in them."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.data.tables import read_text

COLUMNS = ("task", "worker", "label")

MOST_CLASSES = 10
"""Whole numbers may number classes; more of them than this are a scale."""

Tally = tuple[int, ...]
"""Answers for each option that anybody chose, most frequent first."""


@dataclass(frozen=True)
class Steps:
    """A distribution on finitely many values, in ascending order."""

    values: Array
    upto: Array
    """Probability of at most the value."""

    @classmethod
    def of(cls, values: Array, weights: Array) -> Steps:
        """Values in any order, also repeated, with weights that need not add up to 1."""
        distinct, where = np.unique(values, return_inverse=True)
        summed = np.cumsum(np.bincount(where, weights))
        return cls(distinct, summed / summed[-1])

    def at(self, points: Array) -> Array:
        """Probability of at most each of the points."""
        places = np.searchsorted(self.values, points, side="right")
        return np.concatenate([[0.0], self.upto])[places]

    def mean(self) -> float:
        """The expected value."""
        return float(self.values @ np.diff(self.upto, prepend=0.0))

    def distance(self, other: Steps) -> float:
        """The largest difference of the two (Kolmogorov and Smirnov's)."""
        points = np.concatenate([self.values, other.values])
        return float(np.abs(self.at(points) - other.at(points)).max())

    def from_uniform(self) -> float:
        """The largest difference to the uniform distribution, before or at a step."""
        before = np.concatenate([[0.0], self.upto[:-1]])
        return float(np.abs([self.upto - self.values, before - self.values]).max())


def gap_of(tally: Tally) -> float:
    """Share of the most frequent answer less that of the second.

    Examples
    --------
    >>> gap_of((6, 3, 1)), gap_of((4,)), gap_of((2, 2))
    (0.3, 1.0, 0.0)
    """
    second = tally[1] if len(tally) > 1 else 0
    return (tally[0] - second) / sum(tally)


def gap_left_out(tally: Tally) -> float:
    """Leave each answer out in turn: how often it is for the others' leader, less their second.

    Ties are broken evenly. A single answer leaves nothing to go by.

    Examples
    --------
    >>> gap_left_out((6, 4)), gap_left_out((5, 5))
    (0.2, -1.0)
    """
    answers = sum(tally)
    if answers == 1:
        return 0.0
    total = 0.0
    for at, votes in enumerate(tally):
        mine = votes - 1
        others = [*tally[:at], *tally[at + 1 :]]
        above = sum(each > mine for each in others)
        level = 1 + others.count(mine)
        leads, second = above == 0, above <= 1 < above + level
        total += votes * (leads - second) / level
    return total / answers


def if_uniform(answers: Sequence[int], weights: Array) -> Steps:
    """What gaps of tasks with two options would be seen if the true ones were uniform.

    Then the share that an option has in the crowd is uniform as well, and so is the number of
    votes for it: 0, 1, ..., as many as there are answers.
    """
    totals: dict[int, float] = {}
    for count, weight in zip(answers, weights, strict=True):
        totals[count] = totals.get(count, 0.0) + weight
    values = [np.abs(2 * np.arange(count + 1) - count) / count for count in totals]
    shares = [np.full(count + 1, weight / (count + 1)) for count, weight in totals.items()]
    return Steps.of(np.concatenate(values), np.concatenate(shares))


def is_scale(labels: Collection[str]) -> bool:
    """Whether labels are numbers on a scale rather than options.

    Examples
    --------
    >>> is_scale({"0", "1"}), is_scale({"0.5", "1"}), is_scale({"yes", "0.5"})
    (False, True, False)
    """
    try:
        numbers = {float(label) for label in labels}
    except ValueError:
        return False
    if not all(math.isfinite(number) for number in numbers):
        return False
    return len(numbers) > MOST_CLASSES or not all(number.is_integer() for number in numbers)


def read_tallies(file: Path) -> dict[str, Counter[str]]:
    """Answers of each task by label; of each worker the first."""
    found: dict[str, Counter[str]] = {}
    known: set[tuple[str, str]] = set()
    for task, worker, label in _records(file):
        if (task, worker) not in known:
            known.add((task, worker))
            found.setdefault(task, Counter())[label] += 1
    if not found:
        raise InvalidParameter(f"data: {file} holds no answer", field="data")
    return found


def _records(file: Path) -> Iterator[tuple[str, str, str]]:
    try:
        reader = csv.reader(io.StringIO(read_text(file), newline=""), strict=True)
        head = [cell.strip() for cell in next(reader, [])]
        for column in COLUMNS:
            if head.count(column) != 1:
                raise InvalidParameter(
                    f"data: {file} has {'two columns' if column in head else 'no column'} "
                    f"{column!r}: its first line is {','.join(head)!r}, it must name "
                    f"{', '.join(COLUMNS)}",
                    field="data",
                )
        places = [head.index(column) for column in COLUMNS]
        for line in reader:
            if not line:
                continue
            task, worker, label = (
                line[place].strip() if place < len(line) else "" for place in places
            )
            if len(line) != len(head) or not (task and worker and label):
                raise InvalidParameter(
                    f"data: {file}, line {reader.line_num}: give a value for each of "
                    f"{', '.join(head)}",
                    field="data",
                )
            yield task, worker, label
    except InvalidProblem as error:
        raise InvalidParameter(f"data: {error}", field="data") from None
    except csv.Error as error:
        raise InvalidParameter(f"data: {file}: {error}", field="data") from None
