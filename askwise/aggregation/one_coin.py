"""Learn one accuracy for each worker, by EM."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from askwise.aggregation.answers import Answers
from askwise.aggregation.base import Iterative, Partitioned, aggregation
from askwise.aggregation.dawid_skene import RIGHT, WRONG, check_prior, log_shares
from askwise.aggregation.fitted import Fitted
from askwise.aggregation.parts import NO_CODES, Parts, Split, Tally, TaskPart
from askwise.aggregation.steps import (
    TINY,
    fitted_softly,
    keep_truth,
    normalise_logs,
    sized,
    work_of,
    write_shares,
)
from askwise.core.registry import LATER
from askwise.kernels import Array, kernel


@kernel
def expect(answers: Answers, log_prior: Array, log_odds: Array, probabilities: Array) -> float:
    """E-step: a vote with the log-odds of being right against each single error.

    Returns the entropy of all posteriors.
    """
    classes, starts, truths = len(log_prior), answers.starts, answers.truths
    weights, entropy = answers.weights, 0.0
    for task in range(len(starts) - 1):
        if truths[task] >= 0:
            keep_truth(probabilities, task, truths[task], classes)
            continue
        for label in range(classes):
            probabilities[task, label] = log_prior[label]
        for at in range(starts[task], starts[task + 1]):
            odds = log_odds[answers.workers[at]] * weights[at]
            probabilities[task, answers.labels[at]] += odds
        entropy += normalise_logs(probabilities, task, classes)
    return entropy


def vote_by_odds(
    answers: Answers, log_prior: Array, log_odds: Array, probabilities: Array
) -> float:
    """Write the posteriors if each answer multiplies its label's odds by the worker's.

    Returns their entropy.
    """
    return sized(expect, work_of(answers))(answers, log_prior, log_odds, probabilities)


@kernel
def count(answers: Answers, evidence: Array, table: Array, sums: Array, right: Array) -> None:
    """Add up classes over tasks, and over answers; and how many answers of each worker are right.

    ``evidence`` is how many answers those to each task count for.
    """
    starts, labels, weights = answers.starts, answers.labels, answers.weights
    for task in range(len(starts) - 1):
        for label in range(table.shape[1]):
            sums[0, label] += table[task, label]
            sums[1, label] += evidence[task] * table[task, label]
        for at in range(starts[task], starts[task + 1]):
            right[answers.workers[at]] += weights[at] * table[task, labels[at]]


@aggregation.register("one-coin")
@dataclass(frozen=True)
class OneCoin(Iterative, Partitioned):
    """Learn how often each worker is right, the same for all classes, by EM.

    ``dawid-skene`` with one number for each worker, who gives the right label with probability
    s[w], and each of the K - 1 others with probability (1 - s[w]) / (K - 1). Beginning with
    the shares of the votes::

        M-step:  s[w] = mean of q[t, k] over w's answers k
                 p[c] = mean of q[t, c] over the tasks
        E-step:  q[t, c] is proportional to p[c] times the product over the answers

    Probabilities are kept between 1e-10 and 1 - 1e-10; it stops as ``dawid-skene`` does. The
    same as crowd-kit's ``OneCoinDawidSkene``, which takes no truths.

    With a ``prior`` of 1 each worker begins with two right answers and one wrong one, the
    distribution Beta(2, 1), and all classes are equally probable beforehand::

        s[w] = (sum of q[t, k] over their answers k + 2 prior) / (answers + 3 prior)

    It then stops when no probability changes by more than ``tolerance``. Without a prior EM
    believes in workers who are always right, and in a class share that rewards itself: on a few
    recorded sets nearly all tasks end in one class. Give a prior unless you compare with
    crowd-kit.

    Parameters
    ----------
    max_iterations : int
        Maximum number of iterations.
    tolerance : float
        It stops when the bound grows by less than this per answer.
    prior : float
        Weight of the prior, in multiples of the three answers; 0 for none.
    temper : float, optional
        How dependent answers are on each other; see :class:`LabelAggregator`. 0 treats them as
        independent.

    Assumes that a worker is right equally often whatever the class, and errs evenly.

    Not for workers who mistake one class for another in particular: ``dawid-skene`` learns
    that, given enough answers.

    References
    ----------
    Y. Zhang, X. Chen, D. Zhou, M. I. Jordan, *Spectral methods meet EM: a provably optimal
    algorithm for crowdsourcing*, JMLR 17 (2016), section 2.

    Examples
    --------
    >>> from askwise.aggregation import aggregation
    >>> table = {
    ...     "task": ["t1"] * 3 + ["t2"] * 3 + ["t3"] * 3,
    ...     "worker": ["ann", "bob", "cleo"] * 3,
    ...     "label": ["a", "a", "b", "b", "b", "a", "a", "a", "a"],
    ... }
    >>> found = aggregation.make("one-coin").fit(table)
    >>> found.workers_[["worker", "answers", "quality"]].round(1).values.tolist()
    [['ann', 3, 0.9], ['bob', 3, 0.9], ['cleo', 3, 0.4]]
    """

    prior: float = field(default=0.0, metadata=LATER)
    paper: ClassVar[str] = "literature"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_prior(self.prior)

    def solve_in(self, answers: Answers, split: Split) -> Fitted:
        """Iterate."""
        parts = split(answers, NO_CODES)
        if self.prior > 0.0:
            return self._with_prior(answers, parts)
        counts = answers.evidence_of_workers
        (by_task, by_answer, right), _ = parts.run(begin)
        given = float(answers.evidence.sum())
        bound, converged, iteration = -np.inf, False, 0
        log_prior = log_shares(by_task / answers.tasks)
        log_right, log_wrong = _chances(right / counts, answers.classes)
        while iteration < self.max_iterations and not converged:
            iteration += 1
            (by_task, by_answer, right, entropy), _ = parts.run(
                vote_again, log_prior, log_right - log_wrong, False
            )
            log_prior = log_shares(by_task / answers.tasks)
            log_right, log_wrong = _chances(right / counts, answers.classes)
            likelihood = float(right @ log_right + (counts - right) @ log_wrong)
            prior = float(by_answer @ log_prior)
            before = bound
            bound = (likelihood + prior + entropy) / given
            converged = bool(bound - before < self.tolerance)
        skills = {"skill": right / counts}
        found = {"iterations": iteration, "converged": converged, "of_workers": skills}
        return fitted_softly(answers, parts.table(), **found)

    def _with_prior(self, answers: Answers, parts: Parts) -> Fitted:
        """Iterate with right and wrong answers added, and classes equally probable."""
        even = np.full(answers.classes, -math.log(answers.classes))
        counts = answers.evidence_of_workers + (RIGHT + WRONG) * self.prior
        (_, _, right), _ = parts.run(begin)
        skill, converged, iteration = counts, False, 0
        while iteration < self.max_iterations and not converged:
            iteration += 1
            skill = (right + RIGHT * self.prior) / counts
            log_right, log_wrong = _chances(skill, answers.classes)
            (_, _, right, _), moved = parts.run(vote_again, even, log_right - log_wrong, True)
            converged = moved < self.tolerance
        found = {"iterations": iteration, "converged": converged, "of_workers": {"skill": skill}}
        return fitted_softly(answers, parts.table(), **found)


def begin(part: TaskPart, table: Array) -> Tally:
    """Write the shares of the votes; returns what the M-step needs of them, see ``_sums``."""
    write_shares(part.answers, table)
    return Tally(_sums(part, table))


def vote_again(
    part: TaskPart, table: Array, log_prior: Array, log_odds: Array, compare: bool
) -> Tally:
    """E-step: write the posteriors.

    Returns what the M-step needs of them, their entropy and, if asked to compare, by how much a
    probability has changed at most.
    """
    last = table.copy() if compare else table
    entropy = vote_by_odds(part.answers, log_prior, log_odds, table)
    moved = float(np.abs(table - last).max(initial=0.0)) if compare else 0.0
    return Tally((*_sums(part, table), entropy), moved)


def _sums(part: TaskPart, table: Array) -> tuple[Array, Array, Array]:
    """Classes summed over tasks and over answers; how many answers of each worker are right."""
    answers, sums = part.answers, np.zeros((2, table.shape[1]))
    right = np.zeros(answers.crowd)
    sized(count, work_of(answers))(answers, part.evidence, table, sums, right)
    return sums[0], sums[1], right


def _chances(skill: Array, classes: int) -> tuple[Array, Array]:
    """Logarithms of the chances of the right label, and of each single wrong one."""
    wrong = (1.0 - skill) / max(1, classes - 1)
    return np.log(np.clip(skill, TINY, 1 - TINY)), np.log(np.clip(wrong, TINY, 1 - TINY))
