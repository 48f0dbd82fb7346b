"""Successive Rejects, Hoeffding Races and the automatic share, by hand (003, 5.2, 6.4, Eq. 18)."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise import Campaign, Worker
from askwise.core.choices import Batch
from askwise.core.draws import Draw
from askwise.core.events import Kind
from askwise.core.money import SHARE_UNIT
from askwise.core.problem import make_problem
from askwise.ledger.ledger import Ledger
from askwise.policies.bounded.common import COUNT, SUM, share_of, share_of_budget
from askwise.policies.bounded.epsilon_first import BoundedEpsilonFirst, auto_share
from askwise.policies.bounded.races import pulls_until, reject_beaten, residual_money, width_of

Rows = list[tuple[str, list[tuple[str, int]]]]


def decisions(
    workers: list[Worker], budget: int, policy: dict[str, object], answers: dict[str, float]
) -> Rows:
    """Purpose and rows of every decision of a campaign that is run to its end."""
    campaign = Campaign.create(
        workers=workers,
        outcome="utility",
        budget=budget,
        policy={"name": "bounded-epsilon-first", **policy},
        seed=1,
    )
    while isinstance(batch := campaign.ask(), Batch):
        campaign.tell(batch[0].id, answers[batch[0].worker])
    return [
        (event.note or "", [(row.worker, row.count) for row in event.rows or ()])
        for event in campaign.log()
        if event.kind == Kind.DECIDED
    ]


def ledger_of(prices: list[float], budget: float) -> Ledger:
    workers = [Worker(f"w{at}", price) for at, price in enumerate(prices)]
    return Ledger(make_problem(workers=workers, outcome="utility", budget=budget))


# Successive Rejects. Three workers, c_max = 10, eps B = .3 * 400 = 120.
# l(3) = 1/2 + 1/2 + 1/3 = 4/3 (to N, as the proof has it).
# n_1 = floor(3/4 * 120 / (3 * 10)) = 3, n_2 = floor(3/4 * 120 / (2 * 10)) = floor(4.5) = 4 = n_3.

REJECTS = {"exploration": "successive-rejects", "epsilon": 0.3}
WORKERS = [Worker("a", 10, limit=50), Worker("b", 5, limit=50), Worker("c", 8, limit=50)]
ANSWERS = {"a": 0.375, "b": 0.25, "c": 0.625}


def test_pulls_of_each_phase() -> None:
    ledger = ledger_of([10, 5, 8], 400)
    share = share_of(0.3, "epsilon")
    assert [pulls_until(ledger.book, share, 3, k) for k in range(4)] == [0, 3, 4, 4]


def test_the_residual_does_not_depend_on_the_order_of_the_workers() -> None:
    # 120 - (3 * 5 + 4 * 8 + 4 * 10) = 33, if the most expensive stay to the last. The paper's sum
    # in index order is 33, 38 or 35.
    for prices in permutations([10, 5, 8]):
        ledger = ledger_of(list(prices), 400)
        assert residual_money(ledger.book, share_of(0.3, "epsilon"), 3) == 33_000_000


@pytest.mark.parametrize("bernstein", [0, 1])
def test_the_width_of_an_interval(bernstein: int) -> None:
    # Four answers of mean .5 and variance .0625, beta .05.
    beliefs = np.array([[4.0, 2.0, 1.25, 0.0]])
    log = math.log(3 / 0.05)
    due = math.sqrt(2 * 0.0625 * log / 4) + 3 * log / 4
    if bernstein == 0:
        due = math.sqrt(math.log(2 / 0.05) / 8)
    assert width_of(beliefs, 0, 0.05, bernstein) == pytest.approx(due)


def test_bernstein_races_reject_sooner_where_answers_hardly_vary() -> None:
    # After forty answers each of .6 and of .3 Hoeffding's intervals are +- .215 wide, Bernstein's
    # 3 ln 60 / 40 = +- .307; after eighty .152 and .154; at two hundred .096 and .061, and so on.
    for count, gone in ((40, [0, 0]), (90, [1, 1])):
        for bernstein in (0, 1):
            ledger = ledger_of([1, 1], 1000)
            beliefs = np.zeros((2, 4))
            for worker, value in enumerate((0.6, 0.3)):
                beliefs[worker, :3] = count, count * value, count * value * value
            reject_beaten(ledger.book, beliefs, 0.05, 0, bernstein)
            assert beliefs[1, 3] == gone[bernstein], (count, bernstein)
    # By .1 at two hundred answers only Bernstein's tell them apart: .061 against .096.
    for bernstein in (0, 1):
        ledger = ledger_of([1, 1], 1000)
        beliefs = np.zeros((2, 4))
        for worker, value in enumerate((0.6, 0.45)):
            beliefs[worker, :3] = 200, 200 * value, 200 * value * value
        reject_beaten(ledger.book, beliefs, 0.05, 0, bernstein)
        assert beliefs[1, 3] == bernstein


def test_rejects_spend_the_residual_first_and_then_phase_by_phase() -> None:
    # The residual of 33 is explored uniformly: one round (23), then b twice (10).
    # Phase 1: n_1 = 3 each, 69; spent 33 + 69 = 102. b has the lowest mean and leaves.
    # Phase 2: one more each of a and of c, 18: all of the share.
    rows = decisions(WORKERS, 400, REJECTS, ANSWERS)
    assert rows[:5] == [
        ("explore: round", [("a", 1), ("b", 1), ("c", 1)]),
        ("explore: pass", [("b", 1)]),
        ("explore: pass", [("b", 1)]),
        ("explore: phase", [("a", 3), ("b", 3), ("c", 3)]),
        ("explore: phase", [("a", 1), ("c", 1)]),
    ]
    # 120 spent, 280 left. Densities: a .0375, b .05, c .078: c's 35 units cost 280.
    assert rows[5:] == [("exploit: plan", [("c", 35)])]


def test_rejects_by_density_compare_utility_per_price() -> None:
    # Densities: a .0375, b .05, c .078. Now a leaves after phase 1, and phase 2 is b and c:
    # 102 + 5 + 8 = 115 of 120.
    rows = decisions(WORKERS, 400, {**REJECTS, "by": "density"}, ANSWERS)
    assert rows[3:5] == [
        ("explore: phase", [("a", 3), ("b", 3), ("c", 3)]),
        ("explore: phase", [("b", 1), ("c", 1)]),
    ]


def test_of_equals_the_last_is_rejected() -> None:
    rows = decisions(WORKERS, 400, REJECTS, {"a": 0.5, "b": 0.5, "c": 0.5})
    assert rows[4] == ("explore: phase", [("a", 1), ("b", 1)])


def test_a_race_among_two_has_one_phase() -> None:
    # l(2) = 1, n_1 = floor(60 / (2 * 10)) = 3 = n_2; residual 60 - 3 * 10 - 3 * 5 = 15: a round.
    workers = [Worker("a", 10), Worker("b", 5)]
    rows = decisions(workers, 100, {**REJECTS, "epsilon": 0.6}, {"a": 0.5, "b": 0.5})
    assert rows[:2] == [
        ("explore: round", [("a", 1), ("b", 1)]),
        ("explore: phase", [("a", 3), ("b", 3)]),
    ]
    assert rows[2][0] == "exploit: plan"


def test_a_phase_is_cut_to_limits() -> None:
    workers = [Worker("a", 10, limit=2), Worker("b", 5, limit=50), Worker("c", 8, limit=50)]
    rows = decisions(workers, 400, REJECTS, ANSWERS)
    assert rows[3] == ("explore: phase", [("a", 1), ("b", 3), ("c", 3)])


@given(st.integers(2, 12), st.integers(1, 60), st.integers(1, 20_000))
def test_pulls_are_those_of_eq_20(field: int, dearest: int, money: int) -> None:
    check_eq_20(field, dearest, Fraction(money))


def test_pulls_are_those_of_eq_20_where_it_comes_out_whole() -> None:
    # l(7) = 1/2 + 1/2 + 1/3 + 1/4 + 1/5 + 1/6 + 1/7 = 293/140; n_3 = 219.75 / (l(7) * 5 * 3)
    # = 7 exactly, which a quotient of floats misses.
    check_eq_20(7, 3, Fraction(21975, 100))


def check_eq_20(field: int, dearest: int, money: Fraction) -> None:
    ledger = ledger_of([1] * (field - 1) + [dearest], float(money))
    harmonic = Fraction(1, 2) + sum(Fraction(1, j) for j in range(2, field + 1))
    due = [math.floor(money / (harmonic * (field + 1 - k) * dearest)) for k in range(1, field)]
    found = [pulls_until(ledger.book, SHARE_UNIT, field, k) for k in range(1, field)]
    assert found == due


# Hoeffding Races, beta = .05: the width is sqrt(ln(40) / 2n) = sqrt(1.84444 / n).


def test_whoever_is_beaten_leaves_the_race_in_the_round_worked_out() -> None:
    # a = 1, b = .5, c = 0. c leaves when w < 1 - w: n > 4 * 1.84444 = 7.38, after round 8.
    # b leaves when .5 + w < 1 - w: n > 16 * 1.84444 = 29.51, after round 30.
    # Then one is left and exploration ends, with 32 of its 100 unspent.
    workers = [Worker("a", 1, limit=80), Worker("b", 1, limit=80), Worker("c", 1, limit=80)]
    policy = {"exploration": "hoeffding-races", "epsilon": 0.5}
    rows = decisions(workers, 200, policy, {"a": 1.0, "b": 0.5, "c": 0.0})
    everyone = [("a", 1), ("b", 1), ("c", 1)]
    assert rows[:8] == [("explore: round", everyone)] * 8
    assert rows[8:30] == [("explore: round", [("a", 1), ("b", 1)])] * 22
    # 68 spent, 132 left: a 50 more to the limit, b 50 more, then c 32 of their 72.
    assert rows[30:] == [("exploit: plan", [("a", 50), ("b", 50), ("c", 32)])]


def test_a_race_by_density_divides_the_bounds_by_the_price() -> None:
    # Both .5, prices 1 and 4: (.5 + w) / 4 < .5 - w when w < .3, n > 1.84444 / .09 = 20.49.
    workers = [Worker("a", 1, limit=300), Worker("b", 4, limit=300)]
    policy = {"exploration": "hoeffding-races", "epsilon": 0.5, "by": "density"}
    rows = decisions(workers, 400, policy, {"a": 0.5, "b": 0.5})
    assert rows[:21] == [("explore: round", [("a", 1), ("b", 1)])] * 21
    assert rows[21][0] == "exploit: plan"
    # By mean they are equal, and the share of 200 is explored: 40 rounds.
    rows = decisions(workers, 400, {**policy, "by": "mean"}, {"a": 0.5, "b": 0.5})
    assert [note for note, _ in rows].index("exploit: plan") == 40


def test_a_larger_beta_ends_the_race_sooner() -> None:
    # beta = .5: ln(4) / 2 = .69315; 4 * .69315 = 2.77, after round 3.
    workers = [Worker("a", 1, limit=80), Worker("b", 1, limit=80)]
    policy = {"exploration": "hoeffding-races", "epsilon": 0.5, "beta": 0.5}
    rows = decisions(workers, 100, policy, {"a": 1.0, "b": 0.0})
    assert [note for note, _ in rows].index("exploit: plan") == 3


def test_a_race_in_another_range_is_run_on_the_scaled_answers() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1), Worker("b", 1)],
        outcome={"kind": "utility", "low": -10, "high": 10},
        budget=100,
        policy={"name": "bounded-epsilon-first", "exploration": "hoeffding-races", "epsilon": 0.9},
    )
    while isinstance(batch := campaign.ask(), Batch):
        campaign.tell(batch[0].id, {"a": 10, "b": -10}[batch[0].worker])
    notes = [event.note for event in campaign.log() if event.kind == Kind.DECIDED]
    assert notes == ["explore: round"] * 8 + ["exploit: plan"]


# Eq. (18): N = 2, prices 2 and 4, beta such that -ln((1 - sqrt(beta)) / 2) = 6, answers .8 and
# .4: d_max = .4 - .1 = .3, eps = (4 / (.09 B) * 6 * 6)^(1/3) = (1600 / B)^(1/3).

CONFIDENCE = (1 - 2 * math.exp(-6)) ** 2


@pytest.mark.parametrize(("budget", "share"), [(12_800, 0.5), (102_400, 0.25), (1600, 1), (500, 1)])
def test_the_automatic_share_is_eq_18_and_at_most_one(budget: int, share: float) -> None:
    ledger = ledger_of([2, 4], budget)
    state = BoundedEpsilonFirst(epsilon="auto").start(ledger.problem, ledger)
    state.beliefs[:2, COUNT] = 3, 5
    state.beliefs[:2, SUM] = 3 * 0.8, 5 * 0.4
    found = auto_share(ledger.book, state, CONFIDENCE)
    assert found == pytest.approx(share * SHARE_UNIT, abs=10)


def test_equal_densities_are_explored_with_everything() -> None:
    ledger = ledger_of([2, 4], 100)
    state = BoundedEpsilonFirst(epsilon="auto").start(ledger.problem, ledger)
    state.beliefs[:2, COUNT] = 1
    state.beliefs[:2, SUM] = 0.25, 0.5
    assert auto_share(ledger.book, state, 0.95) == SHARE_UNIT


@given(st.lists(st.integers(1, 60_000_000), min_size=1, max_size=8), st.data())
def test_the_first_round_fits_into_the_automatic_share(prices: list[int], data: st.DataObject):
    total = sum(prices)
    budget = data.draw(st.integers(total, 50 * total))
    workers = [Worker(f"w{at}", f"{price / 1e6:.6f}") for at, price in enumerate(prices)]
    problem = make_problem(workers=workers, outcome="utility", budget=f"{budget / 1e6:.6f}")
    ledger = Ledger(problem)
    state = BoundedEpsilonFirst(epsilon="auto").start(problem, ledger)
    assert share_of_budget(ledger.book, auto_share(ledger.book, state, 0.95)) >= total


def test_with_an_automatic_share_everybody_is_asked_first() -> None:
    # 110 / 1666 of the budget are one round; a share cut off one digit short would lose it.
    workers = [Worker("a", 30), Worker("b", 21), Worker("c", 59)]
    rows = decisions(workers, 1666, {"epsilon": "auto"}, {"a": 0.5, "b": 0.5, "c": 0.5})
    assert rows[0] == ("explore: round", [("a", 1), ("b", 1), ("c", 1)])


def test_the_automatic_share_is_estimated_as_the_run_goes() -> None:
    # Densities .5 and 0: d_max = .5. eps = (4 / (.25 B) * L * 3)^(1/3) with
    # L = -ln((1 - sqrt(.95)) / 2) = 4.3691; at B = 6000 it is .3270: 1961.8 for exploration.
    level = -math.log((1 - math.sqrt(0.95)) / 2)
    share = (4 / (0.25 * 6000) * level * 3) ** (1 / 3)
    assert share == pytest.approx(0.3270, abs=1e-4)
    workers = [Worker("a", 1, limit=700), Worker("b", 2, limit=700)]
    rows = decisions(workers, 6000, {"epsilon": "auto"}, {"a": 0.5, "b": 0.0})
    rounds = [note for note, _ in rows].count("explore: round")
    assert rounds == math.floor(share * 6000 / 3)


def test_rejected_workers_are_kept_in_the_beliefs() -> None:
    # Choosing works on a copy; only absorbing the decision that follows rejects for good.
    policy = BoundedEpsilonFirst(exploration="hoeffding-races", epsilon=0.9)
    ledger = ledger_of([1, 1], 100)
    state = policy.start(ledger.problem, ledger)
    state.beliefs[:2, COUNT] = 8
    state.beliefs[:2, SUM] = 8.0, 0.0
    before = state.beliefs.copy()
    policy.choose(ledger.problem, state, ledger, Draw(1, 2, 0), np.ones(2, np.int8))
    np.testing.assert_array_equal(state.beliefs, before)
