"""Which policy for a budget to recommend: all of them on the worlds of paper 003."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.money import MICRO
from askwise.figures import Row
from askwise.lab.experiment import Figure, experiments
from askwise.lab.papers.bounded.studies.common import (
    CAPS,
    RECOMMENDED,
    BoundedCell,
    BoundedExperiment,
    expected_shares,
    only_the_market,
)
from askwise.lab.results import mean_row
from askwise.lab.worlds import Market, correlation_market, freelancer_market

NEAR = 0.01
"""As good as the best: no further below it than this share."""


@experiments.register("bounded-policies")
@dataclass(frozen=True)
class Leading(BoundedExperiment):
    """Table 1 and Figs. 2, 4, 6 and 7 once more, by what was to be expected of each choice.

    Parameters
    ----------
    table1, fig2 : whole units
        Budgets of Table 1 and of Fig. 2.
    fig4 : whole numbers
        Numbers of candidates of Fig. 4, at a budget of 5000.
    variances : numbers
        Variances of utility per price in Figs. 6 (noise 1) and 7 (noise 10).
    """

    table1: tuple[int, ...] = tuple(CAPS)
    fig2: tuple[int, ...] = (50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
    fig4: tuple[int, ...] = (5, 10, 20, 40, 60, 80, 100, 250, 500, 750, 1000)
    variances: tuple[float, ...] = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
    policies: tuple[str, ...] = (
        RECOMMENDED,
        "knowledge-gradient",
        "thompson-knapsack",
        "simplified-bounded-kube(raw_bonus=True)",
        "bounded-epsilon-first",
        "bounded-epsilon-first(epsilon=0.05)",
        "bounded-epsilon-first(by=density,exploration=successive-rejects)",
        "bounded-epsilon-first(by=density,exploration=hoeffding-races)",
        "budget-limited-epsilon-first(epsilon=0.05)",
        "trialsourcing",
        "random",
        "uniform",
    )
    ours: ClassVar[tuple[str, ...]] = (RECOMMENDED,)
    reps: ClassVar[int] = 200
    title: ClassVar[str] = "Which policy for a budget"
    reproduces: ClassVar[str] = "beyond 003 (the worlds of Table 1, Figs. 2, 4, 6 and 7)"
    summary: ClassVar[str] = (
        "Is there one policy to recommend for every market? Utility is counted as expected: the "
        "answers of each worker times their true mean, so that luck with answers earns nothing "
        "and no share is above one."
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "expected_share",
            "budget, candidates or variance",
            "expected share of the optimum",
            "Mean expected share of the optimum in the cells of each table or figure.",
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        only_the_market(self)

    def cells(self) -> list[BoundedCell]:
        """All cells; a panel's name begins with its group."""
        found = [
            BoundedCell("Table 1", budget, budget, cap=CAPS.get(budget, 200))
            for budget in self.table1
        ]
        found += [BoundedCell("Fig. 2", budget, budget, cap=30) for budget in self.fig2]
        found += [
            BoundedCell("Fig. 4", count, 5000, cap=100, candidates=count) for count in self.fig4
        ]
        for group, noise in (("Fig. 6", 1.0), ("Fig. 7", 10.0)):
            for budget, cap in CAPS.items():
                panel = f"{group}, B = {budget:,}"
                found += [
                    BoundedCell(panel, variance, budget, cap, variance=variance, noise=noise)
                    for variance in self.variances
                ]
        return found

    def market(self, cell: BoundedCell, rng: np.random.Generator) -> Market:
        """The freelancer market, or, for Figs. 6 and 7, one with quality tied to price."""
        if cell.noise > 0.0:
            return correlation_market(rng, cap=cell.cap, variance=cell.variance, noise=cell.noise)
        return freelancer_market(rng, cap=cell.cap, candidates=cell.candidates)

    def sample(self, cell: BoundedCell, seed: int, replication: int) -> Array:
        """The expected share of each policy."""
        market = self.market(cell, np.random.default_rng([seed, replication]))
        problem = market.problem(cell.budget * MICRO)
        return expected_shares(self.policies, market, problem, seed, replication)

    def rows(self, cell: BoundedCell, samples: Array, seed: int) -> list[Row]:
        """One row per policy; and how far the recommended one is behind the best of the others."""
        place: dict[str, Any] = {"x": cell.x, "panel": cell.panel}
        labels = self.labels()
        found = [
            mean_row(samples[:, at], series=series, metric="expected_share", **place)
            for at, series in enumerate(labels)
        ]
        if RECOMMENDED not in labels or len(labels) == 1:
            return found
        ours = labels.index(RECOMMENDED)
        rivals = [at for at in range(len(labels)) if at != ours]
        ahead = samples[:, rivals] - samples[:, [ours]]
        best = labels[rivals[int(np.argmax(ahead.mean(axis=0)))]]
        return [*found, mean_row(behind_the_best(ahead), series=best, metric="behind", **place)]

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Who leads in each group, and how often the recommended policy is as good as the best."""
        found = []
        near = cells = 0
        shares = [row for row in rows if row.metric == "expected_share"]
        for group in dict.fromkeys(row.panel.split(",")[0] for row in shares):
            mine = [row for row in shares if row.panel.split(",")[0] == group]
            means = group_means(mine)
            order = sorted(means, key=lambda series: -means[series])
            said = ", ".join(f"{series} {means[series]:.3f}" for series in order[:3])
            found.append(f"{group}: {order[0]} leads. Mean expected shares: {said}.")
            for at in dict.fromkeys((row.panel, row.x) for row in mine):
                here = {row.series: row.mean for row in mine if (row.panel, row.x) == at}
                cells += 1
                near += here.get(RECOMMENDED, 0.0) >= max(here.values()) - NEAR
        found.append(
            f"{RECOMMENDED}, which is recommended, is within {NEAR:g} of the best of all policies "
            f"in {near} of {cells} cells ({near / max(cells, 1):.0%}). The best of a cell is the "
            "best in hindsight: with few replications somebody is lucky everywhere."
        )
        found += self._in_pairs([row for row in rows if row.metric == "behind"])
        found.append(
            "All policies are compared on the same markets and answers. bounded-kube is left out "
            "for its time: the simplified one differs from it by a few thousandths in Table 1."
        )
        return found

    def _in_pairs(self, behind: Sequence[Row]) -> list[str]:
        """What intervals of paired differences say of the cells."""
        if not behind:
            return []
        within = sum(row.mean <= NEAR for row in behind)
        surely = sum(row.ci_high <= NEAR for row in behind)
        further = [row for row in behind if row.ci_low > NEAR]
        # Half of an interval is about two standard errors.
        error = float(np.median([(row.ci_high - row.ci_low) / 4.0 for row in behind]))
        worst = max((row.ci_high - row.ci_low) / 4.0 for row in behind)
        said = ", ".join(f"{row.panel} at {row.x:g} ({row.series})" for row in further)
        return [
            "In pairs, with the best of the others chosen on one half of the replications and "
            "compared on the other half, so that luck is not counted twice: within "
            f"{NEAR:g} in {within} of {len(behind)} cells ({within / len(behind):.0%}); with 95% "
            f"confidence within it in {surely} and further behind in {len(further)}"
            f"{': ' + said if said else ''}. The standard error of a difference is {error:.4f} in "
            f"the median cell and {worst:.4f} in the noisiest."
        ]


def behind_the_best(ahead: Array) -> Array:
    """How far each replication puts the best rival ahead, chosen on the other half of them.

    Parameters
    ----------
    ahead : array
        A row per replication, a column per rival: by how much it is ahead.
    """
    if len(ahead) < 2:
        return ahead.max(axis=1)
    found = np.zeros(len(ahead))
    for half in (0, 1):
        chosen = int(np.argmax(ahead[1 - half :: 2].mean(axis=0)))
        found[half::2] = ahead[half::2, chosen]
    return found


def group_means(rows: Sequence[Row]) -> dict[str, float]:
    """The mean over cells of each series."""
    shares: dict[str, list[float]] = {}
    for row in rows:
        shares.setdefault(row.series, []).append(row.mean)
    return {series: float(np.mean(each)) for series, each in shares.items()}
