"""The result of the demonstration, in numbers: workers, ways to label, the certificate."""

from collections.abc import Sequence
from dataclasses import dataclass

from askwise.auditing import check
from askwise.auditing.intervals import Interval
from askwise.campaign.views import CampaignCertificate
from askwise.core.events import Event, Kind
from askwise.core.money import MICRO
from askwise.demo.comparing import Everybody
from askwise.demo.labelling import DemoOutcome
from askwise.demo.messages import Message
from askwise.demo.people import EXPERT, PEOPLE
from askwise.demo.stand_ins import STAND_INS


@dataclass(frozen=True)
class WorkerLine:
    """One worker in the campaign.

    Attributes
    ----------
    price : float
        For a thousand answers: by its endpoint's books, or by their price.
    answers, failures : int
        What came back.
    card : Interval or None
        How often the expert agrees with their answers to messages that were audited, with a 95%
        interval: all that is known without the demonstration's truths.
    certified_right : float or None
        How often their answers are right in truth, on the messages that were certified or audited:
        what the card estimates.
    right : float
        The share of all messages that they would label rightly, were they asked about all.
    """

    id: str
    price: float
    answers: int
    failures: int
    card: Interval | None
    certified_right: float | None
    right: float


@dataclass(frozen=True)
class WayToLabel:
    """One way to label all messages: the share that it gets right, and what it costs."""

    name: str
    right: float
    cost: float


@dataclass(frozen=True)
class DemoSummary:
    """All that the demonstration shows.

    ``certified_wrong`` counts the certified labels that are in fact wrong; ``booked`` and
    ``billed`` are what the campaign booked for judges, and what their endpoints charged, in
    millionths.
    """

    messages: int
    hard: int
    budget: float
    workers: tuple[WorkerLine, ...]
    ways: tuple[WayToLabel, ...]
    certificate: CampaignCertificate
    certified_wrong: int
    booked: int
    billed: int


def summarise(
    messages: Sequence[Message], labelled: DemoOutcome, everybody: Everybody
) -> DemoSummary:
    """Put together what the campaign did, what it is held against, and the truth."""
    campaign = labelled.campaign
    log, status, answers = campaign.log(), campaign.status(), campaign.answers()
    truth = {message.id: message.truth for message in messages}
    certified = [answer for answer in answers if answer.certificate == "certified"]
    judges, people = [each.id for each in STAND_INS], [each.id for each in PEOPLE]
    best = max(judges, key=lambda judge: everybody.right(judge, messages))
    labels_right = sum(answer.value == truth[str(answer.task)] for answer in answers)

    def cost(*workers: str) -> float:
        return sum(everybody.cost[worker] for worker in workers) / MICRO

    ways = (
        WayToLabel("askwise", labels_right / len(messages), float(status.spent)),
        WayToLabel("majority of four judges", everybody.majority(judges, messages), cost(*judges)),
        WayToLabel(f"best judge ({best})", everybody.right(best, messages), cost(best)),
        WayToLabel(
            "majority of judges and people",
            everybody.majority([*judges, *people], messages),
            cost(*judges, *people),
        ),
        WayToLabel("everybody on everything", 1.0, cost(*judges, *people, EXPERT.id)),
    )
    return DemoSummary(
        messages=len(messages),
        hard=sum(message.hard for message in messages),
        budget=float(status.budget or 0),
        workers=tuple(_lines(messages, labelled, everybody, log)),
        ways=ways,
        certificate=campaign.certificate(),
        certified_wrong=sum(each.value != truth[str(each.task)] for each in certified),
        booked=_booked(log, judges),
        billed=labelled.billed,
    )


def _lines(
    messages: Sequence[Message], labelled: DemoOutcome, everybody: Everybody, log: list[Event]
) -> list[WorkerLine]:
    answers = [event for event in log if event.kind == Kind.ANSWER]
    # What was escalated was not drawn at random, and tells nothing of the rest.
    drawn = {
        answer.task
        for answer in labelled.campaign.answers()
        if answer.certificate in ("certified", "audited")
    }
    answers = [event for event in answers if event.task in drawn]
    cards = _cards(answers)
    truth = {message.id: message.truth for message in messages}
    return [
        WorkerLine(
            each.id,
            1000 * everybody.cost[each.id] / MICRO / len(messages),
            each.answered,
            each.failed,
            cards.get(each.id),
            _share_right(answers, each.id, truth),
            everybody.right(each.id, messages),
        )
        for each in (*labelled.found.judges, *labelled.found.people)
    ]


def _share_right(answers: list[Event], worker: str, truth: dict[str, str]) -> float | None:
    """The share of a worker's answers that are right; None without any."""
    hits = [event.value == truth[str(event.task)] for event in answers if event.worker == worker]
    return sum(hits) / len(hits) if hits else None


def _cards(answers: list[Event]) -> dict[str, Interval | None]:
    """How often each worker says what the expert says, where the expert audited."""
    expert = [event for event in answers if event.worker == EXPERT.id]
    audited = {event.task for event in expert}
    others = [event for event in answers if event.worker != EXPERT.id and event.task in audited]
    if not others:
        return {}
    card = check(_table(others), _table(expert))
    return {each.judge: each.accuracy for each in card.judges}


def _table(events: Sequence[Event]) -> dict[str, list[object]]:
    return {
        "task": [event.task for event in events],
        "worker": [event.worker for event in events],
        "label": [event.value for event in events],
    }


def _booked(log: list[Event], judges: Sequence[str]) -> int:
    """What the campaign booked for the calls of judges."""
    calls = [event for event in log if event.kind in (Kind.ANSWER, Kind.FAILED)]
    return sum(event.price or 0 for event in calls if event.worker in judges)
