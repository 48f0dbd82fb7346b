"""Whether a worker gains by not bidding their true cost, by mechanism (000, section 5)."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from askwise.core.allocation import TakesBids
from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter
from askwise.core.money import MICRO
from askwise.figures import Row
from askwise.lab.experiment import Cell, Experiment, Figure, experiments
from askwise.lab.papers.assured.studies.bids import auction, campaign, work_by_rank
from askwise.lab.papers.assured.studies.common import Terms
from askwise.lab.papers.assured.studies.costs import at_least_two
from askwise.lab.results import mean_row
from askwise.lab.worlds.assured import WorkerPool
from askwise.ledger.ledger import Ledger
from askwise.mechanisms import Mechanism
from askwise.mechanisms.self_resampling import SelfResampling
from askwise.policies import Policy
from askwise.policies.assured.sets import cheapest_set

C_MAX = 20

LOOKS = 64
"""Places between the lowest bid and the highest at which work is looked at first, where it is not
proved to fall: steps up and down again between two of them are overlooked."""

MAJORITY = "error=majority,solver=exact"
LINEAR = "alpha=0.45,error=hoeffding-linear(epsilon=0.5)"
"""A few workers reach this target after some hundred tasks: an instance small enough to be run
thousands of times. Epsilon is too large for a bound on the error; payments do not mind."""

EXACT_S = f"self-resampling(gamma=0.2) with ccb-s({MAJORITY})"
GREEDY_S = f"self-resampling(gamma=0.2) with ccb-s({LINEAR},mu=0.5)"
LINEAR_S = f"self-resampling(gamma=0.2) with ccb-s({LINEAR},mu=0.5,solver=exact)"
PAID_AS_BID = f"pay-price with ccb-s({MAJORITY})"
PROMISED = (
    EXACT_S,
    LINEAR_S,
    f"fixed-exploration with ccb-fixed({MAJORITY},rounds=60)",
    f"fixed-exploration with ccb-fixed({LINEAR},rounds=60)",
    f"clarke with ccb-fixed({MAJORITY},rounds=0)",
    f"critical-bid with ccb-fixed({LINEAR},rounds=0)",
)
"""Pairs that are proved truthful."""


def _pool(costs: Sequence[float], qualities: Sequence[float]) -> WorkerPool:
    return WorkerPool(np.rint(np.array(costs) * MICRO).astype(np.int64), np.array(qualities))


POOL = _pool(
    (5.0, 4.0, 6.0, 3.0, 7.0, 4.5, 2.5, 5.5), (0.95, 0.9, 0.88, 0.85, 0.82, 0.8, 0.75, 0.7)
)

# Found by search: the worker of cost 3.5 would be out after 74 tasks; if they ask for 7.75, GA
# chooses others, of whom less is known, and everybody is asked about 298.
UNEVEN = _pool((8.2, 8.6, 3.5, 9.3, 7.6, 4.7), (0.72, 0.85, 0.62, 0.57, 0.91, 0.88))
UNEVEN_WORLD, UNEVEN_WORKER = 2918, 2
ONE_WORLD_DRAWS = 4
"""Times as many draws where nothing else varies."""

ROUNDING = 1e-9
"""Difference up to which two utilities are the same, in their unit and relative to them: they are
sums of floats."""

ROLES = ("chosen", "marginal", "not chosen")
ONE_WORLD = "GA is not monotone"
PANELS = (*ROLES, ONE_WORLD)


@dataclass(frozen=True)
class RoleCell(Cell):
    """The part that a worker plays if all bid their costs."""


@experiments.register("assured-truthfulness")
@dataclass(frozen=True)
class AssuredTruthfulness(Experiment):
    """Let one worker bid other than their cost, all else equal.

    Parameters
    ----------
    auctions : labels
        ``mechanism with policy``; ``ccb-fixed`` without rounds knows the qualities.
    panels : names
        The worker's part: "chosen" (their cost is furthest below the highest bid at which they
        would be chosen if qualities were known), "marginal" (closest to it), "not chosen" (furthest
        above it); or "GA is not monotone", one world in which a lower bid brings less work.
    bids : numbers
        In units of the worker's cost.
    tasks : whole number
        Of each campaign.
    draws : whole number
        Draws of the others' bids by self-resampling in each replication; over the worker's own
        draw utilities are integrated exactly.
    """

    auctions: tuple[str, ...] = (PAID_AS_BID, *PROMISED, GREEDY_S)
    panels: tuple[str, ...] = PANELS
    bids: tuple[float, ...] = (0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 2.5)
    tasks: int = 400
    draws: int = 1
    alpha: float = 0.25
    xi: float = 0.15
    mu: float = 0.1
    reps: ClassVar[int] = 200
    chunk: ClassVar[int] = 5
    title: ClassVar[str] = "Does a lie pay? (000, section 5)"
    reproduces: ClassVar[str] = "000, Theorem 5.1 and Proposition 6.1"
    summary: ClassVar[str] = (
        "One worker of a few bids another price than their cost; answers, draws and the bids of "
        "others stay the same. Paid what they bid, workers gain by asking for more. Under a "
        "truthful mechanism no bid serves better than the cost. The paper promises that for "
        "self-resampling with any monotone approximation in CCB-S (Proposition 6.1), GA for one."
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "gain",
            "bid / cost",
            "gain over the truth",
            "Mean utility less that of bidding the cost, paired over answers and the draws of "
            "others, with 95% intervals: above 0 a lie pays. It is exact over the worker's own "
            "draw.",
        ),
        Figure(
            "utility",
            "bid / cost",
            "utility",
            "Payments less cost of the answers given, in expectation, with 95% intervals.",
        ),
    )

    def __post_init__(self) -> None:
        at_least_two("tasks", self.tasks)
        for name in self.panels:
            if name not in PANELS:
                raise InvalidParameter(
                    f"panels has {name!r}: give some of {', '.join(PANELS)}", field="panels"
                )
        for bid in self.bids:
            if bid < 0:
                raise InvalidParameter(f"bids has {bid}: give numbers from 0", field="bids")
        for label in self.auctions:
            auction(label, self.terms, C_MAX)

    @property
    def terms(self) -> Terms:
        """What is asked for, where a label says nothing else."""
        return Terms(self.alpha, self.xi, self.mu)

    def cells(self) -> list[RoleCell]:
        """One a panel: bids are compared within a replication."""
        return [RoleCell(name, 1.0) for name in self.panels]

    def shown(self, cell: RoleCell) -> list[str]:
        """The auctions of a panel: where GA is not monotone, those that solve the linear form."""
        if cell.panel != ONE_WORLD:
            return list(self.auctions)
        return [label for label in self.auctions if label in (LINEAR_S, GREEDY_S)]

    def sample(self, cell: RoleCell, seed: int, replication: int) -> Array:
        """Utility of each auction at the cost, then at each bid.

        With self-resampling on average over the worker's own draw, exactly, and over some draws
        of the others.
        """
        shown = self.shown(cell)
        found = np.zeros((len(shown), 1 + len(self.bids)))
        for at, label in enumerate(shown):
            mechanism, policy, pool, worker = self.instance(cell, label)
            fresh = _ledger(cell.panel == ONE_WORLD, self.tasks)
            key = UNEVEN_WORLD if cell.panel == ONE_WORLD else seed
            number = 0 if cell.panel == ONE_WORLD else replication
            world = pool.answering(key, number, self.tasks)
            cost = int(pool.costs[worker])
            if isinstance(mechanism, SelfResampling):
                draws = self.draws * (ONE_WORLD_DRAWS if cell.panel == ONE_WORLD else 1)
                asked = [self.bid_of(factor, cost) for factor in (1.0, *self.bids)]
                for drawn in range(draws):
                    work = work_by_rank(
                        mechanism,
                        policy,
                        fresh,
                        worker,
                        world,
                        seed,
                        number,
                        replication * draws + drawn,
                        looked_at(policy, asked),
                    )
                    gains = [mechanism.expected_gain(bid, cost, work) for bid in asked]
                    found[at] += np.array(gains) / MICRO / draws
                continue
            for place, factor in enumerate((1.0, *self.bids)):
                bid = self.bid_of(factor, cost)
                answers, paid = campaign(
                    mechanism, policy, fresh, {worker: bid}, world, seed, number, replication
                )
                found[at, place] = paid[worker] - answers[worker] * cost / MICRO
        return found.ravel()

    @staticmethod
    def bid_of(factor: float, cost: int) -> int:
        """A bid in micro-units: no more than may be bid."""
        return min(round(factor * cost), C_MAX * MICRO)

    def instance(self, cell: RoleCell, label: str) -> tuple[Mechanism, Policy, WorkerPool, int]:
        """Mechanism and policy of a label, and the worker of a panel."""
        mechanism, policy = auction(label, self.terms, C_MAX)
        if cell.panel == ONE_WORLD:
            return mechanism, policy, UNEVEN, UNEVEN_WORKER
        known: Any = policy
        if getattr(known, "rounds", None) == 0:
            known = dataclasses.replace(known, qualities=tuple(POOL.qualities.tolist()))
        return mechanism, known, POOL, _worker(cell.panel, known.alpha, known.error, known.solver)

    def rows(self, cell: RoleCell, samples: Array, seed: int) -> list[Row]:
        """Utility at each bid, and what it gains over the truth."""
        shown = self.shown(cell)
        blocks = samples.reshape(len(samples), len(shown), 1 + len(self.bids))
        found = []
        for at, label in enumerate(shown):
            for place, bid in enumerate(self.bids, 1):
                where: dict[str, Any] = {"series": label, "x": bid, "panel": cell.panel}
                utility = blocks[:, at, place]
                found.append(mean_row(utility, metric="utility", **where))
                gain = gained(utility, blocks[:, at, 0])
                found.append(mean_row(gain, metric="gain", **where))
        return found

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Where a lie pays."""
        found = []
        for label in self.auctions:
            gains = [row for row in rows if (row.series, row.metric) == (label, "gain")]
            sure = [row for row in gains if row.ci_low > 0]
            if not sure:
                found.append(f"{label}: no bid gains beyond its interval.")
                continue
            best = max(sure, key=lambda row: row.mean)
            truth = _utility(rows, best)
            found.append(
                f"{label}: {len(sure)} of {len(gains)} bids gain beyond their interval, most "
                f"{best.mean:.0f} on {truth:.0f} at {best.x:g} times the cost ({best.panel})."
            )
        return [
            *found,
            "Proposition 6.1 does not hold: GA is monotone in a bid, CCB-S with GA is not, as the "
            "bid of a worker who is not chosen can change who is, and with it when exploration "
            "ends. Campaigns refuse this pair.",
        ]


def gained(utility: Array, at_cost: Array) -> Array:
    """What bids gain over the truth; what rounding makes of nothing is nothing.

    Examples
    --------
    >>> import numpy as np
    >>> gained(np.array([0.1 + 0.2, 3.5]), np.array([0.3, 3.0])).tolist()
    [0.0, 0.5]
    """
    gain: Array = utility - at_cost
    return np.where(np.isclose(utility, at_cost, rtol=ROUNDING, atol=ROUNDING), 0.0, gain)


def looked_at(policy: Policy, bids: Sequence[int]) -> list[int]:
    """At what a worker is to be counted, so that all steps of their work are found."""
    allocation = policy.allocation() if isinstance(policy, TakesBids) else None
    places = [*bids, C_MAX * MICRO]
    if allocation is None or not allocation.monotone:
        places += np.linspace(min(bids), C_MAX * MICRO, LOOKS + 1).astype(np.int64).tolist()
    return places


def _utility(rows: Sequence[Row], gain: Row) -> float:
    """What the truth brings where a lie gains."""
    at = next(
        row.mean
        for row in rows
        if (row.panel, row.series, row.x, row.metric)
        == (gain.panel, gain.series, gain.x, "utility")
    )
    return at - gain.mean


@cache
def _ledger(one_world: bool, tasks: int) -> Ledger:
    """A fresh ledger, to be copied: the pools are always the same."""
    return Ledger((UNEVEN if one_world else POOL).problem(tasks))


@cache
def _worker(role: str, alpha: float, error: str, solver: str) -> int:
    """Who plays a part: by the highest bid at which they are chosen, in units of their cost."""
    ratios = [
        _highest_bid(worker, alpha, error, solver) / POOL.costs[worker]
        for worker in range(len(POOL.costs))
    ]
    ranks = {"chosen": ratios, "not chosen": [-each for each in ratios]}
    ranks["marginal"] = [-abs(each - 1.0) for each in ratios]
    return int(np.argmax(ranks[role]))


def _highest_bid(worker: int, alpha: float, error: str, solver: str) -> int:
    """The highest bid at which a worker is chosen with known qualities, by bisection."""
    low, high = 0, C_MAX * MICRO
    costs = POOL.costs.copy()
    while low < high:
        costs[worker] = (low + high + 1) // 2
        if worker in cheapest_set(costs, POOL.qualities, alpha, error, solver)[0]:
            low = int(costs[worker])
        else:
            high = int(costs[worker]) - 1
    return low
