"""The ledger: the log folded into arrays. Only ``apply`` writes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from askwise.core.arrays import Array
from askwise.core.compiling import in_plain_python
from askwise.core.errors import UnknownName, nearest
from askwise.core.events import Event, Fact, Kind
from askwise.core.labels import Label, RestsOn, as_label
from askwise.core.money import NO_CAP
from askwise.core.pilot import PILOT
from askwise.core.problem import Problem, Task, Worker
from askwise.core.reasons import Reason
from askwise.core.repeated_calls import RepeatedCalls
from askwise.core.screening import GOLD_NOTES
from askwise.ledger import arrivals, plan_rows, snapshots, transitions
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.ledger.arrivals import NAMELESS
from askwise.ledger.capacity import BY_ROW, SMALLEST, empty_book, grown, scale_of, with_spare
from askwise.ledger.columns import Book
from askwise.ledger.entries import (
    ABOUT_ASSIGNMENTS,
    BRINGS_NAMES,
    REMOVED,
    REVISES,
    Entry,
    Overrun,
    PlanRows,
    SetLabel,
)
from askwise.ledger.given import GIVING, MoneyGiven
from askwise.ledger.pilots import PilotRecord
from askwise.ledger.standings import Standings

_NO_ROWS = PlanRows()
"""Of all events but a DECIDED."""

_as_fact = in_plain_python(transitions.as_fact)
"""For one event: to hand the book to compiled code would take longer."""


class Ledger:
    """Counts, votes, pending work, money: what a campaign's log adds up to.

    Parameters
    ----------
    problem : Problem
        The problem as created; tasks, workers and money that came later are in the log.
    spare : int
        Rows of capacity to start with. Capacity is not a count: it never shows in results.
    """

    def __init__(self, problem: Problem, *, spare: int = SMALLEST) -> None:
        self.problem = problem
        self.seq = 0
        self.utility = 0.0
        self.workers: list[Worker] = []
        self.tasks: list[Task] = []
        self.worker_places: dict[str, int] = {}
        self.task_places: dict[str, int] = {}
        self.contexts: dict[str | None, int] = {}
        """Number of each context, in order of appearance; tasks without one share one."""
        self.families: dict[str, int] = {}
        """Number of each family, in order of appearance; workers without one have none."""
        self.passed_over: set[int] = set()
        """Who declined a unit of work since the last answer (those who may be asked again)."""
        self.closings: dict[int, tuple[Label, str]] = {}
        """What a task was closed with, and the outcome."""
        self.labels: dict[int, SetLabel] = {}
        """The labels that were set by hand, by task."""
        self.flags: dict[int, list[int]] = {}
        """The events by which workers said that a task can't be answered, by task."""
        self.comments: dict[int, list[int]] = {}
        """The events that are comments, by task."""
        self.given = MoneyGiven()
        """Bonuses and payouts."""
        self.changes: dict[int, list[int]] = {}
        """The events by which an answer was changed or withdrawn, by the ASKED of its question."""
        self.withdrawn: set[int] = set()
        """The questions (their ASKED) whose answers are withdrawn now."""
        self.removed: set[int] = set()
        """Tasks that were taken out: closed to kernels, and in no view."""
        self.archived = False
        """Whether the campaign was put away: nothing is written until it is taken up again."""
        self.title: str | None = None
        """The title that the campaign was given after its creation."""
        self.draws: list[dict[str, Any]] = []
        """The draws of audits, as they were put on record."""
        self.pilot: PilotRecord | None = None
        """What was drawn for the pilot, once it has begun."""
        self.standings = Standings()
        """The gold questions of workers, and who was qualified, warned or suspended."""
        self.failures: dict[int, Counter[str]] = {}
        """Why calls failed, by worker: how often each word was said."""
        self.at_cost: set[int] = set()
        """Workers with a call whose cost was said."""
        self.overruns: dict[int, Overrun] = {}
        """The calls above their ceiling, by worker."""
        self._found = 0
        self.calls = RepeatedCalls()
        """Calls kernels with the book, and with what a policy believes."""
        self.book = empty_book(problem, spare)
        self.set_budget(problem)
        arrivals.join(self, problem.workers)
        arrivals.add(self, [NAMELESS] if problem.taskless else problem.tasks)

    def set_budget(self, problem: Problem) -> None:
        """Take in the money of a problem; only before anything has happened."""
        totals, budget = self.book.totals, problem.budget
        totals[c.BUDGET] = NO_CAP if budget is None else budget
        if problem.certify is not None and budget is not None:
            totals[c.KEPT_SHARE] = problem.certify.share_units
            totals[c.KEPT] = problem.certify.kept_back(budget)
            totals[c.BUDGET] -= totals[c.KEPT]

    # Reading.

    def total(self, column: int) -> int:
        """One of the totals, by its column in :mod:`askwise.ledger.columns`."""
        return self.book.totals.item(column)

    @property
    def reserved(self) -> int:
        """Micro-units set aside: for work that is out and for the rest of the decision."""
        return self.total(c.HELD) + self.total(c.PLANNED)

    @property
    def budget(self) -> int | None:
        """Micro-units of budget, with audits and bonuses; None without a cap."""
        budget = self.total(c.BUDGET)
        if budget == NO_CAP:
            return None
        return budget + self.total(c.KEPT) + self.total(c.BONUSES)

    @property
    def spent(self) -> int:
        """Micro-units spent, on calls and on bonuses."""
        return self.total(c.SPENT) + self.total(c.BONUSES)

    @property
    def unspent(self) -> int:
        """Micro-units that are neither spent, nor reserved, nor kept back for audits."""
        given = 0 if self.total(c.BUDGET) != NO_CAP else self.total(c.BONUSES)
        return self.total(c.BUDGET) - self.total(c.SPENT) - self.reserved - given

    def is_here(self, worker: int) -> bool:
        """Whether a worker has joined and not left, to be asked by the policy or to audit."""
        row = self.book.workers[worker]
        return bool(row[c.JOINED] == 1 or row[c.AUDITS] == 1)

    def worker_at(self, worker: str) -> int:
        """Index of a worker."""
        return _place("worker", "unknown_worker", worker, self.worker_places)

    def task_at(self, task: str | None) -> int:
        """Index of a task; of the one nameless task where there are none."""
        if task is None and self.problem.taskless:
            return 0
        return _place("task", "unknown_task", task, self.task_places)

    def has_worker(self, worker: str) -> bool:
        """Whether a worker of this id has ever joined."""
        return worker in self.worker_places

    def has_task(self, task: str) -> bool:
        """Whether a task of this id was ever added."""
        return task in self.task_places

    def task_id(self, index: int) -> str | None:
        """Id of a task; None in a campaign without tasks and for "any task" (-1)."""
        return None if index < 0 or self.problem.taskless else self.tasks[index].id

    @property
    def task_count(self) -> int:
        """How many tasks there are, without those that were taken out."""
        return 0 if self.problem.taskless else self.total(c.TASKS) - len(self.removed)

    def payload(self, index: int) -> Any:
        """What the worker of a task is shown; None in a campaign without tasks."""
        return None if self.problem.taskless else self.tasks[index].payload

    def assignment_at(self, seq: int) -> int | None:
        """Index of the assignment whose ASKED has this sequence number."""
        assignments, count = self.book.assignments, self.total(c.ASSIGNMENTS)
        # Who answers was asked last, as a rule, and who checks an answer has just looked for it.
        at = self._found
        if at >= count or assignments[at, c.SEQ] != seq:
            at = int(self.calls.with_book(transitions.find_assignment, assignments, count, seq))
            self._found = max(at, 0)
        return None if at < 0 else at

    # Writing.

    def apply(self, event: Event) -> Fact:
        """Fold one event; returns it as kernels see it."""
        self.seq = event.seq
        if event.kind in BRINGS_NAMES:
            self._take_names(event)
            return Fact(int(event.kind), -1, -1, np.nan, 0, -1)
        plan = PlanRows() if event.kind == Kind.DECIDED else _NO_ROWS
        kind, task, worker, number, note, value, cost = self.read(event, plan)
        if kind == k.DECIDED:
            self.room_for_plan(len(plan))
            rows = plan.arrays()
            self.calls.with_book(plan_rows.take_plan, self.book, *rows, 0, len(plan))
            return Fact(kind, task, worker, value, note, -1)
        if kind == k.ASKED:
            self.room_for_assignments(1)
        elif kind in ABOUT_ASSIGNMENTS:
            self._note_reply(kind, worker, value)
            number = -1 if (found := self.assignment_at(number)) is None else found
        what = (kind, task, worker, number, cost, value, event.seq)
        at = int(self.calls.with_book(transitions.advance, self.book, *what))
        assert at != transitions.MISFIT, f"event {event.seq} does not follow from those before it"
        if kind == k.ASKED:
            self._found = at
        return _as_fact(self.book, kind, task, worker, value, note, at)

    def read(self, event: Event, plan: PlanRows) -> Entry:
        """An event in numbers, as ``transitions.advance`` takes it, and what no kernel reads noted.

        But for the sum of utilities and who is passed over, which who calls sees to.
        ``number`` of what is about an assignment is that of its ASKED in the log; the rows of a
        DECIDED are added to ``plan``, and ``number`` says where they begin.
        """
        if self.pilot is not None:
            self.pilot.note(event)
        kind = int(event.kind)
        task = -1 if event.task is None else self.task_at(event.task)
        worker = -1 if event.worker is None else self.worker_at(event.worker)
        number, note, value, cost = event.price or 0, 0, np.nan, transitions.AT_PRICE
        if kind == k.DECIDED:
            number = len(plan)
            for row in event.rows or ():
                about = -1 if row.task is None else self.task_at(row.task)
                plan.add(about, self.worker_at(row.worker), row.count, row.propensity)
            if event.note in GOLD_NOTES:
                self.standings.asked(
                    event, [self.worker_at(row.worker) for row in event.rows or ()]
                )
        elif kind == k.ASKED:
            number, value = -1, np.inf if event.expires is None else float(event.expires)
        elif kind in ABOUT_ASSIGNMENTS:
            number = event.assignment or 0
            if kind == k.ANSWER:
                value = self.number(event.value)
            elif kind == k.RENEWED:
                value = float(event.expires or np.inf)
            if event.cost is not None:
                cost = event.price or 0
                self._note_call(event, worker, cost)
            if kind == k.FAILED:
                self.note_failure(worker, event.why or "")
        elif kind == k.TRUTH:
            value = self.number(event.value)
        elif kind == k.CLOSED:
            label = (event.value, event.confidence, event.rests_on)
            value = self.note_closing(task, *label, event.outcome)
            note = int(event.outcome == "confident")
        elif kind == k.LABELLED:
            value = self.number(event.value)
            self.labels[task] = SetLabel(value, event.by or "", event.why, event.seq)
        elif kind == k.FLAGGED:
            self.flags.setdefault(task, []).append(event.seq)
        elif k.WARNED <= kind <= k.QUALIFIED:
            self.standings.note(event, worker)
        elif kind == k.COMMENTED:
            self.comments.setdefault(task, []).append(event.seq)
        elif kind in GIVING:
            self.given.note(event, worker)
        elif kind in REVISES:
            self._note_change(event)
        elif kind == k.ARCHIVED or kind == k.UNARCHIVED:
            self.archived = kind == k.ARCHIVED
        elif kind == k.RETITLED:
            self.title = event.text
        return Entry(kind, task, worker, number, note, value, cost)

    def pass_over(self, worker: int) -> None:
        """Pass a worker over until the next answer, if they may be asked again at all."""
        if not self.book.workers[worker, c.ONCE]:
            self.passed_over.add(worker)

    def _note_reply(self, kind: int, worker: int, value: float) -> None:
        if kind == k.ANSWER:
            self.passed_over.clear()
            self.utility += 0.0 if self.problem.options else value
        elif kind == k.DECLINED or kind == k.FAILED:
            self.pass_over(worker)

    def note_closing(
        self,
        task: int,
        value: float | str | None,
        confidence: float | None,
        rests_on: RestsOn | None,
        outcome: str | None,
    ) -> float:
        """Note what a task is closed with; returns it as a number."""
        if outcome == REMOVED:
            self.removed.add(task)
        answer = None if value is None else self.number(value)
        self.closings[task] = (as_label((answer, confidence, rests_on)), outcome or "")
        return np.nan if answer is None else answer

    def note_failure(self, worker: int, why: str) -> None:
        """Note why a call of a worker brought no answer."""
        self.failures.setdefault(worker, Counter())[why] += 1

    def _note_call(self, event: Event, worker: int, booked: int) -> None:
        """Note what no kernel reads of a cost: that it was said, or is above the ceiling."""
        self.at_cost.add(worker)
        if event.over_ceiling:
            calls, unbooked = self.overruns.get(worker, Overrun(0, 0))
            self.overruns[worker] = Overrun(calls + 1, unbooked + (event.cost or 0) - booked)

    def _note_change(self, event: Event) -> None:
        """Note that an answer was changed; the book was changed where the answer was given."""
        assert event.assignment is not None
        self.changes.setdefault(event.assignment, []).append(event.seq)
        if event.kind == Kind.WITHDRAWN:
            self.withdrawn.add(event.assignment)
        else:
            self.withdrawn.discard(event.assignment)

    def _take_names(self, event: Event) -> None:
        if event.kind == Kind.ADDED:
            arrivals.add(self, [Task(**raw) for raw in event.tasks or ()])
        elif event.kind == Kind.JOINED:
            arrivals.join(self, [Worker(**raw) for raw in event.workers or ()])
        elif event.kind == Kind.DRAWN:
            assert event.draw is not None
            if event.note == PILOT:
                self.pilot = PilotRecord(event.draw)
            else:
                self.draws.append(event.draw)
                transitions.free_kept(self.book, event.price or 0)
        else:
            arrivals.quote(self, event.workers or ())

    def number(self, value: float | str | None) -> float:
        """An answer as a number: a utility as it is, an option by its index."""
        if isinstance(value, str):
            return float(self.problem.options.index(value))
        assert value is not None
        return float(value)

    def room_for_assignments(self, count: int) -> None:
        """Make sure that ``count`` more assignments fit, each in a cell of its own at worst."""
        # Handing out writes every cell of a row: no need to clear them first.
        needed = self.total(c.ASSIGNMENTS) + count
        if needed > len(self.book.assignments):
            self.book = grown(self.book, ("assignments", "marks"), needed, np.empty)
        if self.problem.options and self.total(c.CELLS) + count > len(self.book.cells):
            pairs = self.total(c.TASKS) * self.total(c.WORKERS)
            most = min(self.total(c.CELLS) + count, pairs)
            self.book = grown(self.book, ("cells",), most, np.empty)

    def room_for_plan(self, rows: int) -> None:
        """Make sure that a decision of this many rows fits."""
        if rows > len(self.book.plan):
            self.book = grown(self.book, ("plan", "odds"), rows)

    # Snapshots.

    def arrays(self) -> dict[str, Array]:
        """The used part of every array: what a snapshot keeps and what equality is about."""
        kept = {name: getattr(self.book, name)[: self.total(at)] for name, at in BY_ROW.items()}
        return {"totals": self.book.totals, "scale": self.book.scale, **kept}

    def names(self) -> str:
        """What of a snapshot is not numbers, as JSON."""
        return self.freeze_names()()

    def freeze_names(self) -> Callable[[], str]:
        """Copy workers, closings and the tasks that came after the start.

        What is returned writes the copy down as JSON, whenever it is called.
        """
        return snapshots.freeze_names(self)

    @classmethod
    def restore(cls, problem: Problem, arrays: Mapping[str, Array], names: str) -> Ledger:
        """Rebuild a ledger from a snapshot."""
        # Not by way of a new ledger: it would fill the arrays that are replaced here.
        ledger = cls.__new__(cls)
        ledger.problem, ledger._found, ledger.calls = problem, 0, RepeatedCalls()
        snapshots.restore_names(ledger, names)
        ledger.contexts = {}
        for task in ledger.tasks or [NAMELESS]:
            ledger.contexts.setdefault(task.context, len(ledger.contexts))
        held = {
            name: with_spare(array) if name in BY_ROW else np.array(array)
            for name, array in arrays.items()
        }
        count = len(arrays["tasks"])
        held["scale"] = scale_of(problem)
        ledger.book = Book(queue=arrivals.queue_of(held["tasks"], count), **held)
        return ledger


def _place(kind: str, reason: Reason, name: object, places: Mapping[str, int]) -> int:
    if not isinstance(name, str) or name not in places:
        raise UnknownName(
            f"{kind} {name!r} is not in this campaign: {nearest(str(name), places)}",
            field=kind,
            reason=reason,
        )
    return places[name]
