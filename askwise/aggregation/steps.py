"""Steps that several methods share: votes, posteriors, tallies of what is believed right."""

import math
from typing import Any

import numpy as np

from askwise.aggregation.answers import Answers
from askwise.aggregation.fitted import Fitted, first_largest
from askwise.aggregation.parts import NO_CODES, Split, Tally, TaskPart
from askwise.core.arrays import Array
from askwise.core.compiling import Function, hurry, kernel, step
from askwise.kernels.grouping import SLICE, group_ranges

TINY = 1e-10
"""Probabilities below are taken for this, so that no answer is impossible."""

_LARGE = 100_000
"""Cells in one pass from which on a kernel is compiled at once, where compiling is allowed."""

MANY = 10
"""What a pass counts for in methods that take hundreds of them."""


def sized(function: Function, work: int) -> Function:
    """Do not let a kernel run plain first where even one call would take longer than compiling."""
    return hurry(function) if work > _LARGE else function


@step
def keep_truth(probabilities: Array, task: int, truth: int, classes: int) -> None:
    """Put all probability on the truth."""
    for label in range(classes):
        probabilities[task, label] = 0.0
    probabilities[task, truth] = 1.0


@step
def normalise_logs(probabilities: Array, task: int, classes: int) -> float:
    """Turn logarithms, up to a common term, into probabilities; returns their entropy."""
    top = 0
    for label in range(1, classes):
        if probabilities[task, label] > probabilities[task, top]:
            top = label
    most = probabilities[task, top]
    total = 1.0
    lost = 0.0
    for label in range(classes):
        if label != top:
            log = probabilities[task, label] - most
            chance = math.exp(log)
            probabilities[task, label] = chance
            total += chance
            lost += chance * log
    share = 1.0 / total
    probabilities[task, top] = 1.0
    for label in range(classes):
        probabilities[task, label] *= share
    return math.log(total) - lost * share


@kernel
def share_votes(answers: Answers, weights: Array, probabilities: Array) -> None:
    """Share of the weight that each class gets; plain shares where all weights are zero.

    An answer has the weight of its giver, and less beside others of their family.
    """
    starts, labels, truths = answers.starts, answers.labels, answers.truths
    counted, classes = answers.weights, probabilities.shape[1]
    for task in range(len(starts) - 1):
        if truths[task] >= 0:
            keep_truth(probabilities, task, truths[task], classes)
            continue
        total = 0.0
        for label in range(classes):
            probabilities[task, label] = 0.0
        for at in range(starts[task], starts[task + 1]):
            weight = weights[answers.workers[at]] * counted[at]
            probabilities[task, labels[at]] += weight
            total += weight
        if total <= 0.0:
            total = 0.0
            for at in range(starts[task], starts[task + 1]):
                probabilities[task, labels[at]] += counted[at]
                total += counted[at]
        for label in range(classes):
            probabilities[task, label] /= total


@kernel
def count_right(answers: Answers, probabilities: Array, weights: Array, right: Array) -> None:
    """How many answers of each worker are right: a sum of probabilities, with these weights."""
    starts, workers, labels = answers.starts, answers.workers, answers.labels
    for worker in range(len(right)):
        right[worker] = 0.0
    for task in range(len(starts) - 1):
        for at in range(starts[task], starts[task + 1]):
            right[workers[at]] += weights[at] * probabilities[task, labels[at]]


def work_of(answers: Answers) -> int:
    """How many cells one pass over the answers touches."""
    return len(answers.labels) * answers.classes


def shares(answers: Answers, weights: Array | None = None) -> Array:
    """Vote with these weights of workers (all one by default); returns shares of the classes."""
    probabilities = np.zeros((answers.tasks, answers.classes))
    write_shares(answers, probabilities, weights)
    return probabilities


def write_shares(answers: Answers, probabilities: Array, weights: Array | None = None) -> None:
    """The same into a table."""
    given = np.ones(answers.crowd) if weights is None else weights
    sized(share_votes, work_of(answers))(answers, given, probabilities)


def right_answers(answers: Answers, probabilities: Array, weights: Array) -> Array:
    """How many answers of each worker are right: a sum of probabilities, with these weights."""
    right = np.zeros(answers.crowd)
    sized(count_right, work_of(answers))(answers, probabilities, weights, right)
    return right


def agreements(answers: Answers, labels: Array) -> Array:
    """How many answers of each worker are the label named for the task."""
    found = np.zeros(answers.crowd)
    for first, last in group_ranges(answers.starts, max(SLICE, answers.crowd)):
        here = slice(int(answers.starts[first]), int(answers.starts[last]))
        per_task = np.diff(answers.starts[first : last + 1])
        same = answers.labels[here] == np.repeat(labels[first:last], per_task)
        found += np.bincount(answers.workers[here][same], minlength=answers.crowd)
    return found


def fitted_softly(answers: Answers, probabilities: Array, **found: Any) -> Fitted:
    """What was found, where an answer is right with the probability of its label."""
    even = answers.weights if answers.even else np.ones(len(answers.labels))
    right = right_answers(answers, probabilities, even)
    return Fitted(probabilities, right, answers.per_worker, **found)


def fitted_by_vote(answers: Answers, probabilities: Array, **found: Any) -> Fitted:
    """What was found, where an answer is right if it is the label named for the task."""
    right = agreements(answers, first_largest(probabilities))
    return Fitted(probabilities, right, answers.per_worker, **found)


def vote(part: TaskPart, table: Array) -> Tally:
    """Write the shares of the votes; returns how many answers of each worker are the leader."""
    write_shares(part.answers, table)
    return Tally((agreements(part.answers, first_largest(table)),))


def voted_in(answers: Answers, split: Split) -> Fitted:
    """Shares of votes, counted part by part."""
    parts = split(answers, NO_CODES)
    (right,), _ = parts.run(vote)
    return Fitted(parts.table(), right, answers.per_worker)
