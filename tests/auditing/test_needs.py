"""How many audits certify what: against counting all samples."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from askwise.auditing import audit_needs, audits_for_any_set


def chance(wrong: int, tasks: int, bad: int, audits: int) -> Fraction:
    """At most so many wrong ones among the audits, exactly."""
    ways = sum(
        math.comb(bad, k) * math.comb(tasks - bad, audits - k)
        for k in range(min(wrong, audits) + 1)
    )
    return Fraction(ways, math.comb(tasks, audits))


def fewest(tasks: int, alpha: Fraction, error: Fraction, delta: Fraction) -> int | None:
    bad = math.floor(alpha * tasks) + 1
    for audits in range(1, tasks + 1):
        if chance(math.ceil(audits * error), tasks, bad, audits) <= delta:
            return audits
    return None


@pytest.mark.parametrize("tasks", [1, 7, 20, 60, 137, 300])
@pytest.mark.parametrize("error", ["0", "1/50", "1/25", "9/100", "1/7", "1/3"])
def test_the_fewest_audits_are_those_of_a_plain_search(tasks: int, error: str) -> None:
    alphas = ("1/20", "1/10", "1/5")
    found = audit_needs(tasks, float(Fraction(error)), confidence=0.9)
    for need, alpha in zip(found, alphas, strict=True):
        args = tasks, Fraction(alpha)
        assert need.clean == fewest(*args, Fraction(0), Fraction(1, 10))
        assert need.expected == fewest(*args, Fraction(error), Fraction(1, 10))


def test_a_clean_sample_of_many_tasks() -> None:
    # .95^n <= .1 from n = 45 on, .9^22 = .098, .8^11 = .086; of infinitely many tasks.
    assert [each.clean for each in audit_needs(1_000_000, 0.0)] == [45, 22, 11]
    assert [each.clean for each in audit_needs(1_000_000, 0.0, confidence=0.95)] == [59, 29, 14]


def test_an_error_that_is_not_below_alpha_can_not_be_certified() -> None:
    assert [each.expected is None for each in audit_needs(1000, 0.12)] == [True, True, False]


@pytest.mark.parametrize("error", ["1/20", "3/10"])
def test_any_set_takes_no_more_audits_than_the_hardest(error: str) -> None:
    # 71 divides no size: no chance is the doubt exactly, where rounding would decide.
    share, doubt = Fraction(error), Fraction(71, 1000)
    alone = [fewest(size, share, Fraction(0), doubt) or 0 for size in range(1, 61)]
    for tasks in range(1, 61):
        sets = alone[math.ceil(tasks / 2) - 1 : tasks]
        assert audits_for_any_set(tasks, error=float(share), confidence=0.929) == max(sets)
