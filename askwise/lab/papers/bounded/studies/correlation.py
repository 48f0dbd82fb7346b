"""Paper 003: Figs. 6 and 7, quality tied to price."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from askwise.core.money import MICRO
from askwise.figures import Row
from askwise.kernels import Array
from askwise.lab.experiment import Figure, experiments
from askwise.lab.papers.bounded import theory
from askwise.lab.papers.bounded.studies.common import (
    CAPS,
    CONFIDENCE,
    OURS,
    BoundedCell,
    BoundedExperiment,
    only_the_market,
    share_figure,
)
from askwise.lab.results import mean_row
from askwise.lab.worlds import Market, correlation_market


@experiments.register("bounded-correlation")
@dataclass(frozen=True)
class Correlation(BoundedExperiment):
    """Figs. 6 and 7: quality tied to price, more or less closely, with low and high noise.

    Parameters
    ----------
    budgets : whole units
        One panel each, for each noise.
    variances : numbers
        Variances of utility per price, the horizontal axis.
    noises : numbers
        Variances of the factor on each answer.
    """

    budgets: tuple[int, ...] = tuple(CAPS)
    variances: tuple[float, ...] = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
    noises: tuple[float, ...] = (1.0, 10.0)
    policies: tuple[str, ...] = (
        "bounded-epsilon-first",
        "budget-limited-epsilon-first",
        "trialsourcing",
        "random",
        "uniform",
        "simplified-bounded-kube(raw_bonus=True)",
        *OURS,
    )
    reps: ClassVar[int] = 800
    title: ClassVar[str] = "Correlation of price and quality (003, Figs. 6 and 7)"
    reproduces: ClassVar[str] = "003, Figs. 6 and 7"
    summary: ClassVar[str] = (
        "A worker's mean utility is D times their price. When D varies little, utility per price "
        "tells nobody apart; when it varies much, finding the bargains is worth a lot. Each "
        "answer is multiplied by noise of variance 1 or 10."
    )
    figures: ClassVar[tuple[Figure, ...]] = share_figure(
        "variance of utility per price",
        "Mean share of the optimum against the variance of utility per price.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        only_the_market(self)

    def cells(self) -> list[BoundedCell]:
        """A panel for each noise and budget."""
        return [
            BoundedCell(
                f"B = {budget:,}, noise {noise:g}",
                variance,
                budget=budget,
                cap=CAPS.get(budget, 200),
                variance=variance,
                noise=noise,
            )
            for noise in self.noises
            for budget in self.budgets
            for variance in self.variances
        ]

    def market(self, cell: BoundedCell, rng: np.random.Generator) -> Market:
        """Prices of the freelancer market, qualities tied to them."""
        return correlation_market(rng, cap=cell.cap, variance=cell.variance, noise=cell.noise)

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Readings of footnote 15 and of KUBE's bonus."""
        return [
            "Prices come from the synthetic market, as oDesk's are not to be had; D and the noise "
            "are the paper's.",
            "Footnote 15's distribution function is misprinted (it is not a distribution "
            "function); the mixture that it describes in words is used.",
            "Utilities leave [0, 1] here. Policies see them scaled to the range that the world can "
            "produce, but KUBE's confidence term is left in the utility's own unit "
            "(raw_bonus=True), as the paper's formula has it.",
            "Who leads in mean share, and at how many of the points with a variance above 0: "
            f"{leaders(rows)}. A lead counts if, in pairs, the 95% interval of the difference to "
            "each of the others is above 0.",
            "What makes this world hard is footnote 15's mixture: noise is proportional to the "
            "mean, and both noise and qualities have heavy tails. At noise 10, 30 of 31 answers "
            "are below their mean and the others up to 31 times it, so that a mean of few answers "
            "is mostly too low and now and then far too high; at a variance of 5, one worker in "
            "16 is worth more per price than the mean, up to 16 times it.",
            "thompson-knapsack falls behind because of the range: a Beta posterior takes a value "
            "by its place in it, and values are in its lowest few per cent, so that for long "
            "everybody looks alike.",
            "knowledge-gradient falls behind because of the noise, not the range. It expects an "
            "answer to vary by about a third of the squared mean, here it varies by one or ten of "
            "them: a worker whose first answer was low by chance is shrunk to the others, no look "
            "seems worth its price, and they are never asked again. What it knows of the spread "
            "comes from those few, who rarely include the rare bargain.",
            "KUBE is mostly the best of the paper's policies at budgets of 5,000 and more, because "
            "it tries everybody once and because its confidence term, in the utility's own unit, "
            "is large beside what a cheap worker delivers and small beside an expensive one's: it "
            "explores where exploring costs little. gittins-knapsack expects a wider spread than "
            "it has seen, and tries everybody who would repay it if they were unlike all before.",
            *self._on_the_bound(rows),
        ]

    def rows(self, cell: BoundedCell, samples: Array, seed: int) -> list[Row]:
        """As of every market; and by how much the best leads."""
        found, labels = super().rows(cell, samples, seed), self.labels()
        if len(labels) == 1:
            return found
        utilities = samples[:, 0 : 2 * len(labels) + 1 : 2]
        shares = utilities[:, 1:] / utilities[:, :1]
        return [*found, lead_row(shares, labels, {"x": cell.x, "panel": cell.panel})]

    def _on_the_bound(self, rows: Sequence[Row]) -> list[str]:
        left = [row.mean for row in rows if self.drawn_as_reference(row)]
        if not left:
            return []
        least, most = f"{min(left):,.1f}", f"{max(left):,.1f}"
        so = "" if max(left) > 0 else ", so it guarantees nothing here"
        return [
            "The dashed line is what Theorem 1 leaves of the optimum, with utilities divided by "
            f"the largest that can occur: between {least} and {most}{so}."
        ]

    def extra(self, cell: BoundedCell, market: Market) -> Sequence[float]:
        """The regret that Theorem 1 allows, which is about utilities from 0 to 1."""
        prices, scaled = market.prices / MICRO, market.means / market.high
        bound = theory.theorem_1(0.15, float(cell.budget), prices, scaled, CONFIDENCE)
        return (bound * market.high,)

    def extra_rows(self, cell: BoundedCell, extra: Array, best: Array) -> list[Row]:
        """The share of the optimum that Theorem 1 leaves."""
        left = (best - extra[:, 0]) / best
        return [
            mean_row(
                left,
                series="theorem-1(epsilon=0.15)",
                x=cell.x,
                panel=cell.panel,
                metric="share_of_optimum",
            )
        ]

    def drawn_as_reference(self, row: Row) -> bool:
        """Bounds are dashed."""
        return row.series.startswith("theorem")


def lead_row(shares: Array, labels: Sequence[str], place: dict[str, Any]) -> Row:
    """By how much the best series of a point leads the one that is hardest to tell from it.

    Compared in pairs, replication by replication: the market is the same for all, and what it does
    to everybody alike says nothing about who is better.

    Parameters
    ----------
    shares : array
        A row per replication, a column per series.
    """
    best = int(np.argmax(shares.mean(axis=0)))
    ahead = [
        mean_row(shares[:, best] - shares[:, at], series=labels[best], metric="lead", **place)
        for at in range(len(labels))
        if at != best
    ]
    return min(ahead, key=lambda row: row.ci_low)


def leaders(rows: Sequence[Row]) -> str:
    """Series by the number of points (x above 0) at which they surely lead all others."""
    leads = [row for row in rows if row.metric == "lead" and row.x > 0]
    counts = Counter(row.series for row in leads if row.ci_low > 0)
    said = [f"{series} ({count})" for series, count in counts.most_common()]
    close = len(leads) - counts.total()
    return ", ".join([*said, f"too close to tell ({close} of {len(leads)})"])
