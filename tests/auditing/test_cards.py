"""The report card as a whole: what is refused, what is said, and what changes nothing."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.auditing import check
from askwise.core.errors import InvalidParameter, InvalidProblem
from tests.auditing.tables import Columns, columns, noisy, sheet
from tests.schemas import faults


def shuffled(table: Columns, seed: int) -> Columns:
    rows = np.random.default_rng(seed).permutation(len(table["task"]))
    return {name: [column[row] for row in rows] for name, column in table.items()}


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 1000))
def test_the_order_of_rows_changes_nothing(seed: int, other: int) -> None:
    rng = np.random.default_rng(seed)
    verdicts, people = noisy(seed, {"a": 0.9, "b": 0.8, "c": 0.6}, tasks=50, labels="abc")
    verdicts["label"] = ["" if rng.random() < 0.05 else label for label in verdicts["label"]]
    once = check(verdicts, people)
    again = check(shuffled(verdicts, other), shuffled(people, other + 1))
    assert once.to_json() == again.to_json()


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000))
def test_other_names_of_judges_in_the_same_order_change_names_alone(seed: int) -> None:
    verdicts, people = noisy(seed, {"a": 0.9, "b": 0.8}, tasks=50)
    renamed = {**verdicts, "worker": [f"judge {name}" for name in verdicts["worker"]]}
    once, again = check(verdicts, people), check(renamed, people)
    assert [each.judge for each in again.judges] == ["judge a", "judge b"]
    assert [each.accuracy for each in again.judges] == [each.accuracy for each in once.judges]
    assert again.panel.effective == once.panel.effective
    assert again.shares == once.shares


@pytest.mark.parametrize(
    "table",
    [
        noisy(1, {"a": 0.9, "b": 0.8, "c": 0.6}, tasks=60, labels="abc"),
        noisy(2, {"a": 0.9}, tasks=5, people=1),
        (sheet({"a": "yyyyyy"}), sheet({"p": "yyy"})),
        (sheet({"a": "....y", "b": "....n"}), sheet({"p": "yyyy"})),
    ],
    ids=["three judges", "one person", "one label", "no task with a verdict"],
)
def test_its_json_is_as_the_schema_says(table: tuple[Columns, Columns]) -> None:
    # The last has no task with both: people say y alone of tasks on which judges failed.
    assert faults("check", check(*table).to_json()) == []


def test_a_data_frame_is_a_table_too() -> None:
    pandas = pytest.importorskip("pandas")
    verdicts, people = noisy(1, {"a": 0.9, "b": 0.8}, tasks=40)
    verdicts["label"][3] = ""
    once = check(verdicts, people)
    for missing in (None, float("nan"), pandas.NA):
        frame = pandas.DataFrame(verdicts).astype(object)
        frame.loc[3, "label"] = missing
        assert check(frame, pandas.DataFrame(people)) == once


JUDGE, PEOPLE = sheet({"gpt": "yny"}), sheet({"ann": "yyn"})


@pytest.mark.parametrize(
    ("verdicts", "people", "field", "words"),
    [
        ({"task": ["t1"], "label": ["y"]}, PEOPLE, "worker", "verdicts has no column 'worker'"),
        (JUDGE, {"task": ["t1"]}, "worker", "humans has no column 'worker'"),
        (columns([]), PEOPLE, "task", "verdicts has no rows"),
        (JUDGE, columns([]), "task", "humans has no rows"),
        (JUDGE, sheet({"ann": "yy"}, tasks="q"), "task", "has no task in common with verdicts"),
        (JUDGE, sheet({"ann": "YNY"}), "label", "it has 'N', the other has 'n'"),
        (JUDGE, sheet({"gpt": "yyn"}), "worker", "'gpt' is in verdicts and in humans"),
        (JUDGE, sheet({"ann": "y.n"}), "label", "of 'ann' to task 't2', has no label"),
        (sheet({"gpt": "..."}), PEOPLE, "label", "verdicts: every label is empty"),
        (columns([("", "gpt", "y")]), PEOPLE, "task", "task is empty in row 1"),
        ({**JUDGE, "label": ["y"]}, PEOPLE, "task", "columns differ in length"),
    ],
)
def test_tables_that_can_not_be_compared_are_refused(
    verdicts: dict[str, Any], people: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(InvalidProblem, match=words) as refused:
        check(verdicts, people)
    assert refused.value.field == field


@pytest.mark.parametrize(
    "given", [{"epsilon": 2.0}, {"confidence": 1.0}, {"confidence": 0.4}, {"seed": -1}]
)
def test_parameters_out_of_range_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter) as refused:
        check(JUDGE, PEOPLE, **given)
    assert refused.value.field in given


def test_a_judge_without_a_price_is_named() -> None:
    with pytest.raises(InvalidProblem, match="judge 'gpt' has no price"):
        check(JUDGE, PEOPLE, prices={"llama": Decimal(1)})


def test_what_to_know_is_said() -> None:
    verdicts = sheet({"gpt": "yNymy", "llama": "---y-"})
    people = columns(
        [
            *(("t1", "ann", "y"), ("t1", "ann", "n"), ("t2", "ann", "n"), ("t3", "ann", "u")),
            *(("t1", "bob", "y"), ("t3", "bob", "y"), ("q1", "bob", "y")),
        ]
    )
    said = "\n".join(check(verdicts, people).remarks)
    for words in (
        "The majority of the people of a task counts as the truth.",
        "One person left out agrees with the majority of the others on 50.0% of the tasks",
        "1 task has the answer of one person only.",
        "People are tied on 1 task:",
        "People did not answer 2 of 5 tasks.",
        "People answered 3 tasks only",
        "1 answer of people to tasks without a verdict passed over.",
        "No person says 'm': 1 verdict of it counts as wrong.",
        "No judge says 'u', the label of 1 answer of people.",
        "'N', 'n' differ in case alone",
        "1 further answer of a person to the same task left out",
        "for want of a verdict on a task that people answered: 'llama'.",
        "No alternative annotator test: nobody has 30 tasks",
    ):
        assert words in said, words


def test_labels_on_a_scale_are_said_to_be_names() -> None:
    words = "Labels are numbers, and count as names"
    scale, pair = noisy(1, {"a": 0.9}, tasks=9, labels="135"), noisy(1, {"a": 0.9}, tasks=9)
    assert any(words in each for each in check(*scale).remarks)
    assert not any(words in each for each in check(*pair).remarks)


def test_ten_thousand_verdicts_take_less_than_ten_seconds() -> None:
    verdicts, people = noisy(
        1, {f"j{at}": 0.5 + at / 25 for at in range(10)}, tasks=1000, people=5, labels="abcd"
    )
    began = time.process_time()
    assert check(verdicts, people).verdicts == 10_000
    assert time.process_time() - began < 10
