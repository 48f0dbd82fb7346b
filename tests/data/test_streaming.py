"""Long tables, read in chunks: by Arrow where chunks are plain, and to the same effect."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.errors import InvalidProblem
from askwise.core.names import coded
from askwise.data import LabelTable, coding, read_labels, streaming
from askwise.data.coding import ArrowCoder, StoredNames, TextCoder
from askwise.data.columns import column_writer, read_columns, write_columns
from askwise.kernels import grouping

pytest.importorskip("pyarrow")

HEAD = "task,worker,label\n"
CELL = st.text("ab1 '\"=\n\ré", min_size=1, max_size=4).filter(lambda text: text.strip() != "")


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a file of a few lines read as a long one is: with Arrow, in many blocks and slices."""
    for module, name, size in (
        (streaming, "BLOCK", 40), (streaming, "LONG", 0), (streaming, "ROWS", 3),
        (coding, "MERGED", 2), (coding, "FEW", 1), (grouping, "SLICE", 4),
        (grouping, "MANY", 4),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, size)


def rows_of(table: LabelTable) -> list[tuple[str, str, str]]:
    names = table.task_names, table.worker_names, table.label_names
    codes = table.tasks, table.workers, table.labels
    return list(zip(*([all_names[at] for at in each] for all_names, each in
                      zip(names, codes, strict=True)), strict=True))  # fmt: skip


def quoted(cell: str) -> str:
    plain = not set(cell) & set('",\n\r')
    return cell if plain else '"' + cell.replace('"', '""') + '"'


@given(rows=st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=12), blank=st.integers(0, 9))
def test_a_file_read_in_blocks_is_what_it_is_read_whole(
    rows: list[tuple[str, str, str]], blank: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lines = [",".join(map(quoted, row)) for row in rows]
    lines.insert(blank % len(lines), "")
    path = tmp_path_factory.mktemp("in") / "labels.csv"
    path.write_bytes((HEAD + "\n".join(lines) + "\n").encode())
    whole = read_labels(path)
    with pytest.MonkeyPatch.context() as patch:
        tiny.__wrapped__(patch)  # type: ignore[attr-defined]
        parts = read_labels(path)
    assert rows_of(parts) == rows_of(whole)
    assert list(parts.task_names) == list(whole.task_names)
    assert parts.duplicates == whole.duplicates


@pytest.mark.usefixtures("tiny")
def test_plain_blocks_are_parsed_by_arrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path := tmp_path / "labels.csv").write_text(
        HEAD + "".join(f"t{at}, w{at % 3},c{at % 2}\n" for at in range(50))
    )
    parsed = []

    def seen(*given: Any) -> Any:
        parsed.append(given[0])
        return by_arrow(*given)

    by_arrow = streaming._by_arrow
    monkeypatch.setattr(streaming, "_by_arrow", seen)
    table = read_labels(path)
    assert len(parsed) > 5
    assert rows_of(table)[3] == ("t3", "w0", "c1")
    assert table.worker_names[1] == "w1"


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("t,w\n", "2 values for the 3 columns"),
        ("t,,a\n", "worker is empty"),
        ("t,w,\xe9\n", "byte 0xe9 is not UTF-8"),
        ('t,w,"a\n', "unexpected end of data"),
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_a_bad_row_in_a_late_block_is_named_by_its_line(
    bad: str, said: str, ending: str, tmp_path: Path
) -> None:
    raw = (HEAD + "t,w,a\n" * 100 + "\n" + bad).encode("latin-1")
    path = tmp_path / f"labels{ending}"
    path.write_bytes(gzip.compress(raw) if ending.endswith("gz") else raw)
    with pytest.raises(InvalidProblem, match=f"line 103: .*{said}"):
        read_labels(path)


@pytest.mark.usefixtures("tiny")
def test_an_archive_that_breaks_off_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress((HEAD + "".join(f"t{at},w,a\n" for at in range(999))).encode())
    (path := tmp_path / "labels.csv.gz").write_bytes(whole[:-20])
    with pytest.raises(InvalidProblem, match="can't be unpacked"):
        read_labels(path)


@pytest.mark.usefixtures("tiny")
def test_duplicates_of_a_long_file_are_found_by_groups_of_tasks(tmp_path: Path) -> None:
    rows = [f"t{at % 5},w{at % 4},c{at}\n" for at in range(23)]
    (path := tmp_path / "labels.csv").write_text(HEAD + "".join(rows))
    # The pair (t, w) of row 20 is that of row 0, and so on.
    assert read_labels(path).duplicates == 3
    dropped = read_labels(path, duplicates="drop")
    assert rows_of(dropped) == [(f"t{at % 5}", f"w{at % 4}", f"c{at}") for at in range(20)]
    with pytest.raises(InvalidProblem, match="line 22: worker 'w0' answered task 't0' in line 2"):
        read_labels(path, duplicates="refuse")


def parquet(path: Path, **columns: Any) -> Path:
    import pyarrow
    from pyarrow.parquet import write_table

    write_table(pyarrow.table(columns), path)
    return path


@pytest.mark.usefixtures("tiny")
def test_parquet_of_numbers_and_dictionaries_is_text(tmp_path: Path) -> None:
    import pyarrow

    workers = pyarrow.array(["b", "a", " b ", "b", "a"]).dictionary_encode()
    path = parquet(
        tmp_path / "labels.parquet", task=[10, 9, 10, 2, 9], worker=workers,
        label=[0.5, 1.0, 0.5, 2.0, 1.0],
    )  # fmt: skip
    table = read_labels(path)
    assert list(table.task_names) == ["2", "9", "10"]
    assert rows_of(table)[2] == ("10", "b", "0.5")
    assert table.duplicates == 2


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    ("label", "said"),
    [
        (["a"] * 6 + [None], "row 7: label is empty"),
        ([["a"]] * 7, "row 1: label is .'a'.: give text or a number"),
        ([1.0] * 6 + [float("nan")], "row 7: label is nan"),
    ],
)
def test_a_bad_value_in_parquet_is_named_by_its_row(
    label: list[Any], said: str, tmp_path: Path
) -> None:
    path = parquet(tmp_path / "labels.parquet", task=[1] * 7, worker=[1] * 7, label=label)
    with pytest.raises(InvalidProblem, match=said):
        read_labels(path)


@given(st.lists(st.sampled_from(["1", "+1", "01", "1e0", "2", "x", "nan", "é", "10"]), min_size=1))
def test_both_coders_number_names_as_a_whole_column_is_numbered(cells: list[str]) -> None:
    codes, names = coded(cells)
    for coder in (TextCoder(), ArrowCoder()):
        for at in range(0, len(cells), 2):
            coder.add(cells[at : at + 2])
        found, found_names = coder.finish()
        assert found.tolist() == codes.tolist()
        assert tuple(found_names) == names


def test_stored_names_are_a_sequence() -> None:
    import pyarrow

    names = StoredNames(pyarrow.array(["a", "b", "c"]))
    assert (names[-1], names[:2], "b" in names, names.index("c")) == ("c", ("a", "b"), True, 2)
    with pytest.raises(IndexError):
        names[3]


def test_without_arrow_a_long_csv_is_read_in_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path := tmp_path / "labels.csv").write_text(HEAD + "t,w,a\n" * 10)
    monkeypatch.setattr(streaming, "LONG", 0)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert len(read_labels(path)) == 10


def test_reading_tells_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "BLOCK", 40)
    (path := tmp_path / "labels.csv").write_text(HEAD + "t,w,a\n" * 30)
    told: list[int] = []
    read_labels(path, progress=told.append)
    assert len(told) > 3
    assert told == sorted(told)
    assert told[-1] == 30


@given(st.lists(st.integers(0, 6), min_size=1), st.integers(1, 5))
def test_rows_in_groups_are_all_rows_with_groups_kept_together(
    groups: list[int], size: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "SLICE", size)
        patch.setattr(grouping, "MANY", size)
        found = list(grouping.rows_in_groups(np.array(groups, np.int32), 7))
    column = np.array(groups)
    parts = [column[rows] for rows in found]
    assert sorted(np.concatenate(parts).tolist()) == sorted(groups)
    assert sum(len(set(part.tolist())) for part in parts) == len(set(groups))


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet"])
def test_rows_written_in_turn_are_those_written_at_once(ending: str, tmp_path: Path) -> None:
    columns = {"task": ["t1", "=1", "é,\r\n", '"'], "score": [0.5, 1.0, 2.0, 0.25]}
    whole = write_columns(tmp_path / f"whole{ending}", columns)
    with column_writer(tmp_path / f"turns{ending}") as add:
        for at in range(4):
            add({name: cells[at : at + 1] for name, cells in columns.items()})
    turns = tmp_path / f"turns{ending}"
    needed = ("task", "score")
    assert read_columns(turns, needed).cells == read_columns(whole, needed).cells
    if ending != ".parquet":
        assert turns.read_bytes() == whole.read_bytes()


def test_writing_that_breaks_off_leaves_what_was_there(tmp_path: Path) -> None:
    (path := tmp_path / "a.csv").write_text("before")

    def interrupted() -> None:
        with column_writer(path) as add:
            add({"task": ["t"]})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["a.csv"]
