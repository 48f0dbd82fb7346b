"""EM over all answers, from the votes: what it finds depends on the answers and truths alone.

Tasks of contexts are first fitted with accuracies that lean on those elsewhere, then by contexts: a
context in which most workers are wrong would otherwise be taken the wrong way round.
"""

import math
from typing import NamedTuple

import numpy as np

from askwise.core.arrays import Array
from askwise.core.compiling import kernel, step
from askwise.kernels.hem.skills import (
    JUDGED,
    LENT,
    LIKE_ELSEWHERE,
    RIGHT,
    SkillBeliefs,
    accuracy_elsewhere,
    accuracy_here,
    like_others,
    log_chance,
    log_chance_unseen,
    rate_crowd,
)

TRUTH_WEIGHT = 3.0
"""What an answer that a truth judges counts, where one that others judge counts once."""

EVEN_SHARES = 2.0
"""Tasks of each class that a context is believed to have beforehand."""

VOTE_SHARE = 0.7
"""How far posteriors follow the votes to begin with; the rest is even."""

FULL_ROUNDS = 20
"""Rounds of EM at the most, where it is run to its end."""

SETTLED = 5e-3
"""It ends when no probability changes by more."""

MANY = 8
"""With more classes, those that nobody named for a task share one likelihood, and no table has a
number for each skill, class and answer."""

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
def sum_counts(beliefs: SkillBeliefs, counts: Array, here: Array) -> None:
    """Make of counts by skill what is believed of workers and of the crowd."""
    shown, totals, right, seen = beliefs.shown, beliefs.totals, beliefs.right, beliefs.seen
    due, wrong, errors, crowd = beliefs.due, beliefs.wrong, beliefs.errors, beliefs.crowd
    classes = counts.shape[1]
    for row in range(len(counts)):
        worker = beliefs.worker[row]
        for c in range(classes):
            for a in range(classes):
                mass = counts[row, c, a]
                shown[row, JUDGED] += mass
                seen[worker, c] += mass
                due[worker, c] += mass * here[row]
                if a == c:
                    shown[row, RIGHT] += mass
                    right[worker, c] += mass
                else:
                    wrong[worker, a] += mass
                    errors[c, a] += mass
                    errors[c, c] += mass
        totals[worker, RIGHT] += shown[row, RIGHT]
        totals[worker, JUDGED] += shown[row, JUDGED]
        crowd[RIGHT] += shown[row, RIGHT]
        crowd[JUDGED] += shown[row, JUDGED]


@kernel
def learn_skills(answers: SkillAnswers, beliefs: SkillBeliefs, counts: Array, here: Array) -> None:
    """M-step: count answers anew; ``here`` has the accuracy believed of each skill, and gets it.

    ``counts`` is room for them by skill, class and answer; with many classes it is empty.
    """
    starts, skill, label, truth = answers.starts, answers.skill, answers.label, answers.truth
    forget_skills(beliefs)
    if len(counts) > 0:
        count_answers(starts, skill, label, truth, beliefs.posterior, counts)
        sum_counts(beliefs, counts, here)
    for task in range(len(starts) - 1):
        first, last = starts[task], starts[task + 1]
        amount = counted_by(last - first, truth[task] >= 0)
        if amount == 0.0 and last > first:
            beliefs.alone[beliefs.worker[skill[first]], label[first]] += 1.0
        elif len(counts) == 0:
            for at in range(first, last):
                count_in(beliefs, skill[at], task, label[at], here[skill[at]], amount)
    rate_crowd(beliefs.crowd, beliefs.posterior.shape[1])
    for row in range(len(here)):
        here[row] = accuracy_here(
            beliefs.totals, beliefs.shown, beliefs.crowd, beliefs.worker[row], row
        )


@kernel
def learn_shares(answers: SkillAnswers, beliefs: SkillBeliefs) -> None:
    """What is believed of a class before any answer: its share of the answers, each task once.

    Posteriors have no part in it, or a class that is believed common would become more so.
    """
    starts, shares = answers.starts, beliefs.shares
    contexts, classes = shares.shape
    tasks = np.zeros(contexts)
    shares[:] = 0.0
    for task in range(len(starts) - 1):
        count = starts[task + 1] - starts[task]
        truth, context = answers.truth[task], answers.context[task]
        if truth >= 0:
            shares[context, truth] += 1.0
            tasks[context] += 1.0
        elif count > 0:
            tasks[context] += 1.0
            for at in range(starts[task], starts[task + 1]):
                shares[context, answers.label[at]] += 1.0 / count
    for context in range(contexts):
        total = EVEN_SHARES * classes + tasks[context]
        for c in range(classes):
            shares[context, c] = math.log((EVEN_SHARES + shares[context, c]) / total)


@step
def trust_in_shares(answers: int) -> float:
    """The power to which shares are raised for a task: none with one answer, all with three.

    So the only answer to a task is never contradicted by what others were answered.
    """
    return min(1.0, 1.5 * (answers - 1.0) / answers) if answers > 0 else 1.0


@step
def weigh_answer(
    beliefs: SkillBeliefs, row: int, label: int, weight: float, like: float, here: float,
    logs: Array,
) -> None:  # fmt: skip
    """Add what an answer says of each class to their logarithms."""
    totals, wrong, worker = beliefs.totals, beliefs.wrong, beliefs.worker[row]
    right, seen, due, alone = beliefs.right, beliefs.seen, beliefs.due, beliefs.alone
    elsewhere = accuracy_elsewhere(totals, beliefs.crowd, worker)
    for c in range(len(logs)):
        logs[c] += weight * log_chance(
            totals, right, seen, due, wrong, alone, beliefs.errors, beliefs.crowd, like, elsewhere,
            here, worker, c, label,
        )  # fmt: skip


@kernel
def weigh_named(
    answers: SkillAnswers, beliefs: SkillBeliefs, task: int, like: float, here: Array, logs: Array
) -> None:
    """The same of all answers to a task, where classes that nobody named are taken as one."""
    skill, label, weight = answers.skill, answers.label, answers.weight
    totals, wrong = beliefs.totals, beliefs.wrong
    first, last = answers.starts[task], answers.starts[task + 1]
    unseen = 0.0
    for at in range(first, last):
        worker = beliefs.worker[skill[at]]
        unseen += weight[at] * log_chance_unseen(totals, wrong, here[skill[at]], worker, label[at])
    for at in range(first, last):
        c = label[at]
        again = False
        for before in range(first, at):
            again = again or label[before] == c
        if again:
            continue
        logs[c] -= unseen
        for other in range(first, last):
            row = skill[other]
            worker = beliefs.worker[row]
            elsewhere = accuracy_elsewhere(totals, beliefs.crowd, worker)
            logs[c] += weight[other] * log_chance(
                totals, beliefs.right, beliefs.seen, beliefs.due, wrong, beliefs.alone,
                beliefs.errors, beliefs.crowd, like, elsewhere, here[row], worker, c, label[other],
            )  # fmt: skip
    for c in range(len(logs)):
        logs[c] += unseen


@step
def normalise(logs: Array) -> None:
    """Turn logarithms into probabilities."""
    top = logs[0]
    for c in range(1, len(logs)):
        top = max(top, logs[c])
    total = 0.0
    for c in range(len(logs)):
        logs[c] = math.exp(logs[c] - top)
        total += logs[c]
    for c in range(len(logs)):
        logs[c] /= total


@step
def posterior_of(logs: Array, posterior: Array, task: int) -> float:
    """Turn logarithms into a task's posterior; returns the largest change."""
    normalise(logs)
    moved = 0.0
    for c in range(len(logs)):
        moved = max(moved, abs(logs[c] - posterior[task, c]))
        posterior[task, c] = logs[c]
    return moved


@step
def weigh_task(
    answers: SkillAnswers, beliefs: SkillBeliefs, task: int, like: float, here: Array, logs: Array
) -> None:
    """Write what its answers say of each class of a task, as logarithms, whatever its truth."""
    context = answers.context[task]
    power = trust_in_shares(answers.starts[task + 1] - answers.starts[task])
    for c in range(len(logs)):
        logs[c] = power * beliefs.shares[context, c]
    if len(logs) > MANY:
        weigh_named(answers, beliefs, task, like, here, logs)
    else:
        for at in range(answers.starts[task], answers.starts[task + 1]):
            row = answers.skill[at]
            weigh_answer(beliefs, row, answers.label[at], answers.weight[at], like, here[row], logs)


@kernel
def foretell(beliefs: SkillBeliefs, like: float, here: Array, logs: Array) -> None:
    """Logarithms of the probabilities of all answers, by skill and true class."""
    totals, right, seen, due = beliefs.totals, beliefs.right, beliefs.seen, beliefs.due
    wrong, alone, errors, crowd = beliefs.wrong, beliefs.alone, beliefs.errors, beliefs.crowd
    classes = logs.shape[1]
    for row in range(len(logs)):
        worker = beliefs.worker[row]
        elsewhere = accuracy_elsewhere(totals, crowd, worker)
        for c in range(classes):
            for a in range(classes):
                logs[row, c, a] = log_chance(
                    totals, right, seen, due, wrong, alone, errors, crowd, like, elsewhere,
                    here[row], worker, c, a,
                )  # fmt: skip


@kernel
def judge_by(
    answers: SkillAnswers, shares: Array, foretold: Array, posterior: Array, logs: Array
) -> float:
    """Posteriors of all tasks with an answer and no truth; returns the largest change."""
    starts, skill, label, weight = answers.starts, answers.skill, answers.label, answers.weight
    context, truth = answers.context, answers.truth
    moved = 0.0
    for task in range(len(starts) - 1):
        first, last = starts[task], starts[task + 1]
        if first == last or truth[task] >= 0:
            continue
        power = trust_in_shares(last - first)
        for c in range(len(logs)):
            said = power * shares[context[task], c]
            for at in range(first, last):
                said += weight[at] * foretold[skill[at], c, label[at]]
            logs[c] = said
        moved = max(moved, posterior_of(logs, posterior, task))
    return moved


@kernel
def judge_tasks(
    answers: SkillAnswers, beliefs: SkillBeliefs, foretold: Array, here: Array, logs: Array
) -> float:
    """E-step: posteriors of all tasks with an answer and no truth; returns the largest change.

    ``foretold`` is room for a number for each skill, class and answer; with many classes it is
    empty.
    """
    like = like_others(len(beliefs.shares))
    if len(foretold) > 0:
        foretell(beliefs, like, here, foretold)
        return judge_by(answers, beliefs.shares, foretold, beliefs.posterior, logs)
    moved = 0.0
    for task in range(len(answers.starts) - 1):
        if answers.starts[task] < answers.starts[task + 1] and answers.truth[task] < 0:
            weigh_task(answers, beliefs, task, like, here, logs)
            moved = max(moved, posterior_of(logs, beliefs.posterior, task))
    return moved


@kernel
def begin(answers: SkillAnswers, beliefs: SkillBeliefs) -> None:
    """Posteriors by the votes; those of tasks whose truth is known are certain."""
    starts, posterior = answers.starts, beliefs.posterior
    classes = posterior.shape[1]
    for task in range(len(starts) - 1):
        count = starts[task + 1] - starts[task]
        truth = answers.truth[task]
        for c in range(classes):
            posterior[task, c] = (1.0 - VOTE_SHARE * (count > 0)) / classes
            if truth >= 0:
                posterior[task, c] = 1.0 if c == truth else 0.0
        if truth < 0:
            for at in range(starts[task], starts[task + 1]):
                posterior[task, answers.label[at]] += VOTE_SHARE / count


@kernel
def fit(answers: SkillAnswers, beliefs: SkillBeliefs, rounds: int) -> int:
    """Run EM from the votes, so many rounds at the most; returns how many it took."""
    contexts, classes = beliefs.shares.shape
    skills = len(beliefs.worker)
    here = np.zeros(skills)
    logs = np.zeros(classes)
    # One table serves counts and what they foretell: neither outlives its step.
    table = np.zeros((skills if classes <= MANY else 0, classes, classes))
    begin(answers, beliefs)
    learn_shares(answers, beliefs)
    beliefs.crowd[RIGHT] = beliefs.crowd[JUDGED] = 0.0
    beliefs.totals[:] = 0.0
    rate_crowd(beliefs.crowd, classes)
    for row in range(skills):
        here[row] = accuracy_elsewhere(beliefs.totals, beliefs.crowd, beliefs.worker[row])
    judged = 0.0
    for task in range(len(answers.starts) - 1):
        count = answers.starts[task + 1] - answers.starts[task]
        judged += count * counted_by(count, answers.truth[task] >= 0)
    # Leaning on accuracies elsewhere as much as on those in the context itself, to begin with.
    leaning = max(1.0, judged / max(1, skills))
    used = 0
    for stage in range(2 if contexts > 1 else 1):
        beliefs.crowd[LENT] = -1.0
        if contexts > 1:
            beliefs.crowd[LENT] = leaning if stage == 0 else LIKE_ELSEWHERE
        for _ in range(rounds):
            used += 1
            learn_skills(answers, beliefs, table, here)
            if judge_tasks(answers, beliefs, table, here, logs) < SETTLED:
                break
    learn_skills(answers, beliefs, table, here)
    return used


@kernel
def judge_without_truth(
    answers: SkillAnswers, beliefs: SkillBeliefs, task: int, here: Array, logs: Array
) -> None:
    """Write the posterior that a task would have if its truth were not known.

    What its truth taught about those who answered it does not count either. ``here`` is room for a
    number for each skill.
    """
    first, last = answers.starts[task], answers.starts[task + 1]
    skill, label = answers.skill, answers.label
    amount = counted_by(last - first, True)
    for at in range(first, last):
        row = skill[at]
        here[row] = accuracy_here(
            beliefs.totals, beliefs.shown, beliefs.crowd, beliefs.worker[row], row
        )
    for at in range(first, last):
        count_in(beliefs, skill[at], task, label[at], here[skill[at]], -amount)
    for at in range(first, last):
        row = skill[at]
        here[row] = accuracy_here(
            beliefs.totals, beliefs.shown, beliefs.crowd, beliefs.worker[row], row
        )
    weigh_task(answers, beliefs, task, like_others(len(beliefs.shares)), here, logs)
    for at in range(first, last):
        row = skill[at]
        count_in(beliefs, row, task, label[at], here[row], amount)
    normalise(logs)
