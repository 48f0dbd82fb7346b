"""Structured logs: one JSON object per line, without secrets, payloads or query strings."""

import asyncio
import json
import logging
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from json.encoder import encode_basestring_ascii as quoted
from typing import Any, NamedTuple

SECRETS = re.compile(
    r"(aw[a-z]_)[A-Za-z0-9_-]{8,}"  # keys and tokens
    r"|(whsec_)[A-Za-z0-9+/=]{8,}"  # secrets of webhooks
    r"|(://[^/:@\s\"]*:)[^@\s\"]+(?=@)"  # passwords in addresses
    r"|((?i:bearer) +)[A-Za-z0-9_.~+/-]{8,}"
)


class NotedRequest(NamedTuple):
    """What the log tells of a request. Nothing in it is a secret: the route, but no path."""

    time: float
    id: str
    method: str
    route: str
    status: int
    seconds: float
    address: str | None
    key: str | None
    """The id of the key that was shown."""

    def line(self, logger: str) -> str:
        """As JSON; in this way, as it is the one thing that is logged a thousand times a second."""
        whom = "null" if self.address is None else _shown(self.address)
        by = "" if self.key is None else f', "key": {_shown(self.key)}'
        return (
            f'{{"time": "{_moment(self.time)}", "level": "info", "logger": "{logger}", '
            f'"event": "request", "id": "{self.id}", '
            f'"method": {_shown(self.method)}, "route": {_shown(self.route)}, '
            f'"status": {self.status}, "ms": {1000 * self.seconds:.2f}, "address": {whom}{by}}}'
        )


class RequestsRecord(logging.LogRecord):
    """The record of several requests, a line each; put into words only if somebody writes it."""

    def __init__(self, logger: str, requests: Sequence[NotedRequest]) -> None:
        super().__init__(logger, logging.INFO, __file__, 0, "request", None, None)
        self.requests = requests

    def lines(self) -> str:
        """The records as JSON."""
        return "\n".join([each.line(self.name) for each in self.requests])


class RequestLog:
    """Writes what is noted of requests a few times a second: a line each, all of them at once."""

    PAUSE = 0.2
    """Seconds for which a line may wait; who kills the process loses as much."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._waiting: list[NotedRequest] = []

    def note(self, request: NotedRequest) -> None:
        """Let a request wait to be written."""
        self._waiting.append(request)
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_later(self.PAUSE, self.write)

    def write(self) -> None:
        """Write what waits."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self._logger.handle(RequestsRecord(self._logger.name, waiting))


@lru_cache(maxsize=4096)
def _shown(text: str) -> str:
    """A text as JSON, without secrets; the same few come again and again."""
    return quoted(without_secrets(text))


def _moment(seconds: float) -> str:
    whole = int(seconds // 1)
    return f"{_second(whole)}.{int((seconds - whole) * 1000):03d}+00:00"


@lru_cache(maxsize=2)
def _second(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON.

    Nothing of ours logs a secret. What others say, in a message or a traceback, is looked through
    for what looks like one.
    """

    def format(self, record: logging.LogRecord) -> str:
        if isinstance(record, RequestsRecord):
            return record.lines()
        entry: dict[str, Any] = {
            "time": _moment(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        entry.update(getattr(record, "fields", {}))
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return without_secrets(json.dumps(entry, ensure_ascii=True, default=str))


def without_secrets(text: str) -> str:
    """Cover what looks like a secret.

    Examples
    --------
    >>> without_secrets("postgresql://ann:hunter2@db/x refused awo_0123456789abcdef")
    'postgresql://ann:***@db/x refused awo_***'
    """
    return SECRETS.sub(lambda found: f"{found[1] or found[2] or found[3]}***", text)


def configure(level: str = "info") -> None:
    """Let the service, its server and everything below write JSON lines to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "httpx", "httpcore"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    # A line for each call of a judge would be too many.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    # Its lines hold whole paths, which hold tokens; ours name the route.
    logging.getLogger("uvicorn.access").disabled = True
    for name in ("httpx", "httpcore", "matplotlib"):
        logging.getLogger(name).setLevel("WARNING")
