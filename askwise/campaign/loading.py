"""The state of a campaign at a point of its log: from a snapshot, and the events since folded."""

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from askwise.campaign import folding
from askwise.campaign.revisions import Outdated, changes_in, substitutes
from askwise.campaign.spec import Spec
from askwise.campaign.state import CampaignState, version_of
from askwise.core.event_columns import EventColumns
from askwise.core.events import Event, Kind
from askwise.ledger.entries import REVISES
from askwise.store import Snapshot, Store

APART = 256
"""The fewest events between two checkpoints."""


class Renamed(Exception):
    """The log was rewritten with another name of a worker since the campaign was read."""

    def __init__(self, seq: int) -> None:
        super().__init__(seq)
        self.seq = seq


class Loaded(NamedTuple):
    """A state, and the position of the snapshot that it was folded from (0: the beginning)."""

    state: CampaignState
    saved: int


class Checkpoint(NamedTuple):
    """A snapshot that is kept in memory: the position, and what packs the copy that was taken."""

    seq: int
    pack: Callable[[], bytes]


CHECKPOINTS = 2
"""Checkpoints that are kept; older answers are folded from the store's snapshots."""


@dataclass(frozen=True)
class Loader:
    """Loads the states of one campaign; holds none of them, but for checkpoints of the last part.

    Answers are mostly changed soon after they were given. Once a campaign has a changed answer, two
    copies of its state are kept, so that the next one takes a fold of a few hundredths of the log.
    """

    store: Store
    name: str
    spec: Spec
    renamed: int = 0
    """The last RENAMED that the spec was read after."""
    checkpoints: deque[Checkpoint] = field(default_factory=lambda: deque(maxlen=CHECKPOINTS))

    def is_due(self, state: CampaignState) -> bool:
        """Whether a checkpoint would be kept of a state."""
        last = self.checkpoints[-1].seq if self.checkpoints else 0
        return bool(state.ledger.changes) and state.seq - last > max(APART, state.seq // 64)

    def checkpoint(self, state: CampaignState) -> None:
        """Keep a copy of a state whose events are all in the store, from time to time."""
        if self.is_due(state):
            self.checkpoints.append(Checkpoint(state.seq, state.freeze()))

    def load(self, upto: int | None = None) -> Loaded:
        """A state that has folded the first ``upto`` events, or all."""
        loaded = self._restored(self._snapshot(upto))
        try:
            self.catch_up(loaded.state, upto)
        except Outdated:
            return self.refold((), upto)
        return loaded

    def refold(
        self, coming: Sequence[Event], upto: int | None = None, most: float = math.inf
    ) -> Loaded:
        """The same with changes of answers that are about to follow: see ``Outdated``.

        It is folded from a snapshot from before all answers that were changed since. Raises
        TooLarge once it is foreseen that this takes more than ``most`` seconds.
        """
        while True:
            loaded = self._before_changes(coming, upto)
            end = self.store.position(self.name) if upto is None else upto
            try:
                limit = folding.FoldLimit(loaded.state.seq, end, most)
                self.catch_up(loaded.state, upto, limit)
            except Outdated:
                continue  # by an event that was written meanwhile
            return loaded

    def follow(self, events: Sequence[Event], prepared: Loaded | None = None) -> Loaded:
        """The state after events that are not in the store yet, some of which change answers."""
        upto = events[0].seq - 1
        if prepared is not None:
            try:
                return self._go_on(prepared, events, upto)
            except Outdated:
                pass  # by another change, written since it was prepared
        coming = [each for each in events if each.kind in REVISES]
        return self._go_on(self.refold(coming, upto), events, upto)

    def _go_on(self, loaded: Loaded, events: Sequence[Event], upto: int) -> Loaded:
        self.catch_up(loaded.state, upto)
        for event in events:
            loaded.state.fold(event)
        return loaded

    def catch_up(
        self,
        state: CampaignState,
        upto: int | None = None,
        limit: folding.FoldLimit | None = None,
    ) -> None:
        """Fold the events that a state has not folded yet, this many at a time."""
        for columns in self._stretches(state.seq, upto):
            self.refuse_renamed(columns)
            folding.fold(state, columns, limit)

    def refuse_renamed(self, columns: EventColumns) -> None:
        """Raise ``Renamed`` if a worker was given another name after the campaign was read."""
        seq = columns.last_of(Kind.RENAMED)
        if seq > self.renamed:
            raise Renamed(seq)

    def _before_changes(self, coming: Sequence[Event], upto: int | None) -> Loaded:
        """The newest snapshot to which no answer is known that was changed after it."""
        end = self.store.position(self.name) if upto is None else upto
        bound = min((each.assignment or 0 for each in coming), default=end)
        while True:
            found = self._snapshot(min(bound, end))
            after = 0 if found is None else found.seq
            changes = [each for part in self._stretches(after, end) for each in changes_in(part)]
            first = min((each.assignment or 0 for each in changes), default=after + 1)
            if found is None or first >= after:
                loaded = self._restored(found)
                loaded.state.substitutes = substitutes((*changes, *coming))
                return loaded
            bound = first

    def _stretches(self, after: int, upto: int | None) -> Iterator[EventColumns]:
        """The events from ``after`` on, this many at a time."""
        while True:
            end = after + folding.STRETCH
            columns = self.store.columns(self.name, after, end if upto is None else min(end, upto))
            yield columns
            if len(columns) < folding.STRETCH:
                return
            after = columns.last

    def _snapshot(self, upto: int | None) -> Snapshot | None:
        """The newest snapshot, not beyond ``upto``."""
        version = version_of(self.spec)
        found = self.store.snapshot(self.name, version, upto)
        for each in reversed(list(self.checkpoints)):
            if upto is None or each.seq <= upto:
                newer = found is None or each.seq > found.seq
                return Snapshot(each.seq, version, each.pack()) if newer else found
        return found

    def _restored(self, found: Snapshot | None) -> Loaded:
        if found is None:
            return Loaded(CampaignState(self.spec), 0)
        return Loaded(CampaignState.restore(self.spec, found.blob), found.seq)
