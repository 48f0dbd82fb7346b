"""Workers have abilities and tasks have difficulties, learned by EM."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy

from askwise.aggregation.answers import Answers
from askwise.aggregation.base import Iterative, aggregation
from askwise.aggregation.fitted import Fitted
from askwise.aggregation.steps import (
    MANY,
    fitted_softly,
    keep_truth,
    normalise_logs,
    sized,
    work_of,
)
from askwise.core.checks import real, whole
from askwise.kernels import Array, kernel

_LARGEST = 300.0
"""Logarithms of easiness end here: beyond, their exponential would overflow."""


@kernel
def expect(answers: Answers, point: Array, probabilities: Array) -> None:
    """E-step: a vote with ability times easiness, plus log(K - 1) for each answer."""
    starts, workers, labels = answers.starts, answers.workers, answers.labels
    truths, crowd, classes = answers.truths, answers.crowd, probabilities.shape[1]
    log_others = math.log(max(1, classes - 1))
    for task in range(len(starts) - 1):
        if truths[task] >= 0:
            keep_truth(probabilities, task, truths[task], classes)
            continue
        easiness = math.exp(min(point[crowd + task], _LARGEST))
        for label in range(classes):
            probabilities[task, label] = 0.0
        for at in range(starts[task], starts[task + 1]):
            probabilities[task, labels[at]] += point[workers[at]] * easiness + log_others
        normalise_logs(probabilities, task, classes)


@kernel
def expectation(answers: Answers, probabilities: Array, point: Array, slope: Array) -> float:
    """The expected log-likelihood with its priors; writes its gradient."""
    starts, crowd = answers.starts, answers.crowd
    log_others = math.log(max(1, probabilities.shape[1] - 1))
    total = -0.5 * math.log(2.0 * math.pi) * len(point)
    for at in range(len(point)):
        away = point[at] - 1.0
        total -= 0.5 * away * away
        slope[at] = -away
    for task in range(len(starts) - 1):
        easiness = math.exp(min(point[crowd + task], _LARGEST))
        for at in range(starts[task], starts[task + 1]):
            worker = answers.workers[at]
            right = probabilities[task, answers.labels[at]]
            product = point[worker] * easiness
            # One exponential for sigmoid and the logarithms of it and of its complement.
            small = math.exp(-abs(product))
            sure = 1.0 / (1.0 + small)
            if product >= 0.0:
                sigmoid, log_right, log_wrong = sure, 0.0, -product
            else:
                sigmoid, log_right, log_wrong = small * sure, product, 0.0
            total += right * log_right + (1.0 - right) * (log_wrong - log_others)
            total -= math.log1p(small)
            push = (right - sigmoid) * easiness
            slope[worker] += push
            slope[crowd + task] += push * point[worker]
    return total


@aggregation.register("glad")
@dataclass(frozen=True)
class Glad(Iterative):
    """Learn the ability of each worker and the difficulty of each task, by EM.

    Worker w is right on task t with probability 1 / (1 + exp(-a[w] exp(b[t]))): a[w] is their
    ability (below 0 for one who tends to be wrong), exp(b[t]) the task's easiness. They err
    evenly over the K - 1 other classes; all classes are equally probable beforehand. a and b
    have normal priors of mean 1 and variance 1. The E-step gives the posteriors of the classes,
    the M-step climbs the expected log-likelihood in a and b by conjugate gradients, from where
    it was. It stops when that, for each answer and class, grows by less than ``tolerance``.

    The same as crowd-kit's ``GLAD`` with its default priors, up to the rounding that the
    conjugate gradients carry on. ``workers_`` has the abilities, ``tasks_`` the easiness.

    Parameters
    ----------
    max_iterations : int
        Maximum number of EM iterations.
    tolerance : float
        It stops when the expected log-likelihood grows by less than this, per answer and class.
    climb_iterations : int
        Maximum number of conjugate-gradient iterations in one M-step.
    climb_tolerance : float
        An M-step ends when no slope is larger than this.
    temper : float, optional
        How dependent answers are on each other; see :class:`LabelAggregator`. 0 treats them as
        independent.

    Assumes that workers err evenly, and that an able worker is better at every task.

    Not for few answers per task: its difficulty is then a guess. Not for speed: it is the
    slowest method here.

    References
    ----------
    J. Whitehill, P. Ruvolo, T. Wu, J. Bergsma, J. Movellan, *Whose vote should count more:
    optimal integration of labels from labelers of unknown expertise*, NIPS 2009.

    Examples
    --------
    >>> from askwise.aggregation import aggregation
    >>> table = {
    ...     "task": ["t1"] * 3 + ["t2"] * 3 + ["t3"] * 3,
    ...     "worker": ["ann", "bob", "cleo"] * 3,
    ...     "label": ["a", "a", "b", "b", "b", "a", "a", "a", "a"],
    ... }
    >>> found = aggregation.make("glad").fit(table)
    >>> (found.workers_["ability"] > 1).tolist()
    [True, True, False]
    """

    climb_iterations: int = 25
    climb_tolerance: float = 1e-2
    paper: ClassVar[str] = "literature"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.climb_iterations, "climb_iterations", least=1)
        real(self.climb_tolerance, "climb_tolerance", "a number from 1e-12", least=1e-12)

    def solve(self, answers: Answers) -> Fitted:
        """Iterate."""
        crowd, work = answers.crowd, work_of(answers)
        e_step, climbed = sized(expect, work), sized(expectation, MANY * work)
        probabilities = np.zeros((answers.tasks, answers.classes))

        def downhill(point: Array) -> tuple[float, Array]:
            slope = np.empty_like(point)
            return -climbed(answers, probabilities, point, slope), -slope

        point = np.ones(crowd + answers.tasks)
        e_step(answers, point, probabilities)
        height = -downhill(point)[0]
        converged, iteration = False, 0
        while iteration < self.max_iterations and not converged:
            iteration += 1
            e_step(answers, point, probabilities)
            most = {"maxiter": self.climb_iterations}
            climb = scipy.optimize.minimize(
                downhill, point, jac=True, method="CG", tol=self.climb_tolerance, options=most
            )
            point = climb.x
            before, height = height, -float(climb.fun) / work
            converged = bool(height - before < self.tolerance)
        return fitted_softly(
            *(answers, probabilities),
            iterations=iteration,
            converged=converged,
            of_workers={"ability": point[:crowd]},
            of_tasks={"easiness": np.exp(np.minimum(point[crowd:], _LARGEST))},
        )
