"""Bounds of paper 000, as printed and as they hold.

There are n workers with qualities q; f_S is the error of a set S, alpha the target, h the bounded
smoothness of f (section 3.1). Delta is the least distance of any set's error from alpha, x =
h^-1(Delta), C(N) the cost of all workers, L the loss where the target is missed.

What holds of the printed text
------------------------------
*Theorem 3.1: a number of selections, not a regret, and without its constant.* The proof has two
workers of whom the cheaper one misses the target. It shows that it is selected ln(T) / kl(q_2,
1 - alpha) times at least, in the limit and for a policy that selects non-optimal sets o(T^a)
times. Each of these selections saves c_1 - c_2 by (4), the printed c_2 - c_1 is negative; it
costs what missing the target costs. And smoothness gives |q_2 - (1 - alpha)| >= x, so 1 / x^2 is
on the wrong side; for one worker f is 1 - q and both are Delta. What remains is alpha (1 - alpha)
ln(T) / Delta^2 selections: ``theorem_3_1_selections``.

*Theorems 4.2 and 5.4: true on the event that all bounds hold in all rounds.* Each n_i has to reach
l = 2 ln(2n/mu) / x^2 (printed without rounding up). The bounds of section 4.1 hold with 1 - mu in
one round with counts fixed beforehand; that they hold in all rounds at once is not shown. With
``bounds="anytime"`` they do, and l is then the root of l = 2 ln(n (l + 1) / mu) / x^2: of k answers
the mixture of all likelihoods is at least the greatest over k + 1, so at the ends of an interval
k kl <= ln(n (k + 1) / mu), and kl is at least twice the squared distance from the mean.

*Corollaries 4.3 and 5.5:* the same with mu = 1/T, each round at C(N). As (5) charges L T with
probability mu, they end with + L.

*Section 6.3: 2 where 1/16 is printed.* If sets are planned for alpha - xi and checked at alpha, the
check holds once the whole interval, twice the radius, is within h^-1(xi): after 2 ln(2n/mu) /
h^-1(xi)^2 rounds, surely. After the printed number intervals are still 5.7 times too wide.

References
----------
Paper 000, sections 3.2, 3.3, 4.2, 5.1, 5.3 and 6.3.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TypedDict, Unpack

import numpy as np

from askwise.core.checks import between, real, whole
from askwise.core.errors import InvalidParameter, TooLarge
from askwise.policies.assured.sets import ErrorFunction
from askwise.policies.assured.sets.base import function_of
from askwise.policies.assured.sets.enumeration import MOST_WORKERS

Function = str | ErrorFunction


def separation(qualities: Sequence[float], alpha: float, error: Function = "majority") -> float:
    """Delta: the least distance of any set's error from alpha (Definition 3.1).

    By all sets: up to 20 workers. The empty set is left out.

    Examples
    --------
    >>> round(separation([0.95, 0.8, 0.7], 0.1), 3)
    0.021
    """
    between(alpha, "alpha", 0, 0.5)
    if not 1 <= len(qualities) <= MOST_WORKERS:
        raise TooLarge(
            f"qualities are {len(qualities)}: all their sets are tried, give 1 to {MOST_WORKERS}",
            field="qualities",
        )
    valid = "numbers from 0 to 1"
    q = np.array([real(each, "qualities", valid, least=0, most=1) for each in qualities])
    function = function_of(error)
    return min(
        abs(function.probability(q[list(some)]) - alpha)
        for size in range(1, len(q) + 1)
        for some in combinations(range(len(q)), size)
    )


class Smoothness(TypedDict, total=False):
    """h^-1 of a gap: as it is (``inverse``), or by an error function and the gap."""

    inverse: float | None
    error: Function | None
    gap: float | None


def inverse_smoothness(
    workers: int,
    *,
    inverse: float | None = None,
    error: Function | None = None,
    gap: float | None = None,
) -> float:
    """h^-1(gap): given as it is, or by an error function and a gap.

    Examples
    --------
    >>> round(inverse_smoothness(10, error="hoeffding-linear", gap=0.05), 4)
    0.015
    """
    whole(workers, "workers", least=1)
    valid = "a number above 0, at most 1"
    if inverse is not None and error is None and gap is None:
        if real(inverse, "inverse", valid, least=0, most=1) == 0.0:
            raise InvalidParameter(f"inverse is {inverse!r}: give {valid}", field="inverse")
        return float(inverse)
    if inverse is not None or error is None or gap is None:
        raise InvalidParameter(
            "give either inverse (h^-1 of the gap), or error and gap", field="inverse"
        )
    if real(gap, "gap", valid, least=0, most=1) == 0.0:
        raise InvalidParameter(f"gap is {gap!r}: give {valid}", field="gap")
    found = function_of(error).inverse_smoothness(gap, workers)
    if found is None:
        raise InvalidParameter(
            f"error is {error!r}: its smoothness is not known, give inverse", field="error"
        )
    return min(1.0, found)


def _learned(workers: int, mu: float, x: float, anytime: bool) -> float:
    """How often a worker must be observed for an interval of width x."""
    between(mu, "mu", 0, 1)
    count = 2.0 * math.log(2.0 * workers / mu) / x**2
    if not anytime:
        return count
    # From below to the root: the right side grows with the logarithm.
    while True:
        count = max(count, 1.0)
        wider = 2.0 * math.log(workers * (count + 1.0) / mu) / x**2
        if wider <= count * (1.0 + 1e-12):
            return max(wider, count)
        count = wider


def theorem_3_1(tasks: int, workers: int, **known: Unpack[Smoothness]) -> float:
    """Theorem 3.1 as printed: ln(T) / h^-1(Delta)^2. Not proved: see the module's text.

    Parameters
    ----------
    tasks : int
        T.
    workers : int
        n, which smoothness may depend on.
    inverse, error, gap
        h^-1(Delta), or an error function and Delta.

    Examples
    --------
    >>> round(theorem_3_1(10_000, 5, inverse=0.1), 1)
    921.0
    """
    x = inverse_smoothness(workers, **known)
    return math.log(whole(tasks, "tasks", least=1)) / x**2


def theorem_3_1_selections(tasks: int, alpha: float, gap: float) -> float:
    """Give the number that the proof of Theorem 3.1 has: alpha (1 - alpha) ln(T) / Delta^2.

    In the limit of many tasks T, how often a worker who misses the target by Delta is selected,
    who would suffice alone, and cost less than the other one, if they reached it.

    Examples
    --------
    >>> round(theorem_3_1_selections(10_000, 0.1, 0.1), 1)
    82.9
    """
    between(alpha, "alpha", 0, 0.5)
    between(gap, "gap", 0, 1)
    return alpha * (1.0 - alpha) * math.log(whole(tasks, "tasks", least=1)) / gap**2


def theorem_4_2(
    workers: int, mu: float, *, anytime: bool = False, **known: Unpack[Smoothness]
) -> float:
    """Most tasks that ``ccb-ns`` gives to a non-optimal set: n 2 ln(2n/mu) / h^-1(Delta)^2.

    On the event that all bounds hold in all rounds, and with an exact solver.

    Parameters
    ----------
    workers, mu
        n, and the probability with which bounds may fail.
    inverse, error, gap
        h^-1(Delta), or an error function and Delta.
    anytime : bool
        Whether for ``bounds="anytime"``, whose event has a probability of at least 1 - mu; for
        the paper's bounds that is not shown.

    Examples
    --------
    >>> (
    ...     round(theorem_4_2(10, 0.05, inverse=0.2)),
    ...     round(theorem_4_2(10, 0.05, inverse=0.2, anytime=True)),
    ... )
    (2996, 5834)
    """
    x = inverse_smoothness(workers, **known)
    return workers * _learned(workers, mu, x, anytime)


def theorem_5_4(
    workers: int, mu: float, *, anytime: bool = False, **known: Unpack[Smoothness]
) -> float:
    """Most tasks that ``ccb-s`` gives to a non-optimal set: 2 ln(2n/mu) / h^-1(Delta)^2.

    Parameters and event as in ``theorem_4_2``.

    Examples
    --------
    >>> round(theorem_5_4(10, 0.05, inverse=0.2))
    300
    """
    x = inverse_smoothness(workers, **known)
    return _learned(workers, mu, x, anytime)


def corollary_4_3(
    workers: int,
    tasks: int,
    cost_of_all: float,
    loss: float,
    *,
    anytime: bool = False,
    **known: Unpack[Smoothness],
) -> float:
    """Bound the expected regret (5) of ``ccb-ns`` with mu = 1/T, C(N) and L being given.

    It follows from ``theorem_4_2`` and holds where that does.

    Examples
    --------
    >>> round(corollary_4_3(10, 1000, 30.0, 500.0, inverse=0.2))
    148904
    """
    rounds = theorem_4_2(workers, _at_mu(tasks), anytime=anytime, **known)
    return _regret(rounds, tasks, cost_of_all, loss)


def corollary_5_5(
    workers: int,
    tasks: int,
    cost_of_all: float,
    loss: float,
    *,
    anytime: bool = False,
    **known: Unpack[Smoothness],
) -> float:
    """Bound the expected regret (5) of ``ccb-s`` with mu = 1/T, as ``corollary_4_3`` does.

    Examples
    --------
    >>> round(corollary_5_5(10, 1000, 30.0, 500.0, inverse=0.2))
    15340
    """
    rounds = theorem_5_4(workers, _at_mu(tasks), anytime=anytime, **known)
    return _regret(rounds, tasks, cost_of_all, loss)


def _at_mu(tasks: int) -> float:
    return 1.0 / whole(tasks, "tasks", least=2)


def _regret(rounds: float, tasks: int, cost_of_all: float, loss: float) -> float:
    cost = real(cost_of_all, "cost_of_all", "an amount of 0 or more", least=0)
    return (1.0 - 1.0 / tasks) * rounds * cost + _loss(loss)


def _loss(loss: float) -> float:
    return real(loss, "loss", "an amount of 0 or more", least=0)


def rounds_with_range(
    workers: int,
    mu: float,
    *,
    inverse: float | None = None,
    error: Function | None = None,
    xi: float | None = None,
    anytime: bool = False,
) -> float:
    """Most tasks that ``ccb-s`` explores with a range xi: 2 ln(2n/mu) / h^-1(xi)^2. Proved.

    Whatever the qualities, if some set reaches alpha - xi at the upper bounds.

    Parameters
    ----------
    workers, mu, anytime
        As in ``theorem_4_2``.
    inverse, error, xi
        h^-1(xi), or an error function and xi.

    Examples
    --------
    >>> round(rounds_with_range(10, 0.05, error="hoeffding-linear", xi=0.05))
    53257
    """
    x = inverse_smoothness(workers, inverse=inverse, error=error, gap=xi)
    return _learned(workers, mu, x, anytime)


def rounds_with_range_as_printed(
    workers: int,
    mu: float,
    *,
    inverse: float | None = None,
    error: Function | None = None,
    xi: float | None = None,
) -> float:
    """Give the first term of 6.3 as printed, ln(2n/mu) / (16 h^-1(xi)^2): NOT proved.

    A thirty-second part of ``rounds_with_range``, which is.

    Examples
    --------
    >>> round(rounds_with_range_as_printed(10, 0.05, error="hoeffding-linear", xi=0.05))
    1664
    """
    return rounds_with_range(workers, mu, inverse=inverse, error=error, xi=xi) / 32.0


def expected_regret(regret: float, tasks: int, mu: float, loss: float) -> float:
    """Eq. (5): (1 - mu) R + mu L T, R being the regret (4) where the target is met.

    Examples
    --------
    >>> expected_regret(1000.0, 100, 0.01, 50.0)
    1040.0
    """
    share = real(mu, "mu", "a number from 0 to 1", least=0, most=1)
    real(regret, "regret", "a number")
    return (1.0 - share) * regret + share * _loss(loss) * whole(tasks, "tasks", least=1)


def social_welfare(cost: float, error: float, alpha: float, reward: float, loss: float) -> float:
    """W(S) of section 5.1: R less the set's cost if its error is below alpha, else -L less it.

    Examples
    --------
    >>> social_welfare(10.0, 0.05, 0.1, reward=100.0, loss=500.0)
    90.0
    >>> social_welfare(10.0, 0.15, 0.1, reward=100.0, loss=500.0)
    -510.0
    """
    between(alpha, "alpha", 0, 0.5)
    real(cost, "cost", "an amount of 0 or more", least=0)
    real(error, "error", "a number from 0 to 1", least=0, most=1)
    gained = real(reward, "reward", "an amount of 0 or more", least=0)
    return (gained if error < alpha else -_loss(loss)) - cost
