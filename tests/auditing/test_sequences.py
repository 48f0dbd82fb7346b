"""An interval that holds at all times at once."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.auditing.sequences import (
    DOUBT,
    evidence_below,
    is_surely_below,
    share_at_all_times,
    upper_end,
)


@pytest.mark.parametrize(("line", "hits", "misses"), [(0.5, 0, 3), (0.7, 4, 5), (0.9, 20, 1)])
def test_the_evidence_is_the_integral_that_it_is_said_to_be(
    line: float, hits: int, misses: int
) -> None:
    steps = (np.arange(200_000) + 0.5) / 200_000
    by_hand = np.mean(steps**hits * ((1 - line * steps) / (1 - line)) ** misses)
    assert math.exp(evidence_below(line, hits, hits + misses)) == pytest.approx(by_hand, rel=1e-6)


def test_evidence_is_worth_nothing_more_after_one_more_answer_of_somebody_at_the_line() -> None:
    # What makes Ville's inequality hold: right with probability p, it stays the same on average.
    for line in (0.3, 0.7):
        for hits, tries in ((0, 0), (2, 5), (9, 10)):
            right = math.exp(evidence_below(line, hits + 1, tries + 1))
            wrong = math.exp(evidence_below(line, hits, tries + 1))
            now = math.exp(evidence_below(line, hits, tries))
            assert line * right + (1 - line) * wrong == pytest.approx(now)
            # And somebody better only loses evidence against them.
            better = line + 0.2
            assert better * right + (1 - better) * wrong <= now


@given(st.integers(0, 400), st.integers(0, 400))
def test_the_ends_enclose_the_share_and_are_where_the_evidence_suffices(
    hits: int, misses: int
) -> None:
    tries = hits + misses
    found = share_at_all_times(hits, tries)
    if found is None:
        assert tries == 0
        return
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    if misses:
        assert evidence_below(found.high, hits, tries) == pytest.approx(-math.log(DOUBT), abs=1e-3)
    else:
        assert found.high == 1.0


def test_four_hundred_workers_at_the_line_are_rarely_below_it_at_any_time() -> None:
    """At most 1 in 40 at all times: of 400 at the line, 10; the margin is 4 standard deviations.

    The bound is not reached in a finite time; that somebody is below it at all shows that the test
    could fail.
    """
    rng, line, times = np.random.default_rng(7), 0.7, 400
    limits = [_most_right_below(line, 10)]
    for t in range(11, times + 1):
        # One more answer raises the limit by one, or not at all.
        limits.append(limits[-1] + is_surely_below(line, limits[-1] + 1, t))
    right = np.cumsum(rng.random((400, times)) < line, axis=1)[:, 9:]
    ever = int((right <= np.array(limits)).any(axis=1).sum())
    assert 1 <= ever <= 10 + 4 * math.sqrt(10)
    # Those who guess are found.
    wrong = np.cumsum(rng.random((400, times)) < 0.5, axis=1)[:, 9:]
    assert (wrong <= np.array(limits)).any(axis=1).mean() > 0.99


def _most_right_below(line: float, tries: int) -> int:
    """The most right answers with which the upper end is below a line; -1: none."""
    below = [hits for hits in range(tries + 1) if evidence_below(line, hits, tries) > math.log(40)]
    return max(below, default=-1)


def test_the_upper_end_is_below_a_line_where_the_evidence_is_enough() -> None:
    for tries in (10, 57, 200):
        most = _most_right_below(0.7, tries)
        assert upper_end(most, tries) < 0.7 <= upper_end(most + 1, tries)
        assert is_surely_below(0.7, most, tries)
        assert not is_surely_below(0.7, most + 1, tries)
