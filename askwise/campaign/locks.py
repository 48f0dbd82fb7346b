"""A lock that those who come often share with those who come once."""

import threading
from types import TracebackType


class FairLock:
    """A reentrant lock that a thread can't take again and again past others who wait.

    A thread that releases a plain lock and takes it again at once nearly always gets it, as those
    who wait have yet to wake up. Here the next one waits at a gate, and the others before it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._gate = threading.Lock()
        self._owner: int | None = None
        self._depth = 0

    def acquire(self, blocking: bool = True) -> bool:
        """Take the lock; without ``blocking`` only if it is free, or one's own."""
        me = threading.get_ident()
        if self._owner == me:
            self._depth += 1
            return True
        if blocking:
            with self._gate:
                self._lock.acquire()
        elif not self._lock.acquire(blocking=False):
            return False
        self._owner, self._depth = me, 1
        return True

    def release(self) -> None:
        """Release it, as often as it was taken."""
        self._depth -= 1
        if not self._depth:
            self._owner = None
            self._lock.release()

    @property
    def wanted(self) -> bool:
        """Whether somebody waits for it."""
        return self._gate.locked()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()
