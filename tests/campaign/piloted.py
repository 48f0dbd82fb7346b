"""A campaign with a pilot, and judges who answer it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from askwise import Campaign, Done, Wait, Worker
from tests.campaign.certified import said_by

GPT = Worker("gpt", "0.02", kind="model", family="open")
MINI = Worker("mini", "0.01", kind="model", family="open")
OWL = Worker("owl", "0.01", kind="model")
ANN = Worker("ann", "0.1")
JUDGES = [GPT, MINI, OWL]

TASKS = [f"t{at}" for at in range(40)]


def create(**changes: Any) -> Campaign:
    raw: dict[str, Any] = {
        "workers": [*JUDGES, ANN],
        "tasks": TASKS,
        "options": ["no", "yes"],
        "budget": "5",
        "policy": "random-pairs",
        "pilot": 8,
        "seed": 3,
        "name": "cats",
    }
    return Campaign.create(**{**raw, **changes})


def run(
    campaign: Campaign,
    *,
    limit: int = 1,
    workers: list[str] | None = None,
    says: Callable[[str, str], str] = said_by,
) -> Wait | Done:
    """Answer what is out, then ask and answer to the end."""
    while True:
        for each in campaign.assignments():
            assert each.task is not None
            campaign.tell(each.id, says(each.worker, each.task))
        choice = campaign.ask(limit, workers)
        if isinstance(choice, Wait | Done):
            return choice
