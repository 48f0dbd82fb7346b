"""How fast an endpoint is called: its limits a minute, the waits that it asks for, a breaker."""

import asyncio
import math
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime

from askwise.sources.base import Outage

MINUTE = 60.0

MOST_FAILURES = 5
"""Questions that fail in a row, for reasons of the endpoint's own, before the breaker opens."""

FIRST_OUTAGE, LONGEST_OUTAGE = 30.0, 600.0
"""Seconds for which the breaker stays open; twice as long each time that it opens again."""

_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Pace:
    """Lets calls go when the limits of a minute allow it.

    Parameters
    ----------
    requests, tokens : int, optional
        The most in any 60 seconds.
    now, sleep : callables
        The clock, and how to wait.
    """

    def __init__(
        self,
        requests: int | None = None,
        tokens: int | None = None,
        *,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.requests, self.tokens = requests, tokens
        self.now, self.sleep = now, sleep
        self._sent: deque[list[float]] = deque()
        self._used = 0.0
        self._not_before = -math.inf
        self._turns = asyncio.Lock()

    async def turn(self, tokens: float) -> Callable[[float], None]:
        """Wait until a call of about this many tokens may go; returns how to correct the number.

        First come, first served. A call of more tokens than a minute allows goes alone.
        """
        async with self._turns:
            while (wait := self._wait(tokens)) > 0:
                await self.sleep(wait)
            entry = [self.now(), tokens]
            self._sent.append(entry)
            self._used += tokens

        def correct(actual: float) -> None:
            if entry[0] > -math.inf:
                self._used += actual - entry[1]
                entry[1] = actual

        return correct

    def hold(self, seconds: float) -> None:
        """Let nothing go for so long."""
        self._not_before = max(self._not_before, self.now() + seconds)

    def held(self) -> float:
        """Seconds for which nothing goes."""
        return max(0.0, self._not_before - self.now())

    def obey(self, headers: Mapping[str, str]) -> None:
        """Hold where a reply says that nothing is left of a limit."""
        for what in ("requests", "tokens"):
            left = headers.get(f"x-ratelimit-remaining-{what}", "")
            if left.strip() in ("0", "0.0"):
                self.hold(span(headers.get(f"x-ratelimit-reset-{what}", "")))

    def _wait(self, tokens: float) -> float:
        now = self.now()
        while self._sent and self._sent[0][0] <= now - MINUTE:
            over = self._sent.popleft()
            self._used -= over[1]
            over[0] = -math.inf
        if self._not_before > now:
            return self._not_before - now
        full = self.requests is not None and len(self._sent) >= self.requests
        if self.tokens is not None and self._sent and self._used + tokens > self.tokens:
            full = True
        return self._sent[0][0] + MINUTE - now if full else 0.0


class Breaker:
    """Takes an endpoint out after failures in a row, and lets it try again after a while."""

    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self.now = now
        self._failures = 0
        self._opened = 0
        self._until = -math.inf
        self._why = ""

    def outage(self) -> Outage | None:
        """Why nothing may be asked now."""
        left = self._until - self.now()
        return Outage(self._why, left) if left > 0 else None

    def worked(self) -> None:
        """It answered: all is forgotten."""
        self._failures = self._opened = 0
        self._until = -math.inf

    def failed(self, why: str) -> None:
        """One more failure; after one that comes right after an outage there is the next."""
        self._failures += 1
        self._why = why
        if self._failures >= MOST_FAILURES or (self._opened and self._until <= self.now()):
            self._until = self.now() + min(LONGEST_OUTAGE, FIRST_OUTAGE * 2.0**self._opened)
            self._opened += 1
            self._failures = 0

    def break_for_good(self, why: str) -> None:
        """What no waiting mends: a key that is refused, a model that is not there."""
        self._until, self._why = math.inf, why


def span(text: str) -> float:
    """Seconds that a text names: ``20``, ``1.5s``, ``6m0s``, ``120ms``; 0 if none.

    Examples
    --------
    >>> span("6m0s"), span("120ms"), span("2"), span("soon")
    (360.0, 0.12, 2.0, 0.0)
    """
    text = text.strip()
    try:
        seconds = float(text)
    except ValueError:
        parts = (float(number) * _SECONDS[unit] for number, unit in _SPAN.findall(text))
        seconds = sum(parts, start=0.0)
    return seconds if 0 <= seconds < math.inf else 0.0


def asked_wait(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float:
    """Seconds that ``Retry-After`` asks for, as a number or a date; 0 if it names none.

    Examples
    --------
    >>> asked_wait({"retry-after": "7"}), asked_wait({}), asked_wait({"retry-after": "perhaps"})
    (7.0, 0.0, 0.0)
    >>> asked_wait({"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}, now=lambda: 50.0)
    10.0
    >>> asked_wait({"retry-after-ms": "1500", "retry-after": "2"})
    1.5
    """
    if "retry-after-ms" in headers:
        return span(headers["retry-after-ms"]) / 1000
    text = headers.get("retry-after", "")
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now())
    except (TypeError, ValueError):
        return span(text)
