"""Workers and tasks out of CSV files."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from askwise.core.errors import InvalidProblem
from askwise.core.problem import Task, Worker
from askwise.data import read_tasks, read_workers, task_of_text, worker_of_text


def write(path: Path, text: str | bytes) -> Path:
    file = path / "table.csv"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def test_workers_are_read_with_empty_cells_left_out(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "id,price,limit,rating,rating_weight\nann,0.05,3,0.5,2\nbob, 1 ,,,\n",
    )
    assert read_workers(file) == [
        Worker("ann", "0.05", limit=3, rating=0.5, rating_weight=2.0),
        Worker("bob", 1),
    ]


def test_kinds_and_families_are_columns(tmp_path: Path) -> None:
    file = write(tmp_path, "id,price,kind,family\nann,1,person,\ngpt,1, model ,maker\nbob,1,,\n")
    assert read_workers(file) == [
        Worker("ann", 1, kind="person"),
        Worker("gpt", 1, kind="model", family="maker"),
        Worker("bob", 1),
    ]


def test_columns_may_come_in_any_order(tmp_path: Path) -> None:
    assert read_workers(write(tmp_path, "price,id\n2,ann\n")) == [Worker("ann", 2)]


def test_money_is_read_exactly(tmp_path: Path) -> None:
    (worker,) = read_workers(write(tmp_path, "id,price\nann,0.100001\n"))
    assert worker.price == Decimal("0.100001")


def test_a_payload_is_text_as_it_stands(tmp_path: Path) -> None:
    file = write(tmp_path, 'id,context,payload\nt1,day," A ""cat"",\nor a dog? "\nt2,,\n')
    assert read_tasks(file) == [Task("t1", "day", ' A "cat",\nor a dog? '), Task("t2")]


def test_what_spreadsheets_write_is_read(tmp_path: Path) -> None:
    marked = b"\xef\xbb\xbfid,price\r\n\xe7\x8c\xab,1\r\n\r\n,\r\n"
    assert read_workers(write(tmp_path, marked)) == [Worker("猫", 1)]


def test_a_line_separator_inside_text_starts_no_line(tmp_path: Path) -> None:
    assert read_tasks(write(tmp_path, "id,payload\nt1,a\u2028b\n"))[0].payload == "a\u2028b"


@pytest.mark.parametrize(
    ("text", "message", "field"),
    [
        ("", "is empty: its first line must name the columns (id, price, ", "file"),
        ("\n\n", "is empty", "file"),
        ("id\nann\n", "has no column 'price': it has id, and needs id, price", "price"),
        ("id|price\nann|1\n", "has no column 'id': it has id|price, and needs id, price", "id"),
        ("id,price,limt\nann,1,2\n", "has a column 'limt': did you mean 'limit'?", "limt"),
        ("id,price,price\nann,1,2\n", "has two columns 'price'", "price"),
        ("id,price\nann,1\nbob,1,2\n", "line 3: 3 values for the 2 columns id, price", "file"),
        ("id,price\nann\n", "line 2: 1 values for the 2 columns", "file"),
        ("id,price\nann,\n", "line 2: worker 'ann' lacks 'price'", "price"),
        ("id,price\n,1\n", "line 2: worker '' lacks 'id'", "id"),
        ("id,price\nann,1\n\nbob,cheap\n", "line 4: price of worker 'bob' is 'cheap'", None),
        ("id,price\nann,-1\n", "line 2: price of worker 'ann' is '-1': give an amount of 0", None),
        ("id,price\nann,nan\n", "line 2: price of worker 'ann' is 'nan': give a number", None),
        (
            "id,price,limit\nann,1,3.5\n",
            "line 2: limit of worker 'ann' is '3.5': give a whole number",
            "limit",
        ),
        ("id,price,limit\nann,1,0\n", "line 2: limit of worker 'ann' is 0", None),
        (
            "id,price,rating\nann,1,good\n",
            "line 2: rating of worker 'ann' is 'good': give a number",
            "rating",
        ),
        (
            "id,price,kind\nann,1,robot\n",
            "line 2: kind of worker 'ann' is 'robot': give 'person', 'model' or 'crowd'",
            "kind",
        ),
        ("id,price\nann,1\nann,2\n", "line 3: worker 'ann' is in line 2 already", "id"),
        ('id,price\n"ann,1\n', "line 2: unexpected end of data; separate columns by", "file"),
        ('id,price\n"a"nn,1\n', "line 2: ',' expected after '\"'; separate columns by", "file"),
        (b"id,price\nann,1\nb\xe4r,1\n", "line 3: byte 0xe4 is not UTF-8", "file"),
        (b"\xff\xfei\x00d\x00", "line 1: byte 0xff is not UTF-8", "file"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    text: str | bytes, message: str, field: str | None, tmp_path: Path
) -> None:
    file = write(tmp_path, text)
    with pytest.raises(InvalidProblem) as caught:
        read_workers(file)
    assert str(file) in str(caught.value)
    assert message in str(caught.value)
    if field is not None:
        assert caught.value.field == field


def test_a_line_number_counts_the_lines_inside_quotes(tmp_path: Path) -> None:
    file = write(tmp_path, 'id,payload\nt1,"two\nlines"\nt1,x\n')
    with pytest.raises(InvalidProblem, match="line 4: task 't1' is in line 2 already"):
        read_tasks(file)


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_tasks(tmp_path / "nowhere.csv")


def test_fields_of_text_make_a_worker_or_a_task() -> None:
    assert worker_of_text({"id": "ann", "price": "1", "limit": ""}) == Worker("ann", 1)
    assert task_of_text({"id": "t1", "context": " day "}) == Task("t1", "day")
    with pytest.raises(InvalidProblem, match="a task has no field 'price'"):
        task_of_text({"id": "t1", "price": "1"})


def test_a_column_of_text_is_told_from_a_context_and_led_to_the_payload(tmp_path: Path) -> None:
    file = tmp_path / "items.csv"
    file.write_text("id,text\n1,hello\n")
    with pytest.raises(InvalidProblem) as caught:
        read_tasks(file)
    assert "did you mean" not in str(caught.value)
    assert "name the column that workers are shown 'payload'" in str(caught.value)
    assert caught.value.field == "text"
