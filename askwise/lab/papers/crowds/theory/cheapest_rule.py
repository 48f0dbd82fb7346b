"""The cheapest rule there can be, on two options: backward induction over the lead.

References
----------
Paper 004, appendix B (the absolute benchmark).
"""

import math

import numpy as np

from askwise.core.checks import between, real, whole
from askwise.core.errors import InvalidParameter
from askwise.lab.papers.crowds.theory.exact_rules import majority_error


def least_cost(gap: float, error: float, horizon: int, *, least_gap: float | None = None) -> float:
    """Give the fewest expected answers of any symmetric rule with an error and a horizon.

    The absolute benchmark of paper 004, appendix B, on two options, but for its condition that
    rules be gap-decreasing: so never more than the benchmark. By backward induction over the
    lead, with a price on an error that is raised until the error is met.

    Parameters
    ----------
    gap : float
        Gap of the crowd that is asked, below 1.
    error : float
        The most that the rule may err at ``least_gap``; at larger gaps nothing is asked of it.
    horizon : int
        The most answers, after which it must have answered.
    least_gap : float, optional
        ``gap`` if left out. Over all gaps above 0 no rule with a horizon errs below 1/2.

    Returns
    -------
    float
        Expected number of answers, at least 1.

    Examples
    --------
    >>> round(least_cost(0.3, 0.05, 101), 2), round(least_cost(0.3, 0.05, 101, least_gap=0.2), 2)
    (14.45, 24.2)
    """
    gap = between(gap, "gap", 0, 1)
    least = gap if least_gap is None else least_gap
    real(least, "least_gap", f"a number above 0, up to the gap {gap}", least=1e-9, most=gap)
    between(error, "error", 0, 0.5)
    possible = majority_error(least, least, whole(horizon, "horizon", least=1))
    if error < possible:
        raise InvalidParameter(
            f"error is {error!r}: with {horizon} answers give at least {possible:.4g}",
            field="error",
        )
    if error >= (1.0 - least) / 2.0:
        return 1.0
    # Weak duality: every price gives a lower bound, and the best price the exact value.
    best, under, over = 1.0, 1e-12, 1e15
    while over / under > 1.0 + 1e-7:
        price = math.sqrt(under * over)
        cost, errs = _priced(gap, least, horizon, price)
        best = max(best, cost + price * (errs - error))
        under, over = (price, over) if errs > error else (under, price)
    return best


def _priced(gap: float, least: float, horizon: int, price: float) -> tuple[float, float]:
    """Expected answers at ``gap`` and error at ``least`` of the rule that weighs them best."""
    p, p_0 = (1.0 + gap) / 2.0, (1.0 + least) / 2.0
    lead = np.arange(horizon + 1)
    ratio = ((1.0 - p) / p) ** lead
    # |lead| under p, whatever the number of answers.
    up = (p + (1.0 - p) * ratio) / (1.0 + ratio)
    up[0] = 1.0
    # Wrong under p_0, in units of being there under p, but for a factor to the power of answers.
    log_lead = lead / 2.0 * (math.log((1.0 - p_0) / p_0) - math.log(p / (1.0 - p)))
    log_lead -= np.log1p(ratio)
    log_answer = math.log(p_0 * (1.0 - p_0) / (p * (1.0 - p))) / 2.0
    cost = np.zeros(horizon + 1)
    errs = np.exp(np.minimum(log_lead + horizon * log_answer, 600.0))
    for answers in range(horizon - 1, 0, -1):
        size = answers + 1
        more, miss = np.ones(size), np.empty(size)
        more += up[:size] * cost[1 : size + 1]
        more[1:] += (1.0 - up[1:size]) * cost[: size - 1]
        miss[:] = up[:size] * errs[1 : size + 1]
        miss[1:] += (1.0 - up[1:size]) * errs[: size - 1]
        now = np.exp(np.minimum(log_lead[:size] + answers * log_answer, 600.0))
        stop = price * now <= more + price * miss
        cost, errs = np.where(stop, 0.0, more), np.where(stop, now, miss)
    return 1.0 + float(cost[1]), float(errs[1])
