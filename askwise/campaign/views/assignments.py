"""Assignments: their ids, what is out, and what has become of each."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, get_args

import numpy as np

from askwise.campaign.state import CampaignState
from askwise.core.choices import Assignment, Batch, Done, Wait, read_choice
from askwise.core.errors import UnknownName, nearest
from askwise.core.json_types import Count
from askwise.core.money import from_micro
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger

AssignmentState = Literal["out", "answered", "expired", "declined", "failed", "withdrawn"]
STATES: tuple[AssignmentState, ...] = get_args(AssignmentState)[: c.FAILED + 1]
"""What may become of an assignment, by its code in the book: there, one whose answer was withdrawn
has failed.
"""


@dataclass(frozen=True, slots=True)
class Handed:
    """An assignment and what has become of it.

    Attributes
    ----------
    assignment : Assignment
        Its ``price`` is what is reserved for it until it is settled; its ASKED in the log has that
        for good.
    state : "out", "answered", "expired", "declined", "failed" or "withdrawn"
        What has become of it.
    value : str or float or None
        The answer as it was changed last; None while there is none, and once it was withdrawn.
    cost : Decimal or None
        What was booked for an answer or a failure; None where nothing was.
    revised : int
        How often the answer was changed or withdrawn.
    """

    assignment: Assignment
    state: AssignmentState
    value: str | float | None
    cost: Decimal | None = None
    revised: Count = 0

    def to_json(self) -> dict[str, Any]:
        """As JSON, money as a string."""
        return {**self.assignment.to_json(), **self.become()}

    def become(self) -> dict[str, Any]:
        """What has become of it, as JSON."""
        cost = None if self.cost is None else str(self.cost)
        said = {"state": self.state, "value": self.value, "cost": cost}
        return {**said, "revised": self.revised}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Handed:
        """Read back what ``to_json`` wrote, and the payload where a service has added it."""
        cost = raw.get("cost")
        paid = None if cost is None else Decimal(cost)
        revised = raw.get("revised", 0)
        return cls(Assignment.from_json(raw), raw["state"], raw["value"], paid, revised)


def assignment_id(name: str, seq: int) -> str:
    """An assignment's id: the campaign and the sequence number of its ASKED."""
    return f"{name}:{seq}"


def unknown_assignment(assignment: str, why: str) -> UnknownName:
    """Build the error for an id that stands for no assignment."""
    message = f"assignment {assignment!r} {why}"
    return UnknownName(message, field="assignment", reason="unknown_assignment")


def seq_of(name: str, assignment: str) -> int:
    """The sequence number in an assignment's id."""
    campaign, _, seq = str(assignment).rpartition(":")
    if campaign != name or not seq.isdecimal() or len(seq) > 18:
        raise unknown_assignment(assignment, f"is not of this campaign: ids look like {name}:12")
    return int(seq)


def place_of(name: str, ledger: Ledger, seq: int) -> int:
    """Where in the book the assignment is whose ASKED has this sequence number."""
    at: int | None = ledger.assignment_at(seq)
    if at is None:
        count = ledger.total(c.ASSIGNMENTS)
        last = ledger.book.assignments[max(0, count - 3) : count, c.SEQ]
        known = [assignment_id(name, int(each)) for each in last]
        wanted = assignment_id(name, seq)
        raise unknown_assignment(wanted, f"is not known: {nearest(wanted, known)}")
    return at


def places_out(ledger: Ledger, worker: str | None = None) -> list[int]:
    """Where in the book the assignments are that are out, of all or of one worker."""
    rows = ledger.book.assignments[: ledger.total(c.ASSIGNMENTS)]
    wanted = rows[:, c.STATUS] == c.OUT
    if worker is not None:
        wanted &= rows[:, c.WORKER] == ledger.worker_at(worker)
    return np.flatnonzero(wanted).tolist()


def assignment_at(name: str, ledger: Ledger, at: int) -> Assignment:
    """The assignment at a place of the book, with its task's payload."""
    row, mark = ledger.book.assignments[at].tolist(), ledger.book.marks[at].tolist()
    chance, expires = mark[c.PROPENSITY], mark[c.EXPIRES]
    return Assignment(
        id=assignment_id(name, row[c.SEQ]),
        task=ledger.task_id(row[c.TASK]),
        worker=ledger.workers[row[c.WORKER]].id,
        price=from_micro(row[c.COST]),
        propensity=None if math.isnan(chance) else chance,
        expires=None if math.isinf(expires) else expires,
        payload=ledger.payload(row[c.TASK]),
    )


def times_asked(name: str, state: CampaignState, assignment: str) -> int:
    """How often its worker was asked about its task before, and it did not expire."""
    assignments = state.ledger.book.assignments
    at = place_of(name, state.ledger, seq_of(name, assignment))
    worker = assignments[at, c.WORKER]
    count, at = 0, int(assignments[at, c.BEFORE_OF_TASK])
    while at >= 0:
        same = assignments[at, c.WORKER] == worker and assignments[at, c.STATUS] != c.EXPIRED
        count, at = count + int(same), int(assignments[at, c.BEFORE_OF_TASK])
    return count


def outstanding(name: str, state: CampaignState, worker: str | None = None) -> list[Assignment]:
    """What is out, of all or of one worker, oldest first."""
    return [assignment_at(name, state.ledger, at) for at in places_out(state.ledger, worker)]


def handed(name: str, state: CampaignState, at: int) -> Handed:
    """The assignment at a place of the book, and what has become of it."""
    book, seq = state.ledger.book, int(state.ledger.book.assignments[at, c.SEQ])
    outcome = STATES[int(book.assignments[at, c.STATUS])]
    value = state.named(float(book.marks[at, c.VALUE])) if outcome == "answered" else None
    paid = outcome in ("answered", "failed")
    cost = from_micro(int(book.assignments[at, c.COST])) if paid else None
    if seq in state.ledger.withdrawn:
        outcome = "withdrawn"
    revised = len(state.ledger.changes.get(seq, ()))
    return Handed(assignment_at(name, state.ledger, at), outcome, value, cost, revised)


def recalled(state: CampaignState, kept: dict[str, Any]) -> Batch | Wait | Done:
    """What an ask came to, from its JSON as it was kept, with the payloads of its tasks."""
    choice, ledger = read_choice(kept), state.ledger
    if not isinstance(choice, Batch):
        return choice
    return Batch(
        tuple(replace(each, payload=ledger.payload(ledger.task_at(each.task))) for each in choice)
    )
