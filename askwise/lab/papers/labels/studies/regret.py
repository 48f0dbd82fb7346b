"""Paper 002, Theorem 1: the regret of BBTA as measured, with the bound beside."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter
from askwise.figures import Row
from askwise.lab.experiment import Cell, Experiment, Figure, experiments
from askwise.lab.papers.labels.studies.common import check_positive
from askwise.lab.papers.labels.studies.tables import simulated_table
from askwise.lab.papers.labels.theory import bbta_regret
from askwise.lab.replaying.bench import contender, final_answers
from askwise.lab.results import mean_row
from askwise.lab.simulate import Outcome, simulate
from askwise.lab.worlds.labellers import check_models, label_tasks
from askwise.lab.worlds.recorded import Recording
from askwise.ledger import columns as c

BOUND = "Theorem 1"

EXPLORE = 1
"""N', the default of ``bbta``."""

JUDGES = ("by the vote", "by the truth", "by the truth with each pair once")
"""What an answer is held against; with the third, the best workers too are asked once a task."""


@experiments.register("labels-regret")
@dataclass(frozen=True)
class LabelsRegret(Experiment):
    """Theorem 1: how many losses BBTA has beyond the best worker of each context.

    Parameters
    ----------
    models : names
        Worker models, one panel each; see ``labels-workers``.
    budgets : numbers
        Answers per task.
    tasks, contexts, workers : int
        How many there are.
    """

    models: tuple[str, ...] = ("spammer-hammer", "one-coin", "malicious")
    budgets: tuple[float, ...] = (2.0, 4.0, 7.0, 10.0, 15.0)
    tasks: int = 200
    contexts: int = 3
    workers: int = 30

    reps: ClassVar[int] = 30
    chunk: ClassVar[int] = 5
    title: ClassVar[str] = "The regret of BBTA, with the bound beside (002, Theorem 1)"
    reproduces: ClassVar[str] = "002, Theorem 1"
    summary: ClassVar[str] = (
        "A loss is an answer that differs from the weighted vote. By how many losses does BBTA, "
        "after its exploration, exceed the best worker of each context, asked about the same "
        "tasks as often? Beside it the same by the truth, which the theorem is not about."
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "regret",
            "answers per task",
            "losses beyond the best workers'",
            "Regret (section 3) after exploration; dashed the bound.",
        ),
    )

    def __post_init__(self) -> None:
        check_models(self.models, "models")
        check_positive(self, "budgets", "tasks", "contexts", "workers")
        least = (self.contexts * self.workers * EXPLORE + 1) / self.tasks
        for budget in self.budgets:
            if budget < least:
                raise InvalidParameter(
                    f"budgets has {budget:g}: exploration alone takes {least:.3g} answers per task",
                    field="budgets",
                )

    def cells(self) -> list[Cell]:
        """One cell per model and budget."""
        return [Cell(model, budget) for model in self.models for budget in self.budgets]

    def sample(self, cell: Cell, seed: int, replication: int) -> Array:
        """Regret by each judge."""
        table = simulated_table(self.tasks, self.contexts, self.workers)
        recording = label_tasks(
            cell.panel, table.truth, table.contexts, 2, self.workers, seed, replication
        )
        bbta = contender("bbta")
        problem = recording.problem(round(cell.x * self.tasks))
        outcome = simulate(
            bbta.policy, problem, recording.answering(), seed=seed, replication=replication
        )
        voted = final_answers(bbta, problem, outcome, seed, replication)
        return np.array(
            [
                regret(recording, outcome, self.contexts * self.workers * EXPLORE, judged)
                for judged in (voted, table.truth)
            ]
            + [regret_of_pairs(recording, outcome, self.contexts * self.workers * EXPLORE)]
        )

    def rows(self, cell: Cell, samples: Array, seed: int) -> list[Row]:
        """Means by each judge, and the bound."""
        place: dict[str, Any] = {"panel": cell.panel, "x": cell.x, "metric": "regret"}
        bound = bbta_regret(
            round(cell.x * self.tasks),
            contexts=self.contexts,
            workers=self.workers,
            explore=EXPLORE,
        )
        found = [
            mean_row(samples[:, at], series=f"bbta, {judge}", **place)
            for at, judge in enumerate(JUDGES)
        ]
        return [*found, Row(cell.panel, BOUND, cell.x, "regret", bound, bound, bound, 0)]

    def drawn_as_reference(self, row: Row) -> bool:
        """The bound is dashed."""
        return row.series == BOUND

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """How much of the bound is used, and what it is about."""
        bounds = {(row.panel, row.x): row.mean for row in rows if row.series == BOUND}
        found = []
        for judge in JUDGES:
            mine = [
                row
                for row in rows
                if row.series == f"bbta, {judge}" and (row.panel, row.x) in bounds
            ]
            # Cells that failed have no rows.
            if not mine:
                continue
            shares = [row.mean / bounds[row.panel, row.x] for row in mine]
            above = sum(row.ci_low > bounds[row.panel, row.x] for row in mine)
            found.append(
                f"Regret {judge} is {min(shares):.2f} to {max(shares):.2f} of the bound; above "
                f"it, beyond the interval, in {above} of {len(mine)} cells."
            )
        return [
            *found,
            "The bound is proved for drawing among all workers at every step. BBTA here never asks "
            "a pair twice and draws among the rest, for which it is not proved: when a task has "
            "had many answers its best worker can't be asked again, while the regret compares "
            "with them all the same. The third series compares with putting each task, as often as "
            "it was asked about, to the workers who err least in its context, each once.",
            "The paper's loss at a step is against the weighted vote of that step (line 22 of "
            "Algorithm 1), which later answers to the task may change. Here all answers are held "
            "against the final vote: the loss of each worker on each task is then one number, in "
            "hindsight.",
            "The paper compares with the workers whose expected losses are fewest. Here the best "
            "workers are chosen in each replication, for the losses that occurred in it: that is "
            "the mean of the highest regret, and at least the highest mean regret, which the "
            "theorem bounds.",
            "The vote is made of the answers that it judges, so losses by the vote are fewer than "
            "by the truth where workers err together.",
        ]


def _after(recording: Recording, outcome: Outcome, explored: int) -> tuple[Array, Array]:
    """Tasks and workers of the answers after exploration, in order."""
    asked = outcome.ledger.book.assignments[: outcome.ledger.total(c.ASSIGNMENTS)][explored:]
    return asked[:, c.TASK], asked[:, c.WORKER]


def _losses(recording: Recording, judged: Array) -> Array:
    """Of every task and worker, whether the answer differs from what counts as right."""
    table = np.zeros((recording.tasks, recording.workers), np.int64)
    table[recording.task, recording.worker] = recording.label
    return (table != judged[:, None]).astype(np.float64)


def regret(recording: Recording, outcome: Outcome, explored: int, judged: Array) -> float:
    """Losses of the answers bought, less those of one worker a context on the same tasks."""
    tasks, workers = _after(recording, outcome, explored)
    losses = _losses(recording, judged)
    assert recording.contexts is not None
    found = float(losses[tasks, workers].sum())
    for context in np.unique(recording.contexts):
        mine = tasks[recording.contexts[tasks] == context]
        found -= float(losses[mine].sum(axis=0).min()) if len(mine) else 0.0
    return found


def regret_of_pairs(recording: Recording, outcome: Outcome, explored: int) -> float:
    """The same by the truth, against the best workers of a context, each asked once a task.

    A task that was asked about k times is put to the k workers who err least in its context.
    """
    tasks, workers = _after(recording, outcome, explored)
    losses = _losses(recording, recording.truth)
    assert recording.contexts is not None
    found = float(losses[tasks, workers].sum())
    counts = np.bincount(tasks, minlength=recording.tasks)
    for context in np.unique(recording.contexts):
        here = np.flatnonzero(recording.contexts == context)
        order = np.argsort(losses[here].sum(axis=0), kind="stable")
        for task in here:
            found -= float(losses[task, order[: counts[task]]].sum())
    return found
