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

from askwise.campaign.undoing import LONGEST_TITLE
from askwise.core.calls import LONGEST_RATIONALE, LONGEST_REFERENCE, LONGEST_REMARK, FailureWhy
from askwise.core.docstrings import attributes_of
from askwise.core.problem import Worker, WorkerKind
from askwise.core.schemas import in_json_words
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
TaskId = Annotated[Id, Field(description="The task.")]
WorkerId = Annotated[Id, Field(description="The worker.")]
Archived = Annotated[
    Literal["no", "yes"],
    Field(description="Whether those that were archived are listed, instead of those in use."),
]
OneWorker = Annotated[Id | None, Field(description="A worker; without, all of them.")]


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
"""A string is exact, a number is taken as it is written; six decimals at most."""


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


OBJECT = (dict, BaseModel)


def told_apart(message: str, **kinds: Any) -> Discriminator:
    """Tell alternatives apart by the type of what is given; no number is true or false."""

    def tag(value: object) -> str | None:
        for name, kind in kinds.items():
            if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
                return f"({name})"
        return None

    return Discriminator(tag, custom_error_type="kind", custom_error_message=message)


NameOrObject = told_apart("Give a name, or an object", name=str, object=OBJECT)


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
    Annotated[str, Field(min_length=1, max_length=1000), Tag("(name)")]
    | Annotated[dict[Annotated[str, Field(max_length=100)], Parameter], Tag("(object)")],
    NameOrObject,
]
"""A policy, rule, aggregator or mechanism: its name, its name with parameters in brackets, or an
object of both."""

Limit = Annotated[int, Field(ge=1, le=2**40), Whole]
Share = Annotated[float, Field(gt=0, lt=1)]
Seconds = Annotated[float, Field(gt=0, lt=1e10)]


class Body(BaseModel):
    """A request: no unknown fields, no guessing of types."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    def __init_subclass__(
        cls, example: dict[str, Any] | None = None, of: type | None = None, **kwargs: Any
    ) -> None:
        super().__init_subclass__(**kwargs)
        words = {} if of is None else attributes_of(of)

        def say(schema: dict[str, Any]) -> None:
            # What is said of a field by the class that the request is about is not said again.
            for name, part in schema["properties"].items():
                if name in words:
                    part.setdefault("description", in_json_words(words[name]))
            if example is not None:
                schema["examples"] = [example]

        cls.model_config["json_schema_extra"] = say


class AskBody(Body, example={"limit": 1, "workers": ["ann"]}):
    """Whom to ask: a worker, a set of them, or (without ``workers``) the best ones."""

    limit: Annotated[
        int,
        Field(
            ge=1,
            le=1000,
            description="The most assignments to hand out. A worker's token is never given more "
            "than the service lets a worker have out (`askwise serve --most-out`, 3 by default).",
        ),
        Whole,
    ] = 1
    workers: Annotated[
        list[Id] | None, Field(description="The workers on offer; without, all who can be asked.")
    ] = None
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


class SaidBody(Body):
    """An answer, and what a call brought beside it."""

    value: Given = Field(description="The answer: an option, or a number.")
    probabilities: dict[Id, Annotated[float, Field(ge=0, le=1)]] | None = Field(
        None, description="How sure the source is of it, by option; they sum to 1."
    )
    rationale: Annotated[str, Field(max_length=LONGEST_RATIONALE)] | None = Field(
        None, description="What the source says for the answer."
    )
    reference: Reference = None


class AnswerBody(SaidBody, example={"value": "yes"}):
    """An answer: an option, or a number; and what a call brought beside it."""

    cost: Cost = None


By = Annotated[
    Id | None,
    Field(
        description="Who changes it; by default what the key is called. Not for a worker's token."
    ),
]


class RevisionBody(SaidBody, example={"value": "no", "by": "ann"}):
    """An answer in place of the one that was given."""

    by: By = None


class WithdrawalBody(Body, example={"why": "The annotation was deleted."}):
    """Why an answer is taken back."""

    why: str = Field(min_length=1, max_length=LONGEST_REMARK, description="Why it is taken back.")
    by: By = None


class FailureBody(Body, example={"why": "refused", "cost": "0.002"}):
    """Why a call brought no answer, and what it cost nevertheless."""

    why: FailureWhy = Field(description="Why there is no answer.")
    cost: Amount = Field("0", description="What the call cost nevertheless.")
    reference: Reference = None


class AmountBody(Body, example={"amount": "5"}):
    """Money."""

    amount: Amount = Field(description="How much is added to the budget.")


class WorkerOnly(Body, example={"worker": "ann"}):
    """A worker; a worker's token needs no name."""

    worker: Id | None = Field(None, description="The worker; a worker's token may leave it out.")


class BidBody(WorkerOnly, example={"worker": "ann", "amount": "0.07"}):
    """A worker's price; a worker's token needs no name."""

    amount: Amount = Field(description="What they ask for one answer.")


class AvailabilityBody(WorkerOnly, example={"worker": "ann", "available": False}):
    """Whether a worker takes questions now; ``until`` (seconds since 1970) ends an absence."""

    available: bool = Field(description="Whether they take questions now.")
    until: Annotated[float, Field(ge=0, le=1e11)] | None = Field(
        None, description="When an absence ends, in seconds since 1970; without, it does not end."
    )


class InviteBody(Body, example={"worker": "ann", "lasts": 604800}, of=Worker):
    """A worker to invite; with a price they are added first, if they are not there yet."""

    worker: Id = Field(description="The worker.")
    price: Amount | None = None
    limit: Limit | None = None
    lasts: Seconds | None = Field(None, description="Seconds; without, for good.")
    kind: WorkerKind | None = None
    family: Id | None = None


class StandingBody(Body, example={"worker": "ann", "why": "Answers faster than anybody reads."}):
    """A worker to suspend or to reinstate."""

    worker: Id = Field(description="The worker.")
    by: Id | None = Field(None, description="Who decides; by default what the key is called.")
    why: str | None = Field(None, max_length=LONGEST_REMARK, description="The reason.")


class TaskOnly(Body, example={"task": "photo-1"}):
    """A task."""

    task: Id = Field(description="The task.")


class TitleBody(Body, example={"title": "Cats and dogs"}):
    """What a campaign is called."""

    title: Annotated[str, Field(min_length=1, max_length=LONGEST_TITLE)] | None = Field(
        description="The title; null for the one that it was created with."
    )


class ForgetBody(Body, example={"worker": "ann"}):
    """A worker whose id is replaced."""

    worker: Id = Field(description="The worker, by the id that goes.")
    pseudonym: Id | None = Field(
        None, description="What to call them; made up at random if it is not given."
    )


class TruthBody(TaskOnly, example={"task": "photo-1", "option": "yes"}):
    """The true option of a task."""

    option: Id = Field(description="The option that is true.")


class TruthsBody(Body, example={"truths": {"photo-1": "yes", "photo-2": "no"}}):
    """The true options of tasks."""

    truths: dict[Id, Annotated[str, Field(max_length=200)]] = Field(
        description="The true option of each task, by its id."
    )


class LabelBody(
    TaskOnly, example={"task": "photo-1", "value": "yes", "why": "The tail is a cat's."}
):
    """A label that is set by hand."""

    value: Given = Field(description="The label.")
    by: Id | None = Field(None, description="Who decides; by default what the key is called.")
    why: str | None = Field(None, max_length=LONGEST_REMARK, description="The reason.")
    truth: bool = Field(False, description="Whether it is also the truth of the task.")


class FlagBody(Body, example={"why": "The picture is missing."}):
    """Why a task can't be answered."""

    why: str = Field(
        min_length=1, max_length=LONGEST_REMARK, description="Why it can't be answered."
    )


class CommentBody(TaskOnly, example={"task": "photo-1", "text": "Ask the vet."}):
    """A comment on a task."""

    text: str = Field(min_length=1, max_length=LONGEST_REMARK, description="The comment.")
    by: Id | None = Field(None, description="Who writes; by default what the key is called.")


class KeyBody(Body, example={"role": "viewer", "label": "the board", "lasts": 2592000}):
    """A key to be made."""

    role: Literal["owner", "requester", "viewer"] = Field(
        description="What it allows: `viewer` looks, `requester` also runs campaigns, `owner` also "
        "makes keys."
    )
    label: str = Field(min_length=1, max_length=100, description="What it is called.")
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
    events: list[records.EventName] = Field(
        min_length=1, description="The events that it is told of."
    )
    label: str = Field("", max_length=100, description="What it is called.")
