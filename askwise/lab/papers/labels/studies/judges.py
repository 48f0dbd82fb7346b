"""Programs as workers: language models that judge, and priced services (beyond 002)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.money import MICRO, Amount, from_micro, to_micro
from askwise.figures import Row
from askwise.lab.experiment import Figure, experiments
from askwise.lab.papers.labels.studies.common import LabelsCell, curve_of, series_in
from askwise.lab.papers.labels.studies.recorded import ChosenSets
from askwise.lab.papers.labels.studies.sets import (
    LabelSet,
    about_sets,
    named_set,
    read_set,
    sets_in,
    stand_in,
)
from askwise.lab.replaying.bench import Bench

UNPRICED = "llmbar"
SERVICES = "api_"
EACH = 6
"""Up to this many workers have a point each; of more, only the best in hindsight."""

ALL = "everybody, majority"


@experiments.register("judges")
@dataclass(frozen=True)
class Judges(ChosenSets):
    """Accuracy against money where the workers are language models or priced services.

    Parameters
    ----------
    budgets : numbers
        Money per task, in prices of an answer (the mean over the workers); what is shown is money.
    sets : names
        Which sets of the folder; by default llmbar and all whose name begins with ``api_``.
    """

    policies: tuple[str, ...] = (
        "random-pairs",
        "random-pairs with dawid-skene",
        "label-bounded-epsilon-first",
        "label-trialsourcing",
        "hem",
    )
    budgets: tuple[float, ...] = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 15.0)

    reps: ClassVar[int] = 10
    title: ClassVar[str] = "Programs as workers (beyond 002)"
    reproduces: ClassVar[str] = "beyond 002"
    summary: ClassVar[str] = (
        "Language models compare two texts (llmbar: 130 judges, five kinds of instructions, many "
        "judges worse than chance on some), and commercial services name what is in a picture, at "
        "prices from next to nothing to fifteen dollars for 10,000 answers. A program does not "
        "tire and answers at once; but which one should be paid, and for which task? The money "
        "of a service's set is in dollars for 10,000 tasks."
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "accuracy",
            "money per task",
            "accuracy",
            "Share of the tasks answered right against the money spent, with 95% intervals; single "
            "points are workers asked alone about everything.",
        ),
    )

    def label_sets(self) -> list[LabelSet]:
        """Sets of machine workers, or a stand-in with prices."""
        if not self.data:
            return [stand_in(priced=True)]
        return [
            read_set(str(path), self.most_tasks, name)
            for name, path in sets_in(self.data, self.sets).items()
            if self.sets or name == UNPRICED or name.startswith(SERVICES)
        ]

    def bench(self, panel: str, seed: int, number: int) -> Bench:
        """The recorded pairs at their prices."""
        return _priced_bench(self.data, panel, self.most_tasks).in_another_order(seed, number)

    def buys(self, panel: str, bench: Bench, budget: float) -> Amount | None:
        """Budgets up to what all recorded answers cost together."""
        recording = bench.recording
        prices = _micro(recording.prices, recording.workers)
        money = round(budget * recording.tasks * float(prices.mean()))
        return from_micro(money) if money <= int(prices[recording.worker].sum()) else None

    def rows(self, cell: LabelsCell, samples: Array, seed: int) -> list[Row]:
        """Money in place of mean prices; and workers asked alone."""
        found = super().rows(cell, samples, seed)
        if not cell.panels:
            return found
        panel = cell.panels[0]
        bench = _priced_bench(self.data, panel, self.most_tasks)
        recording = bench.recording
        prices = _micro(recording.prices, recording.workers) / MICRO
        scaled = [replace(row, x=round(row.x * float(prices.mean()), 6)) for row in found]
        names = named_set(self.data, panel, self.most_tasks, priced=True).workers
        return scaled + alone(panel, names, bench, len(samples))

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """What has prices, and what a policy gains on the best worker alone."""
        said = about_sets(rows)
        panels = list(dict.fromkeys(row.panel for row in rows if row.panel))
        if UNPRICED in panels:
            said.append(
                f"{UNPRICED} comes without prices: every answer costs 1, so its money is answers."
            )
        if any(panel.startswith(SERVICES) for panel in panels):
            said.append(
                "Prices of services are in dollars for 10,000 answers, as in workers.csv, and so "
                "is the money per task: dollars for 10,000 tasks."
            )
        for panel in panels:
            single = [name for name in series_in(rows, panel) if name.startswith("only ")]
            points = {name: next(iter(curve_of(rows, panel, name).values())) for name in single}
            best = max(points, key=lambda name: points[name].mean, default=None)
            others = [
                row
                for row in rows
                if row.panel == panel and row.metric == "accuracy" and row.series not in points
            ]
            if best and others:
                top = max(others, key=lambda row: row.mean)
                said.append(
                    f"{panel}: the best worker alone is {best.removeprefix('only ')} "
                    f"({points[best].mean:.3f} for {points[best].x:g}; unknown beforehand); "
                    f"the best that is reached is {top.mean:.3f} for {top.x:g} ({top.series})."
                )
        return said


def alone(panel: str, names: Sequence[str], bench: Bench, n: int) -> list[Row]:
    """Each worker asked about everything they answered; and all of them, by majority."""
    recording = bench.recording
    prices = _micro(recording.prices, recording.workers) / MICRO
    points: dict[str, tuple[float, float]] = {}
    for worker, name in enumerate(names):
        mine = recording.worker == worker
        answers = np.full(recording.tasks, -1)
        answers[recording.task[mine]] = recording.label[mine]
        cost = float(mine.sum() * prices[worker]) / recording.tasks
        points[f"only {name}"] = recording.accuracy(answers), cost
    if len(points) > EACH:
        best = max(points, key=lambda name: points[name][0])
        points = {best: points[best]}
    found = []
    for series, (accuracy, cost) in points.items():
        x = round(cost, 6)
        found.append(Row(panel, series, x, "accuracy", accuracy, accuracy, accuracy, n))
    total = round(float(prices[recording.worker].sum()) / recording.tasks, 6)
    share = recording.majority_accuracy()
    found.append(Row(panel, ALL, total, "accuracy", share, share, share, n))
    return found


@lru_cache(maxsize=8)
def _priced_bench(data: str, name: str, most_tasks: int) -> Bench:
    found = named_set(data, name, most_tasks, priced=True)
    assert found.recording is not None
    return Bench(found.recording)


def _micro(prices: Sequence[Amount], workers: int) -> Array:
    return np.array([to_micro(price, "price") for price in prices or (1,) * workers])
