"""Paper 004, appendix B: worst-case errors, absolute benchmarks and Theorem 9.

Names and conventions are those of ``askwise.lab.papers.crowds.theory.bounds``.

What holds of the printed text
------------------------------
*Eq. (4): true for rules (1) and (3) on two options, not for all.* The total crowd's answers come
from no single crowd. Let R0 stop only after 30 answers, if some option has 8 of the first 10 and
14 in all. It errs with .0016 at most; asked 10 times of a crowd with p = .8 and then 20 times of
one with p near .5 it errs with .0112, more than three times that. Where only the lead counts, the
answers can be coupled with those of the worst crowd, and (4) holds.

*T(rho) is infinite, and the absolute benchmarks are minima over nothing, for rho < 1/2*: see
Theorem 5. Here the worst case is over gaps from a least one on. Theorem 9 (a) takes the rule
that is best for the instance, which the algorithm does not know; (b) holds with log T in
Theorem 8.

References
----------
Paper 004, appendix B.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from askwise.core.checks import between, real, whole
from askwise.core.errors import InvalidParameter
from askwise.lab.papers.crowds.theory.bounds import (
    error_rate,
    numbers_of,
    theorem_2,
    theorem_4,
    undisturbed,
)
from askwise.lab.papers.crowds.theory.exact_rules import Quality, stopping_times


class Bracket(NamedTuple):
    """Between which costs a benchmark lies."""

    lower: float
    upper: float


class Promise(NamedTuple):
    """What an algorithm is promised to cost and to err at most."""

    cost: float
    error: float


def equation_4(rho: float, crowds: int) -> float:
    """Eq. (4): worst-case error of a composite rule, (k + 1) rho, with the total crowd.

    Two options, and an R0 that looks at the lead alone (rules (1) and (3)).

    Examples
    --------
    >>> equation_4(0.01, 3)
    0.04
    """
    return (whole(crowds, "crowds", least=1) + 1) * error_rate(rho)


def lemma_10(rho: float, crowds: int, *, sharp: bool = False) -> float:
    """Least worst-case error of a composite rule without the total crowd, rho (1 - 2 k rho).

    Of a policy that goes on asking every crowd. ``sharp``: rho (1 - 2 rho)^(k - 1).

    Examples
    --------
    >>> round(lemma_10(0.01, 3), 6), round(lemma_10(0.01, 3, sharp=True), 6)
    (0.0094, 0.009604)
    """
    return rho * undisturbed(rho, whole(crowds, "crowds", least=1), sharp)


def asked_in_turn(
    p: float, quality: Quality, crowds: int, *, smooth: bool = True, horizon: int = 20_000
) -> float:
    """Error of rule (1) on each of k equal crowds asked in turn, without the total crowd, exactly.

    The conjecture that the worst-case error of a composite rule is rho at least holds here. Who
    stops after N answers leads by about C sqrt(N), and a lead l is the wrong option's with
    1 / (1 + (p / q)^l): the earlier a rule stops, the likelier it errs. The first of k instances
    stops no later than each of them would, so it errs more; and k equal crowds of the gap at which
    R0 errs most are an instance of the worst case. It is a proof for two options, leads that rise
    with N and an order fixed beforehand, not for policies that choose by answers: on equal crowds
    such a policy may leave an instance when it is about to stop and err less, and only other
    instances (those of Lemma 10) can hold it to the bound.

    Parameters
    ----------
    p : float
        Probability of the right answer, of every crowd.
    crowds : int
        k. With 1 it is the error of R0.
    quality, smooth, horizon
        As in ``exact_rules.gap_rule``; questions without an end by then count as not wrong.

    Examples
    --------
    >>> [round(asked_in_turn(0.65, 1.5, k), 4) for k in (1, 2, 4)]
    [0.0403, 0.0638, 0.0902]
    """
    right, wrong = stopping_times(p, quality, smooth=smooth, horizon=horizon)
    after = np.maximum(1.0 - np.cumsum(right + wrong), 0.0)
    before = np.concatenate([[1.0], after[:-1]])
    # Of the k, crowd i stops first with its N-th answer: those before it have had N, others N - 1.
    first = sum(
        after**i * before ** (crowds - 1 - i) for i in range(whole(crowds, "crowds", least=1))
    )
    return float((wrong * first).sum())


def horizon_for(rho: float, least_gap: float) -> float:
    """T(rho): the least horizon at which rule (3) errs with rho at most, whatever the gap.

    On two options, C_qty being free. The error of rule (3) falls in the gap, in the horizon and
    in C_qty, so the worst gap is the least one and the best C_qty so large that all T answers
    are taken: T(rho) is the least odd number whose majority errs with rho. No rule of fewer
    answers does as well, for the majority is the likelier option. In Theorem 9 (b) C_qty is then
    lowered until the error is rho: ``askwise.lab.papers.crowds.theory.exact_rules.quality_for``.

    Parameters
    ----------
    rho : float
        The error, up to 1/2.
    least_gap : float
        The smallest gap that the worst case ranges over.

    Returns
    -------
    float
        A whole number, or infinity: over all gaps above 0 (``least_gap`` 0) every horizon errs
        with 1/2 in the worst case.

    Examples
    --------
    >>> horizon_for(0.05, least_gap=0.2), horizon_for(0.05, least_gap=0)
    (67, inf)
    """
    # The registry imports every module of this package, and SciPy takes its time.
    from scipy.special import betainc

    q = (1.0 - real(least_gap, "least_gap", "a number from 0 to 1", least=0, most=1)) / 2.0
    if error_rate(rho) >= q:
        return 1
    if q == 0.5 or rho == 0.0:
        return math.inf
    # I_q(m, m) is the chance of fewer than m right ones of 2m - 1.
    under, over = 1, 2
    while betainc(over, over, q) > rho:
        under, over = over, 2 * over
    while over - under > 1:
        middle = (under + over) // 2
        under, over = (under, middle) if betainc(middle, middle, q) <= rho else (middle, over)
    return 2 * over - 1


def benchmark(
    gap: float, rho: float, horizon: int, least_gap: float, *, rule_cost: float = math.inf
) -> Bracket:
    """Bracket the absolute benchmark: the cheapest rule that errs with rho and stops by T.

    At uniform prices and two options, where the best crowd and the best mixture are one. The
    rules can't be enumerated. From below: Theorem 2 (``cheapest_rule.least_cost``, beside this
    module, is sharper, by backward induction). From above: a majority of T(rho), or what is
    given. For more options ``theorem_2`` with a share bounds it from below.

    Parameters
    ----------
    gap : float
        Gap of the best crowd.
    rho, horizon
        Error and T; at least ``horizon_for``, or there is no such rule.
    least_gap : float
        The smallest gap that the worst case ranges over.
    rule_cost : float
        Cost at ``gap`` of some rule that does it: rule (3) by ``exact_rules``.

    Examples
    --------
    >>> low, high = benchmark(0.3, 0.05, 101, least_gap=0.2)
    >>> round(low, 2), high
    (20.88, 67.0)
    """
    least = horizon_for(rho, least_gap)
    if horizon < least:
        raise InvalidParameter(f"horizon is {horizon!r}: give at least {least}", field="horizon")
    lower = 1.0 if rho >= 0.5 else max(1.0, theorem_2(gap, rho, least_gap=least_gap))
    return Bracket(lower, min(float(least), rule_cost))


def theorem_9a(
    bench: float, gaps: npt.ArrayLike, rho: float, horizon: int, constant: float = 1.0
) -> Promise:
    """Theorem 9 (a): VirtUCB with the rule of the benchmark, at uniform prices.

    Parameters
    ----------
    bench : float
        The benchmark, or its upper end.
    gaps : array_like
        Gap per crowd.
    rho, horizon, constant
        As in ``benchmark``; what O() hides.

    Examples
    --------
    >>> cost, error = theorem_9a(30.0, [0.3, 0.1], 0.05, 100)
    >>> round(cost, 1), round(error, 2)
    (145.1, 0.15)
    """
    e = numbers_of("gaps", gaps)
    more = theorem_4(e, np.ones(e.size), horizon, constant)
    return Promise(bench + more, equation_4(rho, e.size))


def theorem_9b(
    bench: float, crowds: int, rho: float, horizon: int, constant: float = 1.0
) -> Promise:
    """Theorem 9 (b): VirtUniform with rule (3), log(T) log(1 / rho) bench^(1 + k / 2).

    Parameters
    ----------
    bench, rho, horizon, constant
        As in ``theorem_9a``.
    crowds : int
        k.

    Examples
    --------
    >>> round(theorem_9b(30.0, 2, 0.05, 100).cost)
    12416
    """
    log_T = math.log(whole(horizon, "horizon", least=2))
    power = 1.0 + whole(crowds, "crowds", least=1) / 2.0
    cost = constant * log_T * math.log(1.0 / between(rho, "rho", 0, 1)) * bench**power
    return Promise(cost, equation_4(rho, crowds))
