"""Kept results are held against a new run of their experiment."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from askwise.figures import Row
from askwise.lab.experiment import experiments
from askwise.lab.results import Results
from docs import reproduce

ROW = Row("market", "uniform", 500.0, "utility", 10.0, 9.0, 11.0, 100)
CHEAP = "bounded-applicants"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the results of one small run."""
    monkeypatch.setattr(reproduce, "KEPT", tmp_path)
    assert reproduce.main([CHEAP, "--keep", "--reps", "20", "--seed", "3"]) == 0
    return tmp_path / f"{CHEAP}.json"


def test_the_same_seed_asks_for_the_same_rows() -> None:
    assert reproduce.differences([ROW], [ROW], same_seed=True) == []
    moved = replace(ROW, mean=10.0 + 1e-7)
    (found,) = reproduce.differences([ROW], [moved], same_seed=True)
    assert "utility of uniform at 500 (market): kept 10.0, now 10.0000001" in str(found)


def test_where_means_are_the_same_it_says_what_else_differs() -> None:
    more = replace(ROW, ci_low=9.1, n=101)
    (found,) = reproduce.differences([ROW], [more], same_seed=True)
    assert str(found).endswith("kept 10.0 [9.0, 11.0] of 100, now 10.0 [9.1, 11.0] of 101")


def test_the_last_digits_of_a_float_may_differ() -> None:
    rounded = replace(ROW, mean=10.0 + 2e-15 * 10, ci_high=11.0 - 2e-15 * 11)
    assert rounded != ROW
    assert reproduce.differences([ROW], [rounded], same_seed=True) == []


def test_another_seed_may_differ_by_four_joint_standard_errors() -> None:
    # Both have a standard error of 1 / 1.96, so jointly 0.7216: four of them are 2.886.
    near, far = (
        replace(ROW, mean=12.8, ci_low=11.8, ci_high=13.8),
        Row(*("market", "uniform", 500.0, "utility"), 12.9, 11.9, 13.9, 100),
    )
    assert reproduce.differences([ROW], [near], same_seed=False) == []
    (found,) = reproduce.differences([ROW], [far], same_seed=False)
    assert round(found.far, 2) == 4.02


def test_rows_without_a_spread_have_to_be_equal() -> None:
    sure = replace(ROW, ci_low=10.0, ci_high=10.0)
    other = replace(sure, mean=10.1, ci_low=10.1, ci_high=10.1)
    assert reproduce.differences([sure], [sure], same_seed=False) == []
    assert len(reproduce.differences([sure], [other], same_seed=False)) == 1


@pytest.mark.parametrize("same_seed", [True, False])
def test_rows_that_went_or_came_are_differences(same_seed: bool) -> None:
    other = replace(ROW, series="random")
    (gone,) = reproduce.differences([ROW, other], [ROW], same_seed=same_seed)
    assert str(gone) == "utility of random at 500 (market): missing"
    (came,) = reproduce.differences([ROW], [ROW, other], same_seed=same_seed)
    assert str(came) == "utility of random at 500 (market): not among those kept"


def test_with_another_seed_a_row_may_be_missing_that_rests_on_some_replications_only() -> None:
    rare = replace(ROW, series="random", n=99)
    assert reproduce.differences([ROW, rare], [ROW], same_seed=False) == []
    assert reproduce.differences([ROW], [ROW, rare], same_seed=False) == []
    assert len(reproduce.differences([ROW, rare], [ROW], same_seed=True)) == 1


def test_a_kept_run_says_how_it_was_made_and_can_be_repeated(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = Results.read_json(kept)
    assert (results.seed, results.reps) == (3, 20)
    assert set(results.made) == {"version", "seconds", "sources"}
    assert re.fullmatch(r"[0-9a-f]{12}", results.made["sources"])
    assert kept.with_suffix(".svg").is_file()
    assert reproduce.main([CHEAP]) == 0
    count = len(results.rows)
    assert f"{CHEAP}: {count} of {count} rows the same (seed 3, 20" in capsys.readouterr().out


def test_a_row_that_was_changed_is_found(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = Results.read_json(kept)
    first = results.rows[0]
    forged = replace(first, mean=first.mean + 1, ci_low=first.ci_low, ci_high=first.ci_high + 1)
    replace(results, rows=(forged, *results.rows[1:])).write_json(kept)
    assert reproduce.main([CHEAP]) == 1
    printed = capsys.readouterr()
    assert f"not: {CHEAP}" in printed.err
    assert f"{first.metric} of {first.series} at {first.x:g}" in printed.out


def test_what_differs_can_be_kept_again(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = Results.read_json(kept)
    first = results.rows[0]
    forged = replace(first, mean=first.mean + 1, ci_high=first.ci_high + 1)
    replace(results, rows=(forged, *results.rows[1:])).write_json(kept)
    assert reproduce.main([CHEAP, "--renew"]) == 0
    assert f"{CHEAP}: kept again" in capsys.readouterr().out
    renewed = Results.read_json(kept)
    assert (renewed.rows, renewed.seed, renewed.reps) == (results.rows, 3, 20)
    replace(results, made={}).write_json(kept)
    assert reproduce.main([CHEAP, "--renew"]) == 0
    assert Results.read_json(kept).made
    with pytest.raises(SystemExit):
        reproduce.main([CHEAP, "--renew", "--seed", "4"])


def test_a_record_leaves_out_what_agreed_until_its_results_change(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "record" / "agreed.jsonl"
    again = ["--record", str(record)]
    assert reproduce.main(again) == 0
    assert "rows the same" in capsys.readouterr().out
    assert reproduce.main(again) == 0
    assert re.search(rf"{CHEAP}: agreed before, at \S+\n1 of 1 exp", capsys.readouterr().out)
    assert reproduce.main([CHEAP, *again]) == 0, "what is named is run"
    assert "rows the same" in capsys.readouterr().out
    assert reproduce.main([*again, "--seed", "5"]) == 0
    assert "joint standard errors" in capsys.readouterr().out
    entries = [json.loads(line) for line in record.read_text().splitlines()]
    assert [entry["how"] for entry in entries] == ["seed 5 reps None", "seed None reps None"]
    results = Results.read_json(kept)
    replace(results, rows=results.rows[1:]).write_json(kept)
    assert reproduce.main(again) == 1


def test_what_does_not_agree_any_more_is_off_the_record(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "agreed.jsonl"
    again = ["--record", str(record)]
    assert reproduce.main(again) == 0
    with monkeypatch.context() as changed:
        changed.setattr(reproduce, "check", lambda *_: False)  # another NumPy, say
        assert reproduce.main([CHEAP, *again]) == 1
    assert record.read_text() == ""
    assert reproduce.main([*again, "--fresh"]) == 0
    assert len(record.read_text().splitlines()) == 1


def test_what_could_not_be_run_stays_on_record_and_what_is_kept_again_has_to_agree_first(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "agreed.jsonl"
    again = ["--record", str(record)]
    assert reproduce.main(again) == 0
    before = record.read_text()
    assert reproduce.main([CHEAP, *again, "--set", "budget=3"]) == 1
    assert record.read_text() == before
    results = Results.read_json(kept)
    replace(results, rows=results.rows[1:]).write_json(kept)
    assert reproduce.main([*again, "--renew"]) == 0
    capsys.readouterr()
    assert reproduce.main(again) == 0
    assert "rows the same" in capsys.readouterr().out


def test_what_is_changed_during_a_run_is_not_on_record(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = ["--record", str(tmp_path / "agreed.jsonl")]
    check = reproduce.check

    def check_and_change(*given: Any) -> bool:
        agreed = check(*given)
        results = Results.read_json(kept)
        replace(results, rows=results.rows[1:]).write_json(kept)
        return agreed

    with monkeypatch.context() as changed:
        changed.setattr(reproduce, "check", check_and_change)
        assert reproduce.main(again) == 0
    assert reproduce.main(again) == 1


def test_results_of_every_experiment_are_kept_unless_it_says_why_not() -> None:
    kept = {path.stem for path in reproduce.KEPT.glob("*.json")}
    assert kept == {name for name in experiments.names() if not experiments.get(name).not_kept}


def test_a_folder_of_data_is_passed_over_where_there_is_no_use_for_it_and_other_settings_are_not(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reproduce.main([CHEAP, "--set", "data=elsewhere"]) == 0
    assert reproduce.main([CHEAP, "--set", "budget=3"]) == 1
    assert "has no parameter 'budget'" in capsys.readouterr().out


def test_an_experiment_without_kept_results_is_named(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reproduce.main(["judges"]) == 1
    assert "no results of judges are kept" in capsys.readouterr().out


def test_recorded_data_has_to_be_pointed_at(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded = Results("labels-rte", 1, 10, {"data": "data"}, (ROW,))
    recorded.write_json(kept.with_name("labels-rte.json"))
    assert reproduce.main(["labels-rte"]) == 1
    assert "--set data=FOLDER" in capsys.readouterr().out
