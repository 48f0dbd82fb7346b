"""`labels-regret`: losses counted by hand on a small table."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from askwise.core.errors import AskwiseError
from askwise.lab.papers.labels.studies.regret import LabelsRegret, regret, regret_of_pairs
from askwise.lab.worlds.recorded import Recording
from askwise.ledger import columns as c


def bought(*pairs: tuple[int, int]) -> Any:
    """An outcome with answers of these pairs of task and worker, in order."""
    assignments = np.zeros((len(pairs), 1 + max(c.TASK, c.WORKER)), np.int64)
    for at, (task, worker) in enumerate(pairs):
        assignments[at, c.TASK], assignments[at, c.WORKER] = task, worker
    ledger = SimpleNamespace(
        book=SimpleNamespace(assignments=assignments), total=lambda column: len(pairs)
    )
    return SimpleNamespace(ledger=ledger)


# Tasks 0 and 1 are of the first context, 2 of the second; all are truly 1.
TABLE = Recording.complete(
    np.array([[1, 0, 1], [1, 0, 0], [0, 1, 0]]), np.ones(3, np.int64), 2, np.array([0, 0, 1])
)


def test_losses_beyond_the_best_worker_of_each_context() -> None:
    # The first answer explores. Of the others two are wrong; worker 0 is never wrong on the first
    # context's tasks, nor worker 1 on the second's.
    outcome = bought((0, 0), (0, 1), (1, 2), (2, 1))
    assert regret(TABLE, outcome, 1, TABLE.truth) == 2
    # Judged by votes of 0 for task 1, worker 2 is right there and worker 0 wrong.
    judged = np.array([1, 0, 1])
    assert regret(TABLE, outcome, 1, judged) == 1 - 0


def test_with_each_pair_once_a_task_asked_twice_takes_the_two_best() -> None:
    outcome = bought((0, 1), (0, 2))
    # Of the first context worker 0 has no errors, 2 has one and 1 has two. Task 0 was asked about
    # twice, one answer wrong; workers 0 and 2 are both right on it.
    assert regret_of_pairs(TABLE, outcome, 0) == 1
    assert regret(TABLE, outcome, 0, TABLE.truth) == 1


def test_the_bound_stands_beside() -> None:
    experiment = LabelsRegret(models=("one-coin",), budgets=(3.0,), tasks=60, workers=8)
    (cell,) = experiment.cells()
    rows = experiment.rows(cell, np.array([[10.0, 20.0, 5.0]]), 1)
    assert [row.mean for row in rows[:3]] == [10, 20, 5]
    assert experiment.drawn_as_reference(rows[3])
    assert "in 0 of 1 cells" in experiment.differences(rows)[0]


def test_a_budget_that_exploration_uses_up_is_refused() -> None:
    with pytest.raises(AskwiseError, match=r"budgets has 0\.3: exploration alone takes 0\.455"):
        LabelsRegret(budgets=(0.3,))
