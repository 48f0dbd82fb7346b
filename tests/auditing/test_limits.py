"""Limits of wrong audits, against exact arithmetic and enumeration."""

from fractions import Fraction
from itertools import combinations, permutations
from math import comb, isclose

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from askwise.auditing.limits import WORTH_USING, _chances, _with_the_rest, limits


def ever_within(allowed: np.ndarray, size: int, wrong: int) -> Fraction:
    """The probability that a set with so many wrong labels is ever within the limits."""
    alive = {0: Fraction(1)}
    total = Fraction(0)
    for t in range(1, len(allowed)):
        after: dict[int, Fraction] = {}
        for k, chance in alive.items():
            next_wrong = Fraction(wrong - k, size - t + 1)
            for found, share in ((k, 1 - next_wrong), (k + 1, next_wrong)):
                if share > 0:
                    after[found] = after.get(found, Fraction(0)) + chance * share
        total += sum(after.pop(k) for k in list(after) if k <= allowed[t])
        alive = after
    return total


sets = st.integers(1, 40).flatmap(
    lambda size: st.tuples(
        st.just(size), st.integers(1, size), st.integers(1, size + 5), st.floats(0.01, 0.6)
    )
)


@given(sets)
def test_a_false_set_is_certified_with_at_most_the_doubt(case):
    size, too_many, audits, doubt = case
    allowed = limits(size, too_many, audits, doubt)
    for wrong in range(too_many, size + 1):
        assert ever_within(allowed, size, wrong) <= Fraction(doubt)


@given(sets)
def test_limits_hold_below_the_number_that_would_be_too_many(case):
    size, too_many, audits, doubt = case
    allowed = limits(size, too_many, audits, doubt)
    assert len(allowed) == min(size, audits) + 1
    assert (np.diff(allowed) >= 0).all()
    assert allowed.max() < too_many
    if audits >= size:
        # Everything was audited: there is no doubt left.
        assert allowed[size] == too_many - 1


@given(sets)
def test_no_limit_by_itself_uses_more_than_the_doubt(case):
    size, too_many, audits, doubt = case
    for t, k in enumerate(limits(size, too_many, audits, doubt)):
        ways = sum(comb(too_many, i) * comb(size - too_many, t - i) for i in range(k + 1))
        assert Fraction(ways, comb(size, t)) <= Fraction(doubt)


@pytest.mark.parametrize(("size", "too_many", "audits"), [(6, 2, 6), (7, 3, 5), (7, 1, 7)])
def test_limits_agree_with_all_orders_written_out(size, too_many, audits):
    allowed = limits(size, too_many, audits, 0.3)
    touched = total = 0
    for order in permutations(range(size)):
        wrong = np.cumsum([task < too_many for task in order])[: len(allowed) - 1]
        touched += bool((wrong <= allowed[1:]).any())
        total += 1
    assert Fraction(touched, total) == ever_within(allowed, size, too_many)
    assert Fraction(touched, total) <= Fraction(0.3)


def test_more_generous_limits_would_use_more_than_the_doubt():
    size, too_many, audits, doubt = 200, 21, 60, 0.1
    allowed = limits(size, too_many, audits, doubt)
    assert ever_within(allowed, size, too_many) > Fraction(95, 1000)


def test_every_pair_of_wrong_labels_is_equally_likely_to_be_missed():
    # With two of five wrong and two audits, 3 of the 10 pairs of audits find none.
    clean = [pair for pair in combinations(range(5), 2) if not {0, 1} & set(pair)]
    assert Fraction(len(clean), comb(5, 2)) == Fraction(3, 10)
    assert limits(5, 2, 2, 0.31).tolist() == [-1, -1, 0]
    assert limits(5, 2, 2, 0.29).tolist() == [-1, -1, -1]


def reached_earlier(allowed: np.ndarray, size: int, too_many: int, doubt: float) -> np.ndarray:
    """Reach each number earlier while doubt is left, each try worked out from the first audit."""
    found = allowed.copy()
    for k in range(too_many):
        while (at := int(np.searchsorted(found, k)) - 1) > 0 and found[at] >= k - 1:
            earlier = found.copy()
            earlier[at] = k
            used = float(ever_within(earlier, size, too_many))
            # Rounding decides what is just the doubt.
            assume(not isclose(used, doubt, rel_tol=1e-12))
            assume(not isclose(used, doubt * (1 - WORTH_USING), rel_tol=1e-12))
            if used > doubt:
                break
            found = earlier
            if used > doubt * (1 - WORTH_USING):
                return found
        if k > found[-1]:
            break
    return found


@given(
    st.integers(1, 25).flatmap(
        lambda size: st.tuples(st.just(size), st.integers(1, size), st.integers(1, size))
    ),
    st.floats(0.01, 0.6),
)
def test_the_doubt_that_is_left_reaches_limits_earlier_as_if_each_were_tried(case, doubt):
    size, too_many, audits = case
    chances = _chances(size, too_many, audits, doubt)
    nothing = np.full(audits + 1, -1)
    found = _with_the_rest(nothing, chances, doubt)
    assert found.tolist() == reached_earlier(nothing, size, too_many, doubt).tolist()
