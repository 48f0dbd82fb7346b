"""Campaigns with the votes that a test names, and their state."""

from __future__ import annotations

from typing import Any

from askwise import Batch, Campaign, Worker
from askwise.campaign.state import CampaignState

OPTIONS = ("no", "yes", "maybe")


def votes(
    table: dict[str, dict[str, str]], options: tuple[str, ...] = OPTIONS, **more: Any
) -> Campaign:
    """A campaign in which each worker gives the answers named for them: task, then option."""
    tasks = list(dict.fromkeys(task for said in table.values() for task in said))
    campaign = Campaign.create(
        workers=[Worker(name, "0.10") for name in table],
        tasks=tasks,
        options=options,
        policy="random-pairs",
        seed=1,
        **{"budget": "1000", **more},
    )
    for name, said in table.items():
        while isinstance(batch := campaign.ask(workers=[name]), Batch):
            (one,) = batch
            if one.task in said:
                campaign.tell(one.id, said[one.task])
            else:
                campaign.decline(one.id)
    return campaign


def state_of(campaign: Campaign) -> CampaignState:
    with campaign.reading() as state:
        return state
