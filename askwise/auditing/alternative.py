"""Whether a judge may take the place of a person: the alternative annotator test.

Of N. Calderon, R. Reichart, R. Dror, *The alternative annotator test for LLM-as-a-judge: how to
statistically justify replacing human annotators with LLMs*, ACL 2025.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from askwise.auditing.ballots import Ballots
from askwise.core.arrays import Array
from askwise.core.json_types import Count, Share
from askwise.core.jsonable import Jsonable
from askwise.core.scoring import TIE

LEAST_TASKS = 30
"""A person with fewer tasks in common is left out: the t-test needs about as many."""

FALSE_SHARE = 0.05
"""The share of wins that may be false on average, by Benjamini and Yekutieli."""

PASSES = 0.5
"""The share of people that a judge has to win against."""


@dataclass(frozen=True, slots=True)
class AgainstHuman(Jsonable):
    """A judge against one person.

    Attributes
    ----------
    human : str
        The person.
    tasks : int
        Tasks that the person, the judge and somebody else answered.
    advantage : float
        The share of them on which the judge agrees with the others at least as much as the person.
    human_advantage : float
        The share of them on which the person agrees with the others at least as much as the judge.
    p_value : float
        The p-value of the hypothesis that the judge's advantage is lower by epsilon or more.
    won : bool
        Whether that hypothesis is rejected, all people considered.
    """

    human: str
    tasks: Count
    advantage: Share
    human_advantage: Share
    p_value: Share
    won: bool


@dataclass(frozen=True, slots=True)
class AlternativeTest(Jsonable):
    """Whether a judge may take the place of a person.

    Attributes
    ----------
    winning_rate : float
        The share of people that the judge wins against.
    passes : bool
        Whether that is one half at least.
    advantage : float
        The mean of the advantages over people: how often the judge is as good as a person drawn at
        random. Compare judges by it.
    epsilon : float
        What the judge may be worse by, for being cheaper.
    humans : tuple of AgainstHuman
        The people it was tested with.
    left_out : int
        People with fewer than 30 tasks in common with the judge.
    """

    winning_rate: Share
    passes: bool
    advantage: Share
    epsilon: Share
    humans: tuple[AgainstHuman, ...]
    left_out: Count


def alternative_test(ballots: Ballots, judge: int, *, epsilon: float) -> AlternativeTest | None:
    """Test a judge against each person, the others of a task being the measure of both.

    Take a person h and a task that h, the judge f and at least one other person answered. S(h) is
    the share of the other people whose label is h's, S(f) the share whose label is f's; where f
    gave several verdicts, their mean. Let W_f be 1 if S(f) >= S(h), else 0, and W_h be 1 if
    S(h) >= S(f), else 0: in a tie both are 1. The advantage of f over h is the mean of W_f over
    those tasks, and that of h the mean of W_h.

    The hypothesis is that the advantage of f is at most that of h less epsilon. With d = W_h - W_f
    it is refused where the mean of d is small: t = (mean d - epsilon) / (s / sqrt n), s being the
    standard deviation of d with n - 1, and the p-value is the probability of a value of at most t
    under Student's t with n - 1 degrees of freedom. Where all d are equal, it is 0 or 1.

    People with fewer than 30 such tasks are left out. Over the m others, Benjamini and
    Yekutieli's procedure says which hypotheses are refused at a false share of .05: those with the
    k smallest p-values, k being the largest for which the k-th is at most
    .05 k / (m (1 + 1/2 + ... + 1/m)). The winning rate is their share among the m; the judge
    passes if it is one half at least.

    Returns None if nobody has 30 such tasks. A task on which the judge failed is not among them.
    """
    counts = ballots.counts
    several = counts.sum(axis=1) >= 2
    tasks, shares = ballots.dense(judge)
    rows = np.full(len(ballots.task_names), -1)
    rows[tasks] = np.arange(len(tasks))
    at = np.flatnonzero(several[ballots.human_tasks] & (rows[ballots.human_tasks] >= 0))
    where, labels, humans = ballots.human_tasks[at], ballots.human_labels[at], ballots.humans[at]
    said = shares[rows[where]]
    # Both would be divided by the number of other people.
    of_judge = (said * counts[where]).sum(axis=1) - said[np.arange(len(at)), labels]
    of_human = counts[where, labels] - 1
    ahead, behind = of_judge >= of_human - TIE, of_human >= of_judge - TIE
    size = len(ballots.human_names)
    number = np.bincount(humans, minlength=size)
    tested = np.flatnonzero(number >= LEAST_TASKS)
    if len(tested) == 0:
        return None
    n = number[tested]
    advantage = np.bincount(humans, ahead, minlength=size)[tested] / n
    theirs = np.bincount(humans, behind, minlength=size)[tested] / n
    squares = np.bincount(humans, ahead != behind, minlength=size)[tested]
    p_values = _p_values(n, theirs - advantage, squares, epsilon)
    won = _refused(p_values, FALSE_SHARE)
    found = tuple(
        AgainstHuman(
            ballots.human_names[each], int(n[k]), float(advantage[k]), float(theirs[k]),
            float(p_values[k]), bool(won[k]),
        )
        for k, each in enumerate(tested)
    )  # fmt: skip
    rate = float(won.mean())
    left_out = int(((number > 0) & (number < LEAST_TASKS)).sum())
    return AlternativeTest(rate, rate >= PASSES, float(advantage.mean()), epsilon, found, left_out)


def _p_values(n: Array, means: Array, squares: Array, epsilon: float) -> Array:
    """Of the hypothesis that the mean of d is epsilon or more, from n, the mean and the squares."""
    spread = np.maximum(squares - n * means * means, 0.0) / (n - 1)
    alike = spread < TIE
    error = np.sqrt(np.where(alike, 1.0, spread) / n)
    p_values = scipy.special.stdtr(n - 1, (means - epsilon) / error)
    return np.where(alike, np.where(means < epsilon, 0.0, 1.0), p_values)


def _refused(p_values: Array, share: float) -> Array:
    """Which hypotheses Benjamini and Yekutieli's procedure refuses."""
    m = len(p_values)
    ranked = np.argsort(p_values, kind="stable")
    steps = np.arange(1, m + 1)
    below = p_values[ranked] <= share * steps / (m * (1.0 / steps).sum())
    most = int(steps[below][-1]) if below.any() else 0
    found = np.zeros(m, bool)
    found[ranked[:most]] = True
    return found
