"""Paper 004, appendix C: one crowd, questions of all difficulties (Fig. 2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter
from askwise.figures import ReferenceRow, Row
from askwise.lab.experiment import Cell, Experiment, Figure, experiments
from askwise.lab.papers.crowds.studies.common import cost_and_errors
from askwise.lab.papers.crowds.theory import exact_rules
from askwise.lab.results import mean_row, rate_row
from askwise.lab.worlds import Survey
from askwise.policies import policies
from askwise.stopping import stopping

LOW, HIGH = 0.05, 1.0
"""The paper's range of gaps, drawn uniformly."""

READINGS = ("gap", "printed")
"""A gap g means p = (1 + g) / 2 by definition, and p = .5 + g as the paper words it."""


@experiments.register("survey-single")
@dataclass(frozen=True)
class SurveySingle(Experiment):
    """Fig. 2: cost and error of rule (1) on a single crowd, by C_qty.

    Parameters
    ----------
    qualities : numbers
        Values of C_qty.
    smooth : "yes" or "no"
        Whether the rule rounds at random, as the paper's does.
    """

    qualities: tuple[float, ...] = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
    smooth: str = "yes"
    reps: ClassVar[int] = 200_000
    chunk: ClassVar[int] = 5_000
    title: ClassVar[str] = "One crowd: cost and error of rule (1) (004, Fig. 2)"
    reproduces: ClassVar[str] = "004, Fig. 2 (appendix C)"
    summary: ClassVar[str] = (
        "Questions with two options, their gap uniform between .05 and 1, and a single crowd: how "
        "many answers does rule (1) take and how often does it err, as C_qty grows? Beside it the "
        "fixed number of answers that errs as often, and the exact figures."
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure("cost", "C_qty", "answers per question", "Cost by C_qty (Fig. 2b).", log_y=True),
        Figure("error", "C_qty", "error rate", "Error by C_qty (Fig. 2c).", log_y=True),
        Figure(
            "answers_at_error",
            "error rate",
            "answers per question",
            "Cost by error rate (Fig. 2a), beside a fixed number of answers.",
            log_x=True,
            log_y=True,
        ),
    )

    def __post_init__(self) -> None:
        if self.smooth not in ("yes", "no"):
            raise InvalidParameter(f"smooth is {self.smooth!r}: give yes or no", field="smooth")
        for quality in self.qualities:
            if not 0 <= quality <= 4:
                raise InvalidParameter(
                    f"qualities has {quality}: give numbers from 0 to 4", field="qualities"
                )

    def cells(self) -> list[Cell]:
        """One cell a value of C_qty and reading of the gap."""
        return [Cell(reading, quality) for reading in READINGS for quality in self.qualities]

    def samples(self, cell: Cell, seed: int, first: int, last: int) -> Array:
        """Cost and mistake of each question."""
        count = last - first
        # One gap from each of as many equal parts of the range: the mean varies less.
        places = (np.arange(count) + np.random.default_rng([seed, first]).random(count)) / count
        gaps = LOW + (HIGH - LOW) * places
        right = (1.0 + gaps) / 2.0 if cell.panel == "gap" else np.minimum(1.0, 0.5 + gaps)
        # Each question is a kind of its own.
        survey = Survey(np.stack([right, 1.0 - right], axis=1)[:, None, :])
        world = survey.answering(seed, first, count, kinds=np.arange(count))
        rule = stopping.make({"name": "gap", "quality": cell.x, "smooth": self.smooth == "yes"})
        policy = policies.make("round-robin")
        spent, wrong, _ = cost_and_errors(survey, world, policy, rule, seed, first)
        return np.stack([spent, wrong], axis=1)

    def rows(self, cell: Cell, samples: Array, seed: int) -> list[Row]:
        """Cost and error, and the number of answers that errs as often when fixed."""
        place: dict[str, Any] = {"panel": cell.panel, "series": "rule (1)"}
        cost = mean_row(samples[:, 0], metric="cost", x=cell.x, **place)
        error = rate_row(samples[:, 1], metric="error", x=cell.x, **place)
        found = [cost, error]
        if error.mean > 0:
            place["x"] = error.mean
            at = Row(metric="answers_at_error", mean=cost.mean, ci_low=cost.ci_low,
                     ci_high=cost.ci_high, n=cost.n, **place)  # fmt: skip
            fixed = _fixed(cell.panel, error.mean)
            same = {**place, "series": "fixed number"}
            found += [at, Row(metric="answers_at_error", mean=fixed, ci_low=fixed, ci_high=fixed,
                              n=0, **same)]  # fmt: skip
        return found

    def paper_rows(self) -> Sequence[ReferenceRow]:
        """Not the paper's (its figures can't be read): exact, by dynamic programming."""
        found = []
        for reading in READINGS:
            for quality in self.qualities:
                known = _exact(reading, quality, self.smooth == "yes")
                for metric, value in (("cost", known.cost), ("error", known.error)):
                    found.append(
                        ReferenceRow.at(
                            *("exact", quality, metric, float(value)),
                            panel=reading,
                            style="line",
                            source="the exact calculation",
                        )
                    )
        return found

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """The paper's claim of fewer than 8 workers."""
        at_five = {reading: _exact_cost_at(reading, 0.05) for reading in READINGS}
        return [
            'The paper says that "an error rate of < 5% can be obtained with an average of < 8 '
            'workers". By its own definition of the gap, p = (1 + gap) / 2, it takes '
            f"{at_five['gap']:.1f}; with p = min(1, .5 + gap), as it words it elsewhere, "
            f"{at_five['printed']:.1f}.",
            "Dashed lines are exact (dynamic programming over the lead), not the paper's: its "
            "figure can't be read to the digit.",
        ]


@cache
def _exact(reading: str, quality: float, smooth: bool) -> exact_rules.Exact:
    return exact_rules.over_gaps(LOW, HIGH, quality, reading=reading, smooth=smooth)


@cache
def _fixed(reading: str, error: float) -> float:
    return float(exact_rules.fixed_number(LOW, HIGH, error, reading=reading))


@cache
def _exact_cost_at(reading: str, error: float) -> float:
    """Cost where the exact error is as given: between values of C_qty."""
    qualities = np.arange(0.4, 2.6, 0.1)
    found = [_exact(reading, float(quality), True) for quality in qualities]
    levels = [-np.log(float(each.error)) for each in found]
    return float(np.interp(-np.log(error), levels, [float(each.cost) for each in found]))
