"""Studies of certificates: what they measure, on data and in worlds that deceive."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from askwise.core.errors import AskwiseError
from askwise.lab.experiment import with_settings
from askwise.lab.papers.labels.studies.certificates import Labelled, audit, labels_of
from askwise.lab.papers.labels.studies.deceiving import WORLDS, world_of
from askwise.lab.results import Results
from askwise.lab.runner import run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set in a folder of the folder: 90 tasks, of which two judges get every ninth wrong."""
    place = tmp_path / "judges" / "pairs"
    place.mkdir(parents=True)
    rows = [f"t{at},w{who},{'ab'[at % 9 == 8 and who < 2]}" for at in range(90) for who in range(3)]
    (place / "labels.csv").write_text("task,worker,label\n" + "\n".join(rows) + "\n")
    gold = [f"t{at},a" for at in range(90)]
    (place / "gold.csv").write_text("task,label\n" + "\n".join(gold) + "\n")
    return tmp_path


def mean(found: Results, metric: str, series: str, x: float) -> float:
    (row,) = [row for row in found.rows if (row.metric, row.series, row.x) == (metric, series, x)]
    return row.mean


def test_certificates_of_recorded_answers_are_measured(folder: Path) -> None:
    settings = {
        "data": str(folder),
        "methods": "majority",
        "errors": "0.05,0.2",
        "audits": "60",
        "again": "25",
    }
    found = run(with_settings("judges-honest", settings), seed=1, reps=20, jobs=1)
    # A ninth of the labels is wrong: those on which the judges differ, so not the surest.
    assert mean(found, "certified_share", "majority", 0.2) > 0.95
    assert mean(found, "certified_share", "majority", 0.05) == pytest.approx(80 / 90, abs=0.06)
    for error in (0.05, 0.2):
        assert mean(found, "false", "majority", error) <= 0.25
        assert 0 < mean(found, "audits", "majority", error) <= 60
    assert {row.panel for row in found.rows} == {"judges/pairs", ""}
    said = with_settings("judges-honest", settings).differences(found.rows)
    assert any("at most 0.2 wrong" in line for line in said)


def test_labels_of_a_set_are_ordered_by_weighted_votes(folder: Path) -> None:
    plain = labels_of(str(folder), "judges/pairs", 0, "majority")
    assert plain.wrong.sum() == 10
    assert sorted(set(plain.scores)) == pytest.approx([1 / 3, 1.0], abs=1e-6)
    assert (plain.scores[plain.wrong] < 1).all()


def test_an_audit_counts_what_the_trusted_source_answers() -> None:
    wrong = np.arange(100) >= 80
    labelled = Labelled(wrong, np.linspace(1, 0, 100), np.ones(100))
    settings = {"error": 0.1, "confidence": 0.9, "audits": 60, "seed": 3}
    plain = audit(labelled, **settings, escalate=False)
    assert 50 <= plain.kept <= 88
    assert plain.false == (plain.wrong > plain.kept / 10)
    every = audit(labelled, **settings, escalate=True)
    # What is not certified is answered by the trusted source, and so are audits inside.
    assert 100 - every.kept <= every.trusted <= 100 - every.kept + every.audits
    assert every.wrong <= 10


@pytest.mark.parametrize("name", WORLDS)
def test_worlds_that_deceive_are_what_they_say(name: str) -> None:
    labelled = world_of(name, 0.1, 7)
    surest = np.argsort(-labelled.scores, kind="stable")[: (len(labelled.wrong) + 1) // 2]
    shares = {
        "a third wrong together": 1 / 3,
        "no error": 0,
        "all wrong": 1,
    }
    if name in shares:
        assert labelled.wrong.mean() == pytest.approx(shares[name], abs=0.01)
    elif name == "ties everywhere":
        assert len(set(labelled.scores)) == 1
        assert labelled.wrong.mean() > 0.1
    else:
        assert labelled.wrong[surest].mean() > 0.1


def test_worlds_that_deceive_are_measured() -> None:
    settings = {"worlds": "no error,all wrong", "errors": "0.1", "audits": "40"}
    experiment = with_settings("certify-worlds", settings)
    found = run(experiment, seed=1, reps=3, jobs=1)
    shares = {
        (row.panel, row.series): row.mean for row in found.rows if row.metric == "certified_share"
    }
    assert shares["no error", "certificate"] > 0.8
    assert shares["all wrong", "certificate"] == 0
    assert shares["all wrong", "with escalation"] == pytest.approx(0.1)
    assert "10% are allowed" in experiment.differences(found.rows)[0]


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("judges-honest", {"errors": "1.5"}, "errors is 1.5"),
        ("judges-honest", {"audits": "0"}, "audits is 0"),
        ("judges-honest", {"confidence": "1"}, "confidence is 1"),
        ("judges-honest", {"methods": "best"}, "best"),
        ("certify-worlds", {"worlds": "heaven"}, "worlds has 'heaven'"),
        ("certify-worlds", {"errors": "0"}, "errors is 0"),
    ],
)
def test_bad_settings_are_refused(name: str, settings: dict[str, str], said: str) -> None:
    with pytest.raises(AskwiseError, match=said):
        with_settings(name, settings)
