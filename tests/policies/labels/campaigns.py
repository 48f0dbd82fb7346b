"""Campaigns to try policies for labels on: made in a line, answered to the end, folded anew."""

from __future__ import annotations

from typing import Any

import numpy as np

from askwise import Campaign, Task, Worker
from askwise.campaign.state import CampaignState
from askwise.core.choices import Batch
from tests.policies.folded import state_of

BOTH = ["hem", "bbta"]


def campaign_of(workers: Any = 3, tasks: Any = 4, policy: Any = "hem", **more: Any) -> Campaign:
    """Workers by number (at a price of 1) or as they are; tasks by number, contexts or as such."""
    if isinstance(workers, int):
        workers = [Worker(f"w{at}", 1) for at in range(workers)]
    if isinstance(tasks, int):
        tasks = [f"t{at}" for at in range(tasks)]
    elif isinstance(tasks, str):
        tasks = [Task(f"t{at}", context=context) for at, context in enumerate(tasks)]
    raw = {"options": ["no", "yes"], "budget": 100, "seed": 1, "name": "x", **more}
    return Campaign.create(workers=workers, tasks=tasks, policy=policy, **raw)


def campaign_by_letters(
    policy: Any, workers: Any, tasks: int, options: str = "-+", **more: Any
) -> Campaign:
    """Workers at a price of 1 named by a letter, or as they are; options by a letter each."""
    return Campaign.create(
        **{
            "workers": [Worker(name, 1) if isinstance(name, str) else name for name in workers],
            "tasks": [f"t{at}" for at in range(tasks)],
            "options": list(options),
            "policy": policy,
            "seed": 1,
            "name": "labels",
            **more,
        }
    )


def names(batch: Any) -> list[str]:
    """Who is asked."""
    return [work.worker for work in batch]


def run(campaign: Campaign, answer: Any, most: int = 2000) -> tuple[list[tuple[str, str]], Any]:
    """Answer one by one until the end; returns what was asked, and the end."""
    asked: list[tuple[str, str]] = []
    while len(asked) < most:
        batch = campaign.ask()
        if not isinstance(batch, Batch):
            return asked, batch
        asked.append((str(batch[0].task), batch[0].worker))
        campaign.tell(batch[0].id, answer(*asked[-1]))
    return asked, None


def all_numbers(campaign: Campaign) -> CampaignState:
    """Nothing is infinite or no number, but for the keys of tasks that are done."""
    state = state_of(campaign)
    for name, array in state.beliefs._asdict().items():
        found = array.astype(float)
        fine = ~np.isnan(found) if name == "keys" else np.isfinite(found)
        assert fine.all(), name
    for answer in campaign.answers():
        assert answer.confidence is None or 0.0 < answer.confidence <= 1.0 + 1e-12
    return state


# Truths and experts.


def vet(name: str = "vet", price: int = 2) -> Worker:
    return Worker(name, price, trusted=True)
