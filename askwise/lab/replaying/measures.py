"""What contenders come to on average over runs: how right, how sure, how much is done."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from askwise.core.arrays import Array
from askwise.core.json_types import JsonLimits, Quantity, Share, Word
from askwise.core.jsonable import Jsonable
from askwise.core.money import MICRO
from askwise.lab.replaying.bench import Grade
from askwise.lab.replaying.contenders import Contender


@dataclass(frozen=True)
class Measures(Jsonable):
    """What a policy comes to at a budget on the tasks that are measured: means over runs.

    Attributes
    ----------
    series : str
        The label of the policy.
    budget : float
        Maximum that may be spent.
    accuracy : float
        The share of the tasks that are answered right; a tie of k options counts 1/k.
    ties : float
        How many tasks are tied.
    ece : float or None
        Expected calibration error of the reported confidences, in ten bins of equal width; None
        without confidences.
    log_loss : float or None
        Mean of -ln of the probability of the truth, which counts as 1e-6 at least; None without
        confidences.
    done_share : float or None
        The share of the tasks that the rule closed as ``confident``, or that reach the policy's
        target; None where there is neither.
    done_error : float or None
        The share of these that are wrong, over all runs together; None if there are none.
    """

    series: Word
    budget: Annotated[float, JsonLimits(exclusiveMinimum=0)]
    accuracy: Share
    ties: Quantity
    ece: Share | None
    log_loss: Quantity | None
    done_share: Share | None
    done_error: Share | None


def by_field(grades: Array) -> dict[str, Array]:
    """Grades, a row each, as one column a field."""
    return dict(zip(Grade._fields, grades.T, strict=True))


def measures_of(
    values: Array, budgets: Sequence[int], contenders: Sequence[Contender], measured: int
) -> Iterator[Measures]:
    """Sum up grades, by run, budget (in micro-units) and contender, of this many measured tasks."""
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
