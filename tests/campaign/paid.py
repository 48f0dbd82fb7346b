"""A campaign whose workers are paid out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from askwise import Campaign, Worker
from askwise.campaign.views import Payment

EUROS = {"question": "Is it?", "options": ["no", "yes"], "currency": "EUR"}
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC).timestamp()


def campaign_of(**more: Any) -> Campaign:
    given: dict[str, Any] = {
        "workers": [Worker("ann", 1), Worker("bob", 2)],
        "tasks": ["t1", "t2", "t3"],
        "options": ["no", "yes"],
        "policy": "random-pairs",
        "budget": 20,
        "seed": 1,
        "clock": lambda: NOON,
    }
    return Campaign.create(**{**given, **more})


def answer(campaign: Campaign, worker: str, times: int = 1, value: Any = "yes") -> None:
    for _ in range(times):
        (asked,) = campaign.ask(workers=[worker])
        campaign.tell(asked.id, value)


def of(campaign: Campaign, worker: str) -> Payment:
    (found,) = [each for each in campaign.payments() if each.worker == worker]
    return found
