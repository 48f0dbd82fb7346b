"""What answers count for those who gave them: the M-step of a fit, and one answer at a time."""

from typing import NamedTuple

import numpy as np

from askwise.core.arrays import Array
from askwise.core.compiling import kernel, step
from askwise.kernels.hem.skills import JUDGED, RIGHT, SkillBeliefs, accuracy_here, rate_crowd

TRUTH_WEIGHT = 3.0
"""What an answer that a truth judges counts, where one that others judge counts once."""

LIKE_ANYWHERE = 20.0
"""Answers that "as easy as any" is worth in the estimate of how easy a worker's tasks were."""

NEGLIGIBLE = 1e-9
"""Probabilities below it teach nothing."""


class SkillAnswers(NamedTuple):
    """Answers by task: skill, label and weight of each, and the tasks' contexts and known truth.

    ``weight`` is what an answer counts as evidence for its task: less than one where others of its
    family said something too. ``truth`` is -1 where it is not known.
    """

    starts: Array
    skill: Array
    label: Array
    weight: Array
    context: Array
    truth: Array


@step
def counted_by(answers: int, known: bool) -> float:
    """What each answer to a task counts for the skill of its giver: 0 where nothing judges it."""
    if known:
        return TRUTH_WEIGHT
    return 1.0 if answers > 1 else 0.0


@step
def count_in(
    beliefs: SkillBeliefs, row: int, task: int, label: int, here: float, amount: float
) -> None:
    """Let a judged answer count, by the posterior of its task; take it back with less than 0.

    ``here`` is the accuracy that was believed of its giver in the task's context.
    """
    worker, posterior = beliefs.worker[row], beliefs.posterior
    right, seen, due, errors = beliefs.right, beliefs.seen, beliefs.due, beliefs.errors
    hit = amount * posterior[task, label]
    beliefs.shown[row, RIGHT] += hit
    beliefs.shown[row, JUDGED] += amount
    beliefs.totals[worker, RIGHT] += hit
    beliefs.totals[worker, JUDGED] += amount
    beliefs.crowd[RIGHT] += hit
    beliefs.crowd[JUDGED] += amount
    right[worker, label] += hit
    beliefs.wrong[worker, label] += amount - hit
    for c in range(posterior.shape[1]):
        mass = amount * posterior[task, c]
        if abs(mass) < NEGLIGIBLE:
            continue
        seen[worker, c] += mass
        due[worker, c] += mass * here
        if c != label:
            errors[c, label] += mass
            errors[c, c] += mass


@kernel
def forget_skills(beliefs: SkillBeliefs) -> None:
    """Set all counts to nothing."""
    beliefs.shown[:] = 0.0
    beliefs.totals[:] = 0.0
    beliefs.right[:] = 0.0
    beliefs.seen[:] = 0.0
    beliefs.due[:] = 0.0
    beliefs.wrong[:] = 0.0
    beliefs.alone[:] = 0.0
    beliefs.errors[:] = 0.0
    beliefs.crowd[RIGHT] = beliefs.crowd[JUDGED] = 0.0


@kernel
def count_answers(
    starts: Array, skill: Array, label: Array, truth: Array, posterior: Array, counts: Array
) -> None:
    """Count judged answers by skill, class and what was said."""
    classes = posterior.shape[1]
    counts[:] = 0.0
    for task in range(len(starts) - 1):
        first, last = starts[task], starts[task + 1]
        amount = counted_by(last - first, truth[task] >= 0)
        if amount > 0.0:
            for at in range(first, last):
                for c in range(classes):
                    counts[skill[at], c, label[at]] += amount * posterior[task, c]


@kernel
def sum_counts(beliefs: SkillBeliefs, counts: Array) -> None:
    """Make of counts by skill what workers and the crowd have shown; all is 0 before."""
    shown, totals, right, seen = beliefs.shown, beliefs.totals, beliefs.right, beliefs.seen
    wrong, errors, crowd = beliefs.wrong, beliefs.errors, beliefs.crowd
    classes = counts.shape[1]
    for row in range(len(counts)):
        worker = beliefs.worker[row]
        judged = hits = 0.0
        for c in range(classes):
            for a in range(classes):
                mass = float(counts[row, c, a])
                if mass == 0.0:
                    continue
                judged += mass
                seen[worker, c] += mass
                if a == c:
                    hits += mass
                    right[worker, c] += mass
                else:
                    wrong[worker, a] += mass
                    errors[c, a] += mass
                    errors[c, c] += mass
        shown[row, RIGHT], shown[row, JUDGED] = hits, judged
        totals[worker, RIGHT] += hits
        totals[worker, JUDGED] += judged
        crowd[RIGHT] += hits
        crowd[JUDGED] += judged


@kernel
def count_skills(answers: SkillAnswers, beliefs: SkillBeliefs, counts: Array) -> None:
    """M-step, for some tasks or for all: count answers again.

    ``counts`` is room for them by skill, class and answer. With many classes it is empty, and
    answers are counted in beliefs at once; else only those that nothing judges are.
    """
    starts, skill, label, truth = answers.starts, answers.skill, answers.label, answers.truth
    forget_skills(beliefs)
    if len(counts) > 0:
        count_answers(starts, skill, label, truth, beliefs.posterior, counts)
    for task in range(len(starts) - 1):
        first, last = starts[task], starts[task + 1]
        amount = counted_by(last - first, truth[task] >= 0)
        if amount == 0.0 and last > first:
            beliefs.alone[beliefs.worker[skill[first]], label[first]] += 1.0
        elif len(counts) == 0:
            for at in range(first, last):
                # What is due comes after: it takes the accuracies that are counted here.
                count_in(beliefs, skill[at], task, label[at], 0.0, amount)


@kernel
def rate_skills(beliefs: SkillBeliefs, counts: Array, here: Array) -> None:
    """Make of what was counted, of all tasks, what is believed of skills; ``here`` gets accuracies.

    With few classes that includes what is due, see :func:`sum_due`.
    """
    if len(counts) > 0:
        sum_counts(beliefs, counts)
    rate_crowd(beliefs.crowd, beliefs.right.shape[1])
    for row in range(len(here)):
        here[row] = accuracy_here(
            beliefs.totals, beliefs.shown, beliefs.crowd, beliefs.worker[row], row
        )
    due = beliefs.due
    for row in range(len(counts)):
        worker = beliefs.worker[row]
        for c in range(counts.shape[1]):
            total = float(due[worker, c])
            for a in range(counts.shape[1]):
                total += float(counts[row, c, a]) * float(here[row])
            due[worker, c] = total


@kernel
def sum_due(answers: SkillAnswers, beliefs: SkillBeliefs, here: Array) -> None:
    """Sum up how many answers would be right on each class at the accuracies in contexts.

    At those that the same answers show: by accuracies of a round before, all classes would seem to
    deviate the same way where accuracies have moved. With few classes the counts tell it.
    """
    starts, skill, truth = answers.starts, answers.skill, answers.truth
    due, posterior = beliefs.due, beliefs.posterior
    for task in range(len(starts) - 1):
        first, last = starts[task], starts[task + 1]
        amount = counted_by(last - first, truth[task] >= 0)
        if amount > 0.0:
            for at in range(first, last):
                share = amount * here[skill[at]]
                worker = beliefs.worker[skill[at]]
                for c in range(posterior.shape[1]):
                    due[worker, c] += share * posterior[task, c]


@kernel
def learn_skills(answers: SkillAnswers, beliefs: SkillBeliefs, counts: Array, here: Array) -> None:
    """M-step: count all answers again; ``here`` gets the accuracy believed of each skill."""
    count_skills(answers, beliefs, counts)
    rate_skills(beliefs, counts, here)
    if len(counts) == 0:
        sum_due(answers, beliefs, here)


@kernel
def rate_ease(answers: SkillAnswers, beliefs: SkillBeliefs, here: Array, ease: Array) -> None:
    """See how much easier each worker's tasks were than those of others.

    By how much more often than is believed of them the other answers to the same tasks are right,
    on average. ``here`` is room for a number for each answer.
    """
    starts, skill, label = answers.starts, answers.skill, answers.label
    counted = np.zeros(len(ease))
    ease[:] = 0.0
    for task in range(len(starts) - 1):
        first, last = starts[task], starts[task + 1]
        if last - first < 2:
            continue
        total = 0.0
        for at in range(first, last):
            row = skill[at]
            expected = accuracy_here(
                beliefs.totals, beliefs.shown, beliefs.crowd, beliefs.worker[row], row
            )
            here[at] = beliefs.posterior[task, label[at]] - expected
            total += here[at]
        for at in range(first, last):
            worker = beliefs.worker[skill[at]]
            ease[worker] += (total - here[at]) / (last - first - 1)
            counted[worker] += 1.0
    for worker in range(len(ease)):
        ease[worker] /= LIKE_ANYWHERE + counted[worker]
