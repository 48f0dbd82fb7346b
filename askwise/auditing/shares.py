"""What share of all tasks is of each class, by judges corrected with the answers of people."""

import math
from dataclasses import dataclass

import numpy as np

from askwise.auditing.ballots import Ballots, majority
from askwise.auditing.intervals import Interval, normal
from askwise.core.arrays import Array
from askwise.core.json_types import Share
from askwise.core.jsonable import Jsonable
from askwise.core.scoring import NORMAL


@dataclass(frozen=True, slots=True)
class ClassShare(Jsonable):
    """The share of one class among all tasks, by three ways to tell.

    Attributes
    ----------
    label : str
        The class.
    naive : Interval
        The share among the panel's labels of all tasks. The interval is for the choice of tasks
        alone: it knows nothing of wrong labels.
    human : Interval
        The share among the tasks that people answered, by their majority.
    ppi : Interval or None
        By prediction-powered inference from both; None where people answered every task, which
        leaves nothing to infer.
    weight : float or None
        The lambda of that inference, from 0 (people alone count) to 1; None without it.
    """

    label: str
    naive: Interval
    human: Interval
    ppi: Interval | None
    weight: Share | None


def class_shares(ballots: Ballots) -> tuple[ClassShare, ...]:
    """Shares of classes, from the majority of judges and that of people."""
    labelled = ballots.votes.sum(axis=1) > 0
    panel = majority(ballots.votes)
    both, rest = labelled & ballots.known, labelled & ~ballots.known
    found = []
    for at, label in enumerate(ballots.label_names):
        naive = normal(panel[labelled, at])
        human = normal(ballots.truth[ballots.known, at])
        ppi = weight = None
        if rest.any() and both.any():
            made, weight = ppi_mean(ballots.truth[both, at], panel[both, at], panel[rest, at])
            ppi = _as_share(made)
        found.append(ClassShare(label, _as_share(naive), _as_share(human), ppi, weight))
    return tuple(found)


def _as_share(found: Interval) -> Interval:
    """What a normal interval says of a share: nothing below 0 or above 1."""
    ends = (min(1.0, max(0.0, each)) for each in (found.value, found.low, found.high))
    return Interval(*ends)


def ppi_mean(truths: Array, guesses: Array, further: Array) -> tuple[Interval, float]:
    """A mean by PPI++: guesses on many tasks, corrected by truths on some.

    The estimate is lambda times the mean of the further guesses, plus the mean of truth minus
    lambda times guess over the n tasks that have both. With N further guesses, lambda is

        cov(truth, guess) / ((1 + n/N) var(guess)),

    at least 0 and at most 1: the covariance is over the n tasks (divided by n), the variance
    over all n + N guesses (divided by n + N - 1). It makes the estimate's variance least, which is

        lambda^2 var(further) / N + var(truth - lambda guess) / n.

    Where guesses tell nothing lambda is 0, and estimate and interval are those of the truths
    alone. All of it takes the n tasks for a random sample of the same tasks as the others.

    Parameters
    ----------
    truths, guesses : arrays
        On tasks that have both; one at least.
    further : array
        Guesses on other tasks; one at least.

    Returns
    -------
    estimate : Interval
        With the normal 95% interval.
    weight : float
        Lambda.

    References
    ----------
    A. N. Angelopoulos, J. C. Duchi, T. Zrnic, *PPI++: efficient prediction-powered inference*,
    2023.

    Examples
    --------
    >>> import numpy as np
    >>> truths, guesses = np.array([1.0, 0.0, 1.0, 0.0]), np.array([1.0, 0.0, 1.0, 1.0])
    >>> found, weight = ppi_mean(truths, guesses, np.array([1.0, 0.0, 0.0, 1.0] * 25))
    >>> round(found.value, 3), round(weight, 3)
    (0.381, 0.476)
    """
    n, more = len(truths), len(further)
    together = float(((truths - truths.mean()) * (guesses - guesses.mean())).mean())
    every = np.concatenate([guesses, further])
    spread = float(every.var(ddof=1)) * (1.0 + n / more)
    weight = min(1.0, max(0.0, together / spread)) if spread > 0 else 0.0
    rest = truths - weight * guesses
    value = weight * float(further.mean()) + float(rest.mean())
    variance = weight * weight * float(further.var()) / more + float(rest.var()) / n
    half = NORMAL * math.sqrt(variance)
    return Interval(value, value - half, value + half), weight
