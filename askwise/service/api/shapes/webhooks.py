"""Webhooks: what makes one, and how it is shown."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import (
    Field,
)

from askwise.service.api.shapes.fields import NAME, Body, View, example
from askwise.service.webhooks import posting, records

HookId = Annotated[
    str,
    Path(
        pattern="^[0-9a-f]{16}$",
        description="The hook's id, as in the list.",
        examples=["0f1e2d3c4b5a6978"],
    ),
]

DeliveryId = Annotated[
    str,
    Path(
        pattern="^[0-9a-f]{22}$",
        description="The delivery's id, as in the list.",
        examples=["0006439f3a2b1c0f1e2d3c"],
    ),
]


class HookBody(Body):
    """A webhook to be made."""

    model_config = example(
        {
            "url": "https://example.org/askwise",
            "campaign": "cats",
            "events": ["task.closed", "campaign.done"],
            "label": "the board",
        }
    )

    url: str = Field(
        max_length=posting.LONGEST_URL,
        pattern=posting.PATTERN,
        description="Where to post to; public unless the service allows private addresses.",
        examples=["https://example.org/askwise"],
    )
    campaign: Annotated[str, Field(pattern=NAME)] | None = Field(
        None, description="Of which campaign; null for all, also those to come."
    )
    events: list[records.EventName] = Field(min_length=1)
    label: str = Field("", max_length=100)


class Hook(View):
    """A webhook, without its secret."""

    id: str
    url: str
    campaign: str | None
    events: list[records.EventName]
    label: str
    created: float
    ended: float | None
    waiting: int = Field(description="Deliveries that wait.")


class NewHook(Hook):
    """A webhook as made: the only time that its secret is shown."""

    secret: str


class Hooks(View):
    """A page of webhooks."""

    items: list[Hook]
    next: str | None


class Delivery(View):
    """A message to a webhook, and what has become of it."""

    id: str = Field(description="The same at every attempt.")
    hook: str
    event: Literal[records.EventName, "ping"]
    campaign: str | None
    state: Literal["waiting", "delivered", "given_up"]
    made: float
    attempts: int
    due: float | None = Field(description="When the next attempt is.")
    tried: float | None = Field(description="When the last attempt was.")
    status: int | None = Field(description="Of the receiver's answer, if there was one.")
    said: str | None = Field(description="The beginning of it, or what went wrong.")
    payload: dict[str, Any]


class Deliveries(View):
    """A page of deliveries, newest first."""

    items: list[Delivery]
    next: str | None
