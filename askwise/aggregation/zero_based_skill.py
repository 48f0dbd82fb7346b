"""Votes weighted by skills that follow the agreement with the vote, step by step."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askwise.aggregation.answers import Answers
from askwise.aggregation.base import LabelAggregator, aggregation
from askwise.aggregation.fitted import Fitted, first_largest
from askwise.aggregation.steps import agreements, fitted_by_vote, shares
from askwise.core.checks import real, whole


@aggregation.register("zero-based-skill")
@dataclass(frozen=True)
class ZeroBasedSkill(LabelAggregator):
    """Weight votes by skills, and move the skills towards the agreement with the vote.

    All begin with a skill just above chance, 1/K. Then, again and again, a vote weighted by
    skills, and::

        skill = skill + rate * (share of their answers that agree with the vote - skill)

    The rate is 1 at first and is multiplied by ``factor`` after every ``patience`` iterations.
    It ends early only if no skill moves any more, which further iterations would not change.
    The confidence is the label's share of the weight. The same as crowd-kit's
    ``ZeroBasedSkill``, but for a worker who gave the same label to the same task twice: there
    it counts once for their skill, here twice.

    Parameters
    ----------
    max_iterations : int
        Maximum number of iterations.
    rate : float
        How far a skill moves at first; 1 moves it all the way to the agreement.
    patience : int
        Number of iterations after which the rate is reduced.
    factor : float
        Factor by which the rate is reduced.
    temper : float, optional
        0 reports shares even where truths are known; otherwise these calibrate the shares, see
        :class:`LabelAggregator`.

    Assumes that most workers are right on most tasks, and nothing else.

    Not as a probability: a share of the weight says how agreed a label is, not how probable
    (``one-coin`` gives probabilities).

    References
    ----------
    As practised on crowdsourcing platforms; crowd-kit's documentation describes it.

    Examples
    --------
    >>> from askwise.aggregation import aggregation
    >>> table = {
    ...     "task": ["t1"] * 3 + ["t2"] * 3 + ["t3"] * 2,
    ...     "worker": ["ann", "bob", "cleo"] * 2 + ["bob", "cleo"],
    ...     "label": ["b", "b", "a", "b", "b", "a", "b", "a"],
    ... }
    >>> found = aggregation.make("zero-based-skill").fit(table)
    >>> found.labels_["t3"], found.workers_["skill"].round(2).tolist()
    ('b', [1.0, 1.0, 0.0])
    """

    max_iterations: int = 100
    rate: float = 1.0
    patience: int = 20
    factor: float = 0.5
    paper: ClassVar[str] = "practice"
    finds_shares: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.max_iterations, "max_iterations", least=1)
        real(self.rate, "rate", "a number from 1e-6 to 1", least=1e-6, most=1.0)
        whole(self.patience, "patience", least=1)
        real(self.factor, "factor", "a number from 1e-6 to 1", least=1e-6, most=1.0)

    def solve(self, answers: Answers) -> Fitted:
        """Move the skills."""
        counts = answers.per_worker
        skill = np.full(answers.crowd, 1.0 / answers.classes + 1e-5)
        rate, moved, iteration = self.rate, True, 0
        while iteration < self.max_iterations and moved:
            iteration += 1
            if iteration % self.patience == 0:
                rate *= self.factor
            agreed = agreements(answers, first_largest(shares(answers, skill))) / counts
            before, skill = skill, skill + rate * (agreed - skill)
            moved = bool((skill != before).any())
        found = {"iterations": iteration, "converged": not moved, "of_workers": {"skill": skill}}
        return fitted_by_vote(answers, shares(answers, skill), **found)
