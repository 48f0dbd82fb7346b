"""What the experiments on labelling (paper 002) share: accuracy against budget."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
import scipy

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter
from askwise.core.money import Amount
from askwise.figures import Row
from askwise.lab.experiment import Cell, Experiment, Figure
from askwise.lab.replaying.bench import ACCURACY, SPENT, Bench, Contender, contender
from askwise.lab.results import CONFIDENCE, mean_row, rate_row

OURS = ("hem",)

BUDGETS = (1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0)
"""Answers per task."""

DIALS: dict[str, tuple[float, ...]] = {
    "crowdsense": (-0.1, 0.0, 0.02, 0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4),
    "iethresh": (0.4, 0.6, 0.7, 0.8, 0.85, 0.9, 0.92, 0.94, 0.96, 0.98, 1.0),
}
"""Policies that spend what they like, and the thresholds at which they are run: from three
answers per task (one or two with iethresh) to well above the largest budget."""

BEYOND = 1.35
"""Points at more than this many times the largest budget would only stretch the axis."""


@dataclass(frozen=True)
class LabelsCell(Cell):
    """Panels and budgets that one job computes; with ``dials`` policies that spend as they like."""

    panels: tuple[str, ...] = ()
    budgets: tuple[float, ...] = ()
    dials: bool = False


@dataclass(frozen=True)
class LabelsExperiment(Experiment):
    """Run contenders on worlds of labels and compare their accuracy at each budget.

    Parameters
    ----------
    policies : labels
        What to compare: ``policy``, whose answers are its own or the majority's, or
        ``policy with aggregator``, or ``policy with aggregator by context``, which learns in each
        context alone. Those that spend what they like (crowdsense, iethresh) are run
        over a grid of their threshold and stand at what they spent.
    budgets : numbers
        Answers per task.
    """

    policies: tuple[str, ...] = ()
    budgets: tuple[float, ...] = BUDGETS

    ours: ClassVar[tuple[str, ...]] = OURS
    chunk: ClassVar[int] = 2
    overall: ClassVar[str] = ""
    """Panel with the means over all panels of a cell; none if empty."""

    def __post_init__(self) -> None:
        check_labels(self.policies, "policies")
        check_positive(self, "budgets")

    @abstractmethod
    def bench(self, panel: str, seed: int, number: int) -> Bench:
        """The world of a panel in one replication."""

    @abstractmethod
    def number(self, panel: str, replication: int) -> int:
        """The number of a panel's draws: no two panels of a replication share theirs."""

    def buys(self, panel: str, bench: Bench, budget: float) -> Amount | None:
        """The budget in money; None where there is nothing more to buy than with the one below."""
        return round(budget * bench.recording.tasks)

    def contenders(self, cell: LabelsCell) -> list[Contender]:
        """Those of a cell: with dials, one for each threshold."""
        made = [contender(label) for label in self.policies]
        if not cell.dials:
            return [each for each in made if each.policy.name not in DIALS]
        return [turned for each in made for turned in self.turned(each)]

    def turned(self, each: Contender) -> list[Contender]:
        """A contender at each of its thresholds; none for those without."""
        policy: Any = each.policy
        return [
            replace(each, policy=replace(policy, threshold=value))
            for value in DIALS.get(policy.name, ())
        ]

    def sample(self, cell: LabelsCell, seed: int, replication: int) -> Array:
        """Accuracy and answers per task of each panel, budget and contender."""
        contenders = self.contenders(cell)
        found = np.full((len(cell.panels), len(cell.budgets), len(contenders), 2), np.nan)
        for at, panel in enumerate(cell.panels):
            number = self.number(panel, replication)
            bench = self.bench(panel, seed, number)
            for place, budget in enumerate(cell.budgets):
                money = None if cell.dials else self.buys(panel, bench, budget)
                if money is None and not cell.dials:
                    continue
                measured = bench.measure(contenders, money, seed, number)
                measured[:, SPENT] /= bench.recording.tasks
                found[at, place] = measured
        return found.ravel()

    def rows(self, cell: LabelsCell, samples: Array, seed: int) -> list[Row]:
        """Accuracy and spending of every panel, budget and series, and their means."""
        contenders = self.contenders(cell)
        shape = (len(samples), len(cell.panels), len(cell.budgets), len(contenders), 2)
        values = samples.reshape(shape)
        found = []
        for at, panel in enumerate(cell.panels):
            for place, budget in enumerate(cell.budgets):
                block = values[:, at, place]
                found += self._block(panel, budget, block, contenders, cell.dials)
        if self.overall and len(cell.panels) > 1:
            for place, budget in enumerate(cell.budgets):
                block = values[:, :, place]
                if cell.dials:
                    found += self._between(block, contenders)
                else:
                    found += self._block(self.overall, budget, block.mean(1), contenders, False)
        return found

    def _block(
        self, panel: str, x: float, block: Array, contenders: list[Contender], dials: bool
    ) -> list[Row]:
        found: list[Row] = []
        seen = set()
        for at, each in enumerate(contenders):
            if np.isnan(block[:, at]).any():
                continue
            accuracy, spent = block[:, at, ACCURACY], block[:, at, SPENT]
            place: dict[str, Any] = {"panel": panel, "series": each.series, "x": x}
            if dials:
                place |= {"series": _without_dial(each), "x": round(float(spent.mean()), 3)}
                # Thresholds that spend the same are one point, the first's.
                point = (place["series"], place["x"])
                if place["x"] > BEYOND * max(self.budgets) or point in seen:
                    continue
                seen.add(point)
            found.append(rate_row(accuracy, metric="accuracy", **place))
            found.append(mean_row(spent, metric="spent", **place))
        return sorted(found, key=lambda row: row.x) if dials else found

    def _between(self, block: Array, contenders: list[Contender]) -> list[Row]:
        """Means over the panels at the budgets, between the thresholds, in each replication."""
        found = []
        for series in dict.fromkeys(_without_dial(each) for each in contenders):
            mine = [at for at, each in enumerate(contenders) if _without_dial(each) == series]
            for budget in self.budgets:
                accuracy = np.array(
                    [
                        np.mean([accuracy_at(panel[mine], budget) for panel in replication])
                        for replication in block
                    ]
                )
                if not np.isnan(accuracy).any():
                    place: dict[str, Any] = {"panel": self.overall, "series": series, "x": budget}
                    found.append(rate_row(accuracy, metric="accuracy", **place))
        return found


def accuracy_at(curve: Array, spent: float) -> float:
    """Accuracy at a spending, between the thresholds next to it; not a number beyond them.

    Examples
    --------
    >>> import numpy as np
    >>> accuracy_at(np.array([[0.9, 4.0], [0.7, 2.0]]), 3.0)
    0.8
    """
    order = np.argsort(curve[:, SPENT], kind="stable")
    spends, accuracies = curve[order, SPENT], curve[order, ACCURACY]
    if not spends[0] <= spent <= spends[-1]:
        return float("nan")
    return float(np.interp(spent, spends, accuracies))


def _without_dial(each: Contender) -> str:
    policy: Any = each.policy
    default = {field.name: field.default for field in fields(policy)}["threshold"]
    return replace(each, policy=replace(policy, threshold=default)).series


def check_labels(labels: Sequence[str], field: str) -> None:
    """Refuse contenders that are not known or named twice."""
    if not labels:
        raise InvalidParameter(f"{field} is empty: name at least one", field=field)
    series = [contender(label).series for label in labels]
    for name in series:
        if series.count(name) > 1:
            raise InvalidParameter(f"{field} names {name!r} twice", field=field)


def check_positive(experiment: Any, *names: str) -> None:
    """Refuse numbers that are not above 0."""
    for name in names:
        value = getattr(experiment, name)
        for each in value if isinstance(value, tuple) else (value,):
            if not each > 0:
                raise InvalidParameter(f"{name} has {each}: give numbers above 0", field=name)


def curve_of(
    rows: Sequence[Row], panel: str, series: str, metric: str = "accuracy"
) -> dict[float, Row]:
    """A series by x."""
    return {
        row.x: row for row in rows if (row.panel, row.series, row.metric) == (panel, series, metric)
    }


def series_in(rows: Sequence[Row], panel: str) -> list[str]:
    """The series of a panel whose accuracy was measured, in order."""
    return list(
        dict.fromkeys(row.series for row in rows if row.panel == panel and row.metric == "accuracy")
    )


def standard_error(row: Row) -> float:
    """The standard error behind a row's interval, which is Student's t."""
    half = (row.ci_high - row.ci_low) / 2
    return (
        half / float(scipy.special.stdtrit(row.n - 1, 0.5 + CONFIDENCE / 2)) if row.n > 1 else 0.0
    )


def reached_at(curve: dict[float, Row], accuracy: float) -> float | None:
    """The smallest budget at which a curve reaches an accuracy, between its points; None if never.

    Below its first point nothing is known: then it is that point.
    """
    before: tuple[float, float] | None = None
    for x in sorted(curve):
        mean = curve[x].mean
        if mean >= accuracy:
            if before is None:
                return x
            share = (accuracy - before[1]) / (mean - before[1])
            return before[0] + share * (x - before[0])
        before = x, mean
    return None


FIGURES = (
    Figure(
        "accuracy",
        "answers per task",
        "accuracy",
        "Share of the tasks answered right against the budget in answers per task, with 95% "
        "intervals.",
    ),
)
