"""Ids and options may be whole numbers: their text is the id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from askwise import Campaign, Task, Worker
from askwise.core.errors import AskwiseError, InvalidAnswer, InvalidProblem
from askwise.data.campaigns import read_campaign


def numbered(**changes: Any) -> Campaign:
    fields: dict[str, Any] = {
        "workers": [{"id": 1, "price": 1}, Worker(np.int64(2), 1)],  # type: ignore[arg-type]
        "tasks": [10, np.int32(11), np.str_("12"), Task(13, workers=[1, 2])],  # type: ignore[arg-type,list-item]
        "options": [0, 1],
        "policy": "random-pairs",
        "seed": 1,
    }
    return Campaign.create(**{**fields, **changes})


def test_whole_numbers_are_taken_as_their_text() -> None:
    campaign = numbered()
    assert campaign.spec["options"] == ["0", "1"]
    assert [worker["id"] for worker in campaign.spec["workers"]] == ["1", "2"]
    assert [task["id"] for task in campaign.spec["tasks"]] == ["10", "11", "12", "13"]
    assert campaign.spec["tasks"][3]["workers"] == ["1", "2"]


def test_every_verb_takes_them() -> None:
    campaign = numbered()
    campaign.truth(11, 1)
    campaign.truths({np.int64(12): 0})
    campaign.set_label(13, 1.0, by="me")
    first = campaign.ask(workers=[np.int64(2)])[0]
    assert first.worker == "2"
    campaign.tell(first.id, np.int64(1), probabilities={0: 0.25, 1: 0.75})
    campaign.revise(first.id, 0)
    campaign.comment(10, "hm", by="me")
    campaign.add(tasks=[14], workers=[{"id": 3, "price": 1}])
    campaign.suspend(3, by="me")
    campaign.reinstate(3, by="me")
    campaign.close(10)
    campaign.remove(14)
    campaign.pay(2, by="me")
    campaign.bonus(2, 1, "thanks", by="me")
    campaign.pay_all({2: "0.5"}, by="me")
    campaign.leave(1)
    assert campaign.task(10).id == "10"
    assert campaign.worker(2).worker.id == "2"
    assert campaign.standing(2) == campaign.standing("2")
    assert campaign.assignments(2) == []
    assert [len(campaign.payouts(2)), len(campaign.bonuses(np.int64(2)))] == [2, 1]
    labels = {each.task: each.value for each in campaign.answers()}
    assert {task: labels[task] for task in ("11", "12", "13")} == {"11": "1", "12": "0", "13": "1"}
    assert labels[first.task] == ("1" if first.task == "11" else "0")
    for event in campaign.log():
        assert all(isinstance(each, str | None) for each in (event.task, event.worker, event.value))


def test_a_number_and_its_text_are_one_request() -> None:
    campaign = numbered()
    asked = campaign.ask()[0]
    campaign.tell(asked.id, 1, key="k")
    campaign.tell(asked.id, "1", key="k")
    assert campaign.status().answers == 1


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"options": [0, True]}, "option", "option is True: .* or a whole number"),
        ({"options": [1, "1"]}, "option", "'1' is named twice"),
        ({"options": [0, 0.5]}, "option", "option is 0.5"),
        ({"tasks": [1, "1"]}, "task", "task '1' is named twice"),
        ({"tasks": [True]}, "task", "task is True"),
        ({"tasks": [Ellipsis]}, "task", "give a mapping"),
        ({"workers": [{"id": False, "price": 1}]}, "worker id", "worker id is False"),
        ({"workers": [{"id": 1, "price": 1}, {"id": "1", "price": 2}]}, "worker", "twice"),
        ({"workers": [{"id": float("nan"), "price": 1}]}, "worker id", "worker id is nan"),
    ],
)
def test_what_is_no_id_is_refused(changes: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(InvalidProblem, match=said) as caught:
        numbered(**changes)
    assert caught.value.field == field


def test_truth_values_are_no_options_or_ids() -> None:
    campaign = numbered()
    asked = campaign.ask()[0]
    with pytest.raises(InvalidAnswer, match="answer is True: give one of 0, 1"):
        campaign.tell(asked.id, True)
    for wrong in (lambda: campaign.truth(True, 1), lambda: campaign.ask(workers=[np.True_])):  # type: ignore[arg-type,list-item]
        with pytest.raises(AskwiseError, match="True"):
            wrong()
    with pytest.raises(InvalidProblem, match="task '10' is named twice"):
        campaign.truths({10: "1", "10": "1"})


def test_a_policy_may_be_named_with_its_parameters() -> None:
    campaign = numbered(policy="hem(target=0.1)", stopping="lead(lead=2)", mechanism="pay-price()")
    assert campaign.spec["policy"]["target"] == 0.1
    assert campaign.spec["stopping"]["name"] == "lead"
    assert numbered(policy="auto(target=0.2)").spec["policy"]["target"] == 0.2


def test_files_take_labels_of_policies_and_numbers_too(tmp_path: Path) -> None:
    file = tmp_path / "campaign.toml"
    file.write_text(
        'options = [0, 1]\ntasks = [1, 2]\npolicy = "hem(target=0.1)"\n'
        'workers = [{ id = 7, price = "0.1" }]\n'
    )
    spec = Campaign.create(**read_campaign(file)).spec
    assert (spec["options"], spec["workers"][0]["id"]) == (["0", "1"], "7")
    assert spec["policy"]["target"] == 0.1


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("hem(target=0.1", "lacks its closing bracket"),
        ("hem(0.1)", "needs parameters as key=value"),
        ("hem(target=0.1,target=0.2)", "gives 'target' twice"),
        ("hem(goal=0.1)", "has no parameter 'goal'"),
        ("ham(target=0.1)", "did you mean 'hem'"),
        ("auto(goal=1)", "policy 'auto' has no parameter 'goal'"),
    ],
)
def test_a_label_that_is_none_is_refused_in_one_line(label: str, said: str) -> None:
    with pytest.raises(AskwiseError, match=said):
        numbered(policy=label)
