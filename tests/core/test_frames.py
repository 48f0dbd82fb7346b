"""Data frames go in where lists of tasks, workers, answers and truths do."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from askwise import Campaign
from askwise.aggregation import aggregation
from askwise.core.errors import AskwiseError, InvalidProblem
from askwise.core.frames import told_by_task
from askwise.data.labels import table_of
from askwise.lab.replaying.replay import replay
from askwise.labelling import label

WORKERS = pd.DataFrame(
    {"id": ["ann", "bob"], "price": ["0.10", 0.25], "limit": [5, np.nan], "kind": [None, "model"]}
)
TASKS = pd.DataFrame(
    {
        "id": [1, 2],
        "context": ["day", np.nan],
        "payload": [np.int64(3), None],
        "workers": ["ann; bob", None],
    }
)


def made(**changes: Any) -> Campaign:
    fields = {"workers": WORKERS, "tasks": TASKS, "options": pd.Series([0, 1])}
    return Campaign.create(**{**fields, "policy": "random-pairs", "seed": 1, **changes})


def test_tasks_and_workers_are_rows_and_empty_cells_say_nothing() -> None:
    spec = made().spec
    assert spec["options"] == ["0", "1"]
    assert spec["workers"] == [
        {"id": "ann", "price": "0.1", "limit": 5},
        {"id": "bob", "price": "0.25", "kind": "model"},
    ]
    assert spec["tasks"] == [
        {"id": "1", "context": "day", "payload": 3, "workers": ["ann", "bob"]},
        {"id": "2"},
    ]


def test_frames_may_be_added() -> None:
    campaign = made()
    campaign.add(
        tasks=pd.DataFrame({"id": [3]}), workers=pd.DataFrame({"id": ["eve"], "price": [1]})
    )
    assert campaign.task(3).id == "3"
    assert campaign.worker("eve").worker.price == Decimal(1)


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"tasks": pd.DataFrame({"task": ["a"]})}, "id", "tasks has no column 'id': .* are task"),
        ({"workers": pd.DataFrame({"id": ["a"]})}, "price", "workers has no column 'price'"),
        ({"tasks": pd.DataFrame({"id": ["a", None]})}, "id", "'id' of tasks is empty in row 1"),
        ({"tasks": pd.DataFrame({"id": ["a"], "text": ["x"]})}, "text", "has no field 'text'"),
        ({"tasks": pd.DataFrame({"id": [1, "1"]})}, "task", "task '1' is named twice"),
        ({"options": pd.DataFrame({"id": [1, 2]})}, "options", "options is a data frame"),
        ({"tasks": pd.DataFrame()}, "id", "its columns are none"),
    ],
)
def test_a_frame_that_is_none_of_ours_is_refused_in_one_line(
    changes: dict[str, Any], field: str, said: str
) -> None:
    with pytest.raises(InvalidProblem, match=said) as caught:
        made(**changes)
    assert caught.value.field == field


ANSWERS = pd.DataFrame(
    [
        (task, worker, int(task % 2 == 0) if worker != "c" else 1)
        for task in range(6)
        for worker in "abc"
    ],
    columns=["task", "worker", "label"],
)
GOLD = pd.DataFrame({"task": range(6), "label": [1, 0, 1, 0, np.nan, 0]})


def test_recorded_answers_are_replayed_from_frames() -> None:
    settings: dict[str, Any] = {"policy": "random-pairs", "against": (), "budget": 9, "runs": 1}
    found = replay(ANSWERS, GOLD, **settings)
    assert (found.tasks, found.workers, found.answers, found.measured) == (6, 3, 18, 5)
    as_text = {str(task): str(int(truth)) for task, truth in GOLD.dropna().to_numpy().tolist()}
    as_text = {str(int(float(task))): truth for task, truth in as_text.items()}
    assert replay(table_of(ANSWERS), as_text, **settings) == found
    series = GOLD.set_index("task")["label"]
    prices = pd.DataFrame({"id": list("abc"), "price": [1, 1, 1]})
    assert replay(ANSWERS, series, prices=prices, **settings).rows == found.rows


@pytest.mark.parametrize(
    ("table", "gold", "said"),
    [
        (ANSWERS.drop(columns="label"), GOLD, "table has no column 'label'"),
        (ANSWERS, GOLD.rename(columns={"label": "truth"}), "gold has no column 'label'"),
        (ANSWERS.assign(label=np.nan), GOLD, "'label' of table is empty in row 0"),
        (ANSWERS[:0], GOLD, "has no rows"),
        ([1, 2], GOLD, "give a data frame"),
        (ANSWERS, [1], "gold is a list"),
        (ANSWERS, pd.DataFrame({"task": [1, 1], "label": [0, 1]}), "task '1' twice"),
        (ANSWERS.assign(label=True), GOLD, "give text or a number"),
    ],
)
def test_a_replay_names_what_a_frame_lacks(table: Any, gold: Any, said: str) -> None:
    with pytest.raises(InvalidProblem, match=said):
        replay(table, gold, budget=9)


def test_truths_for_aggregators_may_be_a_frame_with_empty_cells() -> None:
    method: Any = aggregation.make("one-coin")
    by_frame = method.fit(ANSWERS, gold=GOLD).labels_
    by_mapping = method.fit(ANSWERS, gold=GOLD.dropna().set_index("task")["label"]).labels_
    assert by_frame.equals(by_mapping)
    with pytest.raises(AskwiseError, match="gold has no column 'label': its columns are task, t;"):
        method.fit(ANSWERS, gold=pd.DataFrame({"task": [1], "t": [1]}))


def test_items_and_people_may_be_frames() -> None:
    from askwise.sources.function import Function

    items = pd.DataFrame({"id": [7, 8], "text": ["Stop!", "Go on."]})
    people = pd.DataFrame({"id": ["ann"], "price": ["0.1"]})
    answering = {"ann": Function(lambda asked: "yes" if "!" in asked.payload else "no")}
    found = label(
        items, question="Loud?", options="yes,no", people=people, sources=answering, id="id"
    )
    assert {each.id: each.label for each in found.labels} == {"7": "yes", "8": "no"}
    with pytest.raises(InvalidProblem, match="people has no column 'price'"):
        label(items, question="Loud?", options="yes,no", people=people[["id"]])


def test_what_is_told_of_tasks_leaves_out_what_is_missing() -> None:
    assert told_by_task({1: "yes", "2": None, 3: float("nan")}, "gold", "label") == {"1": "yes"}
    assert told_by_task(pd.Series({"a": 1.0, "b": pd.NA}), "gold", "label") == {"a": "1"}
