"""Paper 000, Fig. 4: what assured accuracy costs by the number of workers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from askwise.core.arrays import Array
from askwise.figures import ReferenceRow, Row
from askwise.lab.experiment import Figure, experiments
from askwise.lab.papers.assured.studies.common import known_value
from askwise.lab.papers.assured.studies.costs import (
    BEYOND,
    ON_PAPER,
    READINGS,
    AssuredRuns,
    RunCell,
    at_least_two,
)

KNOWN_BY_WORKERS = {
    "ccb-ns": {100: 3.25e6, 200: 2.75e6, 400: 2.76e6, 1100: 3.11e6, 2200: 3.90e6},
    "epsilon-t-greedy": {100: 3.17e6, 200: 3.86e6, 400: 5.77e6, 1100: 12.1e6, 2200: 23.6e6},
}
"""Total cost for 10,000 tasks in another reading of section 6.3, over 40 runs."""


@experiments.register("assured-workers")
@dataclass(frozen=True)
class AssuredWorkers(AssuredRuns):
    """Run policies on the instance of section 6.3 with other numbers of workers.

    Parameters
    ----------
    policies : labels
        What to compare; what a label does not say is as in section 6.3.
    tasks : whole number
        T.
    alpha, xi : numbers
        Error allowed, and how far below it the optimistic problem is solved.
    mu : number
        Chance that bounds may fail; 0 stands for 1/T.
    sizes : whole numbers
        Of workers; six in eleven are poor and expensive.
    """

    policies: tuple[str, ...] = ("ccb-ns", "epsilon-t-greedy", *BEYOND[:2])
    sizes: tuple[int, ...] = (100, 200, 400, 1100, 2200)
    reps: ClassVar[int] = 40
    title: ClassVar[str] = "Total cost by number of workers (000, Fig. 4)"
    reproduces: ClassVar[str] = "000, Fig. 4"
    summary: ClassVar[str] = (
        "What do 10,000 tasks cost if there are fewer or more workers to choose from, in the "
        "proportions of section 6.3?"
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "total_cost",
            "workers",
            "total cost",
            "Total cost of all tasks against the number of workers, with 95% intervals.",
            log_x=True,
            log_y=True,
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for size in self.sizes:
            at_least_two("sizes", size)

    def cells(self) -> list[RunCell]:
        """One a number of workers."""
        return [RunCell(ON_PAPER, size, size) for size in self.sizes]

    def points(self) -> tuple[int, ...]:
        """The end."""
        return (self.tasks,)

    def rows(self, cell: RunCell, samples: Array, seed: int) -> list[Row]:
        """As along a run, at the number of workers."""
        return [replace(row, x=cell.x) for row in super().rows(cell, samples, seed)]

    def paper_rows(self) -> list[ReferenceRow]:
        """Known values, where they are about this setting."""
        if not self.as_in_the_paper:
            return []
        return [
            known_value(label, size, "total_cost", KNOWN_BY_WORKERS[label][size], panel=ON_PAPER)
            for label in self.policies
            for size in self.sizes
            if size in KNOWN_BY_WORKERS.get(label, ())
        ]

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Where CCB-NS costs more than eps_t-greedy."""
        costs = {
            label: {row.x: row for row in rows if _is(row, label, "total_cost")}
            for label in self.policies
        }
        ours, rival = (costs.get(label, {}) for label in ("ccb-ns", "epsilon-t-greedy"))
        both = sorted(ours.keys() & rival.keys())
        if not both:
            return READINGS[:1]
        less = [size for size in both if ours[size].ci_high < rival[size].ci_low]
        more = [f"{size:g}" for size in both if ours[size].ci_low > rival[size].ci_high]
        close = len(both) - len(less) - len(more)
        return [
            'The paper: "CCB-NS outperforms the eps_t-greedy algorithm even when there are fewer '
            f'number of workers". It costs less, with intervals apart, at {len(less)} of '
            f"{len(both)} sizes"
            + (f", more with {', '.join(more)} workers" if more else "")
            + (f"; at {close} it is too close to tell." if close else "."),
            *self.violations(rows),
            *READINGS[:1],
        ]


def _is(row: Row, label: str, metric: str, panel: str = ON_PAPER) -> bool:
    return (row.series, row.metric, row.panel) == (label, metric, panel)
