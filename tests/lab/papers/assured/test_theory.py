"""Bounds of paper 000: by hand, by brute force, and against what the policies do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.errors import InvalidParameter, TooLarge
from askwise.lab.papers.assured.theory import (
    corollary_4_3,
    corollary_5_5,
    expected_regret,
    inverse_smoothness,
    rounds_with_range,
    rounds_with_range_as_printed,
    separation,
    social_welfare,
    theorem_3_1,
    theorem_3_1_selections,
    theorem_4_2,
    theorem_5_4,
)
from askwise.policies.assured.intervals import lasting_interval
from askwise.policies.assured.sets import error_probability
from tests.policies.assured.readings import (
    Learner,
    World,
    ccb_s,
    cheapest,
    majority,
    mixture_interval,
    run_campaign,
)


def test_the_separation_is_that_of_the_nearest_set():
    q = [0.9, 0.8, 0.7, 0.6]
    due = min(
        abs(error_probability("majority", [q[at] for at in range(4) if some >> at & 1]) - 0.15)
        for some in range(1, 16)
    )
    assert separation(q, 0.15) == pytest.approx(due)
    with pytest.raises(TooLarge, match=r"qualities are 21: .* give 1 to 20"):
        separation([0.8] * 21, 0.1)


def test_the_numbers_of_rounds_are_those_printed():
    rounds = 2 / 0.2**2 * math.log(2 * 10 / 0.05)
    assert theorem_5_4(10, 0.05, inverse=0.2) == pytest.approx(rounds)
    assert theorem_4_2(10, 0.05, inverse=0.2) == pytest.approx(10 * rounds)
    rounds = 2 / 0.2**2 * math.log(2 * 10 * 1000)
    due = (1 - 1 / 1000) * rounds * 30 + 500
    assert corollary_5_5(10, 1000, 30, 500, inverse=0.2) == pytest.approx(due)
    due = (1 - 1 / 1000) * 10 * rounds * 30 + 500
    assert corollary_4_3(10, 1000, 30, 500, inverse=0.2) == pytest.approx(due)
    assert theorem_3_1(100, 10, inverse=0.2) == pytest.approx(math.log(100) / 0.04)
    assert theorem_3_1_selections(100, 0.2, 0.1) == pytest.approx(0.16 * math.log(100) / 0.01)


def test_a_gap_and_an_error_function_stand_for_the_inverse():
    slope = 2 / 6 * 10
    assert inverse_smoothness(10, error="hoeffding-linear", gap=0.05) == pytest.approx(0.05 / slope)
    assert theorem_5_4(10, 0.05, error="hoeffding-linear", gap=0.05) == pytest.approx(
        theorem_5_4(10, 0.05, inverse=0.05 / slope)
    )


def test_with_bounds_that_hold_at_any_time_the_interval_is_just_narrow_enough():
    for inverse in (0.05, 0.3, 1.0):
        count = theorem_5_4(10, 0.05, inverse=inverse, anytime=True)
        width = 2 * math.sqrt(math.log(10 * (count + 1) / 0.05) / (2 * count))
        assert width == pytest.approx(inverse)
        assert count > theorem_5_4(10, 0.05, inverse=inverse)


def test_the_printed_factor_of_a_range_is_a_thirty_second_of_the_proved_one():
    proved = rounds_with_range(10, 0.05, inverse=0.1)
    assert proved == pytest.approx(2 / 0.01 * math.log(400))
    assert rounds_with_range_as_printed(10, 0.05, inverse=0.1) == pytest.approx(
        1 / (16 * 0.01) * math.log(400)
    )
    assert proved == 32 * rounds_with_range_as_printed(10, 0.05, inverse=0.1)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(3))
def test_exploration_with_a_range_keeps_the_proved_number_of_rounds_and_not_the_printed(seed):
    # One worker alone errs at 1 - q, so h is the identity.
    world = World(seed, [0.9], 120)
    policy = {"name": "ccb-s", "alpha": 0.3, "xi": 0.2, "mu": 0.05, "bounds": "paper"}
    decided, _ = run_campaign(world, policy)
    explored = sum(note == "explore" for _, note in decided)
    assert decided[-1] == ([0], "exploit")
    assert explored <= math.ceil(rounds_with_range(1, 0.05, error="majority", xi=0.2))
    assert explored > rounds_with_range_as_printed(1, 0.05, error="majority", xi=0.2)


def test_the_bound_of_ccb_s_holds_where_the_separation_is_large():
    q = [0.97, 0.97, 0.6]
    delta = separation(q, 0.2)
    assert delta > 0.09
    for seed in range(5):
        world = World(seed, q, 700)
        best = cheapest(world.costs, q, 0.2, majority, range(3))
        decided = ccb_s(
            world,
            lambda high, among, world=world: cheapest(world.costs, high, 0.2, majority, among),
            lambda low: majority(low) <= 0.2,
            Learner(world, 0.05, "paper"),
        )
        wrong = sum(some != best for some, _ in decided)
        assert wrong <= theorem_5_4(3, 0.05, error="majority", gap=delta)


def test_regret_and_welfare_with_loss_and_reward():
    assert expected_regret(1000, 100, 0.0, 50) == 1000
    assert expected_regret(1000, 100, 1.0, 50) == 5000
    assert social_welfare(10, 0.1, 0.1, reward=100, loss=500) == -510
    assert social_welfare(10, 0.0999, 0.1, reward=100, loss=500) == 90


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theorem_4_2(0, 0.05, inverse=0.2), "workers is 0: give a whole number from 1"),
        (lambda: theorem_4_2(5, 0, inverse=0.2), "mu is 0: give a number between 0 and 1"),
        (lambda: theorem_4_2(5, 0.1, inverse=0), "inverse is 0: give a number above 0"),
        (lambda: theorem_4_2(5, 0.1), "give either inverse"),
        (lambda: theorem_4_2(5, 0.1, inverse=0.1, gap=0.1), "give either inverse"),
        (lambda: theorem_4_2(5, 0.1, error="majority", gap=0), "gap is 0: give a number above 0"),
        (
            lambda: theorem_4_2(50, 0.1, error="weighted-majority", gap=0.1),
            "error is 'weighted-majority': its smoothness is not known, give inverse",
        ),
        (lambda: corollary_4_3(5, 1, 10, 10, inverse=0.1), "tasks is 1: give a whole number"),
        (lambda: corollary_4_3(5, 9, -1, 10, inverse=0.1), "cost_of_all is -1: give an amount"),
        (lambda: corollary_5_5(5, 9, 1, -10, inverse=0.1), "loss is -10: give an amount"),
        (lambda: separation([1.2], 0.1), "qualities is 1.2: give numbers from 0 to 1"),
        (lambda: social_welfare(1, 2, 0.1, 1, 1), "error is 2: give a number from 0 to 1"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(InvalidParameter, match=message):
        call()


@given(
    st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.floats(1e-9, 0.5),
)
def test_the_lasting_interval_ends_where_the_mixture_says(record, chance):
    right, count = record
    low, high = lasting_interval(right, count, chance)
    assert (low, high) == pytest.approx(mixture_interval(right, count, chance), abs=1e-10)
    assert 0.0 <= low <= right / count <= high <= 1.0


def test_the_lasting_interval_rarely_ever_misses():
    # At most 10 in 100 of 160 runs, plus 3 standard deviations: 16 + 11.4.
    rng = np.random.default_rng(4)
    missed = 0
    for quality in (0.6, 0.9):
        answers = rng.random((80, 200)) < quality
        for run in answers:
            records = zip(np.cumsum(run).tolist(), range(1, 201), strict=True)
            ends = [lasting_interval(right, count, 0.1) for right, count in records]
            missed += any(not low <= quality <= high for low, high in ends)
    assert missed <= 27
