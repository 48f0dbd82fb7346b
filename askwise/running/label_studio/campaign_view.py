"""What a campaign says that Label Studio has to know: who was asked what, and how that ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from askwise.campaign import Campaign
from askwise.campaign.views import Handed
from askwise.campaign.views.assignments import handed, seq_of
from askwise.core.events import Kind
from askwise.core.problem import Worker
from askwise.ledger import columns as c

BY = "label-studio"
"""Who changes answers here, in the log."""

_PREFIX = "label-studio:"


@dataclass(frozen=True)
class Origin:
    """Where an answer comes from: the task and the annotation in Label Studio."""

    place: int
    annotation: int

    def __str__(self) -> str:
        return f"{_PREFIX}{self.place}/{self.annotation}"

    @classmethod
    def read(cls, reference: str | None) -> Origin | None:
        """Read the reference of an answer; None if it comes from elsewhere.

        Examples
        --------
        >>> Origin.read("label-studio:7/12")
        Origin(place=7, annotation=12)
        >>> Origin.read("chatcmpl-3") is None
        True
        """
        place, _, annotation = (reference or "").removeprefix(_PREFIX).partition("/")
        if not (reference or "").startswith(_PREFIX) or not (place + annotation).isdecimal():
            return None
        return cls(int(place), int(annotation))


@dataclass
class CampaignMoment:
    """One moment of a campaign."""

    pairs: dict[tuple[str, str], Handed] = field(default_factory=dict)
    """What became of each pair of a task and a worker; of several, the one that counts."""
    open_tasks: dict[str, Any] = field(default_factory=dict)
    """Payloads of tasks that are open."""
    tasks: dict[str, Any] = field(default_factory=dict)
    """Payloads of all tasks that are in the campaign."""
    workers: dict[str, Worker] = field(default_factory=dict)
    """Everybody who ever joined."""
    repeats: set[str] = field(default_factory=set)
    """Who may be asked about a task again."""
    here: set[str] = field(default_factory=set)
    """Who may be asked, or asked for audits."""
    personal: set[str] = field(default_factory=set)
    """Assignments that are about their worker: audits and gold questions."""

    asked: dict[str, list[str]] = field(default_factory=dict)
    """Who was ever asked about each task."""

    def put(self, handed: Handed) -> None:
        """Note what has become of an assignment."""
        pair = (handed.assignment.task or "", handed.assignment.worker)
        known = self.pairs.get(pair)
        # What expired counts only where nothing else became of the pair.
        same = known is None or known.assignment.id == handed.assignment.id
        if same or handed.state != "expired" or (known is not None and known.state == "expired"):
            self.pairs[pair] = handed
        if known is None:
            self.asked.setdefault(pair[0], []).append(pair[1])

    def out(self, workers: set[str]) -> list[Handed]:
        """What some workers have out, oldest first."""
        found = [
            each
            for (_, worker), each in self.pairs.items()
            if each.state == "out" and worker in workers
        ]
        return sorted(found, key=lambda each: seq_in(each.assignment.id))

    def out_of(self, task: str) -> list[Handed]:
        """What people have out about a task and may be handed over, oldest first."""
        found = [
            each
            for worker in self.asked.get(task, ())
            if (each := self.pairs[task, worker]).state == "out"
            and each.assignment.id not in self.personal
            and self.workers[worker].kind not in ("model", "crowd")
        ]
        return sorted(found, key=lambda each: seq_in(each.assignment.id))

    def verdicts(self, task: str) -> dict[str, str | float]:
        """What models have said of a task, by worker."""
        return {
            id: found.value
            for id, worker in self.workers.items()
            if worker.kind == "model"
            and (found := self.pairs.get((task, id))) is not None
            and found.value is not None
        }


def read_moment(campaign: Campaign) -> CampaignMoment:
    """Read a campaign at one moment."""
    moment = CampaignMoment()
    with campaign.reading() as state:
        ledger = state.ledger
        for at, worker in enumerate(ledger.workers):
            moment.workers[worker.id] = worker
            if not ledger.book.workers[at, c.ONCE]:
                moment.repeats.add(worker.id)
            if ledger.is_here(at):
                moment.here.add(worker.id)
        for at, task in enumerate(ledger.tasks):
            if at not in ledger.removed:
                moment.tasks[task.id] = task.payload
                if not ledger.book.tasks[at, c.CLOSED]:
                    moment.open_tasks[task.id] = task.payload
        for at in range(ledger.total(c.ASSIGNMENTS)):
            found = handed(campaign.name, state, at)
            who = int(ledger.book.assignments[at, c.WORKER])
            moment.put(found)
            seq = int(ledger.book.assignments[at, c.SEQ])
            if ledger.book.workers[who, c.AUDITS] or seq in ledger.standings.of(who).gold:
                moment.personal.add(found.assignment.id)
    return moment


def is_closed(campaign: Campaign, task: str) -> bool:
    """Whether a task is closed by now."""
    with campaign.reading() as state:
        return bool(state.ledger.book.tasks[state.ledger.task_at(task), c.CLOSED])


class Origins:
    """Which annotation each answer comes from, and who changed it last, by the log."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._read = 0
        self._found: dict[int, Origin | None] = {}
        self._used: set[int] = set()
        self._by_hand: dict[int, float] = {}

    def catch_up(self) -> None:
        """Read what is new in the log."""
        for event in self._campaign.log(self._read):
            self._read = event.seq
            seq = event.assignment
            if seq is None or event.kind not in (Kind.ANSWER, Kind.REVISED, Kind.WITHDRAWN):
                continue
            if event.kind != Kind.WITHDRAWN:
                origin = Origin.read(event.reference)
                self._found[seq] = origin or self._found.get(seq)
                if origin is not None:
                    self._used.add(origin.annotation)
            self._by_hand.pop(seq, None)
            if event.kind != Kind.ANSWER and event.by != BY:
                self._by_hand[seq] = event.time

    def of(self, assignment: str) -> Origin | None:
        """Where the answer to an assignment comes from; None if from elsewhere."""
        return self._found.get(seq_of(self._campaign.name, assignment))

    def is_used(self, annotation: int) -> bool:
        """Whether an annotation is, or was, the answer to an assignment."""
        return annotation in self._used

    def changed_by_hand(self, assignment: str) -> float | None:
        """When somebody changed the answer in the campaign; None if nobody did, or not last."""
        return self._by_hand.get(seq_of(self._campaign.name, assignment))


def seq_in(assignment: str) -> int:
    """The number in the id of an assignment: what was asked earlier has a lower one."""
    return int(assignment.rpartition(":")[2])
