"""Campaigns with assured accuracy: made in a line, answered, their decisions and beliefs."""

from __future__ import annotations

from askwise import Campaign, Worker
from askwise.core.events import Kind
from tests.policies.folded import state_of

SURE = {"rounds": 0, "qualities": (0.9, 0.8, 0.8, 0.7)}
"""ccb-fixed with known qualities: sets are settled at once, and easy to compute by hand."""


def campaign_of(policy, workers=4, tasks=3, prices=None, **more):
    prices = prices or [1] * workers
    return Campaign.create(
        workers=[Worker(f"w{at}", price) for at, price in enumerate(prices)],
        tasks=more.pop("given", None) or [f"t{at}" for at in range(tasks)],
        options=["no", "yes"],
        policy=policy,
        name="assured",
        **more,
    )


def tell(campaign, batch, answer="yes"):
    for each in batch:
        campaign.tell(each.id, answer)


def who(batch):
    return [(each.task, each.worker) for each in batch]


def decisions(campaign):
    return [
        (event.note, event.rows[0].task, [row.worker for row in event.rows])
        for event in campaign.log()
        if event.kind == Kind.DECIDED
    ]


def beliefs(campaign):
    return state_of(campaign).beliefs
