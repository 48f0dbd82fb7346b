"""Steps a second of the compiled runner, against readings of the same algorithm in Python."""

from __future__ import annotations

import statistics
from itertools import count

from askwise.core.money import MICRO
from askwise.lab.simulate import simulate
from askwise.ledger.ledger import Ledger
from askwise.policies import policies
from benchmarks.markets import market_of, problem_of
from benchmarks.readings import ListKube, NumpyKube, run
from benchmarks.timing import in_turns, quantity, ratio, table, want

WORKERS = 20
COMPILED, NUMPY, LISTS = "askwise, compiled runner", "NumPy class", "plain Python lists"
WANTED = {NUMPY: 50.0, LISTS: 15.0}


def main(quick: bool) -> None:
    """Print the table."""
    budget = 30_000 if quick else 200_000
    market = market_of(WORKERS)
    problem = problem_of(market, budget)
    best, _ = market.optimum(budget * MICRO)
    policy = policies.make("simplified-bounded-kube")
    fresh = Ledger(problem)
    prices, limits = market.prices // MICRO, market.limits
    ratings = [
        row[:size].tolist()
        for row, size in zip(market.world.table, market.world.sizes, strict=True)
    ]
    steps: dict[str, list[int]] = {COMPILED: [], NUMPY: [], LISTS: []}
    shares: dict[str, list[float]] = {COMPILED: [], NUMPY: [], LISTS: []}
    seeds = count(1)

    def note(name: str, answers: int, utility: float) -> int:
        steps[name].append(answers)
        shares[name].append(utility / best)
        return answers

    def compiled() -> int:
        done = 0
        for _ in range(20):
            world = market.answering(1, next(seeds))
            outcome = simulate(
                policy, problem, world, seed=1, replication=next(seeds), ledger=fresh
            )
            done += note(COMPILED, outcome.answers, outcome.utility)
        return done

    def with_numpy() -> int:
        reading = NumpyKube(prices, limits, budget, next(seeds))
        utility = run(reading, ratings, next(seeds))
        return note(NUMPY, reading.answers, utility)

    def with_lists() -> int:
        reading = ListKube(prices, limits, budget, next(seeds))
        utility = run(reading, ratings, next(seeds))
        return note(LISTS, reading.answers, utility)

    compiled()  # to compile
    contenders = {COMPILED: compiled, NUMPY: with_numpy, LISTS: with_lists}
    found = in_turns(contenders, rounds=3 if quick else 9)

    print(f"simplified-bounded-kube, K={WORKERS}, B={budget:,}, whole campaigns, CPU time")
    rows = []
    for name, times in found.items():
        times_faster = ratio(times, found[COMPILED])
        wanted = want(times_faster, least=WANTED[name]) if name in WANTED else ["", ""]
        rows.append(
            [
                name,
                quantity(statistics.median(steps[name])),
                f"{statistics.mean(shares[name]):.3f}",
                quantity(1.0 / statistics.median(times)),
                f"{times_faster:.1f}x" if name in WANTED else "",
                *wanted,
            ]
        )
    header = ["", "steps", "share of optimum", "steps/s", "askwise is", "wanted", "met"]
    table(header, rows)
