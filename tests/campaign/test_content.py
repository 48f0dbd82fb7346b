"""A campaign may say what its workers are asked; its options are then those of the question."""

from __future__ import annotations

import json
from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.core.content import Content
from askwise.core.errors import InvalidProblem
from askwise.store import MemoryStore

RAW: dict[str, Any] = {
    "workers": [Worker("ann", 1)],
    "tasks": ["t1"],
    "policy": "random-pairs",
    "name": "cats",
}
QUESTION = {"question": "A cat?", "options": [{"name": "yes", "meaning": "It purrs."}, "no"]}


def test_it_is_kept_and_gives_the_options() -> None:
    store = MemoryStore()
    made = Campaign.create(**RAW, content=QUESTION, store=store)
    assert made.spec["options"] == ["yes", "no"]
    assert made.spec["content"] == Content.from_json(QUESTION).to_json()
    assert Campaign.open(store, "cats").content == Content.from_json(QUESTION) == made.content


def test_without_it_nothing_is_written() -> None:
    assert "content" not in Campaign.create(**RAW, options=["yes", "no"]).spec


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"content": QUESTION, "options": ["yes", "maybe"]}, "content.options"),
        ({"content": {"question": "How good?", "range": [0, 5]}, "outcome": "utility"},
         "content.range"),
        ({"content": QUESTION, "outcome": "utility"}, "options"),
        ({"content": {"options": ["yes", "no"]}}, "content.question"),
    ],
)  # fmt: skip
def test_a_question_with_other_answers_is_refused(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidProblem) as refused:
        Campaign.create(**RAW, **changes)
    assert refused.value.field == field


FIELDS = {**QUESTION, "fields": ["text"]}


def test_a_task_that_could_not_be_shown_is_refused_when_it_comes_and_nothing_is_added() -> None:
    raw = {**RAW, "tasks": [{"id": "t1", "payload": {"text": "Meow"}}]}
    for payload in (None, "Meow", {"tekst": "Meow"}, {"text": ""}):
        bad = {"id": "t2", "payload": payload}
        with pytest.raises(InvalidProblem, match="task 't2' can't be shown: payload") as refused:
            Campaign.create(**{**raw, "tasks": [*raw["tasks"], bad]}, content=FIELDS)
        assert refused.value.field == "tasks"
    made = Campaign.create(**raw, content=FIELDS)
    with pytest.raises(InvalidProblem, match="task 't3' can't be shown"):
        made.add(tasks=[{"id": "t2", "payload": {"text": "Purr"}}, "t3"])
    assert made.status().tasks == 1


def test_a_stored_campaign_with_a_task_that_can_not_be_shown_is_opened() -> None:
    store = MemoryStore()
    spec = {**Campaign.create(**RAW, options=["yes", "no"]).spec, "content": FIELDS}
    store.create("old", json.dumps(spec), 0.0)
    assert Campaign.open(store, "old").status().tasks == 1
