"""A campaign that certifies its labels, and judges and a vet who answer it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from askwise import Campaign, Done, Wait, Worker
from askwise.core.events import Event, Kind

VET = Worker("vet", "0.5", trusted=True)
JUDGES = [Worker("j1", "0.01"), Worker("j2", "0.01"), Worker("j3", "0.02")]
TERMS = {"error": 0.1, "confidence": 0.9, "by": ["vet"], "share": 0.4}

TASKS = [f"t{at}" for at in range(60)]


def truth_of(task: str) -> str:
    """A task's truth: a function of its name."""
    return "yes" if random.Random(task).random() < 0.5 else "no"


def said_by(worker: str, task: str, right: float = 0.9) -> str:
    """What a worker says, whenever they are asked."""
    truth = truth_of(task)
    if worker.startswith("vet") or random.Random(worker + task).random() < right:
        return truth
    return "no" if truth == "yes" else "yes"


def create(**changes: Any) -> Campaign:
    terms = {**TERMS, **changes.pop("certify", {})}
    raw: dict[str, Any] = {
        "workers": [*JUDGES, VET],
        "tasks": TASKS,
        "options": ["no", "yes"],
        "budget": "50",
        "policy": "random-pairs",
        "seed": 3,
        "name": "cats",
    }
    return Campaign.create(**{**raw, **changes}, certify=terms)


def run(
    campaign: Campaign, *, limit: int = 1, says: Callable[[str, str], str] = said_by
) -> Wait | Done:
    """Answer what is out, then ask and answer to the end."""
    while True:
        for each in campaign.assignments():
            assert each.task is not None
            campaign.tell(each.id, says(each.worker, each.task))
        choice = campaign.ask(limit)
        if isinstance(choice, Wait | Done):
            return choice


MORE = [f"u{at}" for at in range(40)]


def of_kind(log: list[Event], kind: Kind) -> list[Event]:
    """The events of a kind."""
    return [event for event in log if event.kind == kind]


def drawn_labels(log: list[Event]) -> dict[str, tuple[str, float]]:
    """Labels and scores as they are on record."""
    (drawn,) = of_kind(log, Kind.DRAWN)
    assert drawn.draw is not None
    closed = {event.task: event.value for event in of_kind(log, Kind.CLOSED)}
    scores = zip(drawn.draw["tasks"], drawn.draw["scores"], strict=True)
    return {task: (str(closed[task]), score) for task, score in scores}
