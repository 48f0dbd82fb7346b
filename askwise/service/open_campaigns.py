"""The campaigns that a process holds open, and what it does for them in the background."""

import json
import logging
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from askwise.campaign import Campaign
from askwise.campaign.requests import Crew
from askwise.core.errors import AskwiseError, StoreError, UnknownName
from askwise.service import metrics
from askwise.service.errors import RequestRefused
from askwise.store import Store

log = logging.getLogger("askwise.service")

T = TypeVar("T")

MOST_OPEN = 256
"""Campaigns held in memory; the one unused for longest goes. Its log is in the store."""

MOST_VIEWS = 64
"""Views that are kept of a campaign."""

TROUBLE = 60.0
"""Seconds for which a campaign that can't be swept is left alone."""


@dataclass
class _CachedView:
    """Something worked out of a campaign, and the position of the log it holds for."""

    made: tuple[int, Any] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while it is worked out, so that those who come meanwhile share it."""


@dataclass
class _Held:
    """An open campaign."""

    campaign: Campaign
    views: dict[Hashable, _CachedView] = field(default_factory=dict)


@dataclass
class _LeaseWatch:
    """What is known of a campaign's leases, so that it need not be opened to look at them."""

    lease: float
    """Seconds; infinite without leases."""
    is_own: bool = True
    """Whether it is the campaign's own, and not what the service sets where there is none."""
    position: int = -1
    """Of the log, when it was looked at last."""
    soonest: float = -math.inf
    """When the next of what was out then is due."""
    looked: float = -math.inf
    again: float = -math.inf
    """When to look again."""

    def rest(self, now: float) -> None:
        """Leave it alone until something may be due.

        What is handed out from now on, by other processes too, is due a lease later.
        """
        self.looked, self.again = now, min(self.soonest, now + self.lease)

    def rests(self, now: float) -> bool:
        """Whether nothing can be due yet; a clock that was set back does not prolong it."""
        return self.looked <= now < self.again


class OpenCampaigns:
    """Campaigns by name, opened when they are first asked for.

    Parameters
    ----------
    sweep : float
        Seconds between looks for leases that are over.
    clock : callable
        Seconds now.
    crew : Crew, optional
        Who commits what is submitted to the campaigns.
    lease : float, optional
        Seconds that workers who ask for themselves have in campaigns without a lease.
    """

    def __init__(
        self,
        store: Store,
        sweep: float,
        clock: Callable[[], float] = time.time,
        crew: Crew | None = None,
        lease: float | None = None,
    ) -> None:
        self.store = store
        self._sweep = sweep
        self._clock = clock
        self._crew = crew
        self._lease = math.inf if lease is None else lease
        self._open: OrderedDict[str, _Held] = OrderedDict()
        self._lock = threading.Lock()
        self._leases: dict[str, _LeaseWatch] = {}
        self._snapshots = ThreadPoolExecutor(1, thread_name_prefix="snapshots")
        self._ending = threading.Event()
        self._sweeper = threading.Thread(target=self._keep_sweeping, name="sweeper", daemon=True)

    def start(self) -> None:
        """Begin to look for leases that are over."""
        self._sweeper.start()

    def get(self, name: str) -> Campaign:
        """The campaign of this name; UnknownName if there is none."""
        return self._held(name).campaign

    def held(self, name: str) -> Campaign | None:
        """The campaign of this name if it is open; nothing is waited for."""
        with self._lock:
            found = self._open.get(name)
            if found is None:
                return None
            self._open.move_to_end(name)
            return found.campaign

    def drop(self, name: str) -> None:
        """Let go of a campaign that is not there any more."""
        with self._lock:
            self._open.pop(name, None)
            self._leases.pop(name, None)

    def listed(self, *, archived: bool = False) -> list[str]:
        """The names of the campaigns in use, or of those that were put away."""
        away = self.store.put_away()
        return [name for name in self.store.names() if (name in away) == archived]

    def view(
        self,
        name: str,
        key: Hashable,
        compute: Callable[[Campaign], T],
        position: int | None = None,
    ) -> tuple[int, T]:
        """What ``compute`` makes of a campaign, and a position of the log that it has seen.

        Computed once a position, by one at a time: pollers share it. Who has just looked up where
        the log ends says so.
        """
        held = self._held(name)
        with self._lock:
            if len(held.views) > MOST_VIEWS:
                held.views.clear()
            view = held.views.setdefault(key, _CachedView())
        if position is None:
            position = self.store.position(name)
        made = view.made
        if made is None or made[0] < position:
            with view.lock:
                made = view.made
                if made is None or made[0] < position:
                    # Read first: what is computed has seen at least this much.
                    position = self.store.position(name)
                    made = view.made = position, compute(held.campaign)
        return made

    def each(
        self, names: Sequence[str], look: Callable[[str, int | None], T]
    ) -> tuple[list[T], list[str]]:
        """What ``look`` finds of each campaign, and which can't be read: they hide no others.

        It is told where the log ends; None if the campaign is not there any more.
        """
        found, broken = [], []
        positions = self.store.positions(names)
        for name in names:
            try:
                found.append(look(name, positions.get(name)))
            except StoreError:
                raise
            except Exception as error:
                _warn("unreadable", name, error)
                broken.append(name)
        return found, broken

    def close(self) -> None:
        """Stop the background work and save snapshots, so that the next start is quick."""
        self._ending.set()
        if self._sweeper.is_alive():
            self._sweeper.join()
        for name, held in list(self._open.items()):
            try:
                held.campaign.settle()
            except Exception as error:
                _warn("settle", name, error)
        self._snapshots.shutdown(wait=True)

    def sweep(self) -> int:
        """Release what is past its lease, in every campaign of the store that has leases."""
        released = 0
        now = self._clock()
        names = self.store.names()
        due = [name for name in names if self._is_due(name, now)]
        positions = self.store.positions(due)
        for name in names:
            if self._ending.is_set():
                break
            try:
                released += self._sweep_one(name, now, positions.get(name))
            except Exception as error:
                _warn("sweep", name, error)
                # A store that is down would let each of them fail, one after the other.
                self.store.position(name)
                known = self._leases.setdefault(name, _LeaseWatch(TROUBLE))
                known.looked, known.again = self._clock(), self._clock() + TROUBLE
        return released

    def _is_due(self, name: str, now: float) -> bool:
        """Whether something of what was handed out may be past its lease."""
        known = self._leases.get(name)
        return known is not None and known.lease < math.inf and not known.rests(now)

    def _sweep_one(self, name: str, now: float, position: int | None) -> int:
        known = self._leases.get(name)
        if known is None:
            lease = json.loads(self.store.spec(name))["lease"]
            known = self._leases[name] = _LeaseWatch(
                self._lease if lease is None else lease, is_own=lease is not None
            )
        if known.lease == math.inf or known.rests(now):
            return 0
        if not known.is_own and name not in self._open:
            # Nobody has used it here: what is overdue in it goes with its next write.
            return 0
        released = 0
        if known.soonest <= now or known.position != position:
            held = self._open.get(name)
            # Not held open for this: it would drive out those that are in use.
            campaign = self._opened(name) if held is None else held.campaign
            if campaign.busy:
                # Others do not wait for it; what is overdue in it goes with its next write.
                return 0
            released = campaign.sweep()
            with campaign.reading() as state:
                known.position, known.soonest = state.seq, state.soonest()
        known.rest(now)
        return released

    def _held(self, name: str) -> _Held:
        with self._lock:
            found = self._open.get(name)
            if found is not None:
                self._open.move_to_end(name)
                return found
        made = _Held(self._opened(name))
        with self._lock:
            made = self._open.setdefault(name, made)
            while len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
        return made

    def _opened(self, name: str) -> Campaign:
        try:
            return Campaign.open(self.store, name, later=self._save, crew=self._crew)
        except StoreError:
            raise
        except Exception as error:
            if isinstance(error, UnknownName):
                self.store.position(name)  # raises if it is the campaign that is not known
            # It was fine when it was made: a plug-in is missing here, or is another.
            raise RequestRefused(
                "campaign_unreadable", f"campaign {name!r} can't be opened: {error}", field="name"
            ) from error

    def _save(self, save: Callable[[], None]) -> None:
        # A write that outlasts the service is committed; a snapshot only saves time.
        with suppress(RuntimeError):
            self._snapshots.submit(save)

    def _keep_sweeping(self) -> None:
        while not self._ending.wait(self._sweep):
            try:
                released = self.sweep()
            except AskwiseError as error:
                log.warning("sweep", extra={"fields": {"message": str(error)}})
            except Exception:
                log.exception("sweep")
            else:
                if released:
                    metrics.RELEASED.inc(released)
                    log.info("sweep", extra={"fields": {"released": released}})


def _warn(what: str, name: str, error: Exception) -> None:
    log.warning(what, extra={"fields": {"campaign": name, "message": str(error)}})
