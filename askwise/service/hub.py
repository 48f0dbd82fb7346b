"""The campaigns that a process holds open, and what it does for them in the background."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from askwise.campaign import Campaign
from askwise.core.errors import AskwiseError
from askwise.store import Store

log = logging.getLogger("askwise.service")

T = TypeVar("T")

MOST_OPEN = 256
"""Campaigns held in memory; the one unused for longest goes. Its log is in the store."""


class Hub:
    """Campaigns by name, opened when they are first asked for.

    Parameters
    ----------
    sweep : float
        Seconds between looks for leases that are over.
    """

    def __init__(self, store: Store, sweep: float) -> None:
        self.store = store
        self._sweep = sweep
        self._open: OrderedDict[str, Campaign] = OrderedDict()
        self._views: dict[str, dict[Hashable, tuple[int, Any]]] = {}
        self._lock = threading.Lock()
        self._snapshots = ThreadPoolExecutor(1, thread_name_prefix="snapshots")
        self._ending = threading.Event()
        self._sweeper = threading.Thread(target=self._keep_sweeping, name="sweeper", daemon=True)

    def start(self) -> None:
        """Begin to look for leases that are over."""
        self._sweeper.start()

    def campaign(self, name: str) -> Campaign:
        """The campaign of this name; UnknownName if there is none."""
        with self._lock:
            found = self._open.get(name)
            if found is not None:
                self._open.move_to_end(name)
                return found
        made = Campaign.open(self.store, name, later=self._snapshots.submit)
        with self._lock:
            made = self._open.setdefault(name, made)
            while len(self._open) > MOST_OPEN:
                gone, _ = self._open.popitem(last=False)
                self._views.pop(gone, None)
        return made

    def view(self, name: str, key: Hashable, compute: Callable[[Campaign], T]) -> tuple[int, T]:
        """What ``compute`` makes of a campaign, and the position of the log it holds for.

        Computed once a position: pollers share it.
        """
        campaign = self.campaign(name)
        position = self.store.position(name)
        with self._lock:
            kept = self._views.setdefault(name, {}).get(key)
        if kept is not None and kept[0] == position:
            return kept
        made = position, compute(campaign)
        with self._lock:
            views = self._views.setdefault(name, {})
            if len(views) > 64:
                views.clear()
            views[key] = made
        return made

    def close(self) -> None:
        """Stop the background work and save snapshots, so that the next start is quick."""
        self._ending.set()
        if self._sweeper.is_alive():
            self._sweeper.join()
        for name, campaign in list(self._open.items()):
            try:
                campaign.settle()
            except AskwiseError as error:
                log.warning("settle", extra={"fields": {"campaign": name, "message": str(error)}})
        self._snapshots.shutdown(wait=True)

    def sweep(self) -> int:
        """Release what is past its lease, in every campaign of the store that has leases."""
        released = 0
        for name in self.store.names():
            if self._ending.is_set():
                break
            try:
                campaign = self.campaign(name)
                if campaign.spec["lease"] is not None:
                    released += campaign.sweep()
            except AskwiseError as error:
                log.warning("sweep", extra={"fields": {"campaign": name, "message": str(error)}})
        return released

    def _keep_sweeping(self) -> None:
        while not self._ending.wait(self._sweep):
            try:
                released = self.sweep()
            except Exception:
                log.exception("sweep")
            else:
                if released:
                    log.info("sweep", extra={"fields": {"released": released}})
