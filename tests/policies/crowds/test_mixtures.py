"""Section 5 of paper 004: mixtures of crowds against grids, linear programs and the lemmas."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from askwise.core.compiling import bind
from askwise.core.errors import InvalidParameter
from askwise.policies.crowds import mixtures
from askwise.policies.crowds.grid import members_of, points, shares_of
from askwise.policies.crowds.mixtures import best_mixture, best_mixture_any, induced_gap, mixture

SIZES = list(itertools.product(range(1, 6), range(2, 5)))
# Steps of the grid over the simplex: some 10,000 points for each number of crowds.
STEPS = {1: 1, 2: 10_000, 3: 140, 4: 36, 5: 20}


def instance(k, n, seed, equal=False):
    """Crowds of any quality, most of them with option 0 in front; prices from 1 to 4."""
    rng = np.random.default_rng([k, n, seed])
    responses = rng.dirichlet(np.ones(n), size=k)
    # A crowd with another option first joins no mixture, as a rule: lean towards option 0.
    responses[:, 0] += rng.uniform(0, 0.5, size=k)
    responses /= responses.sum(axis=1, keepdims=True)
    return responses, np.ones(k) if equal else rng.uniform(1, 4, size=k)


def instances(k, n, number):
    return [instance(k, n, seed, equal) for seed in range(number) for equal in (True, False)]


def solve(responses, prices, option, usable=None):
    crowds = len(prices)
    usable = np.ones(crowds, np.int8) if usable is None else np.array(usable, np.int8)
    weights = np.full(crowds, np.nan)
    value = best_mixture(responses, prices, usable, option, weights)
    return value, weights


def solve_any(responses, prices, usable=None):
    crowds = len(prices)
    usable = np.ones(crowds, np.int8) if usable is None else np.array(usable, np.int8)
    weights = np.full(crowds, np.nan)
    option = best_mixture_any(responses, prices, usable, np.full(crowds, np.nan), weights)
    return option, weights


def gaps(responses, option, mus):
    """Induced gaps of many distributions, by the definition."""
    mixed = np.atleast_2d(mus) @ responses
    return mixed[:, option] - np.delete(mixed, option, axis=1).max(axis=1)


def values(responses, prices, option, mus):
    return gaps(responses, option, mus) / np.sqrt(np.atleast_2d(mus) @ prices)


def grid(k):
    """All distributions over k crowds in whole steps: stars and bars."""
    steps = STEPS[k]
    ends = [
        (-1, *bars, steps + k - 1) for bars in itertools.combinations(range(steps + k - 1), k - 1)
    ]
    return (np.diff(np.array(ends), axis=1) - 1) / steps


def largest(responses, option, prices, t):
    """Max over mu of 2 t f(mu) - t^2 c.mu, by linear programming over (mu, f)."""
    k, n = responses.shape
    ahead = responses[:, [option]] - np.delete(responses, option, axis=1)
    found = linprog(
        np.append(t * t * prices, -2 * t),
        A_ub=np.hstack([-ahead.T, np.ones((n - 1, 1))]),
        b_ub=np.zeros(n - 1),
        A_eq=[np.append(np.ones(k), 0)],
        b_eq=[1],
        bounds=[(0, None)] * k + [(None, None)],
    )
    assert found.success
    return -found.fun


def corners(responses, prices, option):
    """Every corner of the arrangement, of any number of crowds, with its value."""
    k, n = responses.shape
    others = [y for y in range(n) if y != option]
    found = []
    for size in range(1, min(k, n - 1) + 1):
        for crowds in itertools.combinations(range(k), size):
            for tied in itertools.combinations(others, size):
                rows = [np.ones(size)]
                rows += [responses[crowds, tied[0]] - responses[crowds, y] for y in tied[1:]]
                system = np.array(rows)
                if abs(np.linalg.det(system)) < 1e-12:
                    continue
                part = np.linalg.solve(system, np.eye(size)[0])
                if part.min() >= 0:
                    mu = np.zeros(k)
                    mu[list(crowds)] = part
                    found.append((values(responses, prices, option, mu)[0], mu))
    return found


@st.composite
def surveys(draw, crowds=5, least=2, options=4):
    """Response distributions with round frequencies, so that ties are common; round prices."""
    k, n = draw(st.integers(1, crowds)), draw(st.integers(least, options))
    counts = st.lists(st.integers(0, 12), min_size=n, max_size=n).filter(any)
    rows = np.array(draw(st.lists(counts, min_size=k, max_size=k)), dtype=float)
    prices = draw(st.lists(st.sampled_from([0.5, 1, 2, 3]), min_size=k, max_size=k))
    option = draw(st.integers(0, n - 1))
    return rows / rows.sum(axis=1, keepdims=True), np.array(prices, dtype=float), option


@pytest.mark.parametrize(("k", "n"), SIZES)
def test_no_distribution_on_a_fine_grid_is_better(k, n):
    mus = grid(k)
    for responses, prices in instances(k, n, 6):
        for option in range(n):
            value, weights = solve(responses, prices, option)
            on_grid = values(responses, prices, option, mus)
            if on_grid.max() > 0:
                assert value >= on_grid.max() - 1e-12
                # The value is that of a distribution, so it is the maximum.
                assert weights.sum() == pytest.approx(1)
                assert value == pytest.approx(values(responses, prices, option, weights)[0])
                # A point of the grid is within k / steps in sum, and so are the two gaps; prices
                # from 1 to 4 differ by at most 3/2 of it, which the root of one or more halves.
                assert value <= on_grid.max() + 2 * k / STEPS[k]


@pytest.mark.parametrize(("k", "n"), SIZES)
def test_at_equal_prices_the_gap_is_that_of_the_linear_program(k, n):
    for seed in range(4):
        responses, prices = instance(k, n, seed, equal=True)
        for option in range(n):
            value, _ = solve(responses, prices, option)
            # With t = 1 the program's value is 2 f - 1.
            due = (largest(responses, option, prices, 1.0) + 1) / 2
            if due > 1e-9:
                assert value == pytest.approx(due, abs=1e-9)
            else:
                assert value <= 1e-9


@pytest.mark.parametrize(("k", "n"), SIZES)
def test_at_unequal_prices_linear_programs_bound_it_and_attain_it(k, n):
    # f^2 / c = max over t of 2 t f - t^2 c, at t = f / c: for each t a linear program in mu,
    # whose value the optimum's square bounds from above, and attains at its own t.
    for seed in range(2):
        responses, prices = instance(k, n, seed)
        value, weights = solve(responses, prices, 0)
        if value > 0:
            own = gaps(responses, 0, weights)[0] / (weights @ prices)
            assert largest(responses, 0, prices, own) == pytest.approx(value**2, abs=1e-9)
            for t in np.linspace(0.02, 1, 15):
                assert largest(responses, 0, prices, t) <= value**2 + 1e-9


@pytest.mark.checked
@given(surveys())
def test_it_is_the_best_corner_of_the_arrangement(survey):
    responses, prices, option = survey
    value, weights = solve(responses, prices, option)
    due = max(found for found, _ in corners(responses, prices, option))
    if due > 1e-9:
        assert value == pytest.approx(due, abs=1e-9)
        assert values(responses, prices, option, weights)[0] == pytest.approx(due, abs=1e-9)


@pytest.mark.parametrize("eps", [0.001, 0.02, 0.1])
def test_lemma_6_the_even_mixture_of_two_crowds_with_small_gaps_has_a_large_one(eps):
    responses = np.array([[0.4 + eps, 0.4, 0.2 - eps], [0.4 + eps, 0.2 - eps, 0.4]])
    weights, gap = mixture(responses)
    assert weights == pytest.approx([0.5, 0.5])
    assert gap == pytest.approx(1 / 10 + 1.5 * eps)
    for crowd in range(2):
        assert induced_gap(responses, 0, np.eye(2)[crowd]) == pytest.approx(eps)


def test_a_mixture_with_prices_by_hand():
    # Ahead by (.1, .4) and (.4, .1), at prices 1 and 3: alone .1 and .1/sqrt(3); evenly .25 at
    # a mean price of 2. Dearer by half, still worth it: .25/sqrt(2) = .177.
    responses = np.array([[0.5, 0.4, 0.1], [0.5, 0.1, 0.4]])
    value, weights = solve(responses, np.array([1.0, 3.0]), 0)
    assert weights == pytest.approx([0.5, 0.5])
    assert value == pytest.approx(0.25 / math.sqrt(2))
    # At 1 and 30 the mean price is 15.5 and .25/sqrt(15.5) = .063: no longer.
    value, weights = solve(responses, np.array([1.0, 30.0]), 0)
    assert weights.tolist() == [1, 0]
    assert value == pytest.approx(0.1)


def test_two_weak_crowds_at_prices_one_and_two_are_mixed_where_their_leads_meet():
    # A share a of the first leads by .02 a + .18 (1 - a) and .33 a + .02 (1 - a), at a mean price
    # of 2 - a. The leads meet at a = 16/47: before, the second is less and rises; after, the first
    # is less and falls faster than the root of the price. Alone: .02 and .02/sqrt(2).
    responses = np.array([[0.45, 0.43, 0.12], [0.40, 0.22, 0.38]])
    value, weights = solve(responses, np.array([1.0, 2.0]), 0)
    assert weights == pytest.approx([16 / 47, 31 / 47])
    assert value == pytest.approx((0.18 - 0.16 * 16 / 47) / math.sqrt(2 - 16 / 47))
    # On VirtUniform's grid of thirds the mixture beside it is best, by gap per root of mean price.
    worth = []
    for arm in range(points(2, 3)):
        members, shares = np.empty(3, np.int64), np.empty(2)
        members_of(arm, 3, 2, members)
        shares_of(members, shares)
        first, second, _ = np.sort(shares @ responses)[::-1]
        worth.append((first - second) / math.sqrt(shares @ [1, 2]))
    assert worth == pytest.approx(
        [0.02, 0.0733 / 1.1547, 0.12333 / 1.29099, 0.02 / 1.41421], abs=1e-4
    )


def test_three_crowds_that_each_err_in_their_own_way_are_mixed_evenly():
    # Each confuses option 0 with another one: .4 - .4 alone, .4 - .2 together.
    responses = np.array([[0.4, 0.4, 0.1, 0.1], [0.4, 0.1, 0.4, 0.1], [0.4, 0.1, 0.1, 0.4]])
    weights, gap = mixture(responses)
    assert weights == pytest.approx([1 / 3] * 3)
    assert gap == pytest.approx(0.2)
    # Without one of them .4 - .25 remains.
    for absent in range(3):
        value, weights = solve(responses, np.ones(3), 0, 1 - np.eye(3)[absent])
        assert weights == pytest.approx((1 - np.eye(3)[absent]) / 2)
        assert value == pytest.approx(0.15)


def test_with_five_options_a_mix_of_four_crowds_is_out_of_reach():
    # As above with four ways to err: evenly .4 - .15 = .25 in the first option's favour, with
    # three crowds the fourth option is no rival and the others have .6/3 = .2.
    responses = np.full((4, 5), 0.0)
    responses[:, 0] = 0.4
    responses[:, 1:] = np.eye(4) * 0.6
    weights, gap = mixture(responses)
    assert gaps(responses, 0, np.full(4, 0.25))[0] == pytest.approx(0.25)
    assert weights == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    assert gap == pytest.approx(0.2)


@given(surveys(options=2))
def test_lemma_7_with_two_options_a_single_crowd_is_best(survey):
    responses, prices, option = survey
    eps = responses[:, option] - responses[:, 1 - option]
    assume(eps.max() > 0)
    _, weights = solve(responses, prices, option)
    costs = [c / e**2 if e > 0 else math.inf for c, e in zip(prices, eps, strict=True)]
    assert sorted(weights)[-1] == 1
    assert sum(weights) == 1
    assert costs[int(weights.argmax())] == pytest.approx(min(costs))


@given(surveys(), st.data())
def test_only_usable_crowds_take_part_and_the_others_do_not_matter(survey, data):
    responses, prices, option = survey
    k = len(prices)
    usable = data.draw(st.lists(st.integers(0, 1), min_size=k, max_size=k).filter(any))
    value, weights = solve(responses, prices, option, usable)
    kept = np.flatnonzero(usable)
    due, among = solve(responses[kept], prices[kept], option)
    assert value == due
    assert weights[kept].tolist() == among.tolist()
    assert weights.sum() == among.sum()
    best, weights = solve_any(responses, prices, usable)
    assert best == solve_any(responses[kept], prices[kept])[0]
    assert not weights[np.array(usable) == 0].any()


def test_without_a_usable_crowd_there_is_no_mixture():
    responses, prices = instance(3, 3, 0)
    value, weights = solve(responses, prices, 0, [0, 0, 0])
    assert value == -math.inf
    assert weights.tolist() == [0, 0, 0]
    option, weights = solve_any(responses, prices, [0, 0, 0])
    assert option == -1
    assert weights.tolist() == [0, 0, 0]


def test_an_option_nobody_prefers_gets_the_best_single_crowd():
    # Behind by .4, .2 and .2; per root of the price by .4, .1 and .1: the second, not the third.
    responses = np.array([[0.2, 0.6, 0.2], [0.3, 0.2, 0.5], [0.3, 0.2, 0.5]])
    value, weights = solve(responses, np.array([1.0, 4.0, 4.0]), 0)
    assert weights.tolist() == [0, 1, 0]
    assert value == pytest.approx(-0.1)


def test_equal_crowds_leave_it_to_the_first():
    responses = np.tile([0.5, 0.3, 0.1, 0.1], (4, 1))
    _, weights = solve(responses, np.ones(4), 0)
    assert weights.tolist() == [1, 0, 0, 0]


def test_equal_options_leave_it_to_the_lowest():
    # Two crowds, each sure of an option of its own.
    option, weights = solve_any(np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]), np.ones(2))
    assert option == 1
    assert weights.tolist() == [0, 1]


@given(surveys())
def test_the_best_option_is_the_first_with_the_largest_value(survey):
    responses, prices, _ = survey
    option, weights = solve_any(responses, prices)
    found = [solve(responses, prices, x) for x in range(responses.shape[1])]
    each = [value for value, _ in found]
    assert option == each.index(max(each))
    assert weights.tolist() == found[option][1].tolist()


@given(surveys(options=6))
def test_the_weights_are_a_distribution_over_at_most_three_crowds(survey):
    responses, prices, option = survey
    _, weights = solve(responses, prices, option)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert np.count_nonzero(weights) <= min(3, responses.shape[1] - 1)


@given(surveys(options=6))
def test_it_is_never_worse_than_a_single_crowd(survey):
    responses, prices, option = survey
    value, _ = solve(responses, prices, option)
    assert value >= values(responses, prices, option, np.eye(len(prices))).max() - 1e-15


@given(surveys(least=3), st.randoms())
def test_permuted_crowds_have_permuted_weights(survey, random):
    responses, prices, option = survey
    found = sorted(corners(responses, prices, option), key=lambda corner: -corner[0])
    best, mu = found[0]
    assume(best > 1e-9)
    # Where several distributions are equally good, the order of crowds decides.
    assume(all(np.abs(mu - other).max() < 1e-9 for value, other in found if value > best - 1e-9))
    order = list(range(len(prices)))
    random.shuffle(order)
    value, weights = solve(responses, prices, option)
    again, permuted = solve(responses[order], prices[order], option)
    assert again == pytest.approx(value, abs=1e-12)
    assert permuted == pytest.approx(weights[order], abs=1e-9)


@given(surveys(), st.sampled_from([0.25, 4.0, 16.0]))
def test_the_currency_does_not_matter(survey, rate):
    # Powers of 4, so that not even rounding differs.
    responses, prices, option = survey
    value, weights = solve(responses, prices, option)
    other, same = solve(responses, prices * rate, option)
    assert other * math.sqrt(rate) == value
    assert same.tolist() == weights.tolist()


def plain(name):
    kernel = getattr(mixtures, name)
    return getattr(kernel, "py_func", kernel)


@pytest.mark.compiled
@pytest.mark.checked
@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_compiled_and_plain_agree_to_the_last_bit(n):
    # Kernels run plain until that has cost something: rebuilt, they compile at once.
    compiled = bind(best_mixture, "mixtures test")
    compiled_any = bind(best_mixture_any, "mixtures test")
    rng = np.random.default_rng(n)
    for k in range(1, 6):
        scratch, ours, theirs = np.zeros(k), np.zeros(k), np.zeros(k)
        for responses, prices in instances(k, n, 10):
            usable = (rng.random(k) < 0.9).astype(np.int8)
            for option in range(n):
                due = plain("best_mixture")(responses, prices, usable, option, ours)
                assert compiled(responses, prices, usable, option, theirs) == due
                assert theirs.tobytes() == ours.tobytes()
            due = plain("best_mixture_any")(responses, prices, usable, scratch, ours)
            assert compiled_any(responses, prices, usable, scratch, theirs) == due
            assert theirs.tobytes() == ours.tobytes()


@given(surveys(), st.booleans())
def test_the_function_for_users_gives_what_the_kernels_give(survey, known):
    responses, prices, option = survey
    weights, gap = mixture(responses.tolist(), prices.tolist(), option if known else None)
    if known:
        _, due = solve(responses, prices, option)
    else:
        option, due = solve_any(responses, prices)
    assert weights.tolist() == due.tolist()
    assert gap == pytest.approx(gaps(responses, option, due)[0], abs=1e-15)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (([[0.5, 0.6]],), "responses"),
        (([[1.5, -0.5]],), "responses"),
        (([[math.nan, 1.0]],), "responses"),
        (([[1.0]],), "responses"),
        (([0.5, 0.5],), "responses"),
        (([],), "responses"),
        (([[0.5, 0.5], [1.0]],), "responses"),
        (([[0.5, 0.5]], [0.0]), "prices"),
        (([[0.5, 0.5]], [math.inf]), "prices"),
        (([[0.5, 0.5]], [1.0, 1.0]), "prices"),
        (([[0.5, 0.5]], ["dear"]), "prices"),
        (([[0.5, 0.5]], None, 2), "option"),
        (([[0.5, 0.5]], None, -1), "option"),
        (([[0.5, 0.5]], None, True), "option"),
    ],
)
def test_bad_input_is_named(arguments, field):
    with pytest.raises(InvalidParameter, match=field) as caught:
        mixture(*arguments)
    assert caught.value.field == field
