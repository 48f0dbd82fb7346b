"""`posterior` with accuracies that are believed beforehand: against integrals and by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from askwise import Campaign, Worker
from askwise.core.errors import AskwiseError
from askwise.core.registry import from_label, label_of, stored_spec
from askwise.stopping import stopping
from askwise.stopping.evidence import log_evidence, log_evidence_between
from tests.stopping.question import Question

RANGES = [(0.5, 0.6), (0.55, 0.95), (0.7, 0.7003), (0.9, 1.0)]


@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize(("a", "b", "n"), [(0, 0, 2), (1, 0, 2), (3, 2, 3), (2, 9, 2), (30, 11, 4)])
def test_the_evidence_in_a_range_is_the_integral(
    a: int, b: int, n: int, low: float, high: float
) -> None:
    area = quad(lambda p: (n * p) ** a * (n * (1 - p) / (n - 1)) ** b, low, high, epsrel=1e-12)[0]
    found = log_evidence_between(a, b, n, low, high)
    assert found == pytest.approx(math.log(area / (high - low)), rel=1e-9, abs=1e-9)


@given(st.integers(0, 500), st.integers(0, 500), st.integers(2, 6))
def test_the_whole_range_is_the_evidence_without_one(a: int, b: int, n: int) -> None:
    expected = log_evidence(a, b, n)
    assert log_evidence_between(a, b, n, 1 / n, 1.0) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(
    st.integers(0, 800),
    st.integers(0, 800),
    st.lists(st.floats(0.34, 1), min_size=3, max_size=3, unique=True),
)
def test_a_range_is_made_of_its_parts(a: int, b: int, ends: list[float]) -> None:
    low, middle, high = sorted(ends)
    parts = [(low, middle), (middle, high)]
    logs = [log_evidence_between(a, b, 3, *part) for part in parts]
    shares = [(last - first) / (high - low) for first, last in parts]
    expected = np.logaddexp.reduce(
        [log + math.log(s) for log, s in zip(logs, shares, strict=True) if s > 0]
    )
    found = log_evidence_between(a, b, 3, low, high)
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_a_single_accuracy_gives_bayes_rule_with_it() -> None:
    # Two votes for, one against, of somebody right with 0.8: odds of 0.8 to 0.2.
    question = Question({"name": "posterior", "error": 1e-9, "accuracy": {"a": 0.8}})
    question.hear("a", "yyx")
    assert question.guess()[1] == pytest.approx(0.8)


def test_who_is_not_named_may_be_anything_between_chance_and_one() -> None:
    question = Question({"name": "posterior", "error": 1e-9, "accuracy": {"a": 0.8}})
    plain = Question({"name": "posterior", "error": 1e-9})
    for each in (question, plain):
        each.hear("b", "yyxy")
    assert question.guess()[1] == pytest.approx(plain.guess()[1], abs=1e-12)


def test_kinds_are_averaged_over_as_their_shares_say() -> None:
    kinds = [
        {"share": 0.75, "accuracy": {"a": 0.9, "b": 0.8}},
        {"share": 0.25, "accuracy": {"a": 0.6, "b": 0.5}},
    ]
    question = Question({"name": "posterior", "error": 1e-9, "kinds": kinds})
    question.hear("a", "yy")
    question.hear("b", "x")
    # y is right: a's two votes are right and b's is wrong; x is right: the other way round.
    y = 0.75 * 0.9**2 * 0.2 + 0.25 * 0.6**2 * 0.5
    x = 0.75 * 0.1**2 * 0.8 + 0.25 * 0.4**2 * 0.5
    assert question.guess()[1] == pytest.approx(y / (x + y))


def test_a_kind_takes_from_the_accuracies_what_it_does_not_say_itself() -> None:
    kinds = [{"share": 0.5}, {"share": 0.5, "accuracy": {"a": 0.6}}]
    question = Question(
        {"name": "posterior", "error": 1e-9, "accuracy": {"a": 0.9}, "kinds": kinds}
    )
    question.hear("a", "y")
    assert question.guess()[1] == pytest.approx((0.9 + 0.6) / 2)


def test_workers_who_never_err_but_contradict_each_other_leave_the_odds_even() -> None:
    question = Question({"name": "posterior", "error": 0.01, "accuracy": {"a": 1, "b": 1}})
    question.hear("a", "y")
    question.hear("b", "x")
    assert question.guess()[1] == pytest.approx(0.5)


def test_what_is_believed_is_kept_and_read_again() -> None:
    given: dict[str, Any] = {"name": "posterior", "accuracy": {"a": [0.6, 0.9]}}
    rule = stopping.make(given)
    assert stopping.make(stored_spec(rule)) == rule == stopping.make(from_label(label_of(rule)))
    assert hash(rule) == hash(stopping.make(given))
    assert set(stored_spec(stopping.make("posterior"))) == {"name", "error", "horizon", "cap"}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"accuracy": 0.8}, "accuracy is 0.8: give a mapping of workers to accuracies"),
        ({"accuracy": {"a": 1.2}}, "accuracy['a'] is 1.2: give a number from 0 to 1"),
        ({"accuracy": {"a": [0.9, 0.6]}}, "accuracy['a'] is [0.9, 0.6]: give the lower end"),
        ({"accuracy": {"a": [0.6, 0.7, 0.8]}}, "accuracy['a'] is [0.6, 0.7, 0.8]: give a number"),
        ({"accuracy": {"a": 0.3}}, "accuracy['a'] begins at 0.3: give at least 0.5, chance"),
        ({"accuracy": {"c": 0.8}}, "accuracy names 'c', which is not a worker"),
        ({"kinds": [{"accuracy": {"a": 0.8}}]}, "a kind needs a 'share'"),
        ({"kinds": [{"share": 0.5}]}, "kinds have shares that sum to 0.5: they must sum to 1"),
        ({"kinds": [{"share": 1, "name": "x"}]}, "kinds has no field 'name'"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(AskwiseError) as caught:
        Campaign.create(
            workers=[Worker("a", 1), Worker("b", 1)],
            tasks=["t"],
            options=["no", "yes"],
            policy="round-robin",
            stopping={"name": "posterior", **parameters},
        )
    assert message in str(caught.value)
    assert caught.value.field in parameters or caught.value.field == "accuracy"


def test_a_composite_refuses_what_is_about_all_workers_together() -> None:
    with pytest.raises(AskwiseError, match="not inside 'composite'") as caught:
        stopping.make({"name": "composite", "rule": {"name": "posterior", "accuracy": {"a": 0.8}}})
    assert caught.value.field == "rule"
