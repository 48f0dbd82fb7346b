"""One campaign's state at the end of its log: a cache of the log, and the snapshots of it."""

import logging
from collections.abc import Callable
from typing import TypeVar

from askwise.campaign import folding
from askwise.campaign.loading import Loaded, Loader, Renamed
from askwise.campaign.locks import FairLock
from askwise.campaign.revisions import Outdated
from askwise.campaign.spec import Spec
from askwise.campaign.state import CampaignState
from askwise.core.errors import AskwiseError
from askwise.core.event_columns import EventColumns
from askwise.store import Snapshot, Store

T = TypeVar("T")

FIRST_SNAPSHOT = 1024
"""Snapshots are taken at this position and each time the log has grown by a quarter.

So a start folds a fifth of the log at most. As the positions grow geometrically, all snapshots
together cost five times the last one: still so much for each answer, whatever their number.
"""


class CachedState:
    """The state of one campaign, at the end of its log.

    Parameters
    ----------
    later : callable
        How the saving of a snapshot is started; at once by default. A service hands it to
        another thread, off the path of writes.
    """

    def __init__(
        self,
        store: Store,
        name: str,
        spec: Spec,
        later: Callable[[Callable[[], None]], object] | None = None,
    ) -> None:
        self.store = store
        self.name = name
        self.spec = spec
        self.loader = Loader(store, name, spec)
        self.later = later or (lambda save: save())
        self.lock = FairLock()
        """Held while the state is read or written."""
        self._state: CampaignState | None = None
        self._saved = 0
        """Position of the newest snapshot that we know of."""
        self._mark = 0
        """Position at which the next snapshot is due."""

    @property
    def busy(self) -> bool:
        """Whether another thread reads or writes at this moment."""
        free = self.lock.acquire(blocking=False)
        if free:
            self.lock.release()
        return not free

    def look(self, of: Callable[[CampaignState], T]) -> T | None:
        """What the state in memory says, at once; None without one, or while it is in use.

        The log may be further: ask only what stays true once it is.
        """
        if not self.lock.acquire(blocking=False):
            return None
        try:
            return None if self._state is None else of(self._state)
        finally:
            self.lock.release()

    def current(self) -> CampaignState:
        """The state at the end of the log; hold ``lock`` while you use it."""
        state = self._loaded()
        try:
            self.loader.catch_up(state)
        except Outdated:
            # Another process has changed an answer.
            self._state = None
            return self._loaded()
        except Renamed as renamed:
            return self._reloaded(renamed)
        except BaseException:
            # Interrupted within an event: what is half folded must not be used again.
            self._state = None
            raise
        return state

    def state_at(self, seq: int) -> CampaignState:
        """A new state that has folded exactly the first ``seq`` events."""
        return self._load(lambda: self.loader.load(seq)).state

    def _load(self, load: Callable[[], Loaded]) -> Loaded:
        """Load apart from the state in use; once more if a worker was renamed meanwhile."""
        try:
            return load()
        except Renamed:
            with self.lock:
                self.current()
            return load()

    def settle(self) -> None:
        """Save a snapshot if much has happened since the last one: before a graceful stop.

        Not of a campaign that is in use: a stop does not wait for a long decision.
        """
        if not self.lock.acquire(blocking=False):
            return
        try:
            if self._state is None:
                return
            state = self.current()
            if state.seq - self._saved < max(FIRST_SNAPSHOT, state.seq // 100):
                return
            seq, version, pack = state.seq, state.version, state.freeze()
        finally:
            self.lock.release()
        self._save(seq, version, pack)

    def _fold(self, state: CampaignState, columns: EventColumns) -> None:
        try:
            folding.fold(state, columns)
        except BaseException:
            # Interrupted within an event: what is half folded must not be used again.
            self._state = None
            raise

    def _loaded(self) -> CampaignState:
        if self._state is None:
            # Before any transaction: nobody else has to wait while a long log is folded.
            try:
                self._state, self._saved = self.loader.load()
            except Renamed as renamed:
                return self._reloaded(renamed)
        return self._state

    def _reloaded(self, renamed: Renamed) -> CampaignState:
        """The state of a log that was rewritten: what was read of the campaign had an old name."""
        self._state = None
        self.spec = Spec.from_json(self.store.spec(self.name))
        self.loader = Loader(self.store, self.name, self.spec, renamed=renamed.seq)
        return self._loaded()

    def _keeps_state(self, state: CampaignState, before: int) -> bool:
        """Whether a copy of the state is due, once the log has grown to where it is."""
        return self.loader.is_due(state) or self._is_due(state.seq, before)

    def _is_due(self, seq: int, before: int) -> bool:
        if self._mark <= before:
            self._mark = FIRST_SNAPSHOT
            while self._mark <= before:
                self._mark += max(1, self._mark // 4)
        # Also if the log was folded from far back: the snapshots are gone, or of another version.
        far = before >= FIRST_SNAPSHOT and self._saved < before // 2
        return seq >= self._mark or far

    def _maybe_snapshot(self, state: CampaignState, before: int) -> None:
        self.loader.checkpoint(state)
        if self._is_due(state.seq, before):
            seq, version, pack = state.seq, state.version, state.freeze()
            self._saved = seq
            self.later(lambda: self._save(seq, version, pack))

    def _save(self, seq: int, version: str, pack: Callable[[], bytes]) -> None:
        try:
            self.store.save(self.name, Snapshot(seq, version, pack()))
            self._saved = max(self._saved, seq)
        except AskwiseError as error:
            # The write itself is committed; a snapshot only saves time.
            logging.getLogger(__name__).warning("no snapshot at event %d: %s", seq, error)
