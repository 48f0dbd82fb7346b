"""What a plan tries: rules' dials, horizons, the search, and settings as a file says them."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from askwise.core.problem import make_problem
from askwise.lab.planning import search
from askwise.lab.planning.plan import rate
from askwise.lab.planning.settings_text import settings_text
from askwise.policies import policies
from askwise.stopping import stopping


@pytest.mark.parametrize(
    ("label", "given", "dial"),
    [
        ("fixed(n=3)", True, "n"),
        ("fixed", False, "n"),
        ("posterior(horizon=5)", False, "error"),
        ("gap(delta=0.1)", True, "delta"),
        ("composite", False, "quality"),
        ("composite(rule=lead(lead=2))", True, "lead"),
        ("composite(rule=gap(smooth=False),total=False)", False, "quality"),
    ],
)
def test_a_label_that_sets_the_dial_is_told_from_one_that_does_not(
    label: str, given: bool, dial: str
) -> None:
    chosen = search.read_rule(label, None)
    assert (chosen.given, chosen.dial) == (given, dial)


def test_a_rule_that_could_go_on_for_ever_gets_a_horizon() -> None:
    def horizon(label: str, given: int | None = None) -> int | None:
        found: int | None = search.read_rule(label, given).rule.horizon  # type: ignore[attr-defined]
        return found

    assert horizon("gap") == 1000
    assert horizon("gap(horizon=70)") == horizon("gap(horizon=70)", 70) == horizon("gap", 70) == 70
    assert horizon("fixed") is None
    assert horizon("composite(rule=quorum)") is None


def test_a_quorum_is_out_of_a_majority_or_of_what_is_given() -> None:
    free, bound = search.read_rule("quorum", 9), search.read_rule("quorum(of=5)", None)
    assert free.settings(2, [1]) == [1, 2, 3, 4, 5]
    assert free.turned(4) == stopping.make({"name": "quorum", "quorum": 4, "of": 7, "horizon": 9})
    assert bound.settings(2, [1]) == [1, 2, 3]
    assert bound.turned(2) == stopping.make({"name": "quorum", "quorum": 2, "of": 5})


def test_settings_go_from_bold_to_careful() -> None:
    def settings(label: str) -> list[Any]:
        return search.read_rule(label, 9).settings(2, [40_000, 100_000])

    assert settings("fixed") == [1, 3, 5, 7, 9]
    for label in ("gap", "lead", "joint-glr"):
        assert settings(label) == sorted(settings(label))
    errors = settings("composite(rule=posterior)")
    assert errors == sorted(errors, reverse=True)
    amounts = [Decimal(each) for each in settings("penalty")]
    assert amounts == sorted(amounts)
    assert amounts[0] == Decimal("0.04")


def test_a_policy_that_must_know_the_quality_is_told_it() -> None:
    policy = policies.make("explore-exploit-rollback")
    assert search.told(policy, "quality", 1.5) == policies.make(
        {"name": "explore-exploit-rollback", "quality": 1.5}
    )
    assert search.told(policy, "lead", 1.5) is policy


@pytest.mark.parametrize("begin", [0, 5, 11])
@pytest.mark.parametrize("within", [*range(12), None])
def test_the_first_setting_within_the_target_is_found_with_few_trials(
    within: int | None, begin: int
) -> None:
    tried = []

    def error_at(at: int) -> float:
        tried.append(at)
        return 0.0 if within is not None and at >= within else 1.0

    assert search.first_within(12, error_at, 0.5, lambda at: False, begin) == within
    assert len(tried) == len(set(tried)) <= 2 * math.ceil(math.log2(12)) + 1


def test_settings_are_lines_of_a_campaigns_file() -> None:
    problem = make_problem(
        workers=[{"id": "a b", "price": 1}], tasks=["q"], options=["x", "y"], repeat=True
    )
    policy = policies.make({"name": "non-adaptive", "shares": {"a b": 3.0}})
    policy.check(problem)
    rule = stopping.make({"name": "gap", "smooth": False, "cap": "2.5", "quality": 2.0})
    assert settings_text(policy, rule) == (
        'policy = { name = "non-adaptive", shares = { "a b" = 3.0 } }\n'
        "\n"
        "[stopping]\n"
        'name = "gap"\n'
        "quality = 2.0\n"
        "smooth = false\n"
        'cap = "2.5"\n'
    )


def test_the_interval_of_a_share_is_exact() -> None:
    # Half of two: the ends solve 1 - (1 - p)^2 = 0.025 and p^2 = 0.025 from the other side.
    found = rate(1, 2)
    assert found.mean == 0.5
    assert found.low == pytest.approx(1 - math.sqrt(0.975))
    assert found.high == pytest.approx(math.sqrt(0.975))
    assert (rate(0, 9).low, rate(9, 9).high) == (0, 1)
