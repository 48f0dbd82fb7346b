"""What workers show, partially pooled: how often each is right, where, and on which class.

A worker's accuracy is that of the crowd until their own answers say otherwise. Their accuracy in a
context is their accuracy elsewhere until answers there say otherwise; their accuracy on a class
deviates from it in log-odds, as far as answers on that class demand. Wrong answers are spread as
those of the crowd, and as the worker's own.

Only answers that something else judges count: another answer to the task, or its truth. What nobody
judged tells nothing of skill, but it shrinks deviations by class: such an answer stands for one
that is right as often as the worker is elsewhere. Without that, skills by class would be learned
from contested tasks alone, for these are the ones that are asked about again.

Cells of arrays are taken as floats: plain Python computes with those in half the time.
"""

import math
from typing import NamedTuple

import numpy as np

from askwise.core.arrays import Array
from askwise.core.compiling import kernel, step

LIKE_CROWD = 4.0
"""Judged answers that the crowd's accuracy is worth in the estimate of a worker's."""

LIKE_ELSEWHERE = 3.0
"""Judged answers that a worker's accuracy is worth in the estimate of it in one context."""

LIKE_OTHER_CLASSES = 6.0
"""Judged answers, for each context, that a worker's accuracy is worth on a class."""

MOST_LIKE_OTHERS = 60.0
"""The most of them: with many contexts, classes and contexts are hard to tell apart."""

CLASS_SHARE = 0.8
"""How much of a deviation on a class an answer is judged by, in log-odds: some of it explains other
things than the truth, however many answers there are."""

ENOUGH_NAMED, NAMED_BEFORE = 0.5, 2.0
"""A worker who names a class this share of the times that it occurs may always be right on it; how
often everybody is taken to have named each class beforehand."""

CROWD_ACCURACY, CROWD_ANSWERS = 0.7, 100.0
"""What is believed of the crowd's accuracy beforehand, and how many answers that is worth."""

ABOVE_CHANCE = 0.02
"""The crowd is right this much more often than by chance, at least."""

EVEN_ERRORS = 100.0
"""Wrong answers to each class that an even spread of the crowd's errors is worth."""

LIKE_CROWD_ERRORS = 4.0
"""Wrong answers that the crowd's spread of errors is worth in that of a worker."""

LOW, HIGH = 0.01, 0.99
"""Nobody is believed to be more often wrong or right than this."""

RIGHT, JUDGED, MEAN, LENT, SHARED = range(5)
"""Columns of ``shown`` and ``totals`` (the first two), and places in ``crowd`` (all five): right
answers and judged ones, then the crowd's accuracy, what an accuracy elsewhere is worth (below 0:
there is one context), and the power to which shares of classes are raised at least."""


class SkillBeliefs(NamedTuple):
    """What is believed of workers, classes and tasks.

    Attributes
    ----------
    worker, place : arrays of int
        Worker and context of each skill: a pair of the two that has an answer.
    shown : array, skills x 2
        Judged answers, and the sum of probabilities that they are right.
    totals : array, workers x 2
        The same over all contexts.
    right, seen, due : arrays, workers x classes
        Of judged answers to tasks of each class: how many are right, how many there are, and how
        many would be right at the accuracies in the tasks' contexts.
    wrong : array, workers x classes
        Wrong answers, by what was said.
    alone : array, workers x classes
        Answers that nothing else judges, by what was said.
    errors : array, classes x classes
        Wrong answers of the crowd by true class and answer; their sum where both are one.
    crowd : array
        See ``RIGHT, JUDGED, MEAN, LENT, SHARED``.
    shares : array, contexts x classes
        Logarithm of what is believed of a class before any answer.
    posterior : array, tasks x classes
        Probability of each class.
    """

    worker: Array
    place: Array
    shown: Array
    totals: Array
    right: Array
    seen: Array
    due: Array
    wrong: Array
    alone: Array
    errors: Array
    crowd: Array
    shares: Array
    posterior: Array


def new_beliefs(skills: int, workers: int, classes: int, contexts: int, tasks: int) -> SkillBeliefs:
    """Nothing believed yet, with room for this many of each."""
    by_class = np.zeros((5, workers, classes))
    crowd = np.zeros(5)
    crowd[MEAN] = max(CROWD_ACCURACY, 1.0 / max(1, classes) + ABOVE_CHANCE)
    crowd[LENT] = LIKE_ELSEWHERE if contexts > 1 else -1.0
    return SkillBeliefs(
        worker=np.zeros(skills, np.int64),
        place=np.zeros(skills, np.int64),
        shown=np.zeros((skills, 2)),
        totals=np.zeros((workers, 2)),
        right=by_class[0],
        seen=by_class[1],
        due=by_class[2],
        wrong=by_class[3],
        alone=by_class[4],
        errors=np.zeros((classes, classes)),
        crowd=crowd,
        shares=np.zeros((contexts, classes)),
        posterior=np.zeros((tasks, classes)),
    )


@step
def rate_crowd(crowd: Array, classes: int) -> None:
    """Bring the crowd's accuracy up to date with its judged answers."""
    found = (CROWD_ANSWERS * CROWD_ACCURACY + crowd[RIGHT]) / (CROWD_ANSWERS + crowd[JUDGED])
    crowd[MEAN] = min(HIGH, max(1.0 / classes + ABOVE_CHANCE, found))


@step
def accuracy_elsewhere(totals: Array, crowd: Array, worker: int) -> float:
    """How often a worker is right, over all contexts."""
    right, judged = float(totals[worker, RIGHT]), float(totals[worker, JUDGED])
    return (LIKE_CROWD * float(crowd[MEAN]) + right) / (LIKE_CROWD + judged)


@step
def accuracy_here(totals: Array, shown: Array, crowd: Array, worker: int, row: int) -> float:
    """How often a worker is right in a context; -1 is the row of one they never worked in."""
    elsewhere = accuracy_elsewhere(totals, crowd, worker)
    lent = float(crowd[LENT])
    if lent < 0.0 or row < 0:
        return elsewhere
    return (lent * elsewhere + float(shown[row, RIGHT])) / (lent + float(shown[row, JUDGED]))


@step
def strength(totals: Array, shown: Array, crowd: Array, worker: int, row: int) -> float:
    """How many answers that accuracy rests on."""
    judged = totals[worker, JUDGED]
    if crowd[LENT] < 0.0:
        return LIKE_CROWD + judged
    mine = shown[row, JUDGED] if row >= 0 else 0.0
    return LIKE_CROWD + mine + min(crowd[LENT], judged - mine)


@step
def like_others(contexts: int) -> float:
    """What an accuracy over all classes is worth in the estimate of that on one."""
    return min(MOST_LIKE_OTHERS, LIKE_OTHER_CLASSES * contexts)


@step
def odds_on_class(
    right: Array, seen: Array, due: Array, alone: Array, crowd: Array, like: float,
    elsewhere: float, worker: int, c: int,
) -> float:  # fmt: skip
    """By what a class multiplies the odds that a worker is right."""
    k = like + float(alone[worker, c])
    total = k + float(seen[worker, c])
    found = min(HIGH, max(LOW, (k * elsewhere + float(right[worker, c])) / total))
    expected = min(HIGH, max(LOW, elsewhere))
    if crowd[LENT] >= 0.0:
        # Of contexts in which they are often right, perhaps, this class has more tasks.
        expected = min(HIGH, max(LOW, (k * elsewhere + float(due[worker, c])) / total))
    return found * (1.0 - expected) / ((1.0 - found) * expected)


@step
def accuracy_on(accuracy: float, odds: float) -> float:
    """How often a worker is right on a class."""
    certain = min(HIGH, max(LOW, float(accuracy)))
    lifted = certain / (1.0 - certain) * odds
    return min(HIGH, max(LOW, lifted / (1.0 + lifted)))


@step
def error_share(totals: Array, wrong: Array, errors: Array, worker: int, c: int, a: int) -> float:
    """Share of a among a worker's wrong answers to tasks of class c."""
    classes = wrong.shape[1]
    even = EVEN_ERRORS / (classes - 1)
    of_crowd = (float(errors[c, a]) + even) / (float(errors[c, c]) + EVEN_ERRORS)
    judged, right = float(totals[worker, JUDGED]), float(totals[worker, RIGHT])
    mine = max(0.0, judged - right - float(wrong[worker, c]))
    named = LIKE_CROWD_ERRORS * of_crowd + float(wrong[worker, a])
    return named / max(LIKE_CROWD_ERRORS + mine, named)


@kernel
def lift_of(beliefs: SkillBeliefs, worker: int, contexts: int) -> float:
    """How often a worker is right over all contexts, on average over classes.

    A worker who always gives the same answer is right no more often than by chance in this mean.
    """
    occurs = np.zeros(beliefs.shares.shape[1])
    count_classes(beliefs.shares, occurs)
    return lift_among(beliefs, worker, contexts, occurs)


@kernel
def lift_among(beliefs: SkillBeliefs, worker: int, contexts: int, occurs: Array) -> float:
    """As ``lift_of``, where it was summed up already how common classes are."""
    crowd = beliefs.crowd
    elsewhere = accuracy_elsewhere(beliefs.totals, crowd, worker)
    like, classes = like_others(contexts), beliefs.right.shape[1]
    total = 0.0
    for c in range(classes):
        odds = odds_on_class(
            beliefs.right, beliefs.seen, beliefs.due, beliefs.alone, crowd, like, elsewhere,
            worker, c,
        )  # fmt: skip
        total += accuracy_on(elsewhere, odds)
    return min(total / classes, most_by_answers(beliefs, worker, occurs))


@kernel
def count_classes(shares: Array, occurs: Array) -> None:
    """Sum up over contexts how common classes are believed to be."""
    occurs[:] = 0.0
    for context in range(len(shares)):
        for c in range(len(occurs)):
            occurs[c] += math.exp(shares[context, c])


@kernel
def most_by_answers(beliefs: SkillBeliefs, worker: int, occurs: Array) -> float:
    """How often a worker can be right at most, on average over classes, by what they name.

    A worker who hardly names a class is hardly right on it, which takes no other answer to see. How
    often a class occurs is no more than believed, so half of that is enough.
    """
    right, wrong, alone, classes = beliefs.right, beliefs.wrong, beliefs.alone, len(occurs)
    given = right[worker].sum() + wrong[worker].sum() + alone[worker].sum()
    total, every = 0.0, occurs.sum()
    for c in range(classes):
        named = right[worker, c] + wrong[worker, c] + alone[worker, c]
        enough = ENOUGH_NAMED * given * occurs[c] / every
        total += min(1.0, (NAMED_BEFORE + named) / (NAMED_BEFORE + enough))
    return total / classes


@step
def mean_accuracy(
    totals: Array, shown: Array, crowd: Array, lift: float, worker: int, row: int
) -> float:
    """The same in a context; ``lift`` is 0 where nothing is known of the worker."""
    mean = lift if lift > 0.0 else crowd[MEAN]
    elsewhere = min(HIGH, max(LOW, accuracy_elsewhere(totals, crowd, worker)))
    here = min(HIGH, max(LOW, accuracy_here(totals, shown, crowd, worker, row)))
    return accuracy_on(mean, here * (1.0 - elsewhere) / ((1.0 - here) * elsewhere))


@step
def log_chance(
    totals: Array, right: Array, seen: Array, due: Array, wrong: Array, alone: Array,
    errors: Array, crowd: Array, like: float, elsewhere: float, here: float, worker: int, c: int,
    a: int,
) -> float:  # fmt: skip
    """Logarithm of the probability that a worker answers a when c is true."""
    odds = odds_on_class(right, seen, due, alone, crowd, like, elsewhere, worker, c)
    return log_answer(totals, wrong, errors, accuracy_on(here, odds**CLASS_SHARE), worker, c, a)


@step
def log_answer(
    totals: Array, wrong: Array, errors: Array, accuracy: float, worker: int, c: int, a: int
) -> float:
    """The same by how often the worker is right on c."""
    if a == c:
        return math.log(accuracy)
    if wrong.shape[1] == 2:
        return math.log(1.0 - accuracy)
    return math.log((1.0 - accuracy) * error_share(totals, wrong, errors, worker, c, a))


@step
def log_chance_unseen(totals: Array, wrong: Array, here: float, worker: int, a: int) -> float:
    """The same for a class that nobody has named for the task, whichever it is."""
    even = LIKE_CROWD_ERRORS / (wrong.shape[1] - 1)
    mine = max(0.0, totals[worker, JUDGED] - totals[worker, RIGHT])
    certain = min(HIGH, max(LOW, here))
    return math.log((1.0 - certain) * (even + wrong[worker, a]) / (LIKE_CROWD_ERRORS + mine))
