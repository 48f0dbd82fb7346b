"""Which fields an event of each kind has, and what they hold in JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Literal, TypedDict

from askwise.core.calls import LONGEST_REMARK, FailureWhy
from askwise.core.events import Event, Kind
from askwise.core.json_types import Chance, Count, Id, JsonLimits, Level, Positive
from askwise.core.pilot import FEWEST_TASKS, PilotCut
from askwise.core.problem import Task, Worker
from askwise.core.schemas import Schema, SchemaMaker


class QuotedPrice(TypedDict):
    """What a mechanism made of a worker's bid.

    Attributes
    ----------
    id : str
        The worker.
    bid : Decimal
        The price that they asked for.
    ranked_at : Decimal
        The price at which they are counted when workers are chosen.
    price : Decimal
        What each of their answers is paid.
    """

    id: Id
    bid: Decimal
    ranked_at: Decimal
    price: Decimal


class DrawnAudits(TypedDict):
    """Labels that were frozen, and the order of their audits.

    Attributes
    ----------
    error : float
        The share of certified labels that may be wrong.
    confidence : float
        How sure the statement about these labels is to be.
    audits : int
        The most audits.
    escalate : bool
        Whether labels that are not certified are replaced.
    at_once : bool
        Whether nobody looks before all audits are made.
    seed : int
        The seed of the random orders.
    tasks : list of str
        All tasks in the order of the audits.
    ranks : list of int
        The place of each task by score, 0 for the surest.
    scores : list of float
        The score of each task; a higher one is a surer label.
    sizes : list of int
        How many of the surest labels each set holds.
    digest : str
        A digest of tasks, labels and scores.
    """

    error: Level
    confidence: Level
    audits: Positive
    escalate: bool
    at_once: bool
    seed: Count
    tasks: Annotated[list[Id], JsonLimits(minItems=1)]
    ranks: list[Count]
    scores: list[float]
    sizes: list[Count]
    digest: str


class DrawnPilot(TypedDict):
    """The tasks of a pilot; the note of the event is ``pilot``.

    Attributes
    ----------
    wanted : int
        How many tasks were asked for.
    cut : "budget", "tasks" or None
        Why there are fewer; None if there are not.
    workers : list of str
        Who is asked about each of them.
    tasks : list of str
        The tasks in their order.
    odds : list of float
        How likely it was that each task would be drawn.
    """

    wanted: Annotated[int, JsonLimits(minimum=FEWEST_TASKS)]
    cut: PilotCut | None
    workers: Annotated[list[Id], JsonLimits(minItems=1)]
    tasks: list[Id]
    odds: list[Chance]


@dataclass(frozen=True)
class KindFields:
    """What an event of one kind has beside ``kind``, ``seq``, ``time`` and ``key``.

    Parameters
    ----------
    words : str
        What has happened.
    needed : tuple of str
        Fields that are always set.
    optional : tuple of str
        Fields that may be set.
    types : mapping
        The types of fields of which more is known than of other kinds.
    """

    words: str
    needed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    types: Mapping[str, Any] = field(default_factory=dict)


ClosedFor = Literal["confident", "low_confidence", "over_budget", "closed", "frozen", "removed"]
"""Why a task was closed."""

_CALL = ("assignment", "worker")

_TYPES: Mapping[str, Any] = {
    "why": Annotated[str, JsonLimits(maxLength=LONGEST_REMARK)],
    "over_ceiling": Literal[True],
}
"""Of fields of which more is known than of an ``Event``, unless a kind says otherwise."""

FIELDS: dict[Kind, KindFields] = {
    Kind.DECIDED: KindFields(
        "The policy decided; the money of the whole plan is reserved.",
        ("decision", "note", "rows"),
        ("available",),
    ),
    Kind.ASKED: KindFields(
        "An assignment was handed out; its id is the campaign and the seq of this event.",
        ("decision", "worker", "price"),
        ("task", "propensity", "expires"),
    ),
    Kind.ANSWER: KindFields(
        "An answer came and was paid.",
        (*_CALL, "value", "price"),
        ("task", "cost", "over_ceiling", "probabilities", "rationale", "reference"),
        {"value": str | float},
    ),
    Kind.TRUTH: KindFields(
        "The true option of a task was revealed.", ("task", "value"), types={"value": str}
    ),
    Kind.EXPIRED: KindFields("An assignment was released.", _CALL, ("task",)),
    Kind.DECLINED: KindFields("A worker turned an assignment down.", _CALL, ("task",)),
    Kind.CLOSED: KindFields(
        "A task is finished, by the stopping rule or by hand.",
        ("task", "outcome"),
        ("value", "confidence", "rests_on"),
        {"outcome": ClosedFor, "rests_on": Literal["calibrated", "truth"]},
    ),
    Kind.ADDED: KindFields(
        "Tasks were added.",
        ("tasks",),
        types={"tasks": Annotated[list[Task], JsonLimits(minItems=1)]},
    ),
    Kind.JOINED: KindFields(
        "Workers joined.",
        ("workers",),
        types={"workers": Annotated[list[Worker], JsonLimits(minItems=1)]},
    ),
    Kind.LEFT: KindFields("A worker left.", ("worker",)),
    Kind.BID: KindFields(
        "A worker named their price per answer, replacing the one before; it is sealed until "
        "the bidding closes.",
        ("worker", "price"),
    ),
    Kind.QUOTED: KindFields(
        "The mechanism turned bids into prices: of everybody as the bidding closed, later of those "
        "whose price follows from what was learned.",
        ("workers",),
        types={"workers": Annotated[list[QuotedPrice], JsonLimits(minItems=1)]},
    ),
    Kind.PAID: KindFields(
        "A worker was paid what they are owed, or a part of it. It moves no money of the budget: "
        "that was spent when their answers were booked.",
        ("worker", "price", "by", "on"),
        ("reference",),
    ),
    Kind.TOPPED_UP: KindFields("Money was added to the budget.", ("price",)),
    Kind.PAUSED: KindFields("Nothing is handed out until RESUMED."),
    Kind.RESUMED: KindFields("The campaign goes on."),
    Kind.STOPPED: KindFields("The campaign ended for good."),
    Kind.DRAWN: KindFields(
        "Labels were frozen, and the order of their audits was drawn. Or, with the note `pilot`, "
        "the tasks of the pilot were drawn.",
        ("draw",),
        ("price", "note"),
        {"draw": DrawnAudits | DrawnPilot, "note": Literal["pilot"]},
    ),
    Kind.FAILED: KindFields(
        "A call gave no answer, and was paid anyway; the worker is not asked about the task again.",
        (*_CALL, "why", "price", "cost"),
        ("task", "over_ceiling", "reference"),
        {"why": FailureWhy},
    ),
    Kind.RENEWED: KindFields(
        "The lease of an open assignment was restarted.", (*_CALL, "expires"), ("task",)
    ),
    Kind.LABELLED: KindFields(
        "Somebody set the label of a task by hand, replacing one that was set before.",
        ("task", "value", "by"),
        ("why",),
        {"value": str | float},
    ),
    Kind.FLAGGED: KindFields(
        "A worker said that a task can't be answered; the DECLINED that follows takes it back.",
        ("assignment", "task", "worker", "why"),
    ),
    Kind.COMMENTED: KindFields("Somebody wrote a comment on a task.", ("task", "by", "text")),
    Kind.BONUS: KindFields(
        "A worker was given money on top of what their answers earn; it is spent at once.",
        ("worker", "price", "by", "why"),
    ),
    Kind.WARNED: KindFields(
        "A worker's accuracy on gold questions is below the line of a warning, beyond doubt.",
        ("worker", "why"),
    ),
    Kind.SUSPENDED: KindFields(
        "Nothing is handed to a worker until they are REINSTATED: they did not qualify (note "
        "`qualification`), their accuracy on gold questions is below a line (`gold`), or somebody "
        "decided so.",
        ("worker",),
        ("note", "by", "why"),
        {"note": Literal["qualification", "gold"]},
    ),
    Kind.REINSTATED: KindFields(
        "Somebody decided to ask a suspended worker again.",
        ("worker", "by"),
        ("why",),
    ),
    Kind.QUALIFIED: KindFields(
        "A worker has answered enough gold questions right, and is given ordinary work.",
        ("worker", "why"),
    ),
    Kind.ARCHIVED: KindFields("The campaign was archived: it is read-only until UNARCHIVED."),
    Kind.UNARCHIVED: KindFields("The campaign is as it was before it was archived."),
    Kind.RETITLED: KindFields(
        "The campaign was given a title; without a text it has the first one again.", (), ("text",)
    ),
    Kind.RENAMED: KindFields(
        "A worker's id was replaced by this one in the whole log; the old one is nowhere.",
        ("worker",),
    ),
    Kind.REVISED: KindFields(
        "An answer was changed: it counts as if it had been given in the first place.",
        (*_CALL, "value"),
        ("task", "probabilities", "rationale", "reference", "by"),
        {"value": str | float},
    ),
    Kind.WITHDRAWN: KindFields(
        "An answer was withdrawn: what was paid stays paid, and it no longer counts.",
        (*_CALL, "why"),
        ("task", "by"),
    ),
}
"""What each kind of event has."""


def event_schema(maker: SchemaMaker) -> Schema:
    """The schema of an event: what all have, and what each kind has besides."""
    maker.of(Event)
    properties = maker.named.pop(Event.__name__)["properties"]
    general = ("kind", "seq", "time", "key")
    for kind, each in FIELDS.items():
        found: Schema = {"kind": {"const": kind.name, "description": "What happened."}}
        for name in (*each.needed, *each.optional):
            told = properties[name]
            types = {**_TYPES, **each.types}
            if name in types:
                told = {**maker.of(types[name]), "description": told["description"]}
            found[name] = told
        maker.named[kind.name] = {
            "description": each.words,
            "properties": found,
            "required": list(each.needed),
        }
    return {
        "type": "object",
        "properties": {name: properties[name] for name in general},
        "required": list(general[:3]),
        "oneOf": [{"$ref": maker.place + kind.name} for kind in FIELDS],
        "unevaluatedProperties": False,
    }
