"""The same campaign in this process and on a service."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from askwise import Campaign, Task, Worker
from askwise.client import RemoteCampaign, Service
from askwise.core.events import Event

CATS: dict[str, Any] = {
    "workers": [Worker("ann", "0.1"), {"id": "bob", "price": Decimal("0.25"), "limit": 9}],
    "tasks": ["t1", Task("t2", payload={"text": "A cat?"}), {"id": "t3", "context": "night"}],
    "options": ["yes", "no"],
    "budget": Decimal("2.5"),
    "policy": "random-pairs",
    "seed": 3,
}


def twins(service: Service, fields: dict[str, Any]) -> tuple[Campaign, RemoteCampaign]:
    """The same campaign here and there."""
    remote = service.create(**fields)
    return Campaign.create(**fields, name=remote.name), remote


def without_times(events: list[Event]) -> list[dict[str, Any]]:
    return [
        {k: v for k, v in event.to_json().items() if k not in ("time", "key")} for event in events
    ]
