"""The study of confidences: what is measured, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from askwise.core.errors import InvalidParameter
from askwise.lab.experiment import with_settings
from askwise.lab.papers.labels.studies.calibration import RAW
from askwise.lab.papers.labels.studies.sets import STAND_IN
from askwise.lab.results import Results
from askwise.lab.runner import run


def ran(**settings: str) -> Results:
    return run(with_settings("labels-calibration", settings), seed=1, reps=2, jobs=1)


def test_tempering_and_truths_bring_confidence_nearer_to_accuracy(tmp_path: Path) -> None:
    # Nine workers err once in ten, on every fourth task nine times in ten: as found, nearly all
    # is sure and a quarter wrong.
    rng = np.random.default_rng(3)
    place = tmp_path / "together"
    place.mkdir()
    labels, gold = ["task,worker,label"], ["task,label"]
    for task in range(300):
        truth, wrong = rng.integers(2), 0.9 if task % 4 == 0 else 0.1
        gold.append(f"{task},{truth}")
        for worker in range(9):
            labels.append(f"{task},w{worker},{truth ^ int(rng.random() < wrong)}")
    (place / "labels.csv").write_text("\n".join(labels) + "\n")
    (place / "gold.csv").write_text("\n".join(gold) + "\n")
    found = ran(data=str(tmp_path), methods="one-coin(prior=1)", truths="0,100")
    error = {
        (row.series, row.x): row.mean
        for row in found.rows
        if row.panel == "together" and row.metric == "ece"
    }
    raw = error[f"one-coin(prior=1), {RAW}", 0.0]
    assert raw > 0.2
    assert error["one-coin(prior=1)", 0.0] < raw - 0.05
    # A hundred truths have a standard error of .043; and ten bins of 200 tasks cost about .04.
    assert error["one-coin(prior=1)", 100.0] < 0.13


def test_without_data_a_stand_in_is_measured() -> None:
    found = ran(methods="majority", truths="0,20,180")
    assert {row.panel for row in found.rows} == {STAND_IN, ""}
    counts = {row.x for row in found.rows if row.metric == "brier"}
    # After 180 of 200 truths too few tasks are left.
    assert counts == {0.0, 20.0}
    experiment = with_settings("labels-calibration", {"methods": "majority", "truths": "0,20"})
    said = " ".join(experiment.differences(found.rows))
    errors = {row.x: row.mean for row in found.rows if row.metric == "ece" and row.panel}
    least = {row.x: row.mean for row in found.rows if row.metric == "least_ece"}
    # One set is its own mean.
    assert f"20 truths calibration error {errors[20.0]:.3f} ({least[20.0]:.3f}), log loss" in said
    assert f"by set: {STAND_IN} {errors[0.0]:.3f}, {errors[20.0]:.3f}." in said


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"truths": "-1"}, "truths is -1"),
        ({"methods": "mean"}, "does not label a table"),
        ({"sets": "rte"}, "give data as well"),
        ({"data": "nowhere"}, "there is no such folder"),
    ],
)
def test_what_can_not_be_run_is_refused(settings: dict[str, str], words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        with_settings("labels-calibration", settings).cells()


def test_a_brier_score_above_one_is_measured_too(tmp_path: Path) -> None:
    # Everybody names the option after the right one of three: sure and wrong, which scores 2.
    place = tmp_path / "deceived"
    place.mkdir()
    answers = [(task, worker, (task + 1) % 3) for task in range(120) for worker in range(3)]
    labels = ["task,worker,label", *(",".join(map(str, each)) for each in answers)]
    gold = ["task,label", *(f"{task},{task % 3}" for task in range(120))]
    (place / "labels.csv").write_text("\n".join(labels) + "\n")
    (place / "gold.csv").write_text("\n".join(gold) + "\n")
    found = ran(data=str(tmp_path), methods="majority", truths="0")
    assert not found.failures
    scores = [row for row in found.rows if (row.panel, row.metric) == ("deceived", "brier")]
    assert scores
    assert all(row.mean > 1.5 for row in scores)
