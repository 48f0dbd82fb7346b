"""EM over all answers, from the votes: what it finds depends on the answers and truths alone.

Tasks of contexts are first fitted with accuracies that lean on those elsewhere, then by contexts: a
context in which most workers are wrong would otherwise be taken the wrong way round.
"""

import math

import numpy as np

from askwise.core.arrays import Array
from askwise.core.compiling import kernel, step
from askwise.kernels.hem.counting import SkillAnswers, count_in, counted_by, learn_skills
from askwise.kernels.hem.skills import (
    CLASS_SHARE,
    LENT,
    LIKE_ELSEWHERE,
    SHARED,
    SkillBeliefs,
    accuracy_elsewhere,
    accuracy_here,
    accuracy_on,
    like_others,
    log_answer,
    log_chance,
    log_chance_unseen,
    odds_on_class,
)

EVEN_SHARES = 2.0
"""Tasks of each class that a context is believed to have beforehand."""

OVERLAP = 1.5
"""Shares of classes count in full with three answers per task: 1.5 (n - 1) / n."""

VOTE_SHARE = 0.7
"""How far posteriors follow the votes to begin with; the rest is even."""

FULL_ROUNDS = 20
"""The most rounds of EM, where it is run to its end."""

SETTLED = 5e-3
"""It has ended when no probability changes by more."""

MANY = 8
"""With more classes, those that nobody named for a task share one likelihood, and no table has a
number for each skill, class and answer."""


@step
def first_that_counts(starts: Array, task: int, in_turn: bool) -> int:
    """Where those answers to a task begin that say how common classes are."""
    return max(starts[task], starts[task + 1] - 1) if in_turn else starts[task]


@kernel
def count_given(answers: SkillAnswers, worker: Array, in_turn: bool, gave: Array) -> None:
    """Count the answers of each worker that say how common classes are; adds to ``gave``."""
    starts = answers.starts
    for task in range(len(starts) - 1):
        for at in range(first_that_counts(starts, task, in_turn), starts[task + 1]):
            gave[worker[answers.skill[at]]] += 1.0


@kernel
def count_said(
    answers: SkillAnswers, worker: Array, in_turn: bool, gave: Array, said: Array, told: Array,
    by_context: Array, overlap: Array,
) -> None:  # fmt: skip
    """Count what answers and truths say of classes; adds to the last four.

    ``said`` and ``told`` are of contexts and classes. ``by_context`` has the tasks without a truth
    of each context, and what their answers count; ``overlap`` the answers, the tasks that have any,
    and what answers count for skills.
    """
    starts = answers.starts
    for task in range(len(starts) - 1):
        every = starts[task + 1] - starts[task]
        truth, context = answers.truth[task], answers.context[task]
        overlap[0] += every
        overlap[1] += every > 0
        overlap[2] += every * counted_by(every, truth >= 0)
        first = first_that_counts(starts, task, in_turn)
        count = starts[task + 1] - first
        if truth >= 0:
            told[context, truth] += 1.0
        elif count > 0:
            by_context[context, 0] += 1.0
            for at in range(first, starts[task + 1]):
                counts = 1.0 / (count * math.sqrt(gave[worker[answers.skill[at]]]))
                said[context, answers.label[at]] += counts
                by_context[context, 1] += counts


@kernel
def set_shares(
    beliefs: SkillBeliefs, said: Array, told: Array, by_context: Array, overlap: Array
) -> None:
    """Make of what was counted what is believed of a class before any answer."""
    contexts, classes = beliefs.shares.shape
    for context in range(contexts):
        tasks, weight = by_context[context, 0], by_context[context, 1]
        total = EVEN_SHARES * classes + told[context].sum() + tasks
        each = tasks / weight if weight > 0.0 else 0.0
        for c in range(classes):
            share = EVEN_SHARES + told[context, c] + each * said[context, c]
            beliefs.shares[context, c] = math.log(share / total)
    given, heard = overlap[0], overlap[1]
    beliefs.crowd[SHARED] = min(1.0, OVERLAP * (given - heard) / given) if given > 0 else 0.0


@kernel
def learn_shares(answers: SkillAnswers, beliefs: SkillBeliefs, in_turn: bool) -> float:
    """What is believed of a class before any answer: its share of the answers, each task once.

    Posteriors have no part in it, or a class that is believed common would become more so. Where
    answers were bought ``in_turn``, the one that was asked for first, which is listed last, stands
    for its task: those with a rare answer are asked about again, until a common one settles them.
    A worker's n answers count as the root of n, or one who always gives the same would decide.
    Returns what all answers count for skills.
    """
    contexts, classes = beliefs.shares.shape
    gave = np.zeros(len(beliefs.totals))
    said, told = np.zeros((contexts, classes)), np.zeros((contexts, classes))
    by_context, overlap = np.zeros((contexts, 2)), np.zeros(3)
    count_given(answers, beliefs.worker, in_turn, gave)
    count_said(answers, beliefs.worker, in_turn, gave, said, told, by_context, overlap)
    set_shares(beliefs, said, told, by_context, overlap)
    return overlap[2]


@step
def set_lent(crowd: Array, stage: int, contexts: int, judged: float, skills: int) -> None:
    """Set what an accuracy elsewhere is worth in a context, in each stage of a fit.

    To begin with as much as what is shown in the context itself.
    """
    crowd[LENT] = -1.0
    if contexts > 1:
        crowd[LENT] = LIKE_ELSEWHERE if stage > 0 else max(1.0, judged / max(1, skills))


@step
def trust_in_shares(crowd: Array, answers: int) -> float:
    """The power to which shares are raised for a task.

    None with one answer, all with three: by the answers that tasks have on average, or by its own
    if these are more. So where no task has two, the only answer to a task is never contradicted by
    what others were answered.
    """
    own = min(1.0, OVERLAP * (answers - 1.0) / answers) if answers > 0 else 1.0
    return max(crowd[SHARED], own)


@step
def weigh_answer(
    beliefs: SkillBeliefs, row: int, label: int, weight: float, like: float, here: float,
    named: Array, logs: Array,
) -> None:  # fmt: skip
    """Add what an answer says of each class to their logarithms.

    Classes that are not ``named`` are taken as one.
    """
    totals, wrong, worker = beliefs.totals, beliefs.wrong, beliefs.worker[row]
    right, seen, due, alone = beliefs.right, beliefs.seen, beliefs.due, beliefs.alone
    elsewhere = accuracy_elsewhere(totals, beliefs.crowd, worker)
    unnamed = 0.0
    if len(logs) > MANY:
        unnamed = weight * log_chance_unseen(totals, wrong, here, worker, label)
    for c in range(len(logs)):
        if named[c]:
            logs[c] += weight * log_chance(
                totals, right, seen, due, wrong, alone, beliefs.errors, beliefs.crowd, like,
                elsewhere, here, worker, c, label,
            )  # fmt: skip
        else:
            logs[c] += unnamed


@step
def normalise(logs: Array) -> None:
    """Turn logarithms into probabilities."""
    top = float(logs[0])
    for c in range(1, len(logs)):
        top = max(top, float(logs[c]))
    total = 0.0
    for c in range(len(logs)):
        chance = math.exp(float(logs[c]) - top)
        logs[c] = chance
        total += chance
    for c in range(len(logs)):
        logs[c] /= total


@step
def posterior_of(logs: Array, posterior: Array, task: int) -> float:
    """Turn logarithms into a task's posterior; returns the largest change."""
    normalise(logs)
    moved = 0.0
    for c in range(len(logs)):
        moved = max(moved, abs(float(logs[c]) - float(posterior[task, c])))
        posterior[task, c] = logs[c]
    return moved


@step
def weigh_task(
    answers: SkillAnswers, beliefs: SkillBeliefs, task: int, like: float, here: Array, named: Array,
    logs: Array,
) -> None:  # fmt: skip
    """Write what its answers say of each class of a task, as logarithms, whatever its truth.

    With many classes, those that nobody named are taken as one; ``named`` is room to mark them.
    """
    first, last = answers.starts[task], answers.starts[task + 1]
    context = answers.context[task]
    for c in range(len(logs)):
        named[c] = len(logs) <= MANY
    for at in range(first, last):
        named[answers.label[at]] = True
    power = trust_in_shares(beliefs.crowd, last - first)
    for c in range(len(logs)):
        logs[c] = power * beliefs.shares[context, c]
    for at in range(first, last):
        row = answers.skill[at]
        weigh_answer(
            beliefs, row, answers.label[at], answers.weight[at], like, here[row], named, logs
        )


@kernel
def foretell(beliefs: SkillBeliefs, like: float, here: Array, logs: Array) -> None:
    """Logarithms of the probabilities of all answers, by skill and true class.

    By what a class multiplies a worker's odds is the same in all contexts: it is worked out once,
    and 0 until then.
    """
    totals, right, seen, due = beliefs.totals, beliefs.right, beliefs.seen, beliefs.due
    wrong, alone, errors, crowd = beliefs.wrong, beliefs.alone, beliefs.errors, beliefs.crowd
    classes = logs.shape[1]
    odds = np.zeros((len(totals), classes))
    for row in range(len(logs)):
        worker = beliefs.worker[row]
        for c in range(classes):
            if odds[worker, c] == 0.0:
                elsewhere = accuracy_elsewhere(totals, crowd, worker)
                on_class = odds_on_class(right, seen, due, alone, crowd, like, elsewhere, worker, c)
                odds[worker, c] = on_class**CLASS_SHARE
            accuracy = accuracy_on(here[row], float(odds[worker, c]))
            for a in range(classes):
                logs[row, c, a] = log_answer(totals, wrong, errors, accuracy, worker, c, a)


@kernel
def judge_by(
    answers: SkillAnswers,
    shares: Array,
    crowd: Array,
    foretold: Array,
    posterior: Array,
    logs: Array,
) -> float:
    """Posteriors of all tasks with an answer and no truth; returns the largest change."""
    starts, skill, label, weight = answers.starts, answers.skill, answers.label, answers.weight
    context, truth = answers.context, answers.truth
    moved = 0.0
    for task in range(len(starts) - 1):
        first, last = starts[task], starts[task + 1]
        if first == last or truth[task] >= 0:
            continue
        power = trust_in_shares(crowd, last - first)
        for c in range(len(logs)):
            said = power * float(shares[context[task], c])
            for at in range(first, last):
                said += float(weight[at]) * float(foretold[skill[at], c, label[at]])
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
        return judge_by(answers, beliefs.shares, beliefs.crowd, foretold, beliefs.posterior, logs)
    moved = 0.0
    named = np.zeros(len(logs), np.bool_)
    for task in range(len(answers.starts) - 1):
        if answers.starts[task] < answers.starts[task + 1] and answers.truth[task] < 0:
            weigh_task(answers, beliefs, task, like, here, named, logs)
            moved = max(moved, posterior_of(logs, beliefs.posterior, task))
    return moved


@kernel
def begin(answers: SkillAnswers, posterior: Array) -> None:
    """Posteriors by the votes; those of tasks whose truth is known are certain."""
    starts, classes = answers.starts, posterior.shape[1]
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
def fit(
    answers: SkillAnswers, beliefs: SkillBeliefs, rounds: int, settled: float, in_turn: bool
) -> tuple[int, bool]:
    """Run EM from the votes; returns how many rounds it took, and whether it settled.

    ``in_turn`` says that answers were bought one after the other, by what others had said, and that
    each task's are listed with the one asked for first at the end.

    It has settled when no probability changes by more than ``settled``. With contexts it runs
    twice, this many ``rounds`` at most each time.
    """
    contexts, classes = beliefs.shares.shape
    skills = len(beliefs.worker)
    here = np.zeros(skills)
    logs = np.zeros(classes)
    # One table serves counts and what they foretell: neither outlives its step.
    table = np.zeros((skills if classes <= MANY else 0, classes, classes))
    begin(answers, beliefs.posterior)
    judged = learn_shares(answers, beliefs, in_turn)
    used, moved = 0, 0.0
    for stage in range(2 if contexts > 1 else 1):
        set_lent(beliefs.crowd, stage, contexts, judged, skills)
        for _ in range(rounds):
            used += 1
            learn_skills(answers, beliefs, table, here)
            moved = judge_tasks(answers, beliefs, table, here, logs)
            if moved < settled:
                break
    learn_skills(answers, beliefs, table, here)
    return used, moved < settled


@kernel
def judge_held_out(
    answers: SkillAnswers, beliefs: SkillBeliefs, task: int, here: Array, logs: Array
) -> None:
    """Write the posterior of a task by what those who answered it showed in other tasks.

    Its truth has no part in it, where it is known. Beliefs are left as they were; ``here`` is room
    for two numbers for each skill.
    """
    first, last = answers.starts[task], answers.starts[task + 1]
    skill, label = answers.skill, answers.label
    amount = counted_by(last - first, answers.truth[task] >= 0)
    for at in range(first, last):
        row = skill[at]
        here[1, row] = accuracy_here(
            beliefs.totals, beliefs.shown, beliefs.crowd, beliefs.worker[row], row
        )
    for at in range(first, last):
        count_in(beliefs, skill[at], task, label[at], here[1, skill[at]], -amount)
        beliefs.alone[beliefs.worker[skill[at]], label[at]] -= amount == 0.0
    for at in range(first, last):
        row = skill[at]
        here[0, row] = accuracy_here(
            beliefs.totals, beliefs.shown, beliefs.crowd, beliefs.worker[row], row
        )
    like, named = like_others(len(beliefs.shares)), np.zeros(len(logs), np.bool_)
    weigh_task(answers, beliefs, task, like, here[0], named, logs)
    for at in range(first, last):
        count_in(beliefs, skill[at], task, label[at], here[1, skill[at]], amount)
        beliefs.alone[beliefs.worker[skill[at]], label[at]] += amount == 0.0
    normalise(logs)
