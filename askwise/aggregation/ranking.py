"""Which labels are surer than others: a score to rank them by, without any truth."""

from __future__ import annotations

import numpy as np
import scipy

from askwise.core.arrays import Array
from askwise.core.scoring import weighted_lead

CHANCE = 0.95
"""Kinds of labels are told apart if chance makes them differ less this often."""

TOLD_APART = 9
"""Decimals of a score: less is rounding, and must not break ties."""


def sureness(
    tasks: Array,
    answers: Array,
    weights: Array,
    named: Array,
    options: int,
    contexts: Array | None = None,
) -> Array:
    """Score labels: a label's lead in weighted votes, times the agreement on labels of its kind.

    Where all workers agree, votes tell labels no more apart. But workers who disagree about a
    class, or in a context, also err there when they happen to agree. A label's kind is the class
    that it names, in its task's context; its agreement is the share of votes for labels of that
    kind, on average (see :func:`agreement_by_kind`).

    Parameters
    ----------
    tasks, answers, weights, named, options
        As in :func:`~askwise.core.scoring.weighted_lead`.
    contexts : array of int, optional
        The context of each task.

    Examples
    --------
    Both workers agree on the first task and on the last. The last label is less sure, because they
    disagree on most tasks with that label.

    >>> import numpy as np
    >>> named = np.repeat([0, 1], 20)
    >>> answers = np.repeat(named, 2)
    >>> answers[40:70:2] = 0
    >>> votes = np.repeat(np.arange(40), 2), answers, np.ones(80)
    >>> sureness(*votes, named, options=2)[[0, 39]].round(2).tolist()
    [1.99, 1.26]
    """
    leads, shares = leads_and_shares(tasks, answers, weights, named, options)
    return sureness_of(leads, shares, named, options, contexts)


def leads_and_shares(
    tasks: Array, answers: Array, weights: Array, named: Array, options: int
) -> tuple[Array, Array]:
    """What the score of a label rests on: its lead, and the share of votes for it."""
    leads = weighted_lead(tasks, answers, weights, named, options)
    votes = np.maximum(1, np.bincount(tasks, minlength=len(named)))
    agreeing = np.bincount(tasks, answers == named[tasks], minlength=len(named))
    return leads, agreeing / votes


def sureness_of(
    leads: Array, shares: Array, named: Array, options: int, contexts: Array | None = None
) -> Array:
    """Score labels by their leads, and the shares of votes for them, of all tasks."""
    kinds = named if contexts is None else named + options * contexts
    found: Array = np.round(leads * agreement_by_kind(shares, kinds), TOLD_APART)
    return found


def agreement_by_kind(shares: Array, kinds: Array) -> Array:
    """The mean share of each task's kind, shrunk towards that of all as far as chance explains it.

    Means of kinds are means of few tasks or of many. Each moves towards the mean of all tasks as
    the variance of its own mean compares with the variance between kinds. If an F-test does not
    tell kinds apart, all have the mean of all.

    Examples
    --------
    >>> import numpy as np
    >>> kinds = np.array([0, 0, 0, 1, 1, 1])
    >>> agreement_by_kind(np.array([0.9, 1.0, 0.9, 0.6, 0.5, 0.6]), kinds).round(4).tolist()
    [0.9303, 0.9303, 0.9303, 0.5697, 0.5697, 0.5697]
    >>> agreement_by_kind(np.array([0.9, 0.5, 0.7, 0.8, 0.6, 0.7]), kinds).round(4).tolist()
    [0.7, 0.7, 0.7, 0.7, 0.7, 0.7]
    """
    _, kind, counts = np.unique(kinds, return_inverse=True, return_counts=True)
    overall = shares.mean()
    means = np.bincount(kind, shares) / counts
    between_freedom, within_freedom = len(counts) - 1, len(shares) - len(counts)
    if not between_freedom or not within_freedom:
        return np.full(len(shares), overall)
    within = ((shares - means[kind]) ** 2).sum() / within_freedom
    between = (counts * (means - overall) ** 2).sum() / between_freedom
    if between <= within * scipy.special.fdtri(between_freedom, within_freedom, CHANCE):
        return np.full(len(shares), overall)
    # The method of moments: the mean square between kinds is within + per_kind * variance.
    per_kind = (counts.sum() - (counts**2).sum() / counts.sum()) / between_freedom
    variance = (between - within) / per_kind
    kept = variance / (variance + within / counts)
    found: Array = (overall + kept * (means - overall))[kind]
    return found
