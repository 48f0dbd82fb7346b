"""What contenders come to in the mean over runs: how right, how sure, how much is done."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from askwise.core.arrays import Array
from askwise.core.jsonable import Jsonable
from askwise.core.money import MICRO
from askwise.lab.replaying.bench import Grade
from askwise.lab.replaying.contenders import Contender


@dataclass(frozen=True)
class Measures(Jsonable):
    """What a policy comes to at a budget on the tasks that are measured: means over runs.

    None where there is nothing to measure: calibration and loss without confidences, what is done
    where neither a rule nor a target says so, its error where nothing is done.

    Attributes
    ----------
    accuracy : float
        Share of the tasks that are answered right; a tie of k options counts 1/k.
    ties : float
        How many tasks are tied.
    ece : float or None
        Expected calibration error of the confidences, in ten bins of equal width.
    log_loss : float or None
        Mean of -ln of the probability of the truth, which counts as 1e-6 at least.
    done_share : float or None
        Share of the tasks that the rule closed as ``confident``, or that reach the policy's target.
    done_error : float or None
        Share of these that are wrong, over all runs together.
    """

    series: str
    budget: float
    accuracy: float
    ties: float
    ece: float | None
    log_loss: float | None
    done_share: float | None
    done_error: float | None


def by_field(grades: Array) -> dict[str, Array]:
    """Grades, a row each, as one column a field."""
    return dict(zip(Grade._fields, grades.T, strict=True))


def measures_of(
    values: Array, budgets: Sequence[int], contenders: Sequence[Contender], measured: int
) -> Iterator[Measures]:
    """Sum up grades, by run, budget (in micro-units) and contender, of so many measured tasks."""
    for place, each in enumerate(contenders):
        for at, budget in enumerate(budgets):
            runs = by_field(values[:, at, place])
            done = float(runs["done"].sum())
            yield Measures(
                series=each.series,
                budget=budget / MICRO,
                accuracy=float(runs["accuracy"].mean()),
                ties=float(runs["ties"].mean()),
                ece=_mean(runs["ece"]),
                log_loss=_mean(runs["log_loss"]),
                done_share=None if math.isnan(done) else done / (measured * len(values)),
                done_error=float(runs["wrong"].sum()) / done if done > 0 else None,
            )


def _mean(sample: Array) -> float | None:
    """Over the runs that have a value; None if none has."""
    known = sample[np.isfinite(sample)]
    return float(known.mean()) if len(known) else None
