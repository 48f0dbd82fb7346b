"""What it is worth to know workers already, on the workers of paper 000 (beyond it)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.checks import whole
from askwise.figures import Row
from askwise.lab.experiment import Figure, experiments
from askwise.lab.papers.assured.studies.costs import (
    BEYOND,
    ON_PAPER,
    AssuredRuns,
    RunCell,
    at_least_two,
)
from askwise.lab.worlds.assured import WorkerPool


@experiments.register("assured-earlier")
@dataclass(frozen=True)
class AssuredEarlier(AssuredRuns):
    """Begin campaigns on the instance of section 6.3 with records of earlier ones.

    Parameters
    ----------
    policies : labels
        What to compare; what a label does not say is as in section 6.3.
    known : whole numbers
        About how many tasks, whose truth was told, each worker was asked before.
    tasks : whole number
        T.
    alpha, xi : numbers
        Error allowed, and how far below it the optimistic problem is solved.
    mu : number
        Chance that bounds may fail; 0 stands for 1/T.
    workers : whole number
        Six in eleven are poor and expensive.
    """

    policies: tuple[str, ...] = BEYOND[:2]
    known: tuple[int, ...] = (0, 10, 30, 100, 300)
    workers: int = 1100

    ours: ClassVar[tuple[str, ...]] = BEYOND[:2]
    reps: ClassVar[int] = 40
    title: ClassVar[str] = "What is known of workers beforehand (beyond 000)"
    reproduces: ClassVar[str] = "beyond 000, on the workers of section 6.3"
    summary: ClassVar[str] = (
        "A campaign that knows nothing of its workers puts task after task to everybody until some "
        "set is safe. What do 10,000 tasks cost if it is known that nobody is right less often "
        "than two times in three (the floor), and what if earlier campaigns have shown how "
        "often each worker was right? What those cost is not counted."
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "total_cost",
            "answers of each worker judged before",
            "total cost",
            "Total cost of all tasks against what is known of each worker, with 95% intervals.",
            log_y=True,
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least_two("workers", self.workers)
        for count in self.known:
            whole(count, "known", least=0)

    def cells(self) -> list[RunCell]:
        """One a number of answers."""
        return [RunCell(ON_PAPER, count, self.workers) for count in self.known]

    def points(self) -> tuple[int, ...]:
        """The end."""
        return (self.tasks,)

    def policy(
        self, label: str, cell: RunCell, pool: WorkerPool, seed: int, replication: int
    ) -> Any:
        """With the records of an earlier campaign in which everybody was asked."""
        made = super().policy(label, cell, pool, seed, replication)
        count = int(cell.x)
        if count == 0:
            return made
        rng = np.random.default_rng([seed, replication, count])
        right = rng.binomial(count, pool.qualities).tolist()
        workers = pool.problem(1).workers
        records = [(worker.id, k, count) for worker, k in zip(workers, right, strict=True)]
        return replace(made, earlier=records)

    def rows(self, cell: RunCell, samples: Array, seed: int) -> list[Row]:
        """As along a run, at what was known."""
        return [replace(row, x=cell.x) for row in super().rows(cell, samples, seed)]

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """What each costs, against the first without records."""
        cost = {(row.series, row.x): row.mean for row in rows if row.metric == "total_cost"}
        found = [
            f"{label}: "
            + ", ".join(
                f"{cost[label, x]:.3g}" + (f" with {x:g} answers judged" if x else " without")
                for x in self.known
                if (label, x) in cost
            )
            + "."
            for label in self.policies
        ]
        return [
            *found,
            "The paper begins without records. Those here are as of a campaign in which everybody "
            "answered the same number of tasks; bounds count them as if learned in the new one.",
            *self.violations(rows),
        ]
