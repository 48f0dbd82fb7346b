"""A campaign with screening, and people of whom one knows how good they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from askwise import Campaign, Done, Wait, Worker
from askwise.core.events import Event, Kind

ANN = Worker("ann", "0.1", kind="person")
BOB = Worker("bob", "0.1", kind="person")

GOLD = [f"g{at}" for at in range(30)]
TASKS = [f"t{at}" for at in range(30)]

Says = Callable[[str, str], str]


def truth_of(task: str) -> str:
    return ("no", "yes")[int(task[1:]) % 2]


def wrong_about(task: str) -> str:
    return ("yes", "no")[int(task[1:]) % 2]


def says_right(worker: str, task: str) -> str:
    return truth_of(task)


def says_wrong(worker: str, task: str) -> str:
    return wrong_about(task)


def bob_errs(worker: str, task: str) -> str:
    return wrong_about(task) if worker == "bob" else truth_of(task)


def create(gold: list[str] = GOLD, **changes: Any) -> Campaign:
    """Make a campaign whose gold questions are told."""
    raw: dict[str, Any] = {
        "workers": [ANN, BOB],
        "tasks": [*gold, *TASKS],
        "options": ["no", "yes"],
        "budget": "20",
        "policy": "random-pairs",
        "screening": {"qualify": 5, "rate": 0.5},
        "seed": 3,
        "name": "cats",
    }
    campaign = Campaign.create(**{**raw, **changes})
    for task in gold:
        campaign.truth(task, truth_of(task))
    return campaign


def run(
    campaign: Campaign, says: Says = says_right, workers: list[str] | None = None, most: int = 500
) -> Wait | Done | None:
    """Ask and answer one question after the other, to the end or so often."""
    for _ in range(most):
        choice = campaign.ask(workers=workers)
        if isinstance(choice, Wait | Done):
            return choice
        for each in choice:
            campaign.tell(each.id, says(each.worker, each.task or ""))
    return None


def of_kind(campaign: Campaign, *kinds: Kind) -> list[Event]:
    return [event for event in campaign.log() if event.kind in kinds]


def verdicts(campaign: Campaign) -> list[tuple[str, str | None]]:
    kinds = (Kind.QUALIFIED, Kind.WARNED, Kind.SUSPENDED, Kind.REINSTATED)
    return [(event.kind.name, event.worker) for event in of_kind(campaign, *kinds)]
