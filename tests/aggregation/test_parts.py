"""Tasks in parts: a method finds the same however they are divided."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.aggregation import Answers, aggregation, code_answers
from askwise.aggregation.base import Partitioned
from askwise.aggregation.parts import Parts, Pass, Tally, added, part_of, watched
from askwise.core.arrays import Array
from askwise.core.registry import from_label
from askwise.kernels import grouping

METHODS = (
    *("majority", "one-coin", "one-coin(prior=1)", "dawid-skene", "dawid-skene(prior=1)", "hem"),
)


class CopiedParts(Parts):
    """Parts of which a pass sees a copy of its table, as on a cluster."""

    def __init__(self, answers: Answers, codes: Array, size: int) -> None:
        ranges = grouping.group_ranges(answers.starts, size)
        self.parts = [part_of(answers, codes, *ends) for ends in ranges]
        self.tables = [np.zeros((each.answers.tasks, answers.classes)) for each in self.parts]

    def run(self, function: Pass, *shared: Any) -> Tally:
        self.tables = [table.copy() for table in self.tables]
        pairs = zip(self.parts, self.tables, strict=True)
        return added([function(part, table, *shared) for part, table in pairs])

    def table(self) -> Array:
        return np.concatenate(self.tables)


def method_of(label: str) -> Partitioned:
    made = aggregation.make(from_label(label))
    assert isinstance(made, Partitioned)
    return made


def answers_of(seed: int, *, classes: int = 3, tasks: int = 40, **more: Any) -> Answers:
    """Some tasks, with one answer to four each, of nine workers of whom most are right."""
    rng = np.random.default_rng(seed)
    task = np.concatenate([np.arange(tasks), rng.integers(tasks, size=2 * tasks)])
    worker = np.concatenate([np.arange(9), rng.integers(9, size=len(task) - 9)])
    right = rng.random(len(task)) < 0.5 + worker / 20
    label = np.where(right, task % classes, rng.integers(classes, size=len(task)))
    return code_answers(task, worker, label, classes=classes, **more)


KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "truths": {"truths": np.where(np.arange(40) % 3 == 0, np.arange(40) % 3, -1)},
    "contexts": {"contexts": np.arange(40) // 7 % 3},
    "families": {"kinds": np.full(9, 2), "families": np.array([0, 0, 0, 1, 1, -1, -1, -1, -1])},
    "many classes": {"classes": 10},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("label", METHODS)
def test_a_method_finds_the_same_in_parts(label: str, kind: str) -> None:
    method, answers = method_of(label), answers_of(1, **KINDS[kind])
    whole = method.report(answers)
    for size in (1, 17):
        found = method.report_in(answers, lambda a, c, size=size: CopiedParts(a, c, size))
        assert found.iterations == whole.iterations
        assert found.converged == whole.converged
        assert found.labels.tolist() == whole.labels.tolist()
        np.testing.assert_allclose(found.probabilities, whole.probabilities, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.quality, whole.quality, rtol=0, atol=1e-9)


@given(st.integers(0, 99), st.integers(1, 30))
def test_answers_sorted_some_tasks_at_a_time_are_sorted(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(60)
    task, worker, label = order % 11, order * 7 % 5, order * 3 % 4
    whole = code_answers(task, worker, label)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "SLICE", size)
        patch.setattr(grouping, "MANY", size)
        parts = code_answers(task, worker, label)
    for name in ("starts", "workers", "labels"):
        assert getattr(parts, name).tolist() == getattr(whole, name).tolist()
    rows = [
        (t, int(whole.workers[at]), int(whole.labels[at]))
        for t in range(11)
        for at in range(whole.starts[t], whole.starts[t + 1])
    ]
    assert rows == sorted(zip(task.tolist(), worker.tolist(), label.tolist(), strict=True))


@pytest.mark.parametrize("tasks", [2**10 - 1, 2**10, 2**10 + 1])
@pytest.mark.parametrize("shuffled", [False, True])
def test_answers_are_sorted_where_their_numbers_need_32_bits_and_where_they_need_more(
    tasks: int, shuffled: bool
) -> None:
    # With 2**20 workers and 4 classes, 2**10 tasks are the first that need more.
    rng = np.random.default_rng(tasks)
    task = np.repeat(np.arange(tasks), 2)
    worker, label = rng.integers(2**20, size=len(task)), rng.integers(4, size=len(task))
    worker[-1], label[-1] = 2**20 - 1, 3
    rows = sorted(zip(task.tolist(), worker.tolist(), label.tolist(), strict=True))
    order = rng.permutation(len(task)) if shuffled else np.arange(len(task))
    found = code_answers(task[order], worker[order], label[order])
    assert found.workers.tolist() == [row[1] for row in rows]
    assert found.labels.tolist() == [row[2] for row in rows]
    assert found.starts.tolist() == list(range(0, 2 * tasks + 1, 2))


def test_pairs_and_skills_are_numbered_alike_whatever_the_size_of_a_slice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = answers_of(3, contexts=np.arange(40) % 4)
    cells = answers.workers.astype(np.int64) * 3 + answers.labels
    used, inverse = np.unique(cells, return_inverse=True)
    for size in (5, 1000):
        monkeypatch.setattr(grouping, "SLICE", size)
        for table in (27, 10**6):
            found = grouping.numbered(lambda here: cells[here], len(cells), table)
            assert found[0].tolist() == inverse.tolist()
            assert found[1].tolist() == used.tolist()


def test_every_pass_is_told() -> None:
    told: list[int] = []
    fitted = method_of("dawid-skene").report_in(
        answers_of(4), watched(lambda a, c: CopiedParts(a, c, 20), told.append)
    )
    # One to begin with, by the shares of the votes.
    assert told == list(range(1, fitted.iterations + 2))
