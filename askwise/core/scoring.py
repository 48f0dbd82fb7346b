"""How good labels are against known truths: accuracy with ties by share, calibration, log loss."""

import math
from typing import NamedTuple

import numpy as np

from askwise.core.arrays import Array

BINS = 10
"""Bins of equal width in which confidences are compared with accuracy."""

LEAST = 1e-6
"""A probability below it counts as this much in the log loss, which would else be infinite."""

SUREST = 0.98
"""Nobody's vote counts more than that of a worker who is right this often."""

TIE = 1e-9
"""Probabilities that differ by less are tied."""

NORMAL = 1.959963984540054
"""Standard deviations on either side of a normal's mean that hold 95% of it."""


def wilson_ends(hits: float, tries: float) -> tuple[float, float]:
    """Ends of Wilson's 95% interval of a share; a tie may be a hit by a part.

    Examples
    --------
    >>> low, high = wilson_ends(8, 10)
    >>> round(low, 3), round(high, 3)
    (0.49, 0.943)
    """
    share, z2 = hits / tries, NORMAL * NORMAL
    middle = (share + z2 / (2 * tries)) / (1 + z2 / tries)
    half = NORMAL / (1 + z2 / tries)
    half *= math.sqrt(share * (1 - share) / tries + z2 / (4 * tries * tries))
    return max(0.0, middle - half), min(1.0, middle + half)


class ScoredLabels(NamedTuple):
    """What is said of tasks, a row each.

    Attributes
    ----------
    named : array of int
        The option; -1 where none is named.
    confidence : array
        The probability that it is said to have; not a number where none is reported.
    probabilities : array, tasks x options
        Of each option; every row sums to 1. See ``spread`` where only a confidence is there.
    """

    named: Array
    confidence: Array
    probabilities: Array


def spread(named: Array, confidence: Array, options: int) -> ScoredLabels:
    """Labels of which only the confidence is known: the rest goes evenly to the other options.

    Where no option is named, or no confidence reported, all options are equally likely.

    Examples
    --------
    >>> import numpy as np
    >>> spread(np.array([2, -1]), np.array([0.5, np.nan]), 3).probabilities.round(2).tolist()
    [[0.25, 0.25, 0.5], [0.33, 0.33, 0.33]]
    """
    named = np.asarray(named, np.int64)
    confidence = np.where(named >= 0, np.asarray(confidence, np.float64), np.nan)
    known = np.flatnonzero(np.isfinite(confidence))
    probabilities = np.full((len(named), options), 1.0 / options)
    if options > 1:
        rest = (1.0 - confidence[known]) / (options - 1)
        probabilities[known] = rest[:, None]
    probabilities[known, named[known]] = confidence[known]
    return ScoredLabels(named, confidence, probabilities)


def right_shares(labels: ScoredLabels, truths: Array) -> tuple[Array, Array]:
    """How right each label is, from 0 to 1, and which labels are tied.

    The named option is right or wrong. Where k options have its probability, whichever of them
    is named is a matter of chance: right once in k if the truth is among them. Where none is
    named it is a guess: right once in as many options as there are, and no tie. Without a
    confidence nothing tells a tie.

    Examples
    --------
    >>> import numpy as np
    >>> labels = spread(np.array([0, 0, 1]), np.array([0.9, 0.5, 0.8]), 2)
    >>> right, tied = right_shares(labels, np.array([0, 1, 0]))
    >>> right.tolist(), tied.tolist()
    ([1.0, 0.5, 0.0], [False, True, False])
    """
    named, confidence, probabilities = labels
    rows = np.arange(len(named))
    right = (named == truths).astype(np.float64)
    level = np.abs(probabilities - probabilities[rows, np.maximum(named, 0)][:, None]) < TIE
    tied = (named >= 0) & np.isfinite(confidence) & (level.sum(axis=1) > 1)
    right[tied] = (level[rows, truths] / level.sum(axis=1))[tied]
    right[named < 0] = 1.0 / probabilities.shape[1]
    return right, tied


def calibration_error(confidence: Array, right: Array, bins: int = BINS) -> float | None:
    """Expected calibration error: how far confidence and accuracy are apart, on average.

    Confidences from 0 to 1 fall into bins of equal width; one on an edge belongs to the upper
    bin, and 1 to the last. The distance of the mean confidence and the mean of ``right`` of each
    bin is weighed by how many are in it. None without any.

    Examples
    --------
    >>> import numpy as np
    >>> round(calibration_error(np.array([0.95, 0.91, 0.62]), np.array([1.0, 0.0, 1.0])), 4)
    0.4133
    """
    if len(confidence) == 0:
        return None
    places = _places(confidence, bins)
    gaps = np.bincount(places, confidence - right, minlength=bins)
    return float(np.abs(gaps).sum() / len(confidence))


def least_calibration_error(confidence: Array, bins: int = BINS) -> float | None:
    """Calibration error to expect of labels that are right exactly as often as they say.

    Bins of few labels are off by chance. With the variance v of how many labels of a bin are right,
    they are off by about sqrt(2 v / pi) on average, and by 2 v at most. None without any.

    Examples
    --------
    >>> import numpy as np
    >>> round(least_calibration_error(np.full(100, 0.8)), 4)  # sqrt(2 * 16 / pi) / 100
    0.0319
    """
    if len(confidence) == 0:
        return None
    places = _places(confidence, bins)
    variances = np.bincount(places, confidence * (1.0 - confidence), minlength=bins)
    off = np.minimum(np.sqrt(2.0 * variances / math.pi), 2.0 * variances)
    return float(off.sum() / len(confidence))


def log_loss(probabilities: Array, truths: Array) -> float | None:
    """Mean of -ln of the probability of the truth, which counts as 1e-6 at least; None of none.

    Examples
    --------
    >>> import numpy as np
    >>> found = log_loss(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([0, 1]))
    >>> round(found, 4)  # (ln 2 + ln 1e6) / 2
    7.2543
    """
    if len(truths) == 0:
        return None
    chances = probabilities[np.arange(len(truths)), truths]
    return float(-np.log(np.clip(chances, LEAST, 1.0)).mean())


def brier_score(probabilities: Array, truths: Array) -> float | None:
    """Mean of the summed squares of what probabilities are away from the truth; None of none.

    Examples
    --------
    >>> import numpy as np
    >>> brier_score(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([0, 0]))
    0.25
    """
    if len(truths) == 0:
        return None
    away = probabilities.copy()
    away[np.arange(len(truths)), truths] -= 1.0
    return float((away * away).sum(axis=1).mean())


class Bin(NamedTuple):
    """Tasks of similar confidence: how many, how sure on average, and how often right."""

    tasks: int
    confidence: float
    right: float


def reliability(confidence: Array, right: Array) -> list[Bin]:
    """The bins of :func:`calibration_error` that are not empty, the least sure first.

    Examples
    --------
    >>> import numpy as np
    >>> reliability(np.array([0.95, 0.91, 0.62]), np.array([1.0, 0.0, 1.0]))[0]
    Bin(tasks=1, confidence=0.62, right=1.0)
    """
    places = _places(confidence, BINS)
    found = []
    for place in np.unique(places):
        here = places == place
        sure, share = float(confidence[here].mean()), float(right[here].mean())
        found.append(Bin(int(here.sum()), sure, share))
    return found


def _places(confidence: Array, bins: int) -> Array:
    """The bin of each confidence."""
    # Rounding may leave a share such as 1 - .7 a little below the edge it is on.
    return np.clip(np.floor(confidence * bins + TIE).astype(np.int64), 0, bins - 1)


class Scores(NamedTuple):
    """How good labels are: shares from 0 to 1, and the number of ties.

    ``ece`` is that of the labels which report a confidence. It and ``log_loss`` are None where
    an option is named without one, ``ece`` also where nothing is named.
    """

    accuracy: float
    ties: int
    ece: float | None
    log_loss: float | None


def score(labels: ScoredLabels, truths: Array) -> Scores:
    """Score labels against known truths, one of each at least."""
    right, tied = right_shares(labels, truths)
    reported = np.isfinite(labels.confidence)
    ece = loss = None
    if not ((labels.named >= 0) & ~reported).any():
        ece = calibration_error(labels.confidence[reported], right[reported])
        loss = log_loss(labels.probabilities, truths)
    return Scores(float(right.mean()), int(tied.sum()), ece, loss)


def weighted_lead(
    tasks: Array, answers: Array, weights: Array, named: Array, options: int
) -> Array:
    """By how much the named option leads the next one, for each task: a score to rank labels by.

    Votes count by their weights, the log-odds that their givers are right say. It ranks labels
    better than a posterior does, which hundreds of dependent votes and rare classes make extreme.

    Parameters
    ----------
    tasks, answers, weights : arrays
        Of each vote: its task, the option and what it counts.
    named : array of int
        The option named for each task.
    options : int
        How many there are.

    Examples
    --------
    >>> import numpy as np
    >>> votes = np.array([0, 0, 0, 1]), np.array([1, 1, 0, 0]), np.array([2.0, 1.0, 0.5, 1.0])
    >>> weighted_lead(*votes, named=np.array([1, 0]), options=2).tolist()
    [2.5, 1.0]
    """
    votes = np.zeros((len(named), options))
    np.add.at(votes, (tasks, answers), weights)
    rows = np.arange(len(named))
    own = votes[rows, named]
    if options == 1:
        return own
    votes[rows, named] = -np.inf
    return own - votes.max(axis=1)


def vote_weights(accuracy: Array, options: int) -> Array:
    """What votes of workers count who are right so often: the log-odds against a guess.

    Examples
    --------
    >>> import numpy as np
    >>> vote_weights(np.array([0.5, 0.8, 1.0]), 2).round(2).tolist()
    [0.0, 1.39, 3.89]
    """
    known = np.clip(accuracy, 1.0 - SUREST, SUREST)
    return np.log(known * max(1, options - 1) / (1.0 - known))
