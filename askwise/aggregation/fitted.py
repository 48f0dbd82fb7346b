"""What an aggregator finds out: as arrays."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy

from askwise.core.arrays import Array
from askwise.core.labels import RestsOn
from askwise.core.scoring import TIE
from askwise.kernels.calibration import ConfidenceMap
from askwise.kernels.grouping import slices

AGREEMENT: RestsOn = "agreement"
CALIBRATED: RestsOn = "calibrated"
"""What confidences rest on."""

LEVEL = 0.95

FEW_CLASSES, FEW_ROWS = 16, 2**13
"""Rows of up to this many classes are looked at column by column, this many rows at a time."""


class Errors(NamedTuple):
    """How workers err: a row for each pair of a worker and a label that they ever gave.

    Attributes
    ----------
    workers, labels : arrays of int
        Of each row.
    chances : array
        The probability that the worker gives the label, a column for each true class.
    """

    workers: Array
    labels: Array
    chances: Array


class Calibration(NamedTuple):
    """What known truths say of confidences.

    Attributes
    ----------
    truths : int
        How many there were.
    map : ConfidenceMap
        How scores are turned into probabilities.
    scores : array
        The scores of the tasks without a truth: tempered log-odds of the label against the rest.
    """

    truths: int
    map: ConfidenceMap
    scores: Array


@dataclass(frozen=True, eq=False)
class Fitted:
    """Classes of tasks and quality of workers.

    Parameters
    ----------
    probabilities : array, tasks x classes
        Of each class; every row sums to 1.
    right : array, one entry per worker
        How many of their answers are right: a sum of probabilities.
    counts : array of int, one entry per worker
        How many answers they gave.
    iterations : int
        How many it took.
    converged : bool
        Whether it stopped because nothing changed any more, and not because it had to.
    of_workers, of_tasks : mapping of a name to an array
        What the method itself calls its parameters: weights, abilities, difficulties.
    errors : Errors, optional
        How workers err, where the method learns that.
    named : array of int, optional
        The class named for each task, where it was found before confidences were tempered: two
        classes may then be closer to each other than a tie.
    rests_on : "agreement" or "calibrated"
        On what the probabilities rest: on answers and a model of workers alone, or on known
        truths as well.
    calibration : Calibration, optional
        How truths have changed them, where there were any.
    """

    probabilities: Array
    right: Array
    counts: Array
    iterations: int = 1
    converged: bool = True
    of_workers: Mapping[str, Array] = field(default_factory=dict)
    of_tasks: Mapping[str, Array] = field(default_factory=dict)
    errors: Errors | None = None
    named: Array | None = None
    rests_on: RestsOn = AGREEMENT
    calibration: Calibration | None = None

    @cached_property
    def labels(self) -> Array:
        """The most probable class of each task; of those tied the first."""
        return first_largest(self.probabilities) if self.named is None else self.named

    @cached_property
    def confidence(self) -> Array:
        """Its probability."""
        return self.probabilities[np.arange(len(self.labels)), self.labels]

    @cached_property
    def quality(self) -> Array:
        """The probability that an answer of each worker is right.

        The mean of the Beta distribution that Jeffreys' prior and their right and wrong answers
        make: (right + 1/2) / (answers + 1).
        """
        return (self.right + 0.5) / (self.counts + 1.0)

    @cached_property
    def interval(self) -> tuple[Array, Array]:
        """The middle 95% of that distribution. Takes the classes of the tasks as known."""
        tail = (1.0 - LEVEL) / 2.0
        # Rounding may leave a sum of probabilities a little above the number of its terms.
        right = np.minimum(self.right, self.counts)
        a, b = right + 0.5, self.counts - right + 0.5
        return scipy.special.betaincinv(a, b, tail), scipy.special.betaincinv(a, b, 1.0 - tail)


def first_largest(rows: Array) -> Array:
    """The column of the largest entry of each row; of those tied the first.

    Examples
    --------
    >>> import numpy as np
    >>> first_largest(np.array([[0.2, 0.8], [0.5 - 1e-15, 0.5 + 1e-15]]))
    array([1, 0])
    """
    found = np.zeros(len(rows), np.int64)
    if rows.shape[1] > FEW_CLASSES:
        for here in slices(len(rows)):
            some = rows[here]
            found[here] = np.argmax(some >= some.max(axis=1, keepdims=True) - TIE, axis=1)
        return found
    # Column by column: to begin with a row takes longer than to go through one that is so short.
    for here in slices(len(rows), FEW_ROWS):
        columns = np.ascontiguousarray(rows[here].T)
        below = columns < columns.max(axis=0) - TIE
        # The first that is not below comes after as many as are.
        still = np.ones(below.shape[1], bool)
        for column in below[:-1]:
            still &= column
            found[here] += still
    return found
