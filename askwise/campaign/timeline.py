"""A campaign's money and answers over time, from its log."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import Conflict
from askwise.core.events import Event, Kind
from askwise.core.money import from_micro, to_micro
from askwise.core.problem import UNLIMITED, Problem

MOST_POINTS = 500
"""A series is thinned to every second point when it has more."""


@dataclass(frozen=True, slots=True)
class Series:
    """What a timeline kept, one row a moment: whole numbers, money in micro-units.

    ``reserved`` is money for work that is out and for the rest of the decision; ``budget`` is
    None without a cap. All but ``times`` hold from their moment to the next.
    """

    times: Array
    answers: Array
    closed: Array
    spent: Array
    reserved: Array
    budget: Array | None

    def to_json(self) -> dict[str, Any]:
        """As JSON, money as strings."""
        money = {"spent": self.spent, "reserved": self.reserved, "budget": self.budget}
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

    Beside the points it remembers what is out, the rest of the decision and, where a pair may
    not repeat, who was asked about which open task. Not for several threads at once.

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
        self.seq = 0
        self.now = -math.inf if created is None else created
        """Time of the last event, or of a later one before it."""
        self.began = math.inf
        """When work was first handed out."""
        self.answers = 0
        self.closed = 0
        self.spent = 0
        self.budget = problem.budget
        self._taskless, self._repeat = problem.taskless, problem.repeat
        self._held = self._planned = 0
        self._out: dict[int, int] = {}
        self._plan: dict[str, list[list[Any]]] = {}
        self._prices = {worker.id: worker.micro for worker in problem.workers}
        self._open = 0
        self._named: dict[str, tuple[str, ...]] = {}
        """Open tasks that only some may be asked about, and who."""
        self._open_to: dict[str, int] = {}
        self._asked: dict[str, list[str]] = {}
        """Who was asked about each open task; those whose time ran out are not among them."""
        self._busy: dict[str, int] = {}
        """How many of the open tasks each worker was asked about."""
        self._stride = 1
        self._points: list[tuple[int, float, int, int, int, int, int]] = []
        self._add((task.id, task.workers) for task in problem.tasks)

    @property
    def reserved(self) -> int:
        """Micro-units set aside: for work that is out and for the rest of the decision."""
        return self._held + self._planned

    def take(self, events: Iterable[Event]) -> None:
        """Take in what is new in the log, in its order; what was seen before is passed over."""
        for event in events:
            if event.seq <= self.seq:
                continue
            if event.seq != self.seq + 1:
                raise Conflict(
                    f"event {event.seq} follows event {self.seq}: read the log after {self.seq}",
                    field="events",
                    reason="log_moved",
                )
            if self.seq == 0:
                self.now = event.time if self.now == -math.inf else self.now
                self._points.append(self._point())
            self.seq = event.seq
            self._count(event)
            if event.time > self.now:
                self.now = event.time
            if event.seq % self._stride == 0:
                self._points.append(self._point())
                if len(self._points) > MOST_POINTS:
                    self._stride *= 2
                    self._points = [at for at in self._points if at[0] % self._stride == 0]

    def series(self) -> Series:
        """What was kept, and the last moment; empty before the first event."""
        points = list(self._points)
        if points and points[-1][0] != self.seq:
            points.append(self._point())
        columns = list(zip(*points, strict=True)) or [()] * 7
        whole = [np.array(column, np.int64) for column in columns[2:]]
        times = np.array(columns[1], np.float64)
        answers, closed, spent, reserved, budget = whole
        capped = self.budget is not None
        return Series(times, answers, closed, spent, reserved, budget if capped else None)

    def _point(self) -> tuple[int, float, int, int, int, int, int]:
        return (
            self.seq, self.now, self.answers, self.closed, self.spent, self.reserved,
            self.budget or 0,
        )  # fmt: skip

    def _count(self, event: Event) -> None:
        kind, worker = event.kind, event.worker or ""
        if kind == Kind.ANSWER:
            held = self._out.pop(event.assignment or 0, None)
            if held is None:
                # A late one: its expiry gave the money and the place back.
                self._busy_with(event.task, worker)
            self._held -= held or 0
            self.spent += event.price or 0
            self.answers += 1
        elif kind == Kind.ASKED:
            self._hand_out(event, worker)
        elif kind == Kind.DECIDED:
            self._decide(event)
        elif kind in (Kind.EXPIRED, Kind.DECLINED):
            self._held -= self._out.pop(event.assignment or 0)
            if kind == Kind.DECLINED:
                self._trim()
            elif event.task in self._asked:
                self._asked[event.task].remove(worker)
                self._busy[worker] -= 1
        elif kind == Kind.CLOSED:
            self._close(event.task or "")
        elif kind == Kind.LEFT:
            self._drop(self._plan.pop(worker, []), worker)
        elif kind == Kind.STOPPED:
            self._drop_plan()
        elif kind in (Kind.QUOTED, Kind.JOINED):
            if kind == Kind.QUOTED:
                self._drop_plan()
            for each in event.workers or ():
                self._prices[each["id"]] = to_micro(each["price"], "price")
        elif kind == Kind.BID:
            self._prices[worker] = event.price or 0
        elif kind == Kind.ADDED:
            self._add((each["id"], each.get("workers")) for each in event.tasks or ())
        elif kind == Kind.TOPPED_UP and self.budget is not None:
            self.budget += event.price or 0

    # The rest of the decision, as `askwise.ledger.transitions` keeps it.

    def _decide(self, event: Event) -> None:
        self._plan = {}
        self._planned = 0
        for row in event.rows or ():
            self._plan.setdefault(row.worker, []).append([row.task, row.count])
            self._planned += self._prices[row.worker] * row.count

    def _hand_out(self, event: Event, worker: str) -> None:
        price = event.price or 0
        for row in self._plan[worker]:
            if row[1] > 0 and (row[0] is None or row[0] == event.task):
                row[1] -= 1
                break
        self._planned -= price
        self._held += price
        self._out[event.seq] = price
        self.began = min(self.began, max(self.now, event.time))
        self._busy_with(event.task, worker)

    def _busy_with(self, task: str | None, worker: str) -> None:
        if task is not None and not self._repeat:
            self._asked.setdefault(task, []).append(worker)
            self._busy[worker] = self._busy.get(worker, 0) + 1

    def _close(self, task: str) -> None:
        self.closed += 1
        self._open -= 1
        for worker in self._named.pop(task, ()):
            self._open_to[worker] -= 1
        for worker in self._asked.pop(task, ()):
            self._busy[worker] -= 1
        if self._planned == 0:
            return
        for worker, rows in self._plan.items():
            self._drop((row for row in rows if row[0] == task or self._open == 0), worker)
        self._trim()

    def _trim(self) -> None:
        """Give up what is planned for workers beyond the tasks that are left for them."""
        if self._planned == 0 or (self._repeat and not self._named):
            return
        for worker, rows in self._plan.items():
            for row in rows:
                if row[0] is None and row[1] > 0:
                    excess = row[1] - min(row[1], self._tasks_left(worker))
                    row[1] -= excess
                    self._planned -= excess * self._prices[worker]

    def _tasks_left(self, worker: str) -> int:
        if self._taskless:
            return UNLIMITED
        here = self._open - len(self._named) + self._open_to.get(worker, 0)
        if here == 0 or not self._repeat:
            return max(0, here - self._busy.get(worker, 0))
        return UNLIMITED

    def _drop(self, rows: Iterable[list[Any]], worker: str) -> None:
        for row in rows:
            self._planned -= row[1] * self._prices[worker]
            row[1] = 0

    def _drop_plan(self) -> None:
        self._plan = {}
        self._planned = 0

    def _add(self, tasks: Iterable[tuple[str, Iterable[str] | None]]) -> None:
        for task, named in tasks:
            self._open += 1
            if named is not None:
                self._named[task] = tuple(named)
                for worker in self._named[task]:
                    self._open_to[worker] = self._open_to.get(worker, 0) + 1
