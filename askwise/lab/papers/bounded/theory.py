"""Regret bounds of bounded epsilon-first: section 5 of paper 003, as printed.

With N workers, prices c, means mu, budget B, C = sum of c, L = -ln((1 - beta^(1/N)) / 2) and
d_max the spread of the densities mu/c, the bounds (10) and (21) are

    2 + c_min max(mu/c) + eps B d_max + 2 N sqrt(B L W / eps),

W = C for uniform exploration, W = c_max (N + 3) ln(N) / 2 for Successive Rejects.

Beta is the probability *with* which a bound holds: high confidence needs beta near one. In the
Hoeffding Races of the same paper beta is the probability of error: .05 there is .95 here.

What holds of the printed text
------------------------------
*Eqs. (18), (19), (22): true.* a e + b / sqrt(e) is least at e = (b / 2a)^(2/3), worth 3 a e;
a = B d_max and b = 2 N sqrt(B L W) give (18), (19) and (22) exactly. Left unsaid: e <= 1.
Where (18) gives e > 1, the varying part of (10) at eps = 1 is (1 + 2 e^1.5) / 3e times that of
(19), 3.0 times at e = 20. With eps capped at one (19) stays true but says nothing: it exceeds
3 B d_max, and money spent on anybody at all loses at most B d_max + 1 (Lemma 4 at eps = 1).
It says more than that only where e < 1/3.

*Theorem 1: true, two steps of its proof are not.* Once limits bind, Lemma 3 fails (Eq. (8) has
only the limits that exploration left) and so does (14) (the cheapest worker may be used up).
Mended, for any limits and without the term in c_min: let exploration buy x for E <= eps B and
the optimum be y. Of (y - x)^+ at most sum c (x - y)^+ does not fit into B - E; cutting it
costs max(mu/c) a unit of money, x earned at least min(mu/c) a unit beyond y: the loss is at
most d_max E. (If what exploration leaves does not carry over: d_max eps B + 1, by Lemma 4,
while exploration meets no limit.) floor(r) >= r/2 for r >= 1 is right and gives the 2N.

*Theorem 1: loose by the factor N c_min in its last term.* The x_j of (17) share one budget, so
sum delta_j x_j <= max(delta) B / c_min; the proof takes N max(delta) B. Hence (10) depends on
the unit of money (the cheapest price as unit is best, and needed if it is below one), and it
lies below the optimum only after 4 N^2 L / max(mu/c)^2 rounds of exploration. Where
eps B < C it exceeds B.

*Theorem 7: true, three steps of its proof are not.* Let H = 1/2 + sum_{j=2..N} 1/j. (Where it
is defined the sum ends at N - 1; Eq. (20) then overspends H / (H - 1/N) times, twice at N = 2.)
H <= ln N is false for every N: H - ln N falls from .31 at N = 2 to .077. (To N - 1 it holds for
N <= 6.) sqrt(2) + sum_{j=2..N} sqrt(j) <= N sqrt((N(N+1) + 1) / 2N) is false for N = 2, 3, 4;
+ 2 is right, by Cauchy-Schwarz, and still gives N sqrt((N + 3) / 2). (25) with ln N thus fails
at N = 2, by 7.4%, and holds from 3 on. Hoeffding's inequality is used at a number of pulls that
depends on the answers. The printed constant survives: a union over the N - 1 possible numbers
adds ln(N - 1) to L, and with one budget shared the last term is at most
2 sqrt(B (L + ln(N - 1)) N H c_max / eps) / c_min, less than in (21) by H <= 1.45 ln N, L > ln 2
and 1 + log2(N - 1) <= N - 1. (Below eps B = N H c_max, where a floor in (20) may be zero, (21)
exceeds B.)

*(22) against (19): true for N >= 9, as claimed, and in fact for N >= 3.* The argument, ln N > 2,
works from N = 8; C <= N c_max and ln N > 2N / (N + 3) do from N = 3, whatever the prices (at 3
it is 1.099 > 1, and 1/N > 6 / (N + 3)^2 beyond). Footnote 10 is right for N = 2 only, where
(22) is the smaller one if c_min > .733 c_max.

References
----------
Paper 003, section 5.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from askwise.core.errors import InvalidParameter

Array = npt.NDArray[Any]


def density_spread(means: npt.ArrayLike, prices: npt.ArrayLike) -> float:
    """Return d_max, the largest difference between two workers' utilities per price.

    Parameters
    ----------
    means : array_like
        Mean utility of an answer, per worker.
    prices : array_like
        Price of an answer, per worker, in whole units of money.

    Returns
    -------
    float
        max mu/c - min mu/c; 0 for a single worker.

    Examples
    --------
    >>> round(density_spread([0.8, 0.4], [2, 4]), 12)
    0.3
    """
    c, mu = _workers(prices, means)
    return float(np.ptp(mu / c))


def theorem_1(
    epsilon: float, budget: float, prices: npt.ArrayLike, means: npt.ArrayLike, beta: float
) -> float:
    """Eq. (10): regret of bounded epsilon-first with uniform exploration.

    Conditions: 0 < epsilon < 1; one round of everybody fits into epsilon * budget; prices
    above one; utilities in [0, 1], independent between workers. Outside them the formula's
    value is returned all the same; ``theorem_1_holds`` tells.

    Parameters
    ----------
    epsilon : float
        Share of the budget that is explored with.
    budget : float
        All the money, in the unit of the prices.
    prices, means : array_like
        Price and mean utility of an answer, per worker.
    beta : float
        Probability with which the regret stays within the bound: near one for a bound to
        rely on.

    Returns
    -------
    float
        The bound, in utility.

    Examples
    --------
    >>> round(theorem_1(0.5, 12_800, [2, 4], [0.8, 0.4], beta=0.95), 1)
    5199.7
    """
    c, mu = _workers(prices, means)
    return _at(epsilon, budget, c, mu, beta, float(c.sum()))


def theorem_1_holds(
    epsilon: float, budget: float, prices: npt.ArrayLike, means: npt.ArrayLike, beta: float
) -> bool:
    """Tell whether the conditions stated for Theorems 1 and 7 are met.

    They are 0 < epsilon, beta < 1, epsilon * budget >= sum of prices, every price above one
    and every mean in [0, 1]. That utilities themselves stay in [0, 1] and are independent
    between workers can't be seen from here.

    Parameters
    ----------
    epsilon, budget, prices, means, beta
        As in ``theorem_1``.

    Returns
    -------
    bool
        True if the theorem speaks about this case.

    Examples
    --------
    >>> theorem_1_holds(0.5, 12_800, [2, 4], [0.8, 0.4], beta=0.95)
    True
    >>> theorem_1_holds(0.5, 10, [2, 4], [0.8, 0.4], beta=0.95)
    False
    """
    c, mu = _workers(prices, means)
    # A share such as .29 of 100 must not miss 29 by a rounding error.
    one_round = epsilon * budget >= float(c.sum()) * (1.0 - 1e-12)
    return bool(
        0.0 < epsilon < 1.0 and 0.0 < beta < 1.0 and one_round and c.min() > 1.0 and mu.max() <= 1.0
    )


def optimal_epsilon(
    budget: float,
    prices: npt.ArrayLike,
    means: npt.ArrayLike,
    beta: float,
    capped: bool = True,
) -> float:
    """Eq. (18): the share of exploration that makes ``theorem_1`` least.

    On realistic budgets the equation gives more than one. ``theorem_1`` falls up to its
    minimum, so the cap at one is then the best share there is. If C <= budget and the
    conditions on prices and means hold, one round fits into the share: (18) is at least
    C / budget, because N^2 L > d_max^2.

    Parameters
    ----------
    budget, prices, means, beta
        As in ``theorem_1``.
    capped : bool
        Whether to return at most one.

    Returns
    -------
    float
        The share; without the cap infinite if all densities are equal.

    Examples
    --------
    >>> round(optimal_epsilon(12_800, [2, 4], [0.8, 0.4], beta=0.95), 3)
    0.45
    >>> optimal_epsilon(500, [2, 4], [0.8, 0.4], beta=0.95)
    1.0
    """
    c, mu = _workers(prices, means)
    _positive("budget", budget)
    d_max = float(np.ptp(mu / c))
    spread = _spread(beta, len(c))
    if d_max == 0.0:
        share = math.inf
    else:
        share = math.cbrt(len(c) ** 2 / budget * spread * float(c.sum())) / math.cbrt(d_max) ** 2
    return min(1.0, share) if capped else share


def theorem_6(budget: float, prices: npt.ArrayLike, means: npt.ArrayLike, beta: float) -> float:
    """Eq. (19): ``theorem_1`` at the share of Eq. (18), of the order of budget^(2/3).

    Conditions: as in ``theorem_1``, with Eq. (18) for the share. Where (18) exceeds one, this
    is less than ``theorem_1`` at any possible share.

    Parameters
    ----------
    budget, prices, means, beta
        As in ``theorem_1``; beta near one for high confidence.

    Returns
    -------
    float
        The bound, in utility.

    Examples
    --------
    >>> round(theorem_6(12_800, [2, 4], [0.8, 0.4], beta=0.95), 1)
    5184.9
    """
    c, mu = _workers(prices, means)
    return _tuned(budget, c, mu, beta, float(c.sum()))


def sufficient_budget(
    alpha: float, prices: npt.ArrayLike, means: npt.ArrayLike, beta: float
) -> float:
    """B_0(alpha) of section 5.1: from this budget on a share of the optimum is guaranteed.

    Where no limit binds, the optimum is the budget times the best utility per price. It grows
    like the budget, ``theorem_6`` like its power 2/3: from B_0 on the bound is at most (1 - alpha)
    of the optimum, and Eq. (18) asks for no more than the whole budget.

    Parameters
    ----------
    alpha : float
        The share of the optimum, between 0 and 1.
    prices, means, beta
        As in ``theorem_1``.

    Returns
    -------
    float
        The budget, in the unit of the prices.

    Examples
    --------
    >>> needed = sufficient_budget(0.5, [2, 4], [0.8, 0.4], beta=0.95)
    >>> round(theorem_6(needed, [2, 4], [0.8, 0.4], beta=0.95) / (needed * 0.4), 6)
    0.5
    """
    c, mu = _workers(prices, means)
    if not 0.0 < alpha < 1.0:
        raise InvalidParameter(f"alpha is {alpha!r}: give a share between 0 and 1", field="alpha")
    best = float((mu / c).max())

    def guaranteed(budget: float) -> bool:
        share = optimal_epsilon(budget, c, mu, beta, capped=False)
        return share <= 1.0 and theorem_6(budget, c, mu, beta) <= (1.0 - alpha) * budget * best

    enough = 1.0
    while not guaranteed(enough):
        enough *= 2.0
    short = enough / 2.0
    for _ in range(60):
        middle = 0.5 * (short + enough)
        short, enough = (short, middle) if guaranteed(middle) else (middle, enough)
    return enough


def theorem_7(
    epsilon: float, budget: float, prices: npt.ArrayLike, means: npt.ArrayLike, beta: float
) -> float:
    """Eq. (21): regret of bounded epsilon-first that explores by Successive Rejects.

    Conditions: those of ``theorem_1``, and that every worker gets the pulls of Eq. (20).

    Parameters
    ----------
    epsilon, budget, prices, means, beta
        As in ``theorem_1``; beta near one for high confidence.

    Returns
    -------
    float
        The bound, in utility.

    Examples
    --------
    >>> round(theorem_7(0.5, 12_800, [2, 4], [0.8, 0.4], beta=0.95), 1)
    5444.9
    """
    c, mu = _workers(prices, means)
    return _at(epsilon, budget, c, mu, beta, _weight_of_rejects(c))


def theorem_7_tuned(
    budget: float, prices: npt.ArrayLike, means: npt.ArrayLike, beta: float
) -> float:
    """Eq. (22): ``theorem_7`` at the share that makes it least.

    From three workers on it exceeds ``theorem_6``, whatever the prices. That compares bounds,
    not policies: both are loose by more than they differ.

    Parameters
    ----------
    budget, prices, means, beta
        As in ``theorem_1``; beta near one for high confidence.

    Returns
    -------
    float
        The bound, in utility; that of a share above one where the minimum lies there.

    Examples
    --------
    >>> round(theorem_7_tuned(12_800, [2, 4], [0.8, 0.4], beta=0.95), 1)
    5440.3
    """
    c, mu = _workers(prices, means)
    return _tuned(budget, c, mu, beta, _weight_of_rejects(c))


def _at(epsilon: float, budget: float, c: Array, mu: Array, beta: float, weight: float) -> float:
    _positive("epsilon", epsilon)
    _positive("budget", budget)
    error = 2 * len(c) * math.sqrt(budget * _spread(beta, len(c)) * weight / epsilon)
    return _rounding(c, mu) + epsilon * budget * float(np.ptp(mu / c)) + error


def _tuned(budget: float, c: Array, mu: Array, beta: float, weight: float) -> float:
    _positive("budget", budget)
    d_max = float(np.ptp(mu / c))
    factor = len(c) ** 2 * _spread(beta, len(c)) * weight * d_max
    return _rounding(c, mu) + 3.0 * math.cbrt(budget) ** 2 * math.cbrt(factor)


def _rounding(c: Array, mu: Array) -> float:
    """What does not grow with the budget: 2 + c_min mu_imax / c_imax."""
    return 2.0 + float(c.min() * np.max(mu / c))


def _spread(beta: float, n: int) -> float:
    """-ln((1 - beta^(1/N)) / 2), exact for beta near one."""
    if not 0.0 < beta < 1.0:
        raise InvalidParameter(f"beta is {beta!r}: give a number between 0 and 1", field="beta")
    return math.log(2.0) - math.log(-math.expm1(math.log(beta) / n))


def _weight_of_rejects(c: Array) -> float:
    n = len(c)
    return (n + 3) * math.log(n) / 2.0 * float(c.max())


def _workers(prices: npt.ArrayLike, means: npt.ArrayLike) -> tuple[Array, Array]:
    c = np.asarray(prices, dtype=np.float64)
    mu = np.asarray(means, dtype=np.float64)
    if c.ndim != 1 or c.size == 0 or not np.all(np.isfinite(c) & (c > 0.0)):
        raise InvalidParameter(
            f"prices is {prices!r}: give a flat list of numbers above 0", field="prices"
        )
    if mu.shape != c.shape or not np.all(np.isfinite(mu) & (mu >= 0.0)):
        raise InvalidParameter(
            f"means is {means!r}: give {c.size} numbers of at least 0, one a price", field="means"
        )
    return c, mu


def _positive(field: str, value: float) -> None:
    if not 0.0 < value < math.inf:
        raise InvalidParameter(f"{field} is {value!r}: give a number above 0", field=field)
