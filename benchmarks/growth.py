"""How the cost of a decision grows with workers, and for each policy with tasks and options."""

from __future__ import annotations

import math
import statistics
from typing import Any

import numpy as np

from askwise.core import draws
from askwise.core.arrays import Array
from askwise.core.compiling import bind
from askwise.core.draws import Draw
from askwise.core.events import Event, Fact, Kind
from askwise.lab.simulate import simulate
from askwise.ledger import columns as c
from askwise.ledger.columns import Book
from askwise.ledger.ledger import Ledger
from askwise.ledger.proposals import Proposal, new_proposal
from askwise.policies import policies
from askwise.policies.base import KernelPolicy
from benchmarks import decisions
from benchmarks.markets import market_of, problem_of
from benchmarks.timing import Contender, in_turns, quantity, table, want

SIZES = (10, 100, 1_000, 10_000)
DECIDING = ("simplified-bounded-kube", "thompson-knapsack", "knowledge-gradient")
PLANNING = "bounded-epsilon-first"
DOLLARS = 300
"""Budget for each worker there is, so that campaigns of all sizes are alike."""


def choose(*_: Any) -> int:
    """Hold the place of the kernel that the loop is bound to."""
    raise NotImplementedError


def choose_often(
    book: Book,
    state: Any,
    params: Any,
    key: tuple[int, int],
    available: Array,
    out: Proposal,
    times: int,
) -> int:
    """Decide about one point of a campaign again and again, each time with other draws."""
    proposed = 0
    for number in range(times):
        out.head[0] = 0
        choose(book, state, params, Draw(key[0], key[1], number), available, out)
        proposed += out.head[0]
    return proposed


def in_the_middle(policy: KernelPolicy, workers: int) -> tuple[Ledger, Any]:
    """Facts and beliefs when everyone has answered a few times and half the money is left."""
    market = market_of(workers)
    problem = problem_of(market, workers * DOLLARS // 2)
    ledger = simulate(policies.make("uniform"), problem, market.answering(1, 0), seed=1).ledger
    ledger.apply(Event(Kind.TOPPED_UP, ledger.seq + 1, price=problem.budget))
    state = policy.start(problem, ledger)
    draw = Draw(*draws.stream(1, draws.ABSORB, 0), 0)
    for at in range(ledger.total(c.ANSWERS)):
        worker, value = ledger.book.assignments[at, c.WORKER], ledger.book.marks[at, c.VALUE]
        fact = Fact(int(Kind.ANSWER), 0, int(worker), float(value), 0, at)
        policy.absorb(problem, state, ledger, fact, draw)
    return ledger, state


def deciding(name: str, workers: int) -> Contender:
    """One decision of a policy that decides after every few answers."""
    policy = policies.make(name)
    assert isinstance(policy, KernelPolicy)
    ledger, state = in_the_middle(policy, workers)
    loop = bind(choose_often, name, choose=policy.kernels.choose)
    out, available = new_proposal(workers), np.ones(workers, np.int8)
    key, params = draws.stream(1, draws.POLICY, 0), policy.params()
    times = max(5, 50_000 // workers)

    def work() -> int:
        proposed = loop(ledger.book, state, params, key, available, out, times)
        assert proposed >= times, f"{name} has nothing to decide with {workers} workers"
        return times

    return work


def planning(name: str, workers: int) -> Contender:
    """Whole campaigns of a policy that decides seldom, divided by its decisions."""
    market = market_of(workers)
    problem = problem_of(market, workers * DOLLARS)
    policy, world, fresh = policies.make(name), market.answering(1, 0), Ledger(problem)

    def work() -> int:
        decisions = 0
        for _ in range(max(1, 1_000 // workers)):
            decisions += simulate(policy, problem, world, seed=1, ledger=fresh).decisions
        return decisions

    return work


def main(quick: bool) -> None:
    """Print the table."""
    sizes = SIZES[:3] if quick else SIZES
    rows = []
    for name in (*DECIDING, PLANNING):
        make = planning if name == PLANNING else deciding
        contenders = {str(workers): make(name, workers) for workers in sizes}
        for work in contenders.values():
            work()  # to compile and to warm up
        found = in_turns(contenders, rounds=3 if quick else 7)
        first = found[str(sizes[0])]
        for workers in sizes:
            times = found[str(workers)]
            by_law = workers * math.log(workers) / (sizes[0] * math.log(sizes[0]))
            grown = statistics.median(b / a for a, b in zip(first, times, strict=True))
            relative = grown / by_law
            rows.append(
                [
                    f"{name}{' *' if name == PLANNING else ''}" if workers == sizes[0] else "",
                    f"{workers:,}",
                    quantity(1e6 * statistics.median(times)),
                    f"{grown:,.1f}",
                    f"{by_law:,.1f}",
                    f"{relative:.2f}",
                    *(want(relative, most=1.0) if workers > sizes[0] else ["", ""]),
                ]
            )
    print("compiled kernels, CPU time; growth is counted from K=10")
    header = ["", "K", "us/decision", "grown", "K log K", "relative", "wanted", "met"]
    table(header, rows)
    print("  * its whole campaign, answers and all, divided by its few decisions")
    print("\nevery policy offered live, plain Python, CPU time, one axis at a time")
    decisions.main(quick)
