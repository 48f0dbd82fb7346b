"""Recorded answers from files and back."""

from __future__ import annotations

import csv
import gzip
import json
import os
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.data import (
    LabelTable,
    read_contexts,
    read_gold,
    read_labels,
    read_prices,
    read_recorded_workers,
    write_answers,
    write_workers,
)
from askwise.data.columns import read_columns, write_columns
from askwise.data.labels import in_common, truths_in
from tests.paths import DATA

ROWS = [("t1", "ann", "no"), ("t1", "bob", "yes"), ("t2", "ann", "no"), ("t1", "ann", "yes")]
HEAD = "task,worker,label\n"


def put(folder: Path, ending: str, rows: Any = ROWS) -> Path:
    """Write rows in a format, not with the code under test."""
    path = folder / f"labels{ending}"
    text = HEAD + "".join(",".join(row) + "\n" for row in rows)
    if "jsonl" in ending:
        names = ("task", "worker", "label")
        text = "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)
    if ending == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        columns = dict(zip(("task", "worker", "label"), zip(*rows, strict=True), strict=True))
        parquet.write_table(
            pyarrow.table({name: list(each) for name, each in columns.items()}), path
        )
    else:
        raw = text.encode()
        path.write_bytes(gzip.compress(raw) if ending.endswith(".gz") else raw)
    return path


def rows_of(table: LabelTable) -> list[tuple[str, str, str]]:
    return [
        (table.task_names[task], table.worker_names[worker], table.label_names[label])
        for task, worker, label in zip(table.tasks, table.workers, table.labels, strict=True)
    ]


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet", ".CSV"])
def test_every_format_gives_the_same_table(ending: str, tmp_path: Path) -> None:
    found = read_labels(put(tmp_path, ending))
    assert rows_of(found) == ROWS
    assert found.task_names == ("t1", "t2")
    assert found.worker_names == ("ann", "bob")
    assert found.label_names == ("no", "yes")
    assert found.duplicates == 1
    assert len(found) == 4


def test_names_that_are_numbers_are_sorted_as_numbers(tmp_path: Path) -> None:
    rows = [("10", "w", "2"), ("9", "w", "10"), ("x", "w", "-1")]
    found = read_labels(put(tmp_path, ".csv", rows))
    assert found.label_names == ("-1", "2", "10")
    assert found.task_names == ("10", "9", "x")
    assert rows_of(found) == rows


def test_of_duplicates_the_first_may_be_kept_alone(tmp_path: Path) -> None:
    found = read_labels(put(tmp_path, ".csv"), duplicates="drop")
    assert rows_of(found) == ROWS[:3]
    assert (found.duplicates, found.dropped) == (1, 1)


def test_a_label_that_only_a_dropped_answer_gave_is_no_class(tmp_path: Path) -> None:
    rows = [("t", "w", "b"), ("t", "w", "a"), ("t", "v", "c")]
    found = read_labels(put(tmp_path, ".csv", rows), duplicates="drop")
    assert found.label_names == ("b", "c")
    assert rows_of(found) == [rows[0], rows[2]]


def test_duplicates_may_be_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidProblem, match=r"line 5: worker 'ann' answered task 't1' in line 2"):
        read_labels(put(tmp_path, ".csv"), duplicates="refuse")
    assert len(read_labels(put(tmp_path, ".csv", ROWS[:3]), duplicates="refuse")) == 3


def test_other_columns_blank_lines_spaces_and_a_byte_order_mark_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(
        '\ufeff label ,when,worker,task\n no ,1,"ann, dr.",t1\n\nyes,2,bob,"t\n1"\n', "utf-8"
    )
    assert rows_of(read_labels(path)) == [("t1", "ann, dr.", "no"), ("t\n1", "bob", "yes")]


BAD: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "is empty"),
    "header only": (HEAD, "has no row below its columns"),
    "a column missing": ("task,worker\nt,w\n", "no column 'label': it has task, worker"),
    "a column twice": ("task,worker,label,label\nt,w,a,b\n", "two columns 'label'"),
    "an empty cell": (HEAD + "t,w,a\nt,,a\n", "line 3: worker is empty"),
    "only spaces in a cell": (HEAD + "t,w,  \n", "line 2: label is empty"),
    "too few cells": (HEAD + "t,w,a\nt,w\n", "line 3: 2 values for the 3 columns"),
    "too many cells": (HEAD + "t,w,a,b\n", "line 2: 4 values for the 3 columns"),
    "a quote that does not end": (HEAD + 't,w,"a\n', "line 2: unexpected end of data"),
    "Latin-1": ((HEAD + "t,w,\xe9\n").encode("latin-1"), "line 2: byte 0xe9 is not UTF-8"),
    "UTF-16": (HEAD.encode("utf-16"), "line 1: byte 0xff is not UTF-8"),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_file_is_refused_with_its_line(fault: str, tmp_path: Path) -> None:
    content, said = BAD[fault]
    path = tmp_path / "labels.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InvalidProblem) as caught:
        read_labels(path)
    assert str(caught.value).startswith(str(path))
    assert said in str(caught.value)
    assert caught.value.field
    assert "\n" not in str(caught.value)


BAD_LINES = {
    "no JSON": ("{", "line 1: not JSON"),
    "no object": ("[1]", "line 1: give an object"),
    "a field missing": ('{"task": 1, "worker": 2}', "no column 'label'"),
    "a field missing later": (
        '{"task": 1, "worker": 2, "label": 3}\n{"task": 1, "worker": 2}',
        "line 2: label is empty",
    ),
    "null": ('{"task": 1, "worker": 2, "label": null}', "line 1: label is empty"),
    "a list": ('{"task": 1, "worker": 2, "label": [1]}', "line 1: label is [1]"),
    "not a number": ('{"task": 1, "worker": 2, "label": NaN}', "line 1: label is nan"),
    "nothing": ("\n", "is empty"),
}


@pytest.mark.parametrize("fault", BAD_LINES)
def test_bad_json_lines_are_refused_with_their_line(fault: str, tmp_path: Path) -> None:
    content, said = BAD_LINES[fault]
    (path := tmp_path / "labels.jsonl").write_text(content)
    with pytest.raises(InvalidProblem) as caught:
        read_labels(path)
    assert said in str(caught.value)


def test_numbers_and_truth_values_of_json_are_text(tmp_path: Path) -> None:
    (path := tmp_path / "labels.jsonl").write_text('{"task": 1, "worker": 2.5, "label": true}\n')
    assert rows_of(read_labels(path)) == [("1", "2.5", "true")]


def test_an_unknown_ending_and_broken_archives_are_refused(tmp_path: Path) -> None:
    for name, said in (("labels.txt", "ends in .csv"), ("labels.csv.gz", "can't be unpacked"),
                       ("labels.parquet", "can't be read as Parquet")):  # fmt: skip
        (path := tmp_path / name).write_text(HEAD)
        with pytest.raises(InvalidProblem, match=said):
            read_labels(path)
    with pytest.raises(FileNotFoundError):
        read_labels(tmp_path / "nowhere.csv")
    with pytest.raises(InvalidParameter, match="give one of keep, drop, refuse"):
        read_labels(put(tmp_path, ".csv"), duplicates="all")


def test_without_the_extra_parquet_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path, ".parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InvalidParameter, match=r"pip install 'askwise\[tables\]'"):
        read_labels(path)


def test_gold_and_contexts_are_read_by_task(tmp_path: Path) -> None:
    (path := tmp_path / "gold.csv").write_text("task,label\nt1,no\nt9,yes\nt1,no\n")
    assert read_gold(path) == {"t1": "no", "t9": "yes"}
    (path := tmp_path / "context.csv").write_text("task,context\nt1,easy\n")
    assert read_contexts(path) == {"t1": "easy"}


def test_two_truths_of_a_task_are_refused(tmp_path: Path) -> None:
    (path := tmp_path / "gold.csv").write_text("task,label\nt1,no\nt1,yes\n")
    with pytest.raises(InvalidProblem, match="line 3: label of task 't1' is 'yes', and 'no'"):
        read_gold(path)


def test_gold_about_other_tasks_is_refused(tmp_path: Path) -> None:
    table = read_labels(put(tmp_path, ".csv"))
    assert in_common(table, {"t1": "no", "t9": "no"}, "gold.csv") == {"t1": "no"}
    with pytest.raises(InvalidProblem, match=r"gold.csv has no task in common with .*labels.csv"):
        in_common(table, {"t9": "no"}, "gold.csv")


def test_gold_with_other_labels_is_refused(tmp_path: Path) -> None:
    table = read_labels(put(tmp_path, ".csv"))
    some = {"t1": "no", "t2": "maybe"}
    assert truths_in(table, some, "gold.csv") == some
    with pytest.raises(InvalidProblem, match=r"no label in common .*it has 'No'.*'no'") as caught:
        truths_in(table, {"t1": "No", "t2": "Yes"}, "gold.csv")
    assert caught.value.field == "label"


def test_a_truth_that_nobody_gave_is_one_more_label(tmp_path: Path) -> None:
    table, truths = read_labels(put(tmp_path, ".csv")).knowing({"t2": "maybe", "t9": "never"})
    assert table.label_names == ("maybe", "no", "yes")
    assert rows_of(table) == ROWS
    assert truths.tolist() == [-1, 0]


def test_prices_have_their_own_column_and_unit(tmp_path: Path) -> None:
    (path := tmp_path / "workers.csv").write_text("id,price,limit\nann,0.05,3\nbob,1,\n")
    ann, bob = read_prices(path)
    assert (ann.id, ann.price, ann.limit) == ("ann", Decimal("0.05"), 3)
    assert bob.limit is None
    path.write_text("worker,cost_usd_per_10k\nann,15\n")
    assert read_prices(path, price="cost_usd_per_10k", per=10_000)[0].price == Decimal("0.0015")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("worker,price\nann,dear\n", "line 2: price is 'dear'"),
        ("worker,price\nann,-1\n", "line 2: price of worker 'ann'"),
        ("worker,price\nann,1\nann,2\n", "line 3: worker 'ann' appears twice"),
        ("worker,price,limit\nann,1,few\n", "line 2: limit is 'few'"),
        ("who,price\nann,1\n", "no column 'worker' or 'id'"),
        ("worker,cost\nann,1\n", "no column 'price'"),
    ],
)
def test_bad_prices_are_refused_with_their_line(content: str, said: str, tmp_path: Path) -> None:
    (path := tmp_path / "workers.csv").write_text(content)
    with pytest.raises(InvalidProblem) as caught:
        read_prices(path)
    assert said in str(caught.value)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl", ".parquet"])
def test_recorded_workers_are_read_from_every_format(ending: str, tmp_path: Path) -> None:
    columns = {"price": ["0.05", "1"], "worker": ["ann", "bob"], "limit": ["3", "4"]}
    ann, bob = read_recorded_workers(write_columns(tmp_path / f"workers{ending}", columns))
    assert (ann.id, ann.price, ann.limit) == ("ann", Decimal("0.05"), 3)
    assert (bob.id, bob.price, bob.limit) == ("bob", Decimal(1), 4)


def test_an_empty_limit_is_none(tmp_path: Path) -> None:
    (path := tmp_path / "workers.csv").write_text("worker,price,limit\nann,1,\n")
    assert read_recorded_workers(path)[0].limit is None


def test_a_table_of_recorded_workers_says_of_what_kind_and_family_they_are(tmp_path: Path) -> None:
    (path := tmp_path / "workers.csv").write_text(
        "worker,price,kind,family\nann,1,person,\ngpt:ab,2,model,gpt\n"
    )
    ann, judge = read_recorded_workers(path)
    assert (ann.kind, ann.family) == ("person", None)
    assert (judge.kind, judge.family) == ("model", "gpt")
    path.write_text("worker,price,kind\nann,1,robot\n")
    with pytest.raises(InvalidProblem, match=r"line 2: kind of worker 'ann' is 'robot'"):
        read_recorded_workers(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("worker,price\nann,dear\n", "line 2: price of worker 'ann' is 'dear'"),
        ("worker,price\nann,\n", "line 2: price is empty"),
        ("worker,price\nann,1\nann,2\n", "line 3: worker 'ann' appears twice"),
        ("worker,price,limit\nann,1,few\n", "line 2: limit of worker 'ann' is 'few'"),
        ("who,price\nann,1\n", "no column 'worker'"),
        ("worker,cost\nann,1\n", "no column 'price'"),
        (
            "worker,price,mood\nann,1,good\n",
            "has a column 'mood': known: family, kind, limit, price",
        ),
        ("worker,price,limits\nann,1,3\n", "has a column 'limits': did you mean 'limit'?"),
        ("worker,price,\nann,1,\n", "has a column '': known: family, kind, limit, price, worker"),
    ],
)
def test_bad_tables_of_workers_are_refused(content: str, said: str, tmp_path: Path) -> None:
    (path := tmp_path / "workers.csv").write_text(content)
    with pytest.raises(InvalidProblem) as caught:
        read_recorded_workers(path)
    assert said in str(caught.value)


def test_a_field_that_only_a_later_line_has_is_refused(tmp_path: Path) -> None:
    (path := tmp_path / "workers.jsonl").write_text(
        '{"worker": "ann", "price": 1}\n{"worker": "bob", "price": 1, "mood": "good"}\n'
    )
    with pytest.raises(InvalidProblem, match="line 2: 'mood' is not in the first line"):
        read_recorded_workers(path)


HARMLESS = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\0", exclude_categories=["Cs"]), min_size=1
).filter(lambda text: text.strip() == text and not text.startswith(("=", "+", "-", "@")))


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet"])
@given(names=st.lists(HARMLESS, min_size=1, max_size=5))
def test_what_is_written_is_read_again(
    ending: str, names: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("out") / f"answers{ending}"
    write_answers(path, names, names, [0.5] * len(names))
    found = read_columns(path, ("task", "label", "confidence")).cells
    assert found == {"task": names, "label": names, "confidence": ["0.5"] * len(names)}


def test_a_spreadsheet_finds_no_formula(tmp_path: Path) -> None:
    cells = ["=1+1", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "'=x", "-5", "+3.5", "fine", "'tis"]
    path = write_columns(tmp_path / "a.csv", {"task": cells})
    with open(path, newline="") as file:
        written = [row["task"] for row in csv.DictReader(file)]
    assert written[:5] == [f"'{cell}" for cell in cells[:5]]
    assert written[5:] == cells[5:]
    # What was written is read as it was.
    assert read_columns(path, ("task",)).cells["task"] == cells
    # Only a spreadsheet is in danger.
    path = write_columns(tmp_path / "a.jsonl", {"task": cells})
    assert json.loads(path.read_text().splitlines()[0]) == {"task": "=1+1"}


def test_cells_with_line_ends_of_all_kinds_stay_cells(tmp_path: Path) -> None:
    cells = ["a\rb", "a\r\nb", "a\nb", 'a\r"b', "plain"]
    path = write_columns(tmp_path / "a.csv", {"text": cells, "n": ["1"] * len(cells)})
    with open(path, newline="") as file:
        assert list(csv.reader(file)) == [["text", "n"], *([cell, "1"] for cell in cells)]
    assert path.read_bytes().endswith(b"plain,1\n")


def test_a_column_of_several_kinds_is_text_in_parquet(tmp_path: Path) -> None:
    path = write_columns(tmp_path / "a.parquet", {"x": [1, "b", None], "y": [1, 2, 3]})
    assert read_columns(path, (), every=True).cells == {"x": ["1", "b", ""], "y": ["1", "2", "3"]}


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("before")
    with pytest.raises(ValueError, match="JSON compliant"):
        write_columns(path, {"x": [float("nan")]})
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["a.jsonl"]


def test_the_table_of_workers_has_what_was_measured(tmp_path: Path) -> None:
    path = write_workers(tmp_path / "w.csv", ["ann"], [3], {"quality": [0.875], "low": [0.4]})
    assert path.read_text() == "worker,answers,quality,low\nann,3,0.875,0.4\n"


def test_two_hundred_thousand_rows_take_a_moment(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = zip(np.arange(200_000) // 5, rng.integers(2000, size=200_000), strict=True)
    (path := tmp_path / "labels.csv").write_text(
        HEAD + "".join(f"task{task},worker{worker},c{worker % 4}\n" for task, worker in rows)
    )
    begun = time.process_time()
    assert len(read_labels(path)) == 200_000
    # About .4 s; a quadratic step anywhere would take minutes.
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("name", ["rte", "wsd", "api_ferplus"])
def test_recorded_answers_are_read(name: str) -> None:
    if not (DATA / name).is_dir():
        pytest.skip("the recorded answers are not here")
    table = read_labels(DATA / name / "labels.csv")
    gold = in_common(table, read_gold(DATA / name / "gold.csv"), "gold.csv")
    counts = {
        "rte": (800, 164, 2, 8000),
        "wsd": (177, 34, 3, 1770),
        "api_ferplus": (6358, 4, 7, 25432),
    }
    found = (len(table.task_names), len(table.worker_names), len(table.label_names), len(table))
    assert found == counts[name]
    assert len(gold) == found[0]
    if name == "api_ferplus":
        # Dollars for ten answers: for one answer the cheapest is finer than a micro-unit.
        workers = read_prices(DATA / name / "workers.csv", price="cost_usd_per_10k", per=1000)
        prices = {worker.id: worker.price for worker in workers}
        assert prices["Google"] == Decimal("0.015")
        assert prices["GitHub-CNN"] == Decimal("0.000001")


def test_columns_may_be_allowed_to_have_empty_cells(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.csv"
    file.write_text("task,worker,label\nt1,gpt,\nt2,gpt,yes\n")
    found = read_columns(file, ("task", "worker", "label"), blank=("label",))
    assert found.cells["label"] == ["", "yes"]
    with pytest.raises(InvalidProblem, match="line 2: label is empty"):
        read_columns(file, ("task", "worker", "label"))
    file.write_text("task,worker\nt1,gpt\n")
    with pytest.raises(InvalidProblem, match="has no column 'label'"):
        read_columns(file, ("task", "worker", "label"), blank=("label",))
