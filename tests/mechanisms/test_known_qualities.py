"""Clarke payments and critical bids: on the grid of money no bid is ever better than the cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from hypothesis import given
from hypothesis import strategies as st

from askwise import Worker
from askwise.core import draws
from askwise.core.draws import Draw
from askwise.core.events import Event, Kind
from askwise.core.money import from_micro
from askwise.core.problem import Problem, Task
from askwise.kernels.knapsack import cover_greedy
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.mechanisms import mechanisms
from askwise.mechanisms.critical import CriticalBids
from askwise.policies.assured.sets import cheapest_set, critical_bids, critical_bids_exact

Pool = tuple[tuple[float, ...], list[int], int]
"""Qualities or gains, costs, and whom to look at."""

HIGHEST = 12
"""A coarse money: prices are whole micro-units up to this."""
NO_DRAW = Draw(*draws.stream(1, draws.MECHANISM, 0), 0)


class Solver(Protocol):
    """What a policy with known qualities does."""

    def chosen(self, costs: Sequence[int]) -> tuple[list[int], bool]: ...

    def critical_bids(
        self, problem: Problem, state: Any, ledger: Ledger, members: Sequence[int]
    ) -> list[float]: ...


@dataclass(frozen=True)
class Exact:
    """The cheapest set."""

    qualities: tuple[float, ...]
    alpha: float
    error: str

    def chosen(self, costs: Sequence[int]) -> tuple[list[int], bool]:
        found, _, feasible = cheapest_set(costs, self.qualities, self.alpha, self.error, "exact")
        return found if feasible else list(range(len(costs))), feasible

    def critical_bids(
        self, problem: Problem, state: Any, ledger: Ledger, members: Sequence[int]
    ) -> list[float]:
        return critical_bids_exact(ranks(ledger), self.qualities, self.alpha, self.error)


@dataclass(frozen=True)
class Greedy:
    """GA's set."""

    gains: tuple[float, ...]
    demand: float

    def chosen(self, costs: Sequence[int]) -> tuple[list[int], bool]:
        found, _, feasible = cover_greedy(costs, self.gains, self.demand)
        return found, feasible

    def critical_bids(
        self, problem: Problem, state: Any, ledger: Ledger, members: Sequence[int]
    ) -> list[float]:
        return critical_bids(ranks(ledger), self.gains, self.demand)


def ranks(ledger: Ledger) -> list[int]:
    """What everybody is counted at."""
    found: list[int] = ledger.book.workers[: len(ledger.workers), c.RANKED_AT].tolist()
    return found


def outcome(made: CriticalBids, solver: Solver, bids: list[int], worker: int) -> tuple[bool, int]:
    """Whether a worker is chosen, and what they are paid."""
    workers = tuple(Worker(f"w{at}", from_micro(bid)) for at, bid in enumerate(bids))
    ledger = Ledger(Problem(workers=workers, tasks=(Task("t"),), options=("no", "yes")))

    def take(quotes: Sequence[Any]) -> None:
        if quotes:
            rows = tuple(quote.to_json() for quote in quotes)
            ledger.apply(Event(Kind.QUOTED, seq=ledger.seq + 1, workers=rows))

    take(made.quote(ledger.problem, ledger, NO_DRAW))
    chosen, feasible = solver.chosen(bids)
    if feasible:
        take(made.requote(ledger.problem, ledger, solver, None, chosen))
    paid = int(ledger.book.workers[worker, c.PRICE]) if worker in chosen else 0
    return worker in chosen, paid


def check(made: CriticalBids, solver: Solver, costs: list[int], worker: int) -> None:
    """Every bid against every cost of one worker."""
    results = [
        outcome(made, solver, [*costs[:worker], bid, *costs[worker + 1 :]], worker)
        for bid in range(HIGHEST + 1)
    ]
    works = [work for work, _ in results]
    assert works == sorted(works, reverse=True)
    for bid, (work, paid) in enumerate(results):
        assert paid >= bid * work
        # The truth against all bids.
        gains = [other_paid - bid * other for other, other_paid in results]
        assert max(gains) == paid - bid * work


def sized(values: st.SearchStrategy[float]) -> st.SearchStrategy[Pool]:
    """Pools of two to six workers, with one of them to look at."""
    return st.integers(2, 6).flatmap(
        lambda size: st.tuples(
            st.lists(values, min_size=size, max_size=size).map(tuple),
            st.lists(st.integers(0, HIGHEST), min_size=size, max_size=size),
            st.integers(0, size - 1),
        )
    )


def mechanism(name: str) -> CriticalBids:
    made = mechanisms.make({"name": name, "c_max": from_micro(HIGHEST)})
    assert isinstance(made, CriticalBids)
    return made


QUALITIES = st.sampled_from([0.55, 0.7, 0.8, 0.9, 0.97])


@given(sized(QUALITIES), st.sampled_from([0.05, 0.12, 0.3]))
def test_clarke_by_majority(pool: Pool, alpha: float) -> None:
    qualities, costs, worker = pool
    check(mechanism("clarke"), Exact(qualities, alpha, "majority"), costs, worker)


@given(sized(QUALITIES), st.sampled_from([0.2, 0.3, 0.45]))
def test_clarke_by_the_linear_form(pool: Pool, alpha: float) -> None:
    qualities, costs, worker = pool
    solver = Exact(qualities, alpha, "hoeffding-linear(epsilon=0.5)")
    check(mechanism("clarke"), solver, costs, worker)


@given(sized(st.floats(0.05, 1.0)), st.floats(0.2, 2.5))
def test_critical_bids_by_the_greedy_solver(pool: Pool, demand: float) -> None:
    gains, costs, worker = pool
    check(mechanism("critical-bid"), Greedy(gains, demand), costs, worker)
