"""Structured logs: one JSON object a line, without secrets, payloads or query strings."""

import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import Any

SECRETS = re.compile(
    r"(aw[a-z]_)[A-Za-z0-9_-]{8,}"  # keys, tokens, secrets of webhooks
    r"|(://[^/:@\s\"]*:)[^@\s\"]+(?=@)"  # passwords in addresses
    r"|((?i:bearer) +)[A-Za-z0-9_.~+/-]{8,}"
)


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON.

    Nothing of ours logs a secret. What others say, in a message or a traceback, is looked through
    for what looks like one.
    """

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
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
