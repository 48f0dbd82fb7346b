"""How many audits may be wrong for a set of labels to be certified, looking often or once.

A set of ``size`` labels is false if ``too_many`` of them or more are wrong. Its tasks are audited
in a random order; after t audits, k of them were wrong. The set is certified as soon as k is at
most c(t). The limits c are as generous as they may be: a set with exactly ``too_many`` wrong labels
(one with more is certified less often still) ever reaches them with a probability of at most
``doubt``. That holds for all looks together, so looking after every audit costs nothing.
"""

import math
from functools import lru_cache

import numpy as np

from askwise.core.arrays import Array

EARNED = 1.5
"""The doubt that a look may use grows with this power of the share of audits made: early looks
certify only what is clean, so that enough is left for sets with some errors."""

HALVINGS = 40
"""Steps of the search for the most generous limits."""

WORTH_USING = 0.05
"""Less doubt than this share of it may be left over."""

SLACK = 1e-9
"""The doubt is taken this share smaller: rounding must not use it up."""


@lru_cache(maxsize=4096)
def limits(size: int, too_many: int, audits: int, doubt: float) -> Array:
    """The most wrong audits c(t) after t = 0, 1, ... audits; -1 where no number will do.

    Parameters
    ----------
    size : int
        Labels in the set.
    too_many : int
        The fewest wrong labels that make the set false.
    audits : int
        The most audits that will be made.
    doubt : float
        The probability with which a false set may be certified.

    Examples
    --------
    With up to 100 audits, 38 without an error show that at most a tenth of 1,000 labels are wrong.

    >>> limits(1000, 101, 100, 0.1)[[37, 38, 100]].tolist()
    [-1, 0, 5]
    >>> limits(20, 3, 5, 0.1).max().item()
    -1
    """
    audits = min(audits, size)
    chances = _chances(size, too_many, audits, doubt)
    below = _distribution(chances)
    earned = (np.arange(len(below)) / audits) ** EARNED
    low, high = 0.0, 1.0
    found, generous = _levels(below, low * earned), _levels(below, high * earned)
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        tried = _levels(below, middle * earned)
        if (tried == found).all():
            low = middle
        elif (tried == generous).all():
            high = middle
        elif _ever(tried, chances) <= doubt * (1.0 - SLACK):
            low, found = middle, tried
        else:
            high, generous = middle, tried
        if (found == generous).all():
            break
    found = _with_the_rest(found, chances, doubt * (1.0 - SLACK))
    found.flags.writeable = False
    return found


def fewest_audits(size: int, too_many: int, doubt: float) -> int:
    """The fewest audits that certify a set, if none of them finds an error.

    Examples
    --------
    >>> fewest_audits(1000, 101, 0.1), fewest_audits(1000, 51, 0.1), fewest_audits(20, 3, 0.1)
    (22, 44, 11)
    """
    missed, audits = 1.0, 0
    while missed > doubt * (1.0 - SLACK):
        missed *= max(0, size - too_many - audits) / (size - audits)
        audits += 1
    return audits


def limit_at_once(size: int, too_many: int, audits: int, doubt: float) -> int:
    """The most wrong audits with which a set is certified by one look; -1 if no number will do.

    Examples
    --------
    >>> limit_at_once(1000, 101, 21, 0.1), limit_at_once(1000, 101, 22, 0.1)
    (-1, 0)
    """
    below = _distribution(_chances(size, too_many, audits, doubt))[-1]
    return int((below <= doubt * (1.0 - SLACK)).sum()) - 1


def _chances(size: int, too_many: int, audits: int, doubt: float) -> Array:
    """The probability that the next audit is wrong, by audits made (rows) and wrong ones so far.

    For a set with just too many wrong labels, up to the numbers of wrong ones that matter: a limit
    whose probability is above the doubt at any t is out of the question by itself.
    """
    steps = min(size, audits)
    spread = math.sqrt(steps * -math.log(max(1e-300, 1.0 - doubt)) / 2.0)
    kept = min(too_many, steps, math.ceil(steps * too_many / size + spread)) + 1
    made, wrong = np.arange(steps)[:, None], np.arange(kept)
    return np.clip((too_many - wrong) / (size - made), 0.0, 1.0)


def _distribution(chances: Array) -> Array:
    """P(at most k wrong after t audits), a row for each t."""
    rows = np.zeros((len(chances) + 1, chances.shape[1]))
    rows[0, 0] = 1.0
    for t, wrong in enumerate(chances):
        rows[t + 1] = _after_one_more(rows[t], wrong)
    return np.cumsum(rows, axis=1)


def _after_one_more(row: Array, wrong: Array) -> Array:
    """The probabilities of k wrong audits after one more, from those before it."""
    moved = row * wrong
    after = row - moved
    after[1:] += moved[:-1]
    return after


def _levels(below: Array, level: Array) -> Array:
    """The largest k at each t whose probability is at most the level."""
    found = (below <= level[:, None]).sum(axis=1) - 1
    found[0] = -1
    return found


def _ever(found: Array, chances: Array) -> float:
    """The probability that a set with just too many wrong labels ever keeps within the limits."""
    return _outside(found, chances)[1]


def _outside(found: Array, chances: Array) -> tuple[Array, float]:
    """P(k wrong after t audits, never within the limits before t), and P(ever within them)."""
    width = min(int(found.max()) + 2, chances.shape[1])
    rows = np.zeros((len(found), width))
    rows[0, 0] = 1.0
    total, row = 0.0, rows[0]
    for t in range(1, len(found)):
        row = rows[t] = _after_one_more(row, chances[t - 1, :width])
        if found[t] >= 0:
            total += float(row[: found[t] + 1].sum())
            row = row.copy()
            row[: found[t] + 1] = 0.0
    return rows, total


def _with_the_rest(found: Array, chances: Array, doubt: float) -> Array:
    """Reach each number of wrong audits earlier, as far as doubt is left over.

    Limits are whole numbers, so the best level of all rarely uses the doubt up. To reach k at one
    t earlier adds what is there with k wrong audits, unless it is within the limits later anyway.
    """
    found = found.copy()
    for k in range(chances.shape[1]):
        reached, used = _outside(found, chances)
        at = int(np.searchsorted(found, k)) - 1
        later = np.zeros(chances.shape[1])
        for t in range(len(found) - 1, 0, -1):
            if t <= at:
                if k > 0 and found[t] < k - 1:
                    break
                used += reached[t, k] * (1.0 - later[k])
                if used > doubt:
                    break
                found[t] = k
                if used > doubt * (1.0 - WORTH_USING):
                    return found
            within = later.copy()
            within[: found[t] + 1] = 1.0
            wrong = chances[t - 1]
            later = within * (1.0 - wrong)
            later[:-1] += within[1:] * wrong[:-1]
        if k > found[-1]:
            break
    return found
