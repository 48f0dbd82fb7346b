"""Requests. The campaign decides what is valid beyond the shape."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, Tag

from askwise.service.api.shapes.fields import (
    NAME,
    Amount,
    Body,
    Given,
    Id,
    NameOrObject,
    Part,
    Real,
    Whole,
    example,
)
from askwise.service.webhooks import posting, records

Limit = Annotated[int, Field(ge=1, le=2**40), Whole]
Seconds = Annotated[float, Field(gt=0, lt=1e10)]


class WorkerBody(Body):
    """Somebody who answers at a price."""

    id: Id
    price: Amount
    limit: Limit | None = None
    rating: Real | None = None
    rating_weight: Annotated[float, Field(ge=0, le=1e300)] | None = None
    trusted: bool = False


class TaskBody(Body):
    """One thing to be judged."""

    id: Id
    context: Annotated[str, Field(max_length=200)] | None = None
    payload: Any = Field(None, description="What the worker is shown: any JSON.")
    workers: list[Id] | None = Field(None, min_length=1)


TaskOrId = Annotated[
    Annotated[Id, Tag("(name)")] | Annotated[TaskBody, Tag("(object)")], NameOrObject
]


class NewCampaign(Body):
    """A campaign as created; the same fields as in a TOML file."""

    model_config = example(
        {
            "name": "cats",
            "workers": [{"id": "ann", "price": "0.05"}, {"id": "bob", "price": "0.10"}],
            "tasks": [{"id": "photo-1", "payload": {"text": "Is it a cat?"}}, {"id": "photo-2"}],
            "options": ["yes", "no"],
            "budget": "10",
            "policy": "random-pairs",
            "lease": 600,
        }
    )

    name: Annotated[str, Field(pattern=NAME)] | None = None
    workers: Annotated[list[WorkerBody], Field(fail_fast=True)]
    tasks: Annotated[list[TaskOrId], Field(fail_fast=True)] | None = None
    options: list[Id] | None = Field(None, min_length=2)
    outcome: Part | None = Field(None, examples=["utility"])
    budget: Amount | None = None
    policy: Part = Field(examples=["random-pairs"])
    stopping: Part | None = None
    aggregation: Part | None = None
    mechanism: Part | None = None
    repeat: bool | None = None
    lease: Seconds | None = Field(None, description="Seconds in which an answer is due.")
    seed: Annotated[int, Field(ge=0, lt=2**63), Whole] | None = None


class AskBody(Body):
    """Whom to ask: a worker, a set of them, or (no ``workers``) whoever is best."""

    model_config = example({"limit": 1, "workers": ["ann"]})

    limit: Annotated[int, Field(ge=1, le=1000), Whole] = 1
    workers: list[Id] | None = None


class AnswerBody(Body):
    """An answer: an option, or a number."""

    model_config = example({"value": "yes"})

    value: Given


class AdditionsBody(Body):
    """Tasks and workers to add, all or none."""

    model_config = example({"tasks": ["photo-3"], "workers": [{"id": "eve", "price": "0.08"}]})

    tasks: list[TaskOrId] = Field(default_factory=list, fail_fast=True)
    workers: list[WorkerBody] = Field(default_factory=list, fail_fast=True)


class AmountBody(Body):
    """Money."""

    model_config = example({"amount": "5"})

    amount: Amount


class BidBody(Body):
    """A worker's price; a worker's token needs no name."""

    model_config = example({"worker": "ann", "amount": "0.07"})

    worker: Id | None = None
    amount: Amount


class WorkerOnly(Body):
    """A worker; a worker's token needs no name."""

    model_config = example({"worker": "ann"})

    worker: Id | None = None


class AvailabilityBody(Body):
    """Whether a worker takes questions now; ``until`` (seconds since 1970) ends an absence."""

    model_config = example({"worker": "ann", "available": False})

    worker: Id | None = None
    available: bool
    until: Annotated[float, Field(ge=0, le=1e11)] | None = None


class InviteBody(Body):
    """A worker to invite; with a price they are added first, if they are not there yet."""

    model_config = example({"worker": "ann", "lasts": 604800})

    worker: Id
    price: Amount | None = None
    limit: Limit | None = None
    lasts: Seconds | None = Field(None, description="Seconds; without, for good.")


class TaskOnly(Body):
    """A task."""

    model_config = example({"task": "photo-1"})

    task: Id


class TruthBody(Body):
    """The true option of a task."""

    model_config = example({"task": "photo-1", "option": "yes"})

    task: Id
    option: Id


class KeyBody(Body):
    """A key to be made."""

    model_config = example({"role": "viewer", "label": "the board", "lasts": 2592000})

    role: Literal["owner", "requester", "viewer"]
    label: str = Field(min_length=1, max_length=100)
    lasts: Seconds | None = Field(None, description="Seconds; without, for good.")


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
