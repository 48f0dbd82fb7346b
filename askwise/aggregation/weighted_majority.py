"""Votes weighted by the log-odds of their givers being right."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askwise.aggregation.answers import Answers
from askwise.aggregation.base import LabelAggregator, aggregation
from askwise.aggregation.fitted import Fitted, first_largest
from askwise.aggregation.one_coin import vote_by_odds
from askwise.aggregation.steps import agreements, fitted_by_vote, shares
from askwise.core.arrays import Array
from askwise.core.checks import between, one_of, real, whole


@aggregation.register("weighted-majority")
@dataclass(frozen=True)
class WeightedMajority(LabelAggregator):
    """Weight each worker's vote by the log-odds of their accuracy, found by repeated voting.

    The accuracy of a worker is how often they agree with the last vote, with ``prior`` answers
    added for each of the K classes, one of which is right::

        a[w] = (agreements + prior) / (answers + prior K)
        weight[w] = log(a[w] (K - 1) / (1 - a[w]))

    A worker at chance counts for nothing, and one below chance counts against their own labels. The
    vote with these weights is repeated until no label changes. For workers whose accuracies are
    known, who are independent and err evenly, no vote errs less. Probabilities are the posterior of
    such workers, with all classes equally probable beforehand unless ``first`` is given.

    Parameters
    ----------
    learn : "votes" or "truths"
        What accuracies are learned from: agreement with the last vote (known truths among
        them), or the known truths alone, in one vote, as where the truth of a task comes after
        its answers (paper 000). A worker without an answer to such a task is assumed to be at
        chance, and counts for nothing.
    max_iterations : int
        Maximum number of votes after the first, plain one.
    prior : float
        Answers added for each class; above 0, so that a worker who always agreed does not get an
        infinite weight.
    first : float, optional
        Share of the tasks whose truth is the first class; the others share the rest evenly.
    temper : float, optional
        How dependent answers are on each other; see :class:`LabelAggregator`. 0 treats them as
        independent.

    Assumes that most workers are right on most tasks, that they are independent and err evenly.

    Not where classes are of very different frequency or mistaken for one another in
    particular: ``dawid-skene`` learns both.

    References
    ----------
    S. Nitzan, J. Paroush, *Optimal decision rules in uncertain dichotomous choice situations*,
    International Economic Review 23 (1982), for the weights; H. Li, B. Yu, *Error rate bounds
    and iterative weighted majority voting for crowdsourcing*, arXiv 1411.4086 (2014), for the
    repeated vote.

    Examples
    --------
    >>> from askwise.aggregation import aggregation
    >>> table = {
    ...     "task": ["t1"] * 3 + ["t2"] * 3 + ["t3"] * 3,
    ...     "worker": ["ann", "bob", "cleo"] * 3,
    ...     "label": ["a", "a", "b", "b", "b", "a", "a", "a", "a"],
    ... }
    >>> found = aggregation.make("weighted-majority").fit(table)
    >>> found.workers_["weight"].round(2).tolist()
    [1.39, 1.39, -0.41]
    """

    learn: str = "votes"
    max_iterations: int = 100
    prior: float = 1.0
    first: float | None = None
    paper: ClassVar[str] = "literature"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.learn, "learn", ("votes", "truths"))
        whole(self.max_iterations, "max_iterations", least=1)
        real(self.prior, "prior", "a number from 1e-6 to 1e6", least=1e-6, most=1e6)
        if self.first is not None:
            between(self.first, "first", 0, 1)

    def solve(self, answers: Answers) -> Fitted:
        """Vote until no label changes."""
        counts = answers.per_worker
        beforehand = self._beforehand(answers.classes)
        probabilities = shares(answers)
        if self.learn == "truths":
            known = np.repeat(answers.truths >= 0, answers.per_task)
            told = np.bincount(answers.workers[known], minlength=answers.crowd)
            weight = self._weights(agreements(answers, answers.truths), told, answers.classes)
            vote_by_odds(answers, beforehand, weight, probabilities)
            return fitted_by_vote(answers, probabilities, of_workers={"weight": weight})
        labels = first_largest(probabilities)
        changed, iteration = True, 0
        while iteration < self.max_iterations and changed:
            iteration += 1
            weight = self._weights(agreements(answers, labels), counts, answers.classes)
            vote_by_odds(answers, beforehand, weight, probabilities)
            before, labels = labels, first_largest(probabilities)
            changed = bool((labels != before).any())
        found = {"iterations": iteration, "converged": not changed}
        return fitted_by_vote(answers, probabilities, **found, of_workers={"weight": weight})

    def _beforehand(self, classes: int) -> Array:
        """Logarithms of how probable classes are before any answer."""
        if self.first is None or classes == 1:
            return np.full(classes, -math.log(classes))
        rest = math.log((1.0 - self.first) / (classes - 1))
        return np.array([math.log(self.first), *[rest] * (classes - 1)])

    def _weights(self, agreed: Array, counts: Array, classes: int) -> Array:
        if classes == 1:
            return np.zeros(len(counts))
        # a (K - 1) / (1 - a), without the difference that would lose digits near a = 1.
        right = agreed + self.prior
        wrong = counts - agreed + self.prior * (classes - 1)
        return np.log(right * (classes - 1) / wrong)
