"""Orders of a table of items: people and options as text, columns, and what it can cost."""

from __future__ import annotations

import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.errors import AskwiseError, InvalidProblem
from askwise.data.columns import read_columns, write_columns
from askwise.data.order_costs import ceiling_of
from askwise.data.orders import ItemsOrder, options_of_text, people_of_text, read_order
from askwise.data.streaming import text_chunks
from askwise.data.table_preview import looks_like_table, preview_table
from askwise.data.tables import HeldFile, separator_of

REVIEWS = b"id,review,stars,gold\nr1,Lovely,5,\nr2,It broke,1,bad\nr3,A chair,3,\n"


def order(raw: bytes = REVIEWS, **fields: Any) -> ItemsOrder:
    given: dict[str, Any] = {
        "question": "Good?",
        "options": ["good", "bad"],
        "people": people_of_text("ann,ben", price="0.05"),
        **fields,
    }
    return read_order(HeldFile("reviews.csv", raw), **given)


@pytest.mark.parametrize("text", ["ann\nben", "ann, ben", "ann;ben\n\n", " ann \r\n ben "])
def test_people_are_names_on_lines_or_between_commas(text: str) -> None:
    found = people_of_text(text, price="0.05", limit="3")
    assert [(each.id, each.micro, each.limit, each.kind) for each in found] == [
        ("ann", 50_000, 3, "person"),
        ("ben", 50_000, 3, "person"),
    ]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_people_may_be_a_table_whose_gaps_are_filled(separator: str) -> None:
    text = "Name,price,limit\nann,0.1,\nben,,7\n".replace(",", separator)
    found = people_of_text(text, price="0.05", limit="3")
    assert [(each.id, each.micro, each.limit) for each in found] == [
        ("ann", 100_000, 3),
        ("ben", 50_000, 7),
    ]


@pytest.mark.parametrize(
    ("text", "price", "said", "field"),
    [
        ("ann", "", "people, line 1: 'ann' has no price", "price"),
        ("ann\nben\nann", "1", "people, line 3: 'ann' is named twice", "people"),
        ("id,wage\nann,1", "1", "a worker has no field 'wage'", "wage"),
        ("id,price\nann,1,2", "", "people, line 2: 3 values for the 2 columns", "file"),
        ("ann", "cheap", "price", "price"),
    ],
)
def test_what_is_wrong_with_people_is_said_with_its_line(
    text: str, price: str, said: str, field: str
) -> None:
    with pytest.raises(AskwiseError) as caught:
        people_of_text(text, price=price)
    assert said in str(caught.value)
    assert caught.value.field == field


def test_options_have_meanings_after_a_colon() -> None:
    assert options_of_text("a: b: c\n\n d ") == [
        {"name": "a", "meaning": "b: c"},
        {"name": "d", "meaning": ""},
    ]


def test_columns_become_payloads_kinds_and_truths() -> None:
    made = order(text=["review", "stars"], truth="gold", kind="stars")
    assert made.items.truths == {"r2": "bad"}
    assert made.tasks[1].payload == {"review": "It broke", "stars": "1"}
    assert [task.context for task in made.tasks] == ["5", "1", "3"]
    assert [field.name for field in made.content.fields] == ["review", "stars"]


def test_ids_are_made_where_none_are_wanted_and_the_column_may_be_something_else() -> None:
    assert [task.id for task in order(id="", text="review").tasks] == ["item-1", "item-2", "item-3"]
    made = order(text="review", kind="id")
    assert (made.tasks[0].id, made.tasks[0].context) == ("item-1", "r1")


@pytest.mark.parametrize("name", ["id", "text", "truth", "kind"])
def test_a_column_that_is_not_there_is_told_by_what_it_was_to_be(name: str) -> None:
    with pytest.raises(InvalidProblem, match=r"reviews\.csv has no column 'reviw'") as caught:
        order(**{name: "reviw"})
    assert caught.value.field == name


def test_the_cost_is_bounded_by_prices_limits_and_budget() -> None:
    people = people_of_text("id,price,limit\nann,0.05,\nben,0.10,2")
    free = order(people=people)
    most = ceiling_of(free, free.people)
    # Three answers of ann and two of ben.
    assert (most.most, most.answers, most.budget) == (Decimal("0.35"), 5, None)
    capped = order(people=people, budget="0.3")
    most = ceiling_of(capped, capped.people)
    # All of ann's, and with the other 0.15 one of ben's.
    assert (most.most, most.answers) == (Decimal("0.3"), 4)
    rich = order(people=people, budget="9")
    assert ceiling_of(rich, rich.people).most == Decimal("0.35")


def test_audits_are_kept_back_from_the_budget_and_their_auditor_does_not_label() -> None:
    people = people_of_text("ann,vet", price="0.05")
    made = order(people=people, budget="1", target_error=0.05, certify=0.9, by=["vet"])
    most = ceiling_of(made, made.people)
    assert [each.worker for each in most.workers] == ["ann"]
    # A fifth of the budget, beside three answers of ann.
    assert (most.audits, most.most, most.answers) == (Decimal("0.2"), Decimal("0.35"), 3)


def test_a_preview_guesses_columns_by_name_and_by_length() -> None:
    seen = preview_table(HeldFile("a.csv", REVIEWS), rows=2)
    assert (seen.id, seen.text, seen.truth, seen.kind) == ("id", "review", "gold", None)
    assert (seen.count, len(seen.rows)) == (3, 2)
    seen = preview_table(HeldFile("a.tsv", b"ID\ta\tb\n1\tx\ty\n"))
    assert (seen.id, seen.text) == ("ID", None)


@pytest.mark.parametrize(
    ("text", "is_table"),
    [
        ("id,text\n1,a", True),
        ("id;text\n1;a;b", True),
        ("place\tcountry\nParis\tFrance", True),
        ("t1\nt2", False),
        ("t1,a", False),
        ("a, b\nc", False),
        ('{"id": "a", "payload": 1}\n{"id": "b"}', False),
        ("", False),
    ],
)
def test_a_table_is_told_from_a_list_of_lines(text: str, is_table: bool) -> None:
    assert looks_like_table(text) is is_table


@given(
    separator=st.sampled_from([",", ";", "\t"]),
    names=st.lists(st.text("ab ,;", min_size=1), min_size=2, max_size=5),
)
def test_the_separator_is_found_whatever_quoted_names_hold(
    separator: str, names: list[str]
) -> None:
    assert separator_of(separator.join(f'"{name}"' for name in names) + "\n1") == separator


def test_parquet_that_was_sent_is_not_unpacked_without_end() -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    held = io.BytesIO()
    # 1 MB, written once and named 100 times.
    text = arrow.array(["x" * 2**20] * 100).dictionary_encode()
    parquet.write_table(arrow.table({"text": text}), held)
    assert len(held.getvalue()) < 2**21
    with pytest.raises(InvalidProblem, match="unpacks to more than 64 MB"):
        preview_table(HeldFile("bomb.parquet", held.getvalue()))


@pytest.mark.parametrize(("name", "separator"), [("a.tsv", "\t"), ("a.csv", ";"), ("a.csv", ",")])
def test_tables_with_any_separator_are_read_whole_and_in_chunks(
    name: str, separator: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    rows = [("task", "label"), ("t1", "a cat"), ("t2", "a dog")]
    file.write_text("".join(f"{separator.join(row)}\n" for row in rows))
    wanted = {"task": ["t1", "t2"], "label": ["a cat", "a dog"]}
    assert read_columns(file, ("task", "label")).cells == wanted
    (chunk,) = text_chunks(file, ("task", "label"))
    assert chunk.cells == wanted


def test_a_tsv_file_is_written_with_tabs(tmp_path: Path) -> None:
    file = write_columns(tmp_path / "a.tsv", {"task": ["t, 1"], "label": ["x"]})
    assert file.read_text() == "task\tlabel\nt, 1\tx\n"
