"""Paper 003: how many apply for a job (Fig. 1), and the share that exploration should have."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.figures import Row
from askwise.lab.experiment import Cell, Experiment, Figure, experiments
from askwise.lab.papers.bounded.studies.common import (
    CAPS,
    BoundedCell,
    BoundedExperiment,
    share_figure,
)
from askwise.lab.results import mean_row
from askwise.lab.worlds.freelancers import applicants

WIDTH = 5
"""Applicants to a bar of Fig. 1."""


@experiments.register("bounded-applicants")
@dataclass(frozen=True)
class Applicants(Experiment):
    """Fig. 1: how many workers apply for a job."""

    reps: ClassVar[int] = 5000
    chunk: ClassVar[int] = 1000
    title: ClassVar[str] = "Applicants for a job (003, Fig. 1)"
    reproduces: ClassVar[str] = "003, Fig. 1"
    summary: ClassVar[str] = (
        "How many workers does an employer choose from? Each market of the other experiments "
        "draws its number of applicants from this distribution."
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "share_of_jobs",
            f"applicants (from, in steps of {WIDTH})",
            "share of the jobs",
            "Jobs by their number of applicants, from 2 to 100.",
            kind="bars",
        ),
    )

    def cells(self) -> list[Cell]:
        """One cell a bar."""
        return [Cell("", first) for first in range(1, 101, WIDTH)]

    def sample(self, cell: Cell, seed: int, replication: int) -> Array:
        """Whether a job is in the bar, and its number of applicants."""
        count = applicants(np.random.default_rng([seed, replication]))
        return np.array([float(cell.x <= count < cell.x + WIDTH), float(count)])

    def rows(self, cell: Cell, samples: Array, seed: int) -> list[Row]:
        """The bar's height; at the first also the mean."""
        place: dict[str, Any] = {"series": "market", "x": cell.x, "panel": ""}
        found = [mean_row(samples[:, 0], metric="share_of_jobs", **place)]
        if cell.x == 1:
            found.append(mean_row(samples[:, 1], metric="applicants", **place))
        return found

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """That the shape is read off the paper's figure."""
        mean = next((row.mean for row in rows if row.metric == "applicants"), float("nan"))
        few = sum(row.mean for row in rows if row.metric == "share_of_jobs" and row.x < 20)
        return [
            "oDesk's jobs are not to be had: the numbers are log-normal (2.6, .8), rounded and "
            "redrawn outside 2 to 100, the interval that the paper cuts its data to.",
            f"{few:.0%} of the jobs have up to 20 applicants, which the paper calls typical; the "
            f"mean is {mean:.1f}.",
        ]


@experiments.register("bounded-epsilon")
@dataclass(frozen=True)
class ExplorationShares(BoundedExperiment):
    """Bounded epsilon-first at other shares for exploration than the paper's .15.

    Parameters
    ----------
    budgets : whole units
        One panel each.
    epsilons : numbers
        Shares of the budget for exploration.
    """

    budgets: tuple[int, ...] = tuple(CAPS)
    epsilons: tuple[float, ...] = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)
    policies: tuple[str, ...] = ("bounded-epsilon-first", "budget-limited-epsilon-first")
    ours: ClassVar[tuple[str, ...]] = ()
    reps: ClassVar[int] = 300
    title: ClassVar[str] = "The share for exploration (003, section 6.2)"
    reproduces: ClassVar[str] = "003, section 6.2 (epsilon = .15)"
    summary: ClassVar[str] = (
        "The paper explores with .15 of the budget. Which share is the best at each of its four "
        "budgets?"
    )
    figures: ClassVar[tuple[Figure, ...]] = share_figure(
        "epsilon", "Mean share of the optimum by the share of the budget for exploration."
    )

    def cells(self) -> list[BoundedCell]:
        """A panel for each budget."""
        return [
            BoundedCell(f"B = {budget:,}", epsilon, budget, CAPS.get(budget, 200))
            for budget in self.budgets
            for epsilon in self.epsilons
        ]

    def playing(self, cell: BoundedCell) -> Sequence[str]:
        """Each policy at the cell's share."""
        return [f"{name}(epsilon={cell.x:g})" for name in self.policies]

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """The best shares, from the rows."""
        found = super().differences(rows)
        for series in self.labels():
            said = []
            for budget in self.budgets:
                mine = {
                    row.x: row
                    for row in rows
                    if (row.panel, row.series) == (f"B = {budget:,}", series)
                    and row.metric == "share_of_optimum"
                }
                best = max(mine.values(), key=lambda row: row.mean)
                usual = mine.get(0.15)
                than = f", .15 gives {usual.mean:.3f}" if usual is not None else ""
                said.append(f"{best.x:g} at {budget:,} ({best.mean:.3f}{than})")
            found.append(f"The best share for {series}: {'; '.join(said)}.")
        return found
