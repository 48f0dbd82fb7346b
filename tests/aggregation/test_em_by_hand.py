"""EM of dawid-skene and one-coin against dictionaries and loops, step by step."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from askwise.aggregation.dawid_skene import DawidSkene
from askwise.aggregation.one_coin import OneCoin

SHEET = {
    "t1": "aabb",
    "t2": "aaab",
    "t3": "bbba",
    "t4": "bcbb",
    "t5": "cccc",
}
"""Five tasks, each answered by the workers w1 to w4."""

ROWS = [
    (task, f"w{at}", label)
    for task, answers in SHEET.items()
    for at, label in enumerate(answers, 1)
]
TABLE = pd.DataFrame(ROWS, columns=["task", "worker", "label"])
CLASSES = "abc"
TINY = 1e-10

Beliefs = dict[str, dict[str, float]]


def votes() -> Beliefs:
    return {
        task: {c: answers.count(c) / len(answers) for c in CLASSES}
        for task, answers in SHEET.items()
    }


def priors(believed: Beliefs) -> dict[str, float]:
    return {c: sum(each[c] for each in believed.values()) / len(believed) for c in CLASSES}


def posterior(p: dict[str, float], chances: dict[tuple[str, str, str], float]) -> Beliefs:
    """Bayes, task by task: chances are of (worker, label given, true class)."""
    found = {}
    for task in SHEET:
        joint = {
            c: max(p[c], TINY)
            * math.prod(chances[worker, label, c] for t, worker, label in ROWS if t == task)
            for c in CLASSES
        }
        total = sum(joint.values())
        found[task] = {c: joint[c] / total for c in CLASSES}
    return found


def matrices(believed: Beliefs) -> dict[tuple[str, str, str], float]:
    counts: dict[tuple[str, str, str], float] = defaultdict(float)
    for task, worker, label in ROWS:
        for c in CLASSES:
            counts[worker, label, c] += believed[task][c]
    counts = {key: max(count, TINY) for key, count in counts.items()}
    totals: dict[tuple[str, str], float] = defaultdict(float)
    for (worker, _, c), count in counts.items():
        totals[worker, c] += count
    return {(w, k, c): count / totals[w, c] for (w, k, c), count in counts.items()}


def coins(believed: Beliefs) -> dict[tuple[str, str, str], float]:
    found = {}
    for worker in ("w1", "w2", "w3", "w4"):
        sure = [believed[task][label] for task, who, label in ROWS if who == worker]
        skill = sum(sure) / len(sure)
        for label in CLASSES:
            for c in CLASSES:
                chance = skill if label == c else (1 - skill) / 2
                found[worker, label, c] = min(max(chance, TINY), 1 - TINY)
    return found


@pytest.mark.parametrize("iterations", [1, 2, 3])
@pytest.mark.parametrize(("method", "learn"), [(DawidSkene, matrices), (OneCoin, coins)])
def test_em_is_what_loops_over_dictionaries_give(
    method: Any, learn: Callable[[Beliefs], dict[tuple[str, str, str], float]], iterations: int
) -> None:
    believed = votes()
    for _ in range(iterations):
        believed = posterior(priors(believed), learn(believed))
    # The bound grows by more than nothing at each of these steps.
    found = method(max_iterations=iterations, tolerance=0.0, temper=0).fit(TABLE)
    assert found.iterations_ == iterations
    for task, chances in believed.items():
        for c, chance in chances.items():
            assert found.probas_.loc[task, c] == pytest.approx(chance, abs=1e-9)


def test_the_matrices_are_those_of_the_last_step() -> None:
    believed = votes()
    for _ in range(3):
        believed = posterior(priors(believed), matrices(believed))
    found = DawidSkene(max_iterations=3, tolerance=0.0, temper=0).fit(TABLE)
    for (worker, label, c), chance in matrices(believed).items():
        assert found.errors_.loc[(worker, label), c] == pytest.approx(chance, abs=1e-9)
    # A label that a worker never gave has no row.
    assert ("w4", "c") in found.errors_.index
    assert ("w3", "c") in found.errors_.index
    assert len(found.errors_) == len({(worker, label) for _, worker, label in ROWS})


def test_the_first_e_step_of_a_table_of_two_tasks_by_hand() -> None:
    # Votes: t1 is a (1, 0), t2 is half a, half b. ann's matrix: says a twice where a is
    # believed 1.5 times, b .5 times, so e[ann, a, a] = e[ann, a, b] = 1. bob says a (t1) and
    # b (t2): e[bob, a, a] = 1 / 1.5, e[bob, b, a] = .5 / 1.5, e[bob, b, b] = 1. Priors 3/4, 1/4.
    # t2: a 3/4 * 1 * 1/3 = 1/4, b 1/4 * 1 * 1 = 1/4: a half each, and a comes first.
    table = {
        "task": ["t1", "t1", "t2", "t2"],
        "worker": ["ann", "bob", "ann", "bob"],
        "label": ["a", "a", "a", "b"],
    }
    found = DawidSkene(max_iterations=1, temper=0).fit(table)
    assert found.probas_.loc["t2"].tolist() == pytest.approx([0.5, 0.5], abs=1e-9)
    assert found.labels_["t2"] == "a"
    assert found.confidence_["t1"] == pytest.approx(1.0, abs=1e-9)
