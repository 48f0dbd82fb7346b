"""How many audits make the delivery of all labels cheapest, planned before the draw.

With escalation the trusted source answers the audits and all labels that are not certified. Few
audits certify few labels; many cost more than they save. The best number depends on how many
labels are wrong and how well scores rank them, which is unknown before the audits. So the plan
takes the mean over what may be (:data:`WRONG`, :data:`RANKED`). A bad guess makes delivery cost
more; the statement keeps its confidence whatever the number is.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from askwise.auditing.draws import FINE_STEP
from askwise.core.arrays import Array
from askwise.core.checks import between, whole

WRONG = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
"""Shares of wrong labels that a plan is a mean over, each equally likely."""

RANKED = (1.5, 2.0, 3.0)
"""How well scores may rank labels, each equally likely: the surest share x of the labels holds this
power of x of the wrong ones, where 1 is no order at all."""

POWER = 0.7
"""A plan counts on a set's certificate if the audits give it with this probability at least."""

NUMBERS = 200
"""Numbers of audits that are compared, at most: more differ by less than a plan can know."""


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """How many audits to draw for, and what delivery is expected to cost.

    Attributes
    ----------
    tasks : int
        Labels to deliver.
    error, confidence : float
        What the statement is to be.
    audits : int
        The most audits of the cheapest draw.
    expected : float
        Answers of the trusted source, audits included, on average over what may be.
    """

    tasks: int
    error: float
    confidence: float
    audits: int
    expected: float

    @property
    def why(self) -> str:
        """The plan in words."""
        return (
            f"{self.audits:,} audits at most make delivery cheapest where nothing is known of "
            f"the labels: the trusted source is expected to give about {self.expected:,.0f} "
            f"answers for {self.tasks:,} tasks, audits included. Fewer audits leave more "
            "labels to be replaced; more cost more than they save."
        )

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "tasks": self.tasks,
            "error": self.error,
            "confidence": self.confidence,
            "audits": self.audits,
            "expected": self.expected,
            "why": self.why,
        }


def plan_audits(tasks: int, *, error: float = 0.05, confidence: float = 0.9) -> AuditPlan:
    """Plan for how many audits to draw if labels that are not certified are replaced.

    A set of the surest share x with a share w(x) of all labels in it that are wrong is counted as
    certified by n audits in it if w(x) + z sqrt(error (x - error) / n) is at most ``error``: the
    normal approximation of the limit, with the correction for finite sets, and with z for the
    confidence and for :data:`POWER`. What is expected is the mean, over all shares of wrong labels
    and all orders that may be, of audits and of labels outside the largest set that is certified
    together with all smaller ones.

    Parameters
    ----------
    tasks : int
        Labels to deliver.
    error, confidence : float
        As for :func:`~askwise.auditing.draw`.

    Examples
    --------
    >>> [plan_audits(tasks, error=0.1).audits for tasks in (100, 500, 2_500, 10_000)]
    [24, 56, 126, 283]
    """
    whole(tasks, "tasks", least=1)
    between(error, "error", 0, 1)
    between(confidence, "confidence", 0, 1)
    numbers = np.unique(np.geomspace(1, tasks, NUMBERS).round().astype(np.int64))
    costs = [expected_answers(tasks, error, confidence, int(number)) for number in numbers]
    best = int(np.argmin(costs))
    return AuditPlan(tasks, error, confidence, int(numbers[best]), costs[best])


def expected_answers(tasks: int, error: float, confidence: float, audits: int) -> float:
    """Answers of the trusted source that a draw for this many audits is expected to need."""
    shares = np.append(np.arange(1, int(1 / FINE_STEP)) * float(FINE_STEP), 1.0)
    wrong = np.array([rate * shares**power for rate in WRONG for power in RANKED])
    kept = _certified(shares, wrong, tasks, error, confidence, audits)
    # All audits are made inside the largest set that is looked at.
    return float((tasks * (1.0 - kept) + np.minimum(audits, tasks * kept)).mean())


def _certified(
    shares: Array, wrong: Array, tasks: int, error: float, confidence: float, audits: int
) -> Array:
    """The share of labels that is certified for each row of wrong shares."""
    z = scipy.special.ndtri(confidence) + scipy.special.ndtri(POWER)
    inside = np.minimum(audits, tasks * shares)
    unseen = 1.0 - inside / (tasks * shares)
    spread = np.sqrt(np.maximum(0.0, error * (shares - error)) / inside * unseen)
    passed = (wrong + z * spread <= error) | (shares <= error)
    return (np.cumprod(passed, axis=1) * shares).max(axis=1)
