"""The study of audits: its worlds, a tiny run, and what it says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from askwise.core.errors import InvalidParameter
from askwise.core.money import MICRO
from askwise.lab.experiment import with_settings
from askwise.lab.papers.assured.studies.audits import (
    EASY,
    NEVER,
    SERIES,
    TOLD,
    UNWATCHED,
    WATCHED,
    panel_of,
)
from askwise.lab.runner import run
from askwise.lab.simulate import simulate
from askwise.lab.worlds.assured import WorkerPool, assured_reply
from askwise.policies.assured.ccb import CcbNs
from askwise.policies.assured.common import ALARMS


def test_hard_tasks_are_a_share_and_change_no_truth() -> None:
    pool = WorkerPool(np.full(3, MICRO), np.array([1.0, 1.0, 1.0]))
    plain, hard = pool.answering(1, 0, 2000), pool.answering(1, 0, 2000, 0.2, 0.0)
    assert (plain.truths == hard.truths).all()
    assert not plain.hard.any()
    # 2,000 draws of .2: within four standard deviations.
    assert abs(int(hard.hard.sum()) - 400) < 72
    for task in range(200):
        right = assured_reply(hard, task, 0, 0, 0.0) == hard.truths[task]
        assert right == (not hard.hard[task])


def test_a_tiny_run_has_a_row_for_all_that_is_measured() -> None:
    settings = {"tasks": "40", "workers": "4", "audits": "0.5", "on_hard": "0.3"}
    results = run(with_settings("assured-audited", settings), reps=2, seed=1, jobs=1)
    found = {(row.panel, row.series, row.metric): row.mean for row in results.rows}
    for panel in (EASY, panel_of(0.3)):
        for series in SERIES:
            assert {"assured", "cost", "truths", "alarm"} <= {
                metric for at, by, metric in found if (at, by) == (panel, series)
            }
        # With every truth told as long as it explores, which forty tasks do not end.
        assert found[panel, TOLD, "truths"] == 39.0
        assert found[panel, UNWATCHED, "truths"] == found[panel, WATCHED, "truths"] < 39.0
        assert found[panel, UNWATCHED, "alarm"] == 0.0
    said = with_settings("assured-audited", settings).differences(results.rows)
    assert [line.split(",")[0] for line in said] == [EASY, panel_of(0.3)]
    assert 0.0 < NEVER < 1e-200


@pytest.mark.parametrize("given", [{"audits": "0"}, {"hard": "1.5"}, {"on_hard": "-1"}])
def test_settings_that_make_no_sense_are_refused(given: dict[str, str]) -> None:
    with pytest.raises(InvalidParameter) as found:
        with_settings("assured-audited", given)
    assert found.value.field == next(iter(given))


@pytest.mark.slow
@pytest.mark.compiled
def test_where_answers_are_just_as_good_as_was_said_alarms_are_as_rare_as_promised() -> None:
    """Three workers of quality .8, which is the floor, are wrong together with .104."""
    policy = CcbNs(alpha=0.11, floor=0.8, truth="audited", audits=0.5)
    pool = WorkerPool(np.arange(5, 12) * MICRO, np.full(7, 0.8))
    problem = pool.problem(400)
    alarms = 0
    for replication in range(1000):
        world = pool.answering(1, replication, 400)
        outcome = simulate(policy, problem, world, seed=1, replication=replication)
        alarms += int(outcome.state.watch[ALARMS] > 0)
    # 50 and three standard errors.
    assert 0 < alarms <= 50 + 3 * math.sqrt(1000 * 0.05 * 0.95)
