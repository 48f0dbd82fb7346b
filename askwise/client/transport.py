"""Requests to a service: sent, repeated until they are answered, read."""

from __future__ import annotations

import asyncio
import itertools
import random
import re
import time
from collections.abc import Awaitable, Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from askwise.client.errors import Refused, Unreachable, error_of
from askwise.client.requests import ServiceRequest, Steps
from askwise.core.checks import whole
from askwise.core.errors import InvalidParameter
from askwise.core.version import __version__

if TYPE_CHECKING:
    import ssl

    import httpx

FIRST_WAIT = 0.2
LONGEST_WAIT = 10.0
"""Seconds before the first repetition and before any, at most, unless the service asks for
more. Drawn evenly from 0: clients that failed together do not come back together.
"""

MOST_PATIENT = 300.0
"""A service that asks for a longer wait than this is taken to refuse."""

AGAIN = (429, 502, 503, 504)
"""Replies that another attempt may better."""

T = TypeVar("T")


class _ServiceAccess:
    """One service: where it is, how often it is tried, and what its replies mean."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float,
        retries: int,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self.url = _checked_url(url)
        if not isinstance(key, str) or not re.fullmatch(r"[!-~]+", key):
            raise InvalidParameter(
                "key is not one that a service made: give the whole key, without blanks",
                field="key",
            )
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
            raise InvalidParameter(
                f"timeout is {timeout!r}: give the seconds for one attempt, above 0",
                field="timeout",
            )
        self.retries = whole(retries, "retries", least=0)
        self._timeout = float(timeout)
        self._draw = draw
        self._httpx = _load_httpx()
        self._headers = {"Authorization": f"Bearer {key}", "User-Agent": f"askwise/{__version__}"}

    def _settings(self, transport: Any) -> dict[str, Any]:
        """What a client of httpx is made with."""
        return {
            "base_url": self.url,
            "timeout": self._timeout,
            "headers": self._headers,
            "transport": transport,
            "verify": _certificates(),
        }

    def _sent(self, request: ServiceRequest) -> dict[str, Any]:
        """A request as httpx takes it."""
        sent: dict[str, Any] = {"method": request.method, "url": request.path}
        sent |= {"params": request.query} if request.query else {}
        sent |= {"content": request.content} if request.content is not None else {}
        sent |= {"timeout": self._timeout + request.longer} if request.longer else {}
        return {**sent, "headers": request.headers}

    def _pause(self, outcome: httpx.Response | Exception, attempt: int) -> float | None:
        """Seconds before the request is sent again; None if the reply is final.

        Raises what stands in the way once it was sent often enough.
        """
        wait = 0.0
        if isinstance(outcome, Exception):
            failure: Exception = self._lost(outcome)
        elif outcome.status_code not in AGAIN:
            return None
        else:
            failure = self._error(outcome)
            wait = _asked_wait(outcome.headers.get("Retry-After"))
        if attempt >= self.retries or wait > MOST_PATIENT:
            raise failure
        return max(wait, self._draw() * min(LONGEST_WAIT, FIRST_WAIT * 2.0**attempt))

    def _read(self, request: ServiceRequest, reply: httpx.Response) -> Any:
        if not reply.is_success:
            raise self._error(reply)
        if request.as_file:
            return reply.content
        try:
            return reply.json()
        except ValueError:
            raise Refused(
                f"{self.url} replied with something else than JSON: is it a service of askwise?",
                field="url",
                status=reply.status_code,
            ) from None

    def _error(self, reply: httpx.Response) -> Exception:
        try:
            raw = reply.json()
        except ValueError:
            raw = None
        return error_of(reply.status_code, raw)

    def _lost(self, error: Exception) -> Unreachable:
        if isinstance(error, self._httpx.TimeoutException):
            why = "it did not answer in time"
        else:
            why = str(error) or type(error).__name__
        return Unreachable(
            f"can't reach the service at {self.url}: {why}; is it running there?", field="url"
        )


class Transport(_ServiceAccess):
    """One service, over connections that are kept open; waits for its replies.

    Parameters
    ----------
    url : str
        Where the service is.
    key : str
        A key or a worker's token. It goes into a header and nowhere else.
    timeout : float
        Seconds for one attempt.
    retries : int
        How often a request is repeated if it is not answered.
    transport : httpx.BaseTransport, optional
        What carries requests instead of the network.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        sleep: Callable[[float], object] = time.sleep,
        transport: httpx.BaseTransport | None = None,
        **terms: Any,
    ) -> None:
        super().__init__(url, key, **terms)
        self._sleep = sleep
        self._client = self._httpx.Client(**self._settings(transport))

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def run(self, steps: Steps[T]) -> T:
        """Send requests one after another, each until it is answered; what they lead to."""
        try:
            request = next(steps)
            while True:
                request = steps.send(self._send(request))
        except StopIteration as end:
            return end.value

    def _send(self, request: ServiceRequest) -> Any:
        for attempt in itertools.count():
            try:
                reply = self._client.request(**self._sent(request))
            except self._httpx.TransportError as error:
                reply = error
            pause = self._pause(reply, attempt)
            if pause is None:
                return self._read(request, reply)
            self._sleep(pause)


class AsyncTransport(_ServiceAccess):
    """As `Transport`, for an event loop: its replies are awaited."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        transport: httpx.AsyncBaseTransport | None = None,
        **terms: Any,
    ) -> None:
        super().__init__(url, key, **terms)
        self._sleep = sleep
        self._client = self._httpx.AsyncClient(**self._settings(transport))

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()

    async def run(self, steps: Steps[T]) -> T:
        """Send requests one after another, each until it is answered; what they lead to."""
        try:
            request = next(steps)
            while True:
                request = steps.send(await self._send(request))
        except StopIteration as end:
            return end.value

    async def _send(self, request: ServiceRequest) -> Any:
        for attempt in itertools.count():
            try:
                reply = await self._client.request(**self._sent(request))
            except self._httpx.TransportError as error:
                reply = error
            pause = self._pause(reply, attempt)
            if pause is None:
                return self._read(request, reply)
            await self._sleep(pause)


def _load_httpx() -> Any:
    try:
        import httpx
    except ModuleNotFoundError:
        raise InvalidParameter(
            "the client needs httpx: pip install 'askwise[client]'", field="client"
        ) from None
    return httpx


@cache
def _certificates() -> ssl.SSLContext:
    """Whom to trust, read once: it takes longer than most requests, and clients may share it."""
    return _load_httpx().create_ssl_context()


def _checked_url(url: str) -> str:
    parts = urlsplit(url) if isinstance(url, str) else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidParameter(
            f"url is {url!r}: give the service's address, as http://127.0.0.1:8000", field="url"
        )
    if parts.username is not None or parts.password is not None:
        raise InvalidParameter(
            "url holds a name or password: give the address alone, and the key beside it",
            field="url",
        )
    return url.rstrip("/")


def _asked_wait(given: str | None) -> float:
    """The seconds that a service asks for; 0 if it names none (or a date)."""
    try:
        return max(0.0, float(given or 0))
    except ValueError:
        return 0.0
