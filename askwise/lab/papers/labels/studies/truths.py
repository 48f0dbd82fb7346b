"""What known truths buy: workers who are tested on them, confidences, and a target that is met."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypedDict

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter
from askwise.figures import Row
from askwise.lab.experiment import Figure, experiments
from askwise.lab.papers.labels.studies.common import BUDGETS, LabelsCell
from askwise.lab.papers.labels.studies.recorded import ChosenSets, recorded_bench
from askwise.lab.papers.labels.studies.sets import about_sets
from askwise.lab.papers.labels.studies.standing import (
    LITTLE,
    LITTLE_WITH_TRUTHS,
    behind,
    leads,
)
from askwise.lab.replaying.bench import Bench, Grade, contender
from askwise.lab.results import measured_row, ratio_row

NAMES = {
    "accuracy": "accuracy",
    "ece": "calibration error",
    "least_ece": "by chance it would be",
    "log_loss": "log loss",
}

LEAST_DONE = 0.1
"""Share of the tasks that must be called done for a set's errors among them to say something."""


class Where(TypedDict):
    """Where a row stands."""

    panel: str
    series: str
    x: float


@experiments.register("labels-screening")
@dataclass(frozen=True)
class LabelsScreening(ChosenSets):
    """Policies that are told some truths before they ask; measured on the other tasks.

    Parameters
    ----------
    truths : numbers
        How many truths are told, drawn at random in each replication.
    answers : number
        The budget, in answers per task; what was recorded, where that is less.
    """

    policies: tuple[str, ...] = (
        "random-pairs with one-coin", "random-pairs with dawid-skene", "hem", "hem(target=0.05)",
    )  # fmt: skip
    truths: tuple[int, ...] = (0, 20, 50)
    answers: float = 3.0

    title: ClassVar[str] = "What known truths buy (beyond 002)"
    reproduces: ClassVar[str] = "beyond 002"
    summary: ClassVar[str] = (
        "Tasks whose truth is known show who is right: hem asks about some of them on purpose, to "
        "test workers, and pays for that from the same budget. With a target it asks about them in "
        "their turn instead, to learn what its confidence is worth. How much better are labels, "
        "how true are confidences, and how often is a task wrong that is called done?"
    )
    figures = (
        Figure(
            "accuracy",
            "truths told",
            "accuracy",
            "Share of the other tasks answered right, at the same budget, with 95% intervals.",
        ),
        Figure(
            "done_error",
            "truths told",
            "errors among tasks called done",
            "With a target of 5%, over the tasks that are called done in all replications.",
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.budgets != BUDGETS:
            raise InvalidParameter(
                f"budgets is {self.budgets}: this experiment has one budget, give answers",
                field="budgets",
            )
        if not self.answers > 0:
            raise InvalidParameter(
                f"answers is {self.answers}: give a number above 0", field="answers"
            )
        for told in self.truths:
            if self.truths.count(told) > 1:
                raise InvalidParameter(f"truths names {told} twice", field="truths")
            if told < 0:
                raise InvalidParameter(
                    f"truths is {told}: give numbers of truths, 0 or more", field="truths"
                )

    def cells(self) -> list[LabelsCell]:
        """A cell per set, and one for the notes: thresholds are not turned here."""
        return [each for each in super().cells() if not each.dials]

    def bench(self, panel: str, seed: int, number: int) -> Bench:
        """The set's recorded pairs, in the order of the files and without contexts."""
        return recorded_bench(self.data, panel, self.most_tasks, False)

    def sample(self, cell: LabelsCell, seed: int, replication: int) -> Array:
        """Grades of each contender after each number of truths."""
        found = np.full((len(self.truths), len(self.policies), len(Grade._fields)), np.nan)
        for panel in cell.panels:
            bench = self.bench(panel, seed, replication)
            recording = bench.recording
            money = min(max(1, round(self.answers * recording.tasks)), len(recording.task))
            for at, told in enumerate(self.truths):
                shuffled = bench.in_another_order(seed, replication, told)
                if not (shuffled.measured.truth >= 0).any():
                    continue
                for place, label in enumerate(self.policies):
                    each = contender(label)
                    if each.fits(recording.problem(money)):
                        found[at, place] = shuffled.grade(each, money, seed, replication)
        return found.ravel()

    def rows(self, cell: LabelsCell, samples: Array, seed: int) -> list[Row]:
        """Means over the replications; shares of tasks called done, and of those that are wrong."""
        if not cell.panels:
            return super().rows(cell, samples, seed)
        (panel,) = cell.panels
        known = int((self.bench(panel, seed, 0).recording.truth >= 0).sum())
        shape = (len(samples), len(self.truths), len(self.policies), len(Grade._fields))
        values = samples.reshape(shape)
        accuracy = values[..., Grade._fields.index("accuracy")]
        made = [contender(label) for label in self.policies]
        found = leads(panel, accuracy, [float(told) for told in self.truths], made)
        for at, told in enumerate(self.truths):
            for place, label in enumerate(self.policies):
                grade = Grade(*values[:, at, place].T)
                where: Where = {
                    "panel": panel, "series": contender(label).series, "x": float(told)
                }  # fmt: skip
                measured = {name: getattr(grade, name) for name in NAMES}
                measured["done_share"] = grade.done / max(1, known - told)
                found += [
                    measured_row(each, metric=metric, **where)
                    for metric, each in measured.items()
                    if not np.isnan(each).any()
                ]
                some = np.nan_to_num(grade.done) > 0
                if some.any():
                    wrong, done = np.asarray(grade.wrong)[some], np.asarray(grade.done)[some]
                    found.append(ratio_row(wrong, done, metric="done_error", seed=seed, **where))
                    total = float(done.sum()) / len(samples)
                    found.append(
                        Row(
                            panel, where["series"], where["x"], "done_tasks", total, total, total, 1
                        )
                    )
        return found

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Means over the sets, and on how many of them a target is kept."""
        said = about_sets(rows)
        for label in self.policies:
            each = contender(label)
            for told in self.truths:
                said.append(summed(rows, each.series, float(told), each.target))
        for told in self.truths:
            mine = [row for row in rows if row.x == told]
            little = LITTLE_WITH_TRUTHS if told else LITTLE
            said += [f"{told} truths told: {text}" for text in behind(mine, little)]
        said.append(
            f"The budget is {self.answers:g} answers per task; on sets with fewer, all that were "
            "recorded. Errors among tasks called done are those of all sets together."
        )
        return said


def summed(rows: Sequence[Row], series: str, told: float, target: float) -> str:
    """What a policy came to, averaged over the sets, and how many errors among tasks done."""
    by_metric: dict[str, dict[str, float]] = {}
    for row in rows:
        if (row.series, row.x) == (series, told):
            by_metric.setdefault(row.metric, {})[row.panel] = row.mean
    parts = [
        f"{name} {np.mean(list(by_metric[metric].values())):.3f}"
        for metric, name in NAMES.items()
        if metric in by_metric
    ]
    if not parts:
        return f"{series}, {told:g} truths told: no set could be measured."
    shares, errors = by_metric.get("done_share", {}), by_metric.get("done_error", {})
    if shares:
        parts.append(f"{np.mean(list(shares.values())):.0%} of the tasks called done")
    if errors:
        tasks = by_metric["done_tasks"]
        pooled = sum(errors[name] * tasks[name] for name in errors) / sum(tasks.values())
        kept = sum(
            shares[name] < LEAST_DONE or errors.get(name, 0.0) <= 1.5 * target for name in shares
        )
        parts.append(f"{pooled:.1%} of them wrong")
        parts.append(f"at most {1.5 * target:.1%} on {kept} of {len(shares)} sets")
    return f"{series}, {told:g} truths told, mean of the sets: {', '.join(parts)}."
