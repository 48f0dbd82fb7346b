"""The study of cascades: what it works out on tables is what campaigns come to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from askwise.core import draws
from askwise.core.draws import Draw
from askwise.core.errors import AskwiseError
from askwise.lab.experiment import with_settings
from askwise.lab.papers.labels.studies.cascades import (
    judged,
    stages_of,
    walk,
    with_expert,
)
from askwise.lab.runner import run
from askwise.lab.simulate import simulate
from askwise.policies.labels.cascade import moves, thresholds
from askwise.policies.labels.cascade import state as s
from askwise.policies.labels.cascade.policy import CascadePolicy

TASKS = 90


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """90 tasks; a cheap judge is wrong on every fourth, a panel of two on every ninth or split."""
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, TASKS)
    said = {
        "cheap": np.where(np.arange(TASKS) % 4 == 3, 1 - truth, truth),
        "panel-1": np.where(np.arange(TASKS) % 9 == 8, 1 - truth, truth),
        "panel-2": np.where(np.arange(TASKS) % 5 == 4, 1 - truth, truth),
        "unpriced": 1 - truth,
    }
    rows = [
        f"t{at},{worker},{'ab'[labels[at]]}"
        for worker, labels in said.items()
        for at in range(TASKS)
        if (worker, at % 10) != ("panel-2", 7)
    ]
    place = tmp_path / "pairs"
    place.mkdir()
    (place / "labels.csv").write_text("task,worker,label\n" + "\n".join(rows) + "\n")
    gold = [f"t{at},{'ab'[truth[at]]}" for at in range(TASKS)]
    (place / "gold.csv").write_text("task,label\n" + "\n".join(gold) + "\n")
    return tmp_path


PRICES = ("cheap=1", "panel=2")


@pytest.mark.parametrize(("seed", "error"), [(1, 0.1), (2, 0.2), (3, 0.3)])
def test_a_campaign_settles_and_spends_what_the_table_says(
    folder: Path, seed: int, error: float
) -> None:
    recording = judged(str(folder), "pairs", 0, PRICES)
    world = with_expert(recording, 20)
    policy = CascadePolicy(error, 0.8, 24)
    outcome = simulate(policy, world.problem(None), world.answering(), seed=seed)
    state = outcome.state
    assert state.meta[s.SAMPLED] == 24
    stages, draw = int(state.meta[s.STAGES]), Draw(*draws.stream(seed, draws.ABSORB, 0), 0)
    lots = moves.lots_of(state, draw)
    sample = np.flatnonzero(state.place[:TASKS] > 0)
    table = stages_of(recording, np.array([1.0, 2.0, 2.0]))
    found = walk(
        *(table, state.weights[:stages], float(state.threshold[0]), lots), sample, expert=20
    )
    assert found.cost.sum() == pytest.approx(outcome.spent)
    by = np.where(found.stage < 0, stages + 1, found.stage + 1)
    assert by.tolist() == state.by[:TASKS].tolist()
    named = np.where(found.stage < 0, table.truths, found.named)
    assert (named + 1).tolist() == state.said[:TASKS].tolist()
    # Weights and threshold are those of the sample in some order of its tasks.
    order = moves.random_order(draw._replace(decision=moves.SPLIT), TASKS)
    drawn = order[state.place[order] > 0]
    again = thresholds.calibrate(
        *(table.votes[drawn], np.full(24, stages), table.truths[drawn], lots[drawn]),
        tasks=TASKS,
        error=error,
        confidence=0.8,
    )
    assert again.threshold == state.threshold[0]
    assert (again.weights == state.weights[:stages]).all()


def test_the_study_measures_errors_and_costs(folder: Path) -> None:
    settings = {
        "data": str(folder),
        "prices": ",".join(PRICES),
        "errors": "0.3",
        "policies": "hem",
        "truths": "24",
        "confidence": "0.8",
    }
    study = with_settings("judges-cascade", settings)
    found = run(study, seed=1, reps=4, jobs=1)
    of = {(row.series, row.metric): row.mean for row in found.rows if row.panel == "pairs"}
    assert of["the trusted alone", "cost"] == 20
    assert of["cascade", "cost"] < 20
    assert of["cascade", "wrong"] <= 0.3
    assert 24 / TASKS <= of["cascade", "trusted_share"] < 1
    assert of["hem", "cost"] >= 24 / TASKS * 20
    assert any(
        "cascade costs" in line and "hem costs" in line for line in study.differences(found.rows)
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prices": "cheap"}, "prices has 'cheap'"),
        ({"errors": "1.5"}, "errors is 1.5"),
        ({"truths": "5"}, "truths is 5"),
        ({"policies": "best"}, "best"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(AskwiseError, match=message):
        with_settings("judges-cascade", settings)


def test_prices_that_name_nobody_are_refused(folder: Path) -> None:
    with pytest.raises(AskwiseError, match="prices names nobody of the set 'pairs'"):
        judged(str(folder), "pairs", 0, ("other=1",))
