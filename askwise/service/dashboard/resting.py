"""Things that are worked out again when they are out of date, and rest in between."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

log = logging.getLogger("askwise.service")

T = TypeVar("T")

SHARE, LONGEST_REST = 10.0, 15.0
"""They rest this many times longer than they took, so that they use at most a tenth of the time,
but not for longer than this.
"""

SLOW = 0.3
"""What took longer than this many seconds is computed in the background."""


@dataclass(frozen=True)
class CachedValue(Generic[T]):
    """Something worked out, how many seconds that took, and until when it is good enough."""

    value: T
    took: float
    until: float


class Cached(Generic[T]):
    """One thing that is worked out again when it is out of date, but not all the time.

    What takes long is computed in the background: callers get the last one, as does
    everybody who comes while it is worked out.

    Parameters
    ----------
    rest : float
        The fewest seconds for which it is good enough.
    later : callable
        Does something in another thread, or says (False) that it won't.
    """

    def __init__(
        self,
        rest: float,
        clock: Callable[[], float],
        later: Callable[[Callable[[], None]], bool],
    ) -> None:
        self._rest = rest
        self._clock = clock
        self._later = later
        self._kept: CachedValue[T] | None = None
        self._lock = threading.Lock()
        """Held while it is worked out, perhaps by another thread than the one that took it."""

    @property
    def is_there(self) -> bool:
        """Whether it was ever worked out."""
        return self._kept is not None

    def get(self, current: Callable[[T], bool], make: Callable[[], T], *, now: bool = False) -> T:
        """What is kept if it is ``current`` or good enough; else it is made.

        ``now`` takes nothing that is not current.
        """
        kept = self._kept
        if kept is None or (now and not current(kept.value)):
            with self._lock:
                # Perhaps somebody has made it while we waited.
                kept = self._kept
                if kept is not None and (not now or current(kept.value)):
                    return kept.value
                return self._made(make)
        if current(kept.value) or self._clock() < kept.until:
            return kept.value
        if not self._lock.acquire(blocking=False):
            return kept.value
        if kept.took > SLOW and self._later(lambda: self._make_behind(make)):
            return kept.value
        try:
            return self._made(make)
        finally:
            self._lock.release()

    def _made(self, make: Callable[[], T]) -> T:
        begun = self._clock()
        value = make()
        ended = self._clock()
        rest = max(self._rest, min(SHARE * (ended - begun), LONGEST_REST))
        self._kept = CachedValue(value, ended - begun, ended + rest)
        return value

    def _make_behind(self, make: Callable[[], T]) -> None:
        try:
            self._made(make)
        except Exception:
            # The next request that finds it old tries again, and is told what is wrong.
            log.exception("overview")
            assert self._kept is not None
            self._kept = replace(self._kept, took=0.0)
        finally:
            self._lock.release()
