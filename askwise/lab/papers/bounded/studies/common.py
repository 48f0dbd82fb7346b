"""What the experiments on budgets, prices and limits (paper 003) share."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter
from askwise.core.money import MICRO
from askwise.core.problem import Problem
from askwise.core.registry import from_label, label_of
from askwise.figures import Row
from askwise.lab.experiment import Cell, Experiment, Figure
from askwise.lab.results import mean_row, ratio_row
from askwise.lab.simulate import simulate
from askwise.lab.worlds import Market, freelancer_market, market_from_table, read_table
from askwise.lab.worlds.freelancers import RateTable
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.policies import Policy, policies

UTILITY, SPENT = range(2)

CAPS = {500: 30, 5_000: 50, 30_000: 100, 100_000: 200}
"""The highest price that applies for a job of a budget (003, section 6.3.1)."""

CONFIDENCE = 0.95
"""Theorem 1's beta for the line in the figures; the paper does not say which it used."""

RECOMMENDED = "gittins-knapsack"
"""What ``policy="auto"`` takes for a utility and a budget."""

OURS = (RECOMMENDED, "thompson-knapsack", "knowledge-gradient")

PAPER_POLICIES = (
    "bounded-epsilon-first",
    "budget-limited-epsilon-first",
    "trialsourcing",
    "random",
    "uniform",
    "bounded-kube",
)

NO_DATA = (
    "The paper draws workers from oDesk's data of 2012, which is not to be had. Prices, ratings "
    "and numbers of applicants here come from the synthetic market (or from a table you give), "
    "so levels differ; compare the order of the policies and the trend along the axis."
)


@dataclass(frozen=True)
class BoundedCell(Cell):
    """A budget in whole units, the highest price, and what else the market depends on."""

    budget: int
    cap: int
    candidates: int | None = None
    variance: float = 0.0
    noise: float = 0.0
    changes: int = 0


def share_figure(x_label: str, caption: str, **how: Any) -> tuple[Figure, ...]:
    """A figure of the share of the optimum."""
    return (Figure("share_of_optimum", x_label, "share of the optimum", caption, **how),)


@dataclass(frozen=True)
class BoundedExperiment(Experiment):
    """Run policies on sampled markets and compare them with the fractional optimum.

    Parameters
    ----------
    policies : labels
        What to compare, such as ``thompson-knapsack`` or ``bounded-epsilon-first(epsilon=0.1)``.
    world : "market", "floor5" or "table"
        The synthetic market, its alternative with a lowest price of 5, or a table of real rates.
    table, rate, rating, reviews, worker, stars
        The CSV file for ``world=table``, its columns, and its best rating.
    """

    policies: tuple[str, ...] = (*PAPER_POLICIES, *OURS)
    world: str = "market"
    table: str = ""
    rate: str = "hourly_rate_usd"
    rating: str = "rating"
    reviews: str = ""
    worker: str = ""
    stars: float = 5.0

    ours: ClassVar[tuple[str, ...]] = OURS
    ratio_of_means: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.world not in ("market", "floor5", "table"):
            raise InvalidParameter(
                f"world is {self.world!r}: give market, floor5 or table", field="world"
            )
        if (self.world == "table") != bool(self.table):
            raise InvalidParameter("table (a CSV file) and world=table go together", field="table")
        if not self.policies:
            raise InvalidParameter("policies is empty: name at least one", field="policies")
        labels = self.labels()
        for label in labels:
            if labels.count(label) > 1:
                raise InvalidParameter(f"policies names {label!r} twice", field="policies")
        for field in fields(self):
            values = getattr(self, field.name)
            least = 0 if field.name in ("variances", "changes") else 1
            if isinstance(values, tuple) and field.name not in ("policies", "noises", "epsilons"):
                for value in values:
                    if value < least:
                        raise InvalidParameter(
                            f"{field.name} has {value!r}: give {least} or more", field=field.name
                        )

    @abstractmethod
    def cells(self) -> list[BoundedCell]:
        """The points to compute."""

    def market(self, cell: BoundedCell, rng: np.random.Generator) -> Market:
        """The market of one replication."""
        if self.world == "table":
            return market_from_table(
                rng, self._read_table(), cap=cell.cap, candidates=cell.candidates
            )
        floor = 5 if self.world == "floor5" else 3
        return freelancer_market(rng, cap=cell.cap, floor=floor, candidates=cell.candidates)

    def _read_table(self) -> RateTable:
        return _table(self.table, self.rate, self.rating, self.reviews, self.worker, self.stars)

    def sample(self, cell: BoundedCell, seed: int, replication: int) -> Array:
        """Utility and spending: of the optimum, of each policy; then what ``extra`` adds."""
        market = self.market(cell, np.random.default_rng([seed, replication]))
        budget = cell.budget * MICRO
        problem = market.problem(budget)
        ledger = Ledger(problem)
        world = market.answering(seed, replication)
        found = [self.optimum(cell, market, budget)]
        for label in self.playing(cell):
            outcome = simulate(
                made(label), problem, world, seed=seed, replication=replication, ledger=ledger
            )
            found.append((outcome.utility, outcome.spent))
        return np.array([*np.array(found).ravel(), *self.extra(cell, market)])

    def playing(self, cell: BoundedCell) -> Sequence[str]:
        """Labels of the policies as a cell has them, in the order of ``policies``."""
        return self.policies

    def optimum(self, cell: BoundedCell, market: Market, budget: int) -> tuple[float, float]:
        """Utility and spending of the yardstick."""
        return market.optimum(budget)

    def extra(self, cell: BoundedCell, market: Market) -> Sequence[float]:
        """Further numbers of a replication, such as bounds."""
        return ()

    def rows(self, cell: BoundedCell, samples: Array, seed: int) -> list[Row]:
        """Utility, share of the optimum and spending of every series."""
        labels = ["optimum", *self.labels()]
        pairs = samples[:, : 2 * len(labels)].reshape(len(samples), len(labels), 2)
        best = pairs[:, 0, UTILITY]
        found = []
        for at, series in enumerate(labels):
            place: dict[str, Any] = {"series": series, "x": cell.x, "panel": cell.panel}
            utility = pairs[:, at, UTILITY]
            found.append(mean_row(utility, metric="utility", **place))
            if self.ratio_of_means:
                share = ratio_row(utility, best, metric="share_of_optimum", seed=seed, **place)
            else:
                share = mean_row(utility / best, metric="share_of_optimum", **place)
            found.append(share)
            found.append(mean_row(pairs[:, at, SPENT], metric="spent", **place))
        return found + self.extra_rows(cell, samples[:, 2 * len(labels) :], best)

    def extra_rows(self, cell: BoundedCell, extra: Array, best: Array) -> list[Row]:
        """Rows for what ``extra`` added."""
        return []

    def labels(self) -> list[str]:
        """Series names: the policies with the parameters that differ from the defaults."""
        return [label_of(made(label)) for label in self.policies]

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """That the data is another, and what follows."""
        return (
            [NO_DATA]
            if self.world != "table"
            else [
                f"Workers are drawn from {self.table}; limits are drawn as in the paper, their "
                "single ratings are scattered about the mean that the table gives."
            ]
        )


def only_the_market(experiment: BoundedExperiment) -> None:
    """Refuse another world where an experiment makes qualities of its own."""
    if experiment.world != "market":
        raise InvalidParameter(
            f"world is {experiment.world!r}: experiment {experiment.name!r} makes its own "
            "qualities on the prices of 'market'",
            field="world",
        )


def expected_shares(
    labels: Sequence[str], market: Market, problem: Problem, seed: int, replication: int
) -> Array:
    """Share of the optimum that each policy earns in expectation: answers times true means."""
    ledger, world = Ledger(problem), market.answering(seed, replication)
    assert problem.budget is not None, "a market is shared out within a budget"
    best, _ = market.optimum(problem.budget)
    shares = []
    for label in labels:
        outcome = simulate(
            made(label), problem, world, seed=seed, replication=replication, ledger=ledger
        )
        answers = outcome.ledger.book.workers[: len(market.means), c.ANSWERED]
        shares.append(float(answers @ market.means) / best)
    return np.array(shares)


@cache
def made(label: str) -> Policy:
    """The policy of a label, made once."""
    return policies.make(from_label(label))


@cache
def _table(path: str, rate: str, rating: str, reviews: str, worker: str, stars: float) -> RateTable:
    return read_table(path, rate=rate, rating=rating, reviews=reviews, worker=worker, stars=stars)
