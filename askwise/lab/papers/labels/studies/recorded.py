"""Paper 002, Fig. 5: recorded answers, as they are and with the gaps filled."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter
from askwise.core.money import Amount
from askwise.figures import Row
from askwise.lab.experiment import experiments
from askwise.lab.papers.labels.studies.common import (
    DIALS,
    FIGURES,
    LabelsCell,
    LabelsExperiment,
    curve_of,
    series_in,
)
from askwise.lab.papers.labels.studies.sets import (
    MOST_TASKS,
    STAND_IN,
    LabelSet,
    about_sets,
    check_sets,
    chosen_sets,
    named_set,
    read_set,
    sets_in,
    stand_in,
    told,
    usable_names,
    without_contexts,
)
from askwise.lab.papers.labels.studies.standing import behind, gains, laws, leads, means
from askwise.lab.replaying.bench import ACCURACY, Bench, contender
from askwise.lab.worlds.completion import complete

COMPLETED, RECORDED = "completed", "recorded pairs"

HINDSIGHT = "best worker in hindsight"

KNOWN_RTE: dict[str, dict[str, dict[float, float]]] = {
    COMPLETED: {"bbta": {3.0: 0.904, 5.0: 0.907}},
    RECORDED: {
        "bbta": {2.0: 0.837, 3.0: 0.892, 5.0: 0.926, 10.0: 0.929},
        "random-pairs": {10.0: 0.897},
    },
}
"""By an independent implementation (30 repetitions): the paper's figure can't be read."""

POLICIES = (
    "bbta",
    "bbta(explore=0)",
    "optkg",
    "crowdsense",
    "iethresh",
    "random-pairs",
    "random-pairs with one-coin",
    "random-pairs with dawid-skene",
    "hem",
)


@dataclass(frozen=True)
class SetsExperiment(LabelsExperiment):
    """Policies on recorded answers: only pairs that were recorded can be asked.

    Parameters
    ----------
    data : folder
        Holds ``NAME/labels.csv`` and ``NAME/gold.csv`` for each set, and where there are any
        ``NAME/context.csv`` and ``NAME/workers.csv``; without it a simulated set stands in.
    most_tasks : int
        Tasks used of a larger set, those with gold first; 0 for all.
    """

    data: str = ""
    most_tasks: int = MOST_TASKS

    reps: ClassVar[int] = 10
    chunk: ClassVar[int] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.most_tasks < 0:
            raise InvalidParameter(
                f"most_tasks is {self.most_tasks}: give a number of tasks, or 0 for all",
                field="most_tasks",
            )

    def label_sets(self) -> list[LabelSet]:
        """What there is to run on, also those that can't be used."""
        return chosen_sets(self.data, (), self.most_tasks)

    def cells(self) -> list[LabelsCell]:
        """A cell per set, and one more for those that spend what they like; one for the notes."""
        dials = any(contender(label).policy.name in DIALS for label in self.policies)
        found = []
        for name in usable_names(self.label_sets(), self.data):
            panels = self.panels_of(name)
            found.append(LabelsCell(name, 0.0, panels, self.budgets))
            if dials:
                found.append(LabelsCell(name, 1.0, panels, (0.0,), dials=True))
        return [*found, LabelsCell("", 0.0)]

    def panels_of(self, name: str) -> tuple[str, ...]:
        """The panels of a set."""
        return (name,)

    def number(self, panel: str, replication: int) -> int:
        """Worlds are recorded: only order and the policies' draws are new in a replication."""
        return replication

    def bench(self, panel: str, seed: int, number: int) -> Bench:
        """The set's recorded pairs."""
        found = recorded_bench(self.data, panel, self.most_tasks, True)
        return found.in_another_order(seed, number)

    def buys(self, panel: str, bench: Bench, budget: float) -> Amount | None:
        """Budgets up to as many answers as were recorded."""
        recording = bench.recording
        money = round(budget * recording.tasks)
        return money if money <= len(recording.task) else None

    def rows(self, cell: LabelsCell, samples: Array, seed: int) -> list[Row]:
        """Also what the sets are."""
        if not cell.panels:
            return [row for each in self.label_sets() for row in each.notes()]
        return super().rows(cell, samples, seed)

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Which sets were used and in which part."""
        return about_sets(rows)


@dataclass(frozen=True)
class ChosenSets(SetsExperiment):
    """Policies on those sets of a folder that are named.

    Parameters
    ----------
    sets : names
        Which sets of the folder; every one by default.
    """

    sets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sets(self.data, self.sets)

    def label_sets(self) -> list[LabelSet]:
        """Those named, or all."""
        return chosen_sets(self.data, self.sets, self.most_tasks)


@lru_cache(maxsize=32)
def recorded_bench(data: str, name: str, most_tasks: int, contexts: bool) -> Bench:
    found = named_set(data, name, most_tasks)
    assert found.recording is not None
    # The budget counts answers here: all cost the same.
    recording = replace(found.recording, prices=())
    return Bench(recording if contexts else without_contexts(recording))


@lru_cache(maxsize=4)
def _completed_bench(data: str, name: str, most_tasks: int, contexts: bool) -> Bench:
    return Bench(complete(recorded_bench(data, name, most_tasks, contexts).recording))


@experiments.register("labels-rte")
@dataclass(frozen=True)
class LabelsRte(SetsExperiment):
    """Fig. 5a: textual entailment, with the gaps filled as in the paper, and as recorded."""

    policies: tuple[str, ...] = POLICIES
    budgets: tuple[float, ...] = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0)

    reps: ClassVar[int] = 10
    chunk: ClassVar[int] = 2
    title: ClassVar[str] = "Recognizing textual entailment (002, Fig. 5a)"
    reproduces: ClassVar[str] = "002, Fig. 5a"
    summary: ClassVar[str] = (
        "800 tasks, 164 workers of Mechanical Turk, ten answers per task. The paper fills the "
        "answers that nobody gave by matrix completion, so that anyone can be asked about "
        "anything. Completion makes workers alike, and better than they are; the second panel "
        "asks recorded pairs only. How much of the result is the completion's?"
    )
    figures = FIGURES

    def label_sets(self) -> list[LabelSet]:
        """The set rte, or a stand-in."""
        if not self.data:
            return [stand_in()]
        if "rte" not in sets_in(self.data, ()):
            raise InvalidParameter(
                f"data is {self.data!r}: it has no folder rte with labels.csv", field="data"
            )
        return [read_set(str(Path(self.data) / "rte"), self.most_tasks)]

    def panels_of(self, name: str) -> tuple[str, ...]:
        """Completed and recorded."""
        return COMPLETED, RECORDED

    def bench(self, panel: str, seed: int, number: int) -> Bench:
        """One context for all, as in the paper."""
        name = "rte" if self.data else STAND_IN
        made = _completed_bench if panel == COMPLETED else recorded_bench
        return made(self.data, name, self.most_tasks, False).in_another_order(seed, number)

    def rows(self, cell: LabelsCell, samples: Array, seed: int) -> list[Row]:
        """Also what an independent implementation has, at the budgets that are run."""
        found = super().rows(cell, samples, seed)
        if cell.panels or not self.data:
            return found
        mine = {contender(label).series for label in self.policies}
        for panel, curves in KNOWN_RTE.items():
            for series, curve in curves.items():
                found += [
                    Row(panel, series, x, "independent_accuracy", mean, mean, mean, 0)
                    for x, mean in curve.items()
                    if series in mine and x in self.budgets
                ]
        return found

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """How the completion was done, and what it changes."""
        said = super().differences(rows)
        said.append(
            "The paper completes the matrix with GROUSE; here it is soft-impute, with the penalty "
            "that errs least on a tenth of the answers held out. Recorded answers stay as they "
            "are."
        )
        if STAND_IN not in told(rows):
            said.append(
                "The paper's figure can't be read to the digit; independent_accuracy is what an "
                "independent implementation has. Its completed panel has another penalty."
            )
        for series in ("bbta", "hem"):
            full, sparse = (curve_of(rows, panel, series) for panel in (COMPLETED, RECORDED))
            shared = sorted(set(full) & set(sparse))
            if shared:
                listed = ", ".join(
                    f"{full[x].mean:.3f} and {sparse[x].mean:.3f} at {x:g}" for x in shared
                )
                said.append(f"{series}, completed and recorded: {listed} answers per task.")
        return said


@experiments.register("labels-real")
@dataclass(frozen=True)
class LabelsReal(ChosenSets):
    """Accuracy against budget on every recorded set at hand, with recorded pairs only."""

    policies: tuple[str, ...] = POLICIES
    budgets: tuple[float, ...] = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0)

    title: ClassVar[str] = "Policies on recorded answers (beyond 002)"
    reproduces: ClassVar[str] = "beyond 002"
    summary: ClassVar[str] = (
        "The paper has two recorded sets, both with filled gaps. Here are all that are at hand, "
        "as they were recorded: a worker can be asked about a task if they answered it. Budgets "
        "end where all recorded answers are bought. Do policies that learn who is good hold up "
        "where workers are people, and programs?"
    )
    figures = FIGURES

    def cells(self) -> list[LabelsCell]:
        """The last budget of a set is all that was recorded."""
        return [
            replace(each, budgets=self._budgets(each.panels[0])) if each.budgets and not each.dials
            else each
            for each in super().cells()
        ]  # fmt: skip

    def _budgets(self, panel: str) -> tuple[float, ...]:
        recording = recorded_bench(self.data, panel, self.most_tasks, True).recording
        everything = len(recording.task) / recording.tasks
        return (*(budget for budget in self.budgets if budget < everything), everything)

    def rows(self, cell: LabelsCell, samples: Array, seed: int) -> list[Row]:
        """Also how far ours is ahead of each of the others, run by run, and the best worker."""
        found = super().rows(cell, samples, seed)
        if not cell.panels or cell.dials:
            return found
        (panel,), contenders = cell.panels, self.contenders(cell)
        shape = len(samples), len(cell.budgets), len(contenders), 2
        accuracy = samples.reshape(shape)[..., ACCURACY]
        found += leads(panel, accuracy, cell.budgets, contenders)
        found += gains(panel, accuracy, cell.budgets, contenders)
        return [*found, best_worker(named_set(self.data, panel, self.most_tasks))]

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Who is ahead in how many points."""
        said = [*about_sets(rows), *unfit(rows, self.policies), *leaders(rows)]
        return [*said, *behind(rows), *laws(rows), *means(rows, self.budgets)]


@experiments.register("labels-hobby")
@dataclass(frozen=True)
class LabelsHobby(SetsExperiment):
    """Fig. 5b: tasks of several kinds, on Gender Hobby or on other sets with contexts.

    Parameters
    ----------
    hobby : folder
        Gender Hobby, if you have it: ``labels.csv``, ``gold.csv`` and ``context.csv``. It is
        completed, as in the paper, and shown as recorded.
    """

    policies: tuple[str, ...] = ("bbta", "bbta(explore=0)", "optkg", "optkg-multi", "crowdsense",
                                 "iethresh", "random-pairs", "hem")  # fmt: skip
    budgets: tuple[float, ...] = (1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0)
    hobby: str = ""

    reps: ClassVar[int] = 10
    chunk: ClassVar[int] = 2
    title: ClassVar[str] = "Tasks of several kinds (002, Fig. 5b)"
    reproduces: ClassVar[str] = "002, Fig. 5b"
    summary: ClassVar[str] = (
        "Gender Hobby has questions on sports and on make-up and cooking; who is good at one may "
        "be bad at the other. The data is not public. Other sets with contexts stand in where it "
        "is not given: kinds of textual entailment (rte) and of instructions that language models "
        "judge (llmbar). Does it pay to know the kind of a task?"
    )
    figures = FIGURES

    def label_sets(self) -> list[LabelSet]:
        """Gender Hobby, or all sets with contexts."""
        if self.hobby:
            found = read_set(str(Path(self.hobby)), 0)
            if found.recording is None or found.recording.contexts is None:
                raise InvalidParameter(
                    f"hobby is {self.hobby!r}: it must hold labels.csv with options, gold.csv and "
                    "context.csv",
                    field="hobby",
                )
            return [found]
        if not self.data:
            return [stand_in()]
        every = super().label_sets()
        return [
            each
            for each in every
            if each.recording is not None and each.recording.contexts is not None
        ]

    def panels_of(self, name: str) -> tuple[str, ...]:
        """Gender Hobby is completed as well, as in the paper."""
        return (COMPLETED, RECORDED) if self.hobby else (name,)

    def bench(self, panel: str, seed: int, number: int) -> Bench:
        """With the contexts."""
        if self.hobby:
            place = Path(self.hobby)
            made = _completed_bench if panel == COMPLETED else recorded_bench
            return made(str(place.parent), place.name, 0, True).in_another_order(seed, number)
        return super().bench(panel, seed, number)

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Which data it is."""
        said = about_sets(rows)
        if not self.hobby:
            used = [name for name, counts in told(rows).items() if "tasks" in counts]
            said.insert(
                0,
                "Gender Hobby (Mo et al. 2013) is not to be had; give it with --set hobby=FOLDER. "
                f"Shown instead: {', '.join(used)}, as recorded.",
            )
        return said + leaders(rows)


def unfit(rows: Sequence[Row], labels: Sequence[str]) -> list[str]:
    """Say which policies can't work on which sets."""
    panels = list(dict.fromkeys(row.panel for row in rows if row.panel))
    said = []
    for label in labels:
        series = contender(label).series
        without = [panel for panel in panels if series not in series_in(rows, panel)]
        if without:
            said.append(f"{series} can't work on {', '.join(without)} (more than two options).")
    return said


def leaders(rows: Sequence[Row]) -> list[str]:
    """Series by the number of points (panel and budget) at which they surely lead all others."""
    points: dict[tuple[str, float], list[Row]] = {}
    for row in rows:
        if row.metric == "accuracy":
            points.setdefault((row.panel, row.x), []).append(row)
    several = [found for found in points.values() if len(found) > 1]
    if not several:
        return []
    wins = Counter(best.series for found in several if (best := sure_best(found)) is not None)
    listed = [f"{series} ({count})" for series, count in wins.most_common()]
    close = f"too close to tell ({len(several) - wins.total()} of {len(several)})"
    return [
        "The highest mean accuracy with intervals apart from all others, by the number of sets and "
        f"budgets: {', '.join([*listed, close])}."
    ]


def sure_best(found: Sequence[Row]) -> Row | None:
    """The row whose interval is above those of all others, if there is one."""
    best = max(found, key=lambda row: row.mean)
    if all(row.ci_high < best.ci_low for row in found if row is not best):
        return best
    return None


def best_worker(found: LabelSet) -> Row:
    """How often the best of those is right who answered half of the known tasks or more.

    Of all workers, where nobody did; it stands at the answers per task that they gave.
    """
    recording = found.recording
    assert recording is not None
    known = recording.truth[recording.task] >= 0
    who = recording.worker[known]
    right = recording.label[known] == recording.truth[recording.task[known]]
    answered = np.bincount(who, minlength=recording.workers)
    shares = np.bincount(who, right, recording.workers) / np.maximum(1, answered)
    busy = 2 * answered >= (recording.truth >= 0).sum()
    best = int(np.argmax(np.where(busy | ~busy.any(), shares, -1.0)))
    x = round(float((recording.worker == best).sum()) / recording.tasks, 3)
    share = float(shares[best])
    return Row(found.name, HINDSIGHT, x, "accuracy_alone", share, share, share, 1)
