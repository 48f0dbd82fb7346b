"""Replies. Those that tell a view are made of it, field by field."""

import inspect
from decimal import Decimal
from functools import reduce
from operator import or_
from types import GenericAlias, UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

from askwise.campaign import views
from askwise.campaign.views.assignments import AssignmentState
from askwise.core import keys
from askwise.core.choices import Assignment, DoneWhy, WaitFor
from askwise.core.jsonable import Jsonable
from askwise.core.problem import WorkerKind
from askwise.core.reasons import Reason
from askwise.service.webhooks import records

REF = "#/components/schemas/"
"""Where the OpenAPI description has the shapes, by their names."""

Money = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]*)(\.[0-9]{1,6})?$", examples=["0.05"])]
"""Exact, so a string."""


class Shape(BaseModel):
    """A reply: nothing in it that is not described."""

    model_config = ConfigDict(extra="forbid")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # Clients hold the names in the OpenAPI description: there, an AnswerShape is an Answer.
        cls.__name__ = cls.__qualname__ = cls.__name__.removesuffix("Shape")
        super().__init_subclass__(**kwargs)


_SHAPES: dict[type, type[Shape]] = {}
"""The shapes of views, by the view: one may be a part of another."""


def shape_of(
    view: type[Jsonable], name: str | None = None, doc: str | None = None, **fields: Any
) -> type[Shape]:
    """The shape of a view: what its ``to_json`` writes, and all of that.

    Parameters
    ----------
    name, doc : str, optional
        As the API calls and describes it; as the view does by default.
    **fields
        A ``Field`` to say more about a field of the view, or a type and a default (or a ``Field``)
        for a further one.
    """
    made: dict[str, Any] = {each: (_in_json(kind), ...) for each, kind in view.json_types().items()}
    for each, more in fields.items():
        made[each] = (made[each][0], more) if isinstance(more, FieldInfo) else more
    words = doc or (inspect.getdoc(view) or "").replace("None", "null")
    shape = create_model(name or view.__name__, __base__=Shape, __doc__=words, **made)
    _SHAPES[view] = shape
    return shape


def _in_json(kind: Any) -> Any:
    """The type that a value has in JSON: money is a string, a tuple a list."""
    if kind is Decimal:
        return Money
    if isinstance(kind, type) and issubclass(kind, Jsonable):
        return _SHAPES.get(kind) or shape_of(kind)
    parts = [part if part is ... else _in_json(part) for part in get_args(kind)]
    if isinstance(kind, UnionType):
        return reduce(or_, parts)
    return GenericAlias(tuple, tuple(parts)) if get_origin(kind) is tuple else kind


def page_of(name: str, item: type, doc: str | None = None, **fields: Any) -> type[Shape]:
    """The shape of a page of a list; an item is a shape, or a view."""
    place = Field(description="Pass as `after` for the next page; null at the end.")
    fields = {"next": (str | None, place), "items": (list[_in_json(item)], ...), **fields}  # type: ignore[misc]
    return create_model(name, __base__=Shape, __doc__=doc or f"A page of {name.lower()}.", **fields)


class ProblemShape(Shape):
    """What went wrong."""

    code: str
    reason: Reason
    message: str
    field: str | None


class ErrorShape(Shape):
    """The one shape of errors."""

    error: ProblemShape


CertificateShape = shape_of(views.CampaignCertificate, "Certificate")
StatusShape = shape_of(views.Status)
CampaignShape = create_model(
    "Campaign",
    __base__=StatusShape,
    __doc__="A campaign at a glance, and its content.",
    content=(
        dict[str, Any] | None,
        Field(description="What workers are asked and shown; null if that was not given."),
    ),
)
PilotShape = shape_of(views.PilotReport, "Pilot")
CampaignsShape = page_of(
    "Campaigns",
    StatusShape,
    unreadable=(
        list[str],
        Field(
            [], description="Campaigns that can't be opened, as a plug-in is missing: see the log."
        ),
    ),
)
AnswersShape = page_of("Answers", views.Answer)
PaymentsShape = page_of("Payments", views.Payment)
shape_of(views.Quality, "Estimate")
InsightShape = shape_of(
    views.WorkerSummary, "Insight", price=Field(description="Null while sealed bids are taken.")
)
WorkersShape = page_of("Workers", InsightShape)
ExplanationShape = shape_of(views.Explanation)

QuestionShape = shape_of(
    Assignment,
    "Question",
    "An assignment, with what its worker is shown.",
    propensity=Field(None, description="Not shown to workers."),
    payload=(Any, None),
)
QuestionsShape = page_of("Questions", QuestionShape, "A page of what is out.")
HandedShape = create_model(
    "Handed",
    __base__=QuestionShape,
    __doc__="An assignment, and what has become of it.",
    state=(AssignmentState, ...),
    value=(str | float | None, ...),
    cost=(Money | None, Field(description="What was booked for an answer or a failure.")),
)


class AskedShape(Shape):
    """Assignments that are handed out."""

    status: Literal["batch"]
    assignments: list[QuestionShape]  # type: ignore[valid-type]


class WaitShape(Shape):
    """Nothing to ask now."""

    status: Literal["wait"]
    what: WaitFor


class DoneShape(Shape):
    """Nothing more to ask."""

    status: Literal["done"]
    why: DoneWhy


class OverShape(Shape):
    """Whether a campaign is over: why, or null while something can be asked or is out."""

    why: DoneWhy | None


class SettledShape(Shape):
    """What has become of an assignment."""

    assignment: str
    state: Literal["answered", "declined", "expired", "failed", "out"]


class EventShape(Shape):
    """One event of the log; the further fields of each kind are in the reference of JSON."""

    model_config = ConfigDict(extra="allow")

    kind: str
    seq: int = Field(ge=1)
    time: float
    key: str | None = Field(None, description="The caller's id and their Idempotency-Key.")


LogShape = page_of("Log", EventShape, "A page of the log.")


class WorkerShape(Shape):
    """A worker as they joined."""

    id: str
    price: Money
    limit: int | None = None
    rating: float | None = None
    rating_weight: float | None = None
    trusted: bool | None = None
    kind: WorkerKind | None = None
    family: str | None = None
    source: str | None = None


class JudgeShape(Shape):
    """A judge of this service."""

    id: str
    model: str | None
    family: str | None
    price: Money | dict[str, str] = Field(
        description="For an answer; or for input, cached and output tokens, per so many."
    )
    source: str = Field(description="What answers, by name and digest.")


JudgesShape = page_of("Judges", JudgeShape, "A page of the judges of this service.")


class OutageShape(Shape):
    """Why a worker can't be asked."""

    worker: str
    why: str


class RunShape(Shape):
    """Who runs a campaign, or ran it last; nulls if nobody ever did."""

    running: bool
    host: str | None
    pid: int | None
    since: float | None
    outages: list[OutageShape]
    in_flight: int | None = None
    answered: int | None = Field(None, description="In this run.")
    failed: int | None = None
    cost: Money | None = None


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
    certify: dict[str, Any] | None = None
    pilot: dict[str, Any] | None = None
    content: dict[str, Any] | None = None
    policy: dict[str, Any]
    auto: dict[str, Any] | None = Field(
        None, description="`because`: why `policy` was chosen, where no policy was named."
    )
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


MeShape = shape_of(keys.Caller, "Me", "Who you are to this service.")
KeyShape = shape_of(keys.Key)
KeysShape = page_of("Keys", KeyShape)
NewKeyShape = shape_of(keys.NewKey)
InvitationShape = shape_of(keys.Invitation)

_WAITING = int, Field(description="Deliveries that wait.")
HookShape = shape_of(records.Webhook, "Hook", "A webhook, without its secret.", waiting=_WAITING)
HooksShape = page_of("Hooks", HookShape, "A page of webhooks.")
NewHookShape = create_model(
    "NewHook",
    __base__=HookShape,
    __doc__="A webhook as made: the only time that its secret is shown.",
    secret=(str, ...),
)


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


DeliveriesShape = page_of("Deliveries", DeliveryShape, "A page of deliveries, newest first.")
