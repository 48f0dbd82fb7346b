"""The option that most answers gave."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from askwise.aggregation.answers import Answers
from askwise.aggregation.base import Partitioned, aggregation
from askwise.aggregation.fitted import Fitted, first_largest
from askwise.aggregation.parts import Split
from askwise.aggregation.steps import voted_in
from askwise.core.arrays import Array
from askwise.core.checks import one_of
from askwise.core.draws import Draw, uniform
from askwise.core.labels import NO_LABEL, Label, told
from askwise.core.problem import Problem
from askwise.core.scoring import TIE
from askwise.kernels.calibration import LEAST_TRUTHS
from askwise.kernels.votes import leading_option
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger


@aggregation.register("majority")
@dataclass(frozen=True)
class Majority(Partitioned):
    """The option with the most votes; its confidence is its share of them.

    A task whose truth is known has that. A share says how agreed an option is, not how probable;
    where truths are known, they turn shares into probabilities. The votes of a family of workers
    count as their mean and a little more.

    Parameters
    ----------
    ties : "draw" or "first"
        How ties are broken in a campaign. ``draw``: by a draw declared for the task, which favours
        no option and always gives the same answer. ``first``: the first of the tied options wins,
        as in paper 000 (Eq. 1: the second only if it has more votes). In a table of answers, which
        has no seed, the first label always wins, as in crowd-kit.
    temper : float, optional
        0 reports shares even where truths are known; otherwise these calibrate the shares, see
        :class:`LabelAggregator`.

    Assumes that every worker is as good as any other, and better than chance.

    Not where workers differ much and have answered enough tasks to tell: any other method
    here learns whom to trust.

    References
    ----------
    Common practice.

    Examples
    --------
    >>> from askwise.aggregation import aggregation
    >>> table = {
    ...     "task": ["t1"] * 3 + ["t2"] * 2,
    ...     "worker": ["ann", "bob", "cleo", "ann", "bob"],
    ...     "label": ["no", "yes", "yes", "yes", "no"],
    ... }
    >>> found = aggregation.make("majority").fit(table)
    >>> found.labels_.to_dict(), found.confidence_.round(2).tolist()
    ({'t1': 'yes', 't2': 'no'}, [0.67, 0.5])
    """

    ties: str = "draw"
    paper: ClassVar[str] = "practice"
    finds_shares: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.ties, "ties", ("draw", "first"))

    def solve_in(self, answers: Answers, split: Split) -> Fitted:
        """Count votes."""
        return voted_in(answers, split)

    def is_by_task(self, ledger: Ledger) -> bool:
        truths = ledger.book.tasks[: ledger.total(c.TASKS), c.TRUTH]
        few = self.temper == 0 or int((truths >= 0).sum()) < LEAST_TRUTHS
        return few and not ledger.families

    def labels(
        self,
        problem: Problem,
        ledger: Ledger,
        tasks: Sequence[int],
        draw: Draw,
        beliefs: Any = None,
    ) -> list[Label]:
        """Count votes; where there are families or truths, these say what votes are worth."""
        if self.is_by_task(ledger):
            return [self._count(problem, ledger, task, draw) for task in tasks]
        return super().labels(problem, ledger, tasks, draw, beliefs)

    def _count(self, problem: Problem, ledger: Ledger, task: int, draw: Draw) -> Label:
        truth = int(ledger.book.tasks[task, c.TRUTH])
        if truth >= 0:
            return told(truth)
        answered = int(ledger.book.tasks[task, c.TASK_ANSWERED])
        if answered == 0:
            return NO_LABEL
        votes = ledger.book.votes
        if self.ties == "first":
            option = int(np.argmax(votes[task, : len(problem.options)]))
        else:
            option = leading_option(votes, task, 0, len(problem.options), draw, task)
        return Label(float(option), float(votes[task, option] / answered), "agreement")

    def named(self, fitted: Fitted, tasks: Array, draw: Draw) -> Array:
        """The most probable class; a tie is broken as one of votes is."""
        named = first_largest(fitted.probabilities)
        if self.ties == "first":
            return named
        level = fitted.probabilities >= fitted.probabilities.max(axis=1, keepdims=True) - TIE
        for at in np.flatnonzero(level.sum(axis=1) > 1):
            leaders = np.flatnonzero(level[at])
            drawn = int(uniform(draw, int(tasks[at])) * len(leaders))
            named[at] = leaders[min(drawn, len(leaders) - 1)]
        return named
