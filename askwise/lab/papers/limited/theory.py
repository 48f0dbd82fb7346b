"""Guarantees of paper 001: how B-KUBE's regret grows, and how values bound the error.

With values v, prices c, efficiencies e = v / c in decreasing order and the splitting worker s of
the fractional plan (Lemma 4.1), the plan rounded down selects all that the limits of the s - 1
most efficient allow and of s what fits.

What holds of the printed text
------------------------------
*Theorem 4.2, (7):* how often a worker is selected beyond that plan grows with the logarithm of
the number N of selections. It speaks of rewards that are seen. Labelling has none: a worker is
judged by the vote, and the estimate of p does not tend to p, so that neither theorem covers
``b-kube`` with its own estimates. (7) says something late: with equal prices and efficiencies .1
apart it exceeds N itself up to N of about 7,100.

*Theorem 4.3* states the order only, its proof is elsewhere. ``theorem_4_3`` is what follows from
(7): let x' be the rounded plan, n the selections, N_k = (n_k - x'_k)^+. What the run lacks of x' is
worth at most e_1 for each unit of money, and that money is what went into the N_k, or was left
over: less than C_max, as B <= sum c M leaves somebody to ask. With (6) the regret is at most
v_s + e_1 (C_max + sum_k c_k E[N_k]), and N <= B / C_min.

*Theorem 5.1, (12):* short of a factor 2. The difference f(l*, Y) - f(l, Y) lies in [-Q, Q], which
is 2Q wide, so Hoeffding's inequality gives (L - 1) exp(-V^2 / (2 M Q^2)), the printed text the
square of the exponential (without the 2). It is not only unproved but false: 201 votes at p = .6
err at .0021, the printed bound is .0003. Either form is for a number M of evaluations that is
fixed beforehand. A stopping rule looks again and again and stops when the lead is large.

References
----------
Paper 001, sections 4 and 5.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from askwise.core.checks import between, real, whole
from askwise.core.errors import InvalidParameter

Array = npt.NDArray[Any]


def theorem_4_2(
    selections: float,
    values: npt.ArrayLike,
    prices: npt.ArrayLike,
    limits: npt.ArrayLike,
    budget: float,
) -> float:
    """(7): how often B-KUBE selects any one worker beyond the rounded fractional plan.

    Parameters
    ----------
    selections : float
        N, the number of all selections, at least 1.
    values, prices, limits : array_like
        Of each worker: value contribution of an answer, its price, the most answers.
    budget : float
        All the money, in the unit of the prices.

    Returns
    -------
    float
        The bound; infinite where two workers between whom the plan decides are equally efficient.

    Examples
    --------
    >>> round(theorem_4_2(1000, [0.8, 0.5, 0.1], [1, 1, 1], [400, 900, 900], 1000), 1)
    625.2
    """
    v, c, m = _workers(values, prices, limits)
    real(selections, "selections", "a number of 1 or more", least=1)
    order, s = _splitting(v, c, m, budget)
    e = (v / c)[order]
    # Where there is nobody on one side of the splitting worker, that side decides nothing.
    d_s = abs(e[s - 1] - e[s]) if s > 0 else math.inf
    q_min = float(np.abs(e[s + 1 :] - e[s]).min()) if s + 1 < len(e) else math.inf
    gap = min(d_s, q_min)
    leading = math.inf if gap == 0 else 8.0 / gap**2 + (c.max() / c.min()) ** 2
    # At N = 1 the logarithm is zero, whatever it is multiplied by.
    grown = leading * math.log(selections) if selections > 1 else 0.0
    return float(grown + math.pi**2 / 3.0 + 1.0)


def theorem_4_3(
    values: npt.ArrayLike, prices: npt.ArrayLike, limits: npt.ArrayLike, budget: float
) -> float:
    """Regret of B-KUBE where values are seen: what Theorem 4.3 says, with the constants of (7).

    Conditions: values in [0, 1], prices of 1 or more, sum c < budget <= sum c M. Outside them the
    formula's value is returned all the same.

    Parameters
    ----------
    values, prices, limits, budget
        As in ``theorem_4_2``.

    Returns
    -------
    float
        The bound, in units of value.

    Examples
    --------
    >>> round(theorem_4_3([0.8, 0.5, 0.1], [1, 1, 1], [400, 900, 900], 1000))
    1502
    """
    v, c, m = _workers(values, prices, limits)
    order, s = _splitting(v, c, m, budget)
    beyond = theorem_4_2(max(1.0, budget / c.min()), v, c, m, budget)
    return float(v[order[s]] + (v / c).max() * (c.max() + c.sum() * beyond))


def error_bound(
    value: float, evaluations: int, *, labels: int = 2, largest: float = 1.0, printed: bool = False
) -> float:
    """Theorem 5.1: how often the decision (10) errs when answers add up to a value.

    Parameters
    ----------
    value : float
        V, the value contributions (11) of all evaluations together.
    evaluations : int
        M, their number, fixed beforehand.
    labels : int
        L, how many labels there are.
    largest : float
        Q, the largest value of the inference function; 1 for votes.
    printed : bool
        (12) as printed, which is not true: 2 is missing in the exponent.

    Returns
    -------
    float
        The bound, at most 1.

    Examples
    --------
    >>> round(error_bound(201 * 0.2, 201), 4), round(error_bound(201 * 0.2, 201, printed=True), 4)
    (0.018, 0.0003)
    """
    real(value, "value", "a number")
    _check(evaluations, labels, largest)
    if value <= 0:
        return 1.0
    width = 1.0 if printed else 2.0
    return min(1.0, (labels - 1) * math.exp(-(value**2) / (width * evaluations * largest**2)))


def value_needed(
    error: float, evaluations: int, *, labels: int = 2, largest: float = 1.0, printed: bool = False
) -> float:
    """Theorem 5.1 the other way round: the value that keeps the error, (12).

    Parameters
    ----------
    error : float
        How often the decision may err.
    evaluations, labels, largest, printed
        As in ``error_bound``.

    Returns
    -------
    float
        V; it can't exceed ``evaluations * largest``: beyond, more evaluations are needed.

    Examples
    --------
    >>> round(value_needed(0.05, 100), 1), round(value_needed(0.05, 100, printed=True), 1)
    (24.5, 17.3)
    """
    between(error, "error", 0, 1)
    _check(evaluations, labels, largest)
    width = 1.0 if printed else 2.0
    return math.sqrt(width * evaluations * largest**2 * math.log((labels - 1) / error))


def _check(evaluations: int, labels: int, largest: float) -> None:
    whole(evaluations, "evaluations", least=1)
    whole(labels, "labels", least=2)
    if real(largest, "largest", "a number above 0", least=0) == 0:
        raise InvalidParameter("largest is 0: give a number above 0", field="largest")


def _workers(
    values: npt.ArrayLike, prices: npt.ArrayLike, limits: npt.ArrayLike
) -> tuple[Array, Array, Array]:
    found = {
        name: np.atleast_1d(np.asarray(given, np.float64))
        for name, given in (("values", values), ("prices", prices), ("limits", limits))
    }
    for name, array in found.items():
        if array.ndim != 1 or len(array) == 0 or len(array) != len(found["values"]):
            raise InvalidParameter(
                f"{name} has shape {array.shape}: give one number per worker", field=name
            )
        least = 0.0 if name == "values" else 1e-300
        if not (np.isfinite(array).all() and (array >= least).all()):
            low = "0 or more" if name == "values" else "above 0"
            raise InvalidParameter(f"{name} is {array.tolist()}: give numbers {low}", field=name)
    return found["values"], found["prices"], found["limits"]


def _splitting(v: Array, c: Array, m: Array, budget: float) -> tuple[Array, int]:
    """Workers by efficiency, ties by index, and the place of the splitting one (Lemma 4.1)."""
    if not real(budget, "budget", "an amount above 0", least=0) > 0:
        raise InvalidParameter("budget is 0: give an amount above 0", field="budget")
    order = np.argsort(-(v / c), kind="stable")
    filled = np.cumsum((c * m)[order])
    # The last one splits where the money is enough for all.
    return order, min(int(np.searchsorted(filled, budget, side="right")), len(v) - 1)
