"""Replies."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from askwise.core.reasons import Reason
from askwise.service.api.shapes.fields import Money, PageShape, Shape
from askwise.service.webhooks import records


class ProblemShape(Shape):
    """What went wrong."""

    code: str
    reason: Reason
    message: str
    field: str | None


class ErrorShape(Shape):
    """The one shape of errors."""

    error: ProblemShape


class NeedsGoldShape(Shape):
    """A context in which answers alone can't tell who is right."""

    context: str | None
    tasks: list[str]


class StatusShape(Shape):
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
    needs_gold: list[NeedsGoldShape]


class CampaignsShape(PageShape):
    """A page of campaigns."""

    items: list[StatusShape]
    unreadable: list[str] = Field(
        [], description="Campaigns that can't be opened, as a plug-in is missing: see the log."
    )


class QuestionShape(Shape):
    """An assignment, with what its worker is shown."""

    id: str
    task: str | None
    worker: str
    price: Money
    propensity: float | None = Field(None, description="Not shown to workers.")
    expires: float | None
    payload: Any = None


class HandedShape(QuestionShape):
    """An assignment, and what has become of it."""

    state: Literal["out", "answered", "expired", "declined"]
    value: str | float | None


class AskedShape(Shape):
    """Assignments that are handed out."""

    status: Literal["batch"]
    assignments: list[QuestionShape]


class WaitShape(Shape):
    """Nothing to ask now."""

    status: Literal["wait"]
    what: Literal["truth", "answers", "workers", "resume"]


class DoneShape(Shape):
    """Nothing more to ask."""

    status: Literal["done"]
    why: Literal["budget", "limits", "tasks", "target", "stopped"]


class OverShape(Shape):
    """Whether a campaign is over: why, or null while something can be asked or is out."""

    why: Literal["budget", "limits", "tasks", "target", "stopped"] | None


class SettledShape(Shape):
    """What has become of an assignment."""

    assignment: str
    state: Literal["answered", "declined", "expired"]


class AnswerShape(Shape):
    """A task's answer so far."""

    task: str | None
    value: str | float | None
    confidence: float | None
    outcome: str
    count: int
    assured_error: float | None
    majority_error: float | None


class AnswersShape(PageShape):
    """A page of answers."""

    items: list[AnswerShape]


class PaymentShape(Shape):
    """What a worker has earned."""

    worker: str
    answers: int
    paid: Money
    reserved: Money
    why: str


class PaymentsShape(PageShape):
    """A page of payments."""

    items: list[PaymentShape]


class QuestionsShape(PageShape):
    """A page of what is out."""

    items: list[QuestionShape]


class EventShape(Shape):
    """One event of the log; the further fields of each kind are in the reference of JSON."""

    model_config = ConfigDict(extra="allow")

    kind: str
    seq: int = Field(ge=1)
    time: float
    key: str | None = Field(None, description="The caller's id and their Idempotency-Key.")


class LogShape(PageShape):
    """A page of the log."""

    items: list[EventShape]


class CandidateShape(Shape):
    """One worker as the policy saw them."""

    worker: str
    available: bool
    room: int | None
    index: float | None
    details: dict[str, float | None]


class ExplanationShape(Shape):
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
    candidates: list[CandidateShape]
    reproduced: bool


class WorkerShape(Shape):
    """A worker as they joined."""

    id: str
    price: Money
    limit: int | None = None
    rating: float | None = None
    rating_weight: float | None = None
    trusted: bool | None = None


class TaskShape(Shape):
    """A task as it was added."""

    id: str
    context: str | None = None
    payload: Any = None
    workers: list[str] | None = None


class RangeShape(Shape):
    """The range of a number that answers."""

    kind: Literal["utility"]
    low: float
    high: float


class SpecShape(Shape):
    """A campaign as it was created."""

    format: int
    workers: list[WorkerShape]
    tasks: list[TaskShape] = Field(default_factory=list)
    options: list[str] = Field(default_factory=list)
    outcome: RangeShape | None = None
    budget: Money | None
    repeat: bool
    policy: dict[str, Any]
    stopping: dict[str, Any] | None
    aggregation: dict[str, Any] | None
    mechanism: dict[str, Any]
    seed: int
    lease: float | None


class NamedShape(Shape):
    """The worker that it was about."""

    worker: str


class HealthShape(Shape):
    """All is well."""

    status: Literal["ok"]


class AvailabilityShape(Shape):
    """Whether a worker takes questions."""

    worker: str
    available: bool
    until: float | None


class KeyShape(Shape):
    """A key or token, without its secret."""

    id: str
    role: str
    label: str
    created: float
    expires: float | None
    revoked: float | None
    campaign: str | None
    worker: str | None


class NewKeyShape(KeyShape):
    """A key as made: the only time that its secret is shown."""

    secret: str


class InvitationShape(KeyShape):
    """A worker's token as made: the only time that it is shown."""

    secret: str
    link: str


class KeysShape(PageShape):
    """A page of keys."""

    items: list[KeyShape]


class MeShape(Shape):
    """Who you are to this service."""

    id: str
    role: str
    label: str
    expires: float | None
    campaign: str | None
    worker: str | None


class EstimateShape(Shape):
    """How good a worker seems, with a 95% interval, and what that rests on."""

    value: float
    low: float
    high: float
    basis: Literal["truth", "agreement", "utility"]
    answers: int


class InsightShape(Shape):
    """A worker: their work, their money, how good they seem."""

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
    quality: EstimateShape | None


class WorkersShape(PageShape):
    """A page of workers."""

    items: list[InsightShape]


class HookShape(Shape):
    """A webhook, without its secret."""

    id: str
    url: str
    campaign: str | None
    events: list[records.EventName]
    label: str
    created: float
    ended: float | None
    waiting: int = Field(description="Deliveries that wait.")


class NewHookShape(HookShape):
    """A webhook as made: the only time that its secret is shown."""

    secret: str


class HooksShape(PageShape):
    """A page of webhooks."""

    items: list[HookShape]


class DeliveryShape(Shape):
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


class DeliveriesShape(PageShape):
    """A page of deliveries, newest first."""

    items: list[DeliveryShape]
