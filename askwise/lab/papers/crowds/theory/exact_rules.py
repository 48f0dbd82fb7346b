"""What rules (1) and (3) of paper 004 do on two options, computed rather than simulated.

Whether they stop depends on the number of answers N and on the lead l alone. A sequence of
answers has the probability p^((N+l)/2) q^((N-l)/2), and 2^-N if answers are fair. So one walk
over the lead with fair answers gives every p, each of its ends weighted by the ratio.

Three laws follow, for p from 1/2 on. Couple the answers of p <= p': the lead under p' is never
less, so who ends wrong under p' ends wrong under p, and *the error falls in the gap*. |lead| is
a Markov chain that goes up with (p^(l+1) + q^(l+1)) / (p^l + q^l), which rises in p and in l, so
*the number of answers falls in the gap*: the rule is gap-decreasing, as paper 004 asks. A larger
C or horizon stops every walk later, and the leading option is the likelier one whenever one
stops, so *both lower the error* of rule (3), which answers at the horizon too.

References
----------
Paper 004, section 2, rule (1), Theorem 1; section 5, rule (3); appendix C.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from askwise.core.checks import between, one_of, real, whole
from askwise.core.errors import InvalidParameter

Array = npt.NDArray[Any]
Quality = float | Callable[[Array], Array]

READINGS = ("gap", "printed")
"""How a gap becomes p: (1 + gap) / 2, the paper's definition, or min(1, .5 + gap), its numbers."""

_HORIZON = 100_000
# Followed until less than this is left.
_TAIL = 1e-14
# Ends weighted at a time, and nodes of the quadrature.
_BLOCK, _NODES = 4096, 64


class Ending(NamedTuple):
    """Probability of ending at the horizon, by which option leads there."""

    right: float | Array
    tied: float | Array
    wrong: float | Array


class Exact(NamedTuple):
    """What a rule does: expected answers, probability of stopping wrong, and of not stopping.

    The rule is judged after every answer, the one at the horizon included: ``error`` has what
    it stops there, ``unfinished`` what it does not. An unfinished question has cost ``horizon``
    answers. The rest, 1 - error - sum(unfinished), stops with the right option.
    """

    cost: float | Array
    error: float | Array
    unfinished: Ending

    @property
    def forced_error(self) -> float | Array:
        """Error of rule (3): at the horizon the leading option is given, a tie by a fair coin."""
        return self.error + self.unfinished.wrong + self.unfinished.tied / 2


def gap_rule(
    p: npt.ArrayLike,
    quality: Quality | None = None,
    *,
    smooth: bool = True,
    schedule_delta: float | None = None,
    horizon: int = _HORIZON,
) -> Exact:
    """Give cost and error of rule (1): stop when the lead exceeds C sqrt(answers), strictly.

    Parameters
    ----------
    p : array_like
        Probability of the right answer, from 1/2 to 1; with a gap, (1 + gap) / 2.
    quality : float or callable, optional
        C, or a function that gives it for an array of numbers of answers. Up to about 30.
    smooth : bool
        Whether C sqrt(N) is rounded up with the probability of its fraction, else down, afresh
        at each answer. As leads are whole, it stops only where the plain rule would, not always.
    schedule_delta : float, optional
        The delta of Theorem 1 in place of a quality: C = sqrt(log(2 / delta * N^2)).
    horizon : int
        The most answers. At p = 1/2 the mean number without it is infinite from C = 1 on: it
        would be that of the squared lead at the end, and that exceeds C^2 times the answers.

    Returns
    -------
    Exact
        Of the shape of ``p``. A rest below 1e-14 is not followed.

    Examples
    --------
    C = 1, plain: two equal answers are enough, one is not; after a tie three are not.

    >>> exact = gap_rule(0.8, 1, smooth=False, horizon=3)
    >>> round(exact.cost, 6), round(exact.error, 6)  # 2 * .68 + 3 * .32, .2 * .2
    (2.32, 0.04)
    """
    right = _probabilities(p)
    term = _terms(quality, schedule_delta, horizon)
    return _at(right.ravel(), _walk(term, smooth, float(right.min())), right.shape)


def stopping_times(
    p: float, quality: Quality, *, smooth: bool = True, horizon: int = _HORIZON
) -> tuple[Array, Array]:
    """After how many answers rule (1) stops: probabilities of stopping right, and wrong.

    The first entries are of one answer; parameters as in ``gap_rule``.

    Examples
    --------
    >>> right, wrong = stopping_times(0.8, 1, smooth=False, horizon=3)
    >>> right.round(2).tolist(), wrong.round(2).tolist()
    ([0.0, 0.64, 0.0], [0.0, 0.04, 0.0])
    """
    chance = float(_probabilities(p))
    ends = _walk(_terms(quality, None, horizon), smooth, chance)
    ahead, behind = _weighted(np.array([chance]), ends.answers, ends.lead, ends.chance)
    found = np.zeros((2, ends.last))
    for row, each in zip(found, (ahead, behind), strict=True):
        np.add.at(row, ends.answers.astype(np.int64) - 1, each[:, 0])
    return found[0], found[1]


def over_gaps(
    low: float,
    high: float,
    quality: Quality | None = None,
    *,
    reading: str = "gap",
    smooth: bool = True,
    schedule_delta: float | None = None,
    horizon: int = _HORIZON,
) -> Exact:
    """Average ``gap_rule`` over a gap uniform from ``low`` to ``high``, as in appendix C.

    Parameters
    ----------
    low, high : float
        Range of the gap, within [0, 1].
    quality, smooth, schedule_delta, horizon
        As in ``gap_rule``.
    reading : str
        ``"gap"``: p = (1 + gap) / 2; ``"printed"``: p = min(1, .5 + gap).

    Returns
    -------
    Exact
        By Gauss-Legendre quadrature, to ten digits or more if ``low`` is above 0.

    Examples
    --------
    >>> exact = over_gaps(0.05, 1, 1.5)
    >>> round(exact.cost, 2), round(100 * exact.error, 2)
    (25.7, 3.34)
    """
    p, weights = _nodes(low, high, reading)
    exact = gap_rule(p, quality, smooth=smooth, schedule_delta=schedule_delta, horizon=horizon)
    cost, error, *unfinished = (
        float(weights @ each) for each in (exact.cost, exact.error, *exact.unfinished)
    )
    return Exact(cost, error, Ending(*unfinished))


def quality_for(
    error: float,
    low: float,
    high: float,
    *,
    reading: str = "gap",
    smooth: bool = True,
    horizon: int = _HORIZON,
) -> float:
    """Find the least quality at which rule (3) errs with a given probability, or less.

    Parameters
    ----------
    error : float
        ``forced_error`` to reach, averaged over the gaps. With ``low`` = ``high`` the worst case
        over all larger gaps: the error falls in the gap.
    low, high, reading, smooth, horizon
        As in ``over_gaps``.

    Returns
    -------
    float
        The quality, to 1e-6 from above.

    Examples
    --------
    >>> round(quality_for(0.05, 0.2, 0.2, horizon=101), 3)
    1.774
    """
    between(error, "error", 0, 1)

    def errs(quality: float) -> float:
        exact = over_gaps(low, high, quality, reading=reading, smooth=smooth, horizon=horizon)
        return float(exact.forced_error)

    def excess(quality: float) -> float:
        return math.log(max(errs(quality), 1e-300) / error)

    # From sqrt(horizon) on nothing stops before the horizon, and no rule errs less.
    most = min(math.sqrt(horizon), 30.0)
    under, over, above = 0.0, min(0.5, most), excess(0.0)
    if above <= 0.0:
        return 0.0
    while (below := excess(over)) > 0.0:
        if over == most:
            raise InvalidParameter(
                f"error is {error!r}: with {horizon} answers give at least {errs(most):.4g}",
                field="error",
            )
        under, above, over = over, below, min(2.0 * over, most)
    # False position on the logarithm, after Illinois: an end that stays counts half.
    stayed = 0
    while over - under > 1e-6 and below < -1e-7:
        part = min(max(above / (above - below), 1e-3), 0.999)
        middle = under + part * (over - under)
        if (at := excess(middle)) > 0.0:
            under, above, below = middle, at, below / 2.0 if stayed > 0 else below
            stayed = 1
        else:
            over, below, above = middle, at, above / 2.0 if stayed < 0 else above
            stayed = -1
    return over


def majority_error(low: float, high: float, answers: int, *, reading: str = "gap") -> float:
    """Error of the majority of a fixed number of answers, gaps uniform from low to high.

    A tie goes by a fair coin, so an even number errs as the odd one before it: the last answer
    changes something only by making a tie.

    Parameters
    ----------
    low, high, reading
        As in ``over_gaps``.
    answers : int
        How many, from 0 on.

    Returns
    -------
    float
        P(Bin(answers, p) below half), by incomplete beta functions and without quadrature.

    Examples
    --------
    >>> round(majority_error(0.6, 0.6, 3), 6)  # p = .8: .2^3 + 3 * .2^2 * .8
    0.104
    """
    # The registry imports every module of this package, and SciPy takes its time.
    from scipy.special import betainc

    _gaps(low, high, reading)
    m = (whole(answers, "answers", least=0) + 1) // 2
    if m == 0:
        return 0.5
    scale = 0.5 if reading == "gap" else 1.0
    if low == high:
        return float(betainc(m, m, max(0.0, 0.5 - scale * low)))
    ends = np.maximum(0.0, 0.5 - scale * np.array([high, low]))
    # I_x(m, m) is the chance of fewer than m right ones of 2m - 1; this is its integral.
    below, above = ends * betainc(m, m, ends) - betainc(m + 1, m, ends) / 2
    return float((above - below) / (scale * (high - low)))


def fixed_number(low: float, high: float, error: float, *, reading: str = "gap") -> float:
    """Give the number of answers by majority that errs as often as asked: no rule, a number.

    Between two odd numbers it is drawn which, so that the error is met exactly: the result is
    the mean of the drawn number. The next odd number from it on is what a plain majority needs.

    Parameters
    ----------
    low, high, reading
        As in ``over_gaps``.
    error : float
        The error to reach, below 1/2.

    Returns
    -------
    float
        The mean number, at least 1.

    Examples
    --------
    >>> round(fixed_number(0.6, 0.6, 0.15), 4)  # 1 errs .2, 3 err .104
    2.0417
    """
    between(error, "error", 0, 0.5)
    if high == 0.0:
        raise InvalidParameter("high is 0: give a gap above 0", field="high")

    def errs(m: int) -> float:
        return majority_error(low, high, 2 * m - 1, reading=reading)

    under, over = 0, 1
    while errs(over) > error:
        under, over = over, 2 * over
        if over > 2**40:
            raise InvalidParameter(f"error is {error!r}: give a larger one", field="error")
    while over - under > 1:
        middle = (under + over) // 2
        under, over = (under, middle) if errs(middle) <= error else (middle, over)
    if over == 1:
        return 1.0
    more, less = errs(under), errs(over)
    return 2 * under - 1 + 2.0 * (more - error) / (more - less)


class _Ends(NamedTuple):
    """Where a fair walk stops: answers, lead, and the probability of that lead for one option."""

    answers: Array
    lead: Array
    chance: Array
    last: int
    """How many answers the walk was followed for."""
    left: Array
    """The probability of each lead of one option that has not stopped by then."""


def _walk(term: Array, smooth: bool, p: float) -> _Ends:
    """Follow fair answers until hardly any walk with the least ``p`` is left."""
    down = np.floor(term)
    stay = (term - down if smooth else np.zeros_like(term)).tolist()
    horizon = len(term)
    floors = np.minimum(down, horizon).astype(np.int64).tolist()
    size = min(floors[-1] + 2, horizon) + 3
    now, then = np.zeros(size), np.zeros(size)
    now[0] = 1.0
    ends: list[tuple[int, int, float]] = []
    answers, check = 0, 32
    for answers in range(1, horizon + 1):
        # A run that has not stopped leads by floor + 1 at most, so by floor + 2 after an answer.
        first = floors[answers - 1] + 1
        top = min(answers, first + 1)
        np.add(now[:top], now[2 : top + 2], out=then[1 : top + 1])
        then[1 : top + 1] *= 0.5
        then[0] = now[1]
        now, then = then, now
        if top > first:
            ends.append((answers, top, now[top]))
            now[top] = 0.0
        if top >= first:
            halt = (1.0 - stay[answers - 1]) * now[first]
            ends.append((answers, first, halt))
            now[first] -= halt
        if answers == check:
            check += check // 8
            left = now[: answers + 1]
            if np.sum(_weighted(np.array([p]), answers, np.arange(len(left)), left)) < _TAIL:
                break
    table = np.array([end for end in ends if end[2] > 0.0]).reshape(-1, 3)
    return _Ends(table[:, 0], table[:, 1], table[:, 2], answers, now[: answers + 1])


def _weighted(p: Array, answers: Any, lead: Array, chance: Array) -> tuple[Array, Array]:
    """Probability of the right and of the wrong option leading so, a row an end, a column a p."""
    wrong = (answers - lead)[:, np.newaxis] / 2.0
    # What has no answer for the other option is possible at p = 1: 0 * log(0) is to be 0.
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log(2.0 * p), np.maximum(np.log(2.0 - 2.0 * p), -1e300)
        log_chance = np.log(chance)[:, np.newaxis]
    lead = lead[:, np.newaxis]
    ahead = np.exp(log_chance + (wrong + lead) * log_p + wrong * log_q)
    return ahead, ahead * np.exp(lead * (log_q - log_p))


def _at(p: Array, ends: _Ends, shape: tuple[int, ...]) -> Exact:
    cost, error, right = np.zeros((3, len(p)))
    for start in range(0, len(ends.lead), _BLOCK):
        block = slice(start, start + _BLOCK)
        answers = ends.answers[block]
        ahead, behind = _weighted(p, answers, ends.lead[block], ends.chance[block])
        cost += answers @ (ahead + behind)
        right += ahead.sum(axis=0)
        error += behind.sum(axis=0)
    ahead, behind = _weighted(p, ends.last, np.arange(len(ends.left)), ends.left)
    # Where nobody leads the two are one and the same.
    leads = (ahead[1:].sum(axis=0), ahead[0], behind[1:].sum(axis=0))
    rest = sum(leads)
    if not np.all(np.abs(right + error + rest - 1.0) < 1e-9):
        raise InvalidParameter(
            "quality is too large for exact figures: give up to about 30", field="quality"
        )
    cost += ends.last * rest
    parts = (cost, error, *leads)
    shaped = [each.reshape(shape) if shape else float(each[0]) for each in parts]
    return Exact(shaped[0], shaped[1], Ending(*shaped[2:]))


def _terms(quality: Quality | None, delta: float | None, horizon: int) -> Array:
    """Right-hand side of rule (1) after 1, 2, ... answers."""
    answers = np.arange(1.0, whole(horizon, "horizon", least=1) + 1.0)
    if (quality is None) == (delta is None):
        raise InvalidParameter(
            f"quality is {quality!r} and schedule_delta is {delta!r}: give one of them",
            field="quality",
        )
    if delta is not None:
        between(delta, "schedule_delta", 0, 1)
        C = np.sqrt(np.log(2.0 / delta * answers**2))
    elif callable(quality):
        C = np.asarray(quality(answers), dtype=np.float64)
    else:
        C = np.full(horizon, real(quality, "quality", "a number of 0 or more", least=0))
    term = C * np.sqrt(answers)
    if term.shape != answers.shape or not np.all(np.diff(term, prepend=0.0) >= 0.0):
        raise InvalidParameter(
            "quality gives terms that fall: C(N) * sqrt(N) must not fall in N", field="quality"
        )
    return term


def _probabilities(p: npt.ArrayLike) -> Array:
    right = np.asarray(p, dtype=np.float64)
    if right.size == 0 or not np.all((right >= 0.5) & (right <= 1.0)):
        raise InvalidParameter(f"p is {p!r}: give numbers from 0.5 to 1", field="p")
    return right


def _gaps(low: float, high: float, reading: str) -> None:
    one_of(reading, "reading", READINGS)
    real(low, "low", "a number from 0 to 1", least=0, most=1)
    real(high, "high", f"a number from {low} to 1", least=low, most=1)


def _nodes(low: float, high: float, reading: str) -> tuple[Array, Array]:
    """Probabilities of the right answer and their weights, for a gap uniform in a range."""
    _gaps(low, high, reading)
    scale, end = (0.5, high) if reading == "gap" else (1.0, max(low, min(high, 0.5)))
    if low == end:
        return np.array([min(1.0, 0.5 + scale * low)]), np.ones(1)
    at, weights = np.polynomial.legendre.leggauss(_NODES)
    # Squared, for all is steep at small gaps.
    t = (at + 1.0) / 2.0
    p = 0.5 + scale * (low + (end - low) * t**2)
    share = (end - low) / (high - low)
    # Beyond a gap of 1/2 "printed" is sure of the right answer.
    return np.append(p, 1.0), np.append(weights * t * share, 1.0 - share)
