"""Paper 003, section 7: workers who come with ratings, right or wrong."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.money import MICRO
from askwise.figures import Row
from askwise.lab.experiment import Figure, experiments
from askwise.lab.papers.bounded.studies.common import (
    CAPS,
    BoundedCell,
    BoundedExperiment,
    expected_shares,
    only_the_market,
)
from askwise.lab.results import mean_row
from askwise.lab.worlds import Market
from askwise.lab.worlds.base import RATING_SHARE

STATED = 10
"""How many earlier answers every rating is said to rest on."""

LEARNED, TAKEN, IGNORED = (
    "gittins-knapsack",
    "gittins-knapsack(ratings=taken)",
    "gittins-knapsack(ratings=ignored)",
)


def earlier_answers(market: Market, rng: np.random.Generator, count: int) -> Array:
    """The mean of this many earlier answers of each worker."""
    world = market.world
    found = []
    for row, size in zip(world.table, world.sizes, strict=True):
        drawn = rng.choice(row[:size], size=count)
        found.append(np.mean(RATING_SHARE * drawn + (1.0 - RATING_SHARE) * rng.random(count)))
    return np.array(found)


KINDS: dict[str, Callable[[Market, np.random.Generator], Array]] = {
    "right": lambda market, rng: earlier_answers(market, rng, STATED),
    "noisy": lambda market, rng: earlier_answers(market, rng, 1),
    "inflated": lambda market, rng: 0.5 + 0.5 * earlier_answers(market, rng, STATED),
    "mixed up": lambda market, rng: rng.permutation(earlier_answers(market, rng, STATED)),
    "reversed": lambda market, rng: 1.0 - earlier_answers(market, rng, STATED),
}
"""Ratings as they may be: of ten earlier answers, of one, halfway to the best, of somebody else,
and the opposite of what is true."""


@experiments.register("bounded-ratings")
@dataclass(frozen=True)
class Ratings(BoundedExperiment):
    """Workers who come with ratings: the paper's future work.

    Parameters
    ----------
    budgets : whole units
        The horizontal axis.
    """

    budgets: tuple[int, ...] = tuple(CAPS)[:3]
    policies: tuple[str, ...] = (
        LEARNED,
        TAKEN,
        IGNORED,
        "knowledge-gradient",
        "thompson-knapsack",
    )
    ours: ClassVar[tuple[str, ...]] = (LEARNED,)
    reps: ClassVar[int] = 300
    title: ClassVar[str] = "Workers with ratings"
    reproduces: ClassVar[str] = "beyond 003 (section 7)"
    summary: ClassVar[str] = (
        "Every worker comes with a rating that is said to rest on ten earlier answers. It does, or "
        "it rests on one, or everybody's is raised halfway to the best, or it is somebody else's, "
        "or the opposite is true. Does a policy gain by ratings that are right, and what does it "
        "lose by wrong ones?"
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "expected_share",
            "budget",
            "expected share of the optimum",
            "Mean expected share of the optimum, by what the ratings are.",
            log_x=True,
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        only_the_market(self)

    def cells(self) -> list[BoundedCell]:
        """A panel for each kind of ratings."""
        return [
            BoundedCell(kind, budget, budget, cap=CAPS.get(budget, 200))
            for kind in KINDS
            for budget in self.budgets
        ]

    def sample(self, cell: BoundedCell, seed: int, replication: int) -> Array:
        """The expected share of each policy."""
        rng = np.random.default_rng([seed, replication])
        market = self.market(cell, rng)
        problem = market.problem(cell.budget * MICRO)
        ratings = KINDS[cell.panel](market, rng)
        workers = tuple(
            replace(worker, rating=float(rating), rating_weight=STATED)
            for worker, rating in zip(problem.workers, ratings, strict=True)
        )
        return expected_shares(
            self.policies, market, replace(problem, workers=workers), seed, replication
        )

    def rows(self, cell: BoundedCell, samples: Array, seed: int) -> list[Row]:
        """One row per policy; and what ratings gain, in pairs, against leaving them."""
        place: dict[str, Any] = {"x": cell.x, "panel": cell.panel}
        labels = self.labels()
        found = [
            mean_row(samples[:, at], series=series, metric="expected_share", **place)
            for at, series in enumerate(labels)
        ]
        if IGNORED in labels:
            without = samples[:, labels.index(IGNORED)]
            found += [
                mean_row(
                    samples[:, labels.index(series)] - without,
                    series=series,
                    metric="gain",
                    **place,
                )
                for series in (LEARNED, TAKEN)
                if series in labels
            ]
        return found

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """What ratings are worth, from the rows."""
        found = ["The paper leaves ratings to future work: there is nothing to compare."]
        for kind in dict.fromkeys(row.panel for row in rows):
            said = []
            for series, how in ((LEARNED, "learned"), (TAKEN, "taken as they are")):
                gains = [
                    f"{row.mean:+.3f} [{row.ci_low:+.3f}, {row.ci_high:+.3f}] at {row.x:,g}"
                    for row in rows
                    if (row.panel, row.series, row.metric) == (kind, series, "gain")
                ]
                if gains:
                    said.append(f"{how} {', '.join(gains)}")
            if said:
                found.append(f"Ratings that are {kind}, against leaving them: {'; '.join(said)}.")
        found.append(
            "knowledge-gradient and thompson-knapsack take ratings as they are. How far they are "
            "to be trusted is learned from how well they foretell the answers of rated workers."
        )
        return found
