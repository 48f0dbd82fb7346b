"""Features of tasks as one more worker: the regression, the folds, gains and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from askwise.aggregation import aggregation
from askwise.aggregation.features import FOLDS, cross_predict, fit_ridge
from askwise.core.errors import InvalidParameter
from tests.aggregation.tables import METHODS


def world(seed: int, tasks: int = 400) -> tuple[Any, Any, Any]:
    """Two classes that two of five features tell apart (right on .86), and three answers of .65."""
    rng = np.random.default_rng(seed)
    truths = rng.integers(2, size=tasks)
    values = rng.normal(size=(tasks, 5))
    values[:, :2] += np.where(truths == 1, 0.75, -0.75)[:, None]
    rows = []
    for task, truth in enumerate(truths):
        for worker in rng.choice(20, size=3, replace=False):
            rows.append((task, worker, truth if rng.random() < 0.65 else 1 - truth))
    return pd.DataFrame(rows, columns=["task", "worker", "label"]), values, truths


@pytest.mark.parametrize("method", ["one-coin", "dawid-skene", "weighted-majority"])
def test_features_help_where_answers_are_few_and_poor(method: str) -> None:
    # Of three answers of .65 most are right on .72 of the tasks; features on .86 if learned from
    # truths. 1,200 tasks have a standard error of .013; .04 is three of them.
    spec = {"name": method, "prior": 1.0, "max_iterations": 15}
    gains = []
    for seed in range(3):
        table, values, truths = world(seed)
        rows = dict(enumerate(values))
        plain, more = (aggregation.make(spec).fit(table, features=each) for each in (None, rows))
        gains.append(float((more.labels_ == truths).mean() - (plain.labels_ == truths).mean()))
    assert np.mean(gains) > 0.04


@pytest.mark.parametrize("method", METHODS)
def test_every_method_takes_them_and_truths_stay(method: str) -> None:
    table, values, truths = world(4, tasks=40)
    few = {"mace": {"restarts": 2, "max_iterations": 5}, "glad": {"max_iterations": 2}}
    made = aggregation.make({"name": method, **few.get(method, {})})
    frame = pd.DataFrame(values).assign(task=range(40))
    found = made.fit(table, gold=dict(enumerate(truths[:12])), features=frame)  # type: ignore[attr-defined]
    assert found.labels_[:12].tolist() == truths[:12].tolist()
    assert found.workers_["worker"].tolist()[-1] == "features"
    assert found.workers_["answers"].tolist()[-1] == 40


def test_a_task_is_predicted_by_what_others_taught() -> None:
    # A class of its own for one row of each fold: nothing but the row itself could teach it.
    values = np.eye(10)
    targets = np.zeros((10, 2))
    targets[:, 0] = 1.0
    targets[3] = [0.0, 1.0]
    assert cross_predict(values, targets).tolist() == [0] * 10
    assert FOLDS == 5


def test_the_regression_is_at_its_minimum() -> None:
    rng = np.random.default_rng(1)
    values, targets = rng.normal(size=(80, 3)), rng.dirichlet(np.ones(3), size=80)
    found = fit_ridge(values, targets, 0.1)

    def loss(weights: Any) -> float:
        scores = np.column_stack([values, np.ones(80)]) @ weights
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return float(-(targets * logs).sum() / 80 + 0.05 * (weights[:-1] ** 2).sum())

    least = loss(found)
    for _ in range(200):
        assert loss(found + rng.normal(scale=0.02, size=found.shape)) >= least - 1e-9


def test_features_that_say_nothing_are_a_worker_at_chance() -> None:
    table, values, truths = world(9)
    noise = np.random.default_rng(3).normal(size=values.shape)
    made = aggregation.make({"name": "one-coin", "prior": 1.0})
    found = made.fit(table, features=dict(enumerate(noise)))  # type: ignore[attr-defined]
    plain = aggregation.make({"name": "one-coin", "prior": 1.0}).fit(table)  # type: ignore[attr-defined]
    loss = (plain.labels_ == truths).mean() - (found.labels_ == truths).mean()
    assert loss < 0.06


def test_tasks_without_features_are_labelled_by_answers_alone() -> None:
    table, values, _ = world(2, tasks=40)
    found = aggregation.make("one-coin").fit(table, features={at: values[at] for at in range(30)})  # type: ignore[attr-defined]
    assert found.workers_["answers"].tolist()[-1] == 30
    assert len(found.labels_) == 40


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ({1: [1.0], 2: [2.0], 7: [3.0]}, "features has task 7, which has no answer"),
        ({1: [1.0], 2: [1.0, 2.0]}, "features of task 2 are 2 numbers, those of 1 are 1"),
        ({1: [1.0], 2: [float("nan")]}, "task 2 have an entry that is not a finite number"),
        ({1: [1.0], 2: ["long"]}, "features of task 2 are ['long']: give numbers only"),
        ({1: [], 2: []}, "at least one"),
        ({}, "features is empty"),
        ([[1.0], [2.0]], "features is a list: give a DataFrame"),
        (pd.DataFrame({"task": [1, 1], "x": [1, 2]}), "features names task 1 twice"),
    ],
)
def test_features_are_checked(features: Any, words: str) -> None:
    table = {"task": [1, 1, 2], "worker": ["ann", "bob", "ann"], "label": ["a", "b", "a"]}
    with pytest.raises(InvalidParameter) as refused:
        aggregation.make("one-coin").fit(table, features=features)  # type: ignore[attr-defined]
    assert refused.value.field == "features"
    assert words in str(refused.value)
