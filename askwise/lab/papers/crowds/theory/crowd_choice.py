"""Paper 004, sections 3 and 4.2: which crowd is best, and how often others must be tried.

References
----------
Paper 004, section 3 (deterministic benchmark) and footnote 6.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from askwise.core.arrays import Array
from askwise.core.checks import between
from askwise.core.errors import InvalidParameter
from askwise.lab.papers.crowds.theory.bounds import numbers_of
from askwise.lab.papers.crowds.theory.exact_rules import Quality, gap_rule


class CheapestCrowd(NamedTuple):
    """The crowd that costs least with a rule, that which price / gap^2 takes for it, and costs."""

    exact: int
    approximate: int
    costs: Array


def best_crowd(
    chances: npt.ArrayLike,
    prices: npt.ArrayLike,
    quality: Quality,
    *,
    smooth: bool = True,
    horizon: int = 20_000,
) -> CheapestCrowd:
    """The deterministic benchmark by what each crowd costs with rule (1), on two options.

    "The exact identity of the best crowd may depend on R0. [...] we approximate the best crowd by
    argmin c_i / eps_i^2" (section 3). A rule takes some answers of any crowd, so the approximation
    prefers crowds that are very good and expensive.

    Parameters
    ----------
    chances : array_like
        Of each crowd the probability of the right answer, above 1/2.
    prices : array_like
        Price of an answer, per crowd.
    quality, smooth, horizon
        Of the rule, as in ``exact_rules.gap_rule``.

    Examples
    --------
    Two answers of the crowd that never errs cost 2; the other takes 4.4, at 0.3 each.

    >>> found = best_crowd([1.0, 0.75], [1, 0.3], 1.0, smooth=False)
    >>> found.exact, found.approximate, found.costs.round(2).tolist()
    (1, 0, [2.0, 1.33])
    """
    p, c = numbers_of("chances", chances), numbers_of("prices", prices)
    if p.size != c.size:
        raise InvalidParameter(
            f"prices has {c.size} numbers: give one for each of the {p.size} crowds", field="prices"
        )
    if (p <= 0.5).any() or (p > 1).any():
        raise InvalidParameter(
            "chances must be above 1/2 and at most 1: below it the right option is the other one",
            field="chances",
        )
    costs = c * np.asarray(gap_rule(p, quality, smooth=smooth, horizon=horizon).cost)
    return CheapestCrowd(int(np.argmin(costs)), int(np.argmin(c / (2.0 * p - 1.0) ** 2)), costs)


def footnote_6(gaps: npt.ArrayLike, delta: float) -> Array:
    """How often each crowd must be tried to tell it from the best with an error of delta.

    kl(delta, 1 - delta) / KL(p_i, p_best), with coins p = (1 + gap) / 2: to name the crowd with the
    larger gap is to name the arm with the larger reward. If crowd i had a gap just above the best
    one's, the other answer would be right, and the answers of crowd i alone tell these two
    instances apart, by KL(p_i, p_best) each (the transport inequality behind Theorem 2, too). As
    KL(p, q) <= (p - q)^2 / (q (1 - q)), this is Omega(Lambda_i) = Omega((gap_best - gap_i)^-2). Two
    options and equal prices, as in the footnote.

    Parameters
    ----------
    gaps : array_like
        Gap per crowd, the largest below 1.
    delta : float
        The chance of naming another crowd, below 1/2.

    Returns
    -------
    array
        Expected answers, per crowd; 0 for the best, infinite for its equals.

    Examples
    --------
    >>> footnote_6([0.3, 0.1, 0.0], 0.05).round(1).tolist()
    [0.0, 124.9, 56.2]
    """
    e = numbers_of("gaps", gaps)
    if (e < 0).any() or e.max() >= 1:
        raise InvalidParameter("gaps must be from 0 to below 1", field="gaps")
    between(delta, "delta", 0, 0.5)
    p = (1.0 + e) / 2.0
    best = int(np.argmax(p))
    told = (1.0 - 2.0 * delta) * np.log((1.0 - delta) / delta)
    q = p[best]
    with np.errstate(divide="ignore"):
        needed = told / (p * np.log(p / q) + (1.0 - p) * np.log((1.0 - p) / (1.0 - q)))
    needed[best] = 0.0
    return needed
