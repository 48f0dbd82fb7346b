"""One sample of assured-regret, compiled, against readings of the same policies in NumPy."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from askwise.core.money import MICRO
from askwise.lab.papers.assured.counting import simulate_counts
from askwise.lab.papers.assured.studies.common import Terms, contender
from askwise.lab.papers.assured.studies.costs import OF_PAPER
from askwise.lab.worlds.assured import WorkerPool, paper_pool
from askwise.ledger.ledger import Ledger
from benchmarks.assured_readings import Assured, Greedy, Ns, S, Se, run, run_by_task
from benchmarks.timing import in_turns, quantity, ratio, table, want

WORKERS, TASKS = 1_100, 10_000
COMPILED, ONE_BY_ONE, BY_TASK = "askwise, compiled runner", "NumPy, by answer", "NumPy, by task"
ALL = "all five"
LEAST = {ONE_BY_ONE: 10.0, BY_TASK: 5.0}
"""How many times as fast as NumPy the compiled runner is to be."""

READINGS: dict[str, tuple[Callable[..., Assured], dict[str, Any]]] = {
    "ccb-ns": (Ns, {}),
    "ccb-ns(floor=2/3)": (Ns, {"floor": 2 / 3}),
    "ccb-s": (S, {}),
    "ccb-se": (Se, {}),
    "epsilon-t-greedy": (Greedy, {}),
}


class Bench:
    """The instance of section 6.3, and three ways to run a policy on it."""

    def __init__(self, tasks: int) -> None:
        self.tasks = tasks
        self.terms = Terms(alpha=0.1, xi=0.05, mu=1.0 / tasks)
        self.pool: WorkerPool = paper_pool(np.random.default_rng(1), WORKERS)
        self.problem = self.pool.problem(tasks)
        self.fresh = Ledger(self.problem)
        self.seeds = count(1)
        self.answers: dict[str, list[int]] = {label: [] for label in OF_PAPER}
        self.costs: dict[tuple[str, str], list[float]] = {}

    def compiled(self, label: str) -> float:
        """In the compiled loop that the study runs, which keeps counts instead of every answer."""
        number = next(self.seeds)
        world = self.pool.answering(1, number, self.tasks)
        policy = contender(label, self.terms)
        outcome = simulate_counts(
            policy, self.problem, world, seed=1, replication=number, ledger=self.fresh
        )
        self.answers[label].append(outcome.answers)
        return outcome.spent

    def reading(self, label: str, driver: Callable[..., float]) -> float:
        """In NumPy, driven from Python."""
        kind, more = READINGS[label]
        terms = self.terms
        policy = kind(self.pool.costs / MICRO, terms.alpha, terms.xi, terms.mu, **more)
        return driver(policy, self.pool.qualities, self.tasks, next(self.seeds))

    def timed(self, rounds: int) -> dict[tuple[str, str], list[float]]:
        """Seconds of each policy, in turns; and what the runs cost."""
        ways: dict[str, Callable[[str], float]] = {
            COMPILED: self.compiled,
            ONE_BY_ONE: lambda label: self.reading(label, run),
            BY_TASK: lambda label: self.reading(label, run_by_task),
        }
        found: dict[tuple[str, str], list[float]] = {}
        for label in OF_PAPER:

            def once(way: str, label: str = label) -> int:
                self.costs.setdefault((label, way), []).append(ways[way](label))
                return 1

            contenders = {way: (lambda way=way: once(way)) for way in ways}
            for way, seconds in in_turns(contenders, rounds).items():
                found[label, way] = seconds
        for way in ways:
            sums = zip(*(found[label, way] for label in OF_PAPER), strict=True)
            found[ALL, way] = [sum(each) for each in sums]
        return found


def main(quick: bool) -> None:
    """Print the table."""
    bench = Bench(2_000 if quick else TASKS)
    begun = time.perf_counter()
    warm = Bench(20)
    for label in OF_PAPER:
        warm.compiled(label)
    seconds = time.perf_counter() - begun
    found = bench.timed(3 if quick else 5)
    print(f"a sample of assured-regret, n={WORKERS:,}, T={bench.tasks:,}, CPU time")
    print(f"  compiled, or read from the cache, in {seconds:.1f} s beforehand")
    rows = []
    for label in (*OF_PAPER, ALL):
        mine = found[label, COMPILED]
        rivals = {way: ratio(found[label, way], mine) for way in LEAST}
        answers = [bench.answers[each] for each in ([label] if label != ALL else OF_PAPER)]
        costs = [
            f"{statistics.mean(bench.costs[label, way]) / 1e6:.2f}" if label != ALL else ""
            for way in (COMPILED, ONE_BY_ONE)
        ]
        rows.append(
            [
                label,
                quantity(sum(statistics.mean(each) for each in answers)),
                *costs,
                f"{statistics.median(mine):.2f} s",
                *(
                    cell
                    for way, each in rivals.items()
                    for cell in (
                        f"{each:.1f}x",
                        *(want(each, least=LEAST[way]) if label == ALL else ["", ""]),
                    )
                ),
            ]
        )
    table(
        [
            *("", "answers", "cost (m)", "NumPy's (m)", "askwise"),
            *(cell for way in LEAST for cell in (f"than {way}", "wanted", "met")),
        ],
        rows,
    )


if __name__ == "__main__":
    main(quick=False)
