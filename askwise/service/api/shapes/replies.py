"""Replies."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import (
    ConfigDict,
    Field,
)

from askwise.core.reasons import Reason
from askwise.service.api.shapes.fields import Money, View


class Problem(View):
    """What went wrong."""

    code: str
    reason: Reason
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
    tasks: list[Task] = Field(default_factory=list)
    options: list[str] = Field(default_factory=list)
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
