"""Replies: the views that they tell, and the shapes of those that tell none."""

from decimal import Decimal
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from askwise.campaign import views
from askwise.campaign.views.assignments import AssignmentState
from askwise.core import keys
from askwise.core.catalogue import EntryInfo
from askwise.core.choices import Assignment, Done, DoneWhy, Wait
from askwise.core.docstrings import attributes_of
from askwise.core.events import Event
from askwise.core.json_types import MONEY_SCHEMA, AssignmentId, Count, Id, JsonLimits, Positive
from askwise.core.problem import Task, Worker
from askwise.core.reasons import Reason
from askwise.core.schemas import in_json_words, written_fields
from askwise.service.webhooks import records

REF = "#/components/schemas/"
"""Where the OpenAPI description has the shapes, by their names."""

NAMES: dict[Any, str] = {
    views.CampaignCertificate: "Certificate",
    views.PilotReport: "Pilot",
    views.Quality: "Estimate",
    views.WorkerSummary: "Insight",
    keys.Caller: "Me",
}
"""What clients know views by, where that is not the name of the class."""


def name_of(kind: Any) -> str:
    """The name of a shape in the description: there, a ``RunShape`` is a ``Run``."""
    return NAMES.get(kind, kind.__name__.removesuffix("Shape"))


def said(kind: Any, description: str) -> Any:
    """A type with a description, for a field whose class does not describe it."""
    return Annotated[kind, JsonLimits(description=description)]


def shape_of(name: str, doc: str, *bases: Any, optional: tuple[str, ...] = (), **more: Any) -> Any:
    """The shape of an object that holds the fields of views and further ones.

    Parameters
    ----------
    name, doc : str
        What it is called, and what it is.
    *bases
        Views, or other shapes, all of whose fields it has.
    optional : tuple of str
        Fields that may be missing.
    **more
        The types of further fields; each is described (see ``said``).
    """
    fields: dict[str, Any] = {}
    for base in bases:
        words, (found, needed) = attributes_of(base), written_fields(base)
        optional += tuple(each for each in found if each not in needed)
        for each, kind in found.items():
            fields[each] = said(kind, in_json_words(words[each])) if each in words else kind
    fields |= more
    given = {each: NotRequired[kind] if each in optional else kind for each, kind in fields.items()}
    made: Any = TypedDict(name, given)  # type: ignore[misc]
    made.__doc__ = doc
    return made


def page_of(name: str, item: Any, doc: str | None = None, **more: Any) -> Any:
    """The shape of a page of a list."""
    return shape_of(
        name,
        doc or f"A page of {name.lower()}.",
        next=said(str | None, "Pass as `after` for the next page; null at the end."),
        items=said(list[item], "The entries of this page."),
        **more,
    )


class ProblemShape(TypedDict):
    """What went wrong.

    Attributes
    ----------
    code : str
        The kind of error.
    reason : str
        Why, for programs: decide by it, never by the message.
    message : str
        What went wrong and what to do, for people.
    field : str or None
        The input at fault; None where there is none.
    """

    code: str
    reason: Reason
    message: str
    field: str | None


class ErrorShape(TypedDict):
    """The one shape of errors.

    Attributes
    ----------
    error : ProblemShape
        What went wrong.
    """

    error: ProblemShape


CampaignShape = shape_of(
    "Campaign",
    "A campaign at a glance, and its content.",
    views.Status,
    content=said(
        dict[str, Any] | None, "What workers are asked and shown; null if that was not given."
    ),
)
CampaignsShape = page_of(
    "Campaigns",
    views.Status,
    optional=("unreadable",),
    unreadable=said(
        list[str], "Campaigns that can't be opened because a plug-in is missing: see the log."
    ),
)
AnswersShape = page_of("Answers", views.Answer)
PaymentsShape = page_of("Payments", views.Payment)
PayoutsShape = page_of("Payouts", views.Payout)
DuePayoutsShape = page_of("DuePayouts", views.DuePayout, "A page of what to pay now.")
BonusesShape = page_of("Bonuses", views.Bonus)
PaidShape = shape_of(
    "Paid",
    "What was marked as paid.",
    payouts=said(list[views.Payout], "The payouts, one for each worker."),
)
WorkersShape = page_of("Workers", views.WorkerSummary)
LogShape = page_of("Log", Event, "A page of the log.")

QuestionShape = shape_of(
    "Question",
    "An assignment, with what its worker is shown.",
    Assignment,
    optional=("propensity", "payload"),
    payload=said(Any, "What the worker is shown: any JSON."),
)
QuestionsShape = page_of("Questions", QuestionShape, "A page of what is out.")
HandedShape = shape_of(
    "Handed",
    "An assignment, and what has become of it.",
    QuestionShape,
    state=said(AssignmentState, "What has become of it."),
    value=said(
        str | float | None,
        "The answer as it was changed last; null while there is none, and once it was withdrawn.",
    ),
    cost=said(Decimal | None, "What was booked for an answer or a failure; null before."),
    revised=said(Count, "How often the answer was changed or withdrawn."),
)


class AskedShape(TypedDict):
    """Assignments that are handed out.

    Attributes
    ----------
    status : "batch"
        Says that assignments are handed out.
    assignments : list of QuestionShape
        The assignments, in the order in which they were decided.
    """

    status: Literal["batch"]
    assignments: list[QuestionShape]  # type: ignore[valid-type]


ChoiceShape = AskedShape | Wait | Done


class OverShape(TypedDict):
    """Whether a campaign is over.

    Attributes
    ----------
    why : str or None
        Why nothing more can be asked; None while something can be asked or is out.
    """

    why: DoneWhy | None


class SettledShape(TypedDict):
    """What has become of an assignment.

    Attributes
    ----------
    assignment : str
        The assignment.
    state : str
        What has become of it.
    """

    assignment: AssignmentId
    state: Literal["answered", "declined", "expired", "failed", "out", "withdrawn"]


class JudgeShape(TypedDict):
    """A judge of this service.

    Attributes
    ----------
    id : str
        The judge; name it among the workers of a campaign as ``{"judge": ID}``.
    model : str or None
        The model that answers; None where the source has none.
    family : str or None
        A name shared by judges that err together; None without one.
    price : str or dict of str to str
        The price of an answer; or the prices of input, cached and output tokens, and for how many.
    source : str
        What answers, by name and digest.
    """

    id: Id
    model: str | None
    family: str | None
    price: Annotated[str, MONEY_SCHEMA] | dict[str, str]
    source: str


JudgesShape = page_of("Judges", JudgeShape, "A page of the judges of this service.")


class OutageShape(TypedDict):
    """Why a worker can't be asked.

    Attributes
    ----------
    worker : str
        The worker.
    why : str
        Why, in words.
    """

    worker: Id
    why: str


class RunShape(TypedDict):
    """Who runs a campaign, or ran it last.

    Attributes
    ----------
    running : bool
        Whether it is run now.
    host : str or None
        The machine that runs it or ran it last; None if nobody ever did.
    pid : int or None
        The process on that machine; None if nobody ever ran it.
    since : float or None
        When the run began, in seconds since 1970; None if nobody ever ran it.
    outages : list of OutageShape
        Workers who can't be asked, and why.
    in_flight : int or None
        Calls whose reply is waited for.
    answered : int or None
        Answers in this run.
    failed : int or None
        Calls of this run that brought no answer.
    cost : Decimal or None
        What this run has cost.
    """

    running: bool
    host: str | None
    pid: int | None
    since: float | None
    outages: list[OutageShape]
    in_flight: NotRequired[Count | None]
    answered: NotRequired[Count | None]
    failed: NotRequired[Count | None]
    cost: NotRequired[Decimal | None]


class RangeShape(TypedDict):
    """The range of answers that are numbers.

    Attributes
    ----------
    kind : "utility"
        Says that answers are numbers.
    low : float
        The lowest answer.
    high : float
        The highest answer.
    zero : float
        What no answer at all is worth: utility per price counts from here.
    """

    kind: Literal["utility"]
    low: float
    high: float
    zero: float


class SpecShape(TypedDict):
    """A campaign as it was created.

    Attributes
    ----------
    format : int
        The version of this shape.
    workers : list of Worker
        The workers of the start.
    tasks : list of Task
        The tasks of the start; missing where units of work are bought.
    options : list of str
        The possible answers; missing where answers are numbers.
    outcome : RangeShape
        The range of answers that are numbers; missing where there are options.
    budget : Decimal or None
        Maximum to spend; None without a cap.
    repeat : bool
        Whether a worker may be asked the same task again.
    certify : dict
        What is to be certified and who audits; missing where nothing is.
    pilot : dict
        How many tasks are put to which workers first; missing without a pilot.
    content : dict
        What workers are asked and shown; missing if that was not given.
    policy : dict
        The policy: its ``name`` and its parameters.
    auto : dict
        ``because``: why the policy was chosen; missing where it was named.
    stopping : dict or None
        The stopping rule: its ``name`` and its parameters; None without one.
    aggregation : dict or None
        The aggregator: its ``name`` and its parameters; None where the policy labels tasks itself.
    mechanism : dict
        The mechanism: its ``name`` and its parameters.
    seed : int
        The seed of all draws.
    lease : float or None
        Seconds in which an answer is due; None without a limit.
    """

    format: Positive
    workers: list[Worker]
    tasks: NotRequired[list[Task]]
    options: NotRequired[list[Id]]
    outcome: NotRequired[RangeShape]
    budget: Decimal | None
    repeat: bool
    certify: NotRequired[dict[str, Any]]
    pilot: NotRequired[dict[str, Any]]
    content: NotRequired[dict[str, Any]]
    policy: dict[str, Any]
    auto: NotRequired[dict[str, Any]]
    stopping: dict[str, Any] | None
    aggregation: dict[str, Any] | None
    mechanism: dict[str, Any]
    seed: Count
    lease: float | None


class NamedShape(TypedDict):
    """The worker whom the request was about.

    Attributes
    ----------
    worker : str
        The worker.
    """

    worker: Id


class DeletedShape(TypedDict):
    """The campaign that was deleted.

    Attributes
    ----------
    name : str
        Its name, which is not used again.
    """

    name: Id


class HealthShape(TypedDict):
    """The service is well.

    Attributes
    ----------
    status : "ok"
        Says so.
    """

    status: Literal["ok"]


class AvailabilityShape(TypedDict):
    """Whether a worker takes questions.

    Attributes
    ----------
    worker : str
        The worker.
    available : bool
        Whether they take questions now.
    until : float or None
        When an absence ends, in seconds since 1970; None without an end.
    """

    worker: Id
    available: bool
    until: float | None


EntriesShape = page_of("Entries", EntryInfo, "A page of what can be named.")
KeysShape = page_of("Keys", keys.Key)

HookShape = shape_of(
    "Hook",
    "A webhook, without its secret.",
    records.Webhook,
    waiting=said(Count, "How many deliveries wait."),
)
HooksShape = page_of("Hooks", HookShape, "A page of webhooks.")
NewHookShape = shape_of(
    "NewHook",
    "A webhook as made: the only time that its secret is shown.",
    HookShape,
    secret=said(str, "What deliveries are signed with; it can't be read again."),
)
DeliveriesShape = page_of("Deliveries", records.Delivery, "A page of deliveries, newest first.")
