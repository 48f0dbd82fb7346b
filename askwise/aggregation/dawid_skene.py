"""Learn a confusion matrix for each worker, by EM."""

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from askwise.aggregation.answers import Answers
from askwise.aggregation.base import Iterative, Partitioned, aggregation
from askwise.aggregation.fitted import Errors, Fitted
from askwise.aggregation.parts import Split, Tally, TaskPart
from askwise.aggregation.steps import TINY, fitted_softly, sized, work_of, write_shares
from askwise.core.checks import real
from askwise.core.registry import LATER
from askwise.kernels import Array, kernel, step
from askwise.kernels.grouping import numbered

RIGHT, WRONG = 2.0, 1.0
"""Answers that a worker is believed to have given beforehand, where there is a prior."""


class Pairs(NamedTuple):
    """Workers and labels that occur together: the only cells of the matrices that matter."""

    of_answer: Array
    workers: Array
    labels: Array


def pairs_of(answers: Answers) -> Pairs:
    """Number the pairs of a worker and a label that they gave."""

    def cells(here: slice) -> Array:
        return answers.workers[here].astype(np.int64) * answers.classes + answers.labels[here]

    of_answer, used = numbered(cells, len(answers.labels), answers.crowd * answers.classes)
    return Pairs(of_answer, used // answers.classes, used % answers.classes)


@step
def weigh_tasks(
    classes: int, answers: Answers, pairs: Array, log_prior: Array, log_chances: Array, logs: Array
) -> float:
    """``weigh`` for this many classes."""
    starts, truths, weights, taken = answers.starts, answers.truths, answers.weights, 0.0
    for task in range(len(starts) - 1):
        for label in range(classes):
            logs[task, label] = log_prior[label]
        for at in range(starts[task], starts[task + 1]):
            # Read here: a store to ``logs`` might change it, for all the compiler knows.
            pair, weight = pairs[at], weights[at]
            for label in range(classes):
                logs[task, label] += weight * log_chances[pair, label]
        truth = truths[task]
        if truth >= 0:
            most = logs[task, truth]
            for label in range(classes):
                logs[task, label] = -math.inf
            logs[task, truth] = 0.0
        else:
            most = logs[task, 0]
            for label in range(1, classes):
                most = max(most, logs[task, label])
            for label in range(classes):
                logs[task, label] -= most
        taken += most
    return taken


@kernel
def weigh(
    answers: Answers, pairs: Array, log_prior: Array, log_chances: Array, logs: Array
) -> float:
    """E-step, first half: logarithms of each task's classes, less their largest.

    Where the truth is known, all other classes are impossible. Returns the sum of what was
    taken off.
    """
    # Of the numbers that are written here the compiler makes code without inner loops, which takes
    # little more than half the time.
    if len(log_prior) == 2:
        return weigh_tasks(2, answers, pairs, log_prior, log_chances, logs)
    if len(log_prior) == 3:
        return weigh_tasks(3, answers, pairs, log_prior, log_chances, logs)
    if len(log_prior) == 4:
        return weigh_tasks(4, answers, pairs, log_prior, log_chances, logs)
    return weigh_tasks(len(log_prior), answers, pairs, log_prior, log_chances, logs)


@step
def tally_tasks(
    classes: int,
    answers: Answers,
    pairs: Array,
    probabilities: Array,
    counts: Array,
    sums: Array,
    masses: Array,
) -> None:
    """``tally`` for this many classes."""
    starts, weights = answers.starts, answers.weights
    for label in range(classes):
        sums[0, label] = 0.0
        sums[1, label] = 0.0
        for pair in range(len(counts)):
            counts[pair, label] = 0.0
    for task in range(len(starts) - 1):
        mass = 0.0
        for label in range(classes):
            mass += probabilities[task, label]
        masses[task] = mass
        scale = 1.0 / mass
        given = 0.0
        for at in range(starts[task], starts[task + 1]):
            given += weights[at]
        for label in range(classes):
            chance = probabilities[task, label] * scale
            probabilities[task, label] = chance
            sums[0, label] += chance
            sums[1, label] += given * chance
        for at in range(starts[task], starts[task + 1]):
            pair, weight = pairs[at], weights[at]
            for label in range(classes):
                counts[pair, label] += weight * probabilities[task, label]


@kernel
def tally(
    answers: Answers, pairs: Array, probabilities: Array, counts: Array, sums: Array, masses: Array
) -> None:
    """E-step, second half: scale each task's row to sum to 1; then count.

    ``counts`` says how often a worker gave a label where the truth is each class, ``sums``
    those of the classes over tasks and over answers; ``masses`` are the sums of the rows
    before.
    """
    if counts.shape[1] == 2:
        tally_tasks(2, answers, pairs, probabilities, counts, sums, masses)
    elif counts.shape[1] == 3:
        tally_tasks(3, answers, pairs, probabilities, counts, sums, masses)
    elif counts.shape[1] == 4:
        tally_tasks(4, answers, pairs, probabilities, counts, sums, masses)
    else:
        tally_tasks(counts.shape[1], answers, pairs, probabilities, counts, sums, masses)


@kernel
def maximise(
    pair_workers: Array, counts: Array, totals: Array, log_chances: Array
) -> tuple[float, float]:
    """M-step: turn counts into logarithms of chances.

    Returns the expectations of the log-likelihood, before and after.
    """
    classes = counts.shape[1]
    for worker in range(len(totals)):
        for label in range(classes):
            totals[worker, label] = 0.0
    before = 0.0
    for pair in range(len(counts)):
        worker = pair_workers[pair]
        for label in range(classes):
            before += counts[pair, label] * log_chances[pair, label]
            totals[worker, label] += max(counts[pair, label], TINY)
    after = 0.0
    for pair in range(len(counts)):
        worker = pair_workers[pair]
        for label in range(classes):
            chance = max(counts[pair, label], TINY) / totals[worker, label]
            log_chances[pair, label] = math.log(chance)
            after += counts[pair, label] * log_chances[pair, label]
    return before, after


def begin(part: TaskPart, table: Array, pairs: int) -> Tally:
    """Write the shares of the votes; returns counts and sums by them, see ``tally``."""
    write_shares(part.answers, table)
    counts, sums, _ = _tallied(part, table, pairs)
    return Tally((counts, sums))


def expect(part: TaskPart, table: Array, log_prior: Array, chances: Array, compare: bool) -> Tally:
    """E-step: write the posteriors.

    Returns counts and sums by them, the logarithm of the evidence and, if asked to compare, by
    how much a probability has changed at most.
    """
    answers = part.answers
    last = table.copy() if compare else table
    taken = sized(weigh, work_of(answers))(answers, part.codes, log_prior, chances, table)
    # On the whole table at once, which is several times faster than task by task.
    np.exp(table, out=table)
    counts, sums, masses = _tallied(part, table, len(chances))
    moved = float(np.abs(table - last).max(initial=0.0)) if compare else 0.0
    return Tally((counts, sums, taken + float(np.log(masses).sum())), moved)


def _tallied(part: TaskPart, table: Array, pairs: int) -> tuple[Array, Array, Array]:
    classes = table.shape[1]
    counts, sums, masses = np.zeros((pairs, classes)), np.zeros((2, classes)), np.zeros(len(table))
    sized(tally, work_of(part.answers))(part.answers, part.codes, table, counts, sums, masses)
    return counts, sums, masses


@aggregation.register("dawid-skene")
@dataclass(frozen=True)
class DawidSkene(Iterative, Partitioned):
    """Learn each worker's confusion matrix and each task's class together, by EM.

    The class of a task is c with probability p[c]; worker w then gives label k with
    probability e[w, k, c], independent of the others. Beginning with the shares of the votes::

        M-step:  e[w, k, c] = sum of q[t, c] over w's answers k / sum of q[t, c] over all of w's
                 p[c] = mean of q[t, c] over the tasks
        E-step:  q[t, c] is proportional to p[c] times the product of e[w, k, c]
                 over the answers k to task t

    Probabilities below 1e-10 count as 1e-10. It stops when the evidence lower bound, for each
    answer, grows by less than ``tolerance``. Labels, parameters and the moment of stopping are
    those of crowd-kit's ``DawidSkene``. That includes that the bound counts the prior once for each
    answer rather than for each task, which only matters for when it stops. Where two classes are
    equally probable, crowd-kit names the one that its table of counts has first, or leaves it to
    rounding; here it is always the first in order.

    With a ``prior`` a worker begins with answers like everybody's: 3 prior of them in each true
    class, divided among the labels as all workers' answers in that class are, to which two right
    ones and one wrong one are added::

        m[k, c] = (sum of the counts of k in c over all workers + 2 or 1 / (K - 1)) / (their sum)
        e[w, k, c] = (count of their k in c + 3 prior m[k, c]) / (count of theirs in c + 3 prior)

    It then stops when no probability changes by more than ``tolerance``. Without a prior a worker
    with few answers in a class seems never to err there, and tasks look certain. Give a prior
    unless you compare with crowd-kit.

    Parameters
    ----------
    max_iterations : int
        Maximum number of iterations.
    tolerance : float
        It stops when the bound grows by less than this per answer.
    prior : float
        Weight of the prior, in multiples of three answers; 0 for none.
    temper : float, optional
        How dependent answers are on each other; see :class:`LabelAggregator`. 0 treats them as
        independent.

    Assumes that a worker errs in the same way on all tasks of a class, independent of others.
    Needs a few answers of each worker in each class to learn their matrix.

    Not for many classes and few answers per worker: ``one-coin`` has one number to learn for
    each worker instead of a matrix.

    References
    ----------
    A. P. Dawid, A. M. Skene, *Maximum likelihood estimation of observer error-rates using the
    EM algorithm*, Applied Statistics 28 (1979).

    Examples
    --------
    >>> from askwise.aggregation import aggregation
    >>> table = {
    ...     "task": ["t1"] * 3 + ["t2"] * 3 + ["t3"] * 3,
    ...     "worker": ["ann", "bob", "cleo"] * 3,
    ...     "label": ["a", "a", "b", "b", "b", "a", "a", "a", "a"],
    ... }
    >>> found = aggregation.make("dawid-skene").fit(table)
    >>> found.labels_.to_dict()
    {'t1': 'a', 't2': 'b', 't3': 'a'}
    >>> round(float(found.errors_.loc[("cleo", "b"), "a"]), 2)
    0.5
    """

    prior: float = field(default=0.0, metadata=LATER)
    paper: ClassVar[str] = "literature"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_prior(self.prior)

    def solve_in(self, answers: Answers, split: Split) -> Fitted:
        """Iterate."""
        pairs = pairs_of(answers)
        parts = split(answers, pairs.of_answer)
        m_step = sized(maximise, work_of(answers))
        (counts, sums), _ = parts.run(begin, len(pairs.workers))
        chances = np.zeros_like(counts)
        totals = np.zeros((answers.crowd, answers.classes))
        if self.prior > 0.0:
            chances = self._pooled(pairs, counts, answers.crowd)
        else:
            m_step(pairs.workers, counts, totals, chances)
        log_prior = log_shares(sums[0] / answers.tasks)
        given = float(answers.evidence.sum())
        bound, converged, iteration = -np.inf, False, 0
        while iteration < self.max_iterations and not converged:
            iteration += 1
            (counts, sums, evidence), moved = parts.run(
                expect, log_prior, chances, self.prior > 0.0
            )
            if self.prior > 0.0:
                chances = self._pooled(pairs, counts, answers.crowd)
                log_prior = log_shares(sums[0] / answers.tasks)
                converged = moved < self.tolerance
                continue
            expected, likelihood = m_step(pairs.workers, counts, totals, chances)
            # The logarithm of the evidence, less the expectation of what it sums.
            entropy = evidence - float(sums[0] @ log_prior) - expected
            log_prior = log_shares(sums[0] / answers.tasks)
            before = bound
            # The prior once for each answer: see above.
            bound = (likelihood + float(sums[1] @ log_prior) + entropy) / given
            converged = bool(bound - before < self.tolerance)
        errors = Errors(pairs.workers, pairs.labels, np.exp(chances))
        return fitted_softly(
            answers, parts.table(), iterations=iteration, converged=converged, errors=errors
        )

    def _pooled(self, pairs: Pairs, counts: Array, crowd: int) -> Array:
        """M-step with a prior: logarithms of chances that are drawn to those of all workers."""
        classes = counts.shape[1]
        pooled = np.full((classes, classes), WRONG / max(1, classes - 1))
        np.fill_diagonal(pooled, RIGHT)
        np.add.at(pooled, pairs.labels, counts)
        pooled /= pooled.sum(axis=0)
        totals = np.zeros((crowd, classes))
        np.add.at(totals, pairs.workers, counts)
        added = (RIGHT + WRONG) * self.prior
        found = (counts + added * pooled[pairs.labels]) / (totals[pairs.workers] + added)
        return np.log(np.maximum(found, TINY))


def check_prior(prior: object) -> None:
    """Take what prior answers are multiplied by."""
    real(prior, "prior", "a number from 0 (none) to 1e6", least=0.0, most=1e6)


def log_shares(shares: Array) -> Array:
    """Logarithms of the shares of the classes."""
    return np.log(np.maximum(shares, TINY))
