"""Tables and recorded sets: contexts, what is left out and said, and stand-ins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from askwise.core.errors import InvalidParameter
from askwise.figures import Row
from askwise.lab.papers.labels.studies import tables
from askwise.lab.papers.labels.studies.sets import (
    STAND_IN,
    about_sets,
    check_sets,
    read_set,
    sets_in,
    stand_in,
    told,
)
from askwise.lab.papers.labels.studies.tables import (
    SIMULATED,
    TaskTable,
    absent,
    at_hand,
    clusters,
    simulated_table,
    table,
)
from askwise.lab.papers.labels.studies.workers import histogram
from askwise.lab.worlds import Recording


def put(folder: Path, name: str, **files: str) -> Path:
    """Write a set: each file by its name, lines parted by spaces."""
    place = folder / name
    place.mkdir()
    for file, text in files.items():
        (place / f"{file}.csv").write_text("\n".join(text.split()) + "\n", encoding="utf-8")
    return place


def test_a_set_is_read_with_gold_contexts_and_prices(tmp_path: Path) -> None:
    place = put(
        tmp_path,
        "hand",
        labels="task,worker,label a,x,no a,y,yes b,x,yes b,x,no c,z,no",
        gold="task,label a,yes b,maybe",
        context="task,context a,red b,blue c,red",
        workers="worker,cost_usd_per_10k x,5 y,0.001 z,15",
    )
    found = read_set(str(place), 0)
    recording = found.recording
    assert recording is not None
    assert found.workers == ("x", "y", "z")
    assert (recording.tasks, recording.workers, recording.options) == (3, 3, 3)
    # Options in order: maybe, no, yes; the second answer of x to b is left out.
    assert found.duplicates == 1
    pairs = zip(recording.task, recording.worker, recording.label, strict=True)
    assert sorted(tuple(map(int, each)) for each in pairs) == [
        (0, 0, 1), (0, 1, 2), (1, 0, 2), (2, 2, 1),
    ]  # fmt: skip
    assert recording.truth.tolist() == [2, 0, -1]
    assert recording.contexts is not None
    assert recording.contexts.tolist() == [1, 0, 1]
    assert [str(price) for price in recording.prices] == ["5", "0.001", "15"]


def test_of_a_large_set_tasks_with_gold_come_first_and_it_is_said(tmp_path: Path) -> None:
    place = put(
        tmp_path,
        "large",
        labels="task,worker,label 1,x,a 2,y,b 3,x,a 4,z,b 5,x,b",
        gold="task,label 4,b 2,a",
    )
    found = read_set(str(place), 3)
    assert found.recording is not None
    # Tasks 2 and 4 have gold; then the first of the others, task 1. Worker z keeps their answer.
    assert found.recording.tasks == 3
    assert found.recording.truth.tolist() == [-1, 0, 1]
    assert found.workers == ("x", "y", "z")
    fewer = read_set(str(place), 2)
    assert fewer.workers == ("y", "z")
    said = " ".join(about_sets([row for each in (found,) for row in each.notes()]))
    assert "large (3 of 5)" in said
    assert "large (2 of 3)" in said


def test_sets_that_can_not_be_used_are_named_with_the_reason(tmp_path: Path) -> None:
    scale = " ".join(f"t,{k},{k}" for k in range(12))
    put(tmp_path, "scores", labels=f"task,worker,label {scale}", gold="task,label t,3")
    put(tmp_path, "blind", labels="task,worker,label a,x,no a,y,yes")
    put(tmp_path, "good", labels="task,worker,label a,x,no a,y,yes", gold="task,label a,yes")
    found = [read_set(str(path), 0) for path in sets_in(str(tmp_path), ()).values()]
    assert [each.name for each in found if each.recording is not None] == ["good"]
    said = about_sets([row for each in found for row in each.notes()])
    assert any("scores (its labels are 12 distinct numbers, a scale)" in line for line in said)
    assert any("blind (no task's truth is known" in line for line in said)


def test_without_data_a_stand_in_is_used_and_it_is_said_how_to_give_data() -> None:
    found = stand_in()
    assert found.recording is not None
    assert not found.recording.is_complete
    counts = np.bincount(found.recording.task)
    assert (counts == 10).all()
    said = about_sets(found.notes())
    assert len(said) == 1
    assert "--set data=FOLDER" in said[0]
    assert told(found.notes())[STAND_IN]["tasks"] == 200
    assert {str(price) for price in stand_in(priced=True).recording.prices} == {"1", "2", "3", "4"}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("data", "names", "field", "message"),
    [
        ("nowhere", (), "data", "there is no such folder"),
        ("{}/empty", (), "data", "holds no set"),
        ("{}", ("hend",), "sets", "did you mean 'hand'"),
    ],
)
def test_a_folder_that_is_none_is_named(
    tmp_path: Path, data: str, names: tuple[str, ...], field: str, message: str
) -> None:
    put(tmp_path, "hand", labels="task,worker,label a,x,no")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidParameter, match=message) as caught:
        sets_in(data.format(tmp_path), names)
    assert caught.value.field == field


def test_names_without_a_folder_or_twice_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="give data as well"):
        check_sets("", ("rte",))
    with pytest.raises(InvalidParameter, match="twice"):
        check_sets("here", ("rte", "rte"))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"labels": "task,worker a,x"}, "no column 'label'"),
        (
            {"labels": "task,worker,label a,x,1 a,y,0", "gold": "task,label a,1",
             "workers": "worker,price x,1"},
            "no price for worker 'y'",
        ),
        (
            {"labels": "task,worker,label a,x,1 a,y,0", "gold": "task,label a,1 a,0"},
            "gold.csv, line 3",
        ),
    ],
)  # fmt: skip
def test_a_broken_set_is_named_in_one_line(
    tmp_path: Path, files: dict[str, str], message: str
) -> None:
    place = put(tmp_path, "bad", **files)
    with pytest.raises(InvalidParameter, match=message) as caught:
        read_set(str(place), 0)
    assert caught.value.field == "data"
    assert "\n" not in str(caught.value)


def test_clusters_that_are_far_apart_are_found_whatever_their_scale() -> None:
    rng = np.random.default_rng(0)
    places = np.repeat([0, 1, 2], 30)
    features = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9000.0]])[places]
    features += rng.normal(size=features.shape) * [0.5, 500.0]
    # A column that is always the same tells nothing and divides by nothing.
    found = clusters(np.column_stack([features, np.ones(90)]), 3)
    assert len({(a, b) for a, b in zip(places, found, strict=True)}) == 3
    assert np.array_equal(found, clusters(np.column_stack([features, np.ones(90)]), 3))


def test_the_cluster_majority_is_counted_by_hand() -> None:
    made = TaskTable(np.array([0, 0, 1, 1, 1, 0]), np.array([0, 0, 0, 1, 1, 1]), 3)
    assert made.by_cluster() == pytest.approx(4 / 6)


def test_tables_come_from_the_folder_and_those_absent_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_bundled", lambda: (_ for _ in ()).throw(ImportError()))
    monkeypatch.setattr(tables, "_downloaded", lambda name: None)
    tables._features.cache_clear()
    (tmp_path / "uci").mkdir()
    rows = "\n".join(f"{k % 7},{k % 5},{'no' if k % 3 else 'yes'}" for k in range(40))
    text = "u,v,label\n" + "\n".join(f"{k % 7},{k % 5},{int(k % 3 == 0)}" for k in range(40))
    (tmp_path / "uci" / "pima.csv").write_text(text, encoding="utf-8")
    try:
        assert at_hand(str(tmp_path)) == ["pima"]
        made = table(str(tmp_path), "pima")
        assert made.truth.tolist() == [int(k % 3 == 0) for k in range(40)]
        assert made.workers == 50
        assert len(np.unique(made.contexts)) == 5
        assert at_hand("") == [SIMULATED]
        with pytest.raises(InvalidParameter, match=r"uci/breast\.csv"):
            table(str(tmp_path), "breast")
        (tmp_path / "uci" / "breast.csv").write_text("u,v,label\n" + rows, encoding="utf-8")
        tables._features.cache_clear()
        with pytest.raises(InvalidParameter, match=r"breast\.csv"):
            at_hand(str(tmp_path))
    finally:
        tables._features.cache_clear()
        tables.table.cache_clear()
    assert "ionosphere, breast were not at hand; the others are shown" in absent(["pima"])[0]
    assert "stands in" in absent([SIMULATED])[0]
    assert absent(["ionosphere", "breast", "pima"]) == []


def test_simulated_tasks_have_every_context_and_option() -> None:
    made = simulated_table(400, 4, 40, 3)
    assert np.bincount(made.contexts).tolist() == [100] * 4
    assert len(np.unique(made.truth)) == 3
    # In each context one option has .4 + .6 / 3 = .6 of the tasks, within four standard errors.
    assert made.by_cluster() == pytest.approx(0.6, abs=0.1)


def test_workers_are_counted_by_true_accuracy_up_to_each_mark() -> None:
    # 20 tasks, all true 0. Worker 0 is right in all, 1 in 13 (.65), 2 in 14 (.7), 3 in none.
    right = [20, 13, 14, 0]
    labels = np.array([[0 if task < good else 1 for good in right] for task in range(20)])
    counts = histogram(Recording.complete(labels, np.zeros(20, np.int64), 2))
    assert counts.sum() == 4
    assert [int(np.flatnonzero(counts)[k]) for k in range(4)] == [0, 12, 13, 19]


def test_notes_are_rows_of_no_panel() -> None:
    assert all(isinstance(row, Row) and not row.panel for row in stand_in().notes())
