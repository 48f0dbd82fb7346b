"""Folding a long stretch of the log: the kernels of one event at a time, in one compiled loop.

Nothing happens here that folding the events one by one would not do, in the same order: names
become numbers first, then the ledger's and the policy's kernels run over them. The loop is used
where it has been compiled before; to compile it is the business of ``askwise warm``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from askwise.campaign.piloting import OWN_RULES
from askwise.core import draws
from askwise.core.compiling import bind, ready
from askwise.core.events import Event
from askwise.kernels import Array, Draw
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.ledger.columns import Book
from askwise.ledger.ledger import ABOUT_ASSIGNMENTS, BRINGS_NAMES, Ledger, PlanRows
from askwise.ledger.transitions import MISFIT, advance, as_fact, take_plan
from askwise.policies.base import KernelPolicy

if TYPE_CHECKING:
    from askwise.campaign.state import CampaignState

STRETCH = 50_000
"""Events that are read and folded at a time, at the most."""

LONG = 2_000
"""Events from which on it pays to load the loop of a policy from the cache."""

SHORT = 64
"""The same once it is loaded."""

# Columns of `lines`, as in an Entry; ROWS is how many rows a decision has.
KIND, TASK, WORKER, NUMBER, NOTE, COST, ROWS = range(7)


OWN = -1
"""Stands for the notes of decisions that are not the policy's."""


class Stretch(NamedTuple):
    """Events in numbers: one line an event, the first of them number ``first`` of the log."""

    first: int
    lines: Array
    values: Array
    rows: Array
    odds: Array


def absorb(*_: Any) -> None:
    """Hold the place of the kernel that the loop is bound to."""
    raise NotImplementedError


def fold_stretch(
    book: Book, state: Any, params: Any, stretch: Stretch, key: tuple[int, int]
) -> int:
    """Fold the lines in their order; returns the line that does not fit the book, or -1."""
    lines, values = stretch.lines, stretch.values
    for line in range(len(lines)):
        kind, task, worker = lines[line, KIND], lines[line, TASK], lines[line, WORKER]
        number, note, value = lines[line, NUMBER], lines[line, NOTE], values[line]
        seq = stretch.first + line
        at = -1
        if kind == k.DECIDED:
            take_plan(book, stretch.rows, stretch.odds, number, lines[line, ROWS])
        else:
            at = advance(book, kind, task, worker, number, lines[line, COST], value, seq)
        if at == MISFIT:
            return line
        if kind == k.RENEWED:
            continue  # nothing to learn from
        if note == OWN or (worker >= 0 and book.workers[worker, c.AUDITS] > 0):
            # Audits are none of the policy's business; it learns the truths that they bring.
            continue
        fact = as_fact(book, kind, task, worker, value, note, at)
        absorb(book, state, params, fact, Draw(key[0], key[1], seq))
    return -1


_loops: dict[Callable[..., None], Any] = {}
"""The loop of each absorbing kernel."""

_loaded: set[Callable[..., None]] = set()
"""The absorbing kernels whose loop was found compiled."""

_NOTHING = Stretch(
    1, np.empty((0, 7), np.int64), np.empty(0), np.empty((0, 3), np.int64), np.empty(0)
)
"""Has the types of every stretch."""


def pays(state: CampaignState, count: int) -> bool:
    """Whether so many events are better folded in one loop: if that is compiled already."""
    policy = state.spec.policy
    if not isinstance(policy, KernelPolicy) or not state.in_kernels:
        return False
    kernel = policy.kernels.absorb
    if count < (SHORT if kernel in _loaded else LONG):
        return False
    if not ready(_loop(kernel), *_arguments(state, _NOTHING)):
        return False
    _loaded.add(kernel)
    return True


def _loop(kernel: Callable[..., None]) -> Any:
    if kernel not in _loops:
        label = f"{kernel.__module__}_{kernel.__name__}"
        _loops[kernel] = bind(fold_stretch, label, live=True, absorb=kernel)
    return _loops[kernel]


def _arguments(state: CampaignState, stretch: Stretch) -> tuple[Any, ...]:
    policy = state.spec.policy
    assert isinstance(policy, KernelPolicy)
    key = state.key(draws.ABSORB)
    return state.ledger.book, state.beliefs, policy.params(), stretch, key


def fold_long(state: CampaignState, events: Sequence[Event]) -> None:
    """Fold events as ``state.fold`` would, one after the other."""
    for names, stretch in groupby(events, key=lambda event: event.kind in BRINGS_NAMES):
        if names:
            for event in stretch:
                state.fold(event)
        else:
            _fold_numbers(state, list(stretch))


def _fold_numbers(state: CampaignState, events: Sequence[Event]) -> None:
    policy, ledger = state.spec.policy, state.ledger
    assert isinstance(policy, KernelPolicy)
    stretch = _in_numbers(ledger, events, policy.notes)
    assert stretch.first + len(events) - 1 == events[-1].seq, "the log has a gap"
    ledger.room_for_assignments(int(np.count_nonzero(stretch.lines[:, KIND] == k.ASKED)))
    ledger.room_for_plan(int(stretch.lines[:, ROWS].max()))
    state.beliefs = policy.grow(state.beliefs, ledger)
    handed_out = ledger.total(c.ASSIGNMENTS)
    wrong = _loop(policy.kernels.absorb)(*_arguments(state, stretch))
    assert wrong < 0, f"event {stretch.first + wrong} does not follow from those before it"
    ledger.seq = events[-1].seq
    # What was handed out before may be due later by now.
    renewed = bool(np.any(stretch.lines[:, KIND] == k.RENEWED))
    state.take_leases(0 if renewed else handed_out)


def _in_numbers(ledger: Ledger, events: Sequence[Event], notes: Sequence[str]) -> Stretch:
    plan = PlanRows([], [])
    lines: list[tuple[int, int, int, int, int, int, int]] = []
    values: list[float] = []
    for event in events:
        kind, task, worker, number, note, value, cost = ledger.read(event, plan)
        rows = 0
        if kind == k.DECIDED:
            rows = len(plan.rows) - number
            note = OWN if event.note in OWN_RULES else notes.index(event.note or "")
        lines.append((kind, task, worker, number, note, cost, rows))
        values.append(value)
    found = np.array(lines, np.int64)
    _find_assignments(ledger, found, events[0].seq)
    return Stretch(events[0].seq, found, np.array(values, np.float64), *plan.arrays())


def _find_assignments(ledger: Ledger, lines: Array, first: int) -> None:
    """Turn the numbers of ASKEDs into assignments; some are handed out in these very lines."""
    kinds = lines[:, KIND]
    before = ledger.book.assignments[: ledger.total(c.ASSIGNMENTS), c.SEQ]
    asked = np.concatenate((before, first + np.flatnonzero(kinds == k.ASKED)))
    about = np.isin(kinds, list(ABOUT_ASSIGNMENTS))
    wanted = lines[about, NUMBER]
    at = np.minimum(np.searchsorted(asked, wanted), max(0, len(asked) - 1))
    known = asked[at] == wanted if len(asked) else np.zeros(len(wanted), np.bool_)
    lines[about, NUMBER] = np.where(known, at, -1)
