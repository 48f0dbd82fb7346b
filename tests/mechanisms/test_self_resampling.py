"""Self-resampling: the draws, the prices, and Myerson's formula."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext
from itertools import pairwise
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from askwise import Worker
from askwise.core import draws
from askwise.core.draws import Draw
from askwise.core.money import MICRO, from_micro
from askwise.core.problem import Problem, Task
from askwise.ledger.ledger import Ledger
from askwise.mechanisms import Quote
from askwise.mechanisms.self_resampling import SelfResampling
from tests.mechanisms.steps import Steps, expected_resampled, expected_work, steps_of

HIGHEST = 20 * MICRO

gammas = st.sampled_from([0.001, 0.03, 0.1, 0.3, 0.7, 0.99])
bids_of_many = st.lists(st.integers(0, HIGHEST), min_size=1, max_size=6)
seeds = st.integers(0, 2**63 - 1)


def ledger_of(bids: list[int]) -> Ledger:
    workers = tuple(Worker(f"w{at}", from_micro(bid)) for at, bid in enumerate(bids))
    return Ledger(Problem(workers=workers, tasks=(Task("t"),), options=("no", "yes")))


def quotes(mechanism: SelfResampling, bids: list[int], seed: int = 1) -> list[Quote]:
    ledger = ledger_of(bids)
    draw = Draw(*draws.stream(seed, draws.MECHANISM, 0), 0)
    return mechanism.quote(ledger.problem, ledger, draw)


def quoted_at(mechanism: SelfResampling, bid: int, chance: float, share: float) -> Quote:
    """The quote of the only worker, their two draws given."""
    with mock.patch(
        "askwise.mechanisms.self_resampling.uniform", lambda _, index: (chance, share)[index]
    ):
        (found,) = quotes(mechanism, [bid])
    return found


@given(bids_of_many, gammas, seeds)
def test_nobody_is_ever_paid_below_their_bid(bids: list[int], gamma: float, seed: int) -> None:
    mechanism = SelfResampling("20", gamma)
    for bid, quote in zip(bids, quotes(mechanism, bids, seed), strict=True):
        assert quote.bid == bid <= quote.ranked_at <= HIGHEST
        assert quote.price in (bid, bid + mechanism.bonus(bid))
        assert (quote.price == bid) or quote.price > bid
        if quote.price == bid:
            assert quote.ranked_at in (bid, HIGHEST)
        assert quote.price <= HIGHEST / gamma + 1


@given(bids_of_many, gammas, seeds, st.data())
def test_a_workers_draws_are_their_own(
    bids: list[int], gamma: float, seed: int, data: st.DataObject
) -> None:
    mechanism = SelfResampling("20", gamma)
    before = quotes(mechanism, bids, seed)
    assert quotes(mechanism, bids, seed) == before
    who = data.draw(st.integers(0, len(bids) - 1))
    changed = [*bids[:who], data.draw(st.integers(0, HIGHEST)), *bids[who + 1 :]]
    after = quotes(mechanism, changed, seed)
    assert [*before[:who], *before[who + 1 :]] == [*after[:who], *after[who + 1 :]]


@pytest.mark.parametrize("gamma", [0.1, 0.3, 0.001])
@pytest.mark.parametrize("bid", [0, 1, 3_000_000, 19_999_999])
@pytest.mark.parametrize("share", [0.0, 1e-9, 0.25, 0.5, 0.999999, 1 - 2**-53])
def test_a_resampled_bid_is_counted_and_paid_by_the_formula(
    gamma: float, bid: int, share: float
) -> None:
    getcontext().prec = 60
    mechanism = SelfResampling("20", gamma)
    found = quoted_at(mechanism, bid, gamma / 2, share)
    exponent = 1 / (1 - Decimal(repr(gamma)))
    power = Decimal(share) ** exponent if share else Decimal(0)
    x = HIGHEST - (HIGHEST - bid) * power
    # Down to a micro-unit, up to the last bits of the power.
    assert 0 <= x - found.ranked_at <= Decimal("1.00001")
    bonus = (HIGHEST - bid) / Decimal(repr(gamma))
    assert found.price == bid + math.ceil(bonus)


@pytest.mark.parametrize("gamma", [0.1, 0.3])
def test_a_bid_is_kept_from_gamma_on(gamma: float) -> None:
    mechanism = SelfResampling("20", gamma)
    bid = 3 * MICRO
    assert quoted_at(mechanism, bid, gamma, 0.5) == Quote("w0", bid, bid, bid)
    assert quoted_at(mechanism, bid, math.nextafter(gamma, 0), 0.5).ranked_at > bid


def test_bids_are_resampled_as_often_as_gamma_says() -> None:
    mechanism = SelfResampling("20", 0.1)
    found = quotes(mechanism, [MICRO] * 20_000, seed=7)
    raised = sum(quote.price > quote.bid for quote in found)
    # Four standard deviations of a binomial: sqrt(20000 * .09) = 42.
    assert abs(raised - 2000) < 170


def test_the_bonus_of_one_tenth_is_ten_times_and_not_a_bit_more() -> None:
    assert SelfResampling("20", 0.1).bonus(3 * MICRO) == 170 * MICRO
    assert SelfResampling("20", 0.3).bonus(0) == 66_666_667


@pytest.mark.parametrize("gamma", [0.05, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("z", [0.01, 0.2, 0.77, 1.0])
def test_one_draw_has_the_distribution_of_drawing_again_and_again(gamma: float, z: float) -> None:
    """Babaioff, Kleinberg and Slivkins resample recursively: with probability gamma take a value
    between the bid and the end uniformly, and begin anew there. With z the distance from the end
    in terms of the bid's, the distribution function of the first resampled value solves
    H(z) = (1-gamma) z + gamma (z + int_z^1 H(z/u) du).
    """

    def function(at: float) -> float:
        # From the mechanism's own draw: distance = U^(1/(1-gamma)).
        return at ** (1 - gamma)

    again, _ = quad(lambda u: function(z / u), z, 1.0)
    assert function(z) == pytest.approx((1 - gamma) * z + gamma * (z + again), abs=1e-9)


@given(
    st.lists(st.integers(1, HIGHEST - 1), max_size=5, unique=True),
    st.lists(st.integers(0, 50), min_size=6, max_size=6),
    st.integers(0, HIGHEST - 1),
    gammas,
)
def test_what_is_paid_is_what_myersons_formula_asks_for(
    starts: list[int], values: list[int], bid: int, gamma: float
) -> None:
    """E[payment] - b E[A] = integral from b to c_max of E[A(u)] du, for any falling work A."""
    falling = sorted(values, reverse=True)[: len(starts) + 1]
    work = Steps((0, *sorted(starts)), tuple(map(float, falling)))
    bonus = (HIGHEST - bid) / gamma
    paid_beyond = gamma * bonus * expected_resampled(work, bid, HIGHEST, gamma)
    # A is its last value plus steps down at t; each step has its integral in closed form:
    # kept: t - b; resampled: P(x < t | u) = 1 - ((c-t)/(c-u))^(1-gamma) for u < t.
    c, due = HIGHEST, falling[-1] * (HIGHEST - bid)
    for t, (before, after) in zip(work.starts[1:], pairwise(falling), strict=True):
        if t <= bid:
            continue
        stay = (c - t) ** (1 - gamma) * ((c - bid) ** gamma - (c - t) ** gamma) / gamma
        due += (before - after) * ((1 - gamma) * (t - bid) + gamma * (t - bid - stay))
    assert paid_beyond == pytest.approx(due, rel=1e-7, abs=1e-2)


@given(
    st.integers(1, HIGHEST - 1),
    st.integers(0, HIGHEST - 1),
    gammas,
    st.floats(0.001, 0.999),
)
def test_the_closed_form_is_what_the_mechanism_draws(
    step: int, bid: int, gamma: float, chance: float
) -> None:
    """P(ranked below a step) is where the mechanism's own draw crosses it."""
    work = Steps((0, step), (1.0, 0.0))
    below = expected_resampled(work, bid, HIGHEST, gamma)
    mechanism = SelfResampling("20", gamma)
    found = quoted_at(mechanism, bid, gamma / 2, chance).ranked_at
    # U above 1 - P(x < step) gives a value below the step.
    if abs(chance - (1 - below)) > 1e-6:
        assert (found < step) == (chance > 1 - below)


def test_the_expected_work_is_between_that_of_the_bid_and_that_at_the_end() -> None:
    work = steps_of(lambda x: 10 - x // (3 * MICRO), range(0, HIGHEST + 1, MICRO))
    assert work.starts == tuple(range(0, HIGHEST + 1, 3 * MICRO))
    found = [expected_work(work, bid, HIGHEST, 0.2) for bid in range(0, HIGHEST, MICRO // 2)]
    assert all(b <= a for a, b in pairwise(found))
    assert work.at(HIGHEST) <= found[-1] <= found[0] < work.at(0)


@pytest.mark.parametrize(
    ("bid", "ranked_at", "price", "words"),
    [
        (3, 3, 3, "bid 3 kept: 3 an answer"),
        (20, 20, 20, "bid 20 kept: 20 an answer"),
        (3, "7.2", 173, "bid 3 resampled to 7.2: 3 + (20 - 3)/0.1 an answer"),
    ],
)
def test_it_says_why(bid: Any, ranked_at: Any, price: Any, words: str) -> None:
    mechanism = SelfResampling("20", 0.1)
    micro = [int(Decimal(each) * MICRO) for each in (bid, ranked_at, price)]
    assert mechanism.settled(*micro) == words
