"""Which workers take no questions for a while. Kept beside the log: no decision of the past
depends on it, as each names who was available.
"""

import json
import math
import time
from collections.abc import Callable

from askwise.service.idempotency import was_made
from askwise.store import Change, Store
from askwise.store.records import ABSENCES

_KIND = ABSENCES
_FRESH = 1.0
"""Seconds for which a look-up is trusted; what this process changes it knows at once."""


class Availability:
    """Who is away, by campaign."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock
        self._seen: dict[str, tuple[dict[str, float | None], float]] = {}
        self._changes = 0

    def set(
        self,
        campaign: str,
        worker: str,
        *,
        available: bool,
        until: float | None,
        note: Change | None = None,
    ) -> None:
        """Note that a worker is away (``until`` then, or until they are back), or back.

        ``note`` is of a retry's key: with it, once.
        """
        id = f"{campaign}/{worker}"
        body = None if available else json.dumps({"until": until})
        while not was_made(self._store, note):
            known = self._store.record(_KIND, id)
            before = None if known is None else known.body
            changes = [Change(_KIND, id, before, body), *([] if note is None else [note])]
            if self._store.change(changes):
                break
        self.look_again(campaign)

    def look_again(self, campaign: str) -> None:
        """Trust no look-up of before: somebody is called otherwise now."""
        self._changes += 1
        self._seen.pop(campaign, None)

    def known(self, campaign: str) -> frozenset[str] | None:
        """Who is away, if that was looked up a moment ago; no look-up."""
        now = self._clock()
        entries, looked = self._seen.get(campaign, ({}, -math.inf))
        # Below as well: a clock that was set back makes nothing last longer.
        return _absent(entries, now) if 0 <= now - looked <= _FRESH else None

    def away(self, campaign: str) -> frozenset[str]:
        """Who is away now."""
        known = self.known(campaign)
        if known is None:
            now = self._clock()
            changes = self._changes
            prefix = f"{campaign}/"
            entries = {
                record.id.removeprefix(prefix): json.loads(record.body)["until"]
                for record in self._store.records(_KIND, prefix=prefix)
            }
            self._seen[campaign] = entries, now
            if changes != self._changes:
                # Somebody went or came back since the look-up; perhaps in this campaign.
                self._seen.pop(campaign, None)
            known = _absent(entries, now)
        return known


def _absent(entries: dict[str, float | None], now: float) -> frozenset[str]:
    return frozenset(worker for worker, end in entries.items() if end is None or end > now)
