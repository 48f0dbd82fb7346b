"""Appendix B of paper 004: equation 4, lemma 10, horizons and theorem 9."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from askwise.core.errors import InvalidParameter
from askwise.lab.papers.crowds.theory.appendix_b import (
    benchmark,
    equation_4,
    horizon_for,
    lemma_10,
    theorem_9a,
    theorem_9b,
)
from askwise.lab.papers.crowds.theory.bounds import (
    theorem_2,
    theorem_8,
)
from askwise.lab.papers.crowds.theory.cheapest_rule import least_cost
from askwise.lab.papers.crowds.theory.exact_rules import gap_rule, majority_error, quality_for


def test_equation_4_fails_for_a_rule_that_looks_at_the_order_of_answers():
    # Stops after 30 answers if some option has 8 of the first 10 and 14 in all, with the other.
    def errs(first, then):
        return binom.pmf(8, 10, first) * binom.pmf(6, 20, then)

    single = max(errs(p, p) for p in np.linspace(0.5, 1, 2001))
    both = errs(0.8, 0.5 + 1e-9)
    assert single == pytest.approx(0.00162, abs=1e-5)
    assert both == pytest.approx(0.01116, abs=1e-5)
    assert both > equation_4(single, 2)


def test_equation_4_holds_for_rule_1_on_answers_of_two_crowds_in_turn():
    # Only the lead counts: exact for the total crowd, by a walk whose chances alternate.
    quality, horizon = 1.2, 60
    for first, second in ((0.55, 0.9), (0.6, 0.6), (0.9, 0.55)):
        here, error = {0: 1.0}, 0.0
        for n in range(1, horizon + 1):
            p = first if n % 2 else second
            then: dict[int, float] = {}
            for lead, chance in here.items():
                then[lead + 1] = then.get(lead + 1, 0.0) + chance * p
                then[lead - 1] = then.get(lead - 1, 0.0) + chance * (1 - p)
            halted = {lead for lead in then if abs(lead) > quality * math.sqrt(n)}
            error += sum(then[lead] for lead in halted if lead < 0)
            here = {lead: chance for lead, chance in then.items() if lead not in halted}
        worst = gap_rule(min(first, second), quality, smooth=False, horizon=horizon).error
        assert error <= worst + 1e-12


def test_equation_4_and_lemma_10_by_hand():
    assert equation_4(0.02, 4) == pytest.approx(0.1)
    assert lemma_10(0.05, 3) == pytest.approx(0.05 * 0.7)
    assert lemma_10(0.05, 3, sharp=True) == pytest.approx(0.05 * 0.81)
    assert lemma_10(0.0, 3) == 0


@given(st.floats(0.02, 1), st.floats(0.001, 0.5))
def test_the_horizon_is_the_least_odd_majority(least, rho):
    T = horizon_for(rho, least)
    assert T % 2 == 1
    assert majority_error(least, least, T) <= rho * (1 + 1e-9)
    assert T == 1 or majority_error(least, least, T - 2) > rho
    assert horizon_for(rho, min(1, 1.1 * least)) <= T


@pytest.mark.parametrize(
    ("quality", "reaches"), [(0.8, False), (1.5, False), (2.5, True), (9, True)]
)
def test_no_quality_reaches_the_error_before_that_horizon(quality, reaches):
    rho, least = 0.1, 0.3
    T = horizon_for(rho, least)
    p = (1 + least) / 2
    assert gap_rule(p, quality, smooth=False, horizon=T - 2).forced_error > rho
    assert (gap_rule(p, quality, smooth=False, horizon=T).forced_error <= rho) == reaches


def test_over_all_gaps_there_is_no_horizon():
    assert horizon_for(0.499, 0) == math.inf
    assert horizon_for(0.5, 0) == 1
    assert horizon_for(0, 0.3) == math.inf
    assert horizon_for(0, 1) == 1


@given(st.floats(0.1, 0.9), st.floats(0.4, 1), st.floats(0.02, 0.2))
@settings(max_examples=15)
def test_the_bracket_holds_the_least_cost_and_that_of_the_tuned_rule(gap, part, rho):
    least = part * gap
    T = int(horizon_for(rho, least))
    assume(3 <= T <= 151)
    horizon = T + 20
    C = quality_for(rho, least, least, horizon=horizon)
    cost = float(gap_rule((1 + gap) / 2, C, horizon=horizon).cost)
    lower, upper = benchmark(gap, rho, horizon, least, rule_cost=cost)
    assert upper == min(cost, T)
    assert lower <= least_cost(gap, rho, horizon, least_gap=least) * (1 + 1e-6)
    assert least_cost(gap, rho, horizon, least_gap=least) <= upper * (1 + 1e-6)
    with pytest.raises(InvalidParameter, match="horizon"):
        benchmark(gap, rho, T - 2, least)


def test_theorem_9_by_hand():
    cost, error = theorem_9a(30, [0.3, 0.1, 0.2], 0.05, 100, constant=2)
    assert cost == pytest.approx(30 + 2 * (25 + 100) * math.log(100))
    assert error == pytest.approx(0.2)
    cost, error = theorem_9b(30, 4, 0.05, 100, constant=2)
    assert cost == pytest.approx(2 * math.log(100) * math.log(20) * 30**3)
    assert error == pytest.approx(0.25)


@given(st.floats(0.01, 0.5), st.integers(1, 6), st.floats(0.001, 0.2))
def test_theorem_8_with_log_t_is_within_theorem_9b(best_gap, crowds, rho):
    # The benchmark is at least theorem_2 over all gaps, so at least gap^-2 times a constant.
    bench = theorem_2(best_gap, rho, least_gap=0)
    constant = (bench * best_gap**2) ** (1 + crowds / 2) * math.log(1 / rho)
    cost = theorem_8(best_gap, crowds, 1_000, constant)
    assert cost == pytest.approx(theorem_9b(bench, crowds, rho, 1_000).cost)
