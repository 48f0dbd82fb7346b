"""Worker agreement with aggregate: votes count as much as their givers agree with the vote."""

from dataclasses import dataclass
from typing import ClassVar

from askwise.aggregation.answers import Answers
from askwise.aggregation.base import LabelAggregator, aggregation
from askwise.aggregation.fitted import Fitted, first_largest
from askwise.aggregation.steps import agreements, fitted_by_vote, shares


@aggregation.register("wawa")
@dataclass(frozen=True)
class Wawa(LabelAggregator):
    """Weight each worker's vote by how often they agree with the majority.

    First a plain vote (of labels tied the first); the skill of a worker is the share of their
    answers that agree with it; then a second vote with these weights. The confidence is the
    label's share of the weight. Skill and quality are about the first and the second vote.

    The same as crowd-kit's ``Wawa`` but for two things. Of labels tied in the first vote
    crowd-kit names the one that its table of counts has first, which need not be the first in
    order. A worker who gave the same label to the same task twice has it counted once for their
    skill there, here twice. Where nobody's skill is above zero, the plain vote stands.

    Parameters
    ----------
    temper : float, optional
        0 reports shares even where truths are known; otherwise these calibrate the shares, see
        :class:`LabelAggregator`.

    Assumes that most workers are right on most tasks, and nothing else.

    Not as a probability: a share of the weight says how agreed a label is, not how probable
    (``one-coin`` gives probabilities).

    References
    ----------
    Worker agreement with aggregate, as practised on crowdsourcing platforms; crowd-kit's
    documentation describes it.

    Examples
    --------
    >>> from askwise.aggregation import aggregation
    >>> table = {
    ...     "task": ["t1"] * 3 + ["t2"] * 3 + ["t3"] * 2,
    ...     "worker": ["ann", "bob", "cleo"] * 2 + ["bob", "cleo"],
    ...     "label": ["b", "b", "a", "b", "b", "a", "b", "a"],
    ... }
    >>> aggregation.make("majority").fit_predict(table)["t3"]
    'a'
    >>> aggregation.make("wawa").fit_predict(table)["t3"]
    'b'
    """

    paper: ClassVar[str] = "practice"
    finds_shares: ClassVar[bool] = True

    def solve(self, answers: Answers) -> Fitted:
        """Vote twice."""
        skill = agreements(answers, first_largest(shares(answers))) / answers.per_worker
        return fitted_by_vote(answers, shares(answers, skill), of_workers={"skill": skill})
