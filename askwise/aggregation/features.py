"""Features of items as one more worker: what a regression on them would have answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from askwise.aggregation.answers import Answers, code_answers
from askwise.aggregation.fitted import Fitted, first_largest
from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter

FORETOLD = "features"
"""What the worker is called whose answers are foretold."""

FOLDS = 5
"""Parts of the tasks, each predicted by a regression that has not seen their answers."""

PENALTIES = (1.0, 0.1, 0.01, 0.001)
"""Ridge penalties, for each task; the one that predicts best is used."""

_ITERATIONS = 200


class Features(NamedTuple):
    """Features of tasks.

    Attributes
    ----------
    tasks : array of int
        Which tasks have them, in order.
    values : array
        A row for each of these tasks.
    """

    tasks: Array
    values: Array


def features_of(given: Sequence[tuple[Any, Any]], places: Sequence[int], example: Any) -> Features:
    """Features of tasks, each at its place.

    Refuses those of unknown tasks (at -1), ragged ones and entries that are not numbers.
    """
    if not given:
        raise InvalidParameter(
            "features is empty: give at least one task's, or leave them out", field="features"
        )
    rows = []
    first, width = given[0][0], -1
    for (task, numbers), place in zip(given, places, strict=True):
        if place < 0:
            raise InvalidParameter(
                f"features has task {task!r}, which has no answer (one that has is {example!r}): "
                "take it out",
                field="features",
            )
        try:
            row = np.asarray(numbers, np.float64).reshape(-1)
        except (TypeError, ValueError):
            raise InvalidParameter(
                f"features of task {task!r} are {numbers!r}: give numbers only", field="features"
            ) from None
        width = len(row) if width < 0 else width
        if len(row) != width or width == 0:
            raise InvalidParameter(
                f"features of task {task!r} are {len(row)} numbers, those of {first!r} are "
                f"{width}: give every task as many, and at least one",
                field="features",
            )
        if not np.isfinite(row).all():
            raise InvalidParameter(
                f"features of task {task!r} have an entry that is not a finite number: fill it in "
                "or "
                "take the task out",
                field="features",
            )
        rows.append(row)
    order = np.argsort(places, kind="stable")
    tasks = np.asarray(places, np.int64)[order]
    again = np.flatnonzero(tasks[1:] == tasks[:-1])
    if len(again):
        task = given[int(order[again[0]])][0]
        raise InvalidParameter(f"features names task {task!r} twice", field="features")
    return Features(tasks, np.array(rows)[order])


def with_prediction(
    solve: Callable[[Answers], Fitted], answers: Answers, features: Features
) -> Answers:
    """The answers, and those of one more worker: what features foretell.

    A ridge-penalised multinomial logistic regression learns the classes that the method finds
    without features. Tasks are divided into five parts, and each part is predicted by what was
    learned from the others: so a task's own answers do not vote twice. Tasks without features
    have no answer of it. The new worker is the last.
    """
    found = solve(answers).probabilities
    predicted = cross_predict(features.values, found[features.tasks])
    task_of = np.repeat(np.arange(answers.tasks), answers.per_task)
    more = np.full(len(predicted), answers.crowd)
    return code_answers(
        np.concatenate([task_of, features.tasks]),
        np.concatenate([answers.workers, more]),
        np.concatenate([answers.labels, predicted]),
        truths=answers.truths,
        contexts=answers.contexts,
        classes=answers.classes,
        kinds=np.append(answers.kinds, 0),
        families=np.append(answers.families, -1),
    )


def cross_predict(values: Array, targets: Array) -> Array:
    """The class of each row by regressions that were fitted to other rows.

    Parameters
    ----------
    values : array, rows x features
        Numbers; each feature is scaled to mean 0 and variance 1.
    targets : array, rows x classes
        Probabilities of the classes.
    """
    spread = values.std(axis=0)
    scaled = (values - values.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    folds = np.arange(len(values)) % FOLDS
    best, least = np.zeros((0, 0)), np.inf
    for penalty in PENALTIES:
        chances = np.zeros_like(targets)
        for fold in np.unique(folds):
            seen, unseen = folds != fold, folds == fold
            if not seen.any():
                chances[unseen] = 1.0 / targets.shape[1]
                continue
            weights = fit_ridge(scaled[seen], targets[seen], penalty)
            chances[unseen] = _softmax(_raised(scaled[unseen]) @ weights)
        loss = float(-(targets * np.log(np.maximum(chances, 1e-12))).sum())
        if loss < least:
            best, least = chances, loss
    return first_largest(best)


def fit_ridge(values: Array, targets: Array, penalty: float) -> Array:
    """Weights of a multinomial logistic regression, the last row for the constant.

    Minimises the mean cross entropy plus penalty / 2 times the squares of all weights but the
    constants.
    """
    raised, classes = _raised(values), targets.shape[1]
    rows = len(raised)
    shape = raised.shape[1], classes

    def downhill(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(shape)
        scores = raised @ weights
        top = scores.max(axis=1, keepdims=True)
        logs = scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
        loss = -(targets * logs).sum() / rows + 0.5 * penalty * float((weights[:-1] ** 2).sum())
        slope = raised.T @ (np.exp(logs) - targets) / rows
        slope[:-1] += penalty * weights[:-1]
        return float(loss), slope.ravel()

    found = scipy.optimize.minimize(
        downhill,
        np.zeros(shape[0] * classes),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _ITERATIONS},
    )
    weights: Array = found.x.reshape(shape)
    return weights


def _raised(values: Array) -> Array:
    """Rows with a constant behind them."""
    return np.column_stack([values, np.ones(len(values))])


def _softmax(scores: Array) -> Array:
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)
