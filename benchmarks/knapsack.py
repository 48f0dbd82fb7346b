"""The exact knapsack at every step: whole campaigns of bounded KUBE with large budgets."""

from __future__ import annotations

import math
import statistics
import time
from functools import partial

import numpy as np
from numpy.typing import NDArray

from askwise.core.money import MICRO
from askwise.kernels.knapsack import bounded_exact
from askwise.lab.simulate import Outcome, simulate
from askwise.lab.worlds import Market
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.policies import policies
from benchmarks.markets import market_of, problem_of
from benchmarks.timing import in_turns, quantity, ratio, table

WORKERS = 20
# Budget, the highest price of a market for it, and how long the paper's own run took.
CASES = ((30_000, 100, "1 hour"), (100_000, 200, "not at all"))
EXACT, GREEDY = "bounded-kube", "simplified-bounded-kube"
SAMPLES = 12
LONGEST = 60.0
"""Seconds that still count as "a full campaign in seconds"."""

Instance = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], int]


def dense(
    values: NDArray[np.float64], prices: NDArray[np.int64], limits: NDArray[np.int64], money: int
) -> NDArray[np.int64]:
    """Solve the bounded knapsack by a table over all amounts of money, vectorised.

    The textbook's way: limits cut into 1, 2, 4, ... units, each piece taken or not.
    """
    pieces = []
    for worker, price in enumerate(prices.tolist()):
        units, size = min(int(limits[worker]), money // price), 1
        while units > 0:
            size = min(size, units)
            pieces.append((worker, size))
            units -= size
            size *= 2
    best = np.zeros(money + 1)
    taken = np.zeros((len(pieces), money + 1), np.bool_)
    for at, (worker, size) in enumerate(pieces):
        weight = size * int(prices[worker])
        tried = best[: money + 1 - weight] + size * values[worker]
        np.greater(tried, best[weight:], out=taken[at, weight:])
        np.maximum(tried, best[weight:], out=best[weight:])
    counts = np.zeros(len(prices), np.int64)
    for at in range(len(pieces) - 1, -1, -1):
        if taken[at, money]:
            worker, size = pieces[at]
            counts[worker] += size
            money -= size * int(prices[worker])
    return counts


def instances(market: Market, outcome: Outcome, budget: int) -> list[Instance]:
    """The knapsacks that a campaign solved at some of its steps, evenly spread."""
    rows = outcome.ledger.book.assignments[: outcome.answers]
    answers = outcome.ledger.book.marks[: outcome.answers, c.VALUE]
    workers = len(market.prices)
    found = []
    for step in np.linspace(workers, outcome.answers - 1, SAMPLES).astype(int).tolist():
        asked = np.bincount(rows[:step, c.WORKER], minlength=workers)
        sums = np.bincount(rows[:step, c.WORKER], weights=answers[:step], minlength=workers)
        money = budget - int(rows[:step, c.COST].sum()) // MICRO
        bounds = sums / asked + np.sqrt(2.0 * math.log(step + 1) / asked)
        found.append((bounds, market.prices // MICRO, market.limits - asked, money))
    return found


def campaigns(budget: int, cap: int, paper: str, rounds: int) -> list[list[str]]:
    """Rows of the table for one budget."""
    market = market_of(WORKERS, cap)
    problem = problem_of(market, budget)
    fresh, world = Ledger(problem), market.answering(1, 0)
    best, _ = market.optimum(budget * MICRO)
    outcomes: dict[str, Outcome] = {}

    def campaign(name: str) -> int:
        outcomes[name] = simulate(policies.make(name), problem, world, seed=1, ledger=fresh)
        return 1

    contenders = {name: partial(campaign, name) for name in (EXACT, GREEDY)}
    for work in contenders.values():
        work()  # to compile
    found = in_turns(contenders, rounds)
    rows = []
    for name, times in found.items():
        outcome, seconds = outcomes[name], statistics.median(times)
        rows.append(
            [
                name,
                f"{budget:,}",
                quantity(outcome.answers),
                f"{outcome.utility / best:.3f}",
                f"{seconds:.3f}",
                f"{1e6 * seconds / outcome.answers:.2f}",
                f"{ratio(times, found[EXACT]):.2f}",
                *(["seconds", "yes" if seconds <= LONGEST else "NO"] if name == EXACT else "  "),
            ]
        )

    steps, tables = outcomes[EXACT].answers, []
    for values, prices, limits, money in instances(market, outcomes[EXACT], budget):
        begun = time.process_time()
        counts = dense(values, prices, limits, money)
        tables.append(time.process_time() - begun)
        plan = bounded_exact(values, prices, limits, money)
        assert math.isclose(counts @ values, plan @ values, rel_tol=1e-9), "plans differ"
    each = statistics.mean(tables)
    times_exact = each * steps / statistics.median(found[EXACT])
    cost = [f"{each * steps:.0f}", f"{1e6 * each:,.0f}", quantity(times_exact), "", ""]
    rows.append(["  a dense table per step *", f"{budget:,}", quantity(steps), "", *cost])
    rows.append(["  the paper", f"{budget:,}", "", "", paper, "", "", "", ""])
    return rows


def main(quick: bool) -> None:
    """Print the table."""
    rows = []
    for case in CASES[:1] if quick else CASES:
        rows += campaigns(*case, rounds=3 if quick else 7)
    print(f"freelancer market, K={WORKERS}, prices in whole dollars, whole campaigns, CPU time")
    header = ["", "budget", "steps", "share of optimum", "s/campaign", "ms/1000 steps", "to exact"]
    table([*header, "wanted", "met"], rows)
    print(f"  * timed on {SAMPLES} steps spread over the campaign (same optima), extrapolated")
