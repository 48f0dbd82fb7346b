"""Worker models side by side, answers that come late, and how good workers are (002)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter
from askwise.figures import Row
from askwise.lab.experiment import Cell, Experiment, Figure, experiments
from askwise.lab.papers.labels.studies.common import (
    LabelsCell,
    LabelsExperiment,
    check_labels,
    check_positive,
    curve_of,
)
from askwise.lab.papers.labels.studies.recorded import recorded_bench
from askwise.lab.papers.labels.studies.sets import (
    MOST_TASKS,
    STAND_IN,
    named_set,
    read_set,
    sets_in,
)
from askwise.lab.papers.labels.studies.tables import (
    SIMULATED,
    SOURCES,
    absent,
    at_hand,
    simulated_table,
    table,
)
from askwise.lab.papers.labels.studies.uci import PAPER_MODELS, case
from askwise.lab.replaying.bench import Bench, contender
from askwise.lab.results import mean_row, measured_row
from askwise.lab.worlds.completion import complete
from askwise.lab.worlds.labellers import MODELS, check_models, label_tasks

BINS = 20
"""Of the histograms: the paper's are 5% wide."""

LEAST = 10
"""Answers to tasks of known truth that a worker must have given to be counted."""


@experiments.register("labels-workers")
@dataclass(frozen=True)
class LabelsWorkers(LabelsExperiment):
    """All worker models at a few budgets, on simulated tasks.

    Parameters
    ----------
    models : names
        Out of spammer-hammer, one-coin, malicious, confused, drifting, lazy and colluding.
    tasks, contexts, workers, options : int
        How many there are. The truth is skewed in each context, as in real tables.
    truths : int
        Tasks, drawn at random, whose truth is told beforehand; they are not measured.
    """

    policies: tuple[str, ...] = (
        "bbta",
        "optkg-multi",
        "random-pairs",
        "random-pairs with one-coin by context",
        "random-pairs with dawid-skene by context",
        "hem",
    )
    budgets: tuple[float, ...] = (3.0, 5.0, 10.0)
    models: tuple[str, ...] = tuple(MODELS)
    tasks: int = 400
    contexts: int = 4
    workers: int = 40
    options: int = 2
    truths: int = 0

    reps: ClassVar[int] = 30
    title: ClassVar[str] = "Worker models side by side (beyond 002)"
    reproduces: ClassVar[str] = "beyond 002"
    summary: ClassVar[str] = (
        "The paper's workers answer independently and stay as they are. Here are others as well: "
        "workers with confusion matrices, workers who change what they are good at in the midst "
        "of a campaign, lazy ones who give what most of three others gave (a third of the crowd), "
        "and a group who all give the same answer, most often a wrong one (a fifth). Which "
        "policies survive whom? Tasks and workers come in another order each time."
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "accuracy",
            "answers per task",
            "accuracy",
            "Share of the tasks answered right at each budget, with 95% intervals.",
            kind="bars",
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_models(self.models, "models")
        check_positive(self, "tasks", "contexts", "workers")
        if self.options < 2:
            raise InvalidParameter(
                f"options is {self.options}: a question needs at least two", field="options"
            )
        if not 0 <= self.truths < self.tasks:
            raise InvalidParameter(
                f"truths is {self.truths}: give a number from 0 to below {self.tasks}, the tasks",
                field="truths",
            )

    def cells(self) -> list[LabelsCell]:
        """A cell per model."""
        return [LabelsCell(model, 0.0, (model,), self.budgets) for model in self.models]

    def number(self, panel: str, replication: int) -> int:
        """A place for each model."""
        return replication * len(MODELS) + list(MODELS).index(panel)

    def bench(self, panel: str, seed: int, number: int) -> Bench:
        """New workers; the tasks stay, but for their order."""
        tasks = simulated_table(self.tasks, self.contexts, self.workers, self.options)
        given = label_tasks(
            panel, tasks.truth, tasks.contexts, self.options, self.workers, seed, number
        )
        return Bench(given).in_another_order(seed, number, self.truths)

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Who is best with whom."""
        said = []
        for model in self.models:
            at = max((row.x for row in rows if row.panel == model), default=0.0)
            ranked = sorted(
                (row for row in rows if (row.panel, row.x, row.metric) == (model, at, "accuracy")),
                key=lambda row: -row.mean,
            )
            if len(ranked) > 1:
                first, last = ranked[0], ranked[-1]
                said.append(
                    f"{model} at {at:g} answers per task: {first.series} is best "
                    f"({first.mean:.3f}), {last.series} worst ({last.mean:.3f})."
                )
        return said


@dataclass(frozen=True)
class DelayCell(Cell):
    """A panel and a number of questions that may be out."""

    window: int = 1


@experiments.register("labels-delay")
@dataclass(frozen=True)
class LabelsDelay(Experiment):
    """Accuracy against the number of assignments that are out at a time.

    Parameters
    ----------
    policies : labels
        What to compare, as in ``labels-uci``.
    windows : whole numbers
        How many questions may be out; answers come in the order of asking.
    budget : float
        Answers per task.
    models : names
        Worker models, on the table breast or, if that is not at hand, on simulated tasks.
    recorded : name
        The recorded set to run on as well, if ``data`` has it.
    data : folder
        As in ``labels-uci`` and ``labels-real``.
    """

    policies: tuple[str, ...] = ("bbta", "random-pairs", "hem")
    windows: tuple[int, ...] = (1, 10, 50, 200)
    budget: float = 5.0
    models: tuple[str, ...] = ("spammer-hammer", "malicious")
    recorded: str = "rte"
    data: str = ""

    ours: ClassVar[tuple[str, ...]] = ("hem",)
    reps: ClassVar[int] = 30
    chunk: ClassVar[int] = 2
    title: ClassVar[str] = "Answers that come late (beyond 002)"
    reproduces: ClassVar[str] = "beyond 002"
    summary: ClassVar[str] = (
        "The paper waits for each answer before it asks again. People are asked many at a time, "
        "and a policy then decides without the answers that are out. How much accuracy does that "
        "cost?"
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "accuracy",
            "questions out at a time",
            "accuracy",
            "Share of the tasks answered right against the number of questions out, with 95% "
            "intervals.",
            log_x=True,
        ),
    )

    def __post_init__(self) -> None:
        check_labels(self.policies, "policies")
        check_positive(self, "windows", "budget")
        check_models(self.models, "models")

    def cells(self) -> list[DelayCell]:
        """Cases, then the recorded set."""
        name = "breast" if "breast" in at_hand(self.data) else SIMULATED
        panels = [case(name, model) for model in self.models]
        if not self.data:
            panels.append(STAND_IN)
        elif (Path(self.data) / self.recorded / "labels.csv").is_file():
            panels.append(self.recorded)
        return [
            DelayCell(panel, float(window), window) for panel in panels for window in self.windows
        ]

    def sample(self, cell: DelayCell, seed: int, replication: int) -> Array:
        """Accuracy and answers per task of each contender."""
        name, _, model = cell.panel.partition(", ")
        number = replication
        if model:
            tasks = table(self.data, name)
            number = replication * len(MODELS) + list(MODELS).index(model)
            bench = Bench(
                label_tasks(model, tasks.truth, tasks.contexts, 2, tasks.workers, seed, number)
            )
        else:
            found = recorded_bench(self.data, name, MOST_TASKS, True)
            bench = found.in_another_order(seed, number)
        contenders = [contender(label) for label in self.policies]
        count = bench.recording.tasks
        budget = min(round(self.budget * count), len(bench.recording.task))
        measured = bench.measure(contenders, budget, seed, number, cell.window)
        return (measured / [1.0, count]).ravel()

    def rows(self, cell: DelayCell, samples: Array, seed: int) -> list[Row]:
        """Accuracy and spending of every series."""
        values = samples.reshape(len(samples), len(self.policies), 2)
        found = []
        for at, label in enumerate(self.policies):
            place: dict[str, Any] = {
                "panel": cell.panel,
                "series": contender(label).series,
                "x": cell.x,
            }
            for column, metric in enumerate(("accuracy", "spent")):
                found.append(measured_row(values[:, at, column], metric=metric, **place))
        return found

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """What the longest delay costs."""
        said = []
        names = {row.panel.partition(", ")[0] for row in rows if ", " in row.panel}
        if SIMULATED in names:
            said.append("The table breast was not at hand; a simulated one stands in.")
        for panel in dict.fromkeys(row.panel for row in rows):
            losses = []
            for label in self.policies:
                series = contender(label).series
                curve = curve_of(rows, panel, series)
                if len(curve) > 1:
                    near, far = curve[min(curve)], curve[max(curve)]
                    losses.append(f"{series} {near.mean:.3f} to {far.mean:.3f}")
            if losses:
                ends = min(self.windows), max(self.windows)
                said.append(
                    f"{panel}, from {ends[0]} to {ends[1]} questions out: {', '.join(losses)}."
                )
        return said


@dataclass(frozen=True)
class CrowdCell(Cell):
    """A panel of a histogram: a case, a set as recorded, or a set completed."""

    completed: bool = False


@experiments.register("labels-accuracies")
@dataclass(frozen=True)
class LabelsAccuracies(Experiment):
    """Figs. 1 and 4: how many workers have which true accuracy.

    Parameters
    ----------
    models : names
        Worker models, on each table at hand.
    sets : names
        Recorded sets, out of those in ``data``; all with options by default.
    data : folder
        As in ``labels-uci`` and ``labels-real``.
    """

    models: tuple[str, ...] = PAPER_MODELS
    sets: tuple[str, ...] = ("rte", "bluebird", "sentiment", "llmbar")
    data: str = ""

    reps: ClassVar[int] = 30
    chunk: ClassVar[int] = 5
    title: ClassVar[str] = "How good workers are (002, Figs. 1 and 4)"
    reproduces: ClassVar[str] = "002, Figs. 1 and 4"
    summary: ClassVar[str] = (
        "The number of workers by their true accuracy over all tasks, in steps of 5%: simulated "
        "ones on each table, and recorded ones. In spite of one context in which everyone is good "
        "hardly anybody seems good over all of them. Are recorded workers like the simulated?"
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "workers",
            "true accuracy up to",
            "workers",
            "Workers whose true accuracy is in the 5% below each mark.",
            kind="bars",
        ),
    )

    def __post_init__(self) -> None:
        check_models(self.models, "models")

    def cells(self) -> list[CrowdCell]:
        """Cases, then sets."""
        cases = [case(name, model) for name in at_hand(self.data) for model in self.models]
        found = [CrowdCell(panel, 0.0) for panel in cases]
        if not self.data:
            return [*found, CrowdCell(STAND_IN, 0.0)]
        known = sets_in(self.data, ()) if list(Path(self.data).glob("*/labels.csv")) else {}
        for name in self.sets:
            if name in known and read_set(str(known[name]), 0).recording is not None:
                found.append(CrowdCell(name, 0.0))
                if name == "rte":
                    found.append(CrowdCell(f"{name}, completed", 0.0, completed=True))
        return found

    def sample(self, cell: CrowdCell, seed: int, replication: int) -> Array:
        """Workers in each bin."""
        name, _, model = cell.panel.partition(", ")
        if model in MODELS:
            tasks = table(self.data, name)
            place = [*SOURCES, SIMULATED].index(name) * len(MODELS) + list(MODELS).index(model)
            number = replication * (len(SOURCES) + 1) * len(MODELS) + place
            recording = label_tasks(
                model, tasks.truth, tasks.contexts, 2, tasks.workers, seed, number
            )
            return histogram(recording)
        return _counted(self.data, name, cell.completed)

    def rows(self, cell: CrowdCell, samples: Array, seed: int) -> list[Row]:
        """Mean number of workers in each bin."""
        return [
            mean_row(
                samples[:, at],
                panel=cell.panel,
                series="workers",
                x=round((at + 1) / BINS, 2),
                metric="workers",
            )
            for at in range(BINS)
        ]

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """What is counted."""
        panels = [row.panel for row in rows]
        names = {panel.partition(", ")[0] for panel in panels}
        said = absent([name for name in (*SOURCES, SIMULATED) if name in names])
        said.append(
            f"Of recorded sets those workers are counted who answered {LEAST} tasks of known truth "
            "or more. A completed set has everybody's answer to everything: what was filled in is "
            "close to the majority, so its workers look better and more alike than they are."
        )
        return said


def histogram(recording: Any) -> Array:
    """Workers by true accuracy, in steps of 5%; an accuracy of 1 is in the last."""
    known = recording.truth[recording.task] >= 0
    right = recording.label == recording.truth[recording.task]
    asked = np.bincount(recording.worker[known], minlength=recording.workers)
    good = np.bincount(recording.worker[known & right], minlength=recording.workers)
    counted = asked >= min(LEAST, recording.tasks)
    shares = good[counted] / asked[counted]
    # Up to and with the mark, as in the paper; shares are ratios of whole numbers.
    places = np.clip(np.ceil(np.round(shares * BINS, 9)).astype(np.int64) - 1, 0, BINS - 1)
    return np.bincount(places, minlength=BINS).astype(np.float64)


@lru_cache(maxsize=16)
def _counted(data: str, name: str, completed: bool) -> Array:
    found = named_set(data, name, 0)
    assert found.recording is not None
    return histogram(complete(found.recording) if completed else found.recording)
