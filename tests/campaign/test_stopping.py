"""A stopping rule closes the tasks of a campaign as it says."""

from __future__ import annotations

from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.core.choices import Batch, Done
from askwise.core.events import Kind


def make(n: int, **changes: Any) -> Campaign:
    raw: dict[str, Any] = {
        "workers": [Worker(name, 1) for name in "abcde"],
        "tasks": ["t", "u"],
        "options": ["no", "yes"],
        "budget": 20,
        "policy": "uniform",
        "stopping": {"name": "fixed", "n": n},
        "seed": 1,
    }
    return Campaign.create(**{**raw, **changes})


def test_a_task_is_closed_after_so_many_answers_with_what_most_gave() -> None:
    campaign = make(3)
    while isinstance(batch := campaign.ask(), Batch):
        campaign.tell(batch[0].id, "no" if batch[0].worker == "a" else "yes")
    assert batch == Done("tasks")
    for answer in campaign.answers():
        assert (answer.value, answer.outcome, answer.count) == ("yes", "confident", 3)
        assert answer.confidence in (1.0, pytest.approx(2 / 3))
    log = campaign.log()
    closings = [at for at, event in enumerate(log) if event.kind == Kind.CLOSED]
    assert len(closings) == 2
    for at in closings:
        # In the transaction of the answer that decided it.
        assert log[at - 1].kind == Kind.ANSWER
        assert log[at - 1].time == log[at].time


def test_a_tie_is_decided_by_a_declared_draw() -> None:
    options = set()
    for seed in range(20):
        campaign = make(2, seed=seed, tasks=["t"])
        batch = campaign.ask(2)
        assert isinstance(batch, Batch)
        for each, option in zip(batch, ("no", "yes"), strict=True):
            campaign.tell(each.id, option)
        (answer,) = campaign.answers()
        assert answer.confidence == 0.5
        options.add(answer.value)
    assert options == {"no", "yes"}


def test_an_answer_in_its_lease_to_a_closed_task_changes_no_verdict() -> None:
    campaign = make(1, tasks=["t"])
    batch = campaign.ask(3)
    assert isinstance(batch, Batch)
    campaign.tell(batch[0].id, "no")
    for each in batch[1:]:
        campaign.tell(each.id, "yes")
    (answer,) = campaign.answers()
    assert (answer.value, answer.confidence, answer.count) == ("no", 1.0, 3)
    assert campaign.status().spent == 3
