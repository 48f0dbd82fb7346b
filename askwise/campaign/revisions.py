"""Answers that were changed: a log is folded as if each had been given so from the start.

What was decided in between stays on record, and a fold up to a decision takes in no change that
came after it. So a state can't take in a change of an answer that it has folded already: it is
folded again, from before that answer.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from askwise.core.event_columns import EventColumns
from askwise.core.events import Event, Kind
from askwise.ledger import Ledger
from askwise.ledger import columns as c
from askwise.ledger.entries import REVISES, WITHDRAWN


class Outdated(Exception):
    """The log changes an answer that a state has folded already."""


class Substitute(NamedTuple):
    """What stands in place of an answer since the event ``seq``; None if it was withdrawn."""

    seq: int
    value: float | str | None


Substitutes = dict[int, Substitute]
"""By the ASKED of the question."""


def substitute_of(event: Event) -> Substitute:
    """What a change puts in place of the answer."""
    return Substitute(event.seq, event.value if event.kind == Kind.REVISED else None)


def substitutes(changes: Iterable[Event]) -> Substitutes:
    """What stands in place of each answer after these changes: the last one counts."""
    return {event.assignment or 0: substitute_of(event) for event in changes}


def changes_in(columns: EventColumns) -> Iterator[Event]:
    """The changes of answers in a stretch of the log."""
    for at, kind in enumerate(columns.kinds):
        if kind in REVISES:
            yield columns.cut(at, at + 1).events()[0]


def is_answered(ledger: Ledger, asked: int) -> bool:
    """Whether an answer, or a failure, to a question was folded already."""
    at = ledger.assignment_at(asked)
    return at is not None and bool(ledger.book.assignments[at, c.STATUS] in (c.SETTLED, c.FAILED))


def substituted(event: Event, known: Substitutes) -> Event:
    """An event as it is folded: an answer that was changed later as it was changed."""
    if event.kind != Kind.ANSWER or event.assignment not in known:
        return event
    value = known[event.assignment].value
    if value is not None:
        return replace(event, value=value)
    # As a call that failed: paid, without a vote, and the pair is closed.
    return replace(event, kind=Kind.FAILED, value=None, why=WITHDRAWN)
