"""Aggregators in campaigns: as on a table of the same answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from askwise import Campaign, Worker
from askwise.aggregation import aggregation
from tests.aggregation.tables import METHODS

OPTIONS = ["bird", "cat", "dog"]


def run(method: Any, *, seed: int = 3, repeat: bool = False, answers: int = 60) -> Campaign:
    """A campaign of twelve tasks, whose answers (drawn by a seed) are partly wrong."""
    rng = np.random.default_rng(seed)
    campaign = Campaign.create(
        workers=[Worker(f"w{at}", 1) for at in range(6)],
        tasks=[f"t{at:02}" for at in range(12)],
        options=OPTIONS,
        policy="round-robin" if repeat else "uniform",
        aggregation=method,
        seed=seed,
    )
    for _ in range(answers):
        batch = campaign.ask()
        if not batch:
            break
        one = batch[0]  # type: ignore[index]
        truth = int(one.task[1:]) % 3
        right = rng.random() < 0.5 + 0.08 * int(one.worker[1:])
        campaign.tell(one.id, OPTIONS[truth if right else int(rng.integers(3))])
    return campaign


def table_of(campaign: Campaign) -> Any:
    """The answers in the log."""
    asked = {event.seq: event for event in campaign.log() if event.kind.name == "ASKED"}
    rows = [
        (asked[event.assignment].task, asked[event.assignment].worker, event.value)
        for event in campaign.log()
        if event.kind.name == "ANSWER"
    ]
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


@pytest.mark.parametrize("repeat", [False, True], ids=["once", "again and again"])
@pytest.mark.parametrize("method", sorted(set(METHODS) - {"majority"}))
def test_a_campaign_names_what_a_table_of_its_answers_does(method: str, repeat: bool) -> None:
    campaign = run(method, repeat=repeat)
    found = aggregation.make(method).fit(table_of(campaign))  # type: ignore[attr-defined]
    answers = {each.task: each for each in campaign.answers()}
    assert len(table_of(campaign)) == sum(each.count for each in answers.values())
    for task, label in found.labels_.items():
        assert answers[task].value == label
        assert answers[task].confidence == found.confidence_[task]


def test_the_vote_names_the_same_where_no_vote_is_tied() -> None:
    campaign = run("majority")
    found = aggregation.make("majority").fit(table_of(campaign))  # type: ignore[attr-defined]
    shares = np.sort(found.probas_.to_numpy(), axis=1)
    clear = found.labels_[shares[:, -1] > shares[:, -2]]
    assert len(clear) > 5
    answers = {each.task: each.value for each in campaign.answers()}
    assert {task: answers[task] for task in clear.index} == clear.to_dict()


@pytest.mark.parametrize("method", METHODS)
def test_a_truth_that_was_revealed_is_the_answer_and_teaches(method: str) -> None:
    campaign = run(method)
    before = aggregation.make(method).fit(table_of(campaign)).labels_  # type: ignore[attr-defined]
    other = next(option for option in OPTIONS if option != before["t01"])
    campaign.truth("t01", other)
    answers = {each.task: each for each in campaign.answers()}
    assert (answers["t01"].value, answers["t01"].confidence) == (other, 1.0)
    if method != "majority":
        found = aggregation.make(method).fit(table_of(campaign), gold={"t01": other})  # type: ignore[attr-defined]
        for task, sure in found.confidence_.items():
            assert answers[task].confidence == sure


@pytest.mark.parametrize("method", METHODS)
def test_tasks_without_an_answer_have_none(method: str) -> None:
    campaign = run(method, answers=0)
    assert {(each.value, each.confidence) for each in campaign.answers()} == {(None, None)}
    campaign.truth("t03", "dog")
    assert {each.value for each in campaign.answers()} == {None, "dog"}
    campaign = run(method, answers=1)
    (answered,) = (each for each in campaign.answers() if each.count)
    assert answered.value in OPTIONS
    assert answered.confidence == pytest.approx(1.0, abs=1e-6)


def test_all_tasks_are_learned_from_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = run("one-coin")
    times = []
    kind = aggregation.get("one-coin")
    solve = kind.solve  # type: ignore[attr-defined]
    monkeypatch.setattr(kind, "solve", lambda self, given: times.append(1) or solve(self, given))
    assert len(campaign.answers()) == 12
    assert len(times) == 1


def test_parameters_come_through_the_store() -> None:
    campaign = run({"name": "dawid-skene", "max_iterations": 2}, answers=5)
    assert campaign.spec["aggregation"] == {
        "name": "dawid-skene",
        "max_iterations": 2,
        "tolerance": 1e-5,
    }
