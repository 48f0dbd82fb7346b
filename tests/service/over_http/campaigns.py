"""Campaigns on a service that other tests use too."""

from __future__ import annotations

import itertools
from typing import Any

from askwise import Batch
from askwise.client import RemoteCampaign, Service

NUMBERS = itertools.count(1)

CATS: dict[str, Any] = {
    "workers": [{"id": "ann", "price": "0.1"}, {"id": "bob", "price": "0.2", "limit": 5}],
    "tasks": ["t1", {"id": "t2", "payload": {"text": "A cat?"}}],
    "options": ["yes", "no"],
    "budget": "10",
    "policy": "random-pairs",
    "seed": 4,
}


def new_name() -> str:
    """Tests of one service leave each other alone."""
    return f"life-{next(NUMBERS)}"


def create(service: Service, **changes: Any) -> RemoteCampaign:
    return service.create(**{**CATS, "name": new_name(), **changes})


def kinds(campaign: RemoteCampaign) -> list[str]:
    return [event.kind.name for event in campaign.log()]


def only(choice: Any) -> Any:
    """The one assignment of a batch."""
    assert isinstance(choice, Batch)
    [assignment] = choice
    return assignment
