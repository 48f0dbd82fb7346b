"""What requests and replies look like. The campaign decides what is valid beyond the shape."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    WithJsonSchema,
)

from askwise.service import hooks_posting, hooks_records

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
AMOUNT = r"^[0-9]{1,20}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,2})?$"

Name = Annotated[str, Path(pattern=NAME, description="The campaign.", examples=["cats"])]

AssignmentId = Annotated[
    str,
    Path(
        pattern=NAME[:-1] + ":[1-9][0-9]{0,17}$",
        description="The assignment: campaign and number.",
        examples=["cats:12"],
    ),
]

KeyId = Annotated[
    str,
    Path(
        pattern="^[0-9a-f]{16,64}$",
        description="The id, as in the list.",
        examples=["0f1e2d3c4b5a6978"],
    ),
]

Money = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]*)(\.[0-9]{1,6})?$", examples=["0.05"])]
"""In replies: exact, so a string."""

Id = Annotated[str, Field(min_length=1, max_length=200)]


def _amount(value: object) -> str | int | float:
    if isinstance(value, str) and re.fullmatch(AMOUNT, value):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1e9:
        return value
    raise ValueError('give an amount of money of 0 or more, as a string ("0.05") or a number')


Amount = Annotated[
    str | int | float,
    PlainValidator(_amount),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": AMOUNT},
                {"type": "number", "minimum": 0, "maximum": 1e9},
            ],
            "examples": ["0.05"],
        }
    ),
]
"""In requests: a string is exact, a number is taken as it is written; six decimals at the most."""


def _given(value: object) -> str | float:
    if isinstance(value, str) and len(value) <= 200:
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e300:
        return float(value)
    raise ValueError("give an option (a string), or a number")


Given = Annotated[
    str | float,
    PlainValidator(_given),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "maxLength": 200},
                {"type": "number", "minimum": -1e300, "maximum": 1e300},
            ]
        }
    ),
]


def _whole(value: object) -> object:
    # 2.0 is a whole number in JSON.
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = BeforeValidator(_whole)
Real = Annotated[float, Field(ge=-1e300, le=1e300)]


def _kind(value: object) -> str | None:
    if isinstance(value, str):
        return "(name)"
    return "(object)" if isinstance(value, dict | BaseModel) else None


NameOrObject = Discriminator(
    _kind, custom_error_type="kind", custom_error_message="Give a name, or an object"
)


def _parameter(value: object) -> object:
    if isinstance(value, str) and len(value) > 200:
        raise ValueError("a text may have up to 200 characters here")
    return value


Parameter = Annotated[
    Any,
    PlainValidator(_parameter),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "maxLength": 200},
                {"type": ["number", "boolean", "null", "array", "object"]},
            ]
        }
    ),
]

Part = Annotated[
    Annotated[str, Field(min_length=1, max_length=100), Tag("(name)")]
    | Annotated[dict[Annotated[str, Field(max_length=100)], Parameter], Tag("(object)")],
    NameOrObject,
]
"""A policy, rule, aggregator or mechanism: its name, or an object with name and parameters."""


class Body(BaseModel):
    """A request: no unknown fields, no guessing of types."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


def _example(body: dict[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [body]})


class View(BaseModel):
    """A reply: nothing in it that is not described."""

    model_config = ConfigDict(extra="forbid")


# Requests.


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

    model_config = _example(
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

    model_config = _example({"limit": 1, "workers": ["ann"]})

    limit: Annotated[int, Field(ge=1, le=1000), Whole] = 1
    workers: list[Id] | None = None


class AnswerBody(Body):
    """An answer: an option, or a number."""

    model_config = _example({"value": "yes"})

    value: Given


class AdditionsBody(Body):
    """Tasks and workers to add, all or none."""

    model_config = _example({"tasks": ["photo-3"], "workers": [{"id": "eve", "price": "0.08"}]})

    tasks: Annotated[list[TaskOrId], Field(fail_fast=True)] = []
    workers: Annotated[list[WorkerBody], Field(fail_fast=True)] = []


class AmountBody(Body):
    """Money."""

    model_config = _example({"amount": "5"})

    amount: Amount


class BidBody(Body):
    """A worker's price; a worker's token needs no name."""

    model_config = _example({"worker": "ann", "amount": "0.07"})

    worker: Id | None = None
    amount: Amount


class WorkerOnly(Body):
    """A worker; a worker's token needs no name."""

    model_config = _example({"worker": "ann"})

    worker: Id | None = None


class AvailabilityBody(Body):
    """Whether a worker takes questions now; ``until`` (seconds since 1970) ends an absence."""

    model_config = _example({"worker": "ann", "available": False})

    worker: Id | None = None
    available: bool
    until: Annotated[float, Field(ge=0, le=1e11)] | None = None


class InviteBody(Body):
    """A worker to invite; with a price he is added first, if he is not there yet."""

    model_config = _example({"worker": "ann", "lasts": 604800})

    worker: Id
    price: Amount | None = None
    limit: Limit | None = None
    lasts: Seconds | None = Field(None, description="Seconds; without, for good.")


class TaskOnly(Body):
    """A task."""

    model_config = _example({"task": "photo-1"})

    task: Id


class TruthBody(Body):
    """The true option of a task."""

    model_config = _example({"task": "photo-1", "option": "yes"})

    task: Id
    option: Id


class KeyBody(Body):
    """A key to be made."""

    model_config = _example({"role": "viewer", "label": "the board", "lasts": 2592000})

    role: Literal["owner", "requester", "viewer"]
    label: str = Field(min_length=1, max_length=100)
    lasts: Seconds | None = Field(None, description="Seconds; without, for good.")


# Replies.


class Problem(View):
    """What went wrong."""

    code: str
    message: str
    field: str | None


class Error(View):
    """The one shape of errors."""

    error: Problem


class NeedsGold(View):
    """A context in which answers alone can't tell who is right."""

    context: str | None
    tasks: list[str]


class Status(View):
    """A campaign at a glance."""

    name: str
    state: Literal["running", "paused", "stopped"]
    policy: str
    budget: Money | None
    spent: Money
    reserved: Money
    left: Money | None
    workers: int
    tasks: int
    open_tasks: int
    decisions: int
    answers: int
    pending: int
    utility: float | None
    seq: int
    needs_gold: list[NeedsGold]


class Campaigns(View):
    """A page of campaigns."""

    items: list[Status]
    unreadable: list[str] = Field(
        [], description="Campaigns that can't be opened, as a plug-in is missing: see the log."
    )
    next: str | None = Field(description="Pass as `after` for the next page; null at the end.")


class Question(View):
    """An assignment, with what its worker is shown."""

    id: str
    task: str | None
    worker: str
    price: Money
    propensity: float | None = Field(None, description="Not shown to workers.")
    expires: float | None
    payload: Any = None


class Handed(Question):
    """An assignment, and what has become of it."""

    state: Literal["out", "answered", "expired", "declined"]
    value: str | float | None


class Asked(View):
    """Assignments that are handed out."""

    status: Literal["batch"]
    assignments: list[Question]


class Wait(View):
    """Nothing to ask now."""

    status: Literal["wait"]
    what: Literal["truth", "answers", "workers", "resume"]


class Done(View):
    """Nothing more to ask."""

    status: Literal["done"]
    why: Literal["budget", "limits", "tasks", "target", "stopped"]


class Over(View):
    """Whether a campaign is over: why, or null while something can be asked or is out."""

    why: Literal["budget", "limits", "tasks", "target", "stopped"] | None


class Settled(View):
    """What has become of an assignment."""

    assignment: str
    state: Literal["answered", "declined", "expired"]


class Answer(View):
    """A task's answer so far."""

    task: str | None
    value: str | float | None
    confidence: float | None
    outcome: str
    count: int
    assured_error: float | None
    majority_error: float | None


class Answers(View):
    """A page of answers."""

    items: list[Answer]
    next: str | None


class Payment(View):
    """What a worker has earned."""

    worker: str
    answers: int
    paid: Money
    reserved: Money
    why: str


class Payments(View):
    """A page of payments."""

    items: list[Payment]
    next: str | None


class Questions(View):
    """A page of what is out."""

    items: list[Question]
    next: str | None


class Event(View):
    """One event of the log; the further fields of each kind are in the reference of JSON."""

    model_config = ConfigDict(extra="allow")

    kind: str
    seq: int = Field(ge=1)
    time: float
    key: str | None = Field(None, description="The caller's id and his Idempotency-Key.")


class Log(View):
    """A page of the log."""

    items: list[Event]
    next: str | None


class Candidate(View):
    """One worker as the policy saw him."""

    worker: str
    available: bool
    room: int | None
    index: float | None
    details: dict[str, float | None]


class Explanation(View):
    """Why an assignment was made."""

    assignment: str
    task: str | None
    worker: str
    price: Money
    propensity: float | None
    decision: int
    purpose: str
    policy: str
    rule: str
    budget_left: Money | None
    rows: list[list[Any]]
    candidates: list[Candidate]
    reproduced: bool


class Worker(View):
    """A worker as he joined."""

    id: str
    price: Money
    limit: int | None = None
    rating: float | None = None
    rating_weight: float | None = None
    trusted: bool | None = None


class Task(View):
    """A task as it was added."""

    id: str
    context: str | None = None
    payload: Any = None
    workers: list[str] | None = None


class Range(View):
    """The range of a number that answers."""

    kind: Literal["utility"]
    low: float
    high: float


class Spec(View):
    """A campaign as it was created."""

    format: int
    workers: list[Worker]
    tasks: list[Task] = []
    options: list[str] = []
    outcome: Range | None = None
    budget: Money | None
    repeat: bool
    policy: dict[str, Any]
    stopping: dict[str, Any] | None
    aggregation: dict[str, Any] | None
    mechanism: dict[str, Any]
    seed: int
    lease: float | None


class Named(View):
    """The worker that it was about."""

    worker: str


class Health(View):
    """All is well."""

    status: Literal["ok"]


class Availability(View):
    """Whether a worker takes questions."""

    worker: str
    available: bool
    until: float | None


class Key(View):
    """A key or token, without its secret."""

    id: str
    role: str
    label: str
    created: float
    expires: float | None
    revoked: float | None
    campaign: str | None
    worker: str | None


class NewKey(Key):
    """A key as made: the only time that its secret is shown."""

    secret: str


class Invitation(Key):
    """A worker's token as made: the only time that it is shown."""

    secret: str
    link: str


class Keys(View):
    """A page of keys."""

    items: list[Key]
    next: str | None


class Me(View):
    """Who you are to this service."""

    id: str
    role: str
    label: str
    expires: float | None
    campaign: str | None
    worker: str | None


class Estimate(View):
    """How good a worker seems, with a 95% interval, and what that rests on."""

    value: float
    low: float
    high: float
    basis: Literal["truth", "agreement", "utility"]
    answers: int


class Insight(View):
    """A worker: his work, his money, how good he seems."""

    id: str
    joined: bool
    trusted: bool
    price: Money | None = Field(description="Null while sealed bids are taken.")
    limit: int | None
    asked: int
    answered: int
    out: int
    expired: int
    declined: int
    paid: Money
    share: float
    agreement: float | None
    quality: Estimate | None


class Workers(View):
    """A page of workers."""

    items: list[Insight]
    next: str | None


# Webhooks.

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

    model_config = _example(
        {
            "url": "https://example.org/askwise",
            "campaign": "cats",
            "events": ["task.closed", "campaign.done"],
            "label": "the board",
        }
    )

    url: str = Field(
        max_length=hooks_posting.LONGEST_URL,
        pattern=hooks_posting.PATTERN,
        description="Where to post to; public unless the service allows private addresses.",
        examples=["https://example.org/askwise"],
    )
    campaign: Annotated[str, Field(pattern=NAME)] | None = Field(
        None, description="Of which campaign; null for all, also those to come."
    )
    events: list[hooks_records.EventName] = Field(min_length=1)
    label: str = Field("", max_length=100)


class Hook(View):
    """A webhook, without its secret."""

    id: str
    url: str
    campaign: str | None
    events: list[hooks_records.EventName]
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
    event: Literal[hooks_records.EventName, "ping"]
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
