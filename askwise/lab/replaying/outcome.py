"""What a replay came to: curves, what all answers give, and what is saved."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, ClassVar, NamedTuple

from askwise.core.json_types import (
    Count,
    JsonLimits,
    NumberOfOptions,
    PartSaved,
    Positive,
    Quantity,
    Share,
    Word,
)
from askwise.core.jsonable import Jsonable
from askwise.core.shown import ShownResult
from askwise.figures import ReferenceRow, Row, draw
from askwise.lab.replaying.measures import Measures

EVERYTHING = "all recorded answers, by majority"
"""What policies are held against, by name."""


class Everything(NamedTuple):
    """What all recorded answers give, by majority.

    Attributes
    ----------
    accuracy : float
        The share of the measured tasks that is right; a tied task counts its share.
    cost : Decimal
        What all answers cost.
    """

    accuracy: Share
    cost: Decimal


class CurvePoint(NamedTuple):
    """What a policy came to at one budget.

    Attributes
    ----------
    series : str
        The label of the policy.
    budget : float
        Maximum that may be spent.
    metric : str
        ``accuracy``, the share of the measured tasks that are answered right, or ``spent``, the
        money spent.
    mean : float
        The mean over the runs.
    low : float
        The lower end of its 95% interval.
    high : float
        The upper end of its 95% interval.
    """

    series: Word
    budget: Annotated[float, JsonLimits(exclusiveMinimum=0)]
    metric: Annotated[str, JsonLimits(enum=["accuracy", "spent"])]
    mean: Quantity
    low: float
    high: float


@dataclass(frozen=True)
class Saving(Jsonable):
    """What a policy costs at the accuracy that another has at its full budget.

    Attributes
    ----------
    other : str
        The label of the rival; everything, by majority, comes last.
    accuracy : float
        The accuracy that the other reaches.
    other_cost : Decimal
        What the other spends for it.
    cost : Decimal or None
        What the policy spends for the same, between the budgets measured, where it is as accurate
        from there on; None where it is not within the budget.
    at_most : bool
        Whether it was there at the smallest budget that was looked at: it may cost less.
    passed : bool
        Whether it was as accurate at a smaller budget only, and is not at the full one.
    sure : bool
        Whether less is spent by more than runs differ: whether from some point on, which costs less
        than the other, the 95% interval of the difference in accuracy is nowhere below zero.
    share : float or None
        The share of the other's cost that is saved, negative where more is spent; None without a
        cost on either side.
    """

    written: ClassVar = (
        *("other", "accuracy", "other_cost", "cost", "at_most", "passed", "sure", "share"),
    )

    other: Word
    accuracy: Share
    other_cost: Decimal
    cost: Decimal | None
    at_most: bool
    passed: bool = False
    sure: bool = False

    @property
    def share(self) -> PartSaved | None:
        """Share of the other's cost that is saved; negative where it costs more."""
        if self.cost is None or self.other_cost == 0:
            return None
        return float(1 - self.cost / self.other_cost)


@dataclass(frozen=True)
class Replay(ShownResult, Jsonable):
    """What came out: a curve for each policy, what all answers give, and what is saved.

    Attributes
    ----------
    policy : str
        The label of the policy that was tried.
    budget : Decimal
        Maximum that it may spend.
    runs : int
        Runs of each policy and budget, each with tasks and workers in a different order.
    seed : int
        The seed of all draws.
    tasks : int
        Tasks with a recorded answer.
    workers : int
        Workers with a recorded answer.
    answers : int
        Recorded answers, one for each pair of task and worker.
    options : int
        Labels that somebody gave or that are right.
    measured : int
        Tasks with a gold label that is not told.
    rows : tuple of Row
        The points of the curves.
    curve : tuple of CurvePoint
        What each policy came to at each budget.
    everything : Everything
        What all recorded answers give, by majority.
    savings : tuple of Saving
        What the policy costs at the accuracy of each rival, and of everything, by majority.
    remarks : tuple of str
        What should not be overlooked, in sentences.
    truths : int
        Gold labels that are told at the start of each run, of tasks drawn at random.
    stop : str or None
        The label of the stopping rule of all policies that name none of their own; None without
        one.
    measures : tuple of Measures
        How right and how sure each policy is at each budget.
    """

    written: ClassVar = (
        *("policy", "budget", "runs", "seed", "tasks", "workers", "answers", "options", "measured"),
        *("curve", "everything", "savings", "remarks", "truths", "stop", "measures"),
    )

    policy: Word
    budget: Decimal
    runs: Positive
    seed: Count
    tasks: Positive
    workers: Positive
    answers: Positive
    options: NumberOfOptions
    measured: Positive
    rows: tuple[Row, ...]
    everything: Everything
    savings: Annotated[tuple[Saving, ...], JsonLimits(minItems=1)]
    remarks: tuple[str, ...]
    truths: Count = 0
    stop: Word | None = None
    measures: Annotated[tuple[Measures, ...], JsonLimits(minItems=1)] = ()

    def final(self, series: str, metric: str = "accuracy") -> Row:
        """A series at the full budget."""
        rows = [row for row in self.rows if (row.series, row.metric) == (series, metric)]
        return max(rows, key=lambda row: row.x)

    def final_measures(self, series: str) -> Measures:
        """What a series comes to at the full budget."""
        mine = [each for each in self.measures if each.series == series]
        return max(mine, key=lambda each: each.budget)

    @property
    def series(self) -> list[str]:
        """The policy, and those it is held against."""
        return list(dict.fromkeys(row.series for row in self.rows))

    @property
    def curve(self) -> Annotated[tuple[CurvePoint, ...], JsonLimits(minItems=2)]:
        """What each policy came to at each budget."""
        return tuple(
            CurvePoint(row.series, row.x, row.metric, row.mean, row.ci_low, row.ci_high)
            for row in self.rows
        )

    @property
    def headline(self) -> str:
        """The result in one line."""
        right, spent = self.final(self.policy).mean, self.final(self.policy, "spent").mean
        return (
            f"{self.policy} would have been right on {100 * right:.1f}% of the tasks for "
            f"{spent:,.6g}"
        )

    def picture(self) -> dict[str, Any]:
        """What `askwise.figures.draw` makes a picture of: accuracy against what was spent."""
        right = self.everything.accuracy
        ends = (0.0, float(self.budget))
        return {
            "results_rows": self._curves(),
            "title": self.headline,
            "metric": "accuracy",
            "x_label": "money spent",
            "y_label": "share of tasks answered right",
            "reference": [
                ReferenceRow.at(EVERYTHING, x, "accuracy", right, style="line") for x in ends
            ],
            "highlight": [self.policy],
        }

    def plot(self) -> Any:
        """Accuracy against what was spent, of each policy, and what all answers give.

        Needs Matplotlib, which is in the extra ``askwise[lab]``.
        """
        return draw(**self.picture())

    def _curves(self) -> list[Row]:
        """Accuracy against what was spent, rather than what might have been."""
        rows = []
        for series in self.series:
            mine = [row for row in self.rows if row.series == series]
            spent = {row.x: row.mean for row in mine if row.metric == "spent"}
            for row in mine:
                if row.metric == "accuracy":
                    place = (row.panel, series, spent[row.x], row.metric)
                    rows.append(Row(*place, row.mean, row.ci_low, row.ci_high, row.n))
        # Where money is left over, two budgets may end at the same spending.
        return list({(row.series, row.x): row for row in rows}.values())

    def _headline(self) -> str:
        return self.headline

    def _records(self) -> list[dict[str, Any]]:
        return [point._asdict() for point in self.curve]
