"""Paper 001, section 4: regret against the budget, with the bounds beside."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter
from askwise.core.money import MICRO
from askwise.core.registry import label_of
from askwise.figures import Row
from askwise.kernels.knapsack import bounded_exact
from askwise.lab.experiment import Cell, Experiment, Figure, experiments
from askwise.lab.papers.bounded.theory import theorem_1
from askwise.lab.papers.limited.studies.labelling import b_kube, contender
from askwise.lab.papers.limited.theory import theorem_4_2, theorem_4_3
from askwise.lab.results import mean_row
from askwise.lab.simulate import Outcome, simulate
from askwise.lab.worlds.base import Market, rated_world
from askwise.lab.worlds.limited import Labellers
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger

SEEN = ("simplified-bounded-kube", "bounded-epsilon-first")
"""Told a value after each answer, as the theorems assume: the first is B-KUBE."""

JUDGED = (b_kube(1.5), "label-bounded-epsilon-first")
"""Told labels only; they judge workers by the vote."""

CONFIDENCE = 0.95
"""With which 003's Theorem 1 holds."""

BOUND, BEYOND_BOUND, RIVAL_BOUND = "Theorem 4.3", "Theorem 4.2", "003, Theorem 1"


@dataclass(frozen=True)
class Instance:
    """Workers by value (in hundredths) and whole price; limits are a share of the budget."""

    hundredths: tuple[int, ...]
    prices: tuple[int, ...]
    share: float

    @property
    def values(self) -> Array:
        """Value contributions."""
        return np.array(self.hundredths) / 100.0

    def limits(self, budget: int) -> Array:
        """The most answers of each worker: the larger the budget the more, or nobody could be
        chosen wrongly.
        """
        return np.full(len(self.prices), math.ceil(self.share * budget), np.int64)

    def plan(self, budget: int) -> Array:
        """The fractional plan rounded down (Lemma 4.1)."""
        counts = np.zeros(len(self.prices), np.int64)
        left = budget
        for worker in np.argsort(-self.values / np.array(self.prices), kind="stable"):
            most = int(self.limits(budget)[worker])
            counts[worker] = min(most, left // self.prices[worker])
            left -= int(counts[worker]) * self.prices[worker]
            if counts[worker] < most:
                break
        return counts

    def market(self, budget: int) -> Market:
        """Workers whose answers have the values as means: 0 or 1 nine times in ten, else any."""
        world = rated_world([np.arange(90) < each - 5 for each in self.hundredths])
        return Market(
            np.array(self.prices, np.int64) * MICRO, self.limits(budget), self.values, world
        )

    def labellers(self) -> Labellers:
        """Workers with these values under majority voting."""
        return Labellers((1.0 + self.values) / 2.0, np.array(self.prices, np.int64) * MICRO)


INSTANCES = {
    "apart": Instance((90, 60, 50, 10, 10), (1, 1, 2, 1, 2), 0.4),
    "close": Instance((60, 55, 50, 45, 40, 35), (1, 1, 1, 1, 1, 1), 0.3),
}


@dataclass(frozen=True)
class RegretCell(Cell):
    """An instance and a budget in whole units."""

    budget: int


@experiments.register("limited-regret")
@dataclass(frozen=True)
class LimitedRegret(Experiment):
    """Regret by budget where values are seen, and where workers are judged by the vote.

    Parameters
    ----------
    instances : "apart" or "close"
        Workers of very different, or of similar efficiency.
    budgets : whole units
        Limits grow with them.
    """

    instances: tuple[str, ...] = tuple(INSTANCES)
    budgets: tuple[int, ...] = (100, 300, 1_000, 3_000, 10_000, 30_000)
    reps: ClassVar[int] = 40
    chunk: ClassVar[int] = 5
    title: ClassVar[str] = "Regret by budget, with the bounds beside (001, section 4)"
    reproduces: ClassVar[str] = "001, Theorems 4.2 and 4.3"
    summary: ClassVar[str] = (
        "How much value does a policy miss of what the best plan would collect that knows every "
        "worker's value, and does that grow with the logarithm of the budget? The theorems are "
        "about policies that see a value after each answer; in labelling nobody does, and workers "
        "are judged by the vote."
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "regret",
            "budget",
            "value missed",
            "Regret (section 2); dashed the bounds.",
            log_x=True,
            log_y=True,
        ),
        Figure(
            "beyond_plan",
            "budget",
            "selections beyond the plan",
            "The worker selected most often beyond the rounded plan; dashed the bound (7).",
            log_x=True,
            log_y=True,
        ),
    )

    def __post_init__(self) -> None:
        for name in self.instances:
            if name not in INSTANCES:
                raise InvalidParameter(
                    f"instances has {name!r}: give some of {', '.join(INSTANCES)}",
                    field="instances",
                )
        for budget in self.budgets:
            if not 20 <= budget <= 100_000:
                raise InvalidParameter(
                    f"budgets has {budget}: give whole numbers from 20 to 100000", field="budgets"
                )

    def cells(self) -> list[RegretCell]:
        """One cell an instance and budget."""
        return [
            RegretCell(name, budget, budget) for name in self.instances for budget in self.budgets
        ]

    def samples(self, cell: RegretCell, seed: int, first: int, last: int) -> Array:
        """Regret, spending and selections beyond the plan, of each policy."""
        instance = INSTANCES[cell.panel]
        budget = cell.budget * MICRO
        market = instance.market(cell.budget)
        seen = market.problem(budget)
        crowd = instance.labellers()
        # A task takes two answers at least, so there are always enough.
        tasks = cell.budget // 2 + 1
        judged = crowd.problem(tasks, int(instance.limits(cell.budget)[0]), budget)
        fresh = {label: Ledger(seen if label in SEEN else judged) for label in (*SEEN, *JUDGED)}
        found = []
        for replication in range(first, last):
            values_world = market.answering(seed, replication)
            labels_world = crowd.answering(seed, replication, tasks)
            row: list[float] = []
            for label in (*SEEN, *JUDGED):
                policy, rule = contender(label)
                outcome = simulate(
                    policy,
                    fresh[label].problem,
                    values_world if label in SEEN else labels_world,
                    rule=rule,
                    seed=seed,
                    replication=replication,
                    ledger=fresh[label],
                )
                row += _measured(instance, cell.budget, outcome)
            found.append(row)
        return np.array(found)

    def rows(self, cell: RegretCell, samples: Array, seed: int) -> list[Row]:
        """Means of every policy, and the bounds."""
        instance = INSTANCES[cell.panel]
        workers = len(instance.prices)
        found = []
        for at, label in enumerate((*SEEN, *JUDGED)):
            place: dict[str, Any] = {"panel": cell.panel, "series": _series(label), "x": cell.x}
            block = samples[:, at * (2 + workers) : (at + 1) * (2 + workers)]
            found.append(mean_row(block[:, 0], metric="regret", **place))
            found.append(mean_row(block[:, 1], metric="spent", **place))
            worst = 2 + int(np.argmax(block[:, 2:].mean(axis=0)))
            found.append(mean_row(block[:, worst], metric="beyond_plan", **place))
        values, prices = instance.values, instance.prices
        limits = instance.limits(cell.budget)
        epsilon = contender(SEEN[1])[0].epsilon  # type: ignore[attr-defined]
        for series, metric, bound in (
            (BOUND, "regret", theorem_4_3(values, prices, limits, cell.budget)),
            (RIVAL_BOUND, "regret", theorem_1(epsilon, cell.budget, prices, values, CONFIDENCE)),
            (
                BEYOND_BOUND,
                "beyond_plan",
                theorem_4_2(cell.budget / min(prices), values, prices, limits, cell.budget),
            ),
        ):
            found.append(Row(cell.panel, series, cell.x, metric, bound, bound, bound, 0))
        return found

    def drawn_as_reference(self, row: Row) -> bool:
        """Bounds are dashed."""
        return row.series in (BOUND, BEYOND_BOUND, RIVAL_BOUND)

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """What the theorems do and do not cover, in figures."""
        found = []
        for name in self.instances:
            for label in (SEEN[0], JUDGED[0]):
                curve = _curve(rows, name, _series(label))
                shown = ", ".join(f"{regret:.0f} at {budget:g}" for budget, regret in curve)
                found.append(f"{name}: regret of {_series(label)}: {shown}.")
        return [
            *found,
            "A regret of O(log B) grows by the same amount each time the budget is multiplied. "
            "Theorem 4.3 says so where values are seen, and late: only where (7), in the second "
            "figure, is below the number of selections.",
            "In labelling values are not seen. Agreement with the running vote is not an unbiased "
            "estimate of p: judged by it, the order of two workers may stay wrong for good, and "
            "then regret grows in proportion to the budget.",
            *(_emptiness(rows, series) for series in (BOUND, RIVAL_BOUND)),
            *(_against_theorem_4_2(rows, label) for label in (SEEN[0], JUDGED[0])),
        ]


def _curve(rows: Sequence[Row], panel: str, series: str) -> list[tuple[float, float]]:
    """Regrets of a series by budget."""
    return sorted(
        (row.x, row.mean)
        for row in rows
        if (row.panel, row.series, row.metric) == (panel, series, "regret")
    )


def _emptiness(rows: Sequence[Row], series: str) -> str:
    """In how many cells a bound exceeds what there is to lose."""
    cells = [
        (INSTANCES[row.panel], int(row.x), row.mean)
        for row in rows
        if (row.series, row.metric) == (series, "regret")
    ]
    empty = sum(bound > _optimum(instance, budget) for instance, budget, bound in cells)
    return (
        f"{series} exceeds all the value that the best plan collects in {empty} of {len(cells)} "
        "cells."
    )


def _against_theorem_4_2(rows: Sequence[Row], label: str) -> str:
    """In how many cells a worker is selected beyond the plan more often than (7) allows."""
    bounds = {(row.panel, row.x): row.mean for row in rows if row.series == BEYOND_BOUND}
    series = _series(label)
    mine = [
        row
        for row in rows
        if (row.series, row.metric) == (series, "beyond_plan") and (row.panel, row.x) in bounds
    ]
    over = [row for row in mine if row.ci_low > bounds[row.panel, row.x]]
    if not over:
        return f"{series} stays within Theorem 4.2 in all {len(mine)} cells."
    worst = max(over, key=lambda row: row.mean / bounds[row.panel, row.x])
    said = (
        f"{series} exceeds Theorem 4.2, beyond the interval, in {len(over)} of {len(mine)} cells; "
        f"most where instances are {worst.panel!r} and the budget is {worst.x:g}: some worker is "
        f"selected {worst.mean:.0f} times beyond the plan, and (7) allows "
        f"{bounds[worst.panel, worst.x]:.0f}."
    )
    if label in SEEN:
        return said
    return (
        f"{said} The theorem does not cover it: it is about values that are seen, with noise of "
        "mean zero. Agreement with a vote that the answer itself is part of, and that errs, has "
        "another mean than p. More answers then do not bring two workers into the right order, and "
        "selections in the wrong one grow with the budget where (7) grows with its logarithm."
    )


def _series(label: str) -> str:
    seen = "values seen" if label in SEEN else "judged by the vote"
    return f"{label_of(contender(label)[0])}, {seen}"


def _optimum(instance: Instance, budget: int) -> float:
    """v*(B): the value of the best plan, solved exactly."""
    prices = np.array(instance.prices)
    counts = bounded_exact(instance.values, prices, instance.limits(budget), budget)
    return float(counts @ instance.values)


def _measured(instance: Instance, budget: int, outcome: Outcome) -> list[float]:
    """Regret (section 2), spending, and selections of each worker beyond the rounded plan."""
    count = outcome.ledger.total(c.WORKERS)
    selected = outcome.ledger.book.workers[:count, c.ASKED]
    beyond = np.maximum(0, selected - instance.plan(budget))
    regret = _optimum(instance, budget) - float(selected @ instance.values)
    return [regret, outcome.spent, *beyond.tolist()]
