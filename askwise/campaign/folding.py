"""Folding a long stretch of a campaign's log: ledger and beliefs, in one compiled loop.

The loop is used where it has been compiled before; to compile it is the business of
``askwise warm``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from askwise.campaign.revisions import changes_in, substituted
from askwise.core import draws
from askwise.core.compiling import bind, ready
from askwise.core.errors import TooLarge
from askwise.core.event_columns import EventColumns
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.ledger.scanning import KIND
from askwise.ledger.stretches import (
    NOTHING,
    Stretch,
    brings_names,
    fold_stretch,
    parts_of,
    run_stretch,
)
from askwise.policies.base import KernelPolicy

if TYPE_CHECKING:
    from askwise.campaign.state import CampaignState

STRETCH = 50_000
"""The most events that are read and folded at a time."""

LONG = 2_000
"""Events from which on it pays to load the loop of a policy from the cache."""

SHORT = 64
"""The same once it is loaded."""

LOOK = 256
"""Events between two looks at how long a fold may take."""

_loops: dict[Callable[..., None], Any] = {}
"""The loop of each absorbing kernel."""

_loaded: set[Callable[..., None]] = set()
"""The absorbing kernels whose loop was found compiled."""


@dataclass(frozen=True)
class FoldLimit:
    """How long a fold that somebody waits for may take.

    Compiled loops fold a hundred thousand answers in a second or two. Event by event it may take
    minutes, which is told after a short while, and not by letting them wait.

    Parameters
    ----------
    first, last : int
        The positions of the log between which it folds.
    most : float
        Seconds, beyond which it is given up as soon as that is foreseen.
    """

    first: int
    last: int
    most: float
    begun: float = field(default_factory=time.perf_counter)

    def check(self, state: CampaignState) -> None:
        """Raise TooLarge if at this pace the rest would take too long."""
        spent, done = time.perf_counter() - self.begun, state.seq - self.first
        if done <= 0 or spent < self.most / 60:
            return
        whole = spent * (self.last - self.first) / done
        if whole > self.most:
            name = state.spec.policy.name
            raise TooLarge(
                f"{self.last - self.first:,} events would have to be folded again, which takes "
                f"about {whole:.0f} s here, and at most {self.most:g} s are allowed: "
                f"`askwise warm {name}` compiles what folds them quickly",
                field="assignment",
            )


def pays(state: CampaignState, count: int) -> bool:
    """Whether this many events are better folded in one loop: if that is compiled already."""
    policy = state.spec.policy
    if not isinstance(policy, KernelPolicy) or not state.in_kernels:
        return False
    kernel = policy.kernels.absorb
    if count < (SHORT if kernel in _loaded else LONG):
        return False
    if not ready(_loop(kernel), state.ledger.book, *_arguments(state, NOTHING), 0, 0):
        return False
    _loaded.add(kernel)
    return True


def fold(state: CampaignState, columns: EventColumns, limit: FoldLimit | None = None) -> None:
    """Fold a stretch of the log in the quickest way there is.

    Raises Outdated if it changes an answer that was folded before, and TooLarge if it would take
    longer than the limit allows; the state is of no use then.
    """
    for change in changes_in(columns):
        state.expect(change)
    if pays(state, len(columns)):
        fold_long(state, columns)
        return
    for at, event in enumerate(columns.events()):
        if limit is not None and at % LOOK == 0:
            limit.check(state)
        state.fold(event)


def fold_long(state: CampaignState, columns: EventColumns) -> None:
    """Fold events as ``state.fold`` would, one after the other."""
    for part in parts_of(columns):
        if brings_names(part):
            state.fold(part.events()[0])
        else:
            _fold_numbers(state, part)


def _loop(kernel: Callable[..., None]) -> Any:
    if kernel not in _loops:
        label = f"{kernel.__module__}_{kernel.__name__}"
        _loops[kernel] = bind(fold_stretch, label, live=True, absorb=kernel)
    return _loops[kernel]


def _arguments(state: CampaignState, stretch: Stretch) -> tuple[Any, ...]:
    policy = state.spec.policy
    assert isinstance(policy, KernelPolicy)
    return state.beliefs, policy.params(), stretch, state.key(draws.ABSORB)


def _fold_numbers(state: CampaignState, columns: EventColumns) -> None:
    policy, ledger = state.spec.policy, state.ledger
    assert isinstance(policy, KernelPolicy)
    changed = {asked: substitute.value for asked, substitute in state.substitutes.items()}
    if changed and ledger.pilot is not None:
        # It looks at calls that failed, as events.
        events = [substituted(event, state.substitutes) for event in columns.events()]
        columns, changed = EventColumns.of(events), {}
    stretch = state.reader.read(columns, changed)
    state.beliefs = policy.grow(state.beliefs, ledger)
    handed_out = ledger.total(c.ASSIGNMENTS)
    run_stretch(_loop(policy.kernels.absorb), ledger, *_arguments(state, stretch))
    # What was handed out before may be due later by now.
    renewed = bool(np.any(stretch.lines[:, KIND] == k.RENEWED))
    state.leases.take(state.ledger, 0 if renewed else handed_out)
