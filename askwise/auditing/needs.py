"""How many answers of people would certify labels."""

import math
from dataclasses import dataclass

import numpy as np
import scipy

from askwise.auditing.draws import exactly, smallest_set
from askwise.auditing.limits import fewest_audits
from askwise.core.arrays import Array
from askwise.core.json_types import Count, Share
from askwise.core.jsonable import Jsonable

ALPHAS = (0.05, 0.1, 0.2)


@dataclass(frozen=True, slots=True)
class AuditNeed(Jsonable):
    """What it takes to certify that at most a share of the labels is wrong.

    Attributes
    ----------
    alpha : float
        The share of the labels that may be wrong.
    confidence : float
        The least probability with which such a certificate is right.
    clean : int
        The fewest tasks, drawn at random and all found right, that certify it.
    expected : int or None
        The fewest that suffice if as large a share of them is wrong as was measured; None if no
        number suffices, as the error is not below alpha.
    """

    alpha: Share
    confidence: Share
    clean: Count
    expected: Count | None


def audit_needs(
    tasks: int, error: float, *, confidence: float = 0.9, alphas: tuple[float, ...] = ALPHAS
) -> tuple[AuditNeed, ...]:
    """How many of the tasks have to be audited for each alpha, by the hypergeometric distribution.

    If more than alpha of the labels were wrong, at least E = floor(alpha N) + 1 of the N would be.
    A sample of n tasks with k wrong ones certifies that it is not so if at most k wrong ones among
    n drawn from N with E wrong ones have a probability of 1 - confidence at most. Expected are
    k = ceil(n error). The number has to be fixed before the draw.

    Parameters
    ----------
    tasks : int
        N, from 1 on.
    error : float
        The measured share of wrong labels.

    Examples
    --------
    >>> [need.clean for need in audit_needs(10_000, 0.0)]
    [45, 22, 11]
    """
    doubt = float(1 - exactly(confidence))
    found = []
    for alpha in alphas:
        bad = math.floor(exactly(alpha) * tasks) + 1
        clean = fewest_audits(tasks, bad, doubt)
        # An estimate, which is not to be off by one because of rounding.
        expected = _fewest(tasks, bad, error, doubt * (1.0 + 1e-9)) if error > 0 else clean
        found.append(AuditNeed(alpha, confidence, clean, expected))
    return tuple(found)


def _fewest(tasks: int, bad: int, error: float, delta: float) -> int | None:
    """The fewest audits that do, if a share of ``error`` of them is wrong."""
    # Then what is expected is the median at least: no sample is that unlikely.
    if error * tasks >= bad - 1e-9:
        return None
    for wrong in range(math.ceil(error * tasks - 1e-9) + 1):
        # Of the sample sizes with as many wrong ones expected, the largest tells most.
        size = min(tasks, math.floor(wrong / error + 1e-9))
        if _chance(wrong, tasks, bad, size) <= delta:
            return _smallest(wrong, tasks, bad, delta)
    return None


def _smallest(wrong: int, tasks: int, bad: int, delta: float) -> int:
    """The smallest sample in which so few wrong ones are unlikely enough, by bisection."""
    low, high = wrong, tasks
    while high - low > 1:
        middle = (low + high) // 2
        if _chance(wrong, tasks, bad, middle) <= delta:
            high = middle
        else:
            low = middle
    return high


def _chance(wrong: int, tasks: int, bad: int, audits: int) -> float:
    """The probability of at most this many wrong ones among the audits."""
    counts = np.arange(max(0, audits + bad - tasks), min(wrong, bad, audits) + 1)
    ways = _ways(bad, counts) + _ways(tasks - bad, audits - counts) - _ways(tasks, audits)
    return float(np.exp(ways).sum())


def _ways(total: int, taken: Array | int) -> Array:
    """The logarithm of in how many ways some of a total can be taken."""
    return (
        scipy.special.gammaln(total + 1)
        - scipy.special.gammaln(np.add(taken, 1))
        - scipy.special.gammaln(total - np.asarray(taken) + 1)
    )


def audits_for_any_set(tasks: int, *, error: float, confidence: float) -> int:
    """The fewest audits that certify the first set, whichever it is, if none finds an error.

    How many labels it holds is known when they are drawn; counts all sizes from the half on.

    Examples
    --------
    22 audits show that at most 2 of 40 labels are wrong. That at most 1 of 39 is takes more.

    >>> audits_for_any_set(40, error=0.05, confidence=0.9)
    27
    """
    share, doubt = exactly(error), float(1 - exactly(confidence))
    _, least = smallest_set(tasks, error)
    most = math.floor(share * tasks) + 1
    # Of the sets that allow as many errors the largest takes the most audits.
    sizes = [*(math.ceil(bad / share) - 1 for bad in range(least, most)), tasks]
    return max(fewest_audits(size, least + at, doubt) for at, size in enumerate(sizes))
