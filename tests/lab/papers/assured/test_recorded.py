"""The study of promises on recorded answers: whom it draws, what it counts, what it says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from askwise.core.errors import InvalidParameter
from askwise.figures import Row
from askwise.lab.experiment import with_settings
from askwise.lab.papers.assured.studies.recorded import (
    CAMPAIGN,
    FEWEST_TASKS,
    KNOWN,
    SERIES,
    TOLD,
    WATCHED,
    Answered,
)
from askwise.lab.runner import run


def written(folder: Path, labels: np.ndarray, truth: np.ndarray) -> Path:
    """A set of recorded answers: a column a worker; -1 is no answer."""
    folder.mkdir(parents=True)
    rows = [
        f"t{task},w{worker},o{label}"
        for (task, worker), label in np.ndenumerate(labels)
        if label >= 0
    ]
    (folder / "labels.csv").write_text("\n".join(["task,worker,label", *rows]) + "\n")
    gold = [f"t{task},o{label}" for task, label in enumerate(truth)]
    (folder / "gold.csv").write_text("\n".join(["task,label", *gold]) + "\n")
    return folder.parent


def value(rows: Sequence[Row], series: str, metric: str, x: float) -> float:
    (found,) = (row.mean for row in rows if (row.series, row.metric, row.x) == (series, metric, x))
    return found


def test_a_team_has_answered_the_same_tasks_and_is_better_than_a_coin() -> None:
    truth = np.zeros(2 * FEWEST_TASKS, np.int64)
    labels = np.zeros((len(truth), 6), np.int64)
    labels[:, 0] = 1  # always wrong
    labels[FEWEST_TASKS - 1 :, 1] = -1  # has answered too few
    labels[:FEWEST_TASKS, 2] = -1  # shares too few tasks with the next, but for one of them
    labels[FEWEST_TASKS:, 3] = -1
    made = Answered(labels, truth, 2)
    teams = {tuple(made.team(np.random.default_rng(seed)).tolist()) for seed in range(20)}
    assert teams == {(2, 4, 5), (3, 4, 5)}
    answers, true = made.of(np.array([2, 4, 5]))
    assert answers.shape == (FEWEST_TASKS, 3)
    assert len(true) == FEWEST_TASKS


def test_workers_who_copy_each_other_are_called_assured_and_are_not(tmp_path: Path) -> None:
    # Five of .85, on each half too: three of them independently would err in .061, but they err
    # in .15, like one.
    truth = np.zeros(2000, np.int64)
    labels = np.tile((np.arange(2000) % 20 < 3)[:, None], 5).astype(np.int64)
    data = written(tmp_path / "data" / "copies", labels, truth)
    given = {"data": str(data), "alphas": "0.1", "audits": "1"}
    experiment = with_settings("assured-recorded", given)
    results = run(experiment, reps=6, seed=1, jobs=1)
    assert value(results.rows, CAMPAIGN, "tasks", 0.1) == 1000
    for series in (KNOWN, TOLD):
        assert value(results.rows, series, "assured", 0.1) == 1.0
        assert value(results.rows, series, "error", 0.1) == pytest.approx(0.15, abs=0.03)
        assert value(results.rows, series, "claimed", 0.1) <= 0.1
    # A thousand audits show that .15 are wrong instead of less than .1: nothing is assured.
    assert value(results.rows, WATCHED, "alarm", 0.1) == 1.0
    assert value(results.rows, WATCHED, "assured", 0.1) == 0.0
    said = " ".join(experiment.differences(results.rows))
    assert f"{KNOWN}, alpha 0.1: something is assured on 1 of 1 sets" in said
    assert "copies (0.1" in said
    assert f"{WATCHED}, alpha 0.1: campaigns with an alarm: copies (100.0%)" in said


def test_the_promise_is_kept_where_workers_are_as_the_paper_assumes() -> None:
    experiment = with_settings("assured-recorded", {"alphas": "0.1,0.2"})
    results = run(experiment, reps=4, seed=1, jobs=1)
    for series in SERIES:
        for alpha in (0.1, 0.2):
            assert value(results.rows, series, "assured", alpha) > 0.9
            # 500 tasks, always of the same thousand: three standard errors of .2.
            assert value(results.rows, series, "error", alpha) < alpha + 0.04
    assert value(results.rows, WATCHED, "alarm", 0.1) == 0.0
    said = experiment.differences(results.rows)
    assert "No recorded answers were at hand" in said[0]
    assert any(line.endswith("than allowed on none.") for line in said)


def test_a_folder_in_which_nobody_shares_tasks_is_refused(tmp_path: Path) -> None:
    labels = np.where(np.eye(200, 4, dtype=bool), 0, -1)
    labels[4:, 0] = 0
    data = written(tmp_path / "data" / "apart", labels, np.zeros(200, np.int64))
    with pytest.raises(InvalidParameter, match="in no set 3 workers") as found:
        with_settings("assured-recorded", {"data": str(data)}).cells()
    assert found.value.field == "data"


@pytest.mark.parametrize(
    "given",
    [
        {"alphas": "0.5"},
        {"audits": "0"},
        {"most_tasks": "-1"},
        {"sets": "rte"},
        {"data": "no/such"},
    ],
)
def test_settings_that_make_no_sense_are_refused(given: dict[str, str]) -> None:
    with pytest.raises(InvalidParameter) as found:
        with_settings("assured-recorded", given).cells()
    assert found.value.field == ("data" if "sets" in given else next(iter(given)))
