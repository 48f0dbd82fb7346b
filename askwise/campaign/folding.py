"""Folding a long stretch of the log: the kernels of one event at a time, in one compiled loop.

Nothing happens here that folding the events one by one would not do, in the same order: names
become numbers first, then the ledger's and the policy's kernels run over them. The loop is used
where it has been compiled before; to compile it is the business of ``askwise warm``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from askwise.core import draws
from askwise.core.arrays import Array
from askwise.core.compiling import bind, ready
from askwise.core.draws import Draw
from askwise.core.events import Event, Fact, Kind
from askwise.ledger import columns as c
from askwise.ledger.columns import Book
from askwise.ledger.ledger import Ledger
from askwise.ledger.transitions import answer, ask, close_task, take_back, take_plan
from askwise.policies.base import KernelPolicy

if TYPE_CHECKING:
    from askwise.campaign.state import Engine

STRETCH = 50_000
"""Events that are read and folded at a time, at the most."""

LONG = 2_000
"""Events from which on it pays to load the loop of a policy from the cache."""

SHORT = 64
"""The same once it is loaded."""

DECIDED, ASKED, ANSWER, TRUTH, EXPIRED, DECLINED, CLOSED = (
    int(kind)
    for kind in (
        Kind.DECIDED,
        Kind.ASKED,
        Kind.ANSWER,
        Kind.TRUTH,
        Kind.EXPIRED,
        Kind.DECLINED,
        Kind.CLOSED,
    )
)
_COMMON = frozenset((DECIDED, ASKED, ANSWER, TRUTH, EXPIRED, DECLINED, CLOSED))
"""What a log is full of. The rest changes who or what there is, and is folded by itself."""

# Columns of `lines`. ABOUT is the assignment's ASKED, or where a decision's rows begin; NOTE is
# as in a Fact, or how many rows a decision has.
KIND, TASK, WORKER, ABOUT, NOTE, ROWS = range(6)


class Stretch(NamedTuple):
    """Events in numbers: one line an event, the first of them number ``first`` of the log."""

    first: int
    lines: Array
    values: Array
    """Answers; of an ASKED when it expires."""
    rows: Array
    odds: Array


def absorb(*_: Any) -> None:
    """Hold the place of the kernel that the loop is bound to."""
    raise NotImplementedError


def fold_stretch(
    book: Book, state: Any, params: Any, stretch: Stretch, key: tuple[int, int], tally: Array
) -> int:
    """Fold the lines in their order; returns the line that does not fit the book, or -1."""
    lines, values, rows, odds = stretch.lines, stretch.values, stretch.rows, stretch.odds
    for line in range(len(lines)):
        kind, task, worker = lines[line, KIND], lines[line, TASK], lines[line, WORKER]
        about, note, value = lines[line, ABOUT], lines[line, NOTE], values[line]
        seq = stretch.first + line
        at = -1
        if kind == DECIDED:
            take_plan(book, rows, odds, about, lines[line, ROWS])
        elif kind == ASKED:
            where = 0 if book.totals[c.TASKLESS] == 1 else task
            at = ask(book, where, worker, seq, value)
            value = np.nan
        elif kind == ANSWER:
            at = answer(book, about, value)
            if book.totals[c.OPTIONS] == 0:
                tally[0] += value
        elif kind == TRUTH:
            book.tasks[task, c.TRUTH] = int(value)
        elif kind == CLOSED:
            close_task(book, task)
        else:
            status = c.EXPIRED if kind == EXPIRED else c.DECLINED
            at = take_back(book, about, status)
        if kind == ASKED or (about >= 0 and kind != DECIDED):
            if at < 0:
                return line
            if kind != ASKED:
                task = book.assignments[at, c.TASK]
        draw = Draw(key[0], key[1], seq)
        absorb(book, state, params, Fact(kind, task, worker, value, note, at), draw)
    return -1


_loops: dict[Callable[..., None], Any] = {}
"""The loop of each absorbing kernel."""

_loaded: set[Callable[..., None]] = set()
"""The absorbing kernels whose loop was found compiled."""

_NOTHING = Stretch(
    1, np.empty((0, 6), np.int64), np.empty(0), np.empty((0, 3), np.int64), np.empty(0)
)
"""Has the types of every stretch."""


def pays(engine: Engine, count: int) -> bool:
    """Whether so many events are better folded in one loop: if that is compiled already."""
    policy = engine.spec.policy
    if not isinstance(policy, KernelPolicy) or not engine.in_kernels:
        return False
    kernel = policy.kernels.absorb
    if count < (SHORT if kernel in _loaded else LONG):
        return False
    if not ready(_loop(kernel), *_arguments(engine, _NOTHING, np.zeros(1))):
        return False
    _loaded.add(kernel)
    return True


def _loop(kernel: Callable[..., None]) -> Any:
    if kernel not in _loops:
        label = f"{kernel.__module__}_{kernel.__name__}"
        _loops[kernel] = bind(fold_stretch, label, live=True, absorb=kernel)
    return _loops[kernel]


def _arguments(engine: Engine, stretch: Stretch, tally: Array) -> tuple[Any, ...]:
    policy = engine.spec.policy
    assert isinstance(policy, KernelPolicy)
    key = engine.key(draws.ABSORB)
    return engine.ledger.book, engine.beliefs, policy.params(), stretch, key, tally


def fold_long(engine: Engine, events: Sequence[Event]) -> None:
    """Fold events as ``engine.fold`` would, one after the other."""
    begin = 0
    while begin < len(events):
        if events[begin].kind not in _COMMON:
            engine.fold(events[begin])
            begin += 1
            continue
        end = begin
        while end < len(events) and events[end].kind in _COMMON:
            end += 1
        _fold_common(engine, events[begin:end])
        begin = end


def _fold_common(engine: Engine, events: Sequence[Event]) -> None:
    policy, ledger = engine.spec.policy, engine.ledger
    assert isinstance(policy, KernelPolicy)
    stretch = _in_numbers(ledger, events, policy.notes)
    assert stretch.first + len(events) - 1 == events[-1].seq, "the log has a gap"
    kinds = stretch.lines[:, KIND]
    ledger.room_for_assignments(int(np.count_nonzero(kinds == ASKED)))
    ledger.room_for_plan(int(stretch.lines[:, ROWS].max()))
    engine.beliefs = policy.grow(engine.beliefs, ledger)
    tally = np.array([ledger.utility])
    handed_out = ledger.total(c.ASSIGNMENTS)
    wrong = _loop(policy.kernels.absorb)(*_arguments(engine, stretch, tally))
    assert wrong < 0, f"event {stretch.first + wrong} does not follow from those before it"
    ledger.seq, ledger.utility = events[-1].seq, float(tally[0])
    _note_passed_over(ledger, stretch)
    engine.take_leases(handed_out)


def _note_passed_over(ledger: Ledger, stretch: Stretch) -> None:
    """Keep those who declined after the last answer, where pairs may repeat."""
    kinds = stretch.lines[:, KIND]
    answered = np.flatnonzero(kinds == ANSWER)
    since = answered[-1] + 1 if len(answered) else 0
    if since:
        ledger.passed_over.clear()
    if ledger.problem.repeat:
        declined = stretch.lines[since:][kinds[since:] == DECLINED, WORKER]
        ledger.passed_over.update(declined.tolist())


def _in_numbers(ledger: Ledger, events: Sequence[Event], notes: Sequence[str]) -> Stretch:
    """Names as numbers; closings are taken down on the way, as no kernel reads them."""
    number, closings = ledger.number, ledger.closings
    task_at, worker_at = ledger.task_at, ledger.worker_at
    lines: list[tuple[int, int, int, int, int, int]] = []
    values: list[float] = []
    rows: list[tuple[int, int, int]] = []
    odds: list[float] = []
    for event in events:
        kind = int(event.kind)
        task = -1 if event.task is None else task_at(event.task)
        worker = -1 if event.worker is None else worker_at(event.worker)
        about, note, length, value = -1, 0, 0, np.nan
        if kind == DECIDED:
            about = len(rows)
            ledger.read_plan(event, rows, odds)
            length = len(rows) - about
            note = notes.index(event.note or "")
        elif kind == ASKED:
            value = np.inf if event.expires is None else float(event.expires)
        elif kind == ANSWER:
            about, value = event.assignment or 0, number(event.value)
        elif kind == TRUTH:
            value = number(event.value)
        elif kind == CLOSED:
            option = None if event.value is None else number(event.value)
            closings[task] = (option, event.outcome or "", event.confidence)
            value = np.nan if option is None else option
            note = int(event.outcome == "confident")
        else:
            about = event.assignment or 0
        lines.append((kind, task, worker, about, note, length))
        values.append(value)
    return Stretch(
        events[0].seq,
        np.array(lines, np.int64),
        np.array(values, np.float64),
        np.array(rows, np.int64).reshape(-1, 3),
        np.array(odds, np.float64),
    )
