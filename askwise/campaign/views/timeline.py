"""A campaign's money and answers over time, from its log."""

import math
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from askwise.core.arrays import Array
from askwise.core.compiling import bind, ready
from askwise.core.errors import Conflict
from askwise.core.event_columns import EventColumns
from askwise.core.events import Event, Kind
from askwise.core.money import from_micro
from askwise.core.problem import Problem
from askwise.ledger import columns as c
from askwise.ledger.entries import BRINGS_NAMES, REVISES
from askwise.ledger.ledger import Ledger
from askwise.ledger.scanning import KIND, NUMBER
from askwise.ledger.stretches import (
    NOTHING,
    StretchReader,
    brings_names,
    fold_stretch,
    learn_nothing,
    parts_of,
    run_stretch,
)

MOST_POINTS = 500
"""A series is thinned to every second point when it has more."""


SHORT = 64
"""Events from which on the compiled loop pays."""

_NO_BELIEFS: tuple[tuple[()], tuple[()]] = ((), ())
_KEY = (0, 0)


@cache
def _loop() -> Any:
    """The loop that folds a ledger alone, compiled if the cache has it."""
    return bind(fold_stretch, "ledger", live=True, absorb=learn_nothing)


@dataclass(frozen=True, slots=True)
class Series:
    """What a timeline kept, one row a moment: whole numbers, money in micro-units.

    ``bonuses`` are a part of ``spent``. ``reserved`` is money for work that is out and for the rest
    of the decision; ``budget`` is None without a cap. All but ``times`` hold from their moment to
    the next.
    """

    times: Array
    answers: Array
    closed: Array
    spent: Array
    reserved: Array
    budget: Array | None
    bonuses: Array

    def to_json(self) -> dict[str, Any]:
        """As JSON, money as strings."""
        money = {"spent": self.spent, "reserved": self.reserved, "budget": self.budget}
        money["bonuses"] = self.bonuses
        return {
            "times": self.times.tolist(),
            "answers": self.answers.tolist(),
            "closed": self.closed.tolist(),
            **{
                name: None if column is None else [str(from_micro(cell)) for cell in column]
                for name, column in money.items()
            },
        }


class Timeline:
    """Counts of a campaign over time, fed with its log bit by bit.

    The same log gives the same series, however it is cut into pieces: every second of the kept
    points goes whenever there are more than ``MOST_POINTS``, by the place in the log and not by
    time, so busy hours keep more points than quiet ones. The last point is exact. A clock that
    goes back is taken to stand still.

    It folds the log into a ledger of its own: a point is that ledger's totals. Not for several
    threads at once.

    Parameters
    ----------
    problem : Problem
        The problem as created.
    created : float, optional
        When that was; the series starts there, or else at the first event.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("ann", "0.50")],
    ...     outcome="utility",
    ...     budget="3",
    ...     policy="uniform",
    ...     clock=lambda: 60.0,
    ... )
    >>> campaign.tell(campaign.ask()[0].id, 0.7)
    >>> timeline = Timeline(Problem((Worker("ann", "0.50"),), utility=(0, 1), budget=3_000_000))
    >>> timeline.take(campaign.log())
    >>> timeline.answers, timeline.spent
    (1, 500000)
    """

    def __init__(self, problem: Problem, created: float | None = None) -> None:
        self.ledger = Ledger(problem)
        self.now = -math.inf if created is None else created
        """Time of the last event, or of a later one before it."""
        self.began = math.inf
        """When work was first handed out."""
        self._calls = array("q"), array("q")
        """Of every answer and failure: the events that asked for it, and those that settled it."""
        self._reader = StretchReader(self.ledger)
        self._stride = 1
        self._points: list[tuple[int, float, int, int, int, int, int, int]] = []

    @property
    def seq(self) -> int:
        """Sequence number of the last event taken in."""
        return self.ledger.seq

    @property
    def answers(self) -> int:
        """Answers so far, without those that were withdrawn."""
        return self.ledger.total(c.ANSWERS) - len(self.ledger.withdrawn)

    @property
    def closed(self) -> int:
        """Tasks closed so far."""
        # One that was removed is closed to policies, and no result.
        return self.ledger.total(c.TASKS) - self.ledger.total(c.OPEN) - len(self.ledger.removed)

    @property
    def spent(self) -> int:
        """Micro-units spent so far."""
        return self.ledger.spent

    @property
    def bonuses(self) -> int:
        """Micro-units of that which were bonuses."""
        return self.ledger.total(c.BONUSES)

    @property
    def reserved(self) -> int:
        """Micro-units set aside: for work that is out and for the rest of the decision."""
        return self.ledger.reserved

    @property
    def budget(self) -> int | None:
        """Micro-units of budget, None without a cap."""
        return self.ledger.budget

    def take(self, events: Iterable[Event]) -> None:
        """Take in what is new in the log, in its order; what was seen before is passed over."""
        for event in events:
            if event.seq <= self.seq:
                continue
            self._check_next(event.seq)
            self._begin(event.time)
            self.ledger.apply(event)
            self.now = max(self.now, event.time)
            if event.kind == Kind.ASKED:
                self.began = min(self.began, self.now)
            elif event.kind in (Kind.ANSWER, Kind.FAILED):
                self._calls[0].append(event.assignment or 0)
                self._calls[1].append(event.seq)
            if event.seq % self._stride == 0:
                self._add_point()

    def take_columns(self, columns: EventColumns) -> None:
        """Take in what ``take`` would, in a compiled loop where that is there and pays.

        The columns have their times.
        """
        begin = max(0, self.seq + 1 - columns.first)
        if begin >= len(columns):
            return
        columns = columns.cut(begin, len(columns))
        self._check_next(columns.first)
        loop, book = _loop(), self.ledger.book
        compiled = len(columns) >= SHORT and ready(loop, book, *_NO_BELIEFS, NOTHING, _KEY, 0, 0)
        # After each change of an answer, which is not a number to kernels, there may be one less.
        for part in parts_of(columns, BRINGS_NAMES | REVISES) if compiled else (columns,):
            if compiled and not brings_names(part):
                self._take_numbers(part)
            else:
                self.take(part.events())

    def _take_numbers(self, columns: EventColumns) -> None:
        assert columns.times is not None
        self._begin(columns.times[0])
        stretch = self._reader.read(columns)
        kinds, first = stretch.lines[:, KIND], columns.first
        now = np.maximum.accumulate(np.maximum(np.array(columns.times), self.now))
        asked = np.flatnonzero(kinds == Kind.ASKED)
        if len(asked):
            self.began = min(self.began, float(now[asked[0]]))
        at = 0
        while at < len(columns):
            # As far as the next point that is kept.
            end = min(len(columns), at + self._stride - (first + at - 1) % self._stride)
            run_stretch(_loop(), self.ledger, *_NO_BELIEFS, stretch, _KEY, at, end)
            self.now = float(now[end - 1])
            if self.seq % self._stride == 0:
                self._add_point()
            at = end
        settled = np.flatnonzero((kinds == Kind.ANSWER) | (kinds == Kind.FAILED))
        numbers = self.ledger.book.assignments[stretch.lines[settled, NUMBER], c.SEQ]
        self._calls[0].extend(numbers.tolist())
        self._calls[1].extend((first + settled).tolist())

    def _check_next(self, seq: int) -> None:
        if seq != self.seq + 1:
            raise Conflict(
                f"event {seq} follows event {self.seq}: read the log after {self.seq}",
                field="events",
                reason="log_moved",
            )

    def _begin(self, time: float) -> None:
        """Keep the point before the first event."""
        if self.seq == 0:
            self.now = time if self.now == -math.inf else self.now
            self._points.append(self._point())

    def _add_point(self) -> None:
        self._points.append(self._point())
        if len(self._points) > MOST_POINTS:
            self._stride *= 2
            self._points = [at for at in self._points if at[0] % self._stride == 0]

    def settled(self, asked: Iterable[int]) -> dict[int, int]:
        """The event that answered, or failed, what each of these events asked, if one did so far.

        Examples
        --------
        >>> from askwise import Campaign, Worker
        >>> campaign = Campaign.create(
        ...     workers=[Worker("ann", "0.50")], outcome="utility", budget="3", policy="uniform"
        ... )
        >>> campaign.tell(campaign.ask()[0].id, 0.7)
        >>> timeline = Timeline(Problem((Worker("ann", "0.50"),), utility=(0, 1), budget=3_000_000))
        >>> timeline.take(campaign.log())
        >>> [event.kind.name for event in campaign.log()], timeline.settled([2])
        (['DECIDED', 'ASKED', 'ANSWER'], {2: 3})
        """
        events = np.array(self._calls[0], np.int64)
        found = np.flatnonzero(np.isin(events, np.array([*asked], np.int64)))
        return {int(events[at]): self._calls[1][at] for at in found}

    def series(self) -> Series:
        """What was kept, and the last moment; empty before the first event."""
        points = list(self._points)
        if points and points[-1][0] != self.seq:
            points.append(self._point())
        columns = list(zip(*points, strict=True)) or [()] * 8
        whole = [np.array(column, np.int64) for column in columns[2:]]
        times = np.array(columns[1], np.float64)
        answers, closed, spent, reserved, budget, bonuses = whole
        capped = self.budget is not None
        return Series(times, answers, closed, spent, reserved, budget if capped else None, bonuses)

    def _point(self) -> tuple[int, float, int, int, int, int, int, int]:
        return (
            self.seq, self.now, self.answers, self.closed, self.spent, self.reserved,
            self.budget or 0, self.bonuses,
        )  # fmt: skip
