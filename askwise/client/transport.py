"""Requests to a service: sent, repeated until they are answered, read."""

from __future__ import annotations

import hashlib
import json
import random
import re
import time
import uuid
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from askwise.client.errors import Refused, Unreachable, error_of
from askwise.core.checks import whole
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.version import __version__

if TYPE_CHECKING:
    import ssl

    import httpx

FIRST_WAIT = 0.2
LONGEST_WAIT = 10.0
"""Seconds before the first repetition and before any, at the most, unless the service asks for
more. Drawn evenly from 0: clients that failed together do not come back together.
"""

MOST_PATIENT = 300.0
"""A service that asks for a longer wait than this is taken to refuse."""

AGAIN = (429, 502, 503, 504)
"""Replies that another attempt may better."""

PAGE = 1000
"""Entries that are asked for at a time."""

_PLAIN_KEY = re.compile(r"[!-~]{1,150}")


class Transport:
    """One service, over connections that are kept open.

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
        timeout: float,
        retries: int,
        sleep: Callable[[float], object] = time.sleep,
        draw: Callable[[], float] = random.random,
        transport: httpx.BaseTransport | None = None,
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
        self._sleep = sleep
        self._draw = draw
        self._httpx = _load_httpx()
        self._client = self._httpx.Client(
            base_url=self.url,
            timeout=timeout,
            headers={"Authorization": f"Bearer {key}", "User-Agent": f"askwise/{__version__}"},
            transport=transport,
            verify=_certificates(),
        )

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def read(self, path: str, **query: str | int | None) -> Any:
        """GET."""
        given = {name: value for name, value in query.items() if value is not None}
        return self._send("GET", path, params=given)

    def pages(self, path: str, **query: str | int | None) -> Iterator[Any]:
        """GET a list, page by page."""
        after: str | None = None
        while True:
            page = self.read(path, limit=PAGE, after=after, **query)
            yield from page["items"]
            after = page["next"]
            if after is None:
                return

    def write(
        self, path: str, body: Any = None, *, key: str | None = None, longer: float = 0.0
    ) -> Any:
        """Do a write, once, however often it has to be sent.

        ``longer`` are seconds that the reply may take beyond ``timeout``.
        """
        if body is None:
            return self._send("POST", path, headers={"Idempotency-Key": _header_of(key)})
        return self.write_text(path, _as_json(body), "application/json", key=key, longer=longer)

    def delete(self, path: str, id: str, *, key: str | None = None) -> Any:
        """End what has this id."""
        headers = {"Idempotency-Key": _header_of(key)}
        return self._send("DELETE", f"{path}/{quote(id, safe='')}", headers=headers)

    def write_text(
        self, path: str, text: str, media: str, *, key: str | None = None, longer: float = 0.0
    ) -> Any:
        """Do a write whose body is a text."""
        headers = {"Content-Type": media, "Idempotency-Key": _header_of(key)}
        patience = {"timeout": self._timeout + longer} if longer else {}
        return self._send("POST", path, content=text.encode(), headers=headers, **patience)

    def _send(self, method: str, path: str, **request: Any) -> Any:
        attempt = 0
        while True:
            wait = 0.0
            try:
                reply = self._client.request(method, path, **request)
                if reply.status_code not in AGAIN:
                    return self._read(reply)
                failure: Exception = self._error(reply)
                wait = _asked_wait(reply.headers.get("Retry-After"))
            except self._httpx.TransportError as error:
                failure = self._lost(error)
            if attempt >= self.retries or wait > MOST_PATIENT:
                raise failure
            spread = self._draw() * min(LONGEST_WAIT, FIRST_WAIT * 2.0**attempt)
            self._sleep(max(wait, spread))
            attempt += 1

    def _read(self, reply: httpx.Response) -> Any:
        if not reply.is_success:
            raise self._error(reply)
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
    context: ssl.SSLContext = _load_httpx().create_ssl_context()
    return context


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


def _as_json(body: Any) -> str:
    try:
        return json.dumps(body, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidProblem(
            f"the request can't be written as JSON ({error}): payloads and parameters must be "
            "plain JSON values",
            field="payload",
        ) from None


def _header_of(key: str | None) -> str:
    """The Idempotency-Key of a write: the caller's, if headers can hold it."""
    if key is None:
        return uuid.uuid4().hex
    if not isinstance(key, str) or not 0 < len(key) <= 200:
        raise InvalidProblem(f"key is {key!r}: give 1 to 200 characters", field="key")
    if _PLAIN_KEY.fullmatch(key):
        return key
    return "sha256-" + hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()


def _asked_wait(given: str | None) -> float:
    """The seconds that a service asks for; 0 if it names none (or a date)."""
    try:
        return max(0.0, float(given or 0))
    except ValueError:
        return 0.0
