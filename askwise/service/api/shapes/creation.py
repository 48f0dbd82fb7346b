"""Requests that make a campaign or add to it: workers, tasks, terms."""

from typing import Annotated, Any

from pydantic import BaseModel, Discriminator, Field, Tag

from askwise.core.certify import MOST_BLOCKS, CertifyTerms
from askwise.core.pilot import FEWEST_TASKS, MOST_TASKS
from askwise.core.problem import Task, Worker, WorkerKind
from askwise.core.screening import MOST_QUESTIONS, ScreenedKind, ScreeningTerms
from askwise.service.api.shapes.content import ContentBody
from askwise.service.api.shapes.requests import (
    NAME,
    OBJECT,
    Amount,
    Body,
    Id,
    Limit,
    NameOrObject,
    Part,
    Real,
    Seconds,
    Share,
    Whole,
    told_apart,
)


class WorkerBody(Body, of=Worker):
    """Somebody who answers at a price."""

    id: Id
    price: Amount
    limit: Limit | None = None
    rating: Real | None = None
    rating_weight: Annotated[float, Field(ge=0, le=1e300)] | None = None
    trusted: bool = False
    kind: WorkerKind | None = None
    family: Id | None = None
    source: Id | None = None


class JudgeBody(Body, of=Worker):
    """A judge of this service, as `GET /judges` lists them, as a worker.

    The price is the most that any of the tasks can cost; family and source are the judge's.
    """

    judge: Id = Field(description="The judge, by the id that `GET /judges` lists.")
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


class TaskBody(Body, of=Task):
    """One thing to be judged."""

    id: Id
    context: Annotated[str, Field(max_length=200)] | None = None
    payload: Any = None
    workers: list[Id] | None = Field(None, min_length=1)


TaskOrId = Annotated[
    Annotated[Id, Tag("(name)")] | Annotated[TaskBody, Tag("(object)")], NameOrObject
]


class CertifyBody(Body, example={"error": 0.05, "confidence": 0.9, "by": ["vet"]}, of=CertifyTerms):
    """What is to be certified, who audits, and what that may cost."""

    error: Share
    confidence: Share
    by: list[Id] = Field(min_length=1)
    share: Share = 0.2
    escalate: bool = False
    audits: Limit | None = None
    blocks: Annotated[int, Field(ge=1, le=MOST_BLOCKS), Whole] = 1


class ScreeningBody(
    Body, example={"qualify": 10, "pass_share": 0.7, "rate": 0.1}, of=ScreeningTerms
):
    """When gold questions are put to workers, and what follows from their answers."""

    qualify: Annotated[int, Field(ge=0, le=MOST_QUESTIONS), Whole] = 10
    pass_share: Annotated[float, Field(ge=0, le=1)] = 0.7
    paid: bool = True
    rate: Annotated[float, Field(ge=0, le=0.5)] = 0.1
    warn_below: Share | None = 0.8
    pause_below: Share | None = 0.7
    kinds: list[ScreenedKind] = Field(default=["person"], min_length=1)


Screening = Annotated[
    Annotated[bool, Tag("(flag)")] | Annotated[ScreeningBody, Tag("(object)")],
    told_apart("Give true, or an object", flag=bool, object=OBJECT),
]


PilotTasks = Annotated[int, Field(ge=FEWEST_TASKS, le=MOST_TASKS), Whole]


class PilotBody(Body, example={"tasks": 30, "workers": ["gpt", "mini"]}):
    """How many tasks are put to which workers before the policy decides anything."""

    tasks: PilotTasks = Field(description="How many tasks are drawn at random.")
    workers: list[Id] | None = Field(
        None, min_length=1, description="Who is asked about each of them; all models by default."
    )


Pilot = Annotated[
    Annotated[PilotTasks, Tag("(number)")] | Annotated[PilotBody, Tag("(object)")],
    told_apart("Give a number of tasks, or an object", number=int | float, object=OBJECT),
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

    name: Annotated[str, Field(pattern=NAME)] | None = Field(
        None, description="The name, unique in the store; generated if not given."
    )
    workers: Annotated[list[WorkerOrJudge], Field(fail_fast=True)] = Field(
        description="The workers who may be asked."
    )
    tasks: Annotated[list[TaskOrId], Field(fail_fast=True)] | None = Field(
        None,
        description="What workers are asked about, as ids or objects; without, a utility campaign "
        "buys units of work.",
    )
    options: list[Id] | None = Field(
        None, min_length=2, description="The possible answers, if answers are options."
    )
    outcome: Part | None = Field(
        None,
        description="`utility` if answers are numbers, from 0 to 1 unless an object says more.",
        examples=["utility"],
    )
    budget: Amount | None = Field(None, description="Maximum to spend; no cap if not given.")
    policy: Part | None = Field(
        None,
        description="What decides whom to ask; `auto`, a choice by what else is given, by default.",
        examples=["random-pairs", "hem(target=0.1)"],
    )
    stopping: Part | None = Field(
        None, description="The rule that says when a task has been asked often enough."
    )
    aggregation: Part | None = Field(None, description="How the answers to a task become one.")
    mechanism: Part | None = Field(
        None, description="What workers are paid; `pay-price`, their price, by default."
    )
    certify: CertifyBody | None = Field(
        None, description="What is to be certified of the labels, and who audits."
    )
    pilot: Pilot | None = Field(
        None,
        description="What is tried out before the policy decides anything: a number of tasks for "
        "all models to answer, or tasks and workers.",
        examples=[30],
    )
    screening: Screening | None = Field(
        None,
        description="How workers are kept good by gold questions, which are about tasks whose "
        "truth was told; `true` for the usual terms.",
        examples=[{"qualify": 10, "rate": 0.1}],
    )
    content: ContentBody | None = Field(
        None,
        description="What workers are asked and shown: question, options, instructions, fields, "
        "examples. Its options are the campaign's, if `options` is not given.",
        examples=[{"question": "Is it a cat?", "options": ["yes", "no"]}],
    )
    repeat: bool | None = Field(
        None,
        description="Whether a worker may be asked the same task again; persons and models never "
        "are.",
    )
    lease: Seconds | None = Field(None, description="Seconds in which an answer is due.")
    seed: Annotated[int, Field(ge=0, lt=2**63), Whole] | None = Field(
        None, description="The seed of all draws: with it, the same answers give the same log."
    )


class AdditionsBody(
    Body, example={"tasks": ["photo-3"], "workers": [{"id": "eve", "price": "0.08"}]}
):
    """Tasks and workers to add, all or none."""

    tasks: list[TaskOrId] = Field(
        default_factory=list, fail_fast=True, description="Tasks to add, as ids or objects."
    )
    workers: list[WorkerOrJudge] = Field(
        default_factory=list, fail_fast=True, description="Workers to add."
    )
