"""How sure judges have to be: what their votes count, and the threshold that keeps the error.

After each stage a task has a score: the lead of its leading option over the second, where a stage
gives each option its share of the stage's votes times a weight. A task is settled by the first
stage after which its score is above the threshold. One threshold holds for all stages, so there is
one sequence of cascades, from the one that settles nothing downwards, and one error to test.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from askwise.kernels import Array

LEANING = 10.0
"""What truths say of an option that a stage names leans on what they say of the stage, with the
weight of this many tasks."""

DIGITS = 6
"""Leads are told apart up to this many digits."""

LOT = 1e-7
"""What the lot counts that parts tasks of equal leads: less than the last of these digits."""

SLACK = 1e-9
"""The doubt is taken this share smaller: rounding must not use it up."""


class FittedThreshold(NamedTuple):
    """What truths have taught: a weight for each stage and option, and the threshold."""

    weights: Array
    threshold: float


def for_learning(truths: int) -> int:
    """How many of the truths the weights are learned from; the others test the threshold.

    Examples
    --------
    >>> for_learning(100), for_learning(3)
    (25, 1)
    """
    return max(1, truths // 4)


def too_many(error: float, tasks: int) -> int:
    """The fewest wrong labels that are more than the allowed share.

    Examples
    --------
    In floating-point numbers 0.07 * 100 is above 7.

    >>> too_many(0.07, 100)
    8
    """
    return math.floor(Fraction(str(error)) * tasks) + 1


def most_wrong(tasks: int, wrong: int, tested: int, doubt: float) -> int:
    """The most errors among tested tasks that show that fewer than ``wrong`` tasks are wrong.

    If ``wrong`` of the ``tasks`` or more are, a random sample of ``tested`` has so few errors with
    a probability of at most ``doubt``; -1 where not even no error would show it.

    Examples
    --------
    >>> (
    ...     most_wrong(1000, 101, 21, 0.1),
    ...     most_wrong(1000, 101, 22, 0.1),
    ...     most_wrong(500, 101, 75, 0.1),
    ... )
    (-1, 0, 10)
    """
    if wrong > tasks:
        return tested
    samples = math.comb(tasks, tested)
    found = 0
    for errors in range(tested + 1):
        found += math.comb(wrong, errors) * math.comb(tasks - wrong, tested - errors)
        if found / samples > doubt * (1.0 - SLACK):
            return errors - 1
    return tested


def weights_of(votes: Array, truths: Array) -> Array:
    """What a stage's vote for an option counts, in log-odds: stages x options.

    Where a stage names an option and is right in ``right`` of ``named`` tasks, the weight is that
    of p = (right + 10 q) / (named + 10) with q = (all right + 1) / (all tasks + options), and at
    least 0: who is right no more often than by chance does not count. A tie is shared.

    Parameters
    ----------
    votes : int array
        Tasks x stages x options.
    truths : int array
        Of each task.
    """
    tasks, _, options = votes.shape
    best = votes.max(axis=2, keepdims=True)
    leading = (votes == best) & (best > 0)
    named = leading / np.maximum(leading.sum(axis=2, keepdims=True), 1)
    right = named * (np.arange(options) == truths[:, None])[:, None, :]
    overall = (right.sum(axis=(0, 2)) + 1.0) / (tasks + options)
    share = right.sum(axis=0) + LEANING * overall[:, None]
    share /= named.sum(axis=0) + LEANING
    return np.maximum(0.0, np.log(share * (options - 1) / (1.0 - share)))


def standings(votes: Array, weights: Array) -> Array:
    """What speaks for each option after each stage: tasks x stages x options."""
    total = votes.sum(axis=2, keepdims=True)
    return np.cumsum(votes / np.maximum(total, 1) * weights, axis=1)


def scores_of(standing: Array, complete: Array, lots: Array) -> tuple[Array, Array]:
    """The score and the leading option of each task after each stage.

    Parameters
    ----------
    standing : array
        Tasks x stages x options.
    complete : int array
        Stages of each task that have spoken: a score after others is 0.
    lots : array
        A number below 1 for each task, which parts those of equal leads.
    """
    ordered = np.sort(standing, axis=2)
    leads = np.round(ordered[:, :, -1] - ordered[:, :, -2], DIGITS)
    heard = np.arange(standing.shape[1]) < complete[:, None]
    scores = np.where(heard & (leads > 0.0), leads + LOT * lots[:, None], 0.0)
    return scores, standing.argmax(axis=2)


def settled_by(scores: Array, threshold: float) -> Array:
    """The first stage after which each task's score is above the threshold; -1 if there is none."""
    # The last column is for those that no stage settles.
    above = np.pad(scores > threshold, ((0, 0), (0, 1)), constant_values=True)
    first = above.argmax(axis=1)
    return np.where(first < scores.shape[1], first, -1)


def lowest_threshold(scores: Array, wrong: Array, allowed: int) -> float:
    """Lower the threshold from above all scores for as long as few enough tested tasks are wrong.

    The first score at which too many are is the threshold: nothing below it was tested.

    Parameters
    ----------
    scores, wrong : arrays
        Of the tested tasks after each stage, and whether the option that leads is wrong.
    allowed : int
        The most errors; below 0 nothing is settled.
    """
    if allowed < 0:
        return math.inf
    rows = np.arange(len(scores))
    for level in np.unique(scores[scores > 0.0])[::-1].tolist():
        stage = settled_by(scores, np.nextafter(level, 0.0))
        if int((wrong[rows, stage] & (stage >= 0)).sum()) > allowed:
            return float(level)
    return 0.0


def calibrate(
    votes: Array,
    complete: Array,
    truths: Array,
    lots: Array,
    *,
    tasks: int,
    error: float,
    confidence: float,
) -> FittedThreshold:
    """Learn weights from the first of the tasks whose truth is known, and test on the others.

    Parameters
    ----------
    votes : int array
        Tasks x stages x options; tasks in random order.
    complete : int array
        Stages of each task that have spoken.
    truths : int array
        Of each task; -1 where it can't be known, which counts as wrong whatever is said.
    lots : array
        A number below 1 for each task.
    tasks : int
        All tasks that these were drawn from.
    error, confidence : float
        The share of wrong labels that is allowed, and how sure it is to be kept.
    """
    learning = for_learning(len(truths))
    known = np.flatnonzero(truths[:learning] >= 0)
    weights = weights_of(votes[known], truths[known])
    test = slice(learning, None)
    tested = len(truths) - learning
    doubt = float(1 - Fraction(str(confidence)))
    allowed = most_wrong(tasks - learning, too_many(error, tasks), tested, doubt)
    scores, options = scores_of(standings(votes[test], weights), complete[test], lots[test])
    wrong = options != truths[test][:, None]
    return FittedThreshold(weights, lowest_threshold(scores, wrong, allowed))


def within_reach(standing: Array, to_come: Array, threshold: float) -> Array:
    """Whether some answers of stages to come would settle each task.

    Parameters
    ----------
    standing : array
        What speaks for each option so far: tasks x options.
    to_come : array
        The weights of the stages that have not spoken.
    threshold : float
        What a task's score would have to be above.
    """
    ordered = np.sort(standing, axis=1)
    first, second = ordered[:, -1:], ordered[:, -2:-1]
    leads = standing + to_come.sum(axis=0) - np.where(standing == first, second, first)
    best = leads.max(axis=1)
    # In another order of summing, so a digit may differ.
    return (np.round(best, DIGITS) > 0.0) & (best + 2.0 * 10.0**-DIGITS > threshold)
