"""Every worker is right with a probability of his own, learned by EM."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askwise.aggregation.answers import Answers
from askwise.aggregation.base import Iterative, aggregation
from askwise.aggregation.dawid_skene import log_shares
from askwise.aggregation.fitted import Fitted
from askwise.aggregation.steps import (
    TINY,
    class_sums,
    keep_truth,
    normalise_logs,
    right_answers,
    shares,
    sized,
    work_of,
)
from askwise.kernels import Array, kernel


@kernel
def expect(answers: Answers, log_prior: Array, log_odds: Array, probabilities: Array) -> float:
    """E-step: a vote with the log-odds of being right against each single error.

    Returns the entropy of all posteriors.
    """
    classes, starts, truths = len(log_prior), answers.starts, answers.truths
    entropy = 0.0
    for task in range(len(starts) - 1):
        if truths[task] >= 0:
            keep_truth(probabilities, task, truths[task], classes)
            continue
        for label in range(classes):
            probabilities[task, label] = log_prior[label]
        for at in range(starts[task], starts[task + 1]):
            probabilities[task, answers.labels[at]] += log_odds[answers.workers[at]]
        entropy += normalise_logs(probabilities, task, classes)
    return entropy


def vote_by_odds(
    answers: Answers, log_prior: Array, log_odds: Array, probabilities: Array
) -> float:
    """Write the posteriors if each answer multiplies its label's odds by the worker's.

    Returns their entropy.
    """
    return sized(expect, work_of(answers))(answers, log_prior, log_odds, probabilities)


@aggregation.register("one-coin")
@dataclass(frozen=True)
class OneCoin(Iterative):
    """Learn how often each worker is right, the same for all classes, by EM.

    ``dawid-skene`` with one number for each worker: he gives the right label with probability
    s[w], and each of the K - 1 others with probability (1 - s[w]) / (K - 1). Beginning with
    the shares of the votes::

        M-step:  s[w] = mean of q[t, k] over his answers k
                 p[c] = mean of q[t, c] over the tasks
        E-step:  q[t, c] is proportional to p[c] times the product over the answers

    Probabilities are kept between 1e-10 and 1 - 1e-10; it stops as ``dawid-skene`` does. The
    same as crowd-kit's ``OneCoinDawidSkene``, which takes no truths.

    Parameters
    ----------
    max_iterations : int
        The most iterations.
    tolerance : float
        It stops when the bound grows by less, for each answer.

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

    paper: ClassVar[str] = "literature"

    def solve(self, answers: Answers) -> Fitted:
        """Iterate."""
        per_task = answers.per_task.astype(np.float64)
        even = np.ones(answers.tasks)
        counts = answers.per_worker
        probabilities = shares(answers)

        def maximise() -> tuple[Array, ...]:
            prior = log_shares(class_sums(probabilities, even) / answers.tasks)
            right = right_answers(answers, probabilities)
            return prior, right, *_chances(right, counts, answers.classes)

        log_prior, right, log_right, log_wrong = maximise()
        bound, converged, iteration = -np.inf, False, 0
        while iteration < self.max_iterations and not converged:
            iteration += 1
            entropy = vote_by_odds(answers, log_prior, log_right - log_wrong, probabilities)
            log_prior, right, log_right, log_wrong = maximise()
            likelihood = float(right @ log_right + (counts - right) @ log_wrong)
            prior = float(class_sums(probabilities, per_task) @ log_prior)
            before = bound
            bound = (likelihood + prior + entropy) / len(answers.labels)
            converged = bool(bound - before < self.tolerance)
        skills = {"skill": right / counts}
        return Fitted(probabilities, right, counts, iteration, converged, skills)


def _chances(right: Array, counts: Array, classes: int) -> tuple[Array, Array]:
    """Logarithms of the chances of the right label, and of each single wrong one."""
    skill = right / counts
    wrong = (1.0 - skill) / max(1, classes - 1)
    return np.log(np.clip(skill, TINY, 1 - TINY)), np.log(np.clip(wrong, TINY, 1 - TINY))
