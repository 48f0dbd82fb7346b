"""How far answers to the same tasks agree: raw agreement and Krippendorff's alpha."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from askwise.auditing.intervals import Interval
from askwise.core.arrays import Array
from askwise.core.scoring import NORMAL

PSEUDO = 2
"""Tasks of two answers that agree, and as many that do not, which an interval counts beside those
that there are: Agresti and Coull's two successes and two failures."""


class Reliability(NamedTuple):
    """How far answers to the same tasks agree."""

    tasks: int
    answers: int
    agreement: Interval | None
    alpha: Interval | None


def reliability(votes: Array) -> Reliability:
    """Raw agreement and Krippendorff's alpha for names, each with a 95% interval over tasks.

    Raw agreement is the chance that another answer to the same task says what an answer drawn at
    random says. With n(u, c) answers to task u for option c, m(u) to the task and n in all,

        A_o = sum over u, c of n(u, c) (n(u, c) - 1) / (m(u) - 1), divided by n.

    By chance, with n(c) answers for option c, it would be A_e = sum of n(c) (n(c) - 1) / (n (n -
    1)), and alpha is (A_o - A_e) / (1 - A_e): 1 where all agree, 0 where answers are as if they
    were drawn from one urn, below 0 where they differ more than that. Tasks with fewer than two
    answers count for nothing.

    The intervals are the jackknife's over tasks, in closed form, around the estimate with
    `PSEUDO` tasks more of either kind: so a few tasks on which all agree do not prove that all
    always will. They take tasks for a sample of more tasks like them.

    Parameters
    ----------
    votes : array of int, tasks x options
        How many answers name each option.

    Returns
    -------
    Reliability
        ``tasks`` and ``answers`` that count; ``agreement`` is None without them, ``alpha`` also
        where only one option was ever named.

    References
    ----------
    K. Krippendorff, *Computing Krippendorff's alpha-reliability*, 2011.

    A. Agresti, B. A. Coull, *Approximate is better than "exact" for interval estimation of
    binomial proportions*, The American Statistician, 1998.

    Examples
    --------
    >>> import numpy as np
    >>> found = reliability(np.array([[2, 0], [1, 1], [0, 2], [2, 0]]))
    >>> found.agreement.value, round(found.alpha.value, 3)
    (0.75, 0.533)
    """
    counts = votes[votes.sum(axis=1) > 1].astype(np.float64)
    if len(counts) == 0:
        return Reliability(0, 0, None, None)
    size = counts.sum(axis=1)
    same = (counts * (counts - 1.0)).sum(axis=1) / (size - 1.0)
    found = _CountedTasks(counts, size, same, np.ones(len(counts)))
    agreement, alpha = found.values()
    ends, alpha_ends = found.padded().ends()
    return Reliability(
        len(counts),
        int(found.answers),
        _around(agreement, *ends, least=0.0),
        None if math.isnan(alpha) else _around(alpha, *alpha_ends, least=-1.0),
    )


class _CountedTasks(NamedTuple):
    """Tasks: votes, answers, what agrees with each answer on average, summed; how many alike."""

    counts: Array
    size: Array
    same: Array
    times: Array

    @property
    def answers(self) -> float:
        return float((self.times * self.size).sum())

    def values(self) -> tuple[float, float]:
        """Agreement and alpha of all tasks."""
        total, agreeing, options = self._sums()
        agreement, alpha = _values(total, agreeing, options)
        return float(agreement), float(alpha)

    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The jackknife's intervals: what each task, left out, changes."""
        total, agreeing, options = self._sums()
        tasks = self.times.sum()
        left_out = _values(total - self.size, agreeing - self.same, options - self.counts)
        ends = []
        for value, without in zip(self.values(), left_out, strict=True):
            mean = (self.times * without).sum() / tasks
            variance = (tasks - 1.0) / tasks * (self.times * (without - mean) ** 2).sum()
            half = NORMAL * math.sqrt(variance)
            ends.append((value - half, value + half))
        return ends[0], ends[1]

    def padded(self) -> _CountedTasks:
        """With tasks more: some whose two answers agree, some whose two do not.

        Their answers are for the options as all answers are, so chance agreement stays as it is.
        """
        total, _, options = self._sums()
        extra = 2.0 * options / total
        return _CountedTasks(
            np.vstack([self.counts, extra, extra]),
            np.append(self.size, [2.0, 2.0]),
            np.append(self.same, [2.0, 0.0]),
            np.append(self.times, [PSEUDO, PSEUDO]),
        )

    def _sums(self) -> tuple[float, float, Array]:
        agreeing = float((self.times * self.same).sum())
        return self.answers, agreeing, (self.times[:, None] * self.counts).sum(axis=0)


def _values(total: Array | float, agreeing: Array | float, options: Array) -> tuple[Array, Array]:
    """Agreement and alpha, of sums over tasks; not a number where chance alone agrees."""
    observed = np.asarray(agreeing / np.asarray(total))
    pairs = np.asarray(total) * (np.asarray(total) - 1.0)
    differ = 1.0 - (options * (options - 1.0)).sum(axis=-1) / pairs
    fine = differ > 1e-12
    return observed, np.where(fine, 1.0 - (1.0 - observed) / np.where(fine, differ, 1.0), np.nan)


def _around(value: float, low: float, high: float, *, least: float) -> Interval:
    return Interval(value, max(least, min(low, value)), min(1.0, max(high, value)))
