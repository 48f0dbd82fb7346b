"""What holds of the proofs in section 5 of paper 003, and what does not."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.lab.papers.bounded.theory import (
    density_spread,
    theorem_1,
)
from tests.lab.papers.bounded.cases import cases, harmonic


@given(cases(), st.floats(0.01, 1))
def test_eq_10_exceeds_the_optimum_up_to_very_many_rounds(case, part):
    _, prices, means, beta = case
    best = max(np.divide(means, prices))
    level = -math.log((1 - beta ** (1 / len(prices))) / 2)
    rounds = 4 * len(prices) ** 2 * level / best**2
    budget = part * rounds * sum(prices)
    # No plan is worth more than all the money at the best density.
    assert all(theorem_1(e, budget, prices, means, beta) > budget * best for e in (0.1, 0.5, 1))
    # Much later it lies below: at .1 of a budget of 1e6 times that.
    budget = 1e6 * rounds * sum(prices)
    assert theorem_1(0.1, budget, prices, means, beta) < budget * best


def test_the_harmonic_sum_exceeds_the_logarithm():
    gaps = [harmonic(n) - math.log(n) for n in range(2, 400)]
    assert gaps[0] == pytest.approx(0.3069, abs=1e-4)
    assert all(a > b > np.euler_gamma - 0.5 for a, b in itertools.pairwise(gaps))
    below = [n for n in range(2, 400) if harmonic(n, n - 1) <= math.log(n)]
    assert below == [2, 3, 4, 5, 6]


def test_the_harmonic_sum_must_run_to_n_for_rejects_to_keep_the_budget():
    # Equal prices of one: n_k = money / (H (N + 1 - k)), n_N = n_(N-1), floors left out.
    for n, times in [(2, 2.0), (3, 4 / 3), (10, 1.0429)]:
        pulls = sum(1 / (n + 1 - k) for k in range(1, n)) + 1 / 2
        assert pulls / harmonic(n) == pytest.approx(1)
        assert pulls / harmonic(n, n - 1) == pytest.approx(times, abs=1e-4)


def test_the_sum_of_roots_is_bounded_with_two_and_not_with_one():
    def roots(n):
        return math.sqrt(2) + sum(math.sqrt(j) for j in range(2, n + 1))

    def bound(n, more):
        return n * math.sqrt((n * (n + 1) + more) / (2 * n)) * (1 + 1e-12)

    assert [n for n in range(2, 200) if roots(n) > bound(n, 1)] == [2, 3, 4]
    assert all(roots(n) <= bound(n, 2) <= n * math.sqrt((n + 3) / 2) for n in range(2, 200))

    def excess(n):  # the two sides of Eq. (25), the right one with ln N
        right = n * math.sqrt((n + 3) / 2) * math.sqrt(math.log(n))
        return roots(n) * math.sqrt(harmonic(n)) / right

    assert excess(2) == pytest.approx(1.0743, abs=1e-4)
    assert all(excess(n) < 0.97 for n in range(3, 200))


@given(st.integers(2, 10_000), st.floats(math.log(2), 50))
def test_the_constant_of_eq_21_covers_what_its_proof_leaves_out(n, level):
    h = 0.5 + float(np.sum(1 / np.arange(2, n + 1)))
    proved = n * h * (level + math.log(n - 1))
    assert proved < n**2 * (n + 3) * math.log(n) / 2 * level


def fractional(values, prices, limits, money):
    """The best fractional plan: by density."""
    plan = np.zeros(len(prices))
    for j in np.argsort(-np.divide(values, prices), kind="stable"):
        plan[j] = min(limits[j], money / prices[j])
        money -= plan[j] * prices[j]
    return plan


def greedy(values, prices, limits, money):
    """Bounded greedy: by density, whole pulls."""
    plan = np.zeros(len(prices), int)
    for j in np.argsort(-np.divide(values, prices), kind="stable"):
        plan[j] = min(limits[j], money // prices[j])
        money -= plan[j] * prices[j]
    return plan


def optimum(means, prices, limits, money):
    """The best whole plan's value, by trying all."""
    plans = itertools.product(*(range(int(each) + 1) for each in limits))
    return max(np.dot(p, means) for p in plans if np.dot(p, prices) <= money + 1e-9)


def test_lemma_3_fails_once_limits_bind():
    # Explored (2, 2): the better worker is used up, and Eq. (8) has only the other one.
    means, prices, limits, explored = [1.0, 0.1], [2, 2], np.array([2, 10]), np.array([2, 2])
    plan = fractional(means, prices, limits - explored, 12)
    assert optimum(means, prices, limits, 12) == pytest.approx(2.4)
    assert np.dot(plan, means) == pytest.approx(0.6)


def test_eq_14_fails_once_the_cheapest_worker_is_used_up():
    # Densities .1; 14.6 explores one round (4.5 + 10) and 9.9 remains, for 4.5 only.
    means, prices, limits, explored, rest = [0.45, 1.0], [4.5, 10.0], [1, 10], 14.6, 9.9
    assert explored >= sum(prices)
    left = optimum(means, prices, limits, explored + rest)
    right = explored * 0.1 + optimum(means, prices, limits, rest) + 4.5 * 0.1
    assert left == pytest.approx(2.45)
    assert right == pytest.approx(1.46 + 0.45 + 0.45)


def explore(prices, limits, money):
    """Whole rounds of all who may, then from the cheapest up."""
    pulls = np.zeros(len(prices), int)
    while (may := pulls < limits).any() and prices[may].sum() <= money:
        pulls += may
        money -= prices[may].sum()
    for j in np.argsort(prices, kind="stable"):
        if pulls[j] < limits[j] and prices[j] <= money:
            pulls[j] += 1
            money -= prices[j]
    return pulls


def campaigns():
    """Small random campaigns with limits that bind: what was bought, by noisy estimates."""
    rng = np.random.default_rng(3)
    for _ in range(400):
        n = int(rng.integers(2, 4))
        prices = rng.integers(2, 10, n)
        limits = rng.integers(1, 7, n)
        means = rng.uniform(size=n)
        budget = int(rng.integers(prices.sum(), 80))
        epsilon = float(rng.uniform(prices.sum() / budget, 1))
        pulls = explore(prices, limits, epsilon * budget)
        seen = rng.binomial(pulls, means) / pulls
        rest = budget - int(pulls @ prices)
        plan = greedy(seen, prices, limits - pulls, rest)
        regret = optimum(means, prices, limits, budget) - means @ (pulls + plan)
        yield epsilon, budget, prices, means, pulls, seen, rest, regret


def test_the_mended_proof_of_theorem_1_holds_on_small_campaigns_with_limits():
    for epsilon, budget, prices, means, pulls, seen, rest, regret in campaigns():
        spent = pulls @ prices
        assert spent <= epsilon * budget
        errors = np.abs(seen - means).max() * 2 * rest / prices.min()
        assert regret <= 1 + spent * density_spread(means, prices) + errors + 1e-9


def test_theorem_1_holds_on_small_campaigns_with_limits():
    for epsilon, budget, prices, means, *_, regret in campaigns():
        assert regret <= theorem_1(epsilon, budget, prices, means, 0.5)
