"""Campaigns in which answers are changed."""

from __future__ import annotations

from typing import Any

from askwise import Batch, Campaign, Worker

CATS: dict[str, Any] = {
    "name": "cats",
    "workers": [Worker("ann", 1), Worker("bob", 1), Worker("cyd", 1)],
    "tasks": ["t1", "t2"],
    "options": ["cat", "dog"],
    "budget": 10,
    "policy": "random-pairs",
    "seed": 3,
}


def made(**changes: Any) -> Campaign:
    return Campaign.create(**{**CATS, **changes})


def asked(campaign: Campaign) -> dict[tuple[str | None, str], str]:
    """Hand everything out; the assignments by task and worker."""
    batch = campaign.ask(limit=9)
    assert isinstance(batch, Batch)
    return {(each.task, each.worker): each.id for each in batch}


def told(campaign: Campaign, task: str, **values: str) -> dict[str, str]:
    """Answers of workers to a task, in this order; their assignments."""
    ids = {who: id for (about, who), id in asked(campaign).items() if about == task}
    for worker, value in values.items():
        campaign.tell(ids[worker], value)
    return ids


def said(campaign: Campaign, task: str = "t1") -> tuple[Any, ...]:
    found = next(each for each in campaign.answers() if each.task == task)
    return found.value, found.confidence, found.count, found.outcome


def kinds(campaign: Campaign, after: int) -> list[str]:
    return [event.kind.name for event in campaign.log(after)]
