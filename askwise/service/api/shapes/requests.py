"""Requests: what their fields hold, in paths and bodies. The campaign decides what is valid beyond
the shape.
"""

import re
from typing import Annotated, Any, Literal

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

from askwise.core.calls import LONGEST_RATIONALE, LONGEST_REFERENCE, LONGEST_REMARK, FailureWhy
from askwise.core.certify import MOST_BLOCKS
from askwise.core.pilot import FEWEST_TASKS, MOST_TASKS
from askwise.core.problem import WorkerKind
from askwise.service.api.shapes.content import ContentBody
from askwise.service.webhooks import posting, records

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
AMOUNT = r"^[0-9]{1,20}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,2})?$"


def _in_path(pattern: str, description: str, example: str) -> Any:
    return Field(pattern=pattern, description=description, examples=[example])


Name = Annotated[str, _in_path(NAME, "The campaign.", "cats")]
AssignmentId = Annotated[
    str,
    _in_path(NAME[:-1] + ":[1-9][0-9]{0,17}$", "The assignment: campaign and number.", "cats:12"),
]
KeyId = Annotated[str, _in_path("^[0-9a-f]{16,64}$", "The id, as in the list.", "0f1e2d3c4b5a6978")]
HookId = Annotated[
    str, _in_path("^[0-9a-f]{16}$", "The hook's id, as in the list.", "0f1e2d3c4b5a6978")
]
DeliveryId = Annotated[
    str,
    _in_path("^[0-9a-f]{22}$", "The delivery's id, as in the list.", "0006439f3a2b1c0f1e2d3c"),
]

Id = Annotated[str, Field(min_length=1, max_length=200)]


def _amount(value: object) -> str | int | float:
    if isinstance(value, str) and re.fullmatch(AMOUNT, value):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1e9:
        return value
    raise ValueError('give an amount of money of 0 or more, as a string ("0.05") or a number')


_WRITTEN = Annotated[str, Field(pattern=AMOUNT)] | Annotated[float, Field(ge=0, le=1e9)]
Amount = Annotated[
    str | int | float,
    PlainValidator(_amount, json_schema_input_type=_WRITTEN),
    Field(examples=["0.05"]),
]
"""A string is exact, a number is taken as it is written; six decimals at the most."""


def _given(value: object) -> str | float:
    if isinstance(value, str) and len(value) <= 200:
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e300:
        return float(value)
    raise ValueError("give an option (a string), or a number")


Real = Annotated[float, Field(ge=-1e300, le=1e300)]
Given = Annotated[
    str | float,
    PlainValidator(_given, json_schema_input_type=Annotated[str, Field(max_length=200)] | Real),
]


def _whole(value: object) -> object:
    # 2.0 is a whole number in JSON.
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = BeforeValidator(_whole)


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

Limit = Annotated[int, Field(ge=1, le=2**40), Whole]
Share = Annotated[float, Field(gt=0, lt=1)]
Seconds = Annotated[float, Field(gt=0, lt=1e10)]


class Body(BaseModel):
    """A request: no unknown fields, no guessing of types."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    def __init_subclass__(cls, example: dict[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if example is not None:
            cls.model_config["json_schema_extra"] = {"examples": [example]}


class WorkerBody(Body):
    """Somebody who answers at a price."""

    id: Id
    price: Amount
    limit: Limit | None = None
    rating: Real | None = None
    rating_weight: Annotated[float, Field(ge=0, le=1e300)] | None = None
    trusted: bool = False
    kind: WorkerKind | None = Field(
        None, description="A person or model is asked about a task at most once."
    )
    family: Id | None = Field(None, description="Shared by workers that err together.")
    source: Id | None = Field(None, description="What answers for them, by name and digest.")


class JudgeBody(Body):
    """A judge of this service, as `GET /judges` lists them, as a worker.

    The price is the most that any of the tasks can cost; family and source are the judge's.
    """

    judge: Id
    id: Id | None = Field(None, description="The worker; by default called as the judge.")
    limit: Limit | None = None


def _who(value: object) -> str | None:
    if not isinstance(value, dict | BaseModel):
        return None
    judge = "judge" in value if isinstance(value, dict) else isinstance(value, JudgeBody)
    return "(judge)" if judge else "(object)"


WorkerOrJudge = Annotated[
    Annotated[WorkerBody, Tag("(object)")] | Annotated[JudgeBody, Tag("(judge)")],
    Discriminator(_who, custom_error_type="kind", custom_error_message="Give an object"),
]


class TaskBody(Body):
    """One thing to be judged."""

    id: Id
    context: Annotated[str, Field(max_length=200)] | None = None
    payload: Any = Field(None, description="What the worker is shown: any JSON.")
    workers: list[Id] | None = Field(None, min_length=1)


TaskOrId = Annotated[
    Annotated[Id, Tag("(name)")] | Annotated[TaskBody, Tag("(object)")], NameOrObject
]


class CertifyBody(Body, example={"error": 0.05, "confidence": 0.9, "by": ["vet"]}):
    """What is to be certified, who audits, and what that may cost."""

    error: Share = Field(description="The share of certified labels that may be wrong.")
    confidence: Share = Field(description="How sure the statement is to be.")
    by: list[Id] = Field(min_length=1, description="The trusted workers who audit.")
    share: Share = Field(0.2, description="The part of the budget that is kept back for audits.")
    escalate: bool = Field(False, description="Replace labels that are not certified.")
    audits: Limit | None = Field(None, description="The most audits.")
    blocks: Annotated[int, Field(ge=1, le=MOST_BLOCKS), Whole] = Field(
        1, description="How often labels are frozen and drawn from."
    )


PilotTasks = Annotated[int, Field(ge=FEWEST_TASKS, le=MOST_TASKS), Whole]


class PilotBody(Body, example={"tasks": 30, "workers": ["gpt", "mini"]}):
    """How many tasks are put to which workers before the policy decides anything."""

    tasks: PilotTasks = Field(description="How many tasks are drawn at random.")
    workers: list[Id] | None = Field(
        None, min_length=1, description="Who is asked about each of them; all models by default."
    )


def _pilot_kind(value: object) -> str | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "(number)"
    return "(object)" if isinstance(value, dict | BaseModel) else None


Pilot = Annotated[
    Annotated[PilotTasks, Tag("(number)")] | Annotated[PilotBody, Tag("(object)")],
    Discriminator(
        _pilot_kind,
        custom_error_type="kind",
        custom_error_message="Give a number of tasks, or an object",
    ),
]


class NewCampaign(
    Body,
    example={
        "name": "cats",
        "workers": [{"id": "ann", "price": "0.05"}, {"id": "bob", "price": "0.10"}],
        "tasks": [{"id": "photo-1", "payload": {"text": "Is it a cat?"}}, {"id": "photo-2"}],
        "options": ["yes", "no"],
        "budget": "10",
        "policy": "random-pairs",
        "lease": 600,
    },
):
    """A campaign as created; the same fields as in a TOML file."""

    name: Annotated[str, Field(pattern=NAME)] | None = None
    workers: Annotated[list[WorkerOrJudge], Field(fail_fast=True)]
    tasks: Annotated[list[TaskOrId], Field(fail_fast=True)] | None = None
    options: list[Id] | None = Field(None, min_length=2)
    outcome: Part | None = Field(None, examples=["utility"])
    budget: Amount | None = None
    policy: Part | None = Field(
        None,
        description="Who decides whom to ask; `auto`, a choice by what else is given, by default.",
        examples=["random-pairs"],
    )
    stopping: Part | None = None
    aggregation: Part | None = None
    mechanism: Part | None = None
    certify: CertifyBody | None = None
    pilot: Pilot | None = Field(None, examples=[30])
    content: ContentBody | None = Field(
        None,
        description="What workers are asked and shown: question, options, instructions, fields, "
        "examples. Its options are the campaign's, if `options` is not given.",
        examples=[{"question": "Is it a cat?", "options": ["yes", "no"]}],
    )
    repeat: bool | None = None
    lease: Seconds | None = Field(None, description="Seconds in which an answer is due.")
    seed: Annotated[int, Field(ge=0, lt=2**63), Whole] | None = None


class AskBody(Body, example={"limit": 1, "workers": ["ann"]}):
    """Whom to ask: a worker, a set of them, or (no ``workers``) whoever is best."""

    limit: Annotated[
        int,
        Field(
            ge=1,
            le=1000,
            description="Assignments, at the most. A worker's token is never given more than the "
            "service lets a worker have out (`askwise serve --most-out`, 3 by default).",
        ),
        Whole,
    ] = 1
    workers: list[Id] | None = None
    wait: Annotated[
        float,
        Field(
            ge=0,
            le=60,
            description="Seconds to wait for work, if there is none now: the reply comes as soon "
            "as there is, or after that time.",
        ),
    ] = 0.0


Cost = Annotated[
    Amount | None,
    Field(description="What the call cost; a worker's token can't say it."),
]
Reference = Annotated[
    Annotated[str, Field(max_length=LONGEST_REFERENCE)] | None,
    Field(description="Where it comes from, such as a model's request id."),
]


class AnswerBody(Body, example={"value": "yes"}):
    """An answer: an option, or a number; and what a call brought beside it."""

    value: Given
    cost: Cost = None
    probabilities: dict[Id, Annotated[float, Field(ge=0, le=1)]] | None = Field(
        None, description="How sure the source was, by option; they sum to 1."
    )
    rationale: Annotated[str, Field(max_length=LONGEST_RATIONALE)] | None = None
    reference: Reference = None


class FailureBody(Body, example={"why": "refused", "cost": "0.002"}):
    """Why a call brought no answer, and what it cost nevertheless."""

    why: FailureWhy
    cost: Amount = "0"
    reference: Reference = None


class AdditionsBody(
    Body, example={"tasks": ["photo-3"], "workers": [{"id": "eve", "price": "0.08"}]}
):
    """Tasks and workers to add, all or none."""

    tasks: list[TaskOrId] = Field(default_factory=list, fail_fast=True)
    workers: list[WorkerOrJudge] = Field(default_factory=list, fail_fast=True)


class AmountBody(Body, example={"amount": "5"}):
    """Money."""

    amount: Amount


class WorkerOnly(Body, example={"worker": "ann"}):
    """A worker; a worker's token needs no name."""

    worker: Id | None = None


class BidBody(WorkerOnly, example={"worker": "ann", "amount": "0.07"}):
    """A worker's price; a worker's token needs no name."""

    amount: Amount


class AvailabilityBody(WorkerOnly, example={"worker": "ann", "available": False}):
    """Whether a worker takes questions now; ``until`` (seconds since 1970) ends an absence."""

    available: bool
    until: Annotated[float, Field(ge=0, le=1e11)] | None = None


class InviteBody(Body, example={"worker": "ann", "lasts": 604800}):
    """A worker to invite; with a price they are added first, if they are not there yet."""

    worker: Id
    price: Amount | None = None
    limit: Limit | None = None
    lasts: Seconds | None = Field(None, description="Seconds; without, for good.")
    kind: WorkerKind | None = None
    family: Id | None = None


class TaskOnly(Body, example={"task": "photo-1"}):
    """A task."""

    task: Id


class TruthBody(TaskOnly, example={"task": "photo-1", "option": "yes"}):
    """The true option of a task."""

    option: Id


class LabelBody(
    TaskOnly, example={"task": "photo-1", "value": "yes", "why": "The tail is a cat's."}
):
    """A label that is set by hand."""

    value: Given
    by: Id | None = Field(None, description="Who decides; by default what the key is called.")
    why: str | None = Field(None, max_length=LONGEST_REMARK, description="The reason.")
    truth: bool = Field(False, description="Whether it is also the truth of the task.")


class FlagBody(Body, example={"why": "The picture is missing."}):
    """Why a task can't be answered."""

    why: str = Field(min_length=1, max_length=LONGEST_REMARK)


class CommentBody(TaskOnly, example={"task": "photo-1", "text": "Ask the vet."}):
    """A comment on a task."""

    text: str = Field(min_length=1, max_length=LONGEST_REMARK)
    by: Id | None = Field(None, description="Who writes; by default what the key is called.")


class KeyBody(Body, example={"role": "viewer", "label": "the board", "lasts": 2592000}):
    """A key to be made."""

    role: Literal["owner", "requester", "viewer"]
    label: str = Field(min_length=1, max_length=100)
    lasts: Seconds | None = Field(None, description="Seconds; without, for good.")


class HookBody(
    Body,
    example={
        "url": "https://example.org/askwise",
        "campaign": "cats",
        "events": ["task.closed", "campaign.done"],
        "label": "the board",
    },
):
    """A webhook to be made."""

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
