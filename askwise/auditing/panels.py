"""What judges are worth together: how they err alike, and who could be spared."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from askwise.auditing.ballots import Ballots, majority
from askwise.auditing.intervals import Interval, paired, percentiles, share
from askwise.core.arrays import Array
from askwise.core.json_types import Correlation, Count
from askwise.core.jsonable import Jsonable
from askwise.core.scoring import TIE

RESAMPLES = 1000
"""Times that tasks are drawn again for an interval."""

MARGIN = 0.01
"""A judge who changes the panel's accuracy by less adds nothing."""

_CELLS = 250_000
"""Numbers that resampling holds at a time."""


Effect = Literal["helps", "harms", "nothing", "unclear"]
"""What a judge does to the vote."""


@dataclass(frozen=True, slots=True)
class Contribution(Jsonable):
    """What one judge adds to the vote of all.

    Attributes
    ----------
    judge : str
        The name of the judge.
    gain : Interval or None
        Accuracy of the vote with them minus without them, on tasks where another judge has a
        verdict too; None if there is none.
    effect : Effect
        ``nothing`` if the interval is within .01 of 0, ``helps`` if it is above 0, ``harms`` if
        below; else ``unclear``.
    """

    judge: str
    gain: Interval | None
    effect: Effect


@dataclass(frozen=True, slots=True)
class PanelCard(Jsonable):
    """What the judges are worth together.

    Attributes
    ----------
    accuracy : Interval or None
        The accuracy of the vote of all judges, one vote each; of k tied labels each counts as right
        1/k. None if nothing could be measured.
    ties : int
        Measured tasks on which the vote is tied.
    tasks : int
        Tasks with a verdict and an answer of a person.
    correlation : Interval or None
        The mean correlation of the errors of two judges; None with fewer than two who are right on
        some tasks and wrong on others.
    effective : Interval or None
        How many judges that err independently would be worth as much; None as for ``correlation``.
    counted : int
        Judges of which that is said: those who are right on some tasks and wrong on others.
    within_families : float or None
        The mean correlation of two judges of one family; None without families.
    between_families : float or None
        The mean correlation of two judges who do not share a family; None without families.
    correlations : tuple of tuple of float or None
        The correlation of the errors of each two judges, on the tasks that they share, in the order
        of ``judges``; None where it is not defined.
    contributions : tuple of Contribution
        What each judge adds.
    """

    accuracy: Interval | None
    ties: Count
    tasks: Count
    correlation: Interval | None
    effective: Interval | None
    counted: Count
    within_families: Correlation | None
    between_families: Correlation | None
    correlations: tuple[tuple[Correlation | None, ...], ...]
    contributions: tuple[Contribution, ...]


def panel_card(ballots: Ballots, families: Mapping[str, str], *, seed: int) -> PanelCard:
    """Measure the judges together, against the majority of people."""
    right, known = ballots.right
    votes = majority(ballots.votes)
    here = known.any(axis=1)
    hits = (votes * ballots.truth).sum(axis=1)[here]
    matrix = correlations(1.0 - right, known)
    together = errors_together(1.0 - right, known, seed=seed)
    within, between = _by_family(matrix, ballots.judge_names, families)
    return PanelCard(
        accuracy=share(float(hits.sum()), len(hits)),
        ties=int(((votes[here] > 0).sum(axis=1) > 1).sum()),
        tasks=len(hits),
        correlation=together.correlation,
        effective=together.effective,
        counted=together.counted,
        within_families=within,
        between_families=between,
        correlations=tuple(
            tuple(None if np.isnan(each) else float(each) for each in row) for row in matrix
        ),
        contributions=tuple(contribution(ballots, at) for at in range(len(ballots.judge_names))),
    )


class Together(NamedTuple):
    """How much judges err together, and how many of them that leaves."""

    correlation: Interval | None
    effective: Interval | None
    counted: int


def effective_judges(judges: int, correlation: float) -> float:
    """How many independent judges as many judges are worth whose errors correlate.

    n = K / (1 + (K - 1) rho). A correlation below 0 counts as 0: K judges are worth K at most.

    Examples
    --------
    >>> effective_judges(3, 0.5), effective_judges(9, 0.0), effective_judges(4, 1.0)
    (1.5, 9.0, 1.0)
    """
    return judges / (1.0 + (judges - 1) * max(0.0, correlation))


def errors_together(errors: Array, known: Array, *, seed: int = 0) -> Together:
    """The mean correlation of errors with what it leaves of the judges, and bootstrap intervals.

    Errors of each judge are scaled to mean 0 and variance 1 over their tasks; the mean
    correlation is the mean product of two judges' scaled errors over all pairs of verdicts on one
    task. Where every judge has a verdict on every task, that is the mean of the correlations of
    all pairs of judges; else pairs weigh by the tasks that they share. Judges who are always
    right, or never, correlate with nobody and are left out. The intervals hold the middle 95%
    of what 1000 draws of as many tasks, with replacement, give.

    Parameters
    ----------
    errors : array, tasks x judges
        From 0 to 1.
    known : array of bool, tasks x judges
        Where there is one.
    seed : int
        Of the draws.
    """
    rows = known.any(axis=1)
    tasks = int(rows.sum())
    errors, known, times = _patterns(errors[rows], known[rows])
    once, varied = _mean_correlation(errors, known, times[None, :])
    counted = int(varied[:, 0].sum())
    if counted < 2 or np.isnan(once[0]):
        return Together(None, None, counted)
    keep = varied[:, 0]
    errors, known = errors[:, keep], known[:, keep]
    rng = np.random.default_rng(seed)
    at_a_time = max(1, _CELLS // len(errors))
    draws: list[float] = []
    while len(draws) < RESAMPLES:
        number = min(at_a_time, RESAMPLES - len(draws))
        drawn = rng.multinomial(tasks, times / tasks, number)
        found, _ = _mean_correlation(errors, known, drawn.astype(np.float64))
        draws += found.tolist()
    again = np.array(draws)
    again = again[~np.isnan(again)]
    value = float(once[0])
    effective = [effective_judges(counted, each) for each in again]
    return Together(
        percentiles(value, again),
        percentiles(effective_judges(counted, value), np.array(effective)),
        counted,
    )


def _patterns(errors: Array, known: Array) -> tuple[Array, Array, Array]:
    """Rows that differ, and how many tasks are like each: resampling need not tell these apart."""
    rows = np.where(known, errors, -1.0)
    unlike, times = np.unique(rows, axis=0, return_counts=True)
    return np.maximum(unlike, 0.0), unlike >= 0, times.astype(np.float64)


def _mean_correlation(errors: Array, known: Array, times: Array) -> tuple[Array, Array]:
    """Mean correlation in each of several samples, and which judges vary in each of them.

    A sample says how many times each task is in it. The sum of scaled errors on a task, squared,
    is the sum of all products of two; so no pair of judges is looked at.
    """
    mask = np.asarray(known, np.float64)
    errors = np.where(known, errors, 0.0)
    number = mask.T @ times.T
    mean = (errors.T @ times.T) / np.maximum(number, 1.0)
    square = ((errors * errors).T @ times.T) / np.maximum(number, 1.0)
    variance = square - mean * mean
    varied = variance > TIE
    scale = np.where(varied, 1.0 / np.sqrt(np.where(varied, variance, 1.0)), 0.0)
    total = errors @ scale - mask @ (mean * scale)
    judges = mask @ varied
    products = (times.T * total * total).sum(axis=0) - (number * varied).sum(axis=0)
    pairs = (times.T * judges * (judges - 1.0)).sum(axis=0)
    return np.where(pairs > 0, products / np.where(pairs > 0, pairs, 1.0), np.nan), varied


def correlations(errors: Array, known: Array) -> Array:
    """Correlations of the errors of each two judges on the tasks that they share.

    Not a number where they share fewer than two, or where one of them is always right or never.

    Examples
    --------
    >>> import numpy as np
    >>> errors = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    >>> correlations(errors, np.ones((4, 2), bool)).round(3).tolist()
    [[1.0, 0.577], [0.577, 1.0]]
    """
    mask = known.astype(np.float64)
    errors = np.where(known, errors, 0.0)
    number = mask.T @ mask
    enough = np.maximum(number, 1.0)
    # Row: whose errors; column: on whose tasks.
    mean = errors.T @ mask / enough
    variance = (errors * errors).T @ mask / enough - mean * mean
    both = errors.T @ errors / enough - mean * mean.T
    scale = variance * variance.T
    fine = (number >= 2) & (variance > TIE) & (variance.T > TIE)
    found = np.where(fine, both / np.sqrt(np.where(fine, scale, 1.0)), np.nan)
    return np.clip(found, -1.0, 1.0)


def contribution(ballots: Ballots, judge: int) -> Contribution:
    """What the vote of all gains by one judge, task by task."""
    ballot = ballots.ballots[judge]
    votes = ballots.votes
    others = votes.copy()
    others[ballot.tasks, ballot.labels] -= ballot.shares
    others[others < TIE] = 0.0
    here = ballots.known & (others.sum(axis=1) > TIE)
    name = ballots.judge_names[judge]
    if not here.any():
        return Contribution(name, None, "unclear")
    change = majority(votes[here]) - majority(others[here])
    gain = paired((change * ballots.truth[here]).sum(axis=1))
    return Contribution(name, gain, _word(gain))


def _word(gain: Interval) -> Effect:
    if gain.low >= -MARGIN and gain.high <= MARGIN:
        return "nothing"
    if gain.low > 0:
        return "helps"
    return "harms" if gain.high < 0 else "unclear"


def _by_family(
    matrix: Array, judges: tuple[str, ...], families: Mapping[str, str]
) -> tuple[float | None, float | None]:
    """Mean correlations within families and between judges who do not share one."""
    if not families:
        return None, None
    names = [families.get(judge) for judge in judges]
    upper = np.triu(np.ones(matrix.shape, bool), 1) & ~np.isnan(matrix)
    same = np.array([[a is not None and a == b for b in names] for a in names])
    found = [matrix[upper & part] for part in (same, ~same)]
    within, between = (float(part.mean()) if len(part) else None for part in found)
    return within, between
