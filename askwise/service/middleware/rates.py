"""Rates: a bucket of requests for each key and each address, filled at a steady pace."""

import threading
import time
from collections.abc import Callable
from ipaddress import IPv6Address

MANY = 10_000
"""Buckets that are held before those that have filled up again are looked for."""


class Buckets:
    """Buckets by name, each with room for ``burst`` requests and ``rate`` new ones a second.

    They are of one process: a service of several lets through as many times more. A bucket that
    is full again says nothing and is dropped, so there are about as many as names in the last
    ``burst / rate`` seconds.

    Examples
    --------
    >>> now = [0.0]
    >>> buckets = Buckets(rate=1, burst=2, clock=lambda: now[0])
    >>> [buckets.take("ann") for _ in range(3)]
    [0.0, 0.0, 1.0]
    >>> now[0] = 1.0
    >>> buckets.take("ann")
    0.0
    """

    def __init__(
        self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate = rate
        self.burst = burst
        self._clock = clock
        self._levels: dict[str, tuple[float, float]] = {}
        self._most = MANY
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._levels)

    def take(self, name: str, count: float = 1.0) -> float:
        """Take ``count`` out of a bucket; returns 0, or the seconds until there is one.

        What is not there is owed: the next one waits for it.
        """
        now = self._clock()
        with self._lock:
            level, at = self._levels.get(name, (self.burst, now))
            level = min(self.burst, level + (now - at) * self.rate)
            if level < 1.0:
                self._levels[name] = level, now
                return (1.0 - level) / self.rate
            self._levels[name] = level - count, now
            if len(self._levels) > self._most:
                self._drop_full(now)
        return 0.0

    def _drop_full(self, now: float) -> None:
        for name, (level, at) in list(self._levels.items()):
            if level + (now - at) * self.rate >= self.burst:
                del self._levels[name]
        # Looked for again when there are twice as many, so that it costs little a request.
        self._most = max(MANY, 2 * len(self._levels))


def bucket_of(address: str) -> str:
    """The name of an address's bucket: a client with one IPv6 address has all that share its half.

    Examples
    --------
    >>> bucket_of("192.0.2.7"), bucket_of("2001:db8::1") == bucket_of("2001:db8::ffff:2")
    ('192.0.2.7', True)
    """
    if ":" not in address:
        return address
    try:
        parsed = IPv6Address(address)
    except ValueError:
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return parsed.packed[:8].hex()
