"""Long stretches of a log: events in numbers, and the one loop that folds them.

Nothing happens here that folding the events one by one would not do, in the same order. Names
become numbers first; then the ledger's kernels, and those of what learns from the events, run over
the numbers.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from askwise.core.compiling import bind, ready
from askwise.core.event_columns import CHUNK, EventColumns, event_of, parsed
from askwise.core.events import Event, Kind
from askwise.core.screening import GOLD_NOTES
from askwise.kernels import Array, Draw, Fact, step
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.ledger.columns import Book
from askwise.ledger.entries import (
    ABOUT_ASSIGNMENTS,
    BRINGS_NAMES,
    TEACHES_NOTHING,
    WITHDRAWN,
    PlanRows,
)
from askwise.ledger.ledger import Ledger
from askwise.ledger.plan_rows import take_plan
from askwise.ledger.scanning import (
    COST,
    FIELDS,
    KIND,
    MISSING,
    NO_NAMES,
    NOTE,
    NUMBER,
    ROWS,
    TASK,
    USED_LEFT,
    USED_ROWS,
    WORKER,
    NameTable,
    Scan,
    empty_table,
    fill_table,
    room_for,
    scan_bodies,
    take_floats,
)
from askwise.ledger.transitions import AT_PRICE, MISFIT, advance, as_fact

SILENT = np.array([kind in TEACHES_NOTHING for kind in range(max(Kind) + 1)])
"""By the number of a kind, whether policies and rules learn nothing from it."""

OWN = -1
"""Stands for the notes of decisions that are not the policy's."""


class Stretch(NamedTuple):
    """Events in numbers: one line an event, the first of them number ``first`` of the log."""

    first: int
    lines: Array
    values: Array
    rows: Array
    odds: Array


NO_CHANGES: Mapping[int, float | str | None] = {}
"""No answer was changed."""

NOTHING = Stretch(
    1, np.empty((0, 7), np.int64), np.empty(0), np.empty((0, 3), np.int64), np.empty(0)
)
"""Has the types of every stretch."""


def absorb(*_: Any) -> None:
    """Hold the place of the kernel that the loop is bound to."""
    raise NotImplementedError


def fold_stretch(
    book: Book,
    state: Any,
    params: Any,
    stretch: Stretch,
    key: tuple[int, int],
    begin: int,
    end: int,
) -> int:
    """Fold lines ``begin`` to ``end`` in their order; returns the one that misfits, or -1."""
    lines, values = stretch.lines, stretch.values
    for line in range(begin, end):
        kind, task, worker = lines[line, KIND], lines[line, TASK], lines[line, WORKER]
        number, note, value = lines[line, NUMBER], lines[line, NOTE], values[line]
        seq = stretch.first + line
        # The verdict on a task whose answer was changed: the policy has learned that it is closed.
        again = kind == k.CLOSED and book.tasks[task, c.CLOSED] == 1
        at = -1
        if kind == k.DECIDED:
            take_plan(book, stretch.rows, stretch.odds, number, lines[line, ROWS])
        else:
            at = advance(book, kind, task, worker, number, lines[line, COST], value, seq)
        if at == MISFIT:
            return line
        if SILENT[kind] or again:
            continue
        if note == OWN or (worker >= 0 and book.workers[worker, c.AUDITS] > 0):
            # Audits are none of the policy's business; it learns the truths that they bring.
            continue
        fact = as_fact(book, kind, task, worker, value, note, at)
        absorb(book, state, params, fact, Draw(key[0], key[1], seq))
    return -1


@step
def learn_nothing(book: Book, state: Any, params: Any, fact: Fact, draw: Draw) -> None:
    """Absorb nothing: where the ledger is all that is folded."""


def parts_of(
    columns: EventColumns, alone: Collection[Kind] = BRINGS_NAMES
) -> Iterator[EventColumns]:
    """A stretch in parts: events that bring names, each alone, and those that are numbers.

    ``alone`` may have other kinds that are to be parts of their own.
    """
    begin = 0
    for at, kind in enumerate(columns.kinds):
        if kind in alone:
            if begin < at:
                yield columns.cut(begin, at)
            yield columns.cut(at, at + 1)
            begin = at + 1
    if begin < len(columns):
        yield columns.cut(begin, len(columns))


def brings_names(part: EventColumns) -> bool:
    """Whether a part is an event that brings names."""
    return part.kinds[0] in BRINGS_NAMES


def run_stretch(
    loop: Callable[..., int],
    ledger: Ledger,
    state: Any,
    params: Any,
    stretch: Stretch,
    key: tuple[int, int],
    begin: int = 0,
    end: int | None = None,
) -> None:
    """Fold lines of a stretch by a loop that ``fold_stretch`` was bound to."""
    assert stretch.first + begin == ledger.seq + 1, "the log has a gap"
    end = len(stretch.lines) if end is None else end
    wrong = loop(ledger.book, state, params, stretch, key, begin, end)
    assert wrong < 0, f"event {stretch.first + wrong} does not follow from those before it"
    ledger.seq = stretch.first + end - 1


class StretchReader:
    """Reads stretches of one ledger's log, with what it knows of names kept in between.

    Parameters
    ----------
    ledger : Ledger
        Whose log it is.
    notes : mapping of str to int, optional
        The number of every decision's note; not given, all are 0.
    """

    def __init__(self, ledger: Ledger, notes: Mapping[str, int] | None = None) -> None:
        self._ledger = ledger
        self._notes = notes
        self._tables: dict[str, NameTable] = {}

    def read(
        self, columns: EventColumns, changed: Mapping[int, float | str | None] = NO_CHANGES
    ) -> Stretch:
        """Events that bring no names, in numbers, and what no kernel reads of them noted.

        The ledger is at the event before the first of them, and has room for them afterwards.
        ``changed`` has, by their ASKED, the questions whose answers were changed later, with what
        is taken for the answer; None for a call that failed.
        """
        ledger, plan = self._ledger, PlanRows()
        scan = None if columns.held else self._scan(columns)
        if scan is None:
            read = [self._line(event, plan) for event in columns.events()]
            lines = np.array([line for line, _ in read], np.int64).reshape(-1, 7)
            values = np.array([value for _, value in read], np.float64)
            rows, odds = plan.arrays()
        else:
            lines, values = scan.lines, scan.values
            rows, odds = self._read_rest(columns, scan, plan)
        if changed:
            self._substitute(lines, values, changed)
        self._note_replies(lines, values)
        _find_assignments(ledger, lines, columns.first)
        ledger.room_for_assignments(int(np.count_nonzero(lines[:, KIND] == k.ASKED)))
        ledger.room_for_plan(int(lines[:, ROWS].max(initial=0)))
        return Stretch(columns.first, lines, values, rows, odds)

    def _line(self, event: Event, plan: PlanRows) -> tuple[tuple[int, ...], float]:
        """Read an event of whatever kind."""
        kind, task, worker, number, note, value, cost = self._ledger.read(event, plan)
        rows = 0
        if kind == k.DECIDED:
            rows, note = len(plan) - number, self._note(event.note)
        return (kind, task, worker, number, note, cost, rows), value

    def _note(self, note: str | None) -> int:
        return 0 if self._notes is None else self._notes[note or ""]

    def _substitute(
        self, lines: Array, values: Array, changed: Mapping[int, float | str | None]
    ) -> None:
        """Put what was changed later in the place of answers; their numbers are those of ASKEDs."""
        ledger, answers = self._ledger, np.flatnonzero(lines[:, KIND] == k.ANSWER)
        found = answers[np.isin(lines[answers, NUMBER], np.array([*changed], np.int64))]
        for line in found.tolist():
            value = changed[int(lines[line, NUMBER])]
            if value is not None:
                values[line] = ledger.number(value)
                continue
            lines[line, KIND], values[line] = k.FAILED, np.nan
            ledger.note_failure(int(lines[line, WORKER]), WITHDRAWN)

    def _note_replies(self, lines: Array, values: Array) -> None:
        """Note what no kernel reads of answers and of what was declined."""
        ledger, kinds = self._ledger, lines[:, KIND]
        answers = np.flatnonzero(kinds == k.ANSWER)
        since = 0
        if len(answers):
            ledger.passed_over.clear()
            since = int(answers[-1])
            if not ledger.problem.options:
                # In the order of the log, as one by one: sums of floats depend on it.
                said = np.concatenate(([ledger.utility], values[answers]))
                ledger.utility = float(np.add.accumulate(said)[-1])
        for line in since + np.flatnonzero(np.isin(kinds[since:], _PASSED)):
            ledger.pass_over(int(lines[line, WORKER]))

    # Bodies that are text.

    def _scan(self, columns: EventColumns) -> Scan | None:
        """Read the common events by the kernel, if that is compiled; the others are left over."""
        ledger = self._ledger
        bodies = np.frombuffer(columns.text, np.uint8)
        kinds = np.fromiter(columns.kinds, np.int64, len(columns))
        if ledger.pilot is not None and not ledger.pilot.over:
            # What decides is looked at by the pilot.
            kinds[kinds == k.DECIDED] = -1
        scan, fill = _kernels()
        notes = list(self._notes or ())
        known = {**(self._notes or {})}
        # Of gold questions the ledger keeps a record, so that their decisions are left to it.
        known |= {note: MISSING for note in GOLD_NOTES if note in known}
        codes = np.array([*known.values(), self._code_of_none()], np.int64)
        given = bodies, kinds, *(NO_NAMES,) * 5, codes, room_for(bodies, len(kinds))
        if not ready(scan, *given) or not ready(fill, *NO_NAMES):
            return None
        tables = (
            self._table("fields", FIELDS),
            self._table("tasks", ledger.task_places),
            self._table("workers", ledger.worker_places),
            self._table("options", ledger.problem.options),
            self._table("notes", notes),
        )
        scan(bodies, kinds, *tables, codes, given[-1])
        out: Scan = given[-1]
        take_floats(out)
        return out

    def _code_of_none(self) -> int:
        return 0 if self._notes is None else self._notes.get("", MISSING)

    def _table(self, what: str, names: Collection[str]) -> NameTable:
        """The table of names: made again when a sixteenth of them are not in it."""
        known = self._tables.get(what)
        if known is None or len(names) > len(known.spans) * 17 // 16:
            known = self._tables[what] = empty_table(list(names))
            _kernels()[1](*known)
        return known

    def _read_rest(self, columns: EventColumns, scan: Scan, plan: PlanRows) -> tuple[Array, Array]:
        """Read what a scan has left, in the order of the log; returns all rows and odds."""
        ledger, used = self._ledger, int(scan.used[USED_ROWS])
        left = scan.left[: scan.used[USED_LEFT]].tolist()
        bodies = [columns.bodies[at] for at in left]
        lines: list[tuple[int, ...]] = []
        values: list[float] = []
        for begin in range(0, len(left), CHUNK):
            some = parsed(bodies[begin : begin + CHUNK])
            for at, body in zip(left[begin : begin + CHUNK], some, strict=True):
                kind = columns.kinds[at]
                if kind is Kind.CLOSED and body.get("task") is not None:
                    # What most of these are, without an event.
                    task, outcome = ledger.task_at(body["task"]), body.get("outcome")
                    label = body.get("value"), body.get("confidence"), body.get("rests_on")
                    values.append(ledger.note_closing(task, *label, outcome))
                    lines.append((k.CLOSED, task, -1, 0, outcome == "confident", AT_PRICE, 0))
                else:
                    event = event_of(kind, columns.first + at, 0.0, None, body)
                    line, value = self._line(event, plan)
                    lines.append(line)
                    values.append(value)
        if left:
            scan.lines[left], scan.values[left] = np.array(lines, np.int64), values
            # Their rows come after those of the scan.
            own = [at for at in left if columns.kinds[at] is Kind.DECIDED]
            scan.lines[own, NUMBER] += used
        rows, odds = plan.arrays()
        return np.concatenate((scan.rows[:used], rows)), np.concatenate((scan.odds[:used], odds))


_PASSED = (k.DECLINED, k.FAILED)
"""After these a worker is passed over until the next answer."""


@cache
def _kernels() -> tuple[Any, Any]:
    """The kernels that scan bodies and fill a table of names, compiled if the cache has them."""
    return bind(scan_bodies, "log", live=True), bind(fill_table, "log", live=True)


def _find_assignments(ledger: Ledger, lines: Array, first: int) -> None:
    """Turn the numbers of ASKEDs into assignments; some are handed out in these very lines."""
    kinds = lines[:, KIND]
    about = np.flatnonzero(np.isin(kinds, list(ABOUT_ASSIGNMENTS)))
    wanted, count = lines[about, NUMBER], ledger.total(c.ASSIGNMENTS)
    here = wanted >= first
    lines[about[here], NUMBER] = _places(
        first + np.flatnonzero(kinds == k.ASKED), wanted[here], count
    )
    if not here.all():
        before = ledger.book.assignments[:count, c.SEQ]
        lines[about[~here], NUMBER] = _places(before, wanted[~here], 0)


def _places(asked: Array, wanted: Array, count: int) -> Array:
    """Where numbers are among sorted ones, counted from ``count`` on; -1 where they are not."""
    if not len(asked):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(asked, wanted), len(asked) - 1)
    return np.where(asked[at] == wanted, at + count, -1)
