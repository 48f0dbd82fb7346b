"""Events in numbers: what the ledger reads off an event before its kernels take it in."""

from array import array
from typing import NamedTuple

import numpy as np

from askwise.core.arrays import Array
from askwise.core.events import Kind

REVISES = frozenset((Kind.REVISED, Kind.WITHDRAWN))
"""Events that change an answer that was given before."""

BRINGS_NAMES = frozenset((Kind.ADDED, Kind.JOINED, Kind.QUOTED, Kind.DRAWN))
"""Events with names of tasks or workers in them; all others are numbers to kernels."""

ABOUT_ASSIGNMENTS = frozenset((Kind.ANSWER, Kind.EXPIRED, Kind.DECLINED, Kind.FAILED, Kind.RENEWED))


WITHDRAWN = "withdrawn"
"""Why a call has no answer whose answer was withdrawn: it was paid for, and there is no vote."""


class Entry(NamedTuple):
    """One event in numbers: see :func:`askwise.ledger.transitions.advance`, and ``Fact``."""

    kind: int
    task: int
    worker: int
    number: int
    note: int
    value: float
    cost: int


TEACHES_NOTHING = REVISES | {
    *(Kind.RENEWED, Kind.LABELLED, Kind.FLAGGED, Kind.COMMENTED, Kind.PAID, Kind.BONUS),
    *(Kind.WARNED, Kind.SUSPENDED, Kind.REINSTATED, Kind.QUALIFIED),
    *(Kind.ARCHIVED, Kind.UNARCHIVED, Kind.RETITLED, Kind.RENAMED),
}
"""Events from which policies and rules learn nothing; a label that is true comes with a TRUTH, and
an answer that was changed is learned in the place where it was given.
"""


REMOVED = "removed"
"""The outcome of a task that was taken out of the campaign before anybody had answered it."""


class SetLabel(NamedTuple):
    """A label that was set by hand: an option's index or a utility, and the event that says so."""

    value: float
    by: str
    why: str | None
    seq: int


class Overrun(NamedTuple):
    """A worker's calls above their ceiling, and what the budget had no room to book of them."""

    calls: int
    unbooked: int


class PlanRows:
    """Rows of decisions (task, worker, count) and their odds, being read."""

    __slots__ = ("odds", "rows")

    def __init__(self) -> None:
        self.rows = array("q")
        self.odds = array("d")

    def __len__(self) -> int:
        return len(self.odds)

    def add(self, task: int, worker: int, count: int, propensity: float | None) -> None:
        """Add a row."""
        self.rows.extend((task, worker, count))
        self.odds.append(np.nan if propensity is None else propensity)

    def arrays(self) -> tuple[Array, Array]:
        """The same as arrays."""
        rows = np.array(self.rows, np.int64).reshape(-1, 3)
        return rows, np.array(self.odds, np.float64)
