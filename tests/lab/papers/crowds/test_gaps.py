"""The distribution of gaps: tallies by hand, sets from small tables, and recorded answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import product
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from askwise.core.errors import InvalidParameter
from askwise.figures import Row
from askwise.lab.experiment import with_settings
from askwise.lab.papers.crowds.studies.gaps import SEEN, SIMULATED, Gaps
from askwise.lab.papers.crowds.studies.tallies import (
    Steps,
    gap_left_out,
    gap_of,
    if_uniform,
    is_scale,
    read_tallies,
)
from askwise.lab.results import Results
from askwise.lab.runner import run, write
from tests.paths import DATA

HAND = {
    "alone": "a",
    "unanimous": "aaaa",
    "tied": "aabb",
    "clear": "aaab",
    "three": "aaabbc",
    "three tied": "abc",
}
"""Answers of six tasks; their gaps are 1, 1, 0, 1/2, 1/6 and 0."""


def put(folder: Path, name: str, tasks: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Write a set: each task with its answers, by workers 0, 1, ..."""
    lines = ["task,worker,label"]
    for task, answers in tasks:
        lines += [f"{task},{worker},{label}" for worker, label in enumerate(answers)]
    (folder / name).mkdir()
    (folder / name / "labels.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def ran(folder: Path, reps: int = 50, **settings: str) -> Results:
    return run(with_settings("survey-gaps", {"data": str(folder), **settings}), reps=reps, seed=1)


def row_of(results: Results, series: str, metric: str) -> Row:
    (found,) = (
        row
        for row in results.rows
        if (row.panel, row.series, row.metric) == ("", series, metric)
    )  # fmt: skip
    return found


def curve(results: Results, name: str, series: str) -> dict[float, Row]:
    return {
        row.x: row
        for row in results.rows
        if row.metric == "cdf" and row.series == series and row.panel.startswith(f"{name} (")
    }


def differences(results: Results) -> str:
    params: Any = {k: tuple(v) if isinstance(v, list) else v for k, v in results.params.items()}
    return "\n".join(Gaps(**params).differences(results.rows))


@pytest.mark.parametrize(
    ("tally", "gap"),
    [
        ((1,), 1),
        ((4,), 1),
        ((2, 2), 0),
        ((3, 1), 1 / 2),
        ((3, 2, 1), 1 / 6),
        ((1, 1, 1), 0),
        ((7, 1, 1, 1), 0.6),
    ],
)
def test_a_gap_is_the_leaders_share_less_the_seconds(tally: tuple[int, ...], gap: float) -> None:
    assert gap_of(tally) == pytest.approx(gap, abs=1e-15)


@pytest.mark.parametrize(
    ("tally", "gap"),
    [
        ((1,), 0),  # nothing to go by
        ((5,), 1),
        ((1, 1), -1),  # either answer is against the other
        ((3, 1), (3 - 1) / 4),
        ((3, 2), -2 / 5),  # a left out: a tie, nothing; b left out: it is against the leader
        ((2, 1, 1), 0),  # a left out: all tie; b or c left out: it is third
        ((3, 2, 1), -2 / 2 / 6),  # a: level with b; b: second or third, by lot; c: third
    ],
)
def test_a_left_out_answer_counts_for_or_against_the_leader_of_the_others(
    tally: tuple[int, ...], gap: float
) -> None:
    assert gap_left_out(tally) == pytest.approx(gap, abs=1e-15)


@pytest.mark.parametrize("answers", [2, 5, 10])
@pytest.mark.parametrize("gap", [0.0, 0.2, 0.7, 1.0])
def test_with_two_options_the_true_gap_is_between_the_two_expectations(
    answers: int, gap: float
) -> None:
    share = (1 + gap) / 2
    low = high = 0.0
    for votes in range(answers + 1):
        chance = comb(answers, votes) * share**votes * (1 - share) ** (answers - votes)
        tally = tuple(sorted((each for each in (votes, answers - votes) if each), reverse=True))
        low += chance * gap_left_out(tally)
        high += chance * gap_of(tally)
    assert low - 1e-12 <= gap <= high + 1e-12


def test_uniform_gaps_make_every_number_of_votes_equally_likely() -> None:
    shares = (1 + (np.arange(20_000) + 0.5) / 20_000) / 2
    for answers in (1, 4, 7):
        chances: dict[float, float] = defaultdict(float)
        for votes in range(answers + 1):
            chance = comb(answers, votes) * shares**votes * (1 - shares) ** (answers - votes)
            chances[abs(2 * votes - answers) / answers] += float(chance.mean())
        law = if_uniform([answers], np.ones(1))
        assert law.values.tolist() == sorted(chances)
        assert np.diff(law.upto, prepend=0) == pytest.approx(
            [chances[value] for value in sorted(chances)], abs=1e-6
        )


def test_tasks_with_different_numbers_of_answers_are_mixed_by_their_numbers() -> None:
    # One answer shows a gap of 1; two show 0 (one of three) or 1.
    law = if_uniform([1, 2], np.array([1.0, 3.0]))
    assert law.at(np.array([0.0, 0.5, 1.0])) == pytest.approx([1 / 4, 1 / 4, 1])


def test_distances_are_the_largest_also_just_before_a_step() -> None:
    steps = Steps.of(np.array([0.9, 0.2, 0.2]), np.array([1.0, 0.5, 0.5]))
    assert steps.at(np.array([0.1, 0.2, 0.89, 0.9])).tolist() == [0, 0.5, 0.5, 1]
    assert steps.mean() == pytest.approx(0.55)
    assert steps.from_uniform() == pytest.approx(0.4)  # 0.5 just before 0.9
    assert steps.distance(Steps.of(np.array([0.5]), np.ones(1))) == pytest.approx(0.5)
    assert steps.distance(steps) == 0


def test_a_set_shows_the_gaps_of_its_tasks(tmp_path: Path) -> None:
    put(tmp_path, "hand", HAND.items())
    results = ran(tmp_path, least="1")
    shown = curve(results, "hand", "empirical")
    expected = {0: 2 / 6, 0.15: 2 / 6, 0.2: 3 / 6, 0.45: 3 / 6, 0.5: 4 / 6, 0.95: 4 / 6, 1: 1}
    assert {x: shown[x].mean for x in expected} == pytest.approx(expected)
    assert row_of(results, "hand", "mean_gap").mean == pytest.approx((1 + 1 + 1 / 2 + 1 / 6) / 6)
    left_out = 0 + 1 - 1 + 1 / 2 - 1 / 6 + 0
    assert row_of(results, "hand", "mean_gap_left_out").mean == pytest.approx(left_out / 6)
    # Two of six tasks at 0, and two more only at 1.
    assert row_of(results, "hand", "ks_uniform").mean == pytest.approx(1 / 3)
    assert row_of(results, "hand", "tasks").mean == 6
    assert row_of(results, "hand", "options").mean == 3
    assert {row.panel for row in shown.values()} == {"hand (6 tasks, 1 to 6 answers)"}


def test_intervals_hold_the_estimate_and_tighten_with_more_tasks(tmp_path: Path) -> None:
    tasks = [(f"{k}", "a" * (5 + k % 6) + "b" * (5 - k % 6)) for k in range(30)]
    put(tmp_path, "few", tasks)
    put(tmp_path, "many", ((f"{name}{k}", each) for k in range(16) for name, each in tasks))
    results = ran(tmp_path, reps=400)
    for row in results.rows:
        assert row.ci_low <= row.mean <= row.ci_high
        assert row.n == 400
    widths = [
        row.ci_high - row.ci_low
        for row in (row_of(results, name, "mean_gap") for name in ("few", "many"))
    ]
    # The standard deviation of 0, .2, ..., 1 is .3416; 16 times the tasks, a quarter the width.
    assert widths[0] == pytest.approx(2 * 1.96 * 0.3416 / 30**0.5, rel=0.15)
    assert widths[1] == pytest.approx(widths[0] / 4, rel=0.2)


def test_a_worker_counts_once_a_task_and_further_columns_do_not_matter(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text(
        "when,label,worker,task\n1,x,ann,t\n2,y,ann,t\n\n3,y,bob,t\n4,x,ann,u\n", encoding="utf-8"
    )
    assert read_tallies(file) == {"t": {"x": 1, "y": 1}, "u": {"x": 1}}


@pytest.mark.parametrize(
    ("labels", "scale"),
    [
        ([str(k) for k in range(10)], False),
        ([str(k) for k in range(11)], True),
        (["-1", "0", "1"], False),
        (["0.0", "1.0"], False),
        (["0", "0.5", "1"], True),
        ([f"class {k}" for k in range(50)], False),
        (["nan", "inf"], False),
    ],
)
def test_many_numbers_or_fractions_are_a_scale(labels: list[str], scale: bool) -> None:
    assert is_scale(labels) == scale


def test_sets_that_do_not_fit_are_skipped_with_the_reason(tmp_path: Path) -> None:
    put(tmp_path, "good", [(f"{k}", "aaab") for k in range(3)] + [("short", "a")])
    put(tmp_path, "scores", [("t", [str(k) for k in range(12)])])
    put(tmp_path, "thin", [("t", "aabb"), ("u", "a"), ("v", "b")])
    (tmp_path / "other").mkdir()
    results = ran(tmp_path, least="4")
    assert {row.series for row in results.rows if row.metric == "mean_gap"} == {SIMULATED, "good"}
    said = differences(results)
    assert "good (3 of 4 tasks, 4 answers): mean gap 0.500" in said
    assert "scores (its labels are 12 distinct numbers, a scale" in said
    assert "thin (1 of 3 tasks have 4 answers or more)" in said
    assert "other" not in said.split("Skipped")[1]
    # What is said follows from the rows: kept results need no folder.
    kept = Results.from_json(results.to_json())
    (tmp_path / "good" / "labels.csv").unlink()
    assert differences(kept) == said


def test_a_set_that_is_named_needs_one_task_with_enough_answers(tmp_path: Path) -> None:
    put(tmp_path, "thin", [("t", "aabb"), ("u", "a"), ("v", "b")])
    put(tmp_path, "broken", [("t", ["", "a"])])
    results = ran(tmp_path, least="4", sets="thin")
    assert row_of(results, "thin", "mean_gap").mean == 0
    assert "Skipped" not in differences(results)


def test_the_differences_tell_uniform_gaps_from_others(tmp_path: Path) -> None:
    # Every number of votes once, eight times over: as uniform as ten answers can be.
    votes = [(f"{k}-{again}", k) for k, again in product(range(11), range(8))]
    put(tmp_path, "even", ((name, "a" * k + "b" * (10 - k)) for name, k in votes))
    put(tmp_path, "clear", ((name, "aaaaaaaaaa") for name, _ in votes))
    results = ran(tmp_path, reps=200)
    even = row_of(results, "even", "ks_as_many_answers")
    assert even.mean == pytest.approx(0, abs=1e-12)
    assert row_of(results, "even", "ks_uniform").mean == pytest.approx(2 / 11)
    assert row_of(results, "clear", "ks_as_many_answers").mean == pytest.approx(9 / 11)
    assert row_of(results, "clear", "ks_uniform").mean == 1
    said = differences(results)
    assert "Here 1 of 2 sets can't be told from that (even)" in said
    assert "furthest clear (0.82)" in said
    assert "uniform gaps would show 0.545, so these are about as large" in said
    assert "uniform gaps would show 0.545, so these are larger on average" in said


def test_without_data_a_simulated_workload_is_shown_and_how_to_give_data() -> None:
    results = run(with_settings("survey-gaps", {}), reps=400, seed=1)
    shown = curve(results, SIMULATED, "empirical")
    assert [shown[x].mean for x in shown] == pytest.approx(
        [row.mean for row in curve(results, SIMULATED, SEEN).values()]
    )
    assert max(abs(row.mean - x) for x, row in shown.items()) < 0.04
    # Of 128 tasks about half: 1.96 * .5 / 128 ** .5 to either side.
    assert shown[0.5].ci_high - shown[0.5].ci_low == pytest.approx(0.173, rel=0.2)
    said = differences(results)
    assert "No recorded answers were at hand" in said
    assert "--set data=FOLDER" in said


def test_any_number_of_jobs_gives_the_same_and_the_files_are_written(tmp_path: Path) -> None:
    put(tmp_path, "hand", HAND.items())
    experiment = with_settings("survey-gaps", {"data": str(tmp_path), "least": "1"})
    one, two = (run(experiment, reps=300, seed=2, jobs=jobs) for jobs in (1, 2))
    assert one.rows == two.rows
    page = write(experiment, one, tmp_path / "out", "again").read_text(encoding="utf-8")
    assert "hand (6 tasks, 1 to 6 answers)" in page


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task,worker,answer\nt,w,a\n", "no column 'label': its first line is 'task,worker,answer"),
        ("task,label,worker,label\nt,a,w,b\n", "two columns 'label'"),
        ("", "no column 'task'"),
        ("task,worker,label\n", "holds no answer"),
        ("task,worker,label\nt,w,a\nt,v\n", "line 3: give a value for each of task, worker, label"),
        ("task,worker,label\nt,w, \n", "line 2: give a value for each"),
        ('task,worker,label\nt,w,"a\n', "labels.csv: "),
        (b"task,worker,label\nt,w,\xff\n", "line 2: byte 0xff is not UTF-8"),
    ],
)  # fmt: skip
def test_a_table_that_is_none_is_named(tmp_path: Path, text: str | bytes, message: str) -> None:
    (tmp_path / "bad").mkdir()
    raw = text.encode() if isinstance(text, str) else text
    (tmp_path / "bad" / "labels.csv").write_bytes(raw)
    with pytest.raises(InvalidParameter, match=message) as caught:
        ran(tmp_path)
    assert caught.value.field == "data"
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "bad" / "labels.csv") in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "field", "message"),
    [
        ({"data": "nowhere"}, "data", "data is 'nowhere': there is no such folder"),
        ({"data": "{}/empty"}, "data", "the folder holds no set"),
        ({"data": "{}", "sets": "hend"}, "sets", "sets has 'hend': .* did you mean 'hand'"),
        ({"data": "{}", "sets": "hand,hand"}, "sets", "names 'hand' twice"),
        ({"data": "{}", "sets": "hand", "least": "7"}, "sets", "0 of 6 tasks have 7 answers"),
        ({"data": "{}", "least": "7"}, "data", "no set in data can be used: hand"),
        ({"sets": "hand"}, "data", "give data as well"),
        ({"least": "0"}, "least", "least is 0"),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(
    tmp_path: Path, settings: dict[str, str], field: str, message: str
) -> None:
    put(tmp_path, "hand", HAND.items())
    (tmp_path / "empty").mkdir()
    given = {name: text.format(tmp_path) for name, text in settings.items()}
    with pytest.raises(InvalidParameter, match=message) as caught:
        run(with_settings("survey-gaps", given), reps=2)
    assert caught.value.field == field


@pytest.fixture
def recorded() -> Path:
    """A folder of recorded answers, where there is one."""
    if not (DATA / "rte" / "labels.csv").is_file():
        pytest.skip("no folder of recorded answers: name it in ASKWISE_DATA")
    return DATA


def test_recorded_answers_are_read_and_numeric_sets_are_skipped(recorded: Path) -> None:
    names = ("rte", "bluebird", "affect", "wordsim", "product")
    there = [name for name in names if (recorded / name / "labels.csv").is_file()]
    results = ran(recorded, sets=",".join(there))
    # Counted apart from this code: the gaps of 800 tasks with ten answers.
    assert row_of(results, "rte", "mean_gap").mean == pytest.approx(0.499, abs=5e-4)
    assert row_of(results, "rte", "tasks").mean == 800
    used = {row.series for row in results.rows if row.metric == "mean_gap"}
    assert used - {SIMULATED} == {"rte", "bluebird"} & set(there)
    skipped = differences(results).partition("Skipped: ")[2]
    for name in {"affect", "wordsim", "product"} & set(there):
        assert f"{name} (" in skipped
