"""Critical bids: what is reserved, when prices change, and that they do not depend on the bid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise import Worker
from askwise.core import draws
from askwise.core.draws import Draw
from askwise.core.events import Event, Kind
from askwise.core.money import MICRO, from_micro
from askwise.core.problem import Problem, Task
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.mechanisms import Quote, mechanisms
from askwise.mechanisms.critical import CriticalBids
from tests.mechanisms.cheapest import Cheapest

KINDS = ("clarke", "critical-bid", "fixed-exploration")
NO_DRAW = Draw(*draws.stream(1, draws.MECHANISM, 0), 0)


class Fixed:
    """A policy of which only the critical bids matter."""

    def __init__(self, *bids: float) -> None:
        self.bids = bids

    def critical_bids(
        self, problem: Problem, state: Any, ledger: Ledger, members: Sequence[int]
    ) -> list[float]:
        return list(self.bids)


def mechanism(name: str) -> CriticalBids:
    made = mechanisms.make({"name": name, "c_max": 20})
    assert isinstance(made, CriticalBids)
    return made


def quoted(made: CriticalBids, bids: Sequence[int], budget: int | None = None) -> Ledger:
    """A ledger in which the bidding has closed."""
    workers = tuple(Worker(f"w{at}", from_micro(bid)) for at, bid in enumerate(bids))
    problem = Problem(workers=workers, tasks=(Task("t"),), options=("no", "yes"), budget=budget)
    ledger = Ledger(problem)
    take(ledger, made.quote(problem, ledger, NO_DRAW))
    return ledger


def take(ledger: Ledger, quotes: Sequence[Quote]) -> None:
    if quotes:
        workers = tuple(quote.to_json() for quote in quotes)
        ledger.apply(Event(Kind.QUOTED, seq=ledger.seq + 1, workers=workers))


@pytest.mark.parametrize("name", KINDS)
def test_the_most_that_may_be_owed_is_reserved_first(name: str) -> None:
    made = mechanism(name)
    ledger = quoted(made, [3 * MICRO, 5 * MICRO])
    rows = ledger.book.workers[:2]
    assert rows[:, c.PRICE].tolist() == [20 * MICRO, 20 * MICRO]
    assert rows[:, c.RANKED_AT].tolist() == [3 * MICRO, 5 * MICRO]
    assert made.reason(ledger, 0) == "c_max 20 an answer"


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    ("critical", "price"),
    [
        (6_210_000.0, 6_210_000),
        (6_210_000.25, 6_210_001),
        (4_000_000 / 0.4 * 0.8, 8_000_000),
        (math.inf, 20_000_000),
        (25_000_000.0, 20_000_000),
        # In floats a bit below the bid, where both are equal.
        (2_999_999.5, 3_000_000),
    ],
)
def test_a_price_is_the_critical_bid_rounded_up_within_bid_and_highest_bid(
    name: str, critical: float, price: int
) -> None:
    made = mechanism(name)
    ledger = quoted(made, [3 * MICRO, 5 * MICRO])
    found = made.requote(ledger.problem, ledger, Fixed(critical), None, [0])
    due = Quote("w0", 3 * MICRO, 3 * MICRO, price)
    assert found == ([due] if price != 20 * MICRO else [])
    take(ledger, found)
    assert made.requote(ledger.problem, ledger, Fixed(critical), None, [0]) == []
    assert ledger.book.workers[1, c.PRICE] == 20 * MICRO


def test_a_price_may_rise_again_where_rivals_are_gone_and_there_is_money() -> None:
    made = mechanism("clarke")
    ledger = quoted(made, [MICRO, MICRO], budget=30 * MICRO)
    take(ledger, made.requote(ledger.problem, ledger, Fixed(4e6, 5e6), None, [0, 1]))
    (risen,) = made.requote(ledger.problem, ledger, Fixed(4e6, 9e6), None, [0, 1])
    assert risen == Quote("w1", MICRO, MICRO, 9 * MICRO)


def test_a_price_does_not_rise_beyond_the_money_that_is_left() -> None:
    made = mechanism("clarke")
    ledger = quoted(made, [MICRO, MICRO], budget=40 * MICRO)
    take(ledger, made.requote(ledger.problem, ledger, Fixed(4e6, 5e6), None, [0, 1]))
    ledger.book.totals[c.BUDGET] = 10 * MICRO
    found = made.requote(ledger.problem, ledger, Fixed(3e6, 9e6), None, [0, 1])
    assert found == [Quote("w0", MICRO, MICRO, 3 * MICRO)]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("clarke", "Clarke payment 6.21 an answer"),
        ("critical-bid", "critical bid 6.21 an answer"),
        ("fixed-exploration", "exploration at c_max 20, then critical bid 6.21 an answer"),
    ],
)
def test_it_says_why(name: str, words: str) -> None:
    made = mechanism(name)
    ledger = quoted(made, [3 * MICRO])
    take(ledger, made.requote(ledger.problem, ledger, Fixed(6.21e6), None, [0]))
    assert made.reason(ledger, 0) == words


def test_no_bid_is_shown_while_the_bidding_is_open() -> None:
    problem = Problem(workers=(Worker("ann", 3),), tasks=(Task("t"),), options=("no", "yes"))
    ledger = Ledger(problem)
    for name in (*KINDS, "self-resampling"):
        made = mechanisms.make({"name": name, "c_max": 20})
        assert made.reason(ledger, 0) == "the bidding is open"


@given(
    st.lists(st.integers(0, 12), min_size=3, max_size=6),
    st.integers(1, 3),
    st.integers(0, 12),
)
def test_with_the_few_cheapest_no_lie_serves_anybody_better(
    units: list[int], size: int, cost: int
) -> None:
    """The auction of the (k+1)-th price, on a grid of bids, every bid against every cost."""
    made, policy = mechanisms.make({"name": "clarke", "c_max": 12}), Cheapest(size=size)
    assert isinstance(made, CriticalBids)

    def utility(bid: int) -> int:
        bids = [bid * MICRO, *(each * MICRO for each in units[1:])]
        ledger = quoted(made, bids)
        members = policy._ranked(ledger)[:size]
        if 0 not in members:
            return 0
        take(ledger, made.requote(ledger.problem, ledger, policy, None, members))
        assert ledger.book.workers[0, c.PRICE] >= bid * MICRO
        return int(ledger.book.workers[0, c.PRICE]) - cost * MICRO

    assert max(utility(bid) for bid in range(13)) <= utility(cost)
