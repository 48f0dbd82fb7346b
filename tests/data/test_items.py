"""Items come from files, lists and data frames; what can't be judged is refused by its place."""

from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from askwise.core.content import Content
from askwise.core.errors import InvalidProblem
from askwise.labelling import read_items


def written(folder: Path, text: str, name: str = "items.csv") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_a_column_called_id_holds_the_ids_and_a_column_called_text_is_shown(tmp_path: Path) -> None:
    items = read_items(written(tmp_path, "note,id,Text\nx,a,one\ny,b,two\n"))
    assert items.ids == ("a", "b")
    assert items.shown == ("Text",)
    assert [items.payload(at) for at in range(2)] == ["one", "two"]
    assert dict(items.columns) == {"note": ["x", "y"], "Text": ["one", "two"]}


def test_without_ids_items_are_numbered_so_that_they_sort(tmp_path: Path) -> None:
    rows = "\n".join(f"text {at}" for at in range(12))
    assert read_items(written(tmp_path, f"body\n{rows}\n")).ids[:2] == ("item-01", "item-02")


def test_the_only_other_column_is_shown_whatever_its_name(tmp_path: Path) -> None:
    assert read_items(written(tmp_path, "id,zzz\na,one\n")).shown == ("zzz",)


def test_a_column_with_by_far_the_longest_text_is_shown(tmp_path: Path) -> None:
    long = "x" * 90
    items = read_items(written(tmp_path, f"id,lang,note,words\na,en,short,{long}\nb,de,s,{long}\n"))
    assert items.shown == ("words",)


def test_where_the_text_is_not_plain_the_columns_are_listed(tmp_path: Path) -> None:
    with pytest.raises(InvalidProblem, match="columns one, two: say which one") as refused:
        read_items(written(tmp_path, "id,one,two\na,abc,abd\n"))
    assert refused.value.field == "text"


def test_several_columns_are_shown_as_an_object(tmp_path: Path) -> None:
    items = read_items(written(tmp_path, "id,one,two\na,abc,abd\n"), text=["two", "one"])
    assert items.payload(0) == {"two": "abd", "one": "abc"}


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("id,text\na,one\na,two\n", {}, "line 3: the id 'a' is that of .*line 2 too"),
        ("id,text\na,one\nb, \n", {}, "line 3: column 'text' is empty"),
        ("id,text\na,one\n,two\n", {}, "line 3: the id is empty"),
        ("id,text\na,one\n", {"text": "txt"}, "no column 'txt': did you mean 'text'"),
        ("id,text\na,one\n", {"id": "key"}, "no column 'key'"),
        ("id,text\na,one\n", {"text": "id"}, "column 'id' holds ids"),
        ("id,text\na,one,two\n", {}, "line 2: 3 values for the 2 columns"),
        ("id,text\n", {}, "no row below its columns"),
        ("", {}, "is empty"),
        ("id,text,gold\na,one,maybe\n", {"truth": "gold"}, "line 2: the truth is 'maybe'"),
    ],
)
def test_what_can_not_be_labelled_is_refused_by_its_place(
    tmp_path: Path, text: str, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidProblem, match=words):
        read_items(written(tmp_path, text), options=("yes", "no"), **options)


def test_a_file_in_another_encoding_is_refused_with_the_line(tmp_path: Path) -> None:
    file = tmp_path / "items.csv"
    file.write_bytes("id,text\na,fine\nb,caf\xe9\n".encode("latin-1"))
    with pytest.raises(InvalidProblem, match="line 3: byte 0xe9 is not UTF-8"):
        read_items(file)


def test_truths_are_read_where_they_are_known(tmp_path: Path) -> None:
    file = written(tmp_path, "id,text,gold\na,one,yes\nb,two,\n")
    assert read_items(file, truth="gold", options=("yes", "no")).truths == {"a": "yes"}


def test_json_lines_and_lists_of_mappings_are_the_same(tmp_path: Path) -> None:
    rows = [{"id": "a", "text": "one"}, {"id": "b", "text": "two"}]
    lines = '{"id": "a", "text": "one"}\n{"id": "b", "text": "two"}\n'
    ours, theirs = read_items(rows), read_items(written(tmp_path, lines, "items.jsonl"))
    assert ours.ids == theirs.ids
    assert ours.digest() == theirs.digest()


def test_a_data_frame_gives_plain_values() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [1, 2], "text": ["one", "two"], "stars": [5, None]})
    items = read_items(frame)
    assert items.ids == ("1", "2")
    assert items.columns["stars"] == [5.0, None]


@pytest.mark.parametrize("given", [{"text": "one"}, 7, []])
def test_what_is_no_list_of_items_is_refused(given: object) -> None:
    with pytest.raises(InvalidProblem) as refused:
        read_items(given)
    assert refused.value.field == "items"


def test_an_item_that_a_field_can_not_show_is_named() -> None:
    items = read_items([{"id": "a", "text": "one", "url": "two"}], text="url")
    content = Content("Ok?", ["yes", "no"], fields=[{"name": "url", "show": "image"}])
    with pytest.raises(InvalidProblem, match="item 'a'"):
        items.tasks(content)


def test_values_of_other_kinds_are_kept_as_text_that_every_file_holds() -> None:
    given = [{"text": "a", "cost": Decimal("1.5"), "far": math.inf, "gap": math.nan, "raw": b"x"}]
    found = read_items(given, text="text")
    assert {name: cells[0] for name, cells in found.columns.items()} == {
        **{"text": "a", "cost": "1.5", "far": "inf", "gap": None, "raw": "b'x'"}
    }


def test_half_a_character_in_any_column_is_refused_where_it_is() -> None:
    given = [{"text": "a", "note": "fine"}, {"text": "b", "note": "\ud800"}]
    with pytest.raises(InvalidProblem, match=r"items\[1\]: column 'note' has half a character"):
        read_items(given, text="text")


def test_a_field_that_only_later_lines_have_is_kept(tmp_path: Path) -> None:
    lines = '{"id": 1, "text": "a"}\n{"id": 2, "text": "b", "note": "late"}\n'
    found = read_items(written(tmp_path, lines, "items.jsonl"))
    assert found.columns["note"] == ["", "late"]
