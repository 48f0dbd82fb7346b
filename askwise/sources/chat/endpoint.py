"""An OpenAI-compatible endpoint over HTTP: a request, and its reply or what became of it."""

import asyncio
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from askwise.core.errors import InvalidParameter
from askwise.sources.extras import needed

LARGEST_REPLY = 2**23
"""Bytes of a reply that are read."""

CONNECTING = 10.0
"""Seconds that it may take to connect."""

IDLE = 3.0
"""Seconds for which a connection is kept for the next request: few servers close theirs earlier,
and a request on a connection that is just being closed is lost."""

SECRET = 12
"""Characters from which on a key is taken out of replies."""

_LOCAL = ("127.0.0.1", "localhost", "::1")


class NotSent(Exception):
    """The endpoint was not reached: nothing can have been paid."""


class NoReply(Exception):
    """The request was sent and its reply never came whole: it may have been paid.

    ``late`` says that the time was over; else the connection broke.
    """

    def __init__(self, message: str, *, late: bool) -> None:
        super().__init__(message)
        self.late = late


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A reply: its status, its headers in lower case, its JSON (None if it has none)."""

    status: int
    headers: Mapping[str, str]
    body: Any

    def error(self) -> Mapping[str, Any]:
        """What it says went wrong."""
        body = self.body if isinstance(self.body, Mapping) else {}
        # Some servers say it in the body itself.
        raw = body if body.get("object") == "error" else body.get("error")
        if isinstance(raw, str):
            return {"message": raw}
        return raw if isinstance(raw, Mapping) else {}

    def words(self) -> set[str]:
        """The words for programs in which it says so."""
        error = self.error()
        return {word for key in ("code", "type") if isinstance(word := error.get(key), str)}


class Endpoint:
    """Where a model is called.

    Parameters
    ----------
    base_url : str
        What ``/chat/completions`` is added to.
    key_env : str
        The variable of the environment that holds the key; empty if it needs none. The key itself
        is read for each request and kept nowhere.
    timeout : float
        Seconds for one request.
    """

    def __init__(self, base_url: str, key_env: str, timeout: float) -> None:
        self.url = checked_url(base_url) + "/chat/completions"
        self.key_env = key_env
        self.timeout = timeout
        self._client: Any = None

    def check(self) -> None:
        """Refuse an environment without the key, and an installation without httpx."""
        _httpx()
        self._key()

    def redacted(self, text: str) -> str:
        """A text of the endpoint's in one short line, without the key."""
        key = os.environ.get(self.key_env, "") if self.key_env else ""
        line = " ".join(text.split())
        return (line.replace(key, "***") if key else line)[:300]

    async def post(self, body: Mapping[str, Any]) -> HttpReply:
        """Send a request and read its reply.

        Raises
        ------
        NotSent
            Nobody was reached.
        NoReply
            It was sent, and is lost.
        """
        httpx = _httpx()
        headers = {"Content-Type": "application/json", "User-Agent": "askwise"}
        key = self._key()
        if key:
            headers["Authorization"] = f"Bearer {key}"
        sent = False

        async def watch(event: str, info: Mapping[str, Any]) -> None:
            nonlocal sent
            sent = sent or event.endswith("send_request_headers.started")

        content = json.dumps(body, ensure_ascii=False).encode(errors="replace")
        try:
            async with asyncio.timeout(self.timeout):
                return await self._exchange(content, headers, {"trace": watch})
        except (TimeoutError, httpx.TimeoutException):
            if not sent:
                raise NotSent("no connection in time") from None
            raise NoReply(f"no reply after {self.timeout:g} s", late=True) from None
        except (httpx.RequestError, httpx.InvalidURL) as error:
            why = self.redacted(str(error) or type(error).__name__)
            if not sent:
                raise NotSent(f"it can't be reached ({why})") from None
            raise NoReply(f"the connection broke ({why})", late=False) from None

    async def aclose(self) -> None:
        """Let go of the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _exchange(
        self, content: bytes, headers: dict[str, str], extensions: dict[str, Any]
    ) -> HttpReply:
        async with self._connections().stream(
            "POST", self.url, content=content, headers=headers, extensions=extensions
        ) as reply:
            read = bytearray()
            async for piece in reply.aiter_bytes():
                read += piece
                if len(read) > LARGEST_REPLY:
                    raise NoReply(f"the reply has more than {LARGEST_REPLY} bytes", late=False)
        try:
            found = json.loads(self._without_key(bytes(read)))
        except (ValueError, RecursionError):
            found = None
        return HttpReply(reply.status_code, reply.headers, found)

    def _without_key(self, read: bytes) -> bytes:
        """A reply without the key, as some of it is kept: some servers repeat what they got.

        A short one is no secret, as "none" of a server on this machine, and may be a common word.
        """
        key = self._key()
        return read.replace(key.encode(), b"***") if len(key) >= SECRET else read

    def _connections(self) -> Any:
        if self._client is None:
            httpx = _httpx()
            self._client = httpx.AsyncClient(
                timeout=httpx.Timeout(self.timeout, connect=min(CONNECTING, self.timeout)),
                limits=httpx.Limits(max_connections=None, keepalive_expiry=IDLE),
                # Proxies of the environment are for other machines than this.
                trust_env=urlsplit(self.url).hostname not in _LOCAL,
                # To read the certificates takes longer than a call on this machine.
                verify=self.url.startswith("https:"),
                follow_redirects=False,
            )
        return self._client

    def _key(self) -> str:
        if not self.key_env:
            return ""
        check_key_env(self.key_env)
        key = os.environ.get(self.key_env, "")
        if not key:
            raise InvalidParameter(
                f"key_env is {self.key_env!r}: the environment has no such variable; set it to the "
                "key",
                field="key_env",
            )
        if not re.fullmatch(r"[!-~]+", key):
            raise InvalidParameter(
                f"key_env is {self.key_env!r}: it holds no key; give one without blanks",
                field="key_env",
            )
        return key


def check_key_env(name: str) -> None:
    """Refuse what can't be the name of a variable."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        # Not what was given: it may be the key itself.
        raise InvalidParameter(
            "key_env is not the name of a variable: give the name of the variable of the "
            "environment that holds the key, such as OPENAI_API_KEY, and not the key",
            field="key_env",
        )


def _httpx() -> Any:
    return needed("httpx", "chat models")


def checked_url(url: object) -> str:
    """A base address without its last slash.

    Examples
    --------
    >>> checked_url("http://127.0.0.1:8080/v1/")
    'http://127.0.0.1:8080/v1'
    """
    wrong = "give the endpoint's address, such as https://api.openai.com/v1"
    if not isinstance(url, str):
        raise InvalidParameter(f"base_url is {url!r}: {wrong}", field="base_url")
    try:
        parts = urlsplit(url)
        host, user, _ = parts.hostname, parts.username, parts.port
    except ValueError:
        host, user = None, None
    if user is not None:
        # Not the address itself: it may hold a secret.
        raise InvalidParameter(
            "base_url holds a name or password: give the address alone, and the key by key_env",
            field="base_url",
        )
    if not host or parts.scheme not in ("http", "https") or parts.query or parts.fragment:
        raise InvalidParameter(f"base_url is {url.split('?')[0]!r}: {wrong}", field="base_url")
    return url.rstrip("/").removesuffix("/chat/completions")
