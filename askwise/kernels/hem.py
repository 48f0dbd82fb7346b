"""Hierarchical EM: who is right how often, in each context and on each class, without truth.

What a worker showed in a context is a table of soft counts (true class x answer). Little is known
of one table alone, so it borrows: ``lam`` of what he showed on the other classes, ``rho`` of what
he showed in the other contexts. Both are chosen by how well they foretell the counts.

Answers are threaded by task (``starts``); each names its ``skill``: the row of a (context,
worker) pair that has answered at all. So memory is linear in answers.
"""

import math
from typing import NamedTuple

import numpy as np

from askwise.core.arrays import Array
from askwise.core.compiling import kernel, step
from askwise.kernels.special import log_beta

RIGHT, WRONG = 4.0, 2.0
"""What is believed beforehand: four right answers and two wrong ones, on each class."""

LOW, HIGH = 0.01, 0.99
"""Nobody is believed to be more often wrong or right than this."""

CLASS_PRIOR = 2.0
"""Tasks of each class that a context is believed to have beforehand."""

LAMBDAS = (1.0, 0.3, 0.0)
RHOS = (0.0, 0.03, 0.1, 0.3, 1.0)
"""The shares to choose from; the first rho is that of a single context."""

LAM, RHO = range(2)

SURE_OF_SIDE = 3.0
"""Log-odds (20 to 1) from which on it counts as settled which way round a context is."""


class SkillAnswers(NamedTuple):
    """Answers by task: skill and label of each, and the tasks' contexts and known truth (or -1)."""

    starts: Array
    skill: Array
    label: Array
    context: Array
    truth: Array


class SkillBeliefs(NamedTuple):
    """Soft counts by skill and by worker, classes by context, posteriors by task.

    ``shares`` holds lam and rho. ``classes`` has the sum of posteriors of each class and, in its
    last column, the number of tasks.
    """

    worker: Array
    place: Array
    counts: Array
    totals: Array
    classes: Array
    posterior: Array
    shares: Array


class Borrowed(NamedTuple):
    """Right and wrong answers on a class: own ones and those borrowed."""

    right: float
    wrong: float
    right_lent: float
    wrong_lent: float


class Sums(NamedTuple):
    """Right and wrong answers of a skill on a class, on the others, and in other contexts."""

    right: float
    wrong: float
    right_classes: float
    wrong_classes: float
    right_contexts: float
    wrong_contexts: float
    right_both: float
    wrong_both: float


@step
def summed(counts: Array, totals: Array, skill: int, worker: int, c: int) -> Sums:
    """What a skill shows on a class, and what its worker shows elsewhere: a look at all cells."""
    classes = counts.shape[1]
    r = w = r_classes = w_classes = r_contexts = 0.0
    w_contexts = r_both = w_both = 0.0
    for true in range(classes):
        for answer in range(classes):
            own = counts[skill, true, answer] if skill >= 0 else 0.0
            other = totals[worker, true, answer] - own
            if true == c:
                if answer == true:
                    r += own
                    r_contexts += other
                else:
                    w += own
                    w_contexts += other
            elif answer == true:
                r_classes += own
                r_both += other
            else:
                w_classes += own
                w_both += other
    return Sums(r, w, r_classes, w_classes, r_contexts, w_contexts, r_both, w_both)


@step
def lent(sums: Sums, lam: float, rho: float) -> Borrowed:
    """What is borrowed of the sums, by these shares."""
    return Borrowed(
        sums.right,
        sums.wrong,
        lam * sums.right_classes + rho * (sums.right_contexts + lam * sums.right_both),
        lam * sums.wrong_classes + rho * (sums.wrong_contexts + lam * sums.wrong_both),
    )


@step
def borrowed(
    counts: Array, totals: Array, skill: int, worker: int, lam: float, rho: float, c: int
) -> Borrowed:
    """What a skill shows on a class, with what it borrows."""
    return lent(summed(counts, totals, skill, worker, c), lam, rho)


@step
def accuracy(shown: Borrowed) -> float:
    """Probability of a right answer on a class."""
    n = RIGHT + WRONG + shown.right + shown.wrong + shown.right_lent + shown.wrong_lent
    return min(HIGH, max(LOW, (RIGHT + shown.right + shown.right_lent) / n))


@step
def wrongs(counts: Array, totals: Array, skill: int, worker: int, rho: float, c: int) -> float:
    """Wrong answers on a class, own ones and those lent by the other contexts."""
    found = 0.0
    for answer in range(counts.shape[1]):
        if answer != c:
            own = counts[skill, c, answer] if skill >= 0 else 0.0
            found += own + rho * (totals[worker, c, answer] - own)
    return found


@step
def wrong_share(mine: float, all_mine: float, shown: Borrowed, classes: int) -> float:
    """Share of one wrong answer among all: lent by the other classes evenly."""
    even = max(0.0, shown.wrong + shown.wrong_lent - all_mine)
    return (mine + (WRONG + even) / (classes - 1)) / (all_mine + WRONG + even)


@kernel
def chance(
    counts: Array, totals: Array, skill: int, worker: int, lam: float, rho: float, c: int, a: int
) -> float:
    """Probability that a worker answers a when c is true.

    With two classes the accuracy or its complement. With more, wrong answers borrow from the other
    contexts by what was answered, and from the other classes evenly.
    """
    classes = counts.shape[1]
    shown = borrowed(counts, totals, skill, worker, lam, rho, c)
    right = accuracy(shown)
    if a == c:
        return right
    if classes == 2:
        return 1.0 - right
    own = counts[skill, c, a] if skill >= 0 else 0.0
    mine = own + rho * (totals[worker, c, a] - own)
    all_mine = wrongs(counts, totals, skill, worker, rho, c)
    return (1.0 - right) * wrong_share(mine, all_mine, shown, classes)


@kernel
def log_chances(beliefs: SkillBeliefs, row: int, c: int, logs: Array) -> None:
    """Logarithms of :func:`chance` for all answers of a skill when c is true, in one go."""
    counts, totals, worker = beliefs.counts, beliefs.totals, beliefs.worker[row]
    classes = counts.shape[1]
    rho = beliefs.shares[RHO]
    shown = borrowed(counts, totals, row, worker, beliefs.shares[LAM], rho, c)
    right = accuracy(shown)
    logs[row, c, c] = math.log(right)
    if classes == 2:
        logs[row, c, 1 - c] = math.log(1.0 - right)
        return
    all_mine = wrongs(counts, totals, row, worker, rho, c)
    for a in range(classes):
        if a != c:
            own = counts[row, c, a]
            mine = own + rho * (totals[worker, c, a] - own)
            share = wrong_share(mine, all_mine, shown, classes)
            logs[row, c, a] = math.log((1.0 - right) * share)


@step
def class_share(classes: Array, context: int, c: int) -> float:
    """Share of a class among a context's tasks."""
    count = classes.shape[1] - 1
    total = CLASS_PRIOR * count + classes[context, count]
    return (CLASS_PRIOR + classes[context, c]) / total


@kernel
def expect(answers: SkillAnswers, beliefs: SkillBeliefs, logs: Array) -> None:
    """E-step: posterior of each task from the answers and what is believed of who gave them."""
    starts, skill, label, posterior = (
        answers.starts, answers.skill, answers.label, beliefs.posterior,
    )  # fmt: skip
    count = posterior.shape[1]
    for row in range(len(beliefs.worker)):
        for c in range(count):
            log_chances(beliefs, row, c, logs)
    for task in range(len(starts) - 1):
        top = -math.inf
        for c in range(count):
            if answers.truth[task] >= 0:
                posterior[task, c] = 0.0 if answers.truth[task] == c else -math.inf
            else:
                posterior[task, c] = math.log(
                    class_share(beliefs.classes, answers.context[task], c)
                )
                for at in range(starts[task], starts[task + 1]):
                    posterior[task, c] += logs[skill[at], c, label[at]]
            top = max(top, posterior[task, c])
        total = 0.0
        for c in range(count):
            posterior[task, c] = math.exp(posterior[task, c] - top)
            total += posterior[task, c]
        for c in range(count):
            posterior[task, c] /= total


@kernel
def count_softly(answers: SkillAnswers, beliefs: SkillBeliefs) -> None:
    """M-step: soft counts by skill and worker, classes by context."""
    starts, skill, label = answers.starts, answers.skill, answers.label
    counts, totals, classes = beliefs.counts, beliefs.totals, beliefs.classes
    posterior = beliefs.posterior
    count = posterior.shape[1]
    counts[:] = 0.0
    totals[:] = 0.0
    classes[:] = 0.0
    for task in range(len(starts) - 1):
        if starts[task] == starts[task + 1] and answers.truth[task] < 0:
            continue
        context = answers.context[task]
        classes[context, count] += 1.0
        for c in range(count):
            q = posterior[task, c]
            classes[context, c] += q
            for at in range(starts[task], starts[task + 1]):
                counts[skill[at], c, label[at]] += q
                totals[beliefs.worker[skill[at]], c, label[at]] += q


@kernel
def weigh_shares(beliefs: SkillBeliefs, evidence: Array) -> None:
    """How well counts borrowed by each lam and rho foretell own ones, as a log-probability.

    For all shares in one walk over the counts, whose sums do not depend on them.
    """
    evidence[:] = 0.0
    rhos = len(RHOS) if len(beliefs.classes) > 1 else 1
    for row in range(len(beliefs.worker)):
        for c in range(beliefs.posterior.shape[1]):
            sums = summed(beliefs.counts, beliefs.totals, row, beliefs.worker[row], c)
            if sums.right + sums.wrong > 0.0:
                for i in range(len(LAMBDAS)):
                    for j in range(rhos):
                        b = lent(sums, LAMBDAS[i], RHOS[j])
                        evidence[i, j] += log_beta(
                            RIGHT + b.right_lent + b.right, WRONG + b.wrong_lent + b.wrong
                        ) - log_beta(RIGHT + b.right_lent, WRONG + b.wrong_lent)


@kernel
def choose_shares(beliefs: SkillBeliefs) -> None:
    """The lam and rho with the most evidence; with one context there is no rho to choose."""
    evidence = np.zeros((len(LAMBDAS), len(RHOS)))
    weigh_shares(beliefs, evidence)
    rhos = len(RHOS) if len(beliefs.classes) > 1 else 1
    best = -math.inf
    for i in range(len(LAMBDAS)):
        for j in range(rhos):
            if evidence[i, j] > best:
                best = evidence[i, j]
                beliefs.shares[LAM] = LAMBDAS[i]
                beliefs.shares[RHO] = RHOS[j]


@kernel
def told_by_truth(answers: SkillAnswers, beliefs: SkillBeliefs, sides: Array) -> None:
    """Log-odds, by context, that it is the right way round, by tasks whose truth is known.

    Each counts for what its answers would have said of it, by what the workers showed on other
    tasks, and for no more than the odds of a confident answer.
    """
    starts, skill, label = answers.starts, answers.skill, answers.label
    counts, shares = beliefs.counts, beliefs.shares
    sides[:] = 0.0
    for task in range(len(starts) - 1):
        true = answers.truth[task]
        if true < 0 or starts[task] == starts[task + 1]:
            continue
        said = 0.0
        for at in range(starts[task], starts[task + 1]):
            row = skill[at]
            worker = beliefs.worker[row]
            counts[row, true, label[at]] -= 1.0
            beliefs.totals[worker, true, label[at]] -= 1.0
            for_it = chance(
                counts, beliefs.totals, row, worker, shares[LAM], shares[RHO], true, label[at]
            )
            against = chance(
                counts, beliefs.totals, row, worker, shares[LAM], shares[RHO], 1 - true, label[at]
            )
            counts[row, true, label[at]] += 1.0
            beliefs.totals[worker, true, label[at]] += 1.0
            said += math.log(for_it / against)
        sides[answers.context[task]] += min(SURE_OF_SIDE, max(-SURE_OF_SIDE, said))


@kernel
def turn(answers: SkillAnswers, beliefs: SkillBeliefs, sides: Array) -> None:
    """With two classes, turn contexts round that are the wrong way: right and wrong swapped.

    A context in which workers seem wrong more often than right is turned, unless it borrows from
    others (then they tell); known truths overrule that, and what is turned against the others
    borrows nothing this time, or they would turn it back.
    """
    if beliefs.posterior.shape[1] != 2:
        sides[:] = 0.0
        return
    told_by_truth(answers, beliefs, sides)
    belief = np.zeros(len(sides))
    for row in range(len(beliefs.worker)):
        counts = beliefs.counts
        right = counts[row, 0, 0] + counts[row, 1, 1]
        wrong = counts[row, 0, 1] + counts[row, 1, 0]
        belief[beliefs.place[row]] += math.log((1.0 + right) / (1.0 + wrong))
    turned = against = False
    for context in range(len(sides)):
        if abs(sides[context]) >= SURE_OF_SIDE:
            wrong_side = sides[context] < 0.0
            if wrong_side:
                against = True
        else:
            wrong_side = beliefs.shares[RHO] == 0.0 and belief[context] < 0.0
        belief[context] = 1.0 if wrong_side else 0.0
        turned = turned or wrong_side
    if not turned:
        return
    if against:
        beliefs.shares[RHO] = 0.0
    posterior = beliefs.posterior
    for task in range(len(answers.starts) - 1):
        if belief[answers.context[task]] == 1.0 and answers.truth[task] < 0:
            held = posterior[task, 0]
            posterior[task, 0] = posterior[task, 1]
            posterior[task, 1] = held
    count_softly(answers, beliefs)


@kernel
def refit(answers: SkillAnswers, beliefs: SkillBeliefs, rounds: int, sides: Array) -> None:
    """Choose what is borrowed, turn what is the wrong way round, and run rounds of EM."""
    logs = np.zeros(beliefs.counts.shape)
    choose_shares(beliefs)
    turn(answers, beliefs, sides)
    for _ in range(rounds):
        expect(answers, beliefs, logs)
        count_softly(answers, beliefs)


@kernel
def side_margins(beliefs: SkillBeliefs, sides: Array, margins: Array) -> None:
    """Log-odds, by context, that it is the right way round rather than mirrored.

    By what the workers show against what they would show if each leading answer were wrong (with
    several classes: if it were another one), and by known truths (``sides``).
    """
    count = beliefs.posterior.shape[1]
    rho = beliefs.shares[RHO]
    margins[:] = 0.0
    for row in range(len(beliefs.worker)):
        worker = beliefs.worker[row]
        right = wrong = 0.0
        right_lent = RIGHT
        wrong_lent = WRONG
        for true in range(count):
            for answer in range(count):
                own = beliefs.counts[row, true, answer]
                lent = rho * (beliefs.totals[worker, true, answer] - own)
                if answer == true:
                    right += own
                    right_lent += lent
                else:
                    wrong += own
                    wrong_lent += lent
        mirrored = wrong / (count - 1.0)
        margins[beliefs.place[row]] += log_beta(right_lent + right, wrong_lent + wrong) - log_beta(
            right_lent + mirrored, wrong_lent + right + wrong - mirrored
        )
    for context in range(len(margins)):
        margins[context] += sides[context]


@kernel
def agreements(beliefs: SkillBeliefs, found: Array) -> None:
    """Correlation, by context, of what its workers show there and in the other contexts.

    Weighted by answers; 1 where fewer than five workers have three answers in both. Where it is
    negative, those who are right elsewhere seem wrong there: perhaps the context is the wrong way
    round, perhaps they are indeed, and answers alone can't tell.
    """
    count = beliefs.posterior.shape[1]
    sums = np.zeros((len(found), 6))
    people = np.zeros(len(found), np.int64)
    for row in range(len(beliefs.worker)):
        right = answers = right_elsewhere = elsewhere = 0.0
        for true in range(count):
            for answer in range(count):
                own = beliefs.counts[row, true, answer]
                other = beliefs.totals[beliefs.worker[row], true, answer] - own
                answers += own
                elsewhere += other
                if answer == true:
                    right += own
                    right_elsewhere += other
        if answers < 3.0 or elsewhere < 3.0:
            continue
        here, there = (right + 1.0) / (answers + 2.0), (right_elsewhere + 1.0) / (elsewhere + 2.0)
        weight = answers * elsewhere / (answers + elsewhere)
        context = beliefs.place[row]
        people[context] += 1
        sums[context, 0] += weight
        sums[context, 1] += weight * here
        sums[context, 2] += weight * there
        sums[context, 3] += weight * here * here
        sums[context, 4] += weight * there * there
        sums[context, 5] += weight * here * there
    for context in range(len(found)):
        found[context] = 1.0
        w, x, y, xx, yy, xy = sums[context]
        if people[context] >= 5:
            spread = (w * xx - x * x) * (w * yy - y * y)
            if spread > 1e-12:
                found[context] = (w * xy - x * y) / math.sqrt(spread)
