"""Priors of one-coin and dawid-skene: by hand, against loops, and what they are for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from askwise.aggregation.dawid_skene import DawidSkene
from askwise.aggregation.one_coin import OneCoin
from askwise.aggregation.weighted_majority import WeightedMajority
from askwise.core.errors import InvalidParameter
from askwise.core.registry import spec_of, stored_spec
from tests.aggregation.tables import drawn

SIGNS = ("+++-", "---+", "++--", "--++", "+-+-")
"""Five tasks, each answered by four workers."""


def signs() -> Any:
    rows = [(task, who, sign) for task, each in enumerate(SIGNS) for who, sign in enumerate(each)]
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


def test_one_coin_with_two_right_answers_and_one_wrong_one_beforehand() -> None:
    found = OneCoin(prior=1, tolerance=1e-9, max_iterations=1000).fit(signs())
    assert found.converged_
    skills = found.workers_["skill"].tolist()
    assert skills == pytest.approx([0.849, 0.752, 0.616, 0.276], abs=5e-4)
    # Without a prior the first seems never to err.
    assert OneCoin().fit(signs()).workers_["skill"].max() > 1 - 1e-9


def test_one_coin_with_a_prior_is_what_loops_over_the_signs_give() -> None:
    chance = [each.count("+") / 4 for each in SIGNS]
    for _ in range(4):
        skills = []
        for who in range(4):
            right = sum(
                q if each[who] == "+" else 1 - q for each, q in zip(SIGNS, chance, strict=True)
            )
            skills.append((right + 2 * 0.5) / (5 + 3 * 0.5))
        chance = []
        for each in SIGNS:
            plus = minus = 1.0
            for who, sign in enumerate(each):
                plus *= skills[who] if sign == "+" else 1 - skills[who]
                minus *= skills[who] if sign == "-" else 1 - skills[who]
            chance.append(plus / (plus + minus))
    found = OneCoin(prior=0.5, max_iterations=4, tolerance=0.0, temper=0).fit(signs())
    assert found.probas_["+"].tolist() == pytest.approx(chance)
    assert found.workers_["skill"].tolist() == pytest.approx(skills)


def test_dawid_skene_with_a_prior_is_what_loops_over_matrices_give() -> None:
    table, _ = drawn(3, tasks=12, crowd=4, classes=3, each=3)
    rows = list(table.itertuples(index=False, name=None))
    tasks, crowd, classes, added = 12, 4, 3, 3 * 2.0
    believed = np.zeros((tasks, classes))
    for task, _, label in rows:
        believed[task, label] += 1 / 3
    for _ in range(3):
        counts = np.zeros((crowd, classes, classes))
        for task, worker, label in rows:
            counts[worker, label] += believed[task]
        pooled = counts.sum(axis=0) + np.where(np.eye(classes, dtype=bool), 2.0, 1 / 2)
        pooled /= pooled.sum(axis=0)
        chances = (counts + added * pooled) / (counts.sum(axis=1, keepdims=True) + added)
        logs = np.tile(np.log(believed.mean(axis=0)), (tasks, 1))
        for task, worker, label in rows:
            logs[task] += np.log(chances[worker, label])
        believed = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    found = DawidSkene(prior=2, max_iterations=3, tolerance=0.0, temper=0).fit(table)
    np.testing.assert_allclose(found.probas_, believed, atol=1e-12)


def test_with_a_prior_nobody_is_taken_to_be_always_right() -> None:
    table, _ = drawn(8, tasks=30, crowd=20, classes=4, each=2)
    assert DawidSkene().fit(table).errors_.to_numpy().max() > 1 - 1e-6
    assert DawidSkene(prior=1).fit(table).errors_.to_numpy().max() < 0.99
    # Three answers a worker: (3 + 2) / (3 + 3) at most.
    assert OneCoin(prior=1).fit(table).workers_["skill"].max() < 0.95


@pytest.mark.parametrize("kind", [OneCoin, DawidSkene])
@pytest.mark.parametrize("wrong", [-1, float("nan"), "some", 1e7])
def test_a_prior_that_is_none_is_refused(kind: Any, wrong: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"prior is .*: give a number from 0") as refused:
        kind(prior=wrong)
    assert refused.value.field == "prior"


def test_logs_name_parameters_that_came_later_only_where_they_are_set() -> None:
    assert stored_spec(DawidSkene()) == {
        "name": "dawid-skene",
        "max_iterations": 100,
        "tolerance": 1e-5,
    }
    changed = stored_spec(DawidSkene(prior=1.0, temper=0))
    assert changed == spec_of(DawidSkene(prior=1.0, temper=0))
    assert changed["prior"] == 1.0
    assert changed["temper"] == 0


@pytest.mark.parametrize(("first", "label"), [(0.9, "a"), (0.1, "b")])
def test_how_frequent_the_first_class_is_settles_what_votes_leave_open(
    first: float, label: str
) -> None:
    # Both agree with the vote on one of two tasks, (1 + 1) / (2 + 2): votes count for nothing.
    rows = [("t1", "ann", "a"), ("t1", "bob", "b"), ("t2", "ann", "b"), ("t2", "bob", "a")]
    table = pd.DataFrame(rows, columns=["task", "worker", "label"])
    found = WeightedMajority(first=first, temper=0).fit(table)
    assert found.labels_.tolist() == [label, label]
    assert found.probas_["a"].tolist() == pytest.approx([first, first])


def test_the_other_classes_share_what_the_first_leaves() -> None:
    # One vote for b multiplies its .3 by what ann's votes weigh.
    rows = [("t1", "ann", "b"), ("t2", "ann", "a"), ("t3", "ann", "c")]
    truths = {"t2": "a", "t3": "a"}
    table = pd.DataFrame(rows, columns=["task", "worker", "label"])
    found = WeightedMajority(first=0.4, learn="truths", temper=0).fit(table, truths)
    weight = float(found.workers_["weight"].iloc[0])
    odds = np.array([0.4, 0.3 * math.exp(weight), 0.3])
    assert found.probas_.loc["t1"].tolist() == pytest.approx((odds / odds.sum()).tolist())


def test_a_share_of_the_first_class_is_refused_at_the_ends() -> None:
    with pytest.raises(InvalidParameter, match="first is 1"):
        WeightedMajority(first=1)
