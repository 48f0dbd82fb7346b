"""Rules (1) and (3) of paper 004 by dynamic programming, against hand, enumeration and chance."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.core.errors import InvalidParameter
from askwise.lab.papers.crowds.theory.cheapest_rule import least_cost
from askwise.lab.papers.crowds.theory.exact_rules import (
    fixed_number,
    gap_rule,
    majority_error,
    over_gaps,
    quality_for,
)

chances = st.floats(0.5, 1.0)
qualities = st.floats(0.0, 2.5)


def enumerated(p, quality, smooth, horizon):
    """Cost, error and endings by going through all sequences of answers."""
    cost = error = right = tied = wrong = 0.0
    for answers in itertools.product((1, -1), repeat=horizon):
        chance, going, lead = p ** answers.count(1) * (1 - p) ** answers.count(-1), 1.0, 0
        for n, answer in enumerate(answers, 1):
            lead += answer
            term = quality(n) * math.sqrt(n)
            down = math.floor(term)
            up = term - down if smooth else 0.0
            # Plain: the whole lead exceeds the term if and only if it exceeds its floor.
            stops = going * ((1 - up) * (abs(lead) > down) + up * (abs(lead) > down + 1))
            cost += chance * stops * n
            error += chance * stops * (lead < 0)
            going -= stops
        cost += chance * going * horizon
        right += chance * going * (lead > 0)
        tied += chance * going * (lead == 0)
        wrong += chance * going * (lead < 0)
    return cost, error, right, tied, wrong


def flat(exact):
    return (exact.cost, exact.error, *exact.unfinished)


def test_a_plain_quality_below_one_takes_the_first_answer():
    for p in (0.5, 0.7, 1.0):
        exact = gap_rule(p, 0.99, smooth=False)
        assert flat(exact) == pytest.approx((1, 1 - p, 0, 0, 0))


def test_plain_quality_one_by_hand():
    # 1 > 1 is false; 2 > sqrt(2) stops. After a tie no lead of 1 exceeds sqrt(3), and 2 > 2 is
    # false at the fourth answer.
    p, q = 0.7, 0.3
    both = 2 * p * q
    assert flat(gap_rule(p, 1, smooth=False, horizon=1)) == pytest.approx((1, 0, p, 0, q))
    assert flat(gap_rule(p, 1, smooth=False, horizon=2)) == pytest.approx((2, q * q, 0, both, 0))
    assert flat(gap_rule(p, 1, smooth=False, horizon=3)) == pytest.approx(
        (2 * (1 - both) + 3 * both, q * q, both * p, 0, both * q)
    )
    assert flat(gap_rule(p, 1, smooth=False, horizon=4)) == pytest.approx(
        (2 * (1 - both) + 4 * both, q * q, both * p * p, both * both, both * q * q)
    )


def test_plain_quality_one_and_a_half_stops_at_the_third_answer_at_the_earliest():
    # 2 > 1.5 sqrt(2) = 2.12 is false, 3 > 1.5 sqrt(3) = 2.60 stops.
    p, q = 0.8, 0.2
    exact = gap_rule(p, 1.5, smooth=False, horizon=3)
    assert flat(exact) == pytest.approx((3, q**3, 3 * p * p * q, 0, 3 * p * q * q))
    assert exact.forced_error == pytest.approx(q**3 + 3 * p * q * q)


def test_a_smooth_quality_of_a_half_by_hand():
    # One answer: the term .5 is 0 or 1, each half the time, and 1 > 0 stops. Two answers: .707
    # is 0 or 1, a lead of 2 exceeds both. Three: the lead is 1 and .866 is 0 with .134.
    p, q = 0.9, 0.1
    stay, low = math.sqrt(3) / 2, 1 - math.sqrt(3) / 2
    assert flat(gap_rule(p, 0.5, horizon=1)) == pytest.approx((1, q / 2, p / 2, 0, q / 2))
    two = (1.5, q / 2 + q * q / 2, 0, p * q, 0)
    assert flat(gap_rule(p, 0.5, horizon=2)) == pytest.approx(two)
    three = (1.5 + p * q, two[1] + p * q * q * low, p * q * p * stay, 0, p * q * q * stay)
    assert flat(gap_rule(p, 0.5, horizon=3)) == pytest.approx(three)


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("quality", [0.0, 0.3, 0.7, 1.0, 1.3, 1.9, 4.0])
def test_all_sequences_of_answers_agree(quality, smooth):
    for p, horizon in ((0.5, 12), (0.62, 11), (1.0, 5)):
        exact = gap_rule(p, quality, smooth=smooth, horizon=horizon)
        assert flat(exact) == pytest.approx(
            enumerated(p, lambda n: quality, smooth, horizon), abs=1e-12
        )


@pytest.mark.parametrize("smooth", [True, False])
def test_all_sequences_agree_under_a_schedule(smooth):
    def schedule(n):
        return math.sqrt(math.log(2 / 0.5 * n * n))

    # The first run to stop is of five: 5 > sqrt(5 log 100) = 4.80, but 4 < sqrt(4 log 64) = 4.08.
    expected = enumerated(0.7, schedule, smooth, 12)
    assert smooth or enumerated(0.7, schedule, smooth, 5)[1] == pytest.approx(0.3**5)
    by_delta = gap_rule(0.7, smooth=smooth, schedule_delta=0.5, horizon=12)
    assert flat(by_delta) == pytest.approx(expected, abs=1e-12)
    by_hand = gap_rule(0.7, lambda n: np.sqrt(np.log(4 * n**2)), smooth=smooth, horizon=12)
    assert flat(by_hand) == flat(by_delta)


def test_simulated_questions_agree_within_four_standard_errors():
    rng = np.random.default_rng(4)
    runs = 20_000
    for p, quality, horizon in ((0.65, 1.0, 200), (0.55, 1.4, 60)):
        lead, going = np.zeros(runs, int), np.ones(runs, bool)
        taken, wrong = np.full(runs, horizon), np.zeros(runs, bool)
        for n in range(1, horizon + 1):
            lead += np.where(rng.random(runs) < p, 1, -1)
            stops = going & (np.abs(lead) > np.floor(quality * math.sqrt(n) + rng.random(runs)))
            taken[stops] = n
            wrong |= stops & (lead < 0)
            going &= ~stops
        exact = gap_rule(p, quality, horizon=horizon)
        for seen, expected in (
            (taken, exact.cost),
            (wrong, exact.error),
            (going & (lead > 0), exact.unfinished.right),
            (going & (lead == 0), exact.unfinished.tied),
            (going & (lead < 0), exact.unfinished.wrong),
        ):
            margin = 4 * np.std(seen) / math.sqrt(runs) + 1e-4
            assert abs(np.mean(seen) - expected) < margin


@given(st.lists(chances, min_size=1, max_size=6), qualities, st.booleans())
def test_probabilities_are_given_together_or_one_by_one(ps, quality, smooth):
    together = gap_rule(ps, quality, smooth=smooth, horizon=80)
    for i, p in enumerate(ps):
        alone = flat(gap_rule(p, quality, smooth=smooth, horizon=80))
        assert [each[i] for each in flat(together)] == pytest.approx(alone, abs=1e-12)
    square = gap_rule([ps], quality, smooth=smooth, horizon=80)
    assert np.shape(square.cost) == np.shape(square.forced_error) == (1, len(ps))


@given(chances, chances, qualities, st.booleans(), st.integers(1, 150))
def test_cost_and_error_fall_in_the_gap(p, other, quality, smooth, horizon):
    low, high = sorted((p, other))
    worse = gap_rule(low, quality, smooth=smooth, horizon=horizon)
    better = gap_rule(high, quality, smooth=smooth, horizon=horizon)
    assert better.cost <= worse.cost + 1e-9
    assert better.error <= worse.error + 1e-12
    assert better.forced_error <= worse.forced_error + 1e-12


@given(chances, qualities, qualities, st.booleans(), st.integers(1, 150), st.integers(0, 50))
def test_quality_and_horizon_cost_answers_and_save_errors(p, quality, other, smooth, horizon, more):
    low, high = sorted((quality, other))
    less = gap_rule(p, low, smooth=smooth, horizon=horizon)
    for longer in (
        gap_rule(p, high, smooth=smooth, horizon=horizon),
        gap_rule(p, low, smooth=smooth, horizon=horizon + more),
    ):
        assert longer.cost >= less.cost - 1e-9
        assert longer.forced_error <= less.forced_error + 1e-12


@given(chances, qualities, st.integers(1, 150))
def test_the_smooth_rule_stops_later_than_the_plain_one(p, quality, horizon):
    plain = gap_rule(p, quality, smooth=False, horizon=horizon)
    smooth = gap_rule(p, quality, horizon=horizon)
    assert smooth.cost >= plain.cost - 1e-9
    assert smooth.forced_error <= plain.forced_error + 1e-12


@given(qualities, st.booleans(), st.integers(1, 300))
def test_fair_answers_err_half_the_time(quality, smooth, horizon):
    exact = gap_rule(0.5, quality, smooth=smooth, horizon=horizon)
    assert exact.forced_error == pytest.approx(0.5)
    assert exact.unfinished.right == pytest.approx(exact.unfinished.wrong)


def test_on_fair_answers_the_mean_cost_is_bounded_below_quality_one_only():
    def growth(quality):
        costs = [gap_rule(0.5, quality, smooth=False, horizon=h).cost for h in (500, 5_000, 50_000)]
        return (costs[2] - costs[1]) / (costs[1] - costs[0])

    # Ten times the horizon: what is still added falls, or grows.
    assert gap_rule(0.5, 0.99, smooth=False).cost == 1
    assert growth(1.3) > 1
    assert growth(2) > 2


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("quality", "cost", "error"),
    [(0.5, 2.06, 18.8), (1, 7.67, 8.94), (1.5, 25.7, 3.34), (2, 60.4, 0.81), (3, 162.8, 0.021)],
)
def test_gaps_as_in_appendix_c(quality, cost, error):
    exact = over_gaps(0.05, 1, quality)
    assert exact.cost == pytest.approx(cost, rel=0.002)
    assert 100 * exact.error == pytest.approx(error, rel=0.02 if quality == 3 else 0.006)
    assert sum(exact.unfinished) < 1e-12


@pytest.mark.parametrize(
    ("reading", "cost", "fixed"), [("gap", 17.6, 31.26), ("printed", 3.32, 6.70)]
)
def test_eight_workers_reach_five_per_cent_only_as_printed(reading, cost, fixed):
    # Paper 004, appendix C; and a fixed number of workers, about twice as many.
    quality = quality_for(0.05, 0.05, 1, reading=reading, horizon=10_000)
    exact = over_gaps(0.05, 1, quality, reading=reading, horizon=10_000)
    assert exact.error == pytest.approx(0.05, rel=1e-4)
    assert exact.cost == pytest.approx(cost, abs=0.02)
    assert fixed_number(0.05, 1, 0.05, reading=reading) == pytest.approx(fixed, abs=0.01)


@pytest.mark.parametrize("reading", ["gap", "printed"])
def test_the_quadrature_agrees_with_a_fine_grid(reading):
    middles = 0.05 + 0.95 * (np.arange(4000) + 0.5) / 4000
    p = (1 + middles) / 2 if reading == "gap" else np.minimum(1, 0.5 + middles)
    grid = gap_rule(p, 1, horizon=300)
    exact = over_gaps(0.05, 1, 1, reading=reading, horizon=300)
    means = [np.mean(each) for each in flat(grid)]
    assert flat(exact) == pytest.approx(means, rel=1e-5, abs=1e-9)


def test_a_range_of_one_gap_is_that_gap():
    assert flat(over_gaps(0.3, 0.3, 1.2)) == pytest.approx(flat(gap_rule(0.65, 1.2)))
    wide = over_gaps(0.3, 0.3, 1.2, reading="printed")
    assert flat(wide) == pytest.approx(flat(gap_rule(0.8, 1.2)))
    sure = over_gaps(0.6, 0.9, 1.2, reading="printed")
    assert flat(sure) == pytest.approx(flat(gap_rule(1.0, 1.2)))


def by_binomials(p, n):
    terms = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    return sum(t * (1.0 if 2 * k < n else 0.5 if 2 * k == n else 0.0) for k, t in enumerate(terms))


@given(st.floats(0, 1), st.integers(0, 60))
def test_a_majority_errs_as_the_binomial_says(gap, n):
    for p, reading in (((1 + gap) / 2, "gap"), (min(1, 0.5 + gap), "printed")):
        expected = by_binomials(p, n)
        assert majority_error(gap, gap, n, reading=reading) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("reading", ["gap", "printed"])
def test_a_majority_over_gaps_is_the_mean_of_majorities(reading):
    gaps = 0.05 + 0.95 * (np.arange(2000) + 0.5) / 2000
    for n in (1, 2, 7, 40):
        mean = np.mean([majority_error(g, g, n, reading=reading) for g in gaps])
        assert majority_error(0.05, 1, n, reading=reading) == pytest.approx(mean, rel=1e-5)


@given(st.floats(0.02, 1), st.floats(1e-6, 0.4))
def test_a_fixed_number_meets_the_error_by_drawing_between_two_odd_numbers(gap, error):
    number = fixed_number(gap, gap, error)
    low = 2 * math.floor((number - 1) / 2) + 1
    share = (number - low) / 2
    mixed = (1 - share) * majority_error(gap, gap, low) + share * majority_error(gap, gap, low + 2)
    assert mixed == pytest.approx(error, rel=1e-6) or (number == 1 and mixed <= error)


@given(st.floats(0.05, 0.9), st.floats(0.01, 0.3), st.booleans())
@settings(max_examples=25)
def test_a_tuned_quality_is_the_least_that_keeps_its_error(gap, error, smooth):
    horizon = math.ceil(fixed_number(gap, gap, error)) + 2
    horizon = min(horizon, 400)
    if majority_error(gap, gap, horizon) > error:
        with pytest.raises(InvalidParameter, match="error"):
            quality_for(error, gap, gap, smooth=smooth, horizon=horizon)
        return
    quality = quality_for(error, gap, gap, smooth=smooth, horizon=horizon)
    p = (1 + gap) / 2
    assert gap_rule(p, quality, smooth=smooth, horizon=horizon).forced_error <= error
    if quality > 2e-6:
        less = gap_rule(p, quality - 2e-6, smooth=smooth, horizon=horizon).forced_error
        assert less > error * (1 - 1e-4)


def hull(points, error):
    """Least cost of a mixture of points (error, cost) with at most that error."""
    best = min((cost for e, cost in points if e <= error), default=math.inf)
    for (e, c), (f, d) in itertools.product(points, points):
        if e <= error < f:
            best = min(best, c + (d - c) * (error - e) / (f - e))
    return best


@pytest.mark.parametrize(("gap", "least"), [(0.4, 0.4), (0.6, 0.2), (0.97, 0.1)])
def test_no_rule_of_five_answers_costs_less_than_the_least(gap, least):
    p, p_0 = (1 + gap) / 2, (1 + least) / 2
    places = [(n, lead) for n in range(1, 5) for lead in range(n % 2, n + 1, 2)]
    points = []
    for stops in itertools.product((True, False), repeat=len(places)):
        stop = dict(zip(places, stops, strict=True))
        cost, error = 0.0, 0.0
        here = {0: (1.0, 1.0)}
        for n in range(1, 6):
            then: dict[int, tuple[float, float]] = {}
            for lead, (a, b) in here.items():
                cost += a
                for to, x, y in ((lead + 1, p, p_0), (lead - 1, 1 - p, 1 - p_0)):
                    c, d = then.get(to, (0.0, 0.0))
                    then[to] = (c + a * x, d + b * y)
            here = {}
            for lead, (a, b) in then.items():
                if n == 5 or stop[n, abs(lead)]:
                    error += b * (1.0 if lead < 0 else 0.5 if lead == 0 else 0.0)
                else:
                    here[lead] = (a, b)
        points.append((error, cost))
    fewest = majority_error(least, least, 5)
    for part in (0.05, 0.3, 0.6, 0.9):
        error = fewest + part * ((1 - least) / 2 - fewest)
        found = least_cost(gap, error, 5, least_gap=least)
        assert found == pytest.approx(hull(points, error), rel=1e-5)


@given(st.floats(0.1, 0.9), st.floats(0.3, 1), st.floats(0.01, 0.2))
@settings(max_examples=20)
def test_rule_3_and_majorities_cost_no_less_than_the_least(gap, part, error):
    least, horizon = part * gap, 61
    if majority_error(least, least, horizon) > error:
        return
    bound = least_cost(gap, error, horizon, least_gap=least)
    quality = quality_for(error, least, least, horizon=horizon)
    assert bound <= gap_rule((1 + gap) / 2, quality, horizon=horizon).cost + 1e-6
    assert bound <= fixed_number(least, least, error) + 1e-6


def test_a_quality_beyond_what_can_be_computed_is_refused_not_guessed():
    with pytest.raises(InvalidParameter, match="quality"):
        gap_rule(0.9, 60)
    assert gap_rule(0.9, 30).cost == pytest.approx(1406, rel=0.01)
    never = gap_rule(0.8, 1e300, horizon=7)
    assert (never.cost, never.forced_error) == pytest.approx((7, majority_error(0.6, 0.6, 7)))


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: gap_rule(0.4, 1), "p"),
        (lambda: gap_rule([0.6, 1.1], 1), "p"),
        (lambda: gap_rule([], 1), "p"),
        (lambda: gap_rule(math.nan, 1), "p"),
        (lambda: gap_rule(0.6), "quality"),
        (lambda: gap_rule(0.6, 1, schedule_delta=0.1), "quality"),
        (lambda: gap_rule(0.6, -1), "quality"),
        (lambda: gap_rule(0.6, math.nan), "quality"),
        (lambda: gap_rule(0.6, lambda n: 1 / n), "quality"),
        (lambda: gap_rule(0.6, schedule_delta=1), "schedule_delta"),
        (lambda: gap_rule(0.6, 1, horizon=0), "horizon"),
        (lambda: over_gaps(-0.1, 1, 1), "low"),
        (lambda: over_gaps(0.5, 0.4, 1), "high"),
        (lambda: over_gaps(0.5, 0.6, 1, reading="coin"), "reading"),
        (lambda: majority_error(0.1, 0.2, -1), "answers"),
        (lambda: fixed_number(0.1, 0.2, 0.5), "error"),
        (lambda: fixed_number(0, 0, 0.1), "high"),
        (lambda: quality_for(0.001, 0.1, 0.1, horizon=9), "error"),
        (lambda: least_cost(0.3, 0.01, 9), "error"),
        (lambda: least_cost(1, 0.01, 9), "gap"),
        (lambda: least_cost(0.3, 0.1, 99, least_gap=0.4), "least_gap"),
    ],
)
def test_input_without_a_value_is_refused_by_name(call, field):
    with pytest.raises(InvalidParameter, match=field) as caught:
        call()
    assert caught.value.field == field
