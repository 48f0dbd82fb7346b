"""Paper 003: applicants for a job (Fig. 1), the share for exploration, random with other priors."""

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
from askwise.lab.results import mean_row, rate_row
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
        found = [rate_row(samples[:, 0], metric="share_of_jobs", **place)]
        if cell.x == 1:
            found.append(mean_row(samples[:, 1], metric="applicants", **place))
        return found

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """That the shape is read off the paper's figure."""
        found = [
            "oDesk's jobs are not to be had: the numbers are log-normal (2.6, .8), rounded and "
            "redrawn outside 2 to 100, the interval that the paper cuts its data to."
        ]
        bars = {row.x: row.mean for row in rows if row.metric == "share_of_jobs"}
        small = range(1, 20, WIDTH)
        if bars.keys() >= set(small):
            few = sum(bars[x] for x in small)
            mean = next((row.mean for row in rows if row.metric == "applicants"), None)
            found.append(
                f"{few:.0%} of the jobs have up to 20 applicants, which the paper calls typical"
                + ("." if mean is None else f"; the mean is {mean:.1f}.")
            )
        return found


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
                if not mine:
                    continue
                best = max(mine.values(), key=lambda row: row.mean)
                usual = mine.get(0.15)
                than = f", .15 gives {usual.mean:.3f}" if usual is not None else ""
                said.append(f"{best.x:g} at {budget:,} ({best.mean:.3f}{than})")
            if said:
                found.append(f"The best share for {series}: {'; '.join(said)}.")
        return found + self._beaten(rows)

    def _beaten(self, rows: Sequence[Row]) -> list[str]:
        """Where every share from .02 to .05 earns more than the paper's, with intervals apart."""
        series = "bounded-epsilon-first"
        mine = {
            (row.panel, row.x): row
            for row in rows
            if (row.series, row.metric) == (series, "share_of_optimum")
        }
        said = []
        for budget in self.budgets:
            panel = f"B = {budget:,}"
            usual = mine.get((panel, 0.15))
            small = [row for (at, x), row in mine.items() if at == panel and 0.02 <= x <= 0.05]
            if usual and small and min(row.ci_low for row in small) > usual.ci_high:
                low, high = (pick(row.mean for row in small) for pick in (min, max))
                said.append(f"{budget:,} ({low:.3f} to {high:.3f} against {usual.mean:.3f})")
        if not said:
            return []
        return [
            f"Shares of .02 to .05 beat the paper's .15 for {series}, each with intervals apart, "
            f"at B = {'; '.join(said)}."
        ]


@experiments.register("bounded-random")
@dataclass(frozen=True)
class RandomPriors(BoundedExperiment):
    """Random hiring from other priors than the uniform one.

    Parameters
    ----------
    budgets : whole units
        The horizontal axis.
    """

    budgets: tuple[int, ...] = tuple(CAPS)
    policies: tuple[str, ...] = (
        "random",
        "random(prior=cheap)",
        "random(prior=expensive)",
        "bounded-epsilon-first",
    )
    ours: ClassVar[tuple[str, ...]] = ()
    reps: ClassVar[int] = 1000
    title: ClassVar[str] = "Random with other priors (003, section 6.2)"
    reproduces: ClassVar[str] = "003, section 6.2 (benchmark 3)"
    summary: ClassVar[str] = (
        "The benchmark that draws one worker and gives them all the work: does it matter from "
        "which prior? Drawn are all alike, or in proportion to 1 / price or to the price."
    )
    figures: ClassVar[tuple[Figure, ...]] = share_figure(
        "budget", "Mean share of the optimum by the prior of the draw.", kind="bars"
    )

    def cells(self) -> list[BoundedCell]:
        """One cell a budget."""
        return [BoundedCell("", budget, budget, CAPS.get(budget, 200)) for budget in self.budgets]

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Whether another prior is better, with intervals apart."""
        share = {(row.series, row.x): row for row in rows if row.metric == "share_of_optimum"}
        found = super().differences(rows)
        for series in self.labels():
            if not series.startswith("random("):
                continue
            verdicts = []
            for budget in self.budgets:
                usual, other = share.get(("random", budget)), share.get((series, budget))
                if usual is None or other is None:
                    continue
                verdict = "no clear difference"
                if other.ci_low > usual.ci_high:
                    verdict = "better"
                elif other.ci_high < usual.ci_low:
                    verdict = "worse"
                verdicts.append(
                    f"{verdict} at {budget:,} ({other.mean:.3f} against {usual.mean:.3f})"
                )
            if verdicts:
                found.append(f"{series} against a uniform draw: {'; '.join(verdicts)}.")
        found.append(
            'The paper tested "other priors without any significant improvements" and does not '
            "say which. In this market quality does not depend on the price, so the cheap are the "
            "better buy; a prior that knows this is no longer an employer without information."
        )
        return found
